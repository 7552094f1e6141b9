"""What a side is: the verbs and data that all others may ask of it. Loads no framework.

A side that lacks something says so by a value, such as a `step` of None, and is never asked whether
it has the attribute.
"""

import contextlib
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from equivalence.host.devices import Place
from equivalence.judge.tensors import Trace
from equivalence.randomness.layers import Draws, RandomLayer
from equivalence.sample import AnySample, Sample
from equivalence.sides.feed import Feed
from equivalence.sides.modes import Modes
from equivalence.structure.layers import Called, Layer, Sink
from equivalence.structure.weights import Slot

if TYPE_CHECKING:
    from equivalence.sides.mindspore_network import MindSporeNetwork
    from equivalence.sides.torch_constants import Constants
    from equivalence.structure.tables import Tables

Watch = contextlib.AbstractContextManager
"""A context manager that sees every operator of a run, such as `KinkWatch`."""


class ReferenceSide(Protocol):
    """A PyTorch network, a training step and its network, or a part of either.

    steps: how many times a training step is called; None for a network that is no training.
    noted: the steps, from 1, after which the trace gets the updates of all weights.
    settles: whether a sample can be moved away from the kinks.
    mixed: whether a run of it has computed in a precision shorter than float32.
    leave: the attributes that a run finds as the one before has left them, made by a constructor.
    """

    steps: int | None
    noted: Collection[int]
    settles: bool
    mixed: bool
    leave: Collection[str]

    @property
    def module(self) -> Any:
        """The network, a module."""

    @property
    def step(self) -> Any:
        """The training step, a module; None for a network that is no training."""

    @property
    def root(self) -> Any:
        """The module that runs: the step, or the network."""

    @property
    def moved(self) -> Any:
        """The `torch_steps.progress` of a step after its run; None without one."""

    @property
    def constants(self) -> "Constants":
        """The buffers that are not drawn."""

    def tables(self) -> "Tables | None":
        """Its constants as data; None where their truth is not known."""

    @property
    def draws(self) -> Draws:
        """What its runs draw, and what of it is pinned."""

    @property
    def modes(self) -> Modes:
        """Which of its layers train."""

    @property
    def device(self) -> Any:
        """The torch device on which it runs."""

    @property
    def place(self) -> Place:
        """The place of the candidate."""

    @property
    def forward_only(self) -> bool:
        """Whether its last run gave no gradients at all, since its code takes none."""

    @property
    def made_in(self) -> Mapping[str, int]:
        """How many of its parameters are built in each dtype."""

    @property
    def filled(self) -> Sequence[str]:
        """The names of the parameters that have values."""

    def slots(self) -> dict[str, Slot]:
        """All parameters, then all buffers, by name."""

    def names(self) -> dict[str, str]:
        """Every name in the state dict -> the name in `slots` of the same tensor."""

    def layers(self) -> list[Layer]:
        """All modules, a parent before its children."""

    def part(self, path: str) -> "ReferenceSide":
        """The module at a path as a network of its own, with the same tensors."""

    def pools_maxima(self, path: str) -> bool:
        """Whether the module at a path is a max pooling."""

    def observed(
        self, sink: Sink, called: Called | None = None
    ) -> contextlib.AbstractContextManager[None]:
        """A context in which `sink` gets the outputs and cotangents of every layer."""

    def dropouts(self) -> list[str]:
        """The paths of the layers of PyTorch that draw while the network trains."""

    def random_layers(self, sample: Sample, phase: str) -> list[RandomLayer]:
        """Every draw of random numbers in a run, in order."""

    def run(self, sample: AnySample, phase: str, dtype: str, watch: Watch | None = None) -> Trace:
        """Load the sample's weights, and run forward and backward in `dtype`, or all steps."""

    def forward(self, sample: AnySample, phase: str, watch: Watch, dtype: str = "float64") -> None:
        """Load the sample's weights, and run forward only."""

    def settle(self, sample: Sample, perturbed: Sequence[AnySample], phase: str) -> None:
        """Change `sample` so that no activation is near a kink, where this is possible."""

    def shift(self, sample: Sample, phase: str, margins: Any) -> None:
        """Change the biases of `sample` so that activations keep their margins."""

    def loaded(self, sample: AnySample, phase: str, dtype: str) -> Any:
        """The module, ready to be called."""

    def renew(self) -> None:
        """Build a training step anew, without the state of a run; nothing for a network."""


class CandidateSide(Protocol):
    """A MindSpore network or training, one whose run is recorded, or the record of a run."""

    @property
    def built(self) -> "MindSporeNetwork | None":
        """The network that runs here, or the training; None where its run was recorded."""

    def slots(self) -> dict[str, Slot]:
        """The shape and kind of each weight, by its path."""

    def unheld(self) -> list[str]:
        """The attributes that hold cells without making them cells of the network."""

    def dropouts(self) -> list[str]:
        """The paths of the cells that draw random numbers while training."""

    def drawn_by(self, note: Callable[[], list[RandomLayer]]) -> list[RandomLayer]:
        """The draws that `note` finds in a run, or those that were recorded."""

    def run(self, feed: Feed) -> Trace:
        """The trace of a run in the sample's dtype, or of all steps, by the reference's names."""

    def call_before(self, feed: Feed, both: bool) -> None:
        """Run with the values of another sample, so that what is kept of them shows in `run`."""
