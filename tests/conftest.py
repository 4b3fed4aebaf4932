"""What all tests share."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"

# The same examples in every run. SUMMARKOV_EXPLORE=20 tries 20 times as many, new ones each time.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, print_blob=True)
settings.load_profile("explore" if os.environ.get("SUMMARKOV_EXPLORE") else "fixed")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of the paper's data sets, or a skip that says why."""
    if not SHARED.is_dir():
        pytest.skip("the paper's data sets (../shared/data) are not here")
    return SHARED
