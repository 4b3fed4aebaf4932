"""What readers say when they refuse something."""

import pytest

from summarkov.errors import DataError
from summarkov.read import read_events


def refused(source, kind=DataError, **settings):
    """The message of the error that reading ends in."""
    with pytest.raises(kind) as error:
        read_events(source, **settings)
    return str(error.value)
