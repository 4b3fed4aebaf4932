from summarkov.kernels.index import Codes, Int
from summarkov.kernels.shuffling import Seeds

class Index:
    def __init__(
        self, codes: Codes, offsets: Int, past_positions: Int, past_codes: Codes, n_labels: int
    ) -> None: ...

def add_rows(cells: Int, rows: Int, weights: Int, n_cells: int) -> Int: ...
def count(
    shard: Index,
    weights: Int | None,
    influencers: Codes,
    candidates: Codes,
    outcome_of: Codes,
    n_outcomes: int,
    kind: int,
    lookback: Int,
    delay: int,
    cap: int,
    totals: Int,
    most_cells: int,
) -> tuple[Codes, Int, Int]: ...
def states(
    shard: Index, influencers: Codes, kind: int, lookback: Int, delay: int, cap: int
) -> tuple[Int, Codes]: ...
def totals(shard: Index, weights: Int | None, kind: int, lookback: Int, delay: int, cap: int) -> Int: ...
def tests(
    shard: Index,
    weights: Int | None,
    tree: Int,
    slots: Int,
    labels: Codes,
    lookbacks: Int,
    depth: int,
    starts: Int,
    order: bool,
    outcome_of: Codes,
    n_outcomes: int,
    shapes: list[tuple[int, ...]],
) -> tuple[Int, Int, Int, Int]: ...
def leaves(shard: Index, tree: Int, depth: int) -> Int: ...
def followed(shard: Index, weights: Int | None, pairs: Int) -> tuple[Int, Codes]: ...
def shuffled(codes: Codes, offsets: Int, seeds: Seeds, begun: int, kept: int, within: int) -> Codes: ...
def presence(
    codes: Codes,
    offsets: Int,
    past_positions: Int,
    past_codes: Codes,
    n_labels: int,
    begun: int,
    weights: Int | None,
    influencers: Codes,
    lookbacks: Int,
    starts: Int,
    outcome_of: Codes,
    n_outcomes: Int,
    ends: Int,
    delay: int,
) -> list[tuple[Codes, Int]]: ...
