"""The estimators that people use."""

from summarkov.models.chains import ContextTreeWeighting, MarkovChain, VariableOrderChain
from summarkov.models.changes import Change, Drift, drift
from summarkov.models.distribution import Follower, GraphFollower
from summarkov.models.edges import Edges
from summarkov.models.evaluating import Evaluation, Figures
from summarkov.models.families import BSuMM, CSuMM, OSuMM, SuMM
from summarkov.models.files import load
from summarkov.models.fitted import Row, StateTable
from summarkov.models.graph import InfluenceGraph
from summarkov.models.groups import compare_groups
from summarkov.models.joint import JointSuMM
from summarkov.models.label_sets import LabelSet, LabelSets
from summarkov.models.model import SummaryModel
from summarkov.models.next_event import Reached
from summarkov.models.outcome import OutcomeModel
from summarkov.models.predictor import OTHER, Predictions
from summarkov.models.stability import Stability, StabilityRow, StableEdge, sensitivity
from summarkov.models.transformers import CollapseRepeats, MapLabels, PoolRare, ReadEvents
from summarkov.models.tree import TreeSuMM
