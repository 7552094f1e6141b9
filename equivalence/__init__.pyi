"""The public names for type checkers, which cannot follow a late import."""

from equivalence.curves.compare import curve as curve
from equivalence.declare.batches import Batches as Batches
from equivalence.declare.data_parallel import DataParallel as DataParallel
from equivalence.declare.difference import Difference as Difference
from equivalence.declare.difference import Limit as Limit
from equivalence.declare.difference import Raised as Raised
from equivalence.declare.draws import Draw as Draw
from equivalence.declare.draws import binary as binary
from equivalence.declare.draws import booleans as booleans
from equivalence.declare.draws import definite as definite
from equivalence.declare.draws import distinct as distinct
from equivalence.declare.draws import distribution as distribution
from equivalence.declare.draws import file as file
from equivalence.declare.draws import gaps as gaps
from equivalence.declare.draws import given as given
from equivalence.declare.draws import half as half
from equivalence.declare.draws import infinite as infinite
from equivalence.declare.draws import integers as integers
from equivalence.declare.draws import logits as logits
from equivalence.declare.draws import masked as masked
from equivalence.declare.draws import nonfinite as nonfinite
from equivalence.declare.draws import normal as normal
from equivalence.declare.draws import ties as ties
from equivalence.declare.draws import triangular as triangular
from equivalence.declare.draws import uniform as uniform
from equivalence.declare.draws import whole as whole
from equivalence.declare.initial import Initial as Initial
from equivalence.declare.network import network as network
from equivalence.declare.operator import Operator as Operator
from equivalence.declare.operator import to as to
from equivalence.declare.pipeline import Pipeline as Pipeline
from equivalence.declare.twin import Twin as Twin
from equivalence.declare.twin import cases as cases
from equivalence.declare.twin import grid as grid
from equivalence.dry.command import train as train
from equivalence.dumps.monitor import monitored as monitored
from equivalence.dumps.recorder import recorded as recorded
from equivalence.errors import DeclarationError as DeclarationError
from equivalence.errors import EquivalenceError as EquivalenceError
from equivalence.judge.outcome import Outcome as Outcome
from equivalence.kinds import check as check
from equivalence.kinds import diagnose as diagnose
from equivalence.own.notebook import compare as compare
from equivalence.own.notebook import settings as settings
from equivalence.own.result import Result as Result
from equivalence.stand_ins.context import on_cpu as on_cpu
from equivalence.targets import arrays as arrays

__version__: str
__all__: list[str]
