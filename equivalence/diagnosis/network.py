"""Which layers of a network to blame, and why: `Search` finds them, `causes` explains them.

From the network downwards, each layer is fed the reference's own input and judged by itself, with
the same budget. A layer is to blame if it exceeds the budget and none of the layers within it
does: it is a leaf, or a network whose own code joins right layers wrongly.
"""

from equivalence.diagnosis import causes, detached, statement
from equivalence.diagnosis.causes import JOINED
from equivalence.diagnosis.found import Diagnosis
from equivalence.diagnosis.search import Search


def diagnose(search: Search, every: bool = False) -> Diagnosis:
    """Find the layers that are wrong by themselves, and why.

    every: measure every layer by itself, not only those on the way to a culprit.
    """
    inherited = search.observe()
    order = [path for path in search.flow.order if path in search.pairs]
    if every:
        for path in order:
            search.local(path)
    ill_posed = search.local("").judgement.ill_posed
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
    for path in culprits:
        laws = drawing.get(path, [])
        why = [] if search.differs_by_draws_alone else causes.explain(search, path)
        if search.keeps_state:
            why = [causes.KEPT, *(cause for cause in why if cause != JOINED)]
        layers[path].causes = [*laws, *why]
    in_order = [layers[path] for path in order if path in culprits]
    if wrong and not search.differs_by_draws_alone:
        in_order = statement.point(search, in_order)
        # What no statement explains may be its partner in part only, and stands for nothing.
        if not any(JOINED in each.causes for each in in_order):
            in_order += statement.beside(search, layers)
    return Diagnosis(
        search.case, list(layers.values()), in_order, search.notes, ill_posed, search.trees
    )
