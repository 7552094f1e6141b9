"""A diagnosis as text and data: lines for the terminal and a file, every layer for the page."""

import math
from collections.abc import Iterable
from typing import Any

from equivalence.diagnosis.found import (
    ACQUITTED,
    BESIDE,
    CUT,
    PADDED,
    RIGHT,
    SEEN_LATER,
    TRAINING,
    UPDATE,
    Diagnosis,
    LayerError,
)
from equivalence.judge.mistake import ENDED, Mistake, Mistakes
from equivalence.kinds import ToldDiagnosis
from equivalence.structure.settings import OPTIMIZER
from equivalence.words import listed, number, plain

CULPRITS = 2
"""At most this many groups in the terminal, the rest is counted; one group has the same causes."""

CULPRIT_NAMES = 4
"""At most this many culprits of a group are named in the terminal; the rest is counted."""

CAUSES = 2
"""At most this many causes of a group in the terminal; further ones stand in the file only."""

ROWS = 4
"""At most this many layers in the terminal's table; all stand in the file."""


def told(diagnosis: Diagnosis) -> ToldDiagnosis:
    """The diagnosis in a few lines, in full, and as data."""
    return ToldDiagnosis(brief(diagnosis), full(diagnosis), data(diagnosis), mistakes(diagnosis))


def mistakes(diagnosis: Diagnosis) -> Mistakes:
    """The culprits as places to mend, in plain words; those of which the same is said are one."""
    found = []
    places: dict[tuple[str, ...], list[LayerError]] = {}
    for layer in diagnosis.culprits:
        said = layer.words or map(_plain, layer.causes)
        places.setdefault((layer.statement, layer.counterpart, *said), []).append(layer)
    for (statement, counterpart, *said), members in places.items():
        named = [each for each in members if each.reference or not statement]
        found.append(
            Mistake(
                plain(listed([_name(layer) for layer in named], CULPRIT_NAMES)),
                tuple(said),
                statement,
                counterpart,
                tuple(map(_path, members)),
                all(map(_of_mindspore, members)),
            )
        )
    more = SEEN_LATER in diagnosis.notes
    cut = tuple(_without_house(each) for each in diagnosis.notes if each.startswith(CUT))
    mended, ended = "" if more else diagnosis.mended, ENDED in diagnosis.notes
    padded = tuple(each.reference for each in diagnosis.layers if each.unfed == PADDED)
    return Mistakes(found, mended, diagnosis.eager, more, cut, ended, padded)


def _of_mindspore(layer: LayerError) -> bool:
    return any(cause.startswith((RIGHT, BESIDE)) for cause in layer.causes)


def _without_house(note: str) -> str:
    """A note with a line of code in plain words; the code stays as it is."""
    sides = {"the reference ": "the original ", "a reference ": "an original "}
    for house, people in {**sides, "the candidate ": "the port "}.items():
        note = note.replace(house, people)
    return note


def _path(layer: LayerError) -> str:
    """The path by which the settings of a layer are found; an update has its optimiser's."""
    updates = layer.kinds[0] == TRAINING and layer.reference == UPDATE
    return OPTIMIZER if updates else layer.reference


def _plain(cause: str) -> str:
    """A cause in plain words."""
    if cause.startswith(ACQUITTED):
        return f"a kernel of MindSpore loses digits: {plain(cause.removeprefix(ACQUITTED))}"
    return plain(cause)


def brief(diagnosis: Diagnosis) -> list[str]:
    """The culprits with their causes, and the layers around the first culprit."""
    lines = []
    groups = _groups(diagnosis.culprits)
    for (statement, *causes), members in list(groups.items())[:CULPRITS]:
        lines += _titles(statement, members, CULPRIT_NAMES)
        lines += [f"  {cause}" for cause in causes[:CAUSES]]
    if len(groups) > CULPRITS:
        more = len(groups) - CULPRITS
        lines.append(f"... and {more} more group{'s' if more > 1 else ''} of culprits")
    if not groups:
        lines.append(_none(diagnosis, "each layer by itself is within the budget"))
    if len(diagnosis.layers) > 1:
        lines += _table(diagnosis, _around(diagnosis))
    return lines + _notes(diagnosis)


def full(diagnosis: Diagnosis) -> list[str]:
    """The culprits with all their causes, and every aligned layer."""
    lines = [diagnosis.case.name, ""]
    for (statement, *causes), members in _groups(diagnosis.culprits).items():
        if statement:
            lines += _titles(statement, members, len(members))
        else:
            lines += [f"culprit: {_name(layer)}" for layer in members]
        lines += [f"  {cause}" for cause in causes]
    if not diagnosis.culprits:
        lines.append(_none(diagnosis, "each layer that was fed by itself is within the budget"))
    lines += ["", *_table(diagnosis, diagnosis.layers), *_notes(diagnosis)]
    return lines


def data(diagnosis: Diagnosis) -> dict[str, Any]:
    """The layers of both sides, and the culprits, as JSON.

    `layers` has every aligned layer in the order of their first outputs, with four errors: forward
    and backward in the whole run, then by itself; null where it was not measured.
    """
    theirs, ours = diagnosis.trees
    return {
        "trees": {"reference": dict(theirs), "candidate": dict(ours)},
        "layers": [
            [layer.reference, layer.candidate, [_figure(error) for error in _errors(layer)]]
            for layer in diagnosis.layers
        ],
        "culprits": [
            {
                "reference": layer.reference,
                "candidate": layer.candidate,
                "kind": layer.kinds[0],
                "causes": layer.causes,
                "statement": layer.statement,
                "counterpart": layer.counterpart,
            }
            for layer in diagnosis.culprits
        ],
        "unfed": {layer.reference: layer.unfed for layer in diagnosis.layers if layer.unfed},
        "notes": _notes(diagnosis),
    }


def _errors(layer: LayerError) -> tuple[float, ...]:
    """Forward and backward in the whole run, then by itself."""
    whole = (layer.inherited_forward, layer.inherited_backward)
    return (*whole, layer.forward, layer.backward)


def _figure(error: float) -> float | str | None:
    """An error to three digits; JSON has no infinity."""
    if math.isnan(error):
        return None
    return float(f"{error:.3g}") if math.isfinite(error) else "inf"


def _notes(diagnosis: Diagnosis) -> list[str]:
    """What limits a diagnosis; what stopped it stands with the culprit where there is none."""
    told = diagnosis.stopped and diagnosis.culprits
    return [*diagnosis.notes, diagnosis.stopped] if told else diagnosis.notes


def _none(diagnosis: Diagnosis, right: str) -> str:
    if diagnosis.stopped:
        return f"culprit: not known; {diagnosis.stopped}"
    ill_posed = "the case is ill-posed, in which right layers fail, too"
    return f"culprit: none; {ill_posed if diagnosis.ill_posed else right}"


def _groups(culprits: Iterable[LayerError]) -> dict[tuple[str, ...], list[LayerError]]:
    """(statement, causes...) -> the culprits that have the same."""
    groups: dict[tuple[str, ...], list[LayerError]] = {}
    for layer in culprits:
        groups.setdefault((layer.statement, *layer.causes), []).append(layer)
    return groups


def _titles(statement: str, members: list[LayerError], most: int) -> list[str]:
    """The statement to blame with its layers, or the layers; so many are named."""
    names = listed([_name(layer) for layer in members], most)
    if statement:
        return [f"culprit: {statement}", f"  in {names}"]
    return [f"culprit{'s' if len(members) > 1 else ''}: {names}"]


def _name(layer: LayerError) -> str:
    if not layer.reference:
        return f"the network itself ({layer.kinds[0]})"
    theirs = "" if layer.candidate == layer.reference else f" = candidate's {layer.candidate}"
    return f"{layer.reference}{theirs} ({layer.kinds[0]})"


def _around(diagnosis: Diagnosis) -> list[LayerError]:
    """The culprits and their neighbours, among the layers that were fed by themselves."""
    layers = [layer for layer in diagnosis.layers if not math.isnan(layer.forward)]
    blamed = {culprit.reference for culprit in diagnosis.culprits}
    indices = [i for i, layer in enumerate(layers) if layer.reference in blamed]
    near = {i for index in indices for i in (index - 1, index)} | {
        index + 1 for index in indices[:1]
    }
    return [layers[i] for i in sorted(near) if 0 <= i < len(layers)][:ROWS]


def _table(diagnosis: Diagnosis, layers: list[LayerError]) -> list[str]:
    if not layers:
        return []
    names = [layer.reference or "(network)" for layer in layers]
    width = max(len(name) for name in [*names, "roundings"])
    lines = [
        f"    {'':{width}}   in the whole run       by itself",
        f"    {'roundings':{width}}   forward  backward   forward  backward",
    ]
    blamed = {culprit.reference for culprit in diagnosis.culprits}
    for name, layer in zip(names, layers, strict=True):
        mark = ">" if layer.reference in blamed else " "
        whole = f"{number(layer.inherited_forward):>9} {number(layer.inherited_backward):>9}"
        alone = f"{number(layer.forward):>9} {number(layer.backward):>9}"
        lines.append(f"  {mark} {name:{width}} {whole} {alone}  {layer.unfed}".rstrip())
    return lines
