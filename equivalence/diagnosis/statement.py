"""The statement to blame within a culprit that is no single layer, in words."""

import numpy as np

from equivalence.diagnosis import pattern
from equivalence.diagnosis.causes import JOINED, ONLY, WEIGHTS, without_partner
from equivalence.diagnosis.found import LayerError
from equivalence.diagnosis.search import Search
from equivalence.judge.precision import BUDGET
from equivalence.statements.blame import Blame, Statements
from equivalence.statements.same import MASKED, plain
from equivalence.words import listed


def point(search: Search, layers: dict[str, LayerError], culprits: list[str]) -> list[str]:
    """The culprits, once the statement is found in which one of them goes wrong.

    It is looked for where a network's own code may be wrong, or a layer that could not be fed, and
    only where outputs are wrong.

    layers: the layers by path, to which the statement and its causes are added.
    """
    vague = [path for path in culprits if search.within(path) or not path]
    if len(culprits) != 1 or not vague or search.local("").forward <= BUDGET:
        return culprits
    path = culprits[0]
    if any(" (reference) " in cause for cause in layers[path].causes):  # a setting explains it
        return culprits
    try:
        blame = Statements(search.case, search.measurement, search.partners).blame()
    except Exception as error:  # a run that cannot be watched
        told = f"{type(error).__name__}: {error}".partition("\n")[0]
        search.notes.append(f"its statements could not be watched: {told}")
        return culprits
    if blame is None:
        return culprits
    where = _layer(search, path, blame)
    if where not in layers:
        layers[where] = search.layer(where, {})
    found = layers[where]
    others = [c for c in layers[path].causes if c != JOINED and not c.startswith(ONLY)]
    exact = [cause for cause in others if cause.startswith(WEIGHTS)]
    found.statement = _title(blame)
    if blame.counterpart is not None:
        found.counterpart = f"{blame.counterpart.place}  {blame.counterpart.text}"
    code = " ".join(each.text for each in (blame.statement, blame.counterpart) if each)
    others = [cause for cause in others if cause not in exact]
    found.causes = [*exact, *_causes(blame), *others, *without_partner(search, path, code)]
    return [where]


def _layer(search: Search, path: str, blame: Blame) -> str:
    """The layer that a statement belongs to: the culprit, or one within that could not be fed."""
    names = {ours: theirs for theirs, ours in search.pairs.items()}
    inside = blame.statement.layer
    while inside and inside not in names:
        inside = inside.rpartition(".")[0]
    within = names.get(inside, path)
    return within if within in search.unfed and within in search.flow.order else path


def _title(blame: Blame) -> str:
    statement = blame.statement
    title = f"{statement.place}  {statement.text}"
    if blame.takes:  # computed in another way, or wrongly: it cannot be told
        title += f", or what it takes from {listed([each.place for each in blame.takes], 3)}"
    return title


def _causes(blame: Blame) -> list[str]:
    if blame.misplaced is not None:
        takes = f"{blame.misplaced.place} ({blame.misplaced.text})"
        lines = [f"it takes what {takes} gives, and the reference another value"]
    elif blame.constant:
        lines = ["it uses a constant that is another one in the reference"]
    elif blame.takes:
        lines = []
    else:
        lines = ["what it takes agrees with the reference's"]
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
