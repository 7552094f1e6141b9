"""Which layers of a network to blame, and why: `Search` finds them, `causes` explains them.

From the network downwards, each layer is fed the reference's own input and judged by itself, with
the same budget. A layer is to blame if it exceeds the budget and none of the layers within it
does: it is a leaf, or a network whose own code joins right layers wrongly.
"""

from collections.abc import Mapping

from equivalence.diagnosis import attributes, causes, detached, statement, whole
from equivalence.diagnosis.causes import JOINED
from equivalence.diagnosis.found import Diagnosis
from equivalence.diagnosis.search import Search
from equivalence.words import raised


def diagnose(search: Search, every: bool = False) -> Diagnosis:
    """Find the layers that are wrong by themselves, and why.

    every: measure every layer by itself, not only those on the way to a culprit.

    Where that cannot be done, the first layer is named that is wrong in the run as a whole.
    """
    inherited = search.observe()
    try:
        return _by_layer(search, inherited, every)
    except Exception as error:  # a run of a part by itself, which the network itself never makes
        paths = [path for path in search.flow.order if path in search.pairs]
        layers = [search.layer(path, inherited) for path in paths]
        return Diagnosis(
            search.case,
            layers,
            whole.first_wrong(layers, search.callers),
            search.notes,
            trees=search.trees,
            stopped=f"its layers could not be compared by themselves: {raised(error)}",
        )


def _by_layer(
    search: Search, inherited: Mapping[tuple[str, bool], float], every: bool
) -> Diagnosis:
    """The layers that are wrong by themselves, and why."""
    order = [path for path in search.flow.order if path in search.pairs]
    if every:
        for path in order:
            search.local(path)
    ill_posed = search.root.judgement.ill_posed
    wrong = search.wrong("")
    drawing = search.random_layers() if wrong else {}
    culprits = search.clear(search.blame("")) if wrong and not search.differs_by_draws_alone else []
    culprits += [path for path in drawing if path not in culprits]
    if wrong and (right := search.right_in_pynative()):
        search.notes.append(
            f"in PyNative mode the same network gives the right {' and '.join(right)}"
        )
    if wrong and not ill_posed:
        search.notes += detached.explain(search)
    order += [path for path in culprits if path not in order]  # one that gives integers alone
    layers = {path: search.layer(path, inherited) for path in order}
    if wrong and not ill_posed and (written := attributes.explain(search, inherited)):
        told = list(layers.values())
        return Diagnosis(search.case, told, written, search.notes, trees=search.trees)
    for path in culprits:
        laws = drawing.get(path, [])
        why = [] if search.differs_by_draws_alone else _explained(search, path)
        if search.keeps_state:
            why = [causes.KEPT, *(cause for cause in why if cause != JOINED)]
        layers[path].causes = [*laws, *why]
    in_order = [layers[path] for path in order if path in culprits]
    if wrong and search.candidate.unseen:
        kind = search.candidate.unseen
        search.notes.append(
            f"the candidate is {kind}, whose layers and code cannot be seen: compare the network "
            "that it was made from"
        )
    elif wrong and not search.differs_by_draws_alone:
        in_order = statement.point(search, in_order)
        # What no statement explains may be its partner in part only, and stands for nothing.
        if not any(JOINED in each.causes for each in in_order):
            in_order += statement.beside(search, layers)
    all_found = search.case, list(layers.values()), in_order, search.notes, ill_posed, search.trees
    return Diagnosis(*all_found, mended=search.mended, eager=search.eager)


def _explained(search: Search, path: str) -> list[str]:
    """The causes of a culprit, in words."""
    try:
        return causes.explain(search, path)
    except Exception as error:  # a trial, as of the reference's layer with other weights
        return [f"why could not be tried out: {raised(error)}"]
