from summarkov.kernels.index import Window
from summarkov.kernels.trees import LevelArray, Recency
from summarkov.typing import BoolArray, CodeArray, FloatArray, IntArray

class Index:
    def __init__(
        self,
        codes: CodeArray,
        offsets: IntArray,
        n_labels: int,
        starts: BoolArray | None,
        attributes: BoolArray,
        times: IntArray | None,
        unit: int,
        asked: IntArray | None,
    ) -> None: ...

def count(
    shard: Index,
    weights: IntArray | None,
    influencers: CodeArray,
    candidates: CodeArray,
    outcome_of: CodeArray,
    n_outcomes: int,
    window: Window,
    given: int | None,
    most_cells: int,
) -> tuple[CodeArray, IntArray, IntArray]: ...
def states(shard: Index, influencers: CodeArray, window: Window) -> tuple[IntArray, CodeArray]: ...
def tests(
    shard: Index,
    weights: IntArray | None,
    tree: IntArray,
    slots: IntArray,
    recency: Recency,
    outcome_of: CodeArray,
    n_outcomes: int,
    shapes: list[tuple[int, ...]],
) -> tuple[IntArray, IntArray, IntArray, IntArray]: ...
def leaves(shard: Index, tree: IntArray, in_time: bool) -> IntArray: ...
def followed(
    shard: Index, weights: IntArray | None, complete: BoolArray, pairs: IntArray
) -> tuple[IntArray, IntArray]: ...
def order_counts(
    events: tuple[object, ...], edges: tuple[object, ...], replicates: IntArray
) -> list[tuple[IntArray, IntArray, int, int]]: ...
def clusters(
    shard: Index,
    weights: IntArray | None,
    targets: list[tuple[object, ...]],
    delay: int,
    delay_in_time: bool,
) -> list[tuple[FloatArray, IntArray]]: ...

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
