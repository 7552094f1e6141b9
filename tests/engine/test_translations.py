"""The Chinese pages say what the English ones say, as far as that can be counted.

Section by section: the same blocks of code, rows of tables, code within sentences, and links. So a
change of an English page is red until the Chinese one has it, too.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.engine.test_docs import ROOT, blocks, prose

PAGES = {
    "README.md": "README.zh-CN.md",
    **{f"docs/{path.name}": f"docs/zh/{path.name}" for path in ROOT.glob("docs/zh/*.md")},
}
"""English page -> Chinese page."""

ENGLISH = {chinese: english for english, chinese in PAGES.items()}


class Section(NamedTuple):
    """What of a heading and all up to the next one is the same in every language."""

    where: str
    heading: str
    blocks: list[tuple[str, str]]  # place, text with its language
    rows: int
    code: set[str]
    links: Counter[str]

    @property
    def level(self) -> str:
        return self.heading.partition(" ")[0]


def target(page: str, link: str, headings: dict[str, list[str]]) -> str:
    """Where a link leads, in words of the English pages; an anchor is the number of its heading."""
    name, _, anchor = link.partition("#")
    if re.match(r"[a-z]+:", link):
        return link
    path = (ROOT / page).parent.joinpath(name).resolve() if name else ROOT / page
    path = str(path.relative_to(ROOT))
    if anchor and path in headings:
        anchor = str(headings[path].index(anchor)) if anchor in headings[path] else anchor
    return "#".join(filter(None, (ENGLISH.get(path, path), anchor)))


def anchors(text: str) -> list[str]:
    """Those of the headings, in their order."""
    titles = re.findall(r"^#+ (.+)$", prose(text), re.M)
    return [re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in titles]


HEADINGS = {page: anchors((ROOT / page).read_text()) for pair in PAGES.items() for page in pair}


def sections(page: str, text: str) -> Iterator[Section]:
    lines = prose(text).splitlines()
    starts = [number for number, line in enumerate(lines, 1) if re.match("#+ ", line)]
    for start, end in zip(starts, [*starts[1:], len(lines) + 1], strict=True):
        body = "\n".join(lines[start - 1 : end - 1])
        inside = [block for block in blocks(page, text) if start <= block.line < end]
        yield Section(
            where=f"{page}:{start}",
            heading=lines[start - 1],
            blocks=[(str(block), f"{block.language}\n{block.text}") for block in inside],
            rows=len(re.findall(r"^\|", body, re.M)),
            code={" ".join(code.split()) for code in re.findall(r"`([^`]+)`", body)},
            links=Counter(
                target(page, to, HEADINGS) for to in re.findall(r"\]\(([^)\s]+)\)", body)
            ),
        )


def first_difference(one: str, other: str) -> str:
    """The first line that only one of two blocks has."""
    mine, theirs = one.splitlines(), other.splitlines()
    pairs = zip(mine, theirs, strict=False)
    shorter = min(len(mine), len(theirs))
    at = next((n for n, (a, b) in enumerate(pairs) if a != b), shorter)
    return (mine[at:] or theirs[at:])[0]


def apart(english: Section, chinese: Section) -> Iterator[str]:
    """A sentence for each difference of two sections."""
    here = f"{chinese.where} ({chinese.heading})"
    there = f"{english.where} ({english.heading})"
    if english.level != chinese.level:
        yield f"{here} is a heading of another level than {there}"
    if len(english.blocks) != len(chinese.blocks):
        yield f"{here} has {len(chinese.blocks)} blocks, {there} {len(english.blocks)}"
    for (place, right), (own, text) in zip(english.blocks, chinese.blocks, strict=False):
        if text != right:
            yield f"the block {own} is not that of {place}: {first_difference(right, text)!r}"
    if english.rows != chinese.rows:
        yield f"{here} has {chinese.rows} rows of tables, {there} {english.rows}"
    if missing := english.code - chinese.code:
        yield f"{here} does not have {sorted(missing)} of {there}"
    if more := chinese.code - english.code:
        yield f"{here} has {sorted(more)}, which {there} does not have"
    if english.links != chinese.links:
        wrong = (english.links - chinese.links) + (chinese.links - english.links)
        yield f"{here} and {there} link to different places: {sorted(wrong)}"


def differences(english: tuple[str, str], chinese: tuple[str, str]) -> list[str]:
    """What a page (its name, its text) and its translation differ in.

    Where one has more headings, the first place where they part: all below has other partners.
    """
    here, there = list(sections(*chinese)), list(sections(*english))
    pairs = list(zip(there, here, strict=False))
    if len(here) == len(there):
        return [sentence for pair in pairs for sentence in apart(*pair)]
    at = next((n for n, pair in enumerate(pairs) if any(apart(*pair))), len(pairs))
    first = next(each[at] for each in (there, here) if at < len(each))
    return [
        f"{chinese[0]} has {len(here)} headings, {english[0]} {len(there)}; "
        f"they part at {first.where} ({first.heading})"
    ]


@pytest.mark.parametrize(("english", "chinese"), PAGES.items(), ids=PAGES.values())
def test_a_chinese_page_has_what_the_english_one_has(english, chinese):
    texts = [(page, (ROOT / page).read_text()) for page in (english, chinese)]
    assert all(len(list(blocks(*each))) and len(list(sections(*each))) > 3 for each in texts)
    assert not (told := differences(*texts)), "\n".join(told)


@pytest.mark.parametrize(("english", "chinese"), PAGES.items(), ids=PAGES.values())
def test_each_page_links_to_its_other_language_at_the_top(english, chinese):
    for page, other in ((english, chinese), (chinese, english)):
        (link,) = re.findall(r"^\[[^]]+\]\(([^)]+)\)$", (ROOT / page).read_text().split("\n\n")[1])
        assert (ROOT / page).parent.joinpath(link).resolve() == ROOT / other


@pytest.mark.parametrize("page", PAGES.values())
def test_a_chinese_page_leads_to_chinese_pages(page):
    folder = (ROOT / page).parent
    links = re.findall(r"\]\(([^)#\s]+)", prose((ROOT / page).read_text()))
    paths = [str(folder.joinpath(each).resolve().relative_to(ROOT)) for each in links if each]
    assert [path for path in paths if path in PAGES] == [ENGLISH[page]]  # its own, at the top


def test_there_are_the_pages_that_most_users_read():
    assert {"README.md", "docs/own.md", "docs/failures.md", "docs/judging.md"} <= PAGES.keys()
    assert all((ROOT / page).is_file() for pair in PAGES.items() for page in pair)


# What these tests would see.

TEXT = "# A\n\nUse `--b`, [here](docs/own.md).\n\n```sh\nmake gate\nmake test\n```\n\n"
TEXT += "## C\n\n| d |\n|---|\n"
CHINESE = TEXT.replace("Use", "请用").replace("# A", "# 甲").replace("docs/own", "docs/zh/own")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("make test", "make lint", "the block zh.md:5 is not that of en.md:5: 'make lint'"),
        ("make test\n", "", "the block zh.md:5 is not that of en.md:5: 'make test'"),
        ("```sh", "```text", "the block zh.md:5 is not that of en.md:5: 'text'"),
        ("## C", "```sh\nls\n```\n## C", "zh.md:1 (# 甲) has 1 blocks, en.md:1 (# A) 2"),
        (
            "## C",
            "## B\n\n`b`\n\n## C",
            "zh.md has 2 headings, en.md 3; they part at en.md:10 (## B)",
        ),
        ("\n## C", "\n", "zh.md has 2 headings, en.md 1; they part at en.md:1 (# A)"),
        ("## C", "### C", "zh.md:10 (## C) is a heading of another level than en.md:10 (### C)"),
        ("|---|\n", "|---|\n| e |\n", "zh.md:10 (## C) has 2 rows of tables, en.md:10 (## C) 3"),
        ("`--b`", "`--b`, `--e`", "zh.md:1 (# 甲) does not have ['--e'] of en.md:1 (# A)"),
        ("`--b`", "b", "zh.md:1 (# 甲) has ['--b'], which en.md:1 (# A) does not have"),
        (
            "own.md",
            "ci.md",
            "zh.md:1 (# 甲) and en.md:1 (# A) link to different places: "
            "['docs/ci.md', 'docs/own.md']",
        ),
    ],
)
def test_a_change_of_the_english_page_alone_is_seen(old, new, told):
    assert differences(("en.md", TEXT), ("zh.md", CHINESE)) == []
    assert old in TEXT
    assert differences(("en.md", TEXT.replace(old, new)), ("zh.md", CHINESE)) == [told]


@pytest.mark.parametrize("page", PAGES)
def test_a_change_of_any_block_of_a_page_is_seen(page):
    english, chinese = ((each, (ROOT / each).read_text()) for each in (page, PAGES[page]))
    for block in blocks(*english):
        changed = english[1].replace(block.text, f"{block.text}\nmore", 1)
        (told,) = differences((page, changed), chinese)
        assert told.endswith(f"is not that of {block}: 'more'")


def test_an_anchor_is_that_of_the_heading_in_the_same_place():
    zh, en = "docs/zh/own.md", "docs/own.md"
    headings = {"docs/zh/judging.md": ["甲", "乙"], "docs/judging.md": ["a", "b"]}
    assert target(zh, "judging.md#乙", headings) == target(en, "judging.md#b", headings)
    assert target(zh, "judging.md#甲", headings) != target(en, "judging.md#b", headings)
    assert target(zh, "../page.md#a", headings) == target(en, "page.md#a", headings)
    assert target(zh, "https://a.b", headings) == "https://a.b"
