"""The tables at the end of a study: what became of each twin, and which excuses acted."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.distribution import Tally

KERNEL = "inaccurate_kernel"
"""The excuse of a network that is equal but for a kernel; its cases have a column of their own."""

COLUMNS = ("twin", "seeds", "cases", "red", "ill-posed", "kernel", "worst", "seconds")


def table(records: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A line for each twin, and a heading.

    seeds: the most base seeds of a sample. cases: comparisons. red: cases that differ or raise.
    ill-posed: cases that cannot tell right from wrong. kernel: cases that are equal but for a
    kernel. worst: the largest finite error in roundings. seconds: of one seed of all samples.
    """
    entries: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        entries.setdefault(record["entry"], []).append(record)
    rows = [COLUMNS, *(row(name, of_entry) for name, of_entry in entries.items())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *figures in rows:
        padded = [each.rjust(width) for each, width in zip(figures, widths[1:], strict=True)]
        yield "  ".join([name.ljust(widths[0]), *padded])


def row(name: str, records: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """The figures of a twin."""
    seeds, seconds = Counter(), Counter()
    for record in records:
        seeds[record["sample"]] += len(record["seeds"])
        seconds[record["sample"]] += record["seconds"]
    ill_posed = sum(record["ill_posed"] for record in records)
    red = sum(len(record["alarms"]) for record in records) - ill_posed
    tallies = [Tally.from_json(t) for record in records for t in record["tallies"].values()]
    worst = max((tally.worst[0] for tally in tallies), default=0.0)
    return (
        name,
        str(max(seeds.values())),
        str(sum(record["comparisons"] for record in records)),
        str(red),
        str(ill_posed),
        str(excuses(records)[KERNEL]),
        f"{worst:.1f}",
        f"{sum(seconds[sample] / seeds[sample] for sample in seeds):.1f}",
    )


def excuses(records: Sequence[Mapping[str, Any]]) -> Counter[str]:
    """Name of an excuse -> the comparisons in which it acted."""
    return sum((Counter(record["excuses"]) for record in records), Counter())
