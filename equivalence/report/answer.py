"""The answer, which each verdict begins with: what is wrong, by how much, and what to mend.

It is written for people who know both frameworks and no word of this suite. Terminal, test, page,
JUnit, notebook and JSON have it from here. What stands below `DETAILS` is for those who ask on.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from equivalence.declare.twin import MindSporeCase, TorchCase, TwinCase
from equivalence.judge import attributes
from equivalence.judge.mistake import ENDED, Mistake, Mistakes
from equivalence.judge.outcome import Outcome
from equivalence.judge.settings import Settings
from equivalence.judge.tensors import attribute, beside, of_attribute, of_handed
from equivalence.judge.verdict import TensorVerdict
from equivalence.reach import words
from equivalence.reach.decision import Reach, total
from equivalence.report import reach as reached
from equivalence.words import all_of, counted, joined, listed, number, percent, plain, several
from equivalence.written import PER_CALL

DETAILS = "details:"
"""The line below which words of the house begin."""

SHOWN = 4
"""Of more places than this and one, this many are told; the others are counted."""

LAYERS = 4
"""At most this many layers of one setting are named."""

NAMES = {
    "output": "output",
    "loss": "loss",
    "gradient": "gradient",
    "update": "weight update",
    "handed": "gradient that the optimiser gets",
    "parameter": "weight",
    "buffer": "buffer",
    "state": "state",
    "attribute": "attribute",
    "random layer": "random layer",
    "image": "image",
    "label": "label",
    "count": "count",
    "samples": "order of samples",
    "stage": "random stage",
    "apart": "weight of all ranks",
}
"""Beginning of the names of tensors -> what people call one of them; in the order of an answer."""

PHASES = {"train": "train", "eval": "eval"}
EXECUTIONS = {"pynative": "PyNative", "graph": "graph"}
AXES = ("phase", "execution", "dtype", "device")
"""What a case of a network may have besides its name, in the order in which it is told."""

FORWARD_ONLY = "no gradient is compared: the original runs without, by torch.no_grad or as asked"
HOLLOW = "shapes alone are compared: every output is of zeros, or has no element"
FREE = (
    "the same random numbers were drawn on both sides; graph mode, which shows none of its draws, "
    "is not compared"
)


NOTHING = Mistakes()
"""What is found to mend where nothing was looked for."""


@dataclass(frozen=True)
class AnsweredCase:
    """A case: its outcome, and what a diagnosis has found to mend."""

    outcome: Outcome
    mistakes: Mistakes = NOTHING


@dataclass(frozen=True)
class Answer:
    """An answer in parts.

    first: the one line that says it all.
    heading: the line above the places to mend; "" where none is known.
    places: the lines of each place.
    after: what else is known, a sentence a line.
    """

    first: str
    heading: str = ""
    places: tuple[tuple[str, ...], ...] = ()
    after: tuple[str, ...] = ()

    def lines(self, repeat: str = "", more: str = "") -> list[str]:
        """The answer line by line.

        repeat: the command that repeats it. more: a line on what to type or to open to see more.
        """
        lines = [self.first, *([self.heading] if self.heading else [])]
        for place in self.places:
            lines += [f"  {line}" for line in place]
        lines += self.after
        lines += [more] if more else []
        return lines + ([f"repeat: {repeat}"] if repeat else [])

    def headline(self) -> str:
        """The answer in one line, as for JUnit: the verdict, and the first line of each place."""
        return "; ".join([self.first.rstrip("."), *(" ".join(p[0].split()) for p in self.places)])


def answer(
    cases: Sequence[AnsweredCase], tried: Sequence[str] = (), reach: Reach | None = None
) -> Answer:
    """The answer for the cases of one comparison, of which there is at least one.

    tried: what is told of further samples where all cases are equal.
    reach: what they and the cases reached; None: what the cases did.

    >>> from equivalence import Twin, cases, check, normal
    >>> twin = Twin("Net", "torch.nn:ReLU", "mindspore.nn:ReLU6", [normal(4, 8, scale=9.0)])
    >>> found = [AnsweredCase(check(next(cases(twin, "cpu")), seed=0))]
    >>> answer(found).places
    (('the network (ReLU): ReLU6 in the port and ReLU in the original',),)
    """
    red = [each for each in cases if not each.outcome.passed]
    if not red:
        return _equal([each.outcome for each in cases], tried, reach)
    wrong = [each for each in red if each.outcome.judgement is not None]
    if not wrong:
        return _not_compared([each.outcome for each in red])
    undecided = [each for each in wrong if each.outcome.judged.ill_posed]
    if undecided:
        return _undecided([each.outcome for each in undecided])
    return _different(cases, red, wrong)


def answer_of_further(found: AnsweredCase, sample: str, new: Sequence[str]) -> Answer:
    """The answer where a further sample alone shows a difference.

    sample: what the sample is, in words.
    new: the decisions that it is the first to reach.
    """
    told = [
        f"With the inputs that were given, all is equal: it shows with a further sample, {sample}."
    ]
    told += ["The original takes these inputs."] if found.outcome.error else []
    told += [f"This sample is the first to reach {listed(new)}."] if new else []
    plain = answer([found])
    first = plain.first.replace("NOT COMPARED.", "DIFFERENT.", 1)
    return replace(plain, first=first, after=(*told, *plain.after))


def answer_of_settings(settings: Settings) -> Answer:
    """The answer where settings alone were compared, and some are wrong."""
    places = _by_settings([settings])
    count = len(settings.differing)
    differ = f"{counted(count, 'setting')} of {settings.compared} differ{'s' if count == 1 else ''}"
    told = differ if settings.differing else _unread([settings])
    shown, more = _shown(places)
    return Answer(f"DIFFERENT. {told}; nothing was run.", _heading(places), shown, tuple(more))


# Green.


def _equal(outcomes: Sequence[Outcome], tried: Sequence[str], reach: Reach | None) -> Answer:
    verdicts = [v for each in outcomes if each.judgement for v in each.judgement.verdicts]
    known = [str(each.case.twin.differs) for each in outcomes if each.case.twin.differs]
    if not verdicts:
        return Answer(f"EQUAL. Both sides raise, as declared, in {_of(outcomes)}.")
    found = sorted((k for each in outcomes for k in each.kernels), key=lambda k: k.error)
    kernels = {kernel.name: str(kernel) for kernel in found}  # each with its largest error
    but = ""
    if kernels:
        moved = number(max(each.moved for each in outcomes))
        but = f" but for {listed(sorted(kernels.values()))}, with which it is {moved} roundings off"
    first = f"DIFFERENT AS DECLARED ({known[0]})." if known else f"EQUAL{but}."
    if all(isinstance(each.case, MindSporeCase) for each in outcomes):  # there is no truth
        bits = all(v.needed == 0.0 for v in verdicts)
        first = "THE SAME TO THE BIT." if bits else "THE SAME WITHIN ROUNDING."
    sides = f"{counted(len(verdicts), 'tensor')} of {counted(len(outcomes), 'case')}"
    units = {each.judgement.unit for each in outcomes if each.judgement}
    told = sides
    if len(units) == 1 and not known:
        worst, (unit,) = max(v.needed for v in verdicts), units
        budget = f"{number(verdicts[0].budget)} that rounding may cause"
        if unit != "roundings":
            budget = f"{number(verdicts[0].budget)} that are allowed"
        told += f"; the largest error is {number(worst)} {unit} of the {budget}"
    return Answer(f"{first} {told}.", after=(*tried, *not_looked_at(outcomes, reach)))


def not_looked_at(outcomes: Sequence[Outcome], reach: Reach | None = None) -> list[str]:
    """What a green verdict does not cover, a sentence each. The one place for such sentences.

    reach: what was reached; None: what the outcomes tell.
    """
    judgements = [each.judgement for each in outcomes if each.judgement]
    lines = []
    if any(each.forward_only for each in judgements):
        lines.append(f"{_capital(FORWARD_ONLY)}.")
    ordered = dict.fromkeys(each.by_order for each in judgements if each.by_order)
    lines += [f"{_capital(each)}." for each in ordered]
    twins = [each.case.twin for each in outcomes if isinstance(each.case, TwinCase)]
    if any(twin.replays for twin in twins):
        lines.append(f"{_capital(FREE)}.")
    lines += [f"{_capital(each)}." for each in states(outcomes)]
    if any(each.hollow for each in judgements):
        lines.append(f"{_capital(HOLLOW)}.")
    limits = {name: why for each in outcomes for name, why in _limits(each).items()}
    if limits:
        told = listed([f"{name} ({why})" for name, why in limits.items()])
        lines.append(f"Nothing is claimed of further samples beyond these limits: {told}.")
    lines += _attributes(outcomes)
    fewer = dict.fromkeys(told for each in outcomes for told in each.islands)
    lines += [f"{_capital(each)}." for each in fewer]
    reach = total(each.reach for each in outcomes) if reach is None else reach
    if missed := reach is not None and words.short(reach):
        lines.append(f"{_capital(missed)}.")
    return lines


def _limits(outcome: Outcome) -> Mapping[str, str]:
    return outcome.case.limits if isinstance(outcome.case, TwinCase) else {}


def states(outcomes: Iterable[Outcome]) -> list[str]:
    """The states that one side alone writes in any of the cases, a sentence for each side."""
    return [*dict.fromkeys(told for each in outcomes for told in each.states)]


def _attributes(outcomes: Sequence[Outcome]) -> list[str]:
    """Which attributes are written and not compared, and which in PyNative mode alone."""
    verdicts = [v for each in outcomes if each.judgement for v in each.judgement.verdicts]
    compared = {v.name.removesuffix(PER_CALL) for v in verdicts if beside(v.name)}
    apart = {name: why for each in outcomes for name, why in each.apart}
    told = attributes.told([each for each in apart.items() if each[0] not in compared])
    twice = [name for name in apart if name in compared]
    eager = sorted(name.removeprefix(attribute("")) for name in twice if of_attribute(name))
    lines = [f"{_capital(each)}." for each in told]
    if any(map(of_handed, twice)):
        lines.append("A graph does not show what its optimiser gets: PyNative mode alone does.")
    if eager:
        them = f"the attribute{'s' if eager[1:] else ''} {listed(eager)}"
        were = "were" if eager[1:] else "was"
        lines.append(f"A graph shows no attributes: {them} {were} compared in PyNative mode alone.")
    return lines


# Red.


def _not_compared(outcomes: Sequence[Outcome]) -> Answer:
    """A side raised in every case that is red."""
    error = outcomes[0].error or ""
    text = error.removeprefix(f"{outcomes[0].case.name}: ").splitlines()[0]
    for side, people in (("candidate", "port"), ("reference", "original")):
        text = text.replace(f"the {side} raised ", f"the {people} raises ", 1)
    return Answer(f"NOT COMPARED. {_of(outcomes)}: {text}")


def _undecided(outcomes: Sequence[Outcome]) -> Answer:
    return Answer(
        f"UNDECIDED. {_of(outcomes)}: with this input no comparison can tell a right port from a "
        "wrong one; the details say why"
    )


def _different(
    cases: Sequence[AnsweredCase], red: Sequence[AnsweredCase], wrong: Sequence[AnsweredCase]
) -> Answer:
    """Something differs that can be told by numbers or by settings."""
    outcomes = [each.outcome for each in wrong]
    gone = [each for each in outcomes if each.case.twin.differs and not each.judged.differing]
    if gone:
        why = gone[0].case.twin.differs
        return Answer(
            f"NO LONGER DIFFERENT. {_of(gone)}: it is declared to differ ({why}), and all tensors "
            "are equal; if the difference is gone, remove `differs`."
        )
    if all(each.lacks_reach and each.judged.equal for each in outcomes) and not any(
        each.settings and each.settings.wrong for each in outcomes
    ):
        told = reached.lacking(outcomes[0])
        return Answer(f"NOT REACHED. {_of(outcomes)}: all tensors are equal, but {told}.")
    places = _places(wrong)
    off = _off(outcomes)
    if not any(each.unexpected for each in outcomes):
        count = sum(len(place.paths) for place in places)
        differ = f"{counted(count, 'setting')} differ{'s' if count == 1 else ''}"
        odd = differ if count else _unread(each.settings for each in outcomes)
        off = f"all tensors are equal with this input, but {odd}"
    elif any(each.later for each in outcomes):
        off += ", from the second call on"
    first = f"DIFFERENT{_only(cases, red, wrong)}. {_of(outcomes)}: {off}."
    if raised := [each for each in red if each.outcome.judgement is None]:
        first += f" {_capital(_not_compared([each.outcome for each in raised]).first[14:])}"
    shown, more = _shown(places)
    mended = [*_mended(wrong, places), *_padding(wrong)]
    cuts = dict.fromkeys(f"{_capital(cut)}." for each in wrong for cut in each.mistakes.cut)
    ended = [f"{_capital(ENDED)}."] if any(each.mistakes.ended for each in wrong) else []
    return Answer(first, _heading(places), shown, (*more, *mended, *cuts, *ended))


def _shown(places: Sequence[Mistake]) -> tuple[tuple[tuple[str, ...], ...], list[str]]:
    """The lines of the places that are told, and how many others there are."""
    count = SHOWN if len(places) > SHOWN + 1 else len(places)
    left = len(places) - count
    return tuple(map(_lines, places[:count])), [f"... and {left} more places"] if left else []


def _unread(compared: Iterable[Settings | None]) -> str:
    """Which settings could not be read."""
    names = list(dict.fromkeys(str(each) for one in compared if one for each in one.wrong))
    return f"{counted(len(names), 'setting')} could not be read: {listed(names)}"


def _only(
    cases: Sequence[AnsweredCase], red: Sequence[AnsweredCase], wrong: Sequence[AnsweredCase]
) -> str:
    """In which mode alone something differs, as the middle of a line; "" where in all."""
    every, odd = ([each.outcome.case for each in some] for some in (cases, red))
    graph = {getattr(case, "execution", "") for case in odd} == {"graph"}
    if graph and all(each.mistakes.eager for each in wrong):
        return ", in graph mode only"
    # A graph whose draws are pinned does not tell whether it is wrong, too.
    unseen = any(each.outcome.draws and each.outcome.draws.pinned for each in cases)
    axes = [("phase", PHASES)] if unseen else [("execution", EXECUTIONS), ("phase", PHASES)]
    for axis, names in axes:
        there = {getattr(case, axis, "") for case in every}
        here = {getattr(case, axis, "") for case in odd}
        if len(here) == 1 < len(there):
            name = names[here.pop()]
            kind = {"train": "training", "eval": "evaluation"}.get(name, f"{name} mode")
            return f", in {kind} only"
    return ""


def _of(outcomes: Sequence[Outcome]) -> str:
    """What was compared: "Net (train and eval, PyNative, CPU)"."""
    case = outcomes[0].case
    if not all(hasattr(case, each) for each in ("config", *AXES)):  # as of a pipeline
        return case.name
    values = {axis: [getattr(each.case, axis) for each in outcomes] for axis in AXES}
    config = [f"{key}={value}" for key, value in case.config.items()]
    if any(each.case.config != case.config for each in outcomes):
        config = []
    phases = joined(dict.fromkeys(values["phase"]))
    executions = joined(EXECUTIONS[each] for each in dict.fromkeys(values["execution"]))
    executions = "eager" if isinstance(case, TorchCase) else executions
    dtypes = [each for each in dict.fromkeys(values["dtype"]) if each != "float32"]
    devices = [each.upper() if each in ("cpu", "gpu") else each for each in values["device"]]
    steps = [counted(case.calls, "step")] if case.trains else []
    told = [*config, phases, executions, *dtypes, joined(dict.fromkeys(devices)), *steps]
    return f"{case.twin.name} ({', '.join(told)})"


@dataclass
class _Off:
    """How far the tensors of a kind are off, over all cases.

    told: whether one has a problem that no number tells, and that is told by itself.
    """

    total: set[str]
    wrong: set[str]
    relative: float = 0.0
    absolute: float = 0.0
    told: bool = False


def _off(outcomes: Sequence[Outcome]) -> str:
    """How far the tensors are off, by their kinds, in the middle of a sentence."""
    kinds: dict[str, _Off] = {}
    problems: dict[str, str] = {}
    for outcome in outcomes:
        odd = {v.name for v in outcome.unexpected}
        for verdict in outcome.judged.verdicts:
            of_kind = kinds.setdefault(_kind(verdict.name), _Off(set(), set()))
            of_kind.total.add(verdict.name)
            if verdict.name not in odd:
                continue
            if verdict.problem and not math.isfinite(verdict.relative):
                problems.setdefault(verdict.name, plain(verdict.problem))
                of_kind.told = True
            of_kind.wrong.add(verdict.name)
            _widen(of_kind, verdict)
    named = sorted(kinds, key=lambda kind: [*NAMES, kind].index(kind))
    parts = [_part(kind, kinds[kind]) for kind in named if kinds[kind].wrong]
    right = [kind for kind in ("output", "loss") if kind in kinds and not kinds[kind].wrong]
    told = [f"{_plural(NAMES[kind], len(kinds[kind].total))} right" for kind in right]
    texts = [f"{name}: {text}" for name, text in problems.items()]
    return "; ".join([*told, *filter(None, parts), *([listed(texts)] if texts else [])])


def _widen(of_kind: _Off, verdict: TensorVerdict) -> None:
    for name in ("relative", "absolute"):
        value = getattr(verdict, name)
        if math.isfinite(value):
            setattr(of_kind, name, max(getattr(of_kind, name), value))


def _part(kind: str, off: _Off) -> str:
    """How many tensors of a kind are off, and by how much; "" where no number tells."""
    own = f"tensor of {kind}" if kind.endswith("s") else kind  # a column, such as ids
    name, wrong, total = NAMES.get(kind, own), len(off.wrong), len(off.total)
    if off.told and not (off.relative or off.absolute):
        return ""
    if kind == "attribute":
        bare = sorted(each.removeprefix(attribute("")) for each in off.wrong)
        several_of = ("s", "are") if wrong > 1 else ("", "is")
        who = f"the attribute{several_of[0]} {listed(bare)} {several_of[1]}"
    elif total == 1:
        who = f"the {name} is"
    elif wrong == total:
        who = all_of(total, name)
    else:
        who = f"{wrong} of {total} {several(name)} {'is' if wrong == 1 else 'are'}"
    most = "" if wrong == 1 else "up to "
    if not (off.relative or off.absolute):
        return f"{who} off"
    if not off.relative:
        return f"{who} off by {most}{number(off.absolute)}"
    element = f" (an element by {number(off.absolute)})" if off.absolute else ""
    return f"{who} off by {most}{percent(off.relative)}{element}"


def _kind(name: str) -> str:
    """The kind of a tensor by its name: "gradient" for "gradient:conv1.weight"."""
    return name.partition(":")[0].partition(".")[0].partition("[")[0].partition("@")[0]


def _plural(name: str, count: int) -> str:
    return f"the {name} is" if count == 1 else f"{several(name)} are"


# What to mend.


def _places(cases: Sequence[AnsweredCase]) -> list[Mistake]:
    """The places to mend in any of the cases, each once: settings first, then what runs tell."""
    compared = [each.outcome.settings for each in cases if each.outcome.settings]
    explained = {difference.layer for each in compared for difference in each.differing}
    known: dict[tuple, Mistake] = {}
    for each in cases:
        for mistake in each.mistakes.found:
            by_setting = not mistake.port and {*mistake.paths} and {*mistake.paths} <= explained
            key = mistake.port, mistake.where, mistake.port or mistake.words
            if not by_setting:
                known.setdefault(key, mistake)
    own = sorted(known.values(), key=lambda each: each.of_mindspore)
    return [*_by_settings(compared, _padded(cases)), *own]


def _padded(cases: Sequence[AnsweredCase]) -> dict[str, str]:
    """The layers before which the port pads in its own code, beside other mistakes -> class."""
    return {
        difference.layer: difference.kind
        for each in cases
        if each.outcome.settings and each.mistakes.found
        for difference in each.outcome.settings.differing
        if difference.shown and difference.layer in each.mistakes.padded
    }


def _padding(cases: Sequence[AnsweredCase]) -> list[str]:
    """That no argument is to pad where the port pads in its own code; at most a sentence."""
    told = [f"{path or 'the network'} ({kind})" for path, kind in _padded(cases).items()]
    before = f"The port pads in its own code before {listed(told, LAYERS)}"
    return [f"{before}: whether that is right shows once all else is mended."] if told else []


def _by_settings(compared: Iterable[Settings], padded: Collection[str] = ()) -> list[Mistake]:
    """The settings to mend, each once; layers of one kind with the same mistake are one place.

    padded: the layers whose input the port pads in its own code, in which no argument is to pad.
    """
    layers: dict[tuple[str, str], dict[str, None]] = {}
    for each in compared:
        for difference in each.differing:
            if difference.shown and difference.layer in padded:
                continue
            found = layers.setdefault((difference.kind, difference.told), {})
            found[difference.layer] = None
    return [
        Mistake(_named([*paths], kind), (told,), paths=tuple(paths))
        for (kind, told), paths in layers.items()
    ]


def _named(paths: Sequence[str], kind: str) -> str:
    """Layers of one kind, in words."""
    if [*paths] == [kind]:  # of a training: its optimisers, its step
        return f"the {kind}"
    return f"{listed([path or 'the network' for path in paths], LAYERS)} ({kind})"


def _heading(places: Sequence[Mistake]) -> str:
    if not places:
        return ""
    if all(place.of_mindspore for place in places):
        return "Your port is right; MindSpore is not:"
    if faults := sum(place.of_mindspore for place in places):
        own = counted(len(places) - faults, "place")
        return f"The port is wrong in {own}, and MindSpore in {faults}:"
    if len(places) > 1:
        return f"The port is wrong in {len(places)} places:"
    (place,) = places
    return f"the {'statement' if place.port else 'place'} to mend:"


def _lines(place: Mistake) -> tuple[str, ...]:
    """One place, line by line."""
    lines = []
    if place.port:
        titles = [("port", place.port)]
        titles += [("original", place.original)] if place.original else []
        rows = [(title, *code.partition("  ")[::2]) for title, code in titles]
        width = max(len(at) for _, at, _ in rows)
        lines += [f"{title:8}  {at:{width}}  {code}".rstrip() for title, at, code in rows]
    words = "; ".join(place.words)
    inside = f"{'in ' if place.port else ''}{place.where}" if place.where else ""
    told = ": ".join(filter(None, [inside, words]))
    return (*lines, *([told] if told else []))


def _mended(cases: Sequence[AnsweredCase], places: Sequence[Mistake]) -> list[str]:
    """What is right with the original's values in the places to mend; at most a sentence."""
    if places and any(each.mistakes.more for each in cases):
        these, them = ("These places do", "them") if len(places) > 1 else ("This place does", "it")
        return [f"{these} not explain all that is off: mend {them}, then compare again."]
    own = [place for place in places if not place.of_mindspore]
    told = {each.mistakes.mended for each in cases if not _of_mindspore(each.mistakes)}
    if len(told) != 1 or not (sentence := told.pop()):
        return []
    several = "s" if len(own) > 1 else ""
    what = f"value{several} there" if all(place.port for place in own) else f"layer{several}"
    what += ", and without the fault of MindSpore" if len(own) < len(places) else ""
    return [f"With the original's {what}, {sentence}."]


def _of_mindspore(mistakes: Mistakes) -> bool:
    """Whether MindSpore alone is to blame."""
    return bool(mistakes.found) and all(each.of_mindspore for each in mistakes.found)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
