from summarkov.kernels.boosted import LevelArray
from summarkov.typing import BoolArray, CodeArray, FloatArray, HashArray, IntArray

class Index:
    def __init__(
        self,
        codes: CodeArray,
        offsets: IntArray,
        n_labels: int,
    ) -> None: ...

class Reach:
    def __init__(
        self,
        first: CodeArray,
        before: CodeArray,
        ends: list[CodeArray],
        of: CodeArray,
        attributes: BoolArray,
        farthest: CodeArray,
        mean: float,
    ) -> None: ...

class Clock:
    def __init__(
        self, clock: IntArray, ticks: IntArray, before: CodeArray, attributes: BoolArray
    ) -> None: ...

def add_rows(cells: IntArray, rows: IntArray, weights: IntArray, n_cells: int) -> IntArray: ...
def count(
    shard: Index,
    weights: IntArray | None,
    influencers: CodeArray,
    given: int,
    candidates: CodeArray,
    outcome_of: CodeArray,
    n_outcomes: int,
    kind: int,
    lookback: IntArray,
    delay: int,
    cap: int,
    reach: Reach | None,
    totals: IntArray,
    most_cells: int,
) -> tuple[CodeArray, IntArray, IntArray]: ...
def states(
    shard: Index,
    influencers: CodeArray,
    kind: int,
    lookback: IntArray,
    delay: int,
    cap: int,
    reach: Reach | None,
) -> tuple[IntArray, CodeArray]: ...
def totals(
    shard: Index,
    weights: IntArray | None,
    kind: int,
    lookback: IntArray,
    delay: int,
    cap: int,
    reach: Reach | None,
) -> IntArray: ...
def tests(
    shard: Index,
    clock: Clock | None,
    weights: IntArray | None,
    tree: IntArray,
    slots: IntArray,
    labels: CodeArray,
    lookbacks: IntArray,
    depth: int,
    starts: IntArray,
    order: bool,
    outcome_of: CodeArray,
    n_outcomes: int,
    shapes: list[tuple[int, ...]],
) -> tuple[IntArray, IntArray, IntArray, IntArray]: ...
def last_within(clock: IntArray, offsets: IntArray, size: int) -> CodeArray: ...
def leaves(shard: Index, clock: Clock | None, tree: IntArray, depth: int) -> IntArray: ...
def followed(
    shard: Index,
    weights: IntArray | None,
    pairs: IntArray,
    of: CodeArray | None,
    bounds: IntArray,
    complete: BoolArray,
    times: IntArray | None,
    attributes: BoolArray | None,
    spans: IntArray,
) -> tuple[IntArray, IntArray]: ...
def order_counts(
    codes: CodeArray,
    tick: IntArray,
    bounds: IntArray,
    times: IntArray,
    stratum: IntArray,
    cuts: IntArray,
    seeds: HashArray,
    weights: IntArray | None,
    held: CodeArray,
    held_by: IntArray,
    stays: BoolArray,
    n_labels: int,
    together: bool,
    edges: IntArray,
    strata: CodeArray,
    reaches: IntArray,
    left_out: CodeArray,
    delay: int,
    delay_in_time: bool,
    replicates: IntArray,
) -> list[tuple[IntArray, IntArray, int, int]]: ...
def clusters(
    given: Presence,
    patterns: list[IntArray],
    base: list[FloatArray],
    hit: list[FloatArray],
    starts: list[IntArray],
    targets: list[list[int]],
) -> list[tuple[FloatArray, IntArray]]: ...

class Presence:
    def __init__(
        self,
        codes: CodeArray,
        offsets: IntArray,
        n_labels: int,
        weights: IntArray | None,
        influencers: CodeArray,
        lookbacks: IntArray,
        reach_of: list[int],
        starts: IntArray,
        labels: CodeArray,
        labels_starts: IntArray,
        delay: int,
        first: CodeArray,
        before: CodeArray,
        last: list[CodeArray],
        attributes: BoolArray,
    ) -> None: ...

class Grower:
    def __init__(self, levels: LevelArray) -> None: ...
    def grow(
        self,
        allowed: BoolArray,
        rows: CodeArray,
        values: IntArray,
        n_levels: int,
        leaves: int,
        penalty: float,
        unit: float,
        least_gain: float,
        least: float,
    ) -> tuple[CodeArray, CodeArray, CodeArray, IntArray]: ...

def said_by_trees(
    levels: LevelArray,
    leaf: CodeArray,
    feature: CodeArray,
    level: CodeArray,
    value: FloatArray,
    n_outcomes: int,
) -> FloatArray: ...
