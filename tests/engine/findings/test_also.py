"""What a finding shows of one call of MindSpore, others that it may be written as show, too."""

import ast
import contextlib
import io
import re

import pytest

from equivalence import on_cpu
from equivalence.coverage import known
from equivalence.coverage.reader import CallSite, ToldArgument
from equivalence.coverage.verdict import NARROWS, Danger, Judge
from equivalence.findings import scripts
from equivalence.findings.scripts import FOLDER, IS_GONE, IS_THERE, Finding
from equivalence.stand_ins.table import SHOW_TOO, functions

DECLARED = scripts.read_all(FOLDER)
X = ToldArgument.TENSOR


def swapped(finding: Finding, api: str) -> str:
    """The script with another call in the place of its own; "" where it does not spell it out."""
    text = finding.path.read_text(encoding="utf-8")
    own = re.escape(finding.api.removeprefix("mindspore."))
    made, count = re.subn(rf"\bms\.{own}(?![\w.])", f"ms.{api.removeprefix('mindspore.')}", text)
    return made if count else ""


def getting(finding: Finding, code: str) -> str:
    """The script with other code for what `got` is."""
    tree = ast.parse(finding.path.read_text(encoding="utf-8"))
    (place,) = (each for each in tree.body if ast.unparse(each).startswith("got = "))
    place.value = ast.parse(code, mode="eval").body
    return ast.unparse(tree)


def ended(source: str) -> object:
    """The exit code of a script that runs here; an error where it takes other arguments."""
    try:
        with contextlib.redirect_stdout(io.StringIO()), on_cpu():
            exec(compile(source, "finding", "exec"), {"__name__": "__main__"})
    except SystemExit as end:
        return end.code
    except Exception as error:
        return error
    return None


ALSO = [
    pytest.param(finding, api, code, id=f"{finding.name}-{api}")
    for finding in DECLARED
    for api, code in finding.also
]
STAND_INS = [(api, name) for api, names in SHOW_TOO.items() for name in names]
GOT = {"mint.topk": "ms.mint.topk(ms.Tensor(x), 5)[0].asnumpy()[::-1]"}
"""What `got` is with a function that takes other arguments than that of the finding."""


@pytest.mark.parametrize(("finding", "api", "code"), ALSO)
def test_another_call_does_the_same(finding, api, code):
    assert api.removeprefix("mindspore.") in code
    assert ended(getting(finding, code)) == IS_THERE
    assert api.removeprefix("mindspore.") not in functions()  # a stand-in is not MindSpore


@pytest.mark.parametrize(("api", "name"), STAND_INS)
def test_a_stand_in_shows_it_too(api, name):
    (finding,) = [each for each in DECLARED if each.name == name]
    source = getting(finding, GOT[api]) if api in GOT else swapped(finding, f"mindspore.{api}")
    assert ended(source) == IS_THERE
    assert api in functions()


def test_a_call_that_is_right_in_the_place_of_the_first_is_seen():
    (finding,) = [each for each in DECLARED if each.name == "divide_nan_by_zero"]
    assert ended(getting(finding, "expected")) == IS_GONE
    assert ended(swapped(finding, "mindspore.ops.div").replace("zeros", "ones")) == IS_GONE
    assert isinstance(ended(swapped(finding, "mindspore.ops.nothing")), AttributeError)


def verified(judge: Judge) -> set[tuple[str, str]]:
    """(finding, call of MindSpore) by which a call that the finding is about is called verified.

    Only where the finding's own call is a counterpart, too: what it expects is then of that call.
    """
    found = set()
    for finding in DECLARED:
        if finding.severity != "silent" or finding.when in NARROWS:
            continue
        for text in finding.torch:
            beside = {
                f"mindspore.{c.api}" for o in judge.known.operators(text) for c in o.counterparts
            }
            if finding.api not in beside:
                continue
            for given in (None, {0: X}, {0: X, 1: X}):
                verdict = judge.judge(CallSite(text, "1", given))
                if verdict.danger is Danger.VERIFIED:
                    found |= {(finding.name, f"mindspore.{api}") for api in verdict.apis}
    return found


def test_no_call_is_verified_by_another_that_does_the_same():
    findings = {each.name: each for each in DECLARED}
    wrong = [
        f"{api} does what {name} says of {findings[name].api}"
        for name, api in sorted(verified(Judge(known.load())))
        if (source := swapped(findings[name], api)) and ended(source) == IS_THERE
    ]
    assert not wrong
