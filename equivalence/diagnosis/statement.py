"""The statement to blame within a culprit that is no single layer, in words."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from equivalence.comparison import kernels
from equivalence.diagnosis import pattern
from equivalence.diagnosis.causes import (
    JOINED,
    KEPT,
    NAMED,
    ONLY,
    PROVEN,
    kernels_told,
    without_partner,
)
from equivalence.diagnosis.found import SEEN_LATER, LayerError
from equivalence.diagnosis.search import Search
from equivalence.host import devices
from equivalence.judge import tensors
from equivalence.judge.mistake import ENDED
from equivalence.judge.truth import Truth
from equivalence.judge.verdict import judge
from equivalence.sides.accurate import EXACT, AccurateKernels
from equivalence.sides.feed import Feed
from equivalence.sides.mindspore_network import MindSporeNetwork
from equivalence.statements.backward import GradientSearch
from equivalence.statements.blame import Statements
from equivalence.statements.calls import Blame, Effort, framework
from equivalence.statements.lent import lend, weights
from equivalence.statements.mindspore_calls import MindSporeCalls
from equivalence.statements.same import MASKED, plain
from equivalence.words import counted, listed, raised
from equivalence.words import plain as in_plain

Explained = list[tuple[Blame, list[str]]]
"""The statements to blame in a layer, each with the kernels that explain it."""


def point(search: Search, culprits: list[LayerError]) -> list[LayerError]:
    """The culprits, with the statements in which they go wrong; one for each statement.

    They are looked for in code of one's own: of a network or a layer, fed by itself.
    """
    found: list[LayerError] = []
    seen: dict[tuple, list[Explained]] = {}
    effort = Effort()
    for culprit in culprits:
        path = culprit.reference
        cell = search.candidate.cell_at(search.pairs[path])
        known = any(" (reference) " in cause for cause in culprit.causes)  # a setting explains it
        local = search.local(path)
        right = local is None or local.judgement.equal
        foreign = framework(type(cell).__module__)
        alike = seen.setdefault((culprit.kinds, type(cell)), [])
        if known or right or foreign:
            found.append(culprit)
            continue
        blames = []
        with _noted(search):
            blames = _FedLayer(search, path).blames(alike, effort)
        found += [_pointed(search, culprit, *blame) for blame in blames] or [culprit]
    return found


def beside(search: Search, layers: Mapping[str, LayerError]) -> list[LayerError]:
    """The statements that are to blame besides wrong layers, in the code that calls these.

    They are looked for where a network is wrong with the reference's layers in the places of its
    own wrong ones. What is wrong nearest to these comes first, and counts as mended further out.

    layers: path -> layer, for all layers in question.
    """
    mended = search.blame("")
    if mended == [""]:
        return []
    wrong = False
    with _noted(search):
        fed = _FedLayer(search, "", mended)
        wrong = fed.wrong()
        if not (wrong or search.whole.expected.near):  # at kinks gradients tell nothing
            compared = "outputs and gradients" if fed.gradients else "outputs"
            search.mended = f"all {compared} are right"
    found: list[LayerError] = []
    seen: dict[type, list[Explained]] = {}
    effort = Effort()
    for path in _holders(search, mended) if wrong else ():
        if effort.over:
            _note_end(search)
            break
        with _noted(search):
            fed = _FedLayer(search, path, [each for each in mended if _holds(path, each)])
            alike = seen.setdefault(type(fed.network.cell), [])
            if fed.wrong() and (blames := fed.blames(alike, effort)):
                bare = replace(layers[path], causes=[])
                found += [_pointed(search, bare, *blame) for blame in blames]
                mended = [*(each for each in mended if not _holds(path, each)), path]
    if wrong and SEEN_LATER not in search.notes and mended != [""]:
        with _noted(search):
            search.notes += [SEEN_LATER] if _FedLayer(search, "", mended).wrong() else []
    order = {path: number for number, path in enumerate(search.flow.order)}
    return sorted(found, key=lambda each: order.get(each.reference, len(order)))


@contextlib.contextmanager
def _noted(search: Search) -> Iterator[None]:
    """Note what a run raises that cannot be watched, or with another layer in a place: no more."""
    try:
        yield
    except Exception as error:
        note = f"its statements could not be watched: {raised(error)}"
        search.notes += [note] if note not in search.notes else []


def _note_end(search: Search) -> None:
    """Note, once, that a search for statements has ended before all was tried."""
    search.notes += [] if ENDED in search.notes else [ENDED]


def _holders(search: Search, paths: Sequence[str]) -> list[str]:
    """The wrong layers with code of one's own around others, the innermost first."""
    around = [path for path in search.pairs if any(_holds(path, each) for each in paths)]
    own = [
        path
        for path in around
        if search.wrong(path)
        and not framework(type(search.candidate.cell_at(search.pairs[path])).__module__)
    ]
    return sorted(own, key=lambda path: -len(path.split(".")) if path else 0)


def _holds(path: str, other: str) -> bool:
    """Whether a layer is around another one."""
    return path != other and (not path or other.startswith(f"{path}."))


class _FedLayer:
    """A layer of the candidate that is fed by itself, in PyNative mode.

    mended: the wrong layers within it, in whose places the reference's compute.
    forward: whether outputs are wrong. state: the wrong buffers. off_backward: whether gradients
    are wrong.
    """

    def __init__(self, search: Search, path: str, mended: Sequence[str] = ()):
        self.search, self.path, local = search, path, search.measured(path)
        self.measurement = replace(
            search.measurement, network=search.reference.part(path), sample=local.sample
        )
        cells = {
            _below(search.pairs[each], search.pairs[path]): _below(each, path) for each in mended
        }
        lent = weights(self.measurement, cells.values())
        gone = {tensors.parameter_gradient(name) for name in lent}
        self.expected = Truth({n: t for n, t in local.expected.items() if n not in gone})
        partners, outputs = search.local_names(path, search.partners), self.expected.pulled_back
        self.feed = Feed(local.sample, partners, search.case.phase, outputs)
        self.lent = lend(self.measurement, cells, path, search.laid)
        off = [v.name for v in local.judgement.differing if not v.equal]
        backward = [name for name in off if tensors.of_gradient(name)]
        self.state = [name for name in off if name.startswith(tensors.buffer(""))]
        self.off_backward = bool(backward)
        self.forward = len(off) > len(backward) + len(self.state)

    @property
    def gradients(self) -> bool:
        """Whether any gradient is compared."""
        return any(map(tensors.of_gradient, self.expected))

    @property
    def network(self) -> MindSporeNetwork:
        """The candidate's, which has not run: compiled ones are left alone."""
        network = self.search.candidate.part(self.search.pairs[self.path], "pynative")
        for layer in self.lent.values():
            layer.replay = network.draws.replay
        return network

    def wrong(self) -> bool:
        """Whether outputs or gradients are wrong, by more than rounding may explain."""
        network = self.network
        watch = MindSporeCalls(network.cell, recorded=False, lent=self.lent)
        with kernels.replacing(self.search.accurate), watch:
            trace = network.run(self.feed)
        trace, _ = tensors.by_order(self.expected, trace)
        expected = {
            name: tensor
            for name, tensor in self.expected.items()
            if name.startswith(("output.", "gradient:"))
        }
        judgement = judge(
            expected,
            {n: trace[n].astype(t.dtype) for n, t in expected.items() if n in trace},
            self.measurement.unit_roundoff,
        )
        off = [v.name for v in judgement.differing if not v.equal]
        self.forward = any(name.startswith("output.") for name in off)
        # The other branch of a kink gives other gradients, and is right.
        return self.forward or (bool(off) and not self.search.whole.expected.near)

    def blames(self, alike: list[Explained], effort: Effort) -> Explained:
        """The statements to blame, each with what explains it.

        alike: those of other layers of its class; where it runs the same ones, these are wrong in
            it, too, and nothing is searched for. What is found is added.
        effort: what was done for other layers; once it is over, nothing is searched for.
        """
        blames = next(filter(self._goes_through, alike), None)
        if blames is None and effort.over:
            _note_end(self.search)
            return []
        if blames is None:
            with kernels.replacing(self.search.accurate):
                blames = self._searched(effort)
            alike += [blames] if blames else []
        return blames

    def _goes_through(self, blames: Explained) -> bool:
        """Whether it runs statements that are to blame."""
        if any(blame.backward == self.forward for blame, _ in blames):
            return False
        network = self.network
        watch = MindSporeCalls(network.cell)
        with watch:
            network.run(replace(self.feed, outputs={}))
        places = {call.statement.place for call in watch.recording.calls if call.statement}
        return all(blame.statement.place in places for blame, _ in blames)

    def _searched(self, effort: Effort) -> Explained:
        if self.forward:
            return self._forward(effort)
        found = self._forward(effort, self.state) if self.state else []
        if found and not self.off_backward:
            return found
        gradients = GradientSearch(
            self.measurement, self.network, self.feed, self.expected, self.lent
        )
        backward: Explained = [(blame, []) for blame in gradients.blame()]
        effort.done += gradients.effort.done
        if gradients.effort.over and not backward:
            _note_end(self.search)
        if backward and not self.path:
            self.search.mended = "all gradients are right"
        return found + backward

    def _forward(self, effort: Effort, state: Sequence[str] = ()) -> Explained:
        """The statements to blame for wrong outputs, or for what is left in these buffers."""
        network, forward = self.network, replace(self.feed, outputs={})
        statements = Statements(self.measurement, network, forward, self.lent, state)
        blames = [_drawing(blame, network) for blame in statements.blame()]
        effort.done += statements.effort.done
        if statements.effort.over and not statements.mended:
            _note_end(self.search)
        if blames and not statements.mended:
            self.search.notes.append(SEEN_LATER)
        elif blames and not self.path:
            self.search.mended = f"all {'buffers' if state else 'outputs'} are right"
        return [(blame, _kernel(self.search, statements, blame)) for blame in blames]


def _below(path: str, holder: str) -> str:
    """A path as seen from a layer that holds it. Raises ValueError where it does not."""
    if holder and not path.startswith(f"{holder}."):
        raise ValueError(f"{path} is not in {holder}")
    return path.removeprefix(f"{holder}.") if holder else path


def _drawing(blame: Blame, network: MindSporeNetwork) -> Blame:
    """The same; where a statement uses what is drawn, with the line that draws it."""
    replay = network.draws.replay
    if replay is None or not blame.constant or blame.name:
        return blame
    mask, size = np.unique(blame.got).size <= 2, blame.got.size
    drawn = [each for each in replay.drawn if (each.p is not None) == mask and each.size == size]
    lines = {each.line for each in drawn}
    here = blame.statement.place
    return replace(blame, drawn=here if here in lines else min(lines, default=""))


def _kernel(search: Search, statements: Statements, blame: Blame) -> list[str]:
    """The inaccurate kernel with an accurate one for which a statement is right; else nothing."""
    device = devices.place(search.case.device).runs_on
    if search.mistaken or device != "cpu" or blame.operator not in EXACT or blame.takes:
        return []
    accurate = AccurateKernels([blame.operator])
    with accurate:
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
    alone = without_partner(search, culprit.reference, code)
    *own, against = _causes(blame, KEPT in exact)
    causes = kernel or [*exact, *own, against, *others, *alone]
    words = [*map(in_plain, exact), *own, _values(blame), *map(in_plain, alone)]
    return replace(
        layer,
        statement=_title(blame),
        counterpart=str(blame.counterpart or ""),
        causes=causes,
        words=[] if kernel else [*filter(None, words)],
    )


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
        places = dict.fromkeys(each.place for each in blame.takes)
        title += f", or what it takes from {listed([*places], 3)}"
    if blame.further:
        title += f", or what follows in {listed([each.place for each in blame.further], NAMED)}"
    return title


def _causes(blame: Blame, kept: bool = False) -> list[str]:
    """Why a statement is to blame. kept: whether it takes what an earlier call has left."""
    if blame.by_hand:
        lines = ["the result is right; the gradient that is made by hand here is not"]
    elif blame.backward:
        lines = ["its result is right; the gradient that it passes back is not"]
    elif blame.number is not None and blame.calls is not None:
        function, original = f"{blame.calls.place} ({blame.calls.text})", blame.number.want
        verb = "its default is" if blame.statement.text.startswith("def ") else "it hands"
        to = f"{'for' if verb != 'it hands' else 'to'} {function}"
        lines = [f"{verb} {blame.number} {to}, which is right with the original's {original!r}"]
    elif blame.hands and blame.calls is not None:
        function = f"{blame.calls.place} ({blame.calls.text})"
        lines = [f"it hands another value to {function}, which is right with the reference's"]
    elif blame.calls is not None and blame.right_from is not None:
        calls, elsewhere = f"{blame.calls.place} ({blame.calls.text})", blame.right_from.place
        lines = [f"it calls {calls}, which is right when {elsewhere} calls it"]
    elif blame.misplaced is not None:
        takes = f"{blame.misplaced.place} ({blame.misplaced.text})"
        lines = [f"it takes what {takes} gives, and the original another value"]
    elif blame.order:
        belong = listed([str(each) for each in blame.order], len(blame.order))
        lines = [f"its results, counted from 0, belong in the order {belong}"]
    elif kept:
        lines = []
    elif blame.exchanged is not None:
        other = blame.exchanged.place
        same = other == blame.statement.place
        what = "two of its results stand" if same else f"its result and that of {other} stand"
        lines = [f"{what} in each other's place"]
    elif blame.constant:
        where = _apart(blame.got, blame.want)
        name = blame.name or "a constant"
        lines = [f"it uses {name}, which is another one in the original{where}"]
        if blame.drawn:
            drawn = f"it takes the random numbers of {blame.drawn}, and the original others"
            if blame.drawn == blame.statement.place:
                drawn = "it draws other random numbers than the original"
            lines = [f"{drawn}{where}"]
    elif blame.agrees is not None:
        lines = [f"its result is that of {blame.agrees.place}, and the original goes on from there"]
    elif blame.takes or blame.written:
        lines = []
    else:
        once = f", once {listed(blame.after)} {'are' if len(blame.after) > 1 else 'is'} mended"
        lines = ["what goes in is the same" + (once if blame.after else "")]
    if blame.written:
        told = f"it takes a value as it was; the original has changed it in place: {blame.written}"
        lines.insert(0, told)
    if blame.statement.direct and blame.statement.caller is not None:
        lines.append(f"called from {blame.statement.caller.place}")
    got, want = _unmasked(blame.got, blame.want)
    shape = pattern.describe(got, want, blame.unit) or "no simple difference"
    if blame.counterpart is None:
        lines.append(f"against the reference's value: {shape}")
    else:
        lines.append(f"against {blame.counterpart.place} ({blame.counterpart.text}): {shape}")
    return lines


def _values(blame: Blame) -> str:
    """How the values of both sides differ, in plain words; "" where another cause has said it."""
    got, want = (v.astype(float) if v.dtype.kind in "biu" else v for v in (blame.got, blame.want))
    if blame.constant or blame.order or blame.number:
        return ""
    if got.shape != want.shape:
        return f"the original gives the shape {want.shape} where the port gives {got.shape}"
    whose = "the gradient" if blame.backward else "its result"
    odd = (got != want) & ~((got != got) & (want != want))
    mine, theirs = np.unique(got[odd]), np.unique(want[odd])
    if mine.size == theirs.size == 1:
        count = counted(int(odd.sum()), "element")
        back = " back" if blame.backward else ""
        given = f"the original gives{back} {theirs[0]:.6g} in {count}"
        return f"{given} where the port gives {mine[0]:.6g}"
    shape = in_plain(pattern.describe(*_unmasked(got, want), blame.unit) or "")
    place, mine, theirs = _farthest(got, want)
    values = f"{mine:.6g} where the original's is {theirs:.6g}"
    return f"{place}{whose} is {values}{f' ({shape})' if shape else ''}"


def _apart(got: np.ndarray, want: np.ndarray) -> str:
    """Both values where they differ most, as the end of a sentence; "" for other shapes."""
    if got.shape != want.shape or not got.size:
        return ""
    place, mine, theirs = _farthest(got, want)
    return f": {place}{mine:.6g} for {theirs:.6g}"


def _farthest(got: np.ndarray, want: np.ndarray) -> tuple[str, Any, Any]:
    """Where two values of one shape differ most, as the beginning of a phrase, and both there."""
    at = np.unravel_index(np.argmax(np.abs(plain(got) - plain(want))), got.shape)
    place = f"at {tuple(map(int, at))}, " if got.size > 1 else ""
    return place, got[at], want[at]


def _unmasked(got: np.ndarray, want: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both values; what is masked on both sides is zero, as it tells nothing."""
    if got.shape != want.shape:
        return got, want
    mine, theirs = plain(got), plain(want)
    both = (mine == MASKED) & (theirs == MASKED)
    if not both.any():
        return got, want
    return np.where(both, 0.0, mine), np.where(both, 0.0, theirs)
