"""A small recurrent network over labels: an embedding, an LSTM, a linear layer, a softmax.

Tokens are the codes of the labels, then BOS, EOS and PAD. A sequence goes in as BOS, e1, ..., and e1, e2, ...
is what it should say; EOS would come last, but is ignored in the loss, so that step is not computed at all.
An event of no known label goes in as PAD, whose embedding is zero, and is not learned from.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from summarkov.errors import optional_library
from summarkov.events import EventSequences
from summarkov.typing import FloatArray, IntArray

#: BOS, EOS and PAD: in the softmax while training, left out when it is read.
N_SPECIAL = 3
#: What stands where the loss ignores the output: behind the end, and events of no known label.
IGNORED = -1
_TOKENS_AT_ONCE = 1 << 14


def load_torch() -> Any:
    """PyTorch."""
    with optional_library("the LSTM", "PyTorch", extra="paper"):
        import torch
    return torch


@contextmanager
def reproducibly(threads: int) -> Iterator[Any]:
    """PyTorch with deterministic algorithms and a fixed number of threads, as it was before afterwards."""
    torch = load_torch()
    before = torch.are_deterministic_algorithms_enabled(), torch.get_num_threads()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(threads)
    try:
        yield torch
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=warn_only)
        torch.set_num_threads(before[1])


def make_network(n_labels: int, embedding: int, hidden: int, seed: int) -> Any:
    """A network with random weights that depend on the seed alone; PyTorch's own generator is not touched."""
    torch = load_torch()
    n_tokens = n_labels + N_SPECIAL
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return torch.nn.ModuleDict(
            {
                "embedding": torch.nn.Embedding(n_tokens, embedding, padding_idx=n_tokens - 1),
                "lstm": torch.nn.LSTM(embedding, hidden, batch_first=True),
                "linear": torch.nn.Linear(hidden, n_tokens),
            }
        )


def logits(network: Any, inputs: Any) -> Any:
    """Unnormalised log-probabilities of all tokens after each input: [sequence, position, token]."""
    states, _ = network["lstm"](network["embedding"](inputs))
    return network["linear"](states)


def padded(events: EventSequences, which: IntArray) -> tuple[IntArray, IntArray]:
    """Some sequences as inputs and outputs, one row per sequence, filled up to the longest of them.

    >>> events = EventSequences.from_lists([["A", "B", "B"], ["B"]])
    >>> inputs, outputs = padded(events, np.array([0, 1]))
    >>> inputs.tolist()
    [[2, 0, 1], [2, 4, 4]]
    >>> outputs.tolist()
    [[0, 1, 1], [1, -1, -1]]
    """
    lengths = events.lengths[which]
    steps = np.arange(int(lengths.max(initial=0)))
    inside = steps < lengths[:, None]
    outputs = np.full(inside.shape, IGNORED, np.int64)
    outputs[inside] = events.codes[(events.offsets[which][:, None] + steps)[inside]]
    bos = len(events.labels)
    pad = bos + N_SPECIAL - 1
    inputs = np.full_like(outputs, bos)
    inputs[:, 1:] = np.where(inside[:, 1:] & (outputs[:, :-1] >= 0), outputs[:, :-1], pad)
    return inputs, outputs


def train_epoch(network: Any, optimizer: Any, events: EventSequences, batch_size: int, rng: Any) -> None:
    """Go once through the sequences, in random batches of nearly equal length, minimising cross entropy."""
    torch = load_torch()
    for which in shuffled_batches(events.lengths, batch_size, rng):
        inputs, outputs = padded(events, which)
        if not (outputs >= 0).any():
            continue
        optimizer.zero_grad(set_to_none=True)
        said = logits(network, torch.from_numpy(inputs))
        loss = torch.nn.functional.cross_entropy(
            said.flatten(0, 1), torch.from_numpy(outputs).flatten(), ignore_index=IGNORED
        )
        loss.backward()
        optimizer.step()


def shuffled_batches(lengths: IntArray, batch_size: int, rng: Any) -> list[IntArray]:
    """Sequences that are not empty, by length (equal ones at random), cut; the batches in random order."""
    order = rng.permutation(np.flatnonzero(lengths))
    order = order[np.argsort(lengths[order], kind="stable")]
    batches = [order[start : start + batch_size] for start in range(0, len(order), batch_size)]
    return [batches[b] for b in rng.permutation(len(batches))]


def label_probabilities(network: Any, events: EventSequences) -> FloatArray:
    """The softmax over labels alone at every position: N rows that sum to 1, one column per label.

    Leaving BOS, EOS and PAD out of the softmax is the same as dividing by what it gives to labels.
    """
    torch = load_torch()
    m = len(events.labels)
    result = np.empty((events.n_events, m))
    order = np.flatnonzero(events.lengths)
    order = order[np.argsort(events.lengths[order], kind="stable")]
    with torch.no_grad():
        for which in _even_parts(order, events.lengths):
            inputs, _ = padded(events, which)
            said = logits(network, torch.from_numpy(inputs))[:, :, :m].double()
            probabilities = torch.softmax(said, dim=2).numpy()
            steps = np.arange(inputs.shape[1])
            inside = steps < events.lengths[which][:, None]
            result[(events.offsets[which][:, None] + steps)[inside]] = probabilities[inside]
    return result


def _even_parts(order: IntArray, lengths: IntArray) -> Iterator[IntArray]:
    """Cut sequences, given by rising length, into parts of about as many tokens."""
    start = 0
    for stop in range(1, len(order) + 1):
        if stop == len(order) or (stop + 1 - start) * lengths[order[stop]] > _TOKENS_AT_ONCE:
            yield order[start:stop]
            start = stop
