"""Small networks over labels: an embedding, an LSTM or a causal transformer, a linear layer, a softmax.

Tokens are the codes of the labels, then BOS, EOS and PAD. A sequence goes in as BOS, e1, ..., and e1, e2, ...
is what it should say; EOS would come last, but is ignored in the loss, so that step is not computed at all.
An event of no known label goes in as PAD, whose embedding is zero, and is not learned from. What a network
says at a position never depends on that event or a later one: an LSTM goes forward only, and a transformer's
attention is masked.
"""

from __future__ import annotations

import math
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
    with optional_library("a neural network", "PyTorch", extra="paper"):
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


def make_lstm(n_labels: int, embedding: int, hidden: int, seed: int) -> Any:
    """An LSTM with random weights that depend on the seed alone; PyTorch's own generator is not touched."""
    with seeded(seed) as torch:
        inner = {"lstm": torch.nn.LSTM(embedding, hidden, batch_first=True)}
        return _with_ends(n_labels, embedding, inner, hidden)


def make_transformer(n_labels: int, width: int, heads: int, layers: int, dropout: float, seed: int) -> Any:
    """A transformer with random weights that depend on the seed alone."""
    with seeded(seed) as torch:
        layer = torch.nn.TransformerEncoderLayer(
            width, heads, 2 * width, dropout, batch_first=True, norm_first=True
        )
        inner = {"blocks": torch.nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)}
        return _with_ends(n_labels, width, inner, width)


def _with_ends(n_labels: int, embedding: int, inner: dict[str, Any], states: int) -> Any:
    torch, n_tokens = load_torch(), n_labels + N_SPECIAL
    ends = {
        "embedding": torch.nn.Embedding(n_tokens, embedding, padding_idx=n_tokens - 1),
        "linear": torch.nn.Linear(states, n_tokens),
    }
    return torch.nn.ModuleDict({**ends, **inner})


@contextmanager
def seeded(seed: int) -> Iterator[Any]:
    """PyTorch, whose random numbers depend on the seed alone here and are afterwards as they were."""
    torch = load_torch()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield torch


def logits(network: Any, inputs: Any) -> Any:
    """Unnormalised log-probabilities of all tokens after each input: [sequence, position, token]."""
    embedded = network["embedding"](inputs)
    if "lstm" in network:
        states, _ = network["lstm"](embedded)
    else:
        torch, steps = load_torch(), embedded.shape[1]
        later = torch.ones(steps, steps, dtype=torch.bool).triu(1)
        states = network["blocks"](embedded + places(steps, embedded.shape[2]), mask=later)
    return network["linear"](states)


def places(steps: int, width: int) -> Any:
    """A row of sines and cosines for each position, which tell it and its distance to others.

    Reference: Vaswani et al., "Attention is all you need", NeurIPS 2017, section 3.5.
    """
    torch = load_torch()
    rates = torch.exp(torch.arange(0, width, 2) * (-math.log(10_000.0) / width))
    angles = torch.arange(steps)[:, None] * rates
    return torch.stack([torch.sin(angles), torch.cos(angles)], dim=2).flatten(1)


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
    network.train()
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
    network.eval()
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
