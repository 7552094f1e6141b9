"""How often the suite cries wolf: every gate case on the CPU over many base seeds; or, asked for,
the nightly examples of every operator, or the catalogue of right networks at users' sizes.

An alarm is a case that is to be equal and is not, or that cannot be judged; a known difference
that is not seen; a side that does not raise what it must; a process that dies. The errors of the
twins that are to be equal are tallied, in roundings, and drawn. Every finished unit of work is a
line of a journal: a study that starts again goes on from there, and reports all that it holds.
Exits with 1 when there was an alarm.
"""

import argparse
import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from equivalence.host import environment  # noqa: E402

environment.prepare()  # in every worker too: each imports this module first

from benchmarks import entries, workers  # noqa: E402
from benchmarks.distribution import Tally, draw  # noqa: E402
from benchmarks.journal import Journal  # noqa: E402
from benchmarks.searched import Searched  # noqa: E402
from equivalence.declare.twin import DTYPES, Twin, TwinCase, cases  # noqa: E402
from equivalence.judge import tensors  # noqa: E402
from equivalence.judge.precision import BUDGET  # noqa: E402
from equivalence.progress import Progress  # noqa: E402

REPORTS = ROOT / "reports"
DEFECTS = REPORTS / "defects.json"

BLOCK = 25
"""Seeds of one unit of work, for which a candidate is compiled once."""

FEW_SEEDS = 2
"""Of operators, which are not compiled: an interrupted study has whole nightly runs."""

SLOW, SEEDS_OF_SLOW = 10.0, 3
"""A sample of the catalogue that takes more seconds than this is measured with so few seeds."""

EVERY = 30.0
"""Seconds between lines of progress."""

# Prefix of a tensor's name in a trace -> what it is; the first that fits.
KINDS = {
    "output.": "output",
    "gradient:input[": "gradient of an input",
    "gradient:": "gradient of a parameter",
    "buffer:": "buffer",
    "loss[": "loss",
    "update[": "update",
    "state:": "state of a training step",
    "handed[": "gradient as an optimiser gets it",
    "attribute:": "attribute that a run writes",
}

Record = dict[str, Any]
Unit = tuple[list[TwinCase] | list[Searched], list[int]]


def outcomes(
    of_sample: Sequence[TwinCase],
    seeds: Sequence[int],
    at: Callable[[str], object] = lambda _: None,
) -> Iterator[tuple[str, TwinCase, Any]]:
    """Every case with every seed: where, the case, its Outcome or what was raised instead.

    Seed by seed, so that the cases share a truth; a candidate is built for the first seed and
    run again for the others. `at` is told of every comparison before it begins.
    """
    from equivalence.comparison.check import check, compare
    from equivalence.judge.outcome import Outcome

    if isinstance(of_sample[0], Searched):
        yield from of_sample[0].outcomes(seeds, at)
        return
    candidates = {}
    for seed in seeds:
        for case in of_sample:
            where = f"{case.name} --seed {seed}"
            at(where)
            try:
                if case.twin.raises:
                    outcome = check(case, seed)
                else:
                    # Taken out: a candidate that raises is not used again.
                    compared = compare(case, seed, candidates.pop(case.name, None))
                    candidates[case.name] = compared.candidate
                    found = {"flips": compared.flips, "excused": compared.excused}
                    outcome = Outcome(case, seed, compared.judgement, **found)
            except Exception as error:
                outcome = error
            yield where, case, outcome


def measure(
    of_sample: Sequence[TwinCase],
    seeds: Sequence[int],
    at: Callable[[str], object] = lambda _: None,
) -> Record:
    """The record of a unit: the cases of one sample with a block of seeds."""
    from equivalence.host.isolation import isolated

    started, record, differences = time.perf_counter(), blank(of_sample, seeds), []
    tallies: dict[str, Tally] = {}
    with isolated():
        for where, case, outcome in outcomes(of_sample, seeds, at):
            if cause := why(outcome):
                record["alarms"].append([where, cause])
            if isinstance(outcome, Exception):
                continue
            record["comparisons"] += 1
            record["flipped"] += bool(outcome.flips)
            record["ill_posed"] += bool(outcome.judgement and outcome.judgement.ill_posed)
            for name in outcome.excuses:
                record["excuses"][name] = record["excuses"].get(name, 0) + 1
            if outcome.judgement is None:
                record["raised"] += 1
            elif case.twin.differs:
                differences.append((outcome.judgement.needed, where))
            else:
                verdicts = outcome.judgement.verdicts
                for verdict in (v for v in verdicts if kind(v.name)):
                    tally = tallies.setdefault(f"{kind(verdict.name)}, {case.dtype}", Tally())
                    tally.add(verdict.needed, f"{verdict.name} of {where}")
    record["tallies"] = {name: tally.to_json() for name, tally in tallies.items()}
    record["differences"] = len(differences)
    record["faintest"] = min((d for d in differences if math.isfinite(d[0])), default=None)
    record["seconds"] = time.perf_counter() - started
    return record


def blank(of_sample: Sequence[TwinCase], seeds: Sequence[int]) -> Record:
    """The record of a unit of which nothing is known.

    `entry` is the twin or the operator. `comparisons` counts all, of which `flipped` are equal
    after branch flips, `raised` raised as declared, `ill_posed` are so, and `differences` are of
    declared ones; `faintest` is the smallest error of those, and where. `excuses` counts the
    comparisons in which each excuse acted.
    """
    first = of_sample[0]
    return {
        "sample": first.sample_name,
        "entry": first.twin.name if isinstance(first, TwinCase) else first.sample_name,
        "seeds": list(seeds),
        "seconds": 0.0,
        "comparisons": 0,
        "flipped": 0,
        "raised": 0,
        "ill_posed": 0,
        "differences": 0,
        "faintest": None,
        "excuses": {},
        "tallies": {},
        "alarms": [],
    }


def why(outcome: Any) -> str | None:
    """The cause of an alarm, in one line; None where all is as it must be."""
    if isinstance(outcome, Exception):
        return f"{type(outcome).__name__}: {outcome}".partition("\n")[0]
    if outcome.passed:
        return None
    judgement = outcome.judgement
    if judgement.ill_posed:
        return judgement.ill_posed
    if outcome.case.twin.differs and not outcome.unexpected:
        return f"the known difference is not seen: at most {judgement.needed:.3g} roundings"
    worst = outcome.unexpected[0]
    return f"{worst.name}: {worst.problem or f'{worst.needed:.3g} roundings'}"


def kind(verdict: str) -> str | None:
    """What a tensor of a trace is, by its name; None for a verdict on random numbers, no tensor."""
    if tensors.of_draws(verdict):
        return None
    return next(words for prefix, words in KINDS.items() if verdict.startswith(prefix))


def plan(
    of_gate: Sequence[TwinCase | Searched],
    seeds: int,
    records: Sequence[Record],
    block: int = BLOCK,
) -> list[Unit]:
    """What the records lack, one block of seeds of all samples after the other.

    An interrupted study has thus seen all cases with about as many seeds.
    """
    samples: dict[str, list[TwinCase]] = {}
    for case in of_gate:
        samples.setdefault(case.sample_name, []).append(case)
    done = {(record["sample"], seed) for record in records for seed in record["seeds"]}
    units = []
    for start in range(0, seeds, block):
        for name, of_sample in samples.items():
            within = range(start, min(start + block, seeds))
            if left := [seed for seed in within if (name, seed) not in done]:
                units.append((of_sample, left))
    return units


def study(
    of_gate: Sequence[TwinCase | Searched],
    seeds: int,
    jobs: int,
    folder: Path,
    block: int = BLOCK,
    of_slow: int | None = None,
) -> int:
    """Measure what the journal in `folder` lacks and report; the process's exit code.

    of_slow: the seeds of samples that take more than `SLOW` seconds, where they get fewer.
    """
    journal, code = Journal(folder / "false_alarms.jsonl"), 0
    try:
        if of_slow is not None:
            work(journal, plan(of_gate, min(of_slow, seeds), journal.records, block), jobs)
            slow = {name for name, seconds in paces(journal.records).items() if seconds > SLOW}
            of_gate = [case for case in of_gate if case.sample_name not in slow]
        work(journal, plan(of_gate, seeds, journal.records, block), jobs)
    except KeyboardInterrupt:
        code = 130
        print(f"interrupted; {journal.path} keeps what was finished, run again to go on")
    finally:
        journal.close()
    clean = report(journal.records, folder / "false_alarms.svg")
    return code or int(not clean)


def work(journal: Journal, left: list[Unit], jobs: int) -> None:
    """Measure these units and keep their records."""
    print(f"{len(journal.records)} units of work in {journal.path}, {len(left)} to do", flush=True)
    bar = Progress(len(journal.records) + len(left), "units", EVERY)
    for unit, answer in workers.run(measure, left.copy(), jobs):
        if isinstance(answer, workers.Lost):
            answer = blank(*unit) | {"alarms": [[answer.at, answer.cause]]}
        journal.append(answer)
        left.remove(unit)
        for where, cause in answer["alarms"]:
            bar.clear()
            print(f"ALARM {where}: {cause}", flush=True)
        if bar.due:
            bar.tell(len(journal.records), f", {progress(journal.records, left, jobs)}")
    bar.clear()


def paces(records: Sequence[Record]) -> dict[str, float]:
    """Name of a sample -> the mean seconds of one seed."""
    found: dict[str, list[float]] = {}
    for record in records:
        found.setdefault(record["sample"], []).append(record["seconds"] / len(record["seeds"]))
    return {sample: sum(seconds) / len(seconds) for sample, seconds in found.items()}


def progress(records: Sequence[Record], left: Sequence[Unit], jobs: int) -> str:
    """How far, how bad, how long still. Samples not seen yet count as the mean one."""
    pace = paces(records)
    mean = sum(pace.values()) / len(pace)
    seconds = sum(pace.get(of[0].sample_name, mean) * len(seeds) for of, seeds in left) / jobs
    done = sum(len(record["seeds"]) for record in records)
    total = done + sum(len(seeds) for _, seeds in left)
    alarms = sum(len(record["alarms"]) for record in records)
    largest = max((tally.worst[0] for tally in merged(records).values()), default=0.0)
    return (
        f"{done:,} of {total:,} seeds of samples, {alarms} alarms, largest {largest:.2f} "
        f"roundings, about {math.ceil(seconds / 60)} min left"
    )


def merged(records: Sequence[Record]) -> dict[str, Tally]:
    """The tallies of all records, by kind of tensor and dtype."""
    tallies: dict[str, Tally] = {}
    for dtype in DTYPES:
        for what in KINDS.values():
            name = f"{what}, {dtype}"
            for record in records:
                if name in record["tallies"]:
                    tally = Tally.from_json(record["tallies"][name])
                    tallies.setdefault(name, Tally()).merge(tally)
    return tallies


def wrong_ports(defects: Path) -> Tally | None:
    """The largest error of each mistake that a tensor shows, of `make defects`; None without it."""
    if not defects.exists():
        return None
    tally = Tally()
    for row in json.loads(defects.read_text())["defects"]:
        if row["killed"] in (*KINDS.values(), "gradient of a weight"):
            tally.add(math.inf if row["error"] is None else row["error"], row["name"])
    return tally


def report(records: Sequence[Record], figure: Path) -> bool:
    """Print what all records come to, and draw it; whether there was no alarm."""
    tallies = merged(records)
    for name, tally in tallies.items():
        print(
            f"{name:32} {tally.total:9,} tensors, 99.9% within {tally.quantile(0.999):5.2f}, "
            f"worst {tally.worst[0]:5.2f}: {tally.worst[1]}"
        )
    compared, flipped, raised, known = (
        sum(record[name] for record in records)
        for name in ("comparisons", "flipped", "raised", "differences")
    )
    alarms = [alarm for record in records for alarm in record["alarms"]]
    for where, cause in alarms:
        print(f"ALARM {where}: {cause}")
    for line in entries.table(records):
        print(line)
    acted = ", ".join(f"{name} {count:,}" for name, count in entries.excuses(records).items())
    print(f"excuses that acted: {acted or 'none'}")
    if not compared:
        print("nothing was compared")
        return False
    if faintest := min((r["faintest"] for r in records if r["faintest"]), default=None):
        print(f"known differences: faintest {faintest[0]:.3g} roundings: {faintest[1]}")
    verdict = f"{len(alarms)} alarms" if alarms else "no alarm"
    counted, scope = f"{compared:,} comparisons", samples_and_seeds(records)
    worst = max((tally.worst[0] for tally in tallies.values()), default=0.0)
    margin = f"worst {worst:.2f} of {BUDGET:g} roundings"
    if worst > BUDGET:
        margin += "" if alarms else ", which an excuse explains"
    elif worst:
        margin += f", margin {BUDGET / worst:.1f}"
    kept = f"{flipped:,} equal after branch flips, {known:,} of known differences, "
    kept += f"{raised:,} raise as they must"
    print(f"{verdict} in {counted} ({kept}) of {scope}; {margin}")
    tensors = f"{sum(tally.total for tally in tallies.values()):,} tensors"
    below = f"{tensors} of {scope}; {verdict}; {margin}"
    title, wrong = "How far right networks are from the truth", wrong_ports(DEFECTS)
    figure.write_text(draw(tallies, title, below, BUDGET, wrong))
    print(f"drawn in {figure}")
    return not alarms


def samples_and_seeds(records: Sequence[Record]) -> str:
    """How many samples were measured, and with how many base seeds: a number, or a range."""
    seeds: dict[str, int] = {}
    for record in records:
        seeds[record["sample"]] = seeds.get(record["sample"], 0) + len(record["seeds"])
    span = " to ".join(map(str, sorted({min(seeds.values()), max(seeds.values())})))
    return f"{len(seeds)} samples, {span} seeds each"


def positive(text: str) -> int:
    """A count given on the command line. Raises ValueError, which argparse words."""
    if (value := int(text)) < 1:
        raise ValueError
    return value


def main(arguments: Sequence[str]) -> int:
    """Study the twins that the command line chooses; the process's exit code."""
    from tests.twins import declared

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--seeds",
        type=positive,
        help="base seeds 0 to SEEDS - 1; default: 200, and 20 of the catalogue",
    )
    parser.add_argument("--jobs", type=positive, default=2, help="processes")
    parser.add_argument("--only", default="", metavar="SUBSTRING", help="those with it in the name")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument(
        "--operators", action="store_true", help="the nightly examples of operators, not twins"
    )
    instead.add_argument(
        "--catalogue", action="store_true", help="right networks at users' sizes, not twins"
    )
    chosen = parser.parse_args(arguments)
    if chosen.operators:
        from tests.twins.operators import operators

        names = [each.name for each in operators() if chosen.only in each.name]
        if not names:
            parser.error(f"no operator has {chosen.only!r} in its name")
        searched = list(map(Searched, names))
        return study(searched, chosen.seeds or 200, chosen.jobs, REPORTS / "operators", FEW_SEEDS)
    if chosen.catalogue:
        from benchmarks.catalogue import declared as catalogue

        found = chosen_cases(catalogue(), chosen.only)
        if not found:
            parser.error(f"no twin of the catalogue has {chosen.only!r} in its name")
        folder = REPORTS / "catalogue"
        return study(found, chosen.seeds or 20, chosen.jobs, folder, of_slow=SEEDS_OF_SLOW)
    of_gate = chosen_cases([twin for twin in declared() if twin.level == "gate"], chosen.only)
    if not of_gate:
        parser.error(f"no gate twin has {chosen.only!r} in its name")
    return study(of_gate, chosen.seeds or 200, chosen.jobs, REPORTS)


def chosen_cases(every: Sequence[Twin], only: str) -> list[TwinCase]:
    """The cases on the CPU of those twins that have `only` in the name."""
    return [case for twin in every if only in twin.name for case in cases(twin, "cpu")]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
