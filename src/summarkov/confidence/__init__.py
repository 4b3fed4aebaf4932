"""How sure: intervals of probabilities and ratios, edges that resampled data give again, tests of edges."""

from summarkov.confidence.adjusted import Difference, given_selected, paired_interval
from summarkov.confidence.order import (
    OLD_ORDERS,
    ORDERS,
    EdgeOrder,
    OrderTest,
    Remainder,
    ShortScale,
    Sums,
    against_shuffled,
    competing,
    is_fixed_order,
    order_word,
)
from summarkov.confidence.rate_ratio import RateRatio, Strata, directions, exact_intervals, rate_ratio, seen
from summarkov.confidence.results import (
    Confidence,
    Discoveries,
    Discovery,
    EdgeConfidence,
    Pair,
    Ranking,
    benjamini_hochberg,
    benjamini_yekutieli,
    standardised,
)
from summarkov.confidence.robust import added, robust_widening, widened, widening
