"""What a search asks for once a label has joined: less, and with what was known before it is all."""

from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import summarkov as sm
from strategies import assert_same, codes, data, examples, specs, subsets, target_of, targets, weights_of
from summarkov.engines import CandidateCounts, CandidatesRequest, MemorySource, StatesRequest, Target
from summarkov.engines import source as sources
from summarkov.engines.source import GrowingCounts
from summarkov.simulate.example import web_shop

pytestmark = pytest.mark.cut_off


@st.composite
def questions(draw):
    """Data with weights, a summary, and a request about some influencers, one of which joined last."""
    events = draw(data())  # a search refuses labels that it does not know
    spec = draw(specs(events.labels, ("binary", "count", "ordinal", "first")))
    chosen = codes(events.labels, draw(subsets(events.labels, min_size=1, max_size=4)))
    others = tuple(z for z in range(len(events.labels)) if z not in chosen)
    target = target_of(events, draw(targets(events.labels)))
    request = CandidatesRequest(spec.summary(), chosen, target, others)
    return events, spec, draw(weights_of(events)), request, draw(st.sampled_from(chosen))


def held(counts, place):
    """The counts of states in which an influencer is present."""
    some = counts.keys[:, place] > 0
    return CandidateCounts(counts.keys[some], counts.counts[some], counts.present[:, some])


class Recorder(MemorySource):
    """Events that remember what was asked about them last."""

    def count(self, requests):
        self.asked = list(requests)
        return super().count(requests)


@examples(120)
@given(questions())
def test_only_where_a_label_is_present(question):
    events, _, weights, request, label = question
    source = MemorySource(events.events, sample_weight=weights)
    (every,), (some,) = (
        source.count([each])
        for each in (
            request,
            CandidatesRequest(
                request.summary, request.influencers, request.target, request.candidates, None, label
            ),
        )
    )
    assert_same(some, held(every, request.influencers.index(label)))


@examples(120)
@given(questions())
def test_the_rest_is_what_was_known_before(question):
    events, spec, weights, request, label = question
    source = Recorder(events.events, sample_weight=weights)
    is_grown = weights is None and spec.kind in ("binary", "count")
    fewer = tuple(z for z in request.influencers if z != label)
    candidates = tuple(sorted((*request.candidates, label)))
    before = CandidatesRequest(request.summary, fewer, request.target, candidates)
    with mock.patch.object(sources, "_FROM_EVENTS", 0):
        grown = GrowingCounts(source)
    for each in (before, request):
        (found,) = grown.count([each])
        assert [one.given for one in source.asked] == [label if is_grown and each is request else None]
        assert_same(found, *source.count([each]))


def test_other_requests_are_asked_as_they_are():
    events = sm.read_events([["a", "b", "c", "a"]])
    source, summary = Recorder(events), sm.BSuMM("a").make_summary()
    target = Target((0,), 3)
    with mock.patch.object(sources, "_FROM_EVENTS", 0):
        grown = GrowingCounts(source)
    first = [CandidatesRequest(summary, (), target, (0, 1)), StatesRequest(summary, (0,), target)]
    grown.count(first)
    later = [
        CandidatesRequest(summary, (0,), target, (1, 2)),  # nothing is known of label 2
        CandidatesRequest(sm.BSuMM("a").make_summary(), (0,), target, (1,)),  # another look at the past
        CandidatesRequest(summary, (0, 1), target, ()),  # two labels more
        StatesRequest(summary, (0,), target),  # of which all but the request for states is known
    ]
    grown.count(later)
    assert source.asked == later


@pytest.mark.parametrize(
    "model",
    [
        sm.BSuMM(gamma=0.1, false_edges=None),
        sm.CSuMM(cap=2, gamma=0.1, false_edges=None),
        sm.OSuMM(gamma=0.1, false_edges=None),
    ],
    ids=["binary", "count", "ordinal"],
)
def test_a_graph_is_the_same(model):
    events = web_shop().simulate(n_sequences=60, length=20, random_state=1)
    plain = sm.InfluenceGraph(model).fit(events)
    with mock.patch.object(sources, "_FROM_EVENTS", 0):
        grown = sm.InfluenceGraph(model).fit(events)
    assert max(map(len, plain.influencers_.values())) > 1
    assert grown.to_document() == plain.to_document()
