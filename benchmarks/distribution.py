"""Distributions of errors in roundings: counts in bins that can be added up, and their drawing."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

PER_OCTAVE = 8
"""Bins per factor of two; the budget, a power of two, is the edge of one."""


@dataclass
class Tally:
    """Errors of many tensors. `bins[i]` counts those in [2**(i/8), 2**((i+1)/8)) roundings.

    Exact agreement, and what no number of roundings describes, have no place on a log axis:
    `exact` and `infinite` count them. `worst` is the largest finite error and where it was.
    """

    bins: Counter[int] = field(default_factory=Counter)
    exact: int = 0
    infinite: int = 0
    worst: tuple[float, str] = (0.0, "")

    @property
    def total(self) -> int:
        """All tensors, the exact and the infinite included."""
        return self.exact + self.infinite + self.bins.total()

    def add(self, error: float, where: str) -> None:
        """Count one tensor; `error` in roundings, >= 0."""
        if error == 0.0:
            self.exact += 1
        elif not math.isfinite(error):
            self.infinite += 1
        else:
            self.bins[math.floor(PER_OCTAVE * math.log2(error))] += 1
            self.worst = max(self.worst, (error, where))

    def merge(self, other: "Tally") -> None:
        """Add another's counts."""
        self.bins += other.bins
        self.exact += other.exact
        self.infinite += other.infinite
        self.worst = max(self.worst, other.worst)

    def survival(self) -> list[tuple[float, float]]:
        """(roundings, share of tensors with at least that error), at the edges of the bins.

        The list ends where no finite error is left. The counts are exact at every edge.
        """
        left, steps = self.total - self.exact, []
        for i in range(min(self.bins, default=0), max(self.bins, default=-1) + 1):
            steps.append((2.0 ** (i / PER_OCTAVE), left / self.total))
            left -= self.bins[i]
        return steps

    def cumulated(self) -> list[tuple[float, float]]:
        """(roundings, share of tensors with at most that error), at the edges of the bins."""
        seen, steps = self.exact, []
        for i in sorted(self.bins):
            seen += self.bins[i]
            steps.append((2.0 ** ((i + 1) / PER_OCTAVE), seen / self.total))
        return steps

    def quantile(self, share: float) -> float:
        """An upper bound of the errors of that share of the tensors, one bin coarse."""
        seen = self.exact
        if seen >= share * self.total:
            return 0.0
        for i in sorted(self.bins):
            seen += self.bins[i]
            if seen >= share * self.total:
                return 2.0 ** ((i + 1) / PER_OCTAVE)
        return math.inf

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        bins = {str(i): count for i, count in sorted(self.bins.items())}
        exact, infinite = self.exact, self.infinite
        return {"bins": bins, "exact": exact, "infinite": infinite, "worst": list(self.worst)}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Tally":
        """What `to_json` gave."""
        bins = Counter({int(i): count for i, count in record["bins"].items()})
        return cls(bins, record["exact"], record["infinite"], tuple(record["worst"]))


# The drawing. Coordinates are in pixels; x is log2 of roundings, y log10 of a share.

WIDTH, HEIGHT = 940, 470
LEFT, RIGHT, TOP, BOTTOM = 92, 640, 74, 398
FIRST, LAST = -5, 10  # octaves on the x axis; what lies outside is drawn at the border

# Of middling lightness, so that each shows on white and on black.
COLOURS = {
    "output": "#2f86d6",
    "gradient of an input": "#d9730d",
    "gradient of a parameter": "#1f9d61",
    "buffer": "#b564c8",
}

STYLE = """
text { font: 13px system-ui, sans-serif; fill: #24292f }
.paper { fill: #ffffff } .grid { stroke: #d0d7de } .faint { fill: #59636e }
.title { font-size: 17px; font-weight: 600 }
.curve { fill: none; stroke-width: 2 } .wrong { stroke: #d1242f; stroke-width: 2 }
.budget { stroke: #d1242f; stroke-width: 2 } .over { fill: #d1242f; font-weight: 600 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .paper { fill: #0d1117 } .grid { stroke: #30363d } .faint { fill: #9198a1 }
.budget, .wrong { stroke: #f85149 } .over { fill: #f85149 }
}
"""


def draw(
    tallies: Mapping[str, Tally],
    title: str,
    subtitle: str,
    budget: float,
    mistakes: Tally | None = None,
) -> str:
    """An SVG: per kind ("output, float32") the share of tensors with at least so large an error.

    mistakes: the largest error of each wrong port, of which the share with at most so large an
        error is drawn.

    It carries its own background and its colours for light and dark, and refers to nothing.
    """
    most = max((tally.total for tally in tallies.values()), default=1)
    decades = max(1, math.ceil(math.log10(max(most, 1))))

    def x(roundings: float) -> float:
        octave = min(max(math.log2(roundings), FIRST), LAST)
        return LEFT + (octave - FIRST) / (LAST - FIRST) * (RIGHT - LEFT)

    def y(share: float) -> float:
        return TOP + min(-math.log10(share) / decades, 1.0) * (BOTTOM - TOP)

    def text(at: tuple[float, float], words: str, look: str = "", anchor: str = "middle") -> str:
        place = f'x="{at[0]:.1f}" y="{at[1]:.1f}" text-anchor="{anchor}"'
        return f'<text class="{look}" {place}>{escape(words)}</text>'

    def line(look: str, x1: float, y1: float, x2: float, y2: float) -> str:
        return f'<line class="{look}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{escape(title)}</title><style>{STYLE}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}" rx="6"/>',
        text((LEFT, 30), title, "title", "start"),
        text((LEFT, 52), subtitle, "faint", "start"),
    ]
    for octave in range(FIRST, LAST + 1):
        at = x(2.0**octave)
        parts.append(line("grid", at, TOP, at, BOTTOM))
        label = str(2**octave) if octave >= 0 else f"1/{2**-octave}"
        parts.append(text((at, BOTTOM + 19), label, "faint"))
    for decade in range(decades + 1):
        at = y(10.0**-decade)
        parts.append(line("grid", LEFT, at, RIGHT, at))
        label = f"{10.0 ** (2 - decade):.10g} %"
        parts.append(text((LEFT - 8, at + 4), label, "faint", "end"))
    parts.append(text(((LEFT + RIGHT) / 2, HEIGHT - 26), "error of the candidate, in roundings"))
    middle = (TOP + BOTTOM) / 2
    parts.append(f'<g transform="rotate(-90 18 {middle})">')
    parts += [text((18, middle), "tensors with at least this error"), "</g>"]
    parts.append(line("budget", x(budget), TOP, x(budget), BOTTOM))
    parts.append(text((x(budget) - 6, TOP + 16), f"budget {budget:g}", "over", "end"))
    for row, (kind, tally) in enumerate(tallies.items()):
        what, _, dtype = kind.partition(", ")
        dash = ' stroke-dasharray="5 4"' if dtype == "float16" else ""
        stroke = f'class="curve" stroke="{COLOURS.get(what, "#8b949e")}"{dash}'
        points = [(x(roundings), y(share)) for roundings, share in tally.survival()]
        if points:  # the last bin ends with the worst error in it
            points.append((x(tally.worst[0]), points[-1][1]))
        if tally.infinite:
            beyond = y(tally.infinite / tally.total)
            points += [((points or [(LEFT, 0.0)])[-1][0], beyond), (RIGHT, beyond)]
        elif points:
            points.append((points[-1][0], BOTTOM))
        path = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
        parts.append(f'<polyline {stroke} points="{path}"/>')
        at = TOP + 14 + 41 * row
        key = f'x1="{RIGHT + 22}" y1="{at - 4}" x2="{RIGHT + 50}" y2="{at - 4}"'
        parts.append(f"<line {stroke} {key}/>")
        parts.append(text((RIGHT + 58, at), kind, "", "start"))
        words = f"{tally.total:,} tensors, worst {tally.worst[0]:.2g}"
        if tally.infinite:
            words += f", {tally.infinite:,} infinite"
        parts.append(text((RIGHT + 58, at + 17), words, "faint", "start"))
    if mistakes and mistakes.bins:
        shown = [(x(roundings), y(share)) for roundings, share in mistakes.cumulated()]
        path = " ".join(f"{px:.1f},{py:.1f}" for px, py in shown if px < RIGHT)
        parts.append(f'<polyline class="curve wrong" points="{path}"/>')
        at = TOP + 14 + 41 * len(tallies)
        parts.append(line("wrong", RIGHT + 22, at - 4, RIGHT + 50, at - 4))
        parts.append(text((RIGHT + 58, at), "mistakes, at most this error", "over", "start"))
        least = 2.0 ** (min(mistakes.bins) / PER_OCTAVE)
        told = f"{mistakes.total:,} wrong ports, from {least:.2g} on"
        parts.append(text((RIGHT + 58, at + 17), told, "faint", "start"))
    return "\n".join([*parts, "</svg>", ""])
