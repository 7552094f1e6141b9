"""What became of two trainings on ranks, and all that is said of it. Imports no framework."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from equivalence.ranks.hints import of_ranks
from equivalence.scripts import text
from equivalence.scripts.compare import TrainingsResult
from equivalence.scripts.judging import STAGES
from equivalence.words import counted


@dataclass(frozen=True)
class RanksResult:
    """What became of two trainings on ranks; true where no rank differs.

    results: of each rank of the candidate. ranks: how many the reference has.
    one_process: whether the reference is one process, whatever it was started as.
    cut: whether the ranks of one side have parts of the batches of the other, one process.
    hint: what explains the first departure; "" where nothing is known.
    """

    results: Sequence[TrainingsResult]
    one_process: bool
    ranks: int = 1
    cut: bool = False
    hint: str = ""

    def __bool__(self) -> bool:
        return all(map(bool, self.results))

    def __str__(self) -> str:
        return "\n".join(self.lines)

    @property
    def first(self) -> int | None:
        """The rank that departs first; None where none does."""

        def place(rank: int) -> tuple[int, int, int]:
            first = self.results[rank].verdict.departures[0]
            return first.step, STAGES.index(first.stage), rank

        departing = [rank for rank, each in enumerate(self.results) if each.verdict.departures]
        return min(departing, key=place) if departing else None

    @property
    def lines(self) -> list[str]:
        """The verdict, the first departure with its lines, and what was not seen."""
        told = [*(_equal(self) if self.first is None else _departed(self, self.first))]
        return [*told, *_processes(self)]

    @property
    def document(self) -> dict[str, Any]:
        """All of it as JSON."""
        ranks = [text.document(each) for each in self.results]
        told = {"equal": bool(self), "one_process": self.one_process, "hint": self.hint}
        return {**told, "ranks": ranks}


def _equal(result: RanksResult) -> list[str]:
    verdicts = [each.verdict for each in result.results]
    together = replace(
        verdicts[0],
        compared=sum(each.compared for each in verdicts),
        undecidable=sum(each.undecidable for each in verdicts),
        worst=max(each.worst for each in verdicts),
        notes=[*dict.fromkeys(note for each in verdicts for note in each.notes)],
    )
    whole = result.results[0]
    names = _on(whole.reference, result.ranks), _on(whole.candidate, len(result.results))
    return text.lines(replace(whole, reference=names[0], candidate=names[1], verdict=together))


def _on(name: str, ranks: int) -> str:
    return name if ranks == 1 else f"{name} on {counted(ranks, 'rank')}"


def _departed(result: RanksResult, first: int) -> Iterator[str]:
    count = len(result.results)
    rank = result.results[first]
    name = rank.candidate if count == 1 else f"rank {first} of {count} of {rank.candidate}"
    told = text.lines(replace(rank, candidate=name))
    place = next((n for n, line in enumerate(told[2:], 2) if not line.startswith("    ")), 2)
    told[place:place] = [f"    {result.hint}"] * bool(result.hint)
    yield from told
    others = [n for n, each in enumerate(result.results) if n != first]
    wrong = [n for n in others if result.results[n].verdict.departures]
    if wrong:
        yield f"{of_ranks(wrong)} {'departs' if len(wrong) == 1 else 'depart'}, too"
    if right := [n for n in others if n not in wrong]:
        yield f"{of_ranks(right)} {'is' if len(right) == 1 else 'are'} right"


def _processes(result: RanksResult) -> Iterator[str]:
    """How one process is compared with several."""
    count = len(result.results)
    shared = ", by its samples of each batch; losses and gradients by those of all ranks together"
    if result.one_process:
        yield (
            f"the original is one process: each of {counted(count, 'rank')} is compared with it"
            f"{shared if result.cut else ''}"
        )
    elif count == 1:
        ranks = counted(result.ranks, "rank")
        yield f"the port is one process: it is compared with the original's {ranks} together"
