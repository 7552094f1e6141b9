"""What comes back to the quantities that both sides have, and where it is not the same."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from equivalence.statements.calls import Recording, Spot, Statement
from equivalence.statements.same import KnownValue, Quantities, layouts, moved, norm, plain


@dataclass(frozen=True)
class Tensors:
    """The tensors of one side that are one quantity.

    values: their values.
    spots: where calls take them, in order.
    first: the first spots of those that no other of them is made of, with a gradient.
    """

    values: frozenset[int]
    spots: tuple[Spot, ...]
    first: tuple[Spot, ...]

    def leaving(self, recording: Recording) -> list[int]:
        """The calls that make something else of it, in order."""
        numbers = dict.fromkeys(number for number, _ in self.spots)
        return [n for n in numbers if any(v not in self.values for v in recording.calls[n].outputs)]

    def giving(self, recording: Recording) -> Statement | None:
        """The statement that gives it, or takes it first."""
        number, i = self.spots[0]
        source = recording.sources.get((number, i), number)
        return recording.calls[source].statement

    def closed(self, recording: Recording) -> dict[int, Statement | None]:
        """The calls that make something else of it and hand nothing back -> what stops them.

        That is the statement behind which no gradient flows.
        """
        stops: dict[int, Statement | None] = {}
        for number in self.leaving(recording):
            passed = {number, *self.handed(recording, number)}
            shut = [s for s in self.spots if s[0] in passed and s in recording.closed]
            if shut:
                stops[number] = self._stop(recording, shut[0])
        return stops

    def handed(self, recording: Recording, number: int) -> list[int]:
        """The calls that hand it on, unchanged, to a call that takes it; the last first."""
        taken = [spot for spot in self.spots if spot[0] == number]
        return list(dict.fromkeys(n for spot in taken for n in self._before(recording, spot)))

    def _stop(self, recording: Recording, spot: Spot) -> Statement | None:
        for number in self._before(recording, spot):
            if any(s in recording.flows for s in self.spots if s[0] == number):
                return recording.calls[number].statement
        return recording.calls[spot[0]].statement

    def _before(self, recording: Recording, spot: Spot) -> Iterator[int]:
        """The calls that hand it on to a spot, the last first."""
        number = recording.sources.get(spot, -1)
        while number >= 0:
            inside = [s for s in self.spots if s[0] == number]
            if not inside:
                return
            yield number
            number = max(recording.sources.get(s, -1) for s in inside)


@dataclass(frozen=True, eq=False)
class Quantity:
    """A quantity of both sides.

    ours: the candidate's tensors.
    theirs: the reference's.
    """

    ours: Tensors
    theirs: Tensors

    @property
    def uneven(self) -> bool:
        """Whether a tensor of one side stands for several of the other."""
        return len(self.ours.first) != len(self.theirs.first) and bool(self.theirs.first)


@dataclass(frozen=True)
class CotangentDeparture:
    """A quantity of both sides whose cotangent is another one in the candidate.

    quantity: the quantity.
    spot: where the candidate takes its first tensor.
    got, want: the cotangents, in the candidate's layout; of zeros where nothing comes back.
    put: the cotangent of that tensor that makes `want` in all.
    unit: the Euclidean size of one rounding of `want`.
    stopped: whether it is known that the reference stops the gradient there.
    """

    quantity: Quantity
    spot: Spot
    got: np.ndarray
    want: np.ndarray
    put: np.ndarray
    unit: float
    stopped: bool = False


def quantities(
    candidate: Recording, reference: Recording, found: Sequence[Sequence[int]]
) -> list[Quantity]:
    """The quantities of both sides through which gradients flow.

    Tensors of the same content that are made apart are told apart where both sides make as many.

    found: the values of the reference that each value of the candidate is.
    """
    made: list[Quantity] = []
    ours_at, theirs_at = _spots(candidate), _spots(reference)
    for values, numbers in _classes(found):
        ours = _apart(candidate, values, ours_at)
        theirs = _apart(reference, numbers, theirs_at)
        mine, other = ([part for part in side if part.first] for side in (ours, theirs))
        # What nothing comes back to may stand for nothing on the other side.
        alive = _alive(candidate, mine), _alive(reference, other)
        paired = (each for each in ((mine, other), alive) if len(each[0]) == len(each[1]) > 0)
        if pairs := next(paired, None):
            made += map(Quantity, *pairs)
        elif mine and theirs:
            made.append(Quantity(_joined(values, ours), _joined(numbers, theirs)))
    return made


def departure(
    quantity: Quantity, recording: Recording, known: Quantities
) -> CotangentDeparture | bool:
    """How the cotangent of a quantity departs; True if it agrees, False if nothing tells.

    recording: a run of the candidate.
    known: the quantities of the reference.
    """
    spots, there = quantity.ours.first, quantity.theirs.first
    number = _only(recording, spots)
    if number is None:
        return False
    values = recording.values[number]
    got, rest = (total(recording, each, values.shape) for each in (spots, spots[1:]))
    if not there:  # no gradient flows through it in the reference
        zeros = np.zeros(values.shape)
        return CotangentDeparture(quantity, spots[0], got, zeros, -rest, 0.0) if got.any() else True
    theirs = _only(known.recording, there)
    if theirs is None:
        return False
    truth = known.known[theirs]
    pulled = KnownValue(-1, total(known.recording, there, truth.truth.shape), truth.unit_roundoff)
    pulled.spread = sum(known.pulled[spot].spread for spot in there if spot in known.pulled)
    wants = [*moved(values, truth, pulled.truth)]
    if not wants:
        return False
    if any(pulled.equals(plain(got), want) for want in wants):
        return True
    return CotangentDeparture(quantity, spots[0], got, wants[0], wants[0] - rest, pulled.rounding)


def _only(recording: Recording, spots: Sequence[Spot]) -> int | None:
    """The value at these spots; None where there are several, or none."""
    taken = {recording.calls[number].inputs[i] for number, i in spots}
    return taken.pop() if len(taken) == 1 else None


def total(recording: Recording, spots: Sequence[Spot], shape: tuple[int, ...]) -> np.ndarray:
    """What comes back to the tensors at these spots, together."""
    back = [recording.cotangents[spot] for spot in spots if spot in recording.cotangents]
    return sum(back, start=np.zeros(shape))


def reached(recording: Recording, values: Iterable[int], stops: Callable[[int], bool]) -> set[int]:
    """The first values that stop the way forward from some values, these included."""
    ahead, seen, ends = list(values), set(values), set()
    while ahead:
        value = ahead.pop()
        if stops(value):
            ends.add(value)
            continue
        fresh = {v for n in recording.users(value) for v in recording.calls[n].outputs} - seen
        seen |= fresh
        ahead += fresh
    return ends


def _spots(recording: Recording) -> dict[int, list[Spot]]:
    """Value -> where it is taken, as a floating tensor."""
    spots: dict[int, list[Spot]] = {}
    for spot in sorted(recording.flows | recording.closed):
        spots.setdefault(recording.calls[spot[0]].inputs[spot[1]], []).append(spot)
    return spots


def _classes(found: Sequence[Sequence[int]]) -> list[tuple[set[int], set[int]]]:
    """The values of both sides that are one quantity: those that are linked by `found`."""
    classes: list[tuple[set[int], set[int]]] = []
    owner: dict[int, int] = {}
    for value, numbers in enumerate(found):
        if not numbers:
            continue
        joined = sorted({owner[number] for number in numbers if number in owner})
        values, members = {value}, set(numbers)
        for index in joined:
            values |= classes[index][0]
            members |= classes[index][1]
            classes[index] = set(), set()
        owner |= dict.fromkeys(members, len(classes))
        classes.append((values, members))
    return [each for each in classes if each[0]]


def _apart(recording: Recording, values: set[int], at: dict[int, list[Spot]]) -> list[Tensors]:
    """The tensors of these values, apart by what makes the first of each."""
    spots = sorted(spot for value in values for spot in at.get(value, ()))
    origin: dict[Spot, int] = {}
    for spot in spots:
        source = recording.sources.get(spot, -1)
        inner = [
            (source, i)
            for i, value in enumerate(recording.calls[source].inputs if source >= 0 else ())
            if value in values and (source, i) in origin
        ]
        origin[spot] = origin[inner[0]] if inner else source
    by_origin: dict[int, list[Spot]] = {}
    for spot in spots:
        by_origin.setdefault(origin[spot], []).append(spot)
    return [
        Tensors(
            frozenset(values),
            tuple(own),
            tuple(spot for spot in own if spot in recording.flows)[:1],
        )
        for _, own in sorted(by_origin.items())
    ]


def _alive(recording: Recording, parts: Sequence[Tensors]) -> list[Tensors]:
    """Those to which a cotangent comes back."""
    return [part for part in parts if part.first[0] in recording.cotangents]


def _joined(values: set[int], parts: Sequence[Tensors]) -> Tensors:
    spots, first = (
        tuple(sorted(spot for part in parts for spot in each(part)))
        for each in (lambda part: part.spots, lambda part: part.first)
    )
    return Tensors(frozenset(values), spots, first)


def laid_out(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether an array is another one in another layout."""
    most = 1e-5 * norm(one)
    return any(norm(layout - other) <= most for layout in layouts(one, other.shape))


def put(departures: Sequence[CotangentDeparture]) -> dict[Spot, np.ndarray]:
    """The cotangents that put departures right."""
    return {each.spot: each.put for each in departures}
