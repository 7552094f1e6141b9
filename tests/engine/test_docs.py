"""README.md and docs/ are true: commands work, links and paths lead somewhere, declarations build.

A block of code is fenced and says what it is: `sh` holds commands, `python` declarations, `text`
what is printed. Code within a sentence is checked, too: commands, options, and paths.
"""

import contextlib
import glob
import importlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from equivalence import torchvision_schemas
from equivalence.commands import parser
from tests.engine.parts.asked import ANSWERED, ASKED

ROOT = Path(__file__).parents[2]
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
PAGES = sorted([CONTRIBUTING, *ROOT.glob("README*.md"), *ROOT.glob("docs/**/*.md")])

LONGEST = 90
"""Lines of the README."""

LANGUAGES = ("sh", "python", "text", "diff")

TYPED = ("docs/tutorial.md",)
"""Pages whose commands are run in a folder of their own, by tests of theirs."""

OUTPUTS = (".pytest_cache/", "reports/")
"""Where runs write: what lies there need not be there."""

USERS = {"nets", "my_package", "my_network"}
"""Modules that stand for a user's own."""

ACTIVATE = "source .venv/bin/activate"
PROGRAMS = ("make", "pytest", "python", "equivalence")


class Block(NamedTuple):
    """A fenced block of a page. line: of its fence, from 1."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(page: str, text: str) -> Iterator[Block]:
    """The fenced blocks. ValueError for one that does not end."""
    start, language, inside = 0, "", []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("```"):
            inside.append(line)
        elif start:
            yield Block(page, start, language, "\n".join(inside))
            start = 0
        else:
            start, language, inside = number, line[3:].strip(), []
    if start:
        raise ValueError(f"{page}:{start}: the block does not end")


def prose(text: str) -> str:
    """A page without its blocks, line by line in place."""
    return re.sub(r"^```.*?^```$", lambda m: "\n" * m[0].count("\n"), text, flags=re.S | re.M)


def inline(text: str) -> list[str]:
    """What stands in backticks in the prose of a page."""
    return re.findall(r"`([^`\n]+)`", prose(text))


PRINTED = [(str(path.relative_to(ROOT)), path.read_text()) for path in PAGES]
BLOCKS = [block for page, text in PRINTED for block in blocks(page, text)]


# --- Commands ------------------------------------------------------------------------------------


def commands(page: str, text: str) -> list[tuple[str, str]]:
    """(where, command) of every command of a page: in blocks, in what is printed, in the prose."""
    found = []
    for block in blocks(page, text):
        lines = block.text.splitlines()
        if block.language == "text":
            lines = [line.partition("repeat: ")[2] for line in lines]
        if block.language in ("sh", "text"):
            found += [(str(block), line) for line in lines if line.strip()]
    found += [(page, code) for code in inline(text) if code.split()[0] in PROGRAMS and " " in code]
    return [(where, command) for where, command in found if command != ACTIVATE]


def words_of(command: str) -> list[str]:
    return shlex.split(command, comments=True)


def wrong_make(words: list[str]) -> str | None:
    """What is wrong with the arguments of make."""
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.M))
    variables = set(re.findall(r"^([A-Z]+) \?=", makefile, re.M))
    named = {word for word in words if "=" not in word}
    given = {word.partition("=")[0] for word in words if "=" in word}
    if named - targets or given - variables:
        return f"the Makefile has no {sorted((named - targets) | (given - variables))}"
    return None


def wrong_pip(words: list[str]) -> str | None:
    """What is wrong with an installation of a clone."""
    project = (ROOT / "pyproject.toml").read_text()
    extras = project.partition("[project.optional-dependencies]\n")[2].partition("\n[")[0]
    named = re.fullmatch(r"install \.\[([a-z,]+)\]", " ".join(words))
    if named is None:
        return "there is no test of what else pip does"
    unknown = {*named[1].split(",")} - {*re.findall(r"^([a-z]+) = ", extras, re.M)}
    return f"the package has no {sorted(unknown)}" if unknown else None


def makes(words: list[str]) -> list[list[str]]:
    """The commands that make would run."""
    inherited = ("MAKE", "MFLAGS")
    environment = {key: v for key, v in os.environ.items() if not key.startswith(inherited)}
    done = subprocess.run(
        ["make", "-n", *words], cwd=ROOT, capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.replace("\\\n", " ").splitlines()
    return [shlex.split(line) for line in lines if line.startswith(".venv/bin/python -m ")]


def wrong_equivalence(words: list[str]) -> str | None:
    """What is wrong with the arguments of `python -m equivalence`."""
    told = io.StringIO()
    try:
        with contextlib.redirect_stderr(told), contextlib.redirect_stdout(told):
            options = parser().parse_args(words)
    except SystemExit as error:
        return told.getvalue().strip().rpartition("\n")[2] if error.code else None
    known = {path.stem for path in (ROOT / "findings").rglob("*.py")}
    if unknown := set(getattr(options, "names", ())) - known:
        return f"there is no finding {sorted(unknown)}"
    targets = [getattr(options, name, None) for name in ("network", "optimizer", "target")]
    wrong = [unresolved(target) for target in targets if target and ":" in target]
    return next(filter(None, wrong), None)


def unresolved(target: str) -> str | None:
    """What is wrong with a "module:attribute"; nothing, if it is a user's."""
    module, _, attribute = target.partition(":")
    if module.partition(".")[0] in USERS:
        return None
    torchvision_schemas.declare_missing()
    try:
        getattr(importlib.import_module(module), attribute.partition(".")[0])
    except (ImportError, AttributeError) as error:
        return f"{target!r}: {error}"
    return None


def asked(lines: list[list[str]], folder: Path) -> list[str | None]:
    """What is wrong with each of these arguments of pytest, by one collection of all twins."""
    (folder / "asked").write_text(json.dumps(lines))
    own = {ASKED: str(folder / "asked"), ANSWERED: str(folder / "answered")}
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    files = sorted(glob.glob("tests/test_*.py", root_dir=ROOT))
    plugins = ["-p", "tests.engine.parts.asked", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-qq", *plugins, *files],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=environment | own,
    )
    assert (folder / "answered").exists(), done.stdout[-2000:] + done.stderr
    return json.loads((folder / "answered").read_text())


def expanded(words: Iterable[str]) -> list[str]:
    """The words of a command as a shell gives them: patterns become files."""
    found = [sorted(glob.glob(word, root_dir=ROOT)) if "*" in word else [] for word in words]
    return [each for word, files in zip(words, found, strict=True) for each in files or [word]]


def wrong_commands(found: list[tuple[str, str]], folder: Path) -> dict[str, str]:
    """Command -> what is wrong with it."""
    wrong: dict[str, str | None] = {}
    of_pytest: list[tuple[str, list[str]]] = []
    for where, command in found:
        program, *words = words_of(command)
        key = f"{where}: {command}"
        if program == "make":
            wrong[key] = wrong_make(words)
            for _, _, module, *rest in makes(words) if wrong[key] is None else ():
                if module == "pytest":
                    of_pytest.append((key, expanded(rest)))
                elif module == "equivalence":
                    wrong[key] = wrong[key] or wrong_equivalence(rest)
        elif program == "pip":
            wrong[key] = wrong_pip(words)
        elif program == "pytest":
            of_pytest.append((key, expanded(words)))
        elif program == "equivalence":
            wrong[key] = wrong_equivalence(words)
        elif program in ("python", "torchrun", "msrun") and "equivalence" in words:
            at = words.index("equivalence")
            module = "no -m before equivalence" if words[at - 1] != "-m" else None
            wrong[key] = module or wrong_equivalence(words[at + 1 :])
        elif program == "python" and words[0] == "-m":
            file = f"{words[1].replace('.', '/')}.py"
            wrong[key] = None if (ROOT / file).is_file() else f"there is no {file}"
        elif program == "python" and words[0].endswith(".py"):
            wrong[key] = None if (ROOT / words[0]).is_file() else f"there is no {words[0]}"
        else:
            wrong[key] = f"there is no test of {program!r} commands"
    answers = asked([words for _, words in of_pytest], folder)
    for (key, _), answer in zip(of_pytest, answers, strict=True):
        wrong[key] = wrong.get(key) or answer
    return {key: why for key, why in wrong.items() if why}


WRONG = (
    "make gat",
    "python benchmarks/no_such_script.py OLD NEW",
    "make gate DEVISE=gpu",
    "make gate ARGS='-k no_such_twin'",
    "make gate MODE=float17",
    "pytest --sed 7",
    "pytest -k no_such_twin",
    "pytest -m 'gate and npu'",
    "pytest -m 'gate and'",
    "pytest --record=perhaps",
    "pytest -m cpu --rehearse tpu",
    "pytest tests/test_twin.py",
    "pytest 'tests/test_twins.py::test_twin[conv]'",
    "pytest -k sum --example 'sum(normul(0))'",
    "pytest -k sum --example 'summe(normal(0))'",
    "python -m equivalence",
    "equivalence compare nets:Net",
    "equivalence compare nets:Net ports:Net --phase trian",
    "python -m equivalence convrt a.pth b.ckpt",
    "python -m equivalence convert a.pth b.ckpt --layout oihw",
    "python -m equivalence convert a.pth b.ckpt --network ms_models.resnet:resnt",
    "python -m equivalence findings run no_such_finding",
    "pip install mindspore",
    "pip install '.[referense]'",
)


def test_every_command_works_and_wrong_ones_are_seen(tmp_path):
    """In one test, since both need the one collection that takes most of the time."""
    found = [each for page, text in PRINTED if page not in TYPED for each in commands(page, text)]
    assert len(found) > 60
    wrong = wrong_commands(found + [("WRONG", command) for command in WRONG], tmp_path)
    right = {key: why for key, why in wrong.items() if not key.startswith("WRONG: ")}
    assert not right, "\n".join(f"{key}: {why}" for key, why in right.items())
    unseen = [command for command in WRONG if f"WRONG: {command}" not in wrong]
    assert not unseen


def test_commands_are_found_in_blocks_in_what_is_printed_and_in_sentences():
    text = "Run `make gate` or `pytest`.\n```sh\npytest -k a  # some\n\n```\n```text\n"
    text += "budget 16\nrepeat: pytest 'b'\n```\n```python\nmake = 1\n```\n"
    found = [("p:2", "pytest -k a  # some"), ("p:6", "pytest 'b'"), ("p", "make gate")]
    assert commands("p", text) == found
    assert words_of("pytest -k a  # some") == ["pytest", "-k", "a"]


def test_make_tells_its_targets():
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0
    assert all(f"  {target} " in done.stdout for target in ("gate", "test", "record", "accept"))


# --- Options -------------------------------------------------------------------------------------


def options(text: str) -> set[str]:
    """The options that sentences tell of."""
    return {found[0] for code in inline(text) if (found := re.match(r"--[a-z-]+", code))}


def known_options() -> set[str]:
    """Those of this suite: where they are declared, each is a string of its own."""
    sources = [path.read_text() for path in (ROOT / "equivalence").rglob("*.py")]
    sources += [path.read_text() for path in (ROOT / "benchmarks").glob("*.py")]
    return {each for text in sources for each in re.findall(r"[\"'](--[a-z-]+)[\"']", text)}


def test_every_option_that_a_sentence_tells_of_is_there():
    known = known_options()
    unknown = {page: options(text) - known for page, text in PRINTED}
    assert not any(unknown.values()), unknown
    assert options("`--sed 7` and `--seed`") - known == {"--sed"}


# --- Links and paths -----------------------------------------------------------------------------


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub and GitLab make them."""
    headings = re.findall(r"^#+ (.+)$", prose(text), re.M)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


def dead_links(page: Path, text: str) -> list[str]:
    """The relative links of a page that lead nowhere."""
    dead = []
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(text)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = page.parent / name if name else page
        if not path.is_file() or (
            anchor and anchor not in anchors(text if path == page else path.read_text())
        ):
            dead.append(target)
    return dead


@pytest.mark.parametrize("path", PAGES, ids=[page for page, _ in PRINTED])
def test_every_link_leads_somewhere(path):
    assert not dead_links(path, path.read_text())


def test_every_page_is_linked_from_the_readme():
    """Those of the families of networks by a page of their own, the Chinese ones by the Chinese."""
    for index, pages in (
        ("README.md", "docs/*.md"),
        ("README.zh-CN.md", "docs/zh/*.md"),
        ("docs/families.md", "docs/families/*.md"),
        ("docs/zoo.md", "docs/zoo/*.md"),
    ):
        folder = (ROOT / index).parent
        linked = re.findall(r"\]\(([^):#]+\.md)(?:#[^)]*)?\)", (ROOT / index).read_text())
        found = {(folder / each).resolve() for each in linked}
        assert {*ROOT.glob(pages)} == {path for path in found if path.match(pages)}


@pytest.mark.parametrize("target", ["docs/no.md", "#no-such", "docs/judging.md#no-such", "docs"])
def test_a_dead_link_is_seen(target):
    text = f"# A Heading: one\n[right](#a-heading-one) [elsewhere](https://a.b) [it]({target})"
    assert dead_links(ROOT / "README.md", text) == [target]


def missing_paths(text: str) -> list[str]:
    """The paths in backticks that are not in the repository; capitals stand for any name."""
    missing = []
    for path in inline(text):
        if "/" not in path or re.search(r"\s", path) or path.startswith(OUTPUTS):
            continue
        pattern = re.sub(r"\b[A-Z]{3,}\b", "*", path)
        if not glob.glob(pattern, root_dir=ROOT):
            missing.append(path)
    return missing


@pytest.mark.parametrize("path", PAGES, ids=[page for page, _ in PRINTED])
def test_every_path_is_in_the_repository(path):
    assert not missing_paths(path.read_text())


def test_a_path_that_is_not_there_is_seen():
    text = "`ms_models/` `reports/any.txt` `a b/c` `tests/FAMILY/` `ms_model/` `FAMILY/no.py`"
    assert missing_paths(text) == ["ms_model/", "FAMILY/no.py"]


# --- Declarations --------------------------------------------------------------------------------


def declarations(text: str) -> list[Any]:
    """What the code of a block declares."""
    names: dict[str, Any] = {"__name__": "docs"}
    exec(compile(text, "docs", "exec"), names)
    found = []
    for value in names.values():
        found += value if isinstance(value, tuple) else [value]
    return [each for each in found if hasattr(each, "reference") or hasattr(each, "counterparts")]


def unknown_names(declared: Any) -> list[str]:
    """The callables that a declaration names and that are not there."""
    if hasattr(declared, "counterparts"):
        apis = [declared.torch, *(f"mindspore.{each.api}" for each in declared.counterparts)]
        return [api for api in apis if not _there(api)]
    sides = (declared.reference, declared.candidate)
    return [target for target in sides if unresolved(target)]


def _there(api: str) -> bool:
    first, *rest = api.split(".")
    found = importlib.import_module(first)
    for name in rest:
        found = getattr(found, name, None)
    return found is not None


PYTHON = [
    block
    for block in BLOCKS
    if block.language == "python" and not re.match(r"# \w+\.py\n", block.text)  # a user's file
]


@pytest.mark.parametrize("block", PYTHON, ids=str)
def test_every_declaration_builds(block):
    found = declarations(block.text)
    assert found
    assert not [name for each in found for name in unknown_names(each)]


def test_a_declaration_that_names_nothing_is_seen():
    from tests.twins.conv import TWINS

    class Wrong:
        reference, candidate = TWINS[0].reference, "ms_models.conv:conv9x9"

    assert not unknown_names(TWINS[0])
    assert unknown_names(Wrong) == ["ms_models.conv:conv9x9"]
    assert not _there("torch.softmex")
    with pytest.raises(NameError):
        declarations("TWINS = (Twan('a'),)")


# --- The pages themselves ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["README.md", "README.zh-CN.md"])
def test_the_readme_is_short(name):
    assert len((ROOT / name).read_text().splitlines()) <= LONGEST


FOR = {True: "写给", False: "For those "}
"""Whether a page is Chinese -> how its first sentence begins, which says whom it is for."""


def says_for_whom(page: str, text: str) -> bool:
    """Whether a page does so right below its title and the link to its other language."""
    link = r"\[[^]]+\]\([^)]+\)"
    paragraphs = [each for each in text.split("\n\n")[1:] if not re.fullmatch(link, each)]
    return paragraphs[0].startswith(FOR["zh" in re.split(r"[/.-]", page)])


@pytest.mark.parametrize(("page", "text"), PRINTED, ids=[page for page, _ in PRINTED])
def test_the_first_sentence_says_for_whom(page, text):
    assert says_for_whom(page, text)


def test_a_page_that_does_not_say_for_whom_is_seen():
    assert says_for_whom("a.md", "# A\n\n[简体中文](zh/a.md)\n\nFor those who ask.\n")
    assert says_for_whom("docs/zh/a.md", "# 甲\n\n写给提问的人。\n")
    assert not says_for_whom("docs/zh/a.md", "# 甲\n\nFor those who ask.\n")
    assert not says_for_whom("a.md", "# A\n\nMore.\n\nFor those who ask.\n")


def rooms_untold(text: str) -> set[str]:
    """The rooms of the engine that the table of folders does not have."""
    rooms = {path.parent.name for path in (ROOT / "equivalence").glob("*/__init__.py")}
    return rooms - set(re.findall(r"`equivalence/(\w+)/`", text))


def test_every_room_stands_in_the_table_of_folders():
    text = CONTRIBUTING.read_text()
    assert not rooms_untold(text)
    assert rooms_untold(text.replace("`equivalence/judge/`", "")) == {"judge"}


def unlabelled(page: str, text: str) -> list[str]:
    """Blocks that do not say what they are; one that is indented would not be checked at all."""
    wrong = [f"{each}: {each.language!r}" for each in blocks(page, text)]
    wrong = [each for each in wrong if each.rpartition(": ")[2].strip("'") not in LANGUAGES]
    lines = enumerate(prose(text).splitlines(), 1)
    return wrong + [f"{page}:{number}: indented" for number, line in lines if line[:4] == " " * 4]


@pytest.mark.parametrize(("page", "text"), PRINTED, ids=[page for page, _ in PRINTED])
def test_every_block_says_what_it_is(page, text):
    assert not unlabelled(page, text)


def test_a_block_that_does_not_say_what_it_is_is_seen():
    text = "```sh\n    a\n```\n    make gate\n```\nmake test\n```\n"
    assert unlabelled("p", text) == ["p:5: ''", "p:4: indented"]
    with pytest.raises(ValueError, match="p:1: the block does not end"):
        list(blocks("p", "```sh\nmake gate\n"))
