"""Checks a pipeline on the pictures that it reads and, where it is equal, on pictures of others.

A folder seldom holds each kind of picture that a training meets later: grey ones, of a palette,
turned by EXIF, of one pixel. The same files are drawn anew as pictures of one kind after the other.
What the reference refuses is no evidence, and told as not tried.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from equivalence.declare.pipeline import PICTURES, Pictures, PipelineCase
from equivalence.errors import EquivalenceError, SideError
from equivalence.judge.outcome import Outcome
from equivalence.judge.verdict import Judgement, TensorVerdict
from equivalence.kinds import ToldDiagnosis
from equivalence.loaders.stages import READ
from equivalence.pipelines.compare import PipelineSides, compare, in_words
from equivalence.pipelines.diagnose import PipelineDiagnosis, StageCulprit, diagnose
from equivalence.pipelines.encoded import SIZES, size_of
from equivalence.pipelines.mirrored import POOL, UNKNOWN, UnmirroredError
from equivalence.words import counted, listed, number

SHRINKING = 24
"""At most this many comparisons find the smallest picture that shows a difference."""

EVERY = "pictures"
"""Stands for all kinds in what is not tried."""


@dataclass
class Others:
    """What came of pictures of other kinds.

    verdicts: one for each kind that was compared.
    untried: a kind, or EVERY -> why it was not compared.
    shown: the case of the smallest pictures that show a difference; None where none do.
    """

    verdicts: list[TensorVerdict] = field(default_factory=list)
    untried: dict[str, str] = field(default_factory=dict)
    shown: PipelineCase | None = None

    def outcome(self, case: PipelineCase, seed: int, judgement: Judgement) -> Outcome:
        """The outcome of a case whose own pictures have this judgement."""
        verdicts = (*judgement.verdicts, *self.verdicts)
        untried = tuple(self.untried.items())
        return Outcome(case, seed, replace(judgement, verdicts=verdicts), untried=untried)

    def lines(self) -> list[str]:
        """How many kinds were compared, and which were not."""
        if EVERY in self.untried:
            return [f"no pictures of other kinds were tried: {self.untried[EVERY]}"]
        count = counted(len(self.verdicts), "kind")
        told = [f"{count} of other pictures were compared"] if self.verdicts else []
        reasons: dict[str, list[str]] = {}
        for kind, why in self.untried.items():
            reasons.setdefault(why, []).append(kind)
        return told + [f"not tried: {listed(each, 99)}: {why}" for why, each in reasons.items()]


def check(case: PipelineCase, seed: int) -> Outcome:
    """Run both sides on the files of base seed `seed`, and judge them.

    Of a declaration's configurations, the first one meets other pictures, too.

    Raises EquivalenceError where no comparison can be made.
    """
    sides = PipelineSides(case, seed)
    with sides.reading():
        judgement = compare(case, seed, sides).judgement
    others = tried(case, seed, sides) if _meets(case, judgement) else Others()
    return others.outcome(case, seed, judgement)


def _meets(case: PipelineCase, judgement: Judgement) -> bool:
    first = case.pictures is None and case.config == case.twin.configs[0]
    return first and judgement.equal and case.twin.differs is None


def tell(case: PipelineCase, seed: int, _every: bool) -> ToldDiagnosis:
    """The first stage that differs, and why: the same few lines in brief and in full."""
    sides = PipelineSides(case, seed)
    found = diagnosed(case, seed, None, sides)
    if not found.culprits and case.pictures is None:
        found = diagnosed(case, seed, tried(case, seed, sides).shown, sides)
    lines = found.lines()
    return ToldDiagnosis(lines, [case.name, "", *lines], mistakes=found.mistakes)


def diagnosed(
    case: PipelineCase, seed: int, shown: PipelineCase | None, sides: PipelineSides
) -> PipelineDiagnosis:
    """The diagnosis of a case; of pictures of another kind, where they show the difference.

    sides: both sides of the case as it is.
    """
    sides = sides if shown is None else PipelineSides(shown, seed)
    with sides.reading():
        try:
            found = diagnose(shown or case, seed, sides)
        except SideError as error:
            if shown is None:
                raise
            culprit = StageCulprit(READ, [f"the {error.side} raises {_cause(error)}"])
            found = PipelineDiagnosis([culprit], {READ: "raises"})
    if shown is not None:
        told = f"of {Pictures.read(str(shown.pictures)).told}; its own pictures are equal"
        for culprit in found.culprits:
            culprit.causes.append(told)
    return found


def tried(
    case: PipelineCase, seed: int, sides: PipelineSides, kinds: Sequence[str] = tuple(PICTURES)
) -> Others:
    """Compare pictures of each kind, and shrink the first that shows a difference.

    sides: both sides of the case as it is, which is equal.
    kinds: those to compare.
    """
    others = Others()
    if READ in sides.drawing():
        others.untried[EVERY] = "each sample is drawn anew, so that none is compared by its values"
        return others
    both = sides.loaders()
    if both and both[0].batch_size and case.batches:
        case = replace(case, batches=max(case.batches, -(-POOL // both[0].batch_size)))
    for kind in kinds:
        if kind in case.twin.without:
            others.untried[kind] = case.twin.without[kind]
            continue
        try:
            pictures, problem = _compared(case, kind, seed)
        except UnmirroredError as error:
            others.untried[EVERY] = str(error)
            return others
        except _PicturesRefusedError as error:
            others.untried[kind] = str(error)
            continue
        if problem is not None and others.shown is None:
            pictures, problem = _smallest(case, pictures, seed, problem)
            others.shown = replace(case, pictures=str(pictures))
        told = None if problem is None else f"{pictures.told}: {problem}"
        others.verdicts.append(in_words(f"pictures:{kind}", told))
    return others


class _PicturesRefusedError(Exception):
    """The reference refuses pictures."""


def _compared(case: PipelineCase, kind: str, seed: int) -> tuple[Pictures, str | None]:
    """Pictures of a kind, and how the sides differ on them, in words; None: they do not.

    Of several sizes, or where the reference refuses those, of one.

    Raises _RefusedError, or UnmirroredError.
    """
    several = Pictures(kind)
    try:
        return several, _problem(case, several, seed)
    except _PicturesRefusedError:
        one = Pictures(kind, size_of(kind, 0, UNKNOWN))
        return one, _problem(case, one, seed)


def _problem(case: PipelineCase, pictures: Pictures, seed: int) -> str | None:
    """How the sides differ on these pictures, in words; None where they do not.

    Raises _RefusedError where the reference refuses them, or UnmirroredError.
    """
    one = replace(case, pictures=str(pictures))
    sides = PipelineSides(one, seed)
    with sides.reading():
        try:
            judgement = compare(one, seed, sides).judgement
        except SideError as error:
            if error.side == "reference":
                raise _PicturesRefusedError(
                    f"the reference refuses them: {_cause(error)}"
                ) from error
            return f"the candidate raises {_cause(error)}"
        except UnmirroredError:
            raise
        except EquivalenceError as error:
            return str(error)
    if judgement.ill_posed:
        raise _PicturesRefusedError(f"they are ill-posed: {judgement.ill_posed}")
    if judgement.equal:
        return None
    worst = judgement.differing[0]
    return f"{worst.name}: {worst.problem or f'{number(worst.needed)} roundings'}"


def _cause(error: SideError) -> str:
    cause = error.__cause__ or error
    return f"{type(cause).__name__}: {str(cause).strip().splitlines()[0]}"


def _smallest(
    case: PipelineCase, pictures: Pictures, seed: int, problem: str
) -> tuple[Pictures, str]:
    """The smallest pictures of a kind that were found to differ, and how they do."""
    left = SHRINKING
    queue = _smaller(pictures)
    while (smaller := next(queue, None)) is not None and left:
        left -= 1
        try:
            told = _problem(case, smaller, seed)
        except _PicturesRefusedError:
            continue
        if told is not None:
            pictures, problem, queue = smaller, told, _smaller(smaller)
    return pictures, problem


def _smaller(pictures: Pictures) -> Iterator[Pictures]:
    """Simpler pictures of the same kind: of one size, or of half the height or width."""
    kind, size = pictures
    if size is None:
        yield from (Pictures(kind, each) for each in sorted(SIZES.get(kind, (UNKNOWN,))))
        return
    height, width = size
    for smaller in ((height // 2, width), (height, width // 2)):
        if min(smaller) > 0:
            yield Pictures(kind, smaller)
