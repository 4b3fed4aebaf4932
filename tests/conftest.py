"""What all tests share."""

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of the paper's data sets, or a skip that says why."""
    if not SHARED.is_dir():
        pytest.skip("the paper's data sets (../shared/data) are not here")
    return SHARED
