"""The comparison of one twin in steps: the structure of both sides, then a verdict on each case.

Nothing here compares anything: a case is checked by the engine, as in a test.
"""

import contextlib
import gc
import importlib
import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from equivalence import kinds
from equivalence.alike import diagnose as alike
from equivalence.alike.first import First
from equivalence.alike.told import of_sides
from equivalence.comparison import kept, settings, sides
from equivalence.declare.draws import Draw
from equivalence.declare.twin import (
    DTYPES,
    EXECUTIONS,
    REPLAY,
    MindSporeCase,
    TorchCase,
    Twin,
    TwinCase,
    cases,
)
from equivalence.diagnosis import text
from equivalence.errors import (
    DeclarationError,
    FreeDrawsError,
    IllPosedError,
    OtherFrameworkError,
    SideError,
    TorchMissingError,
    WeightError,
    blaming,
    likely,
)
from equivalence.further.tried import Further, time_for
from equivalence.further.variant import Variant
from equivalence.host import devices, environment
from equivalence.host.isolation import isolated
from equivalence.judge.mistake import Mistakes
from equivalence.judge.outcome import Outcome
from equivalence.judge.settings import Settings
from equivalence.own import refused
from equivalence.own.proposal import propose, shown_inputs, unkept
from equivalence.reach.decision import Decision, total
from equivalence.record import candidates, truths
from equivalence.report.answer import NOTHING, AnsweredCase
from equivalence.structure import order, pairing, weights
from equivalence.structure.slots import CONSTANT
from equivalence.structure.weights import REFERENCE_ONLY, Partners, Slot
from equivalence.targets import Plain, needs
from equivalence.words import counted, left, listed, raised

if TYPE_CHECKING:
    from equivalence.diagnosis.found import LayerError

DROPOUT = "eval"
"""The value of `random_layers` that pins dropout."""


@dataclass(frozen=True)
class Structure:
    """What both sides are, before anything is run.

    settings: the settings of all aligned layers, compared.
    pairs: candidate name -> reference name of every weight.
    reference: the reference's weights by name.
    candidate: the candidate's weights by name.
    problem: why the weights do not pair up; None where they do.
    draws: the layers of either side that draw random numbers while training.
    proposal: the sentence that says which inputs the reference needs.
    notes: sentences on how a side is built: in another dtype; by layer, with weights in memory.
    sides: what the answer says of the sides: of one framework, or with a buffer that one alone has.
    """

    settings: Settings
    pairs: Partners
    reference: Mapping[str, Slot]
    candidate: Mapping[str, Slot]
    problem: WeightError | None = None
    draws: tuple[str, ...] = ()
    proposal: str = ""
    notes: tuple[str, ...] = ()
    sides: tuple[str, ...] = ()

    def judged(self, outcomes: Sequence[Outcome]) -> "Structure":
        """The structure, without the paddings that tensors have shown to be made elsewhere."""
        every = {each for o in outcomes if o.settings for each in o.settings.elsewhere}
        layers = {each.layer for each in every}
        return replace(self, settings=self.settings.shown_right(layers)) if layers else self


@dataclass(frozen=True)
class CaseVerdict:
    """The verdict on one case.

    outcome: the outcome of its check.
    diagnosis: lines that name the culprit; empty where the sides are equal.
    culprits: the layers to blame.
    full: every layer, as lines.
    same: the name of an earlier case with the same culprits and causes; None where there is none.
    data: what the page draws of it: the layers of both sides with their errors, and the culprits.
    mistakes: what there is to mend.
    sample: the further sample that it is of; None for the inputs that were given.
    reached: the decisions that this sample reached first.
    """

    outcome: Outcome
    diagnosis: tuple[str, ...] = ()
    culprits: tuple["LayerError", ...] = ()
    full: tuple[str, ...] = field(default=(), repr=False)
    same: str | None = None
    data: Mapping[str, Any] | None = field(default=None, repr=False)
    mistakes: Mistakes = NOTHING
    sample: Variant | None = None
    reached: tuple[Decision, ...] = ()

    @property
    def found(self) -> AnsweredCase:
        """What the answer takes of it."""
        return AnsweredCase(self.outcome, self.mistakes)

    def twin(self) -> Twin:
        """The twin of a further sample, under a name of its own."""
        of = self.outcome.case
        return replace(of.twin, name=f"{of.twin.name}_further", phases=(of.phase,))


Tell = Callable[[str], None]
"""Says what is being done."""


class Session:
    """One twin on one device.

    twin: the declaration. Its inputs may be missing (`UNKNOWN`) until `verdicts` is asked for.
    device: the name of a place, such as "cpu".
    seed: the base seed.
    tell: is called with a few words before what takes long.
    """

    def __init__(self, twin: Twin, device: str = "cpu", seed: int = 0, tell: Tell = lambda _: None):
        _demand_device(device)
        self.twin, self.device, self.seed, self.tell = twin, device, seed, tell
        self._tried = ""
        self.kind: type[TwinCase] | None = None
        if not environment.installed("mindspore"):
            if needs(twin.candidate, "mindspore"):
                raise DeclarationError(f"the candidate {twin.candidate} needs {environment.PORT}")
            self._take(TorchCase)

    def structure(self) -> Structure:
        """Build both sides, pair their weights and compare their settings; nothing is run.

        Dropout is pinned from then on, unless the twin says something else. What the sides are is
        found by building them: two of one framework are compared, too.
        """
        self.tell("building both networks")
        try:
            return self._structure()
        except OtherFrameworkError as error:
            self._take(self._alike(error))
        except TorchMissingError:
            if needs(self.twin.reference, "torch"):
                raise
            self._take(MindSporeCase)
        return self._structure()

    def demand_pairs(self) -> Structure:
        """What `structure` gives. Raises WeightError where weights do not pair up."""
        structure = self.structure()
        if structure.problem:
            raise structure.problem
        return structure

    def _alike(self, error: OtherFrameworkError) -> type[TwinCase]:
        """The kind of cases of two networks of one framework.

        error: what building them as an original and its port has raised.
        """
        if error.found == "PyTorch":  # the candidate, after the reference
            return TorchCase
        with _alone():
            try:
                sides.build_candidate(next(cases(self.twin, self.device)))
            except OtherFrameworkError:
                raise DeclarationError(
                    f"{error}: exchange {self.twin.reference} and {self.twin.candidate}"
                ) from None
        return MindSporeCase

    def _take(self, kind: type[TwinCase]) -> None:
        """Compare two networks of one framework from now on."""
        self.kind = kind
        kept: dict[str, Any] = {
            "by_layer": self.twin.by_layer,
            "reach": self.twin.reach,
            "steps": self.twin.steps,
        }
        if kind is MindSporeCase:
            kept["weights"] = self.twin.weights
            kept["dtypes"] = [each for each in self.twin.dtypes if each not in DTYPES[:2]]
        if other := next((name for name, value in kept.items() if value), None):
            of = "PyTorch" if kind is TorchCase else "MindSpore"
            cure = "; give the PyTorch original by --reference" if kind is MindSporeCase else ""
            raise DeclarationError(
                f"both networks are {of}'s, and {other} is for a network of MindSpore beside its "
                f"PyTorch original; leave it out{cure}"
            )
        if kind is TorchCase:
            self.twin = replace(self.twin, executions=EXECUTIONS[:1])

    def _reference(self, case: TwinCase) -> tuple[Any, str]:
        """The reference's side, built, and the sentence on the inputs that it needs."""
        if isinstance(case, MindSporeCase):
            return First(case), ANY
        reference = sides.build_reference(case)
        return reference, propose(reference.module)

    def _structure(self) -> Structure:
        case = next(cases(self.twin, self.device, self.kind))
        with _alone():
            with blaming("reference", case.name):
                reference, proposal = self._reference(case)
                drawing = reference.dropouts()
            with blaming("candidate", case.name):
                candidate = sides.build_candidate(case)
                drawing += candidate.dropouts()
            theirs, ours = reference.slots(), candidate.slots()
            given = self.twin.constants
            pairs, problem = self._pair(case, theirs, ours, candidate.unheld)
            compared = settings.of_networks(case, reference, candidate, pairs)
            sides_built = (("reference", reference), ("candidate", candidate))
            notes = [_held(role, side.filled) for role, side in sides_built if self.twin.by_layer]
            notes.append(_narrow(reference.made_in, self.twin.dtypes))
            functions = (reference.module, candidate.cell)
            plain = [getattr(built, "plain", None) for built in functions]
            notes += map(_function, ("reference", "candidate"), plain)
            if plain[0] is not None and plain[0].target:
                self._tried = f"; it was taken for a function since it {plain[0].needs}: "
                self._tried += plain[0].cure
        draws = tuple(dict.fromkeys(drawing)) if "train" in self.twin.phases else ()
        if draws and self.twin.random_layers is None:
            self.twin = replace(self.twin, random_layers=DROPOUT)
        told = tuple(filter(None, notes))
        both = (*of_sides(self.twin, self.kind), *unkept(self.twin.constants[len(given) :]))
        return Structure(compared, pairs, theirs, ours, problem, draws, proposal, told, both)

    def _pair(
        self,
        case: TwinCase,
        theirs: Mapping[str, Slot],
        ours: Mapping[str, Slot],
        unheld: Callable[[], Sequence[str]],
    ) -> tuple[Partners, WeightError | None]:
        """The pairs of weights; of weights that do not all pair up, those that do."""
        try:
            return pairing.partners(case, theirs, ours, unheld), None
        except WeightError as error:
            twin = self.twin
            found, _ = weights.pair_found(theirs, ours, twin.rename, twin.constants)
            alone = self._computed(theirs, ours, found)
            if not alone:
                return found, self._by_order(theirs, ours) or error
            self.twin = replace(twin, constants=(*twin.constants, *alone))
            return pairing.partners(replace(case, twin=self.twin), theirs, ours, unheld), None

    def _computed(
        self, theirs: Mapping[str, Slot], ours: Mapping[str, Slot], found: Partners
    ) -> list[str]:
        """The constants that the port keeps in no weight, where all else pairs up; else none."""
        twin, paired = self.twin, {*found.values()}
        alone = [
            name
            for name, slot in theirs.items()
            if slot.kind == CONSTANT
            and name not in paired
            and name.rpartition(".")[2] not in REFERENCE_ONLY
        ]
        named = (*twin.constants, *alone)
        fits = bool(alone) and not weights.pair_found(theirs, ours, twin.rename, named)[1]
        return alone if fits and twin.pair == "name" else []

    def _by_order(self, theirs: Mapping[str, Slot], ours: Mapping[str, Slot]) -> WeightError | None:
        """The error of weights that pair up by order alone; None where they do not."""
        twin = self.twin
        if twin.pair != "name":
            return None
        whole = order.completed(theirs, ours, twin.rename, twin.constants)
        if whole is None:
            return None
        said = (
            "weights do not pair up by name, but all do by order and shape, or by name with the "
            'fields below: write these, or pair="order"'
        )
        return WeightError("\n".join([said, *whole.lines()[1:]]))

    def verdicts(self) -> Iterator[CaseVerdict]:
        """Check each case of the twin.

        A case in which a side raises, as where the compiler refuses it, is red, and the others go
        on; so is one that is ill-posed. Raises EquivalenceError where none can be compared, or the
        declaration is wrong.
        """
        done: dict[tuple, TwinCase] = {}
        errors: list[SideError | IllPosedError] = []
        waiting: list[CaseVerdict] = []  # until a case can be compared
        every, begun = list(cases(self.twin, self.device, self.kind)), time.monotonic()
        number = 0
        while number < len(every):
            case = every[number]
            rest = left(time.monotonic() - begun, number, len(every))
            self.tell(f"{number + 1} of {len(every)}: {case.name}{rest}")
            with _alone():
                refusal = None
                try:
                    outcome, refusal = self._compared(case)
                except FreeDrawsError as error:
                    self._replay(error)
                    over = {each.name for each in every[:number]}
                    now = cases(self.twin, self.device, self.kind)
                    every[number:] = [each for each in now if each.name not in over]
                    continue
                except (SideError, IllPosedError) as error:
                    errors.append(error)
                    outcome = Outcome(case, self.seed, None, error=str(error))
                verdict = self._diagnose(outcome) if _blamed(outcome) else CaseVerdict(outcome)
                if refusal is not None:
                    outcome, mistakes = refused.told(case, outcome, verdict.mistakes, refusal)
                    verdict = replace(verdict, outcome=outcome, mistakes=mistakes)
            blamed = tuple((each.reference, *each.causes) for each in verdict.culprits)
            if blamed and blamed in done:
                verdict = replace(verdict, same=done[blamed].name)
            done.setdefault(blamed, case)
            waiting.append(verdict)
            number += 1
            if number > len(errors):
                yield from waiting
                waiting.clear()
        if waiting:
            raise errors[0]

    def _replay(self, error: FreeDrawsError) -> None:
        """Give both sides the same draws from now on, where a network's own code draws.

        Raises the error where that cannot be, or the twin names what is pinned.
        """
        twin = self.twin
        named = twin.random_layers not in (None, DROPOUT)
        fits = "pynative" in twin.executions and not (twin.by_layer or twin.sizes)
        if named or self.kind is not None or not fits:
            if "pynative" in twin.executions:
                raise error
            cure = "a compiled graph shows none of them: add executions='pynative'"
            raise DeclarationError(f"{error.drawn}; {cure}") from None
        self.tell("the network itself draws random numbers: both sides get the same")
        self.twin = replace(twin, random_layers=REPLAY, executions=("pynative",))

    def all_verdicts(self, thorough: bool = False) -> tuple[list[CaseVerdict], Further | None]:
        """The verdicts on all cases and, after a green, on further samples.

        The verdict on the first sample that shows a difference comes last.

        thorough: whether all further samples are tried, however long it takes.
        """
        begun = time.process_time()
        verdicts = [*self.verdicts()]
        seconds = math.inf if thorough else time_for(time.process_time() - begun)
        further, shown = self.further(verdicts, seconds)
        return verdicts + ([] if shown is None else [shown]), further

    def further(
        self, verdicts: Sequence[CaseVerdict], seconds: float
    ) -> tuple[Further | None, CaseVerdict | None]:
        """Try further samples, and the verdict on the first that shows a difference, if one does.

        verdicts: those on the given inputs; nothing is tried unless all are green.
        seconds: the time for it; infinite to try all, in each phase, dtype and execution.

        None where no further sample is possible.
        """
        every = [each.outcome for each in verdicts]
        reach = total(each.reach for each in every)
        right = [each.case for each in every if each.passed and each.case.varies]
        if reach is None or len(right) < len(every):
            return None, None
        from equivalence.further.samples import declare, tried  # torch is there

        with _alone():
            groups = _representatives(right, seconds == math.inf)
            found, shown = tried(groups, self.seed, reach, seconds, self.tell)
            if shown is None:
                return found, None
            if shown.variant.turns is not None:  # no command can give two samples
                declare(shown)
            outcome = shown.outcome
            verdict = self._diagnose(outcome) if _blamed(outcome) else CaseVerdict(outcome)
            return found, replace(verdict, sample=shown.variant, reached=shown.reached)

    def hidden(self, case: TwinCase) -> settings.Hidden:
        """The settings, and numbers in the reference's code, that a sample does not show."""
        self.tell(f"looking for what {case.sample_name} does not show")
        with _alone():
            return settings.hidden(case, self.seed)

    def _compared(self, case: TwinCase) -> tuple[Outcome, SideError | None]:
        """The outcome of a case; where MindSpore refuses gradients, of its outputs, and why."""
        try:
            return self._judged(case), None
        except SideError as error:
            alone = refused.forward_alone(case, error)
            if alone is None:
                raise
            return self._judged(alone), error

    def _judged(self, case: TwinCase) -> Outcome:
        """The outcome of a case; an ill-posed one may be degenerate on purpose."""
        outcome = None
        with contextlib.suppress(IllPosedError):
            outcome = self._check(case)
        judged = outcome and outcome.judgement
        if outcome and not (judged and judged.ill_posed):
            return outcome
        again = self._check(replace(case, twin=replace(case.twin, degenerate=True)))
        if outcome and again.judged.ill_posed:
            return outcome
        self.twin = replace(self.twin, degenerate=True)
        return again

    def _check(self, case: TwinCase) -> Outcome:
        try:
            if not case.twin.by_layer:
                return kinds.check(case, self.seed)
            from equivalence.bylayer import compare

            with compare.telling(self.tell):
                return kinds.check(case, self.seed)
        except SideError as error:
            if error.side != "reference":
                raise
            if likely(str(error.__cause__)):
                raise  # it is no matter of the inputs
            called = shown_inputs(self.twin.inputs)
            text = f"{error}; it was called with {called}: if that does not fit, give other inputs"
            text += self._tried
            raise SideError(text, error.side) from error

    def _diagnose(self, outcome: Outcome) -> CaseVerdict:
        self.tell(f"looking for the culprit of {outcome.case.name}")
        try:
            found = _way(outcome.case).diagnose(outcome.case, self.seed)
        except Exception as error:  # must not hide the difference itself
            line = f"no diagnosis: {raised(error)}"
            return CaseVerdict(outcome, (line,))
        told = text.told(found)
        return CaseVerdict(
            outcome,
            tuple(told.brief),
            tuple(found.culprits),
            tuple(told.full),
            data=told.data,
            mistakes=told.mistakes,
        )


def _way(case: TwinCase) -> Any:
    """The module whose `diagnose` finds the culprit of a case."""
    if isinstance(case, TorchCase | MindSporeCase):
        return alike
    from equivalence.bylayer import diagnose as by_layer
    from equivalence.diagnosis import diagnose

    return by_layer if case.twin.by_layer else diagnose


ANY = "write a draw for each, such as 'normal(2, 3, 64, 64)', or give an array"
"""What is said of inputs that no layer tells."""

UNKNOWN = (Draw("normal", (1,), {"scale": 1.0, "shift": 0.0}),)
"""The inputs of a twin of which the structure alone is asked for."""


def _held(role: str, names: Sequence[str]) -> str:
    """Says that a side that is compared by layer is built with weights in memory; else ""."""
    if not names:
        return ""
    return (
        f"by layer, and yet the {role} is built with {counted(len(names), 'weight')} in memory, "
        f"such as {names[0]}: give a class or a function whose constructor computes nothing with "
        "its weights"
    )


def _function(role: str, plain: Plain | None) -> str:
    """Says that a side is a function, as which it was found by trying; else ""."""
    if plain is None:
        return ""
    told = f"the {role} {'is' if plain.target else 'builds'} {plain}"
    if plain.unseen:
        told += (
            f"; its code holds the network {plain.unseen[0]}, whose weights are not compared: give "
            "it as an argument, network(...)"
        )
    return told


def _narrow(made_in: Mapping[str, int], dtypes: Sequence[str]) -> str:
    """Says that the reference is built in a dtype in which it is not compared; else ""."""
    other = {dtype: count for dtype, count in made_in.items() if dtype not in dtypes}
    if not other:
        return ""
    every = sum(made_in.values())
    built = ", ".join(f"{count} of {every} in {dtype}" for dtype, count in other.items())
    cure = next((f"; dtype {each} compares it so" for each in other if each in DTYPES), "")
    return (
        f"the reference is built with its parameters in another dtype ({built}), and is compared "
        f"in {listed(dtypes)}{cure}"
    )


def _blamed(outcome: Outcome) -> bool:
    """Whether a case has failed because of a tensor, so that a layer may be to blame."""
    return not outcome.passed and bool(outcome.judgement and outcome.judgement.differing)


def _representatives(
    every: Sequence[TwinCase], thorough: bool
) -> Iterator[tuple[TwinCase, Sequence[TwinCase]]]:
    """The cases that further samples are drawn for, each with others that get the same.

    Evaluation comes first: there, the scale of an input goes through a batch normalisation.

    thorough: whether all dtypes and executions get them.
    """
    groups: dict[tuple, list[TwinCase]] = {}
    for case in every:
        dtype, one = case.dtype if thorough else None, case.sizes[0]
        groups.setdefault((case.phase, str(case.config), dtype), []).append(one)
    for _, cases_ in sorted(groups.items()):
        yield cases_[0], cases_[1:] if thorough else ()


def _demand_device(device: str) -> None:
    if device not in devices.EVERY_PLACE:
        known = ", ".join(devices.DEVICES)
        raise DeclarationError(f"device {device!r} is not among {known}")
    found = devices.found(devices.place(device).runs_on)
    if not found.cards:
        raise DeclarationError(
            f"device {device!r} is not on this host: {found.why}; leave it out to use the CPU"
        )


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """A context that leaves the process as it was, and uses no record."""
    frozen = gc.get_freeze_count()
    try:
        with _quiet(), isolated(), truths.using(None), candidates.using(None):
            yield
    finally:
        if not frozen:
            gc.unfreeze()  # or what the user deletes would stay


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """A context in which MindSpore logs no warnings; what is wrong reaches the caller as an error.

    The variable GLOG_v, which says so, is only read when MindSpore is first imported.
    """
    if not environment.installed("mindspore"):
        yield
        return
    logger = importlib.import_module("mindspore.log")._get_logger()
    before = logger.level
    logger.setLevel(max(before, logging.ERROR))
    try:
        yield
    finally:
        logger.setLevel(before)


def forget() -> None:
    """Free what is kept of the cases that were checked."""
    kept.forget()
