"""Runs one case: both sides once, every check on the same traces."""

import contextlib
import os
import re
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING

from equivalence import devices, environment, flips, precision, trace, truth, weights
from equivalence.batches import Batches
from equivalence.errors import DeclarationError, EquivalenceError, SideError
from equivalence.flips import Flip
from equivalence.judge import Judgement, judge
from equivalence.sample import Sample, resolve_inputs
from equivalence.trace import Trace
from equivalence.truth import Truth
from equivalence.twin import Case
from equivalence.weights import Slot

if TYPE_CHECKING:
    from equivalence.mindspore_adapter import MindSporeNetwork
    from equivalence.torch_adapter import TorchNetwork


FINER = 2.0**-6
"""Roundings of half precision that a network which computes in it exceeds; float32 makes 1e-3."""


@dataclass
class Outcome:
    """What a case came to. `judgement` is None for a twin whose sides must raise.

    flips: the branches that the candidate took otherwise, and that `judgement` is passed with.
    """

    case: Case
    seed: int
    judgement: Judgement | None
    flips: tuple[Flip, ...] = ()

    @property
    def passed(self) -> bool:
        """Equal; or different, where the twin declares a difference."""
        if self.judgement is None:
            return True
        if self.case.twin.differs:
            return self.judgement.ill_posed is None and bool(self.judgement.differing)
        return self.judgement.equal


@dataclass
class Reference:
    """Everything of the reference that the executions and devices of a sample share.

    finer: with more exact sensitivities, made when a candidate is off by little; far: activations
    that may have taken the other branch, looked for when only gradients are off.
    """

    sample: Sample
    slots: dict[str, Slot]
    random_layers: list[str]
    expected: Truth
    finer: Truth | None = None
    far: tuple[Flip, ...] | None = None


@dataclass
class Comparison:
    """Both sides of a case, run: the reference, the candidate and its trace, and the verdict.

    partners: candidate name -> reference name of every weight. flips: see `Outcome`.
    """

    reference: Reference
    candidate: "MindSporeNetwork"
    partners: dict[str, str]
    recorded: Trace
    judgement: Judgement
    flips: tuple[Flip, ...] = ()


_latest: tuple[tuple, Reference] | None = None


def check(case: Case, seed: int) -> Outcome:
    """Compare both sides of `case`, drawn with base seed `seed`.

    Raises EquivalenceError where no comparison can be made: weights that do not pair up, random
    layers that are not pinned, a case that cannot tell right from wrong.
    """
    if case.twin.raises:
        _both_raise(case, seed)
        return Outcome(case, seed, None)
    compared = compare(case, seed)
    return Outcome(case, seed, compared.judgement, compared.flips)


def compare(
    case: Case,
    seed: int,
    candidate: "MindSporeNetwork | None" = None,
    attribute: bool = True,
) -> Comparison:
    """Run both sides of `case` and judge them.

    The reference's side is remembered until a case with another sample comes. `candidate` is
    that of an earlier comparison of the same case with another seed: it is not compiled again.
    attribute: whether branch flips may explain what differs.
    Raises EquivalenceError as `check` does.
    """
    unit_roundoff = case_unit_roundoff(case)
    known = reference(case, seed)
    if candidate is None:
        with _side("candidate", case):
            candidate = build_candidate(case)
    _demand_pinned(case, known.random_layers, candidate.random_layers())
    partners = weights.pair(known.slots, candidate.slots(), case.twin.rename)
    environment.spare_collections()
    with _side("candidate", case):
        outputs = known.expected.pulled_back
        recorded = candidate.run(known.sample, partners, case.phase, outputs)
    budget = precision.budget(case.twin.name)
    judgement = judge(known.expected, recorded, unit_roundoff, budget)
    if judgement.differing and judgement.needed <= truth.CLOSE * budget:
        judgement = judge(_finer(known, case), recorded, unit_roundoff, budget)
    if case.twin.computes and judgement.equal and judgement.needed < FINER:
        judgement = replace(judgement, ill_posed=_too_exact(case, judgement))
    made = Comparison(known, candidate, partners, recorded, judgement)
    if attribute:
        _attribute(made, case, unit_roundoff, budget)
    return made


def _finer(known: Reference, case: Case) -> Truth:
    """The truth with more exact sensitivities; what is off by little is judged by these.

    Kept apart from the truth that is judged by first, so that no case depends on another.
    """
    if known.finer is None:
        with _side("reference", case):
            known.finer = truth.refined(
                known.expected,
                build_reference(case),
                known.sample,
                case.phase,
                case_unit_roundoff(case),
            )
    return known.finer


def _too_exact(case: Case, judgement: Judgement) -> str:
    return (
        f"no tensor is farther than {judgement.needed:.3g} roundings to {case.twin.computes} from "
        "the truth: the candidate does not compute in it"
    )


def _attribute(made: Comparison, case: Case, unit_roundoff: float, budget: float) -> None:
    """Pass the comparison if only gradients differ, and whole branch flips explain them."""
    known, differing = made.reference, made.judgement.differing
    if not differing or made.judgement.ill_posed:
        return
    if any(v.problem or not trace.jumps(v.name) for v in differing):
        return
    with _side("reference", case):
        network = build_reference(case)
        if not network.settles:
            return
        near = known.expected.near or _far(known, network, case.phase, unit_roundoff)
        explained = near and flips.explain(
            network,
            known.sample,
            case.phase,
            known.expected,
            near,
            made.recorded,
            unit_roundoff,
            budget,
        )
    if explained:
        taken, expected = explained
        judgement = judge(expected, made.recorded, unit_roundoff, budget)
        if judgement.equal:
            made.judgement, made.flips = judgement, taken


def _far(
    known: Reference, network: "TorchNetwork", phase: str, unit_roundoff: float
) -> tuple[Flip, ...]:
    if known.far is None:
        known.far = truth.farther(network, known.sample, phase, unit_roundoff)
    return known.far


def case_unit_roundoff(case: Case) -> float:
    """The unit roundoff of the mode that the case's device computes its dtype in."""
    modes = devices.DEVICES[case.device].modes
    return precision.UNIT_ROUNDOFF[modes[case.twin.computes or case.dtype]]


def reference(case: Case, seed: int) -> Reference:
    """The reference's side, kept until a case with another sample comes."""
    global _latest
    twin, unit_roundoff = case.twin, case_unit_roundoff(case)
    key = (case.sample_name, case.config, twin.reference, twin.inputs, seed, unit_roundoff)
    if _latest is not None and _latest[0] == key:
        return _latest[1]
    _latest = None  # frees the former truth before the next is made
    sample = draw(case, seed)
    with _side("reference", case):
        network = build_reference(case)
        expected = truth.compute(network, sample, case.phase, unit_roundoff)
    made = Reference(sample, network.slots(), network.random_layers(), expected)
    _latest = (key, made)
    return made


def draw(case: Case, seed: int) -> Sample:
    """Everything random of a case."""
    if isinstance(case.twin.inputs, Batches):
        return case.twin.inputs.sample(case.sample_name, seed, case.dtype)
    return Sample(case.sample_name, seed, resolve_inputs(case.twin.inputs, case.config), case.dtype)


def build_reference(case: Case) -> "TorchNetwork":
    """The reference of a case, built anew."""
    from equivalence.torch_adapter import TorchNetwork, TorchTraining

    if case.twin.steps:
        return TorchTraining(case.twin.reference, case.arguments, case.twin.steps)
    return TorchNetwork(case.twin.reference, case.arguments)


def build_candidate(case: Case) -> "MindSporeNetwork":
    """The candidate of a case, built anew."""
    from equivalence.mindspore_adapter import MindSporeNetwork, MindSporeTraining

    target = devices.DEVICES[case.device].target
    if case.twin.steps:
        return MindSporeTraining(
            case.twin.candidate, case.arguments, case.execution, target, case.twin.steps
        )
    return MindSporeNetwork(case.twin.candidate, case.arguments, case.execution, target)


@contextlib.contextmanager
def _side(side: str, case: Case) -> Iterator[None]:
    """Turn what a side raises into a sentence that names the side and the line."""
    try:
        yield
    except EquivalenceError:
        raise
    except Exception as error:
        # MindSpore appends its C++ call stack after an empty line.
        message = str(error).strip().split("\n\n")[0]
        raise SideError(
            f"{case.name}: the {side} raised {type(error).__name__}: {message}"
            f"{_place(error.__traceback__)}"
        ) from error


def _place(trace: TracebackType | None) -> str:
    """The innermost line of the models' own code that a traceback passes through."""
    frames = traceback.extract_tb(trace)
    own = [f for f in frames if not f.filename.startswith(_ENGINE)]
    own = [f for f in own if not _FOREIGN.search(f.filename)]
    return f" ({own[-1].filename}:{own[-1].lineno} in {own[-1].name})" if own else ""


_ENGINE = os.path.dirname(__file__) + os.sep
_FOREIGN = re.compile(r"site-packages|<frozen|lib[\\/]python")


def _demand_pinned(case: Case, reference: list[str], candidate: list[str]) -> None:
    if case.phase == "train" and case.twin.random_layers is None and (reference or candidate):
        raise DeclarationError(
            f"{case.name}: layers draw random numbers while training (reference: "
            f"{', '.join(reference) or 'none'}; candidate: {', '.join(candidate) or 'none'}); "
            "declare random_layers='eval' or leave out the train phase"
        )


def _both_raise(case: Case, seed: int) -> None:
    """Demand that each side raises what the twin names."""
    sample = draw(case, seed)

    def reference():
        build_reference(case).run(sample, case.phase, case.dtype)

    def candidate():
        network = build_candidate(case)
        partners = {n: weights.reference_name(n, case.twin.rename) for n in network.slots()}
        network.run(sample, partners, case.phase, {})

    for side, run in (("reference", reference), ("candidate", candidate)):
        try:
            run()
        except Exception as error:
            if type(error).__name__ != case.twin.raises:
                raise EquivalenceError(
                    f"{case.name}: the {side} raised {type(error).__name__} ({error}), "
                    f"not {case.twin.raises}"
                ) from error
        else:
            raise EquivalenceError(f"{case.name}: the {side} did not raise {case.twin.raises}")
