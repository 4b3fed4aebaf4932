"""The LSTM and the transformer as contenders."""

import importlib
import sys

import numpy as np
import pytest
from paper.lstm import PAPER_SETTINGS, LstmContender
from paper.network import logits, make_lstm, make_transformer
from paper.network_contender import NetworkContender
from paper.transformer import TransformerContender

import summarkov as sm
from summarkov.errors import MissingLibraryError, SettingError
from summarkov.events import EventSequences

pytestmark = [pytest.mark.cut_off, pytest.mark.needs("torch")]

CYCLE = ["A", "B", "C", "D"]


@pytest.fixture
def torch():
    """PyTorch, which takes long to import."""
    return importlib.import_module("torch")


def cycles(n: int = 24) -> EventSequences:
    """A, B, C, D, A, ... from any start, of several lengths; one sequence is empty."""
    lists = [[CYCLE[(s + i) % 4] for i in range(3 + s % 5)] for s in range(n)]
    return EventSequences.from_lists([*lists, []], labels=[*CYCLE, "never"])


@pytest.fixture(params=["LSTM", "transformer"])
def small(request):
    """A function that makes a small contender of either kind."""
    size = {"embedding": 8, "hidden": 8} if request.param == "LSTM" else {"width": 8, "dropout": 0.1}
    kind = LstmContender if request.param == "LSTM" else TransformerContender

    def make(**settings) -> NetworkContender:
        return kind(**{"learning_rates": [0.05], "batch_size": 8, **size, **settings})

    return make


def test_it_learns_a_cycle(small):
    events = cycles()
    found = small(checkpoints=[5, 30]).fit_each(events, CYCLE)
    _, early = next(found)
    before = early.next_event(events).copy()
    ((settings, predictor),) = found
    assert settings == {"learning_rate": 0.05, "epoch": 30}
    assert early.next_event(cycles()).tolist() == before.tolist()  # as it was when training went on
    new = EventSequences.from_lists([["B", "C", "D", "A", "B"], ["D", "A"]], labels=events.labels)
    rows = predictor.next_event(new)
    said = rows[np.arange(new.n_events), new.codes]
    follows = [1, 2, 3, 4, 6]  # every position but the first of a sequence
    assert (said[follows] > 0.9).all()
    assert predictor.probability(new, "C")[1] == rows[1, 2]
    assert predictor.influencers("C") is None


def test_it_takes_part_in_a_comparison_as_an_outside_contender(small):
    network = small(checkpoints=[30])
    result = sm.compare(cycles(60), models=["chain-0", network], targets=CYCLE)
    assert [(x.name, x.verdict) for x in result.lines] == [(network.name, "best"), ("chain-0", "worse")]
    assert result.results[1][0].chosen[0].settings == {"learning_rate": 0.05, "epoch": 30}


def test_without_pytorch_it_says_so_before_any_work(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingLibraryError) as problem:
        sm.compare(cycles(), models=["chain-0", LstmContender()])
    assert str(problem.value).startswith(
        'a neural network needs PyTorch; install it with: pip install "summarkov[paper]"'
    )


def test_equal_seeds_give_equal_networks_and_others_do_not(torch, small):
    events = cycles()

    def run(seed: int) -> list[list[float]]:
        return [
            p.probability(events, "A").tolist()
            for _, p in small(epochs=4, every=2, seed=seed).fit_each(events, CYCLE)
        ]

    torch.manual_seed(1)
    first = run(0)
    torch.manual_seed(2)
    assert run(0) == first
    assert run(1) != first
    assert first[0] != first[1]


def test_pytorch_is_left_as_it_was(torch, small):
    torch.manual_seed(5)
    expected = torch.rand(3).tolist()
    torch.manual_seed(5)
    before = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    for _, predictor in small(epochs=1).fit_each(cycles(), CYCLE):
        predictor.probability(cycles(), "A")
        assert (torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()) == before
    assert torch.rand(3).tolist() == expected


def test_rows_sum_to_1_over_labels_alone(torch, small):
    events = cycles()
    for _, predictor in small(epochs=2, every=1).fit_each(events, CYCLE):
        rows = predictor.next_event(events)
        assert rows.shape == (events.n_events, 5)
        assert rows.sum(axis=1) == pytest.approx(np.ones(events.n_events), abs=1e-12)
        with torch.no_grad():  # however much the network would say BOS, EOS or PAD
            before = predictor.network["linear"].bias.clone()
            predictor.network["linear"].bias[5:] = 50.0
        assert predictor.next_event(cycles()) == pytest.approx(rows, abs=1e-12)
        predictor.network["linear"].bias.copy_(before)


def test_nothing_is_said_by_an_event_itself_or_a_later_one(torch):
    for network in (make_lstm(4, 8, 8, seed=0), make_transformer(4, 8, 2, 2, 0.1, seed=0)):
        network.eval()
        inputs = torch.tensor([[4, 0, 1, 2, 3], [4, 0, 1, 3, 0]])  # they differ from the fourth input on
        with torch.no_grad():
            said = logits(network, inputs)
        assert said[0, :3] == pytest.approx(said[1, :3], abs=1e-6)
        assert (said[0, 3:] - said[1, 3:]).abs().max() > 1e-3


def test_predictions_do_not_depend_on_how_sequences_are_batched(monkeypatch, small):
    events = cycles()
    [(_, predictor)] = small(epochs=1).fit_each(events, CYCLE)
    rows = predictor.next_event(events)
    monkeypatch.setattr("paper.network._TOKENS_AT_ONCE", 7)
    assert predictor.next_event(cycles()) == pytest.approx(rows, rel=1e-5)
    for s in range(len(events)):
        start, stop = events.offsets[s], events.offsets[s + 1]
        assert predictor.next_event(events[s]) == pytest.approx(rows[start:stop], rel=1e-5)


def test_long_empty_and_unknown(small):
    nothing = EventSequences.from_lists([[], []], labels=CYCLE)
    [(_, predictor)] = small(epochs=1).fit_each(nothing, CYCLE)
    assert predictor.next_event(cycles().restrict(CYCLE)).sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    events = EventSequences.from_lists([CYCLE * 150, ["A"], []], labels=[*CYCLE, "never"])
    [(_, predictor)] = small(epochs=1).fit_each(events, [*CYCLE, "never"])
    nothing = EventSequences.from_lists([[], []], labels=events.labels)
    strange = EventSequences.from_lists([["A", "X", "B"]]).recode(events.labels, unknown="ignore")
    for new in (events, nothing, strange, EventSequences.from_lists([["B", "A"]])):
        for target in events.labels:
            probability = predictor.probability(new, target)
            assert probability.shape == (new.n_events,)
            assert ((probability > 0) & (probability < 1)).all()


def test_settings():
    assert LstmContender().epochs_to_try == tuple(range(10, 2001, 10))
    assert LstmContender(checkpoints=[30, 10, 30]).epochs_to_try == (10, 30)
    assert (max(LstmContender().learning_rates), min(LstmContender().learning_rates)) == (1e-2, 1e-6)
    published = LstmContender.as_published("timelines", seed=3)
    assert (published.learning_rates, published.epochs_to_try, published.seed) == ((1e-4,), (340,), 3)
    assert PAPER_SETTINGS["stackoverflow"] == (5e-4, 90)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: LstmContender.as_published("weather"),
            r"data_set must be one of beigebooks, .*, not 'weather'",
        ),
        (lambda: LstmContender(seed=-1), "seed must be a whole number from 0 on, not -1"),
        (lambda: LstmContender(checkpoints=[]), "checkpoints must hold at least one epoch"),
        (lambda: LstmContender(checkpoints=[0, 5]), "checkpoints must be a whole number from 1 on, not 0"),
        (
            lambda: LstmContender(learning_rates=[np.inf]),
            "learning_rates must be finite numbers above 0, not",
        ),
        (lambda: TransformerContender(width=9), "width must be even and a multiple of heads, not 9 with 2"),
        (lambda: TransformerContender(dropout=1), "dropout must be at least 0 and below 1, not 1"),
    ],
)
def test_settings_that_make_no_sense(make, words):
    with pytest.raises(SettingError, match=words):
        make()
