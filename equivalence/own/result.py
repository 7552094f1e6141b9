"""The result of a comparison of one's own networks, and all its texts."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from equivalence.declare.twin import Twin
from equivalence.further.tried import Further, added
from equivalence.further.variant import declared
from equivalence.judge.outcome import Outcome
from equivalence.judge.settings import SettingDifference, Unread, alone_told, unread_told
from equivalence.judge.verdict import TensorVerdict
from equivalence.own.proposal import shown_each
from equivalence.own.session import DROPOUT, CaseVerdict, Structure
from equivalence.page.write import framed, page
from equivalence.reach import words
from equivalence.reach.decision import Reach, encode, total
from equivalence.reach.words import named
from equivalence.report import failures, text
from equivalence.report.answer import (
    DETAILS,
    FORWARD_ONLY,
    answer,
    answer_of_further,
    answer_of_settings,
)
from equivalence.structure.slots import UNSAVED
from equivalence.structure.weights import REFERENCE_ONLY, Unseen, reference_name
from equivalence.targets import offers
from equivalence.words import all_of, counted, listed, number

if TYPE_CHECKING:
    from equivalence.diagnosis.found import LayerError

MORE = "more: --html page.html shows every layer and tensor; --json r.json has every figure"
"""What the answer says of how to see more."""

HINT = "more: --reach lists what was not reached"
"""What a green answer says of how to see what it does not cover."""

GIVEN = (
    "Where such inputs never come: --write twins_net.py declares the given inputs and these; take "
    "these out, and pytest compares the given ones alone."
)
"""What the answer says where a further sample alone shows a difference."""


class Asked(NamedTuple):
    """How people ask for more: by options of the command, or in a call.

    figures: says how to see every layer and tensor of what differs.
    reach: says how to see what was not reached.
    thorough: how all further samples are tried.
    given: how the given inputs alone are compared.
    """

    figures: str
    reach: str
    thorough: str
    given: str


ASKED = Asked(MORE, HINT, "--thorough", GIVEN)
PLAIN = ASKED._replace(reach="")
ASKED_IN_CALL = Asked(
    "more: the result is a page in a notebook; its `tensors` and `culprits` have every figure",
    "more: `unreached` lists what was not reached",
    "thorough=True",
    "Where such inputs never come: pytest compares a Twin with the given inputs alone.",
)


class Repeat(NamedTuple):
    """What repeats a case.

    text: a command or call; {inputs} stands for the inputs, {phase} and so on for the case's own.
    inputs: the inputs that were given, as they stand there.
    write: writes other inputs, by their texts.
    """

    text: str
    inputs: str = ""
    write: Callable[[Sequence[str]], str] = ", ".join

    def of(self, verdict: CaseVerdict) -> str:
        """What repeats the case of a verdict."""
        inputs, case = self.inputs, verdict.outcome.case
        if verdict.sample is not None and verdict.sample.turns is not None:
            return f"pytest {declared(case)}"
        if verdict.sample is not None:
            inputs = self.write(shown_each(case.twin.inputs))
        return self.text.format_map({**vars(case), "inputs": inputs})


NOT_REPEATED = Repeat("")
"""Where nothing is told of how to repeat a case."""

SHOWN = 10
"""Settings, pairs and unpaired weights in a text; all are in the result."""


@dataclass(frozen=True, repr=False)
class Result:
    """The result of `compare`: true where the sides are equal. `print` shows all of it.

    twin: the declaration that was compared; `pytest` would compare the same.
    structure: the structure of both sides.
    verdicts: the verdict on each case, with its culprits; that on a further sample comes last.
    repeat: the call that repeats one case.
    further: what came of the further samples; None where none could be tried.

    >>> from equivalence import Result, compare, normal
    >>> result = compare("torch.nn:ReLU", "mindspore.nn:ReLU6", normal(4, 8, scale=9.0))
    >>> isinstance(result, Result), bool(result), len(result.outcomes)
    (True, False, 4)
    >>> [tensor.name for tensor in result.tensors][:2]
    ['output.0', 'gradient:input[0]']
    """

    twin: Twin
    structure: Structure
    verdicts: tuple[CaseVerdict, ...]
    repeat: Repeat = NOT_REPEATED
    further: Further | None = None

    def __post_init__(self) -> None:
        """Take what the tensors say of paddings into what was compared before any run."""
        object.__setattr__(self, "structure", self.structure.judged(self.outcomes))

    def __bool__(self) -> bool:
        if not self.outcomes:
            return not self.settings and self.structure.problem is None
        return all(outcome.passed for outcome in self.outcomes)

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """The outcome of each case."""
        return tuple(verdict.outcome for verdict in self.verdicts)

    @property
    def tensors(self) -> tuple[TensorVerdict, ...]:
        """The verdict on each tensor of each case."""
        judgements = [outcome.judgement for outcome in self.outcomes]
        return tuple(each for judgement in judgements if judgement for each in judgement.verdicts)

    @property
    def culprits(self) -> tuple["LayerError", ...]:
        """The layers to blame, each once; `reference` is its path and `causes` says why."""
        found: dict[tuple, LayerError] = {}
        for verdict in self.verdicts:
            for each in verdict.culprits:
                found.setdefault((each.reference, *each.causes), each)
        return tuple(found.values())

    @property
    def reach(self) -> Reach | None:
        """The decisions that all cases and further samples reached together.

        None where nothing was watched.
        """
        return added(self.given_reach, self.further)

    @property
    def given_reach(self) -> Reach | None:
        """The decisions that the given inputs reached."""
        return total(each.outcome.reach for each in self.verdicts if each.sample is None)

    @property
    def unreached(self) -> tuple[str, ...]:
        """The decisions that no case reached, a line each: where it is, and what no element did."""
        return tuple(map(words.told, self.reach.missed)) if self.reach else ()

    @property
    def settings(self) -> tuple[SettingDifference | Unread, ...]:
        """The settings that differ, or could not be read of a framework's layer, undeclared."""
        return self.structure.settings.wrong

    @property
    def pairs(self) -> Mapping[str, str]:
        """Candidate name -> reference name of every weight."""
        return self.structure.pairs

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.twin.name}: {conclusion(self.verdicts)}>"

    def __str__(self) -> str:
        return "\n".join(lines(self, asked=ASKED_IN_CALL))

    def _repr_html_(self) -> str:
        """The page of the result, as a notebook shows it."""
        return framed(page_of(self))


def lines(result: Result, below: Sequence[str] = (), asked: Asked = ASKED) -> list[str]:
    """All of a result as lines: the answer, then the details.

    below: more details, after the verdicts.
    asked: how people ask for more.
    """
    told = answered(result, asked)
    told += [DETAILS, *structure_lines(result.structure, result.twin)]
    for each in result.verdicts:
        told += verdict_lines(each)
    return [*told, *below, *closing(result.verdicts, result.further)]


def answered(result: Result, asked: Asked = PLAIN) -> list[str]:
    """The answer of a result, line by line. asked: as for `lines`."""
    structure, verdicts, further = result.structure, result.verdicts, result.further
    if not verdicts:
        return [*_of_settings(structure), *structure.sides]
    red = [each for each in verdicts if not each.outcome.passed]
    again = result.repeat.of(red[0]) if red else ""
    if red and red[0].sample is not None:
        new = [*map(named, red[0].reached)]
        told = answer_of_further(red[0].found, red[0].sample.told, new)
        return replace(told, after=(*told.after, asked.given)).lines(again, asked.figures)
    reach = result.reach
    more = asked.figures if red else asked.reach if reach is not None and reach.missed else ""
    tried = further.lines(result.given_reach, asked.thorough) if further is not None else []
    found = answer([each.found for each in verdicts], tried, reach)
    return replace(found, after=(*structure.sides, *found.after)).lines(again, more)


def _of_settings(structure: Structure) -> list[str]:
    """The answer where nothing was run."""
    wrong = structure.settings.wrong
    if structure.problem:
        return [f"DIFFERENT. {str(structure.problem).partition(chr(10))[0]}"]
    if not wrong:
        compared = counted(structure.settings.compared, "setting")
        return [f"EQUAL. {compared} and all weights; nothing was run."]
    return answer_of_settings(structure.settings).lines()


def structure_lines(structure: Structure, twin: Twin) -> list[str]:
    """The settings that differ, and how the weights were paired."""
    return [*settings_lines(structure), *pair_lines(structure, twin)]


def settings_lines(structure: Structure) -> list[str]:
    """The settings that differ, and those that could not be read."""
    found = structure.settings
    unread = [*unread_told(found.unread), *alone_told(found)]
    compared = f"{found.compared} ({counted(found.layers, 'layer')})"
    if not found.compared:
        return ["settings: none that both sides hold", *unread]
    if not (found.differing or found.declared):
        lines = [f"settings: all {compared} are the same"]
        lines[0] += ", but for" * bool(found.elsewhere)
    else:
        verb = "differs" if len(found.differing) == 1 else "differ"
        lines = [f"settings: {len(found.differing)} of {compared} {verb}"]
    lines += [f"  {shown_setting(each)}" for each in found.differing]
    lines += [f"  {shown_setting(each)}: declared: {each.why}" for each in found.declared]
    lines += [
        f"  {shown_setting(each)}: the port pads in its own code, as the tensors show"
        for each in found.elsewhere
    ]
    return [*_cut(lines, "setting"), *unread]


def shown_setting(each: SettingDifference) -> str:
    """A setting that differs, with its layer."""
    return f"{each.layer or 'the network'} ({each.kind}): {each}"


def pair_lines(structure: Structure, twin: Twin) -> list[str]:
    """How many weights pair up and by what, the pairs by other names, and what has no partner."""
    plain, standard, other = [], [], []
    for name, partner in structure.pairs.items():
        if name == partner:
            plain.append(name)
        elif reference_name(name, {}) == partner:
            standard.append(name)
        else:
            other.append(f"  {name} -> {partner}")
    groups = structure.pairs.groups
    other += [f"  {group}" for group in groups]
    sources = [*structure.pairs.values(), *(name for group in groups for name in group.reference)]
    kinds = Counter(structure.reference[each].kind for each in sources)
    counts = ", ".join(counted(count, kind) for kind, count in kinds.items()) or "none"
    ways = [(plain, "by name"), (standard, "by MindSpore's own names"), (other, "by other names")]
    by = ", ".join(f"{len(names)} {way}" for names, way in ways if names)
    lines = [f"weights: {counts} pair up{': ' if by else ''}{by}"]
    lines += [f"  {line}" for line in structure.pairs.proposed] or _cut(["", *other], "pair")[1:]
    unseen = isinstance(structure.candidate, Unseen)
    lines = ["weights: the candidate holds its own"] if unseen else lines
    alone = [] if unseen else [*_alone(structure)]
    lines += [f"  no partner: {listed(alone, SHOWN)}"] if alone else []
    lines += structure.notes
    if structure.draws and twin.random_layers == DROPOUT:
        lines.append(
            f"dropout keeps everything (random_layers={DROPOUT!r}), and its laws are compared: "
            f"{listed(structure.draws)}"
        )
    return lines


def _alone(structure: Structure) -> Iterable[str]:
    """The weights without a partner."""
    partners = structure.pairs.needed(structure.candidate)
    for name, slot in structure.reference.items():
        needless = slot.kind == UNSAVED or name.rpartition(".")[2] in REFERENCE_ONLY
        if name not in partners and not needless:
            yield f"reference {name} ({slot})"
    for name, slot in structure.candidate.items():
        if not structure.pairs.sources(name):
            yield f"candidate {name} ({slot})"


def verdict_lines(verdict: CaseVerdict) -> list[str]:
    """The details of one case: a line where it passed, the tables of a failed test otherwise."""
    outcome = verdict.outcome
    if verdict.sample is not None:
        inputs = ", ".join(shown_each(outcome.case.twin.inputs))
        plain = verdict_lines(replace(verdict, sample=None))
        return [f"a further sample, {verdict.sample.told}: {inputs}", *plain]
    if not outcome.passed:
        told = text.details(replace(outcome, proposed=()), verdict.diagnosis)  # told with the pairs
        if verdict.same is None:
            return told
        return [f"{told[0]}; culprits and causes: those of {verdict.same}"]
    if outcome.judgement is None:
        return [f"{outcome.case.name}: both sides raise, as declared"]
    judgement = outcome.judgement
    worst = max(judgement.verdicts, key=lambda each: each.needed)
    within = f"within {number(worst.budget)} {judgement.unit}"
    equal = "equal"
    if outcome.kernels:
        names = listed([str(kernel) for kernel in outcome.kernels])
        equal += f" but for {names}, with which it is {number(outcome.moved)} roundings off"
    line = f"{outcome.case.name}: {equal}; {all_of(len(judgement.verdicts), 'tensor')} {within}"
    line += f" (largest {number(worst.needed)}: {worst.name})"
    line += f"; excused: {', '.join(outcome.excuses)}" if outcome.excuses else ""
    also = [FORWARD_ONLY] if judgement.forward_only else []
    also += ["structure alone: every output is of zeros or has no element"] * judgement.hollow
    also += [judgement.by_order] if judgement.by_order else []
    also += text.nonfinite(judgement)
    also += [str(outcome.draws)] if outcome.draws else []
    also += [outcome.note] if outcome.note else []
    return ["; ".join([line, *also])]


def _failure(verdict: CaseVerdict, repeat: Repeat) -> str:
    """The text of a case that failed."""
    told = replace(verdict.outcome, proposed=())  # they are told once, with the pairs
    return text.failure(told, repeat.of(verdict), verdict.diagnosis, verdict.mistakes)


def page_of(result: Result) -> str:
    """The page of a result: the settings and the pairs of weights, then every case."""
    written = []
    for verdict in result.verdicts:
        outcome = verdict.outcome
        written += text.lines(outcome)
        if not outcome.passed:
            failure = _failure(verdict, result.repeat)
            case, seed = outcome.case, outcome.seed
            written.append(failures.line(case, seed, failure, diagnosis=verdict.data))
    results = [json.loads(line) for line in written]
    title = f"{_both(result.twin)}: {conclusion(result.verdicts)}"
    described = structure_lines(result.structure, result.twin)
    return page(title, [results], described, answer=answered(result))


def _both(twin: Twin) -> str:
    """What was compared with what; a network that is no file's is told by the twin's name."""
    if offers(twin.candidate) or offers(twin.reference):
        return twin.name
    return f"{twin.candidate} beside {twin.reference}"


def closing(verdicts: Sequence[CaseVerdict], further: Further | None = None) -> list[str]:
    """The last lines: what was compared with the given inputs, and the conclusion.

    further: what came of the further samples, which these lines leave out.
    """
    if not verdicts:
        return []
    given = [each.outcome for each in verdicts if each.sample is None]
    results = [json.loads(line) for outcome in given for line in text.lines(outcome)]
    every, rows = text.counts(results)
    if further is not None and further.tried:
        alone = ", by the given inputs alone"
        rows = [(what, told + alone * (what == "reach")) for what, told in rows]
    return [f"compared {every}", *text.table(rows), conclusion(verdicts)]


def conclusion(verdicts: Sequence[CaseVerdict]) -> str:
    """The result in a few words."""
    outcomes = [each.outcome for each in verdicts]
    errors = sum(each.outcome.error is not None for each in verdicts if each.sample is None)
    failed = sum(not outcome.passed for outcome in outcomes) - errors
    if not outcomes:
        return "nothing was run"
    every, right = counted(len(outcomes), "case"), len(outcomes) - errors
    lost = f"; {errors} could not be compared" if errors else ""
    short = sum(outcome.lacks_reach and outcome.judged.equal for outcome in outcomes)
    if short and short == failed:
        return f"equal, and too little is reached in {short} of {every}{lost}"
    if failed:
        return f"different in {failed} of {every}{lost}"
    return f"equal in {right} of {every}{lost}" if errors else f"equal in {every}"


def document(result: Result) -> dict[str, Any]:
    """All of a result as JSON; the tensors have the fields of `reports/results.jsonl`."""
    structure, further = result.structure, result.further
    return {
        "reference": result.twin.reference,
        "candidate": result.twin.candidate,
        "equal": bool(result),
        "text": "\n".join(answered(result)),
        "settings": [vars(each) for each in structure.settings.differing],
        "settings_compared": structure.settings.compared,
        "settings_unread": [*map(str, structure.settings.unread)],
        "tables_alone": [*structure.settings.alone],
        "pairs": dict(structure.pairs),
        "unpaired": [*_alone(structure)],
        "reach": _reached(result.reach),
        "further": further
        and {
            "tried": further.tried,
            "reached": [*map(named, further.gained(result.given_reach))],
            "no_evidence": dict(further.dropped),
            "beyond": dict(further.beyond),
            "ended": further.ended,
            "fixed": [*further.fixed],
        },
        "cases": [
            {
                "case": verdict.outcome.case.name,
                "passed": verdict.outcome.passed,
                "error": verdict.outcome.error,
                "sample": verdict.sample and verdict.sample.told,
                "culprits": [
                    {
                        "reference": each.reference,
                        "candidate": each.candidate,
                        "kind": each.kinds[0],
                        "causes": each.causes,
                    }
                    for each in verdict.culprits
                ],
                "diagnosis": [*verdict.full],
                "tensors": [json.loads(line) for line in text.lines(verdict.outcome)],
            }
            for verdict in result.verdicts
        ],
    }


def _reached(reach: Reach | None) -> dict[str, Any] | None:
    """The decisions of all cases as JSON, and the lines that say what was not reached."""
    if reach is None:
        return None
    missed = [words.told(each) for each in reach.missed]
    counts = {"reached": reach.reached, "of": len(reach.decisions), "unreached": missed}
    return counts | encode(reach)


def _cut(lines: list[str], thing: str) -> list[str]:
    """A heading and the first lines below it; the others are counted."""
    more = len(lines) - 1 - SHOWN
    return lines[: SHOWN + 1] + (
        [f"  ... and {counted(more, f'more {thing}')}"] if more > 0 else []
    )
