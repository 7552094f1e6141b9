"""Runs one case: both sides once, every check on the same traces."""

import contextlib
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from equivalence import errors
from equivalence.declare.batches import Batches
from equivalence.declare.twin import Case
from equivalence.errors import (
    DeclarationError,
    EquivalenceError,
    SideError,
    TorchMissingError,
)
from equivalence.host import devices, environment
from equivalence.judge import precision, sketch
from equivalence.judge.tensors import Trace
from equivalence.judge.truth import CLOSE, Flip, Reference, Truth
from equivalence.judge.verdict import Judgement, judge
from equivalence.record import candidates, truths
from equivalence.sample import Sample, resolve_inputs
from equivalence.sides import weights
from equivalence.twins import units
from equivalence.twins.units import case_unit_roundoff, computed, is_coarse
from equivalence.words import listed

if TYPE_CHECKING:
    from equivalence.sides.mindspore_network import MindSporeNetwork
    from equivalence.sides.torch_network import TorchNetwork


FINER = 2.0**-6
"""Roundings of half precision that a network which computes in it exceeds; float32 makes 1e-3."""


@dataclass
class Outcome:
    """What a case came to. `judgement` is None for a twin whose sides must raise, and of a case
    that is recorded where its device is not.

    flips: the branches that the candidate took otherwise, and that `judgement` is passed with.
    undecided: elements of updates that rounding decides, of which only a range is demanded.
    record: see `Reference`. note: what may explain the difference, but cannot be tried here.
    made_with: what the candidate's run was recorded with elsewhere; None: it was run here.
    products: convolutions and matrix products that a rehearsal rounded; None: it was none.
    """

    case: Case
    seed: int
    judgement: Judgement | None
    flips: tuple[Flip, ...] = ()
    undecided: int = 0
    record: str | None = None
    note: str | None = None
    made_with: str | None = None
    products: int | None = None

    @property
    def passed(self) -> bool:
        """Equal; or different, where the twin declares a difference and the mode can show it."""
        if self.judgement is None:
            return True
        if self.case.twin.differs:
            shown = bool(self.judgement.differing) or self.judgement.coarse
            return self.judgement.ill_posed is None and shown
        return self.judgement.equal


@dataclass
class Comparison:
    """Both sides of a case, run: the reference, the candidate and its trace, and the verdict.

    partners: candidate name -> reference name of every weight. flips, note: see `Outcome`.
    """

    reference: Reference
    candidate: "MindSporeNetwork"
    partners: dict[str, str]
    recorded: Trace
    judgement: Judgement
    flips: tuple[Flip, ...] = ()
    note: str | None = None


_known: list[tuple[tuple, Reference]] = []

SMALL = 64
"""References of single operators and of sizes that are kept at once; of networks it is one."""


def check(case: Case, seed: int) -> Outcome:
    """Compare both sides of `case`, drawn with base seed `seed`.

    Raises EquivalenceError where no comparison can be made: weights that do not pair up, random
    layers that are not pinned, a case that cannot tell right from wrong.
    """
    if truths.writing() and not devices.present(devices.place(case.device).runs_on):
        return Outcome(case, seed, None, record=_recorded(case, seed))
    runs = candidates.active(case)
    made_with = runs and runs.made_with(case, seed, case_unit_roundoff(case, seed))
    if case.twin.raises:
        from equivalence.twins import raising

        origin = raising.demand(case, seed)
        return Outcome(case, seed, None, record=origin, made_with=made_with)
    compared = compare(case, seed)
    known = compared.reference
    undecided = sum(each.at.size for each in known.expected.undecided.values())
    return Outcome(
        case,
        seed,
        compared.judgement,
        compared.flips,
        undecided,
        known.record,
        compared.note,
        made_with,
        getattr(compared.candidate, "products", None),
    )


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
    if len(case.sizes) > 1:
        from equivalence.twins import sizes

        return sizes.compare(case, seed, candidate, attribute)
    unit_roundoff = case_unit_roundoff(case, seed)
    known = reference(case, seed)
    with blaming("candidate", case):
        candidate = kept_candidate(case, seed, candidate)
    _demand_pinned(case, known.random_layers, candidate.random_layers())
    partners = weights.pair(known.slots, candidate.slots(), case.twin.rename)
    environment.spare_collections()
    with blaming("candidate", case):
        outputs = known.expected.pulled_back
        recorded = candidate.run(known.sample, partners, case.phase, outputs)
    recorded = known.expected.decided(recorded)
    budget = precision.budget(case.twin.name)
    coarse = is_coarse(case, seed)
    judgement = judge(known.expected, recorded, unit_roundoff, budget, coarse)
    if judgement.differing and judgement.needed <= CLOSE * budget:
        judgement = judge(
            _finer(known, case, unit_roundoff), recorded, unit_roundoff, budget, coarse
        )
    if case.alone and judgement.ill_posed is None and judgement.differing:
        judgement = _unless_by_chance(known, case, unit_roundoff, judgement)
    if case.twin.computes and judgement.equal and judgement.needed < FINER:
        judgement = replace(judgement, ill_posed=_too_exact(case, judgement))
    made = Comparison(known, candidate, partners, recorded, judgement)
    if attribute and not case.alone:
        _attribute(made, case, unit_roundoff, budget)
    return made


def _finer(known: Reference, case: Case, unit_roundoff: float) -> Truth:
    """The truth with more exact sensitivities; what is off by little is judged by these.

    Kept apart from the truth that is judged by first, so that no case depends on another.
    """
    from equivalence.truth import compute as truth

    if known.finer is None:
        with blaming("reference", case):
            known.finer = truth.refined(
                known.expected,
                build_reference(case),
                known.sample,
                case.phase,
                unit_roundoff,
                case.alone,
            )
    return known.finer


def _unless_by_chance(
    known: Reference, case: Case, unit_roundoff: float, judgement: Judgement
) -> Judgement:
    """The judgement of an operator; ill-posed where rounding decides what differs.

    Samples of an operator are not moved off its kinks, between both sides of which rounding
    decides. And few elements may hide what the reference, too, loses where terms cancel.
    """
    from equivalence.truth import compute as truth

    if any(verdict.problem for verdict in judgement.differing):
        return judgement
    with blaming("reference", case):
        network = build_reference(case)
        asked = known.sample, case.phase, unit_roundoff, judgement.differing
        if judgement.perhaps_branches and truth.jump(known.expected, network, *asked):
            why = "its gradients jump within the budget, and by as much as they differ"
        elif truth.lucky(known.expected, network, *asked):
            why = "for inputs nearby the reference is as far from the truth"
        else:
            return judgement
    return replace(judgement, ill_posed=why)


def _too_exact(case: Case, judgement: Judgement) -> str:
    return (
        f"no tensor is farther than {judgement.needed:.3g} roundings to {case.twin.computes} from "
        "the truth: the candidate does not compute in it"
    )


def _attribute(made: Comparison, case: Case, unit_roundoff: float, budget: float) -> None:
    """Pass the comparison if only gradients differ, and whole branch flips explain them."""
    known = made.reference
    if not made.judgement.perhaps_branches:
        return
    if known.record and not environment.installed("torch"):
        made.note = _untried(known.expected.near)
        return
    from equivalence.truth import flips

    with blaming("reference", case):
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
        coarse = made.judgement.coarse
        judgement = judge(expected, made.recorded, unit_roundoff, budget, coarse)
        if judgement.equal:
            made.judgement, made.flips = judgement, taken


def _untried(near: Sequence[Flip]) -> str | None:
    """Of gradients that are off on a host that cannot try branch flips out."""
    if not near:
        return None
    return f"perhaps a branch flip, at {listed(near)}; to tell, run it where torch is installed"


def _far(
    known: Reference, network: "TorchNetwork", phase: str, unit_roundoff: float
) -> tuple[Flip, ...]:
    from equivalence.truth import compute as truth

    if known.far is None:
        known.far = truth.farther(network, known.sample, phase, unit_roundoff)
    return known.far


def reference(case: Case, seed: int) -> Reference:
    """The reference's side, kept until a case with another sample comes."""
    twin, unit_roundoff = case.twin, case_unit_roundoff(case, seed)
    small = case.alone or case.size is not None
    library = truths.active() if truths.recordable(case) else None
    on_gpu = devices.place(case.device).runs_on == "gpu"
    key = (small, *case.shared, twin.reference, twin.inputs, seed, unit_roundoff, library, on_gpu)
    for other, known in _known:
        if other == key:
            return known
    if not (small and len(_known) < SMALL and all(other[0] for other, _ in _known)):
        _known.clear()  # frees the former truth before the next is made
    run, drawing = (functools.partial(make, case, seed) for make in (_run_reference, draw))
    known = library.reference(case, seed, unit_roundoff, drawing, run) if library else run()
    _known.append((key, known))
    return known


def _run_reference(case: Case, seed: int, keep: bool = False) -> Reference:
    """Run the reference; `keep` leaves of its tensors what a record keeps, and knows all of it."""
    sample, unit_roundoff = draw(case, seed), case_unit_roundoff(case, seed)
    with blaming("reference", case):
        network = build_reference(case)
        from equivalence.truth import compute as truth  # torch is there

        if case.alone:
            expected = truth.of_layer(network, sample, case.phase, unit_roundoff)
        else:
            expect = sketch.keeping(sample) if keep else truth.whole
            expected = truth.compute(network, sample, case.phase, unit_roundoff, expect)
    known = Reference(sample, network.slots(), network.random_layers(), expected)
    if keep:
        _finer(known, case, unit_roundoff)
        known.multiplies = units.seen_multiplying(case, seed)
    return known


def draw(case: Case, seed: int) -> Sample:
    """Everything random of a case."""
    if isinstance(case.twin.inputs, Batches):
        return case.twin.inputs.sample(case.sample_name, seed, case.dtype)
    inputs = resolve_inputs(case.twin.inputs, case.dimensions)
    return Sample(case.sample_name, seed, inputs, case.dtype)


def build_reference(case: Case) -> "TorchNetwork":
    """The reference of a case, built anew."""
    if not environment.installed("torch"):
        raise TorchMissingError(
            f"{case.name}: its reference needs torch, which is not installed, and no record of it "
            "is used; run `make record` where torch is"
        )
    from equivalence.sides.torch_network import TorchNetwork, TorchTraining

    place = devices.place(case.device)
    if case.twin.steps:
        return TorchTraining(case.twin.reference, case.arguments, case.twin.steps, place)
    return TorchNetwork(case.twin.reference, case.arguments, place)


def build_candidate(case: Case) -> "MindSporeNetwork":
    """The candidate of a case, built anew."""
    from equivalence.sides.mindspore_network import MindSporeNetwork, MindSporeTraining

    place = devices.place(case.device).running(computed(case))
    if case.twin.steps:
        return MindSporeTraining(
            case.twin.candidate, case.arguments, case.execution, place, case.twin.steps
        )
    return MindSporeNetwork(
        case.twin.candidate, case.arguments, case.execution, place, _declared(case)
    )


def kept_candidate(
    case: Case, seed: int, before: "MindSporeNetwork | None" = None
) -> "MindSporeNetwork":
    """The candidate of a case: `before`, if one ran already; else built anew, or a record of it."""

    def build() -> "MindSporeNetwork":
        return build_candidate(case) if before is None else before

    runs = candidates.active(case)
    return runs.candidate(case, seed, case_unit_roundoff(case, seed), build) if runs else build()


def _declared(case: Case) -> list[tuple[int | None, ...]] | None:
    """The shapes of the inputs, None for every dimension that sizes give; None without sizes."""
    if not case.twin.sizes:
        return None
    unknown = dict.fromkeys(case.twin.sizes[0], (None,))  # a tuple, since that is spliced in
    shapes = [draw.resolve({**case.config, **unknown}) for draw in case.twin.inputs]
    return [shape for shape in shapes if shape is not None]


@contextlib.contextmanager
def blaming(side: str, case: Case) -> Iterator[None]:
    """Turn what a side raises into a sentence that names the side and the line."""
    try:
        yield
    except EquivalenceError:
        raise
    except Exception as error:
        raise SideError(
            f"{case.name}: the {side} raised {type(error).__name__}: {errors.words(error)}"
        ) from error


def _demand_pinned(case: Case, reference: list[str], candidate: list[str]) -> None:
    if case.phase == "train" and case.twin.random_layers is None and (reference or candidate):
        raise DeclarationError(
            f"{case.name}: layers draw random numbers while training (reference: "
            f"{', '.join(reference) or 'none'}; candidate: {', '.join(candidate) or 'none'}); "
            "declare random_layers='eval' or leave out the train phase"
        )


def _recorded(case: Case, seed: int) -> str | None:
    """Record the reference alone."""
    if case.twin.raises:
        from equivalence.twins import raising

        return raising.reference(case, seed).record
    for one in case.sizes:
        known = reference(one, seed)
    return known.record
