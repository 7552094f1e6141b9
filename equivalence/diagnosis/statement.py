"""The statement to blame within a culprit that is no single layer, in words."""

import time
from dataclasses import replace

import numpy as np

from equivalence.diagnosis import pattern
from equivalence.diagnosis.causes import JOINED, NAMED, ONLY, PROVEN, kernels_told, without_partner
from equivalence.diagnosis.found import LayerError
from equivalence.diagnosis.search import Search
from equivalence.host import devices
from equivalence.judge.precision import BUDGET
from equivalence.sides.accurate import EXACT, AccurateKernels
from equivalence.statements.backward import Gradients
from equivalence.statements.blame import PATIENCE, Statements
from equivalence.statements.calls import framework
from equivalence.statements.found import Blame
from equivalence.statements.mindspore_calls import MindSporeCalls
from equivalence.statements.same import MASKED, plain
from equivalence.truth.measurement import Measurement
from equivalence.words import listed

SEEN_LATER = "what else is wrong can be seen once that is mended"
"""A note where the statements to blame do not explain all."""

Explained = list[tuple[Blame, list[str]]]
"""The statements to blame in a layer, each with the kernels that explain it."""


def point(search: Search, culprits: list[LayerError]) -> list[LayerError]:
    """The culprits, with the statements in which they go wrong; one for each statement.

    They are looked for in code of one's own: of a network or a layer, fed by itself.
    """
    found: list[LayerError] = []
    seen: dict[tuple, list[Explained]] = {}
    deadline = time.process_time() + PATIENCE
    for culprit in culprits:
        path = culprit.reference
        cell = search.candidate.cell_at(search.pairs[path])
        known = any(" (reference) " in cause for cause in culprit.causes)  # a setting explains it
        local = search.local(path)
        right = local is None or local.judgement.equal
        foreign = framework(type(cell).__module__)
        if known or right or foreign or time.process_time() > deadline:
            found.append(culprit)
            continue
        alike = seen.setdefault((culprit.kinds, type(cell)), [])
        try:
            blames = next((each for each in alike if _goes_through(search, path, each)), None)
            if blames is None:
                blames = _blames(search, path)
                alike += [blames] if blames else []
        except Exception as error:  # a run that cannot be watched
            told = f"{type(error).__name__}: {error}".partition("\n")[0]
            search.notes.append(f"its statements could not be watched: {told}")
            blames = []
        found += [_pointed(search, culprit, *blame) for blame in blames] or [culprit]
    return found


def _goes_through(search: Search, path: str, blames: Explained) -> bool:
    """Whether a wrong layer has run the statements that are to blame in another of its class.

    Then they are wrong in it, too, and nothing is searched for.
    """
    local, network = search.local(path), search.candidate.part(search.pairs[path], "pynative")
    if any(blame.backward == (local.forward > BUDGET) for blame, _ in blames):
        return False
    watch = MindSporeCalls(network.cell)
    with watch():
        partners = search.local_names(path, search.partners)
        network.run(local.sample, partners, search.case.phase, {})
    places = {call.statement.place for call in watch.recording.calls if call.statement}
    return all(blame.statement.place in places for blame, _ in blames)


def _blames(search: Search, path: str) -> Explained:
    """The statements to blame in a layer that is fed by itself, each with what explains it."""
    local = search.local(path)
    phase, partners = search.case.phase, search.local_names(path, search.partners)
    measurement = Measurement(
        search.reference.part(path), local.sample, phase, search.unit_roundoff
    )
    # A network of its own: compiled ones are left alone.
    network = search.candidate.part(search.pairs[path], "pynative")
    if local.forward > BUDGET:
        statements = Statements(measurement, network, partners, {})
        blames = statements.blame()
        if blames and not statements.mended:
            search.notes.append(SEEN_LATER)
        return [(blame, _kernel(search, statements, blame)) for blame in blames]
    gradients = Gradients(measurement, network, partners, local.expected)
    return [(blame, []) for blame in gradients.blame()]


def _kernel(search: Search, statements: Statements, blame: Blame) -> list[str]:
    """The inaccurate kernel with an accurate one for which a statement is right; else nothing."""
    device = devices.place(search.case.device).runs_on
    if device != "cpu" or blame.operator not in EXACT or blame.takes:
        return []
    accurate = AccurateKernels([blame.operator])
    with accurate():
        right = statements.gives(blame)
    accurate.errors = {blame.operator: accurate.errors[blame.operator]}
    return kernels_told(accurate, device) if right else []


def _pointed(search: Search, culprit: LayerError, blame: Blame, kernel: list[str]) -> LayerError:
    """The culprit, or a layer within it that could not be fed, with a statement to blame."""
    where = _layer(search, culprit.reference, blame)
    layer = search.layer(where, {}) if where != culprit.reference else culprit
    others = [c for c in culprit.causes if c != JOINED and not c.startswith(ONLY)]
    exact = [cause for cause in others if cause.startswith(PROVEN)]
    others = [cause for cause in others if cause not in exact]
    code = " ".join(each.text for each in (blame.statement, blame.counterpart) if each)
    causes = [*exact, *_causes(blame), *others, *without_partner(search, culprit.reference, code)]
    causes = kernel or causes
    theirs = blame.counterpart
    against = str(theirs or "")
    return replace(layer, statement=_title(blame), counterpart=against, causes=causes)


def _layer(search: Search, path: str, blame: Blame) -> str:
    """The layer that a statement belongs to: the culprit, or one within that could not be fed."""
    names = {ours: theirs for theirs, ours in search.pairs.items()}
    inside = ".".join(filter(None, (search.pairs[path], blame.statement.layer)))
    while inside and inside not in names:
        inside = inside.rpartition(".")[0]
    within = names.get(inside, path)
    return within if within in search.unfed and within in search.flow.order else path


def _title(blame: Blame) -> str:
    title = str(blame.statement)
    if blame.takes:  # computed in another way, or wrongly: it cannot be told
        title += f", or what it takes from {listed([each.place for each in blame.takes], 3)}"
    if blame.further:
        title += f", or what follows in {listed([each.place for each in blame.further], NAMED)}"
    return title


def _causes(blame: Blame) -> list[str]:
    if blame.backward:
        lines = ["its result is right; the gradient that it gives to what it takes is not"]
    elif blame.misplaced is not None:
        takes = f"{blame.misplaced.place} ({blame.misplaced.text})"
        lines = [f"it takes what {takes} gives, and the reference another value"]
    elif blame.constant:
        lines = ["it uses a constant that is another one in the reference"]
    elif blame.takes:
        lines = []
    else:
        once = f", once {listed([each.place for each in blame.after])} is mended"
        lines = ["what it takes agrees with the reference's" + (once if blame.after else "")]
    if blame.statement.caller:
        lines.append(f"called from {blame.statement.caller}")
    got, want = _unmasked(blame.got, blame.want)
    shape = pattern.describe(got, want, blame.unit) or "no simple difference"
    if blame.counterpart is None:
        lines.append(f"against the reference's value: {shape}")
    else:
        lines.append(f"against {blame.counterpart.place} ({blame.counterpart.text}): {shape}")
    return lines


def _unmasked(got: np.ndarray, want: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both values; what is masked on both sides is zero, as it tells nothing."""
    if got.shape != want.shape:
        return got, want
    mine, theirs = plain(got), plain(want)
    both = (mine == MASKED) & (theirs == MASKED)
    if not both.any():
        return got, want
    return np.where(both, 0.0, mine), np.where(both, 0.0, theirs)
