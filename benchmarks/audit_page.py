"""The page of an audited package: a line for each network, with the verdict and its cause."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from audits import Port
from benchmarks.entries import KERNEL

Records = Sequence[Mapping[str, Any]]
Ports = Sequence[Port]

HEAD = """\
# Networks of {package}

For those who use a port of {package}. Written by `make audit`;
[what the words mean](../zoo.md#verdicts).
"""

LEFT = "not compared yet"
"""The verdict on a network that an interrupted audit did not reach."""

COLUMNS = ("network", "original", "verdict", "worst", "compared in", "not compared in", "s")

WORDS = {"eval": "evaluation", "train": "training", "pynative": "PyNative", "graph": "graph"}
"""Phase or execution -> the word for it."""


def page(
    package: str,
    ports: Ports,
    records: Records,
    versions: Mapping[str, str | None],
    not_tried: Mapping[str, str],
) -> str:
    """The page of a package as Markdown.

    not_tried: family that no row compares -> why.
    """
    lines = [HEAD.format(package=package)]
    lines += [" | ".join(f"{name} {version}" for name, version in versions.items()), ""]
    lines += [f"{summary(ports, records)}.", ""]
    lines += [_row(COLUMNS), _row("---" for _ in COLUMNS)]
    lines += [_row(row(port, records)) for port in ports]
    lines.append("")
    if stood := stand_ins(ports, records):
        lines += [f"[Stand-ins](../zoo.md#stand-ins) stood for {', '.join(stood)}.", ""]
    for why in dict.fromkeys(not_tried.values()):
        families = ", ".join(family for family, each in not_tried.items() if each == why)
        lines += [f"Not tried, {why}: {families}.", ""]
    return "\n".join(lines)


def stand_ins(ports: Ports, records: Records) -> list[str]:
    """The functions of MindSpore for which others stood in any case."""
    names = {name for port in ports for name in _names(port)}
    cases = [case for name in names for case in _cases(name, records)]
    return sorted({each for case in cases for each in case.get("stand_ins", ())})


def complete(ports: Ports, records: Records) -> bool:
    """Whether all networks have been compared, though perhaps not all their cases."""
    return not any(verdict(port, records).startswith(LEFT) for port in ports)


def row(port: Port, records: Records) -> tuple[str, ...]:
    """The cells of a network."""
    plain, alike = (_cases(name, records) for name in _names(port))
    equal = alike if port.alike else [] if port.cause else plain
    worst = max((case.get("needed") or 0.0 for case in equal), default=0.0)
    seconds = sum(each["seconds"] for each in records if each["twin"] in _names(port))
    return (
        port.network,
        port.original,
        verdict(port, records),
        f"{worst:.1f}" if worst else "",
        compared(equal),
        "; ".join(f"{WORDS[name]}: {why}" for name, why in left_out(port, equal).items()),
        f"{seconds:.0f}",
    )


def compared(cases: Records) -> str:
    """The phases and executions of cases: "training, graph" where every one of both was run."""
    ran = {(case["phase"], case["execution"]) for case in cases if "phase" in case}
    phases, executions = ({each[i] for each in ran} for i in (0, 1))
    if len(ran) == len(phases) * len(executions):
        return ", ".join(word for name, word in WORDS.items() if name in phases | executions)
    return "; ".join(f"{WORDS[phase]} {WORDS[execution]}" for phase, execution in sorted(ran))


def left_out(port: Port, cases: Records) -> dict[str, str]:
    """Phase or execution in which what is equal was not compared -> why."""
    ran = {case.get(field) for case in cases for field in ("phase", "execution")}
    waits = [name for name in WORDS if name not in ran | port.left_out]
    equal = port.alike or not port.cause
    return {**port.narrowed, **(dict.fromkeys(waits, "not reached yet") if equal else {})}


def verdict(port: Port, records: Records) -> str:
    """What became of a network, in words."""
    plain, alike = (_cases(name, records) for name in _names(port))
    alarms = [case["alarm"] for case in (*plain, *alike) if case["alarm"]]
    if alarms:
        return f"**RED** {alarms[0]}"
    kernel = any(KERNEL in case.get("excuses", ()) for case in (alike if port.alike else plain))
    only = ". *Only that*" + (", but for a kernel" if kernel else "") if alike else ""
    if not plain:
        return f"{LEFT}; declared: {port.cause}{only}" if port.cause else LEFT
    if port.cause is None:
        named = (port.twin.settings or {}).values()
        return "; ".join(["equal but for a kernel" if kernel else "equal", *dict.fromkeys(named)])
    word = "refused" if port.refused else "differs"
    return f"{word}: {port.cause}{only}"


def summary(ports: Ports, records: Records) -> str:
    """How many networks and families there are, and what became of them."""
    words = [verdict(port, records).partition(":")[0].partition(";")[0] for port in ports]
    first = [word.partition(" ")[0].strip("*") if word.startswith("**") else word for word in words]
    counts = ", ".join(f"{first.count(word)} {word}" for word in dict.fromkeys(first))
    return f"{len(ports)} networks of {len({port.family for port in ports})} families: {counts}"


def _names(port: Port) -> tuple[str, str]:
    """The names of the twin as it is, and of the one without the cause; "" where there is none."""
    return port.twin.name, port.alike.name if port.alike else ""


def _cases(twin: str, records: Records) -> list[Mapping[str, Any]]:
    """The cases of a twin."""
    return [case for record in records if record["twin"] == twin for case in record["cases"]]


def _row(cells: Iterator[str] | Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
