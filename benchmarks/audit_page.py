"""The page of an audit: a line for each network, with the verdict and its cause."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from audits import Port
from benchmarks.entries import KERNEL

Records = Sequence[Mapping[str, Any]]
Tables = Mapping[str, Sequence[Port]]

HEAD = """\
# Networks of other packages

Is the port that you use the same network as its original? `make audit` compares ports of public
packages with their PyTorch originals, weight by weight: outputs, gradients, buffers and the
settings of all layers. It writes this page. Look up your network here first.

- **equal**: all tensors are within the 16 roundings of [the rule](judging.md#the-rule), and so are
  all settings. The port can take the original's weights.
- **equal but for a kernel**: a kernel of MindSpore is inaccurate on the CPU; the network is right.
- **differs**: another network, with the cause. *Only that*: with the cause taken out of the
  original, or at a size that does not show it, the two are equal; nothing else is wrong.
- **refused**: the weights do not pair up, or one side cannot be built.

`worst` is the largest error of an equal pair, in roundings. `cases` counts the comparisons, of
phases (eval, train) and executions (PyNative, graph). Weights are drawn, none is downloaded. The
tables in `audits/` declare what is known; the audit is red where that does not stand any more.
"""

LEFT = "not compared yet"
"""The verdict on a network that an interrupted audit did not reach."""

COLUMNS = ("network", "original", "verdict", "worst", "cases", "s")


def page(tables: Tables, records: Records, versions: Mapping[str, str | None]) -> str:
    """The page as Markdown."""
    lines = [HEAD, " | ".join(f"{name} {version}" for name, version in versions.items()), ""]
    for package, ports in tables.items():
        lines += [f"## {package}", "", f"{summary({package: ports}, records)}.", ""]
        lines += [_row(COLUMNS), _row("---" for _ in COLUMNS)]
        lines += [_row(row(port, records)) for port in ports]
        lines.append("")
    return "\n".join(lines)


def complete(tables: Tables, records: Records) -> bool:
    """Whether all networks have been compared, though perhaps not all their cases."""
    found = [verdict(port, records) for ports in tables.values() for port in ports]
    return not any(each.startswith(LEFT) for each in found)


def row(port: Port, records: Records) -> tuple[str, ...]:
    """The cells of a network."""
    plain, alike = (_cases(name, records) for name in _names(port))
    equal = alike if port.alike else plain
    worst = max((case.get("needed") or 0.0 for case in equal), default=0.0)
    seconds = sum(each["seconds"] for each in records if each["twin"] in _names(port))
    return (
        port.network,
        port.original,
        verdict(port, records),
        f"{worst:.1f}" if worst and (port.alike or not port.cause) else "",
        str(len(plain) + len(alike)),
        f"{seconds:.0f}",
    )


def verdict(port: Port, records: Records) -> str:
    """What became of a network, in words."""
    plain, alike = (_cases(name, records) for name in _names(port))
    alarms = [case["alarm"] for case in (*plain, *alike) if case["alarm"]]
    if alarms:
        return f"**RED** {alarms[0]}"
    only = ". *Only that*" if alike else ""
    if not plain:
        return f"{LEFT}; declared: {port.cause}{only}" if port.cause else LEFT
    if port.cause is None:
        named = (port.twin.settings or {}).values()
        kernel = any(KERNEL in case["excuses"] for case in plain)
        return "; ".join(["equal but for a kernel" if kernel else "equal", *dict.fromkeys(named)])
    word = "refused" if port.refused else "differs"
    return f"{word}: {port.cause}{only}"


def summary(tables: Tables, records: Records) -> str:
    """How many networks and families there are, and what became of them."""
    ports = [port for rows in tables.values() for port in rows]
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
