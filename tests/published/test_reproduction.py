"""The paper's tables and the FOMC graph, by its protocol, on its data.

Fit on train; for each label choose the settings on dev; report the log-likelihood summed over all test
positions, mean over the labels. The figures of the summary models are those of an independent implementation:
equal to the printed ones on LinkedIn and Beige Books, and within 0.6% of them elsewhere.
"""

import pytest
from paper.fomc import fomc, read_fomc
from paper.published import published
from paper.tables import read_split, targets_of

import summarkov as sm
from summarkov import kernels
from summarkov.comparison import ModelContender, lineup
from summarkov.comparison.run import tune
from summarkov.comparison.tuning import SUMM_GRID

#: Too large for the NumPy kernels to be waited for.
LARGE = {"diabetes", "stackoverflow"}

FIGURES = {
    "beigebooks": (-36.11, -38.07),
    "diabetes": (-497.79, -432.62),
    "linkedin": (-114.52, -115.63),
    "stackoverflow": (-1243.11, -1245.12),
    "timelines": (-140.61, -142.46),
}


@pytest.fixture
def cell(shared_data):
    """A cell of a table: a contender on a data set."""

    def cell(name, contender):
        if name in LARGE and kernels.backend() != "native":
            pytest.skip(f"{name} takes too long without the native kernels")
        split = read_split(shared_data, name)
        return tune(contender, split, targets_of(name, split)).log_likelihood

    return cell


@pytest.mark.parametrize(
    ("name", "model", "figure"),
    [
        (name, model, figure)
        for name, row in FIGURES.items()
        for model, figure in zip(("bsumm", "osumm"), row, strict=True)
    ],
)
def test_summary_models(cell, name, model, figure):
    (contender,) = lineup([model])
    assert cell(name, contender) == pytest.approx(figure, abs=0.01)


def test_counting_only_the_states_that_can_be_reached(cell):
    contender = ModelContender("reachable", sm.BSuMM(parameters="reachable", false_edges=None), SUMM_GRID)
    assert cell("linkedin", contender) == pytest.approx(-111.96, abs=0.01)


@pytest.mark.parametrize("order", range(5))
@pytest.mark.parametrize("name", FIGURES)
def test_chains(cell, name, order):
    (contender,) = lineup([f"chain-{order}"])
    figure = published()["prediction"][name][f"chain-{order}"]
    tolerance = {"abs": 0.01} if name == "beigebooks" else {"rel": 0.007}
    assert cell(name, contender) == pytest.approx(figure, **tolerance)


def test_fomc(shared_data):
    data = read_fomc(shared_data)
    assert (len(data.events), len(data.events.labels)) == (1, 13)
    assert data.settings == {"alpha": 0.1, "lookback": 10, "gamma": 0.3}
    binary, ordinal = fomc(data)
    assert [len(section.rows) for section in (binary, ordinal)] == [13, 13]
    equal = [topic for topic, theirs, ours, _ in binary.rows if theirs == ours]
    print(f"equal: {equal}")
    assert len(equal) >= 3
    assert [row[0] for row in binary.rows if row[3] == "yes"] == equal


def test_the_boosted_joint_model_on_linkedin(shared_data):
    """The figures of docs/guide/joint.md, as ``compare`` tells them."""
    parts = [shared_data / f"linkedin.{part}.jsonl" for part in ("train", "dev", "test")]
    split = [sm.read_events(part, ends="cut off") for part in parts]
    (line,) = sm.compare(*split, models=["joint-boosted"]).lines
    assert line.next_event_log_loss == pytest.approx(1.680, abs=0.0005)
    assert line.log_likelihood == pytest.approx(-109.83, abs=0.01)
