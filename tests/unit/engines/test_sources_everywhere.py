"""Everything that takes events is given a source: it works as in memory, or says what to do instead."""

import inspect
import tempfile

import numpy as np
import pytest

import summarkov as sm
from summarkov.engines import MemorySource
from summarkov.errors import DataError, SettingError, UnknownLabelError
from summarkov.simulate.example import web_shop

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

EVENTS = web_shop().simulate(30, 12, random_state=1)
#: A model, graphs, a bag and a joint model, learned in memory.
MODEL = sm.BSuMM("purchase", criterion="aic").fit(EVENTS)
GRAPH = sm.InfluenceGraph(sm.BSuMM(criterion="aic"), targets=["purchase", "search"]).fit(EVENTS)
WHOLE = sm.InfluenceGraph(sm.MarkovChain(order=1)).fit(EVENTS)
OUTCOME = sm.OutcomeModel(contains="purchase", after=3).fit(EVENTS)
JOINT = sm.JointSuMM().fit(EVENTS)
WEIGHTS = [1] * len(EVENTS)

KINDS = {"SummaryModel": MODEL, "InfluenceGraph": WHOLE, "JointSuMM": JOINT, "OutcomeModel": OUTCOME}


def of_kinds(methods, kinds=KINDS):
    """For each kind of model and method what calls it with events."""
    return {
        f"{kind}.{method}": lambda e, model=KINDS[kind], method=method: getattr(model, method)(e)
        for kind in kinds
        for method in methods
    }


#: What is asked, given events or a source of them.
WORKS = {
    **of_kinds(("log_likelihood", "score", "brier_score", "evaluate"), [*KINDS][:3]),
    "SummaryModel.fit": lambda e: str(MODEL.copy().fit(e).table_),
    "InfluenceGraph.fit": lambda e: sm.InfluenceGraph(sm.BSuMM(), targets=["purchase"]).fit(e).edges_,
    "InfluenceGraph.confidence": lambda e: GRAPH.confidence(e, n=3),
    "InfluenceGraph.other_lookbacks": lambda e: GRAPH.other_lookbacks(e),
    "InfluenceGraph.order_test": lambda e: GRAPH.order_test(e, n=19),
    "JointSuMM.fit": lambda e: sm.JointSuMM(rounds=1).fit(e).to_document(),
    "OutcomeModel.fit": lambda e: (
        sm.OutcomeModel(contains="purchase", after=3).fit(e).model_.fitted.influences
    ),
    "OutcomeModel.confidence": lambda e: OUTCOME.confidence(e, n=3),
    "OutcomeModel.order_test": lambda e: OUTCOME.order_test(e, n=19),
    "sensitivity": lambda e: str(sm.sensitivity(sm.BSuMM("purchase"), e, gamma=(0.1, 1), lookback=(1, 2))),
}

IN_MEMORY = "this needs the events in memory, and a MemorySource counts them where they are; give events that"
#: What needs the events themselves, and what it says to a source.
REFUSES = {
    **{
        name: (ask, IN_MEMORY)
        for name, ask in (
            of_kinds(("predict_proba", "predict", "predictions"))
            | of_kinds(("predict_next",), [*KINDS][:3])
            | of_kinds(("score", "predict_open", "predict_ended"), ["OutcomeModel"])
        ).items()
    },
    **{
        f"{kind}.to_html": (lambda e, model=model: model.to_html(events=e), IN_MEMORY)
        for kind, model in KINDS.items()
    },
    "compare": (sm.compare, "on events of this machine, and train is a MemorySource; read them with"),
    "compare_groups": (lambda e: sm.compare_groups(sm.BSuMM(), e, EVENTS), IN_MEMORY),
    "JointSuMM.explain_next": (lambda e: JOINT.explain_next(e), "and a MemorySource holds many; give one"),
    "read_events": (sm.read_events, IN_MEMORY),
    "write_events": (lambda e: sm.write_events(e, "out.csv"), IN_MEMORY),
    "predict_spark": (lambda e: sm.predict_spark(MODEL, e), "takes a Spark DataFrame, not MemorySource"),
    "scan_events": (sm.scan_events, "source must be the path of a file or a folder"),
    "scan_spark": (sm.scan_spark, "takes a Spark DataFrame, not MemorySource"),
    "CountStore.add": (lambda e: sm.CountStore(tempfile.mkdtemp()).add("day", e), IN_MEMORY),
    "EventSequences.from_lists": (sm.EventSequences.from_lists, "and a MemorySource holds many; give one"),
    "explain": (MODEL.explain, "and a MemorySource holds many; give one of them"),
    "InfluenceGraph.explain_next": (WHOLE.explain_next, "and a MemorySource holds many; give one of them"),
}

#: What else can be asked of events in memory only.
OPTIONS = {
    "sample_weight": (
        [
            lambda e: MODEL.copy().fit(e, sample_weight=WEIGHTS),
            lambda e: MODEL.score(e, sample_weight=WEIGHTS),
            lambda e: MODEL.log_likelihood(e, sample_weight=WEIGHTS),
            lambda e: MODEL.brier_score(e, sample_weight=WEIGHTS),
            lambda e: sm.InfluenceGraph(sm.BSuMM()).fit(e, sample_weight=WEIGHTS),
            lambda e: WHOLE.score(e, sample_weight=WEIGHTS),
            lambda e: GRAPH.confidence(e, sample_weight=WEIGHTS),
            lambda e: GRAPH.order_test(e, sample_weight=WEIGHTS),
            lambda e: sm.sensitivity(sm.BSuMM("purchase"), e, sample_weight=WEIGHTS),
        ],
        "sample_weight needs events in memory, and this is a MemorySource; name a column of weights",
    ),
}


@pytest.mark.parametrize("name", WORKS)
def test_it_works_as_in_memory(name):
    assert WORKS[name](MemorySource(EVENTS)) == WORKS[name](EVENTS)


@pytest.mark.parametrize("name", REFUSES)
def test_it_says_what_to_do(name):
    ask, words = REFUSES[name]
    with pytest.raises((DataError, SettingError)) as problem:
        ask(MemorySource(EVENTS))
    assert words in str(problem.value)


@pytest.mark.parametrize("option", OPTIONS)
def test_what_can_be_asked_of_events_only(option):
    asked, words = OPTIONS[option]
    for ask in asked:
        with pytest.raises(SettingError) as problem:
            ask(MemorySource(EVENTS))
        assert words in str(problem.value)


def test_nothing_is_left_out_of_the_table():
    """Every public function and method with an argument for events is in one of the tables."""
    takes = {"events", "train", "source", "first", "sequences", "dataframe", "history", "histories"}
    found = set()
    publics = {name: getattr(sm, name) for name in sm.__all__}
    for name, public in publics.items():
        if inspect.isclass(public):
            public_methods = [
                m for m in dir(public) if not m.startswith("_") and callable(getattr(public, m))
            ]
            kind = "SummaryModel" if hasattr(public, "make_summary") else name
            for method in public_methods:
                if takes & set(inspect.signature(getattr(public, method)).parameters):
                    found.add("explain" if method == "explain" else f"{kind}.{method}")
        elif callable(public) and takes & set(inspect.signature(public).parameters):
            found.add(name)
    assert found == {*WORKS, *REFUSES}


# ------------------------------------------------------------------ other labels than the model's


@pytest.mark.parametrize("model", [MODEL, WHOLE], ids=["model", "graph"])
def test_a_source_of_fewer_labels(model):
    """As in memory: labels that do not occur are no matter, and those that are not known are refused."""
    few = [sequence[:3] for sequence in EVENTS.to_lists()[:4]]
    source = MemorySource(sm.read_events(few))
    assert set(source.labels) < set(EVENTS.labels)
    assert model.log_likelihood(source) == model.log_likelihood(few)
    source = MemorySource(sm.read_events(few, labels=[*EVENTS.labels, "zebra"]))
    assert model.score(source) == model.score(few)
    few[0].insert(1, "zebra")
    source = MemorySource(sm.read_events(few))
    with pytest.raises(UnknownLabelError, match="unknown label 'zebra'"):
        model.log_likelihood(source)
    with pytest.raises(DataError, match="unknown='skip' is not known"):
        model.log_likelihood(source, unknown="skip")
    assert model.log_likelihood(source, unknown="ignore") == model.log_likelihood(few, unknown="ignore")
    assert np.isfinite(model.brier_score(source, unknown="ignore"))
