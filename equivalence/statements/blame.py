"""Finds the statement to blame, by putting the reference's values in the candidate's place.

The values of the candidate that are no quantity of the reference, and that its wrong outputs are
made of, are wrong or computed in another way. From the first on, each is replaced by what the
reference has there, and the candidate runs again. Where its outputs then are right, all code behind
is right, and so is what the statement takes: the statement is to blame. What is computed in
another way, and rightly, is thereby never blamed.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from equivalence.judge.precision import BUDGET
from equivalence.statements.calls import Blame, Code, Statement, alike, content
from equivalence.statements.handed import Handing, handed
from equivalence.statements.mindspore_calls import Swap
from equivalence.statements.same import KnownValue, norm, plain
from equivalence.statements.series import Trial, ValueSeries, runs
from equivalence.statements.shapes import first_in_another_shape, squeezed
from equivalence.statements.watched import Watched, equal

TRIED = 40
"""At most this many values of the candidate are replaced, one at a time."""

MISTAKES = 4
"""At most this many mistakes, one behind the other, are told apart."""


Step = tuple[Blame, dict[Swap, np.ndarray]]
"""A statement to blame, and the values that mend it."""


def _sources(blame: Blame) -> tuple[Statement, ...]:
    """The statements that may be wrong in the place of one, too."""
    return (*blame.takes, blame.misplaced) if blame.misplaced else blame.takes


def _rivals(misplaced: Blame, found: Blame) -> bool:
    """Whether a statement that may seem to take a value in a wrong place is wrong itself.

    It seems so, too, where another operator gives the same of the value that it is to give, as an
    absolute value does of a ReLU's.
    """
    if alike(misplaced.misplaced, found.statement):
        return True
    same = alike(misplaced.statement, found.statement)
    return same and content(misplaced.want) == content(found.want)


class Statements(Watched):
    """The search for the statements to blame.

    mended: after it, whether all outputs are right once all statements to blame are mended.
    """

    def blame(self) -> list[Blame]:
        """The statements whose results, replaced by the reference's, mend all outputs.

        There are several where one alone mends some outputs, or only what is made of it up to
        another one. Each is the first of what is left when those before it are mended.
        """
        self.series = ValueSeries(self)
        self.replaced: dict[Swap, np.ndarray] = {}
        self._tries: dict[frozenset, set[int]] = {}
        self.mended = self.right(self.trace)
        found: list[Blame] = []
        for _ in range(MISTAKES):
            if self.mended:
                break
            self.agreeing = self.matching(self.outputs)
            step = self._step()
            if step is None:
                break
            spots = step[1]
            blame = self._at_call(step[0], spots)
            if not any(alike(blame.statement, each.statement) for each in found):
                after = self._mended_before(spots, found)
                written = self.written(blame.statement, blame.counterpart)
                found.append(replace(blame, after=after, written=written))
            self.replaced |= spots
            self._tries = {}
            self.mended = self._agreeing({}) == self._all
            if not self.mended:
                self.look(self.replaced)
        if self.mended:
            return found
        # What was not tried with all else right is not said.
        return [replace(each, misplaced=None, takes=_sources(each)) for each in found]

    @property
    def _all(self) -> set[int]:
        return {*range(len(self.expected))}

    def _step(self) -> Step | None:
        """The first statement whose result, replaced by the reference's, mends what it can.

        What it takes may be right by itself, but in the place of another value, such as that before
        a residual which is not added.
        """
        suspects = self._suspects()
        if step := self._of_two(suspects, 2):  # a loop has many values, of which each is wrong
            return step
        trial, mends = self._first(suspects)
        if step := self._shaped(trial, mends):
            return step
        found = self._told(trial)
        plain = found is not None and not found.takes
        if not (plain and mends == self._all) and (step := self._exchanged(suspects)):
            return step
        if found is not None and plain:
            suspects = [v for v in suspects if alike(self.statement(v), found.statement)]
            return self._rather(self._misplaced(suspects, mends, found), found, trial)
        # One mistake that explains all is likelier than two.
        if step := self._rather(self._misplaced(suspects, self._all, found), found, []):
            return step
        tried = {value for value, _, _ in trial}
        before = list(itertools.takewhile(lambda value: value not in tried, suspects))
        earlier = self._progress(before) or self._progress(self._taken(suspects))
        if blame := self._told(earlier):
            return blame, self._places(earlier)
        return (found, self._places(trial)) if found else self._misplaced(suspects, mends, found)

    def _rather(
        self, misplaced: Step | None, blame: Blame | None, trial: Sequence[Trial]
    ) -> Step | None:
        """A value in a wrong place, but not where the statement to blame gives it."""
        if misplaced and not (blame and _rivals(misplaced[0], blame)):
            return misplaced
        return (blame, self._places(trial)) if blame and trial else None

    def _first(self, suspects: Sequence[int]) -> tuple[list[Trial], set[int]]:
        """The first trial that mends all outputs, or, if none does, some; and what then agree.

        A single wrong output is come to from behind, too: much may be computed in another way
        before the mistake.
        """
        some: list[Trial] = []
        mends: set[int] = set()
        single = len(self._all - self.agreeing) == 1
        limit = self.effort.limit
        halfway = (self.effort.done + limit) / 2.0
        for trial, agreeing in self._tried(suspects, halfway if single else limit):
            if agreeing == self._all:
                return trial, self._all
            if not some and agreeing > self.agreeing:
                some, mends = trial, agreeing
        if single and not some:
            for trial, agreeing in self._tried(suspects[::-1], limit):
                if agreeing == self._all and trial[0][0] not in [value for value, _, _ in some]:
                    some, mends = trial, agreeing
        return some, mends

    def _tried(self, values: Sequence[int], limit: float) -> Iterator[tuple[list[Trial], set[int]]]:
        """What may stand in the places of values, and the outputs that then agree."""
        for value in itertools.islice(filter(self.counterparts, values), TRIED):
            for trial in self._trials(value):
                if self.effort.done > limit:
                    return
                yield trial, self._agreeing(self._places(trial))

    def _trials(self, value: int) -> Iterator[list[Trial]]:
        """What may stand in the place of a value, and of those beside it."""
        yield from ([(value, *trial)] for trial in self.counterparts(value))
        yield from self.series.together(value)

    def _progress(self, suspects: Sequence[int]) -> list[Trial]:
        """The first trial that brings quantities of the reference which the candidate had not.

        They must be given by other statements: so these go on rightly, and another is wrong, too.
        """
        for value in suspects:
            best: tuple[int, list[Trial]] = 0, []
            for trial in self._trials(value):
                if self.effort.over:
                    return []
                if not any(known.number in self.had for _, known, _ in trial):
                    best = max(best, (len(self._brought(trial)), trial), key=lambda b: b[0])
            if best[1]:
                return best[1]
        return []

    def _brought(self, trial: Sequence[Trial]) -> set[int]:
        """The quantities that other statements give in a trial, and that no value was before."""
        try:
            recording = self.run(self.replaced | self._places(trial), recorded=True)[0]
        except Exception:  # the values cannot stand there
            return set()
        value = trial[0][0]
        still = {number for values in recording.values for number in self.find(values)[0]}
        if value in self.settled and not self.had <= still.union(self.found[value]):
            return set()  # it is right for some that take it
        own = {number for _, _, want in trial for number in self.find(want)[0]}
        statement = self.statement(value)
        given = {
            each
            for call in recording.calls
            if not alike(call.statement, statement)
            for each in call.outputs
        }
        # Whole numbers, as of masks and places, agree by chance.
        telling = (v for v in map(recording.values.__getitem__, given) if (v != np.round(v)).any())
        return {number for v in telling for number in self.find(v)[0]} - self.had - own

    def _mended_before(
        self, spots: Mapping[Swap, np.ndarray], found: Sequence[Blame]
    ) -> tuple[str, ...]:
        """What is mended of what places are computed from: statements, and lent layers."""
        ahead = [number for number, _, _ in spots]
        seen = set(ahead)
        while ahead:
            fresh = self.candidate.made_by(ahead.pop()) - seen
            seen |= fresh
            ahead += fresh
        replaced = {number for number, _, _ in self.replaced}
        statements = [each.statement.place for each in found] if seen & replaced else []
        names = {self.candidate.calls[number].name for number in seen}
        return (*statements, *(each.name for each in self.lent.values() if each.name in names))

    def _taken(self, suspects: Sequence[int]) -> list[int]:
        """The values of the reference that suspects are made of.

        One may stand in the place of another, as of what it is a part of.
        """
        calls, producers = self.candidate.calls, self.candidate.producers
        taken = dict.fromkeys(v for n in self.leading(suspects) for v in calls[n].inputs)
        return [
            v
            for v in taken
            if v in self.settled and v in producers and self.candidate.values[v].size > 1
        ]

    def _misplaced(
        self, suspects: Sequence[int], mends: set[int], found: Blame | None
    ) -> Step | None:
        """A right value that suspects are made of, where the reference has one of its own.

        mends: the outputs that agree with the reference's value there, at least.
        found: the statement to blame else.
        """
        numbers, tried = self.leading(suspects), 0
        lacking = self.lacking(found.counterpart if found else None)
        for trial in self._instead(self._taken(suspects), lacking, numbers):
            places = self._taking(trial, numbers)
            tried += bool(places)
            if tried > 4 * TRIED or self.effort.over:
                return None
            agreeing = self._agreeing(places) if places else set()
            mended = agreeing > self.agreeing and agreeing >= mends
            if mended and (blame := self._told_misplaced(trial, places)):
                return self._at_source(trial, places, agreeing) or (blame, places)
        return None

    def _at_source(
        self, trial: Sequence[Trial], taken: Iterable[Swap], mends: set[int]
    ) -> Step | None:
        """The statement that gives a value, where the reference makes the other one of the same.

        The statement is then wrong itself, as by a sign, a mask or a bound that never bites, if
        that mends as much.

        taken: where the value stands in its wrong place.
        """
        belongs = {value: (known, want) for value, known, want in trial}
        calls, spots, sources = self.candidate.calls, {}, {}
        for number, _, position in taken:
            value = calls[number].inputs[position]
            first = self.candidate.producers.get(value)
            source = self.candidate.sources.get((number, position), first)
            known, want = belongs[value]
            theirs = self.quantities.recording.producers.get(known.number)
            if source is None or theirs is None:
                return None
            if not self._makes_of_the_same(source, theirs):
                if belongs.keys() & {*calls[source].inputs}:
                    continue  # it is made of another one, and right once that is
                return None
            sources[value] = source
            spots[source, "output", calls[source].outputs.index(value)] = want
        mended = bool(spots) and self._agreeing(spots) >= mends
        blame = self._told(trial, sources) if mended else None
        return (blame, spots) if blame else None

    def _makes_of_the_same(self, ours: int, theirs: int) -> bool:
        """Whether a call, or its statement, takes all that the reference's takes."""
        one, other = self.candidate, self.quantities.recording
        pairs = (
            (one.calls[ours].inputs, {*other.calls[theirs].inputs}),
            (one.made_of(ours), other.made_of(theirs)),
        )
        return any(
            want and want <= {n for value in taken for n in self.found[value]}
            for taken, want in pairs
        )

    def _instead(
        self, values: Sequence[int], lacking: Sequence[KnownValue], numbers: Sequence[int]
    ) -> Iterator[list[Trial]]:
        """What may stand in the place of values that calls take, alone and each time it is made.

        What the reference makes of a value comes first: an operator may be missing.

        lacking: the values of the reference to try.
        """
        calls = self.candidate.calls
        pairs = [
            (value, known, want)
            for value in values
            for known in lacking
            if (want := self.instead(value, known)) is not None
        ]
        direct = [trial for trial in pairs if self.makes(*trial[:2])]
        yield from self._each(direct)
        taken = {v for n in numbers for v in calls[n].inputs}
        for value in values:
            made = (calls[n].outputs for n in runs(self.candidate, self.candidate.producers[value]))
            same = dict.fromkeys(v for each in made for v in each if v in taken)
            yield self.series.alike(same, lacking)
        yield from self._each(trial for trial in pairs if not self.makes(*trial[:2]))

    def _each(self, trials: Iterable[Trial]) -> Iterator[list[Trial]]:
        """One value for another, each time that it is made, and alone."""
        for value, known, want in trials:
            if made := self.series.of(value, known):
                yield made
            yield [(value, known, want)]

    def _taking(self, trial: Sequence[Trial], numbers: Sequence[int]) -> dict[Swap, np.ndarray]:
        """What calls take in a trial: where, and what."""
        return {
            (n, "input", i): want
            for value, _, want in trial
            for n in numbers
            for i, v in enumerate(self.candidate.calls[n].inputs)
            if v == value
        }

    def _exchanged(self, suspects: Sequence[int]) -> Step | None:
        """A call whose results are right, but for their order."""
        for order, trial in self.series.exchanged(self.leading(suspects)):
            if self.effort.over:
                break
            places = self._places(trial)
            if self._agreeing(places) == self._all and (blame := self._told(trial)):
                return replace(blame, agrees=None, order=order), places
        return self._of_two(suspects, 1)

    def _of_two(self, suspects: Sequence[int], times: int) -> Step | None:
        """Two calls whose results stand in each other's place, and run so often at least."""
        for trial in self.series.exchanges(self.leading(suspects), times):
            if self.effort.over:
                break
            places = self._places(trial)
            if self._agreeing(places) == self._all and (blame := self._told(trial[:1])):
                other = self.statement(trial[1][0])
                return replace(blame, agrees=None, takes=(), exchanged=other), places
        return None

    def _told_misplaced(self, trial: Sequence[Trial], places: Iterable[Swap]) -> Blame | None:
        """The first statement that takes a value in a wrong place."""
        calls, (number, _, position) = self.candidate.calls, next(iter(places))
        value = calls[number].inputs[position]
        known, want = next(each[1:] for each in trial if each[0] == value)
        before = (call.statement for call in reversed(calls[:number]) if value in call.outputs)
        statement, source = calls[number].statement, next(before, None)
        if statement is None or alike(source, statement):
            return None
        counterpart = self.quantities.recording.statement_of(known.number)
        values = self.candidate.values[value]
        return Blame(statement, counterpart, values, want, known.rounding, misplaced=source)

    def _places(self, trial: Sequence[Trial]) -> dict[Swap, np.ndarray]:
        """What stands where in a trial."""
        return {spot: want for value, _, want in trial for spot in self.spots(value)}

    def _agreeing(self, places: Mapping[Swap, np.ndarray]) -> set[int]:
        """The outputs that are right with these values in their places, and those before."""
        key = frozenset((spot, content(values)) for spot, values in places.items())
        if key not in self._tries:
            try:
                trace = self.run({**self.replaced, **places}, recorded=False)[1]
                self._tries[key] = self.matching(self.results(trace))
            except Exception:  # the values cannot stand there
                self._tries[key] = set()
        return self._tries[key]

    def _suspects(self) -> list[int]:
        """The values that wrong outputs are made of and the reference has not, in order.

        One that it has in another layout only is suspected, too: it may be laid out wrongly.
        """
        suspects: dict[int, int] = {}
        wrong = [
            self.candidate.value(out)
            for out, known in zip(self.outputs, self.expected, strict=False)
            if not equal(known, out)
        ]
        ahead, seen = list(wrong), set(wrong)
        while ahead:
            value = ahead.pop()
            first = self.candidate.producers.get(value)
            if first is None:
                first = min(self.candidate.users(value), default=0)
            suspects[value] = first
            # It may be a part of what was joined before: each call that gives it counts.
            taken = dict.fromkeys(v for n in self.candidate.giving(value) for v in n.inputs)
            fresh = [v for v in taken if v not in seen and not self.settles(v)]
            seen.update(fresh)
            ahead += fresh
        inner = self.inner(suspects, TRIED) - {*wrong}
        every = (v for v in suspects if v not in inner)
        return sorted(every, key=lambda v: (suspects[v], v in self.candidate.producers))

    def _told(self, trial: Sequence[Trial], sources: Mapping[int, int] = {}) -> Blame | None:
        """The statement to blame in a trial. sources: value -> the call that gives it, if known."""
        if not trial:
            return None
        producers, calls = {**self.candidate.producers, **sources}, self.candidate.calls
        # What one statement gives another may give before it.
        lines = [
            calls[sources[value]].statement if value in sources else self.statement(value)
            for value, _, _ in trial
        ]
        common = max(range(len(trial)), key=lambda i: sum(alike(lines[i], e) for e in lines))
        (value, known, want), statement = trial[common], lines[common]
        if statement is None:
            return None
        takes = self._takes(trial, statement)
        number = producers.get(value, -1)
        call = calls[number] if number >= 0 else None
        agrees = self._agrees(value)
        return Blame(
            (agrees and statement.outer) or statement,
            self.origin(known, value, statement),
            self.candidate.values[value],
            want,
            known.rounding,
            tuple(sorted(takes, key=lambda each: each.line)),
            call is None,
            "" if call else self.candidate.names.get(value, ""),
            operator=call.name if call else "",
            at=(number, call.outputs.index(value) if call else 0),
            agrees=agrees,
        )

    def _at_call(self, blame: Blame, spots: Mapping[Swap, np.ndarray]) -> Blame:
        """The call of a function to blame, where the same layer calls it rightly elsewhere."""
        here = blame.statement
        if here.caller is None or blame.agrees or blame.exchanged or blame.order:
            return blame
        if by_number := self._number(blame, spots):
            return by_number
        if blame.takes:
            return (here.direct and self._handed(blame, spots)) or blame
        put_right = {number for number, _, _ in spots}
        elsewhere = [
            number
            for number, call in enumerate(self.candidate.calls)
            if call.name == blame.operator
            and number not in put_right
            and (there := call.statement) is not None
            and alike(there, here)
            and there.layer == here.layer
            and there.caller is not None
            and not alike(there.caller, here.caller)
        ]
        # Another call may be wrong because of what this one gives.
        mended = self.run({**self.replaced, **spots})[0] if elsewhere else self.candidate
        for number in elsewhere:
            given = [mended.values[v] for v in mended.calls[number].outputs]
            if all(self.find(values)[0] for values in given):
                there = self.candidate.calls[number].statement
                right_from = there.caller if there else None
                return replace(blame, statement=here.caller, calls=here, right_from=right_from)
        return (here.direct and self._handed(blame, spots)) or blame

    def _number(self, blame: Blame, spots: Mapping[Swap, np.ndarray]) -> Blame | None:
        """The call that hands a function another number than the reference has there, or None.

        With that number in its place the function is right: all that its result mends is.
        """
        here, mends = blame.statement, self._agreeing(spots)
        code = Code(dict(self.network.cell.cells_and_names()))
        for number in handed(here, blame.counterpart):
            if self.effort.over or not mends > self.agreeing:
                break
            with Handing(code, here, number) as handing:
                try:
                    trace = self.run(self.replaced, recorded=False)[1]
                except Exception:  # the number cannot stand there
                    continue
            if handing.origin and self.matching(self.results(trace)) >= mends:
                return replace(
                    blame, statement=handing.origin, calls=here, hands=True, number=number, takes=()
                )
        return None

    def _handed(self, blame: Blame, spots: Mapping[Swap, np.ndarray]) -> Blame | None:
        """The call that hands a function another value than the reference takes there, or None.

        With that value in its place the function is right: all that its result mends is.
        """
        here, calls = blame.statement, self.candidate.calls
        within = {
            number
            for number, call in enumerate(calls)
            if call.statement and here.caller == call.statement.caller
        }
        given = {v for number in within for v in calls[number].outputs}
        handed = dict.fromkeys(
            v
            for number in sorted(within)
            for v in calls[number].inputs
            if v not in given and self.candidate.values[v].size > 1
        )
        every = self.quantities.recording.calls
        there = [call for call in every if alike(call.statement, blame.counterpart)]
        # What the function is to make is no argument, though it may pass through it unchanged.
        taken = {v for call in there for v in call.inputs}.difference(*(c.outputs for c in there))
        arguments = [k for k in self.lacking(blame.counterpart) if k.number in taken]
        mends = self._agreeing(spots)
        for value in handed:
            for known in arguments:
                want = None if self.effort.over else self.instead(value, known)
                if want is None:
                    continue
                places = {
                    (number, "input", i): want
                    for number in within
                    for i, v in enumerate(calls[number].inputs)
                    if v == value
                }
                if mends > self.agreeing and self._agreeing(places) >= mends:
                    return replace(
                        blame,
                        statement=here.caller or here,
                        calls=here,
                        hands=True,
                        got=self.candidate.values[value],
                        want=want,
                        unit=known.rounding,
                        takes=(),
                    )
        return None

    def _shaped(self, trial: Sequence[Trial], mends: set[int]) -> Step | None:
        """The statement that first gives another shape than the reference, of what it returns.

        Up to axes of length one all values up to the network's result are then right.
        """
        if len(trial) != 1:
            return None
        (value, _, want), truths = trial[0], self.quantities.recording.values
        values, same = self.candidate.values[value], map(truths.__getitem__, self.found[value])
        longer = values.shape != want.shape and squeezed(values) == squeezed(want)
        if not (longer and self._agrees(value) and any(np.array_equal(t, want) for t in same)):
            return None
        first = list(trial)
        if earlier := first_in_another_shape(self.candidate, self.found, truths, value):
            taken, number = earlier
            first = [(taken, self.quantities.known[number], truths[number])]
        places = self._places(first)
        blame = self._told(first) if self._agreeing(places) >= mends else None
        return (replace(blame, agrees=None), places) if blame else None

    def _agrees(self, value: int) -> Statement | None:
        """The reference's statement that gives the very values that the network returns."""
        out = value in map(self.candidate.value, self.outputs)
        if not (out and value in self.settled and self.found[value]):
            return None
        return self.quantities.recording.statement_of(self.found[value][0])

    def gives(self, blame: Blame) -> bool:
        """Whether a run, such as one with an accurate kernel, gives what a statement is to give.

        What the other statements to blame give is put right.
        """
        number, position = blame.at
        recording = self.run({s: v for s, v in self.replaced.items() if s[0] != number})[0]
        values = recording.values[recording.calls[number].outputs[position]]
        error = norm(plain(values) - plain(blame.want))
        return error <= BUDGET * blame.unit

    def _takes(self, trial: Sequence[Trial], statement: Statement) -> set[Statement]:
        """The other statements that give what values are made of and the reference has not."""
        producers = self.candidate.producers
        made = {producers[value] for value, _, _ in trial if value in producers}
        takes = self.open_ends(made, statement)
        if takes and len(made) > 1:
            # The statement runs more than once: what it takes may come from its run before.
            with self.looking(self.replaced | self._places(trial)):
                takes &= self.open_ends(made, statement)
        return takes
