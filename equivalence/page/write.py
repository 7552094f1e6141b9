"""The page of some results: one file of HTML with its style, its script and its data."""

import base64
import html
import json
import math
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import jinja2

from equivalence.errors import DeclarationError
from equivalence.judge.precision import BUDGET
from equivalence.output import write
from equivalence.page import data
from equivalence.report import text
from equivalence.report.lines import DIFFERENT, EQUAL, EXCUSED, KNOWN
from equivalence.trend.growth import grown
from equivalence.trend.history import NOTHING, History
from equivalence.words import listed, number

FOLDER = Path(__file__).parent
"""The folder of the template and its parts."""

HEIGHT = 640
"""Pixels of a page within a notebook."""

SCRIPTS = ("vendor/d3.min.js", "vendor/plot.umd.min.js", "page.js")
"""The scripts of the page, in order."""


def page(
    title: str,
    runs: Iterable[Sequence[dict[str, Any]]],
    about: Sequence[str] = (),
    past: History = NOTHING,
    answer: Sequence[str] = (),
) -> str:
    """The page of the lines of results of some runs.

    title: its heading.
    about: lines that stand below the summary: versions, how weights pair up.
    past: these runs, and those before them.
    answer: the lines of the answer, where the page is of one comparison.

    >>> made = page("an empty run", [[]])
    >>> made.startswith("<!doctype html>"), "an empty run" in made
    (True, True)
    """
    runs = [list(results) for results in runs]
    lines = [line for results in runs for line in results]
    trends = data.trends(lines, past)
    cases, kinds = data.cases(runs, trends), data.kinds(lines)
    bins = [(kind["name"], *each) for kind in kinds for each in kind["bins"]]
    counts = Counter(case["status"] for case in cases)
    statuses = (DIFFERENT, KNOWN, EXCUSED, EQUAL)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = lambda value: number(value) if math.isfinite(value) else "inf"
    return environment.get_template("page.html.j2").render(
        title=title,
        summary=text.summary(lines),
        about=about,
        answer=answer,
        counts={each: count for each in statuses if (count := counts[each]) or each == statuses[0]},
        excuses=data.excuses(lines),
        unreached=data.unreached(lines),
        grown=[each for each in grown(past) if each.key in trends],
        kinds=kinds,
        devices=sorted({case["device"] for case in cases if "device" in case}),
        budget=BUDGET,
        # Compressed, it is a tenth as long, and holds nothing that HTML could take for a tag.
        data=_packed(
            {
                "cases": cases,
                "bins": bins,
                "budget": BUDGET,
                "runs": [(run.time[:16], run.commit) for run, _ in past.runs] if trends else [],
                "trends": trends,
            }
        ),
        style=(FOLDER / "page.css").read_text(),
        scripts=[(FOLDER / name).read_text() for name in SCRIPTS],
        licence=(FOLDER / "vendor" / "LICENSE").read_text(),
    )


def _packed(content: Any) -> str:
    compact = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(compact.encode(), 9)).decode()


def framed(content: str) -> str:
    """A page as a part of another, as of a notebook: neither can change the other."""
    style = f"width: 100%; height: {HEIGHT}px; border: 0"
    frame = f'<iframe sandbox="allow-scripts allow-downloads" style="{style}"'
    return f'{frame} srcdoc="{html.escape(content)}"></iframe>'


NEEDED = {"case", "seed"}
"""The fields that each line of results has."""


def command(results: Sequence[Path], html: Path | None) -> int:
    """Write the page of some files of results; returns the exit code.

    html: the file to write; None: `index.html` beside the first results.
    """
    path = html or results[0].with_name("index.html")
    if path in results or path.is_dir():
        raise DeclarationError(f"--html {path} is no file to write the page to; name another")
    write(path, page(f"Results of {listed([*map(str, results)])}", map(read, results)))
    print(f"written to {path}")
    return 0


def read(path: Path) -> list[dict[str, Any]]:
    """The lines of a file of results. Raises DeclarationError for one that is none."""
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        told = getattr(error, "strerror", None) or "it is no text"
        raise DeclarationError(f"{path} cannot be read: {told}; name a results.jsonl") from None
    results = []
    for place, line in enumerate(lines, 1):
        try:
            result = json.loads(line)
        except ValueError as error:
            raise DeclarationError(f"{path}:{place} is damaged: {error}; run again") from None
        if not isinstance(result, dict) or not result.keys() >= NEEDED:
            raise DeclarationError(f"{path}:{place} is no line of results; name a results.jsonl")
        results.append(result)
    return results
