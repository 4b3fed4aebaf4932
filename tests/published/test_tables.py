"""The paper's table of log-likelihoods, by its protocol, on its data.

Per label the settings are chosen on dev; the figure is the test log-likelihood, averaged over the labels.
The LinkedIn and Beige Books figures are those printed; the printed ones for Diabetes are -497.90 and -432.89.
"""

import pytest

import summarkov as sm
from published.protocol import table_cell


@pytest.mark.parametrize(
    ("name", "family", "settings", "figure"),
    [
        ("linkedin", sm.BSuMM, {}, -114.52),
        ("linkedin", sm.OSuMM, {}, -115.63),
        ("linkedin", sm.BSuMM, {"parameters": "reachable"}, -111.96),
        ("beigebooks", sm.BSuMM, {}, -36.11),
        ("beigebooks", sm.OSuMM, {}, -38.07),
        ("diabetes", sm.BSuMM, {}, -497.79),
        ("diabetes", sm.OSuMM, {}, -432.62),
    ],
)
def test_table(shared_data, name, family, settings, figure):
    assert table_cell(family, shared_data, name, **settings) == pytest.approx(figure, abs=0.01)
