"""Hooks of mkdocs: the pages of the site that are no files of `docs/`.

- `index.md` is the README, and the other pages at the top of the repository come along.
- `reference/python.md` has each public name with its docstring, `reference/commands.md` each
  command with its options.
- A file of the repository to which a page leads, such as the script of a finding, gets a page with
  its text, so that the site needs no other host. A folder is named without a link.
"""

import os
import posixpath
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import griffe
import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]

START = "README.md"
"""The page that the site opens with."""

OUTSIDE = (START, "README.zh-CN.md", "CHANGELOG.md", "CONTRIBUTING.md", "examples/own/README.md")
"""Pages that lie beside `docs/`, from the root of the repository."""

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")
"""Groups: `!` of a picture, the text, the target."""

FIELD = re.compile(r"^([a-z_]\w*(?:, [a-z_]\w*)*): ", re.M)
"""The beginning of a docstring's line that says what an argument is."""

LANGUAGES = {".py": "python", ".yml": "yaml", ".json": "json", ".sh": "sh", "": "sh"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are no files of `docs/`."""
    for path in OUTSIDE:
        files.append(File.generated(config, _address(path), content=(ROOT / path).read_text()))
    files.append(File.generated(config, "reference/python.md", content=_python()))
    files.append(File.generated(config, "reference/commands.md", content=_commands()))
    for path in sorted(set(_linked(files))):
        source = File.generated(config, _address(path), content=_source(path))
        source.inclusion = InclusionLevel.NOT_IN_NAV
        files.append(source)
    return files


class Docstrings(griffe.Extension):
    """Docstrings as Markdown: `name: what it is` becomes an item of a list, `>>>` a block."""

    def on_instance(self, *, obj: griffe.Object, **_: object) -> None:
        """Change the docstring of an object that was read."""
        if obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(docstring: str) -> str:
    """The text of a docstring as Markdown.

    >>> print(as_markdown("x: an input,\\n    of any shape.\\n\\n>>> 1 + 1\\n2"))
    - `x`: an input,
        of any shape.
    <BLANKLINE>
    ```pycon
    >>> 1 + 1
    2
    ```
    """
    paragraphs = []
    for text in re.split(r"\n{2,}", docstring.strip()):
        if text.startswith(">>>"):
            paragraphs.append(f"```pycon\n{text}\n```")
        else:
            paragraphs.append(FIELD.sub(r"- `\1`: ", text))
    return "\n\n".join(paragraphs)


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """The text of a page, with links that lead to pages of the site."""
    origin = _origin(page.file.src_uri)

    def _led(found: re.Match[str]) -> str:
        picture, text, target = found.groups()
        path, _, anchor = target.partition("#")
        lies_at = _lies_at(origin, path)
        if lies_at is None or picture:
            return found[0]
        if (ROOT / lies_at).is_dir():
            return text
        there = posixpath.relpath(_address(lies_at), posixpath.dirname(page.file.src_uri) or ".")
        return f"[{text}]({there}{'#' + anchor if anchor else ''})"

    return _outside_of_blocks(markdown, lambda prose: LINK.sub(_led, prose))


def _outside_of_blocks(markdown: str, change) -> str:
    """The text with what is no fenced block changed."""
    parts = re.split(r"(^```.*?^```$)", markdown, flags=re.S | re.M)
    return "".join(part if number % 2 else change(part) for number, part in enumerate(parts))


def _lies_at(origin: str, path: str) -> str | None:
    """Where in the repository a link of a page leads; None: to the page itself, or elsewhere."""
    if not path or ":" in path:
        return None
    lies_at = posixpath.normpath(posixpath.join(posixpath.dirname(origin), path))
    return lies_at if (ROOT / lies_at).exists() else None


def _origin(address: str) -> str:
    """Where a page of the site lies in the repository."""
    for path in OUTSIDE:
        if address == _address(path):
            return path
    return f"docs/{address}"


def _address(path: str) -> str:
    """Where a file of the repository lies on the site; a picture and a page as they are."""
    if path == START:
        return "index.md"
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return path if path in OUTSIDE else f"source/{path}.md"


def _linked(files: Files) -> Iterator[str]:
    """The files of the repository, beside `docs/` and `OUTSIDE`, to which pages lead."""
    for file in files.documentation_pages():
        origin = _origin(file.src_uri)
        for _, _, target in LINK.findall(file.content_string):
            lies_at = _lies_at(origin, target.partition("#")[0])
            if lies_at and _address(lies_at).startswith("source/") and (ROOT / lies_at).is_file():
                yield lies_at


def _source(path: str) -> str:
    """A page with the text of a file. It is not searched: the page that leads to it is."""
    suffix, text = PurePosixPath(path).suffix, (ROOT / path).read_text()
    front = "---\nsearch: {exclude: true}\nhide: [toc]\n---\n"
    if suffix == ".ipynb":
        return front + _cells(text)
    return f"{front}# {path}\n\n{_fenced(text, LANGUAGES.get(suffix, 'text'))}"


def _fenced(text: str, language: str) -> str:
    fence = "`" * 6
    return f"{fence}{language}\n{text}\n{fence}\n"


def _cells(text: str) -> str:
    """The cells of a notebook, each with the text that it shows."""
    parts = []
    for cell in nbformat.reads(text, 4).cells:
        code = cell.cell_type == "code"
        parts.append(_fenced(cell.source, "python") if code else cell.source)
        for shown in cell.get("outputs", ()):
            parts.append(_fenced(shown.get("text") or shown.data["text/plain"], "text"))
    return "\n\n".join(parts)


def _python() -> str:
    """The public names, each with its docstring; what compares comes first."""
    face = (ROOT / "equivalence" / "__init__.pyi").read_text()
    names = re.findall(r"^from (\S+) import (\w+) as \w+$", face, re.M)
    names.sort(key=lambda each: each[0].split(".")[1] not in ("own", "dumps", "kinds"))
    listed = "\n".join(f"::: {module}.{name}\n" for module, name in names)
    return (
        f"# Python\n\nFor those who declare or compare from Python: the public names.\n\n{listed}"
    )


def _commands() -> str:
    """What each command says of itself."""
    listed = _help()
    names = re.findall(r"^    (\w+) ", listed, re.M)
    parts = [f"# Commands\n\nFor those who type: each command and its options.\n\n{_shown(listed)}"]
    parts += [f"## {name}\n\n{_shown(_help(name))}" for name in names]
    return "\n\n".join(parts)


def _help(*words: str) -> str:
    """What a command prints when it is asked for help."""
    command = [sys.executable, "-m", "equivalence", *words, "--help"]
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def _shown(text: str) -> str:
    return f"```text\n{text.strip()}\n```"
