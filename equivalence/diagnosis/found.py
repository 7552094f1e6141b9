"""The result of a diagnosis: every aligned layer with its errors, and the layers to blame."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from equivalence.declare.twin import TwinCase
from equivalence.judge import tensors
from equivalence.judge.expected import Expected
from equivalence.judge.verdict import Judgement
from equivalence.sample import Sample

RIGHT = "the port is right, and "
"""The beginning of a cause that is none of the port's: without it all of a case is right."""

BESIDE = "the port is wrong, too, but "
"""The beginning of a cause that is none of the port's, beside mistakes of the port."""

SEEN_LATER = "this does not explain all that is off: mend it, then compare again"
"""A note where the statements to blame do not explain all."""

CUT = "the reference cuts the gradient at "
"""The beginning of a note on a cut that the candidate does not make."""

PADDED = "the port pads its input in its own code"
"""Why a layer cannot be fed by itself: its convolution pads in the reference alone."""

TRAINING, UPDATE = "training step", "update"
"""The kind of a stage of a training step; the stage in which optimisers act."""

ACQUITTED = f"{RIGHT}MindSpore's kernel is not: "
"""The beginning of a cause that names inaccurate kernels of MindSpore."""


@dataclass
class Local:
    """One layer by itself, fed the reference's input and cotangent.

    sample: what the layer is fed.
    expected: name -> truth of each output, buffer and gradient.
    trace: the candidate's arrays, by the same names.
    judgement: the verdict on the trace.
    """

    sample: Sample
    expected: Mapping[str, Expected]
    trace: tensors.Trace
    judgement: Judgement

    @property
    def forward(self) -> float:
        """Largest error of the outputs and buffers, in roundings."""
        return self._largest(lambda name: not tensors.of_gradient(name))

    @property
    def outputs(self) -> float:
        """Largest error of the outputs alone, in roundings."""
        return self._largest(lambda name: name.startswith("output."))

    @property
    def backward(self) -> float:
        """Largest error of the gradients, in roundings."""
        return self._largest(tensors.of_gradient)

    def _largest(self, is_counted: Callable[[str], bool]) -> float:
        """Largest error of the tensors whose name counts, in roundings; 0 where there are none."""
        return max((v.needed for v in self.judgement.verdicts if is_counted(v.name)), default=0.0)


@dataclass
class LayerError:
    """One aligned layer. Errors are in roundings; NaN means that the error was not measured.

    reference: its path in the reference.
    candidate: its path in the candidate.
    kinds: its class on either side.
    inherited_forward: error of its outputs in the whole run, with what earlier layers add.
    inherited_backward: the same for its cotangents.
    forward: error of its outputs and buffers when it is fed by itself.
    backward: error of its gradients when it is fed by itself.
    unfed: why it cannot be fed by itself; empty where it can.
    causes: what explains a culprit, in words.
    statement: the statement of a culprit's own code that is to blame, as "file:line  source"; empty
        where none is found, or where the whole layer is to blame.
    counterpart: the reference's statement with the value that it should have, in the same form;
        empty where none is known.
    words: what differs at the statement, in plain words and without code; empty where the causes
        say it.
    """

    reference: str
    candidate: str
    kinds: tuple[str, str]
    inherited_forward: float = np.nan
    inherited_backward: float = np.nan
    forward: float = np.nan
    backward: float = np.nan
    unfed: str = ""
    causes: list[str] = field(default_factory=list)
    statement: str = ""
    counterpart: str = ""
    words: list[str] = field(default_factory=list)


@dataclass
class Diagnosis:
    """The result for one case.

    case: the case.
    layers: every aligned layer, in the order of their first outputs.
    culprits: the layers or stages to blame.
    notes: what limits the diagnosis, in words.
    ill_posed: why the case cannot tell right from wrong, so that nothing is to blame; else None.
    trees: path -> class of every layer, of the reference and of the candidate.
    stopped: what could not be done, so that layers were not compared by themselves; else empty.
    mended: what is right with the reference's values at the culprits, see `Mistakes`.
    eager: whether what a compiled graph gives wrongly is right in PyNative mode.
    """

    case: TwinCase
    layers: list[LayerError]
    culprits: list[LayerError]
    notes: list[str]
    ill_posed: str | None = None
    trees: tuple[Mapping[str, str], Mapping[str, str]] = ({}, {})
    stopped: str = ""
    mended: str = ""
    eager: bool = False
