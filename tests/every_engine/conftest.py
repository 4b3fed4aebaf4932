"""Every test of this folder runs once a backend of the kernels."""

import importlib

import pytest

from summarkov import kernels
from summarkov.kernels import boosted, history_tests, shuffles

#: Backends by name, and the module that holds their functions. A function that one has not is NumPy's.
BACKENDS = {
    "numpy": "summarkov.kernels.numpy_kernels",
    "native": "summarkov.kernels.native_kernels",
}

FUNCTIONS = (
    "add_rows",
    "chain_states",
    "count_candidates",
    "count_followed",
    "count_states",
    "merge_keys",
    "tabulate",
    "window_states",
)
#: Those whose NumPy twins have a module of their own.
ELSEWHERE = {
    "count_presence": shuffles,
    "count_tests": history_tests,
    "tree_grower": boosted,
    "leaves_of": boosted,
    "shuffled": shuffles,
    "tree_leaves": history_tests,
}


@pytest.fixture(autouse=True, scope="module", params=BACKENDS)
def backend(request):
    """Let this backend serve all kernels; its module."""
    plain = importlib.import_module(BACKENDS["numpy"])
    try:
        chosen = importlib.import_module(BACKENDS[request.param])
    except ImportError as problem:
        pytest.skip(f"the {request.param} kernels were not built here ({problem})")
    with pytest.MonkeyPatch.context() as patch:
        for name in FUNCTIONS:
            patch.setattr(kernels, name, getattr(chosen, name, getattr(plain, name)))
        for name, module in ELSEWHERE.items():
            patch.setattr(kernels, name, getattr(chosen, name, getattr(module, name)))
        yield chosen
