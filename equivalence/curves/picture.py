"""Both curves, the band, and how far they are apart, as SVG."""

from html import escape

import numpy as np

WIDTH, HEIGHT, LEFT, RIGHT = 900, 620, 80, 870
UPPER, LOWER = (70, 330), (390, 570)
STYLE = """
text{font:13px system-ui,sans-serif;fill:#1f2328}.title{font-size:17px;font-weight:600}
.faint{fill:#656d76}.paper{fill:#fff}.grid{stroke:#d8dee4}.band{fill:#54aeff;opacity:.35}
.theirs,.ours,.allowed,.leaves{fill:none;stroke-width:1.6}.theirs{stroke:#0969da}.ours{stroke:#bc4c00}
.allowed{stroke:#54aeff}.leaves{stroke:#cf222e;stroke-dasharray:5 4}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.paper{fill:#0d1117}.grid{stroke:#30363d}
.faint{fill:#8d96a0}}
"""
TICKS = 5


def picture(
    title: str,
    steps: np.ndarray,
    theirs: np.ndarray,
    ours: np.ndarray,
    allowed: np.ndarray,
    leaves: int | None,
) -> str:
    """An SVG of one metric: the curves and the band; below, their distance and what is allowed.

    All arrays are (n,). allowed: how far the candidate may be off. leaves: the step at which it
    leaves; None where it stays. It refers to nothing outside of itself.
    """
    off = np.abs(ours - theirs)
    positive = np.concatenate([off, allowed])
    positive = positive[np.isfinite(positive) & (positive > 0)]
    low, high = (positive.min(), positive.max()) if positive.size else (1e-8, 1.0)
    low, high = max(low, high * 1e-10), max(high, low * 10.0)
    finite = np.concatenate([theirs, ours])
    finite = finite[np.isfinite(finite)]
    least, most = (finite.min(), finite.max()) if finite.size else (0.0, 1.0)
    most = most if most > least else least + 1.0
    first, last = float(steps[0]), float(max(steps[-1], steps[0] + 1))

    def x(step: float) -> float:
        return LEFT + (step - first) / (last - first) * (RIGHT - LEFT)

    def upper(value: float) -> float:
        value = min(max(value, least), most)
        return UPPER[1] - (value - least) / (most - least) * (UPPER[1] - UPPER[0])

    def lower(value: float) -> float:
        share = (np.log(min(max(value, low), high)) - np.log(low)) / (np.log(high) - np.log(low))
        return LOWER[1] - share * (LOWER[1] - LOWER[0])

    def path(look: str, values: np.ndarray, y) -> str:
        points = [
            f"{x(step):.1f},{y(value):.1f}"
            for step, value in zip(steps, values, strict=True)
            if np.isfinite(value)
        ]
        return f'<polyline class="{look}" points="{" ".join(points)}"/>'

    def text(at_x: float, at_y: float, words: str, look: str = "", anchor: str = "start") -> str:
        place = f'x="{at_x:.1f}" y="{at_y:.1f}" text-anchor="{anchor}"'
        return f'<text class="{look}" {place}>{escape(words)}</text>'

    def line(look: str, at: float, y1: float, y2: float) -> str:
        return f'<line class="{look}" x1="{at:.1f}" y1="{y1:.1f}" x2="{at:.1f}" y2="{y2:.1f}"/>'

    known = np.isfinite(theirs)
    edges = [
        f"{x(step):.1f},{upper(value):.1f}"
        for part, order in ((theirs + allowed, 1), (theirs - allowed, -1))
        for step, value in zip(steps[known][::order], part[known][::order], strict=True)
    ]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{escape(title)}</title><style>{STYLE}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}" rx="6"/>',
        text(LEFT, 30, title, "title"),
        text(LEFT, 52, "blue: the reference and its band; orange: the candidate", "faint"),
        f'<polygon class="band" points="{" ".join(edges)}"/>',
        path("theirs", theirs, upper),
        path("ours", ours, upper),
        text(
            LEFT,
            LOWER[0] - 14,
            "distance of the curves, and what is allowed (logarithmic)",
            "faint",
        ),
        path("allowed", allowed, lower),
        path("ours", off, lower),
    ]
    for top, bottom in (UPPER, LOWER):
        parts.append(line("grid", LEFT, top, bottom))
        if leaves is not None:
            parts.append(line("leaves", x(leaves), top, bottom))
    for y, ends in ((upper, (least, most)), (lower, (low, high))):
        parts += [text(LEFT - 8, y(end) + 4, f"{end:.3g}", "faint", "end") for end in ends]
    for step in np.linspace(first, last, TICKS):
        parts.append(text(x(step), LOWER[1] + 20, f"{step:.0f}", "faint", "middle"))
    parts.append(text((LEFT + RIGHT) / 2, HEIGHT - 12, "step", "faint", "middle"))
    return "\n".join([*parts, "</svg>", ""])
