"""Packages of ports beside their originals: which networks are equal, and why the others are not.

The tables in `audits/` say what is known of each network. A network that is another than its row
says is told at once, and in the page that is written at the end. Every finished sample is a line
of a journal: an audit that starts again goes on from there. A row that changed is run again.
Exits with 1 where a row does not stand.
"""

import argparse
import hashlib
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from equivalence.host import environment  # noqa: E402

environment.prepare()  # in every worker too: each imports this module first

from audits import Port, not_tried, packages  # noqa: E402
from benchmarks import audit_page, workers  # noqa: E402
from benchmarks.journal import Journal  # noqa: E402
from equivalence import files, words  # noqa: E402
from equivalence.declare.twin import Twin, TwinCase, cases  # noqa: E402
from equivalence.progress import Progress  # noqa: E402
from equivalence.record import fingerprint  # noqa: E402

REPORTS, DOCS = ROOT / "reports", ROOT / "docs"

SEED = 0
"""The base seed of an audit. A network that is equal is so with any."""

Record = dict[str, Any]
Unit = tuple[str, list[TwinCase], Port]


def key(twin: Twin, original: str) -> str:
    """Tells a declaration, with the sources of both sides and the versions of their packages.

    original: the package of the original.
    """
    told = [repr(twin)]
    for target in (twin.reference, twin.candidate):
        package = target.partition(".")[0].partition(":")[0]
        told.append(fingerprint.version(package) or fingerprint.sources(target))
        if package == "audits":  # built here, of the package of that name and its originals
            told.append(str(fingerprint.version(target.partition(":")[0].rpartition(".")[2])))
            told.append(str(fingerprint.version(original)))
    return hashlib.sha256("\0".join(told).encode()).hexdigest()[:16]


def measure(
    identity: str,
    of_sample: Sequence[TwinCase],
    port: Port,
    at: Callable[[str], object] = lambda _: None,
) -> Record:
    """The record of a unit: the cases of one sample of a twin."""
    from equivalence.host.isolation import isolated

    record = blank(identity, of_sample, port)
    started = time.perf_counter()
    with isolated():
        for case in of_sample:
            at(case.name)
            record["cases"].append(compared(case, port))
    record["seconds"] = time.perf_counter() - started
    return record


def blank(identity: str, of_sample: Sequence[TwinCase], port: Port) -> Record:
    """The record of a unit of which nothing is known."""
    sample = of_sample[0].sample_name
    return {"key": identity, "sample": sample, "network": port.network, "seconds": 0.0, "cases": []}


def compared(case: TwinCase, port: Port) -> Record:
    """A case as the page needs it: what was seen, and the alarm where the row says otherwise."""
    from equivalence.kinds import check

    refused = port.refused if case.twin.name == port.twin.name else None
    found = {"case": case.name, "phase": case.phase, "execution": case.execution, "alarm": None}
    try:
        outcome = check(case, SEED)
    except Exception as error:
        said = f"{type(error).__name__}: {error}".partition("\n")[0]
        meant = refused is not None and not refused.tensors.refuses("candidate", error)
        return found | {"refused": said, "alarm": None if meant else said}
    judgement = outcome.judgement
    found |= {
        "needed": judgement.needed if judgement.needed < float("inf") else None,
        "differing": len(judgement.differing),
        "tensors": len(judgement.verdicts),
        "excuses": list(outcome.excuses),
        "kernels": [str(kernel) for kernel in outcome.kernels],
        "settings": outcome.settings.compared if outcome.settings else 0,
        "stand_ins": list(outcome.stand_ins),
    }
    if refused is not None:
        return found | {"alarm": "the two can be compared by now"}
    if outcome.passed:
        return found
    return found | {"alarm": why(outcome), "diagnosis": diagnosis(case)}


def why(outcome: Any) -> str:
    """The cause of an alarm in one line."""
    judgement, settings = outcome.judgement, outcome.settings
    if judgement.ill_posed:
        return judgement.ill_posed
    if outcome.unexpected:
        worst = max(outcome.unexpected, key=lambda verdict: verdict.needed)
        return f"{worst.name}: {worst.problem or f'{worst.needed:.3g} roundings'}"
    if outcome.case.twin.differs:
        return "the known difference is not seen"
    each = settings.differing[0]
    return f"{len(settings.differing)} settings differ: {each.path}: {each}"


def diagnosis(case: TwinCase) -> list[str]:
    """What a diagnosis says of a case that must be equal; nothing of a known difference."""
    from equivalence.kinds import diagnose

    if case.twin.differs:
        return []
    try:
        return list(diagnose(case, SEED).brief)
    except Exception as error:
        return [f"no diagnosis: {type(error).__name__}: {error}".partition("\n")[0]]


def plan(ports: Sequence[Port], records: Sequence[Record]) -> list[Unit]:
    """The samples that the records lack: the first one of all twins, then the second, and so on.

    An interrupted audit has thus seen all networks.
    """
    done = {(record["key"], record["sample"]) for record in records}
    turns: dict[int, list[Unit]] = {}
    for port in ports:
        for twin in port.twins:
            samples: dict[str, list[TwinCase]] = {}
            for case in cases(twin, "cpu"):
                samples.setdefault(case.sample_name, []).append(case)
            identity = key(twin, port.library)
            for turn, (name, of_sample) in enumerate(samples.items()):
                if (identity, name) not in done:
                    turns.setdefault(turn, []).append((identity, of_sample, port))
    return [unit for turn in sorted(turns) for unit in turns[turn]]


def audit(ports: Sequence[Port], jobs: int, folder: Path) -> list[Record]:
    """Measure what the journal in `folder` lacks; the records of these rows as they stand."""
    journal = Journal(folder / "audit.jsonl")
    try:
        left = plan(ports, journal.records)
        print(f"{len(journal.records)} samples in {journal.path}, {len(left)} to do", flush=True)
        begun, bar = time.monotonic(), Progress(len(left), "samples")
        for done, (unit, answer) in enumerate(workers.run(measure, left, jobs), 1):
            if isinstance(answer, workers.Lost):
                lost = {"case": answer.at, "alarm": answer.cause}
                answer = blank(*unit) | {"cases": [lost]}
            journal.append(answer)
            bar.clear()
            tell(answer)
            bar.tell(done, words.left(time.monotonic() - begun, done, len(left)))
        bar.clear()
    except KeyboardInterrupt:
        print(f"interrupted; {journal.path} keeps what was finished, run again to go on")
    finally:
        journal.close()
    keys = {key(twin, port.library): twin.name for port in ports for twin in port.twins}
    return [
        record | {"twin": keys[record["key"]]}
        for record in journal.records
        if record["key"] in keys
    ]


def tell(record: Record) -> None:
    """Print a line for a sample, and one for each alarm."""
    red = [case for case in record["cases"] if case["alarm"]]
    print(f"{record['seconds']:6.0f} s  {record['sample']}{': RED' if red else ''}", flush=True)
    for case in red:
        print(f"          ALARM {case['case']}: {case['alarm']}", flush=True)
        for line in case.get("diagnosis", ()):
            print(f"            {line}", flush=True)


def main(arguments: Sequence[str]) -> int:
    """Audit the rows that the command line chooses; the process's exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--only", default="", metavar="SUBSTRING", help="those with it in the name")
    chosen = parser.parse_args(arguments)
    tables = {
        package: tuple(port for port in ports if chosen.only in port.twin.name)
        for package, ports in packages().items()
    }
    ports = [port for rows in tables.values() for port in rows]
    if not ports:
        parser.error(f"no network has {chosen.only!r} in its name")
    records = audit(ports, chosen.jobs, REPORTS)
    for package, rows in tables.items():
        if rows:
            print(
                f"{audit_page.summary(rows, records)}; written to {write(package, rows, records)}"
            )
    return int(any(case["alarm"] for record in records for case in record["cases"]))


def write(package: str, ports: Sequence[Port], records: Sequence[Record]) -> str:
    """Write a package's page, into the docs too where it is whole; the paths of what is written."""
    text = audit_page.page(package, ports, records, versions(package, ports), not_tried(package))
    folders = [REPORTS]
    if ports == packages()[package] and audit_page.complete(ports, records):
        folders.append(DOCS)
    paths = [folder / "zoo" / f"{package}.md" for folder in folders]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write(path, text)
    return ", ".join(map(str, paths))


def versions(package: str, ports: Sequence[Port]) -> dict[str, str | None]:
    """The versions of a package that is compared, of its originals' and of the frameworks."""
    originals = sorted({port.library for port in ports})
    named = (package, "mindspore", "torch", *originals)
    return {each: fingerprint.version(each) for each in named}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
