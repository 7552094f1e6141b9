"""Public reports: what they claim is called on both sides, and the verdict is what comes out."""

import json

import numpy as np
import pytest

from equivalence.errors import FindingError
from equivalence.findings import reports, scripts

DECLARED = reports.read()
NAMES = {each.name for each in scripts.read_all(scripts.FOLDER)}
ISSUE = "https://github.com/a/b/issues/7"
ROUNDINGS = 64
"""How much a sum of some thousand terms may differ, in roundings of the largest result."""


def array(value):
    """A result of either framework as NumPy's."""
    value = value.detach().numpy() if hasattr(value, "detach") else value
    return np.asarray(value.asnumpy() if hasattr(value, "asnumpy") else value)


@pytest.fixture(scope="module")
def call():
    """Calls an expression of a report."""
    import mindspore as ms
    import mindspore.numpy as mnp
    import torch
    import torch.nn.functional as F

    ms.set_context(mode=ms.PYNATIVE_MODE)

    def random(*sizes):
        return torch.tensor(np.random.default_rng(0).standard_normal(sizes, np.float32))

    known = {"torch": torch, "F": F, "ms": ms, "mnp": mnp, "np": np, "random": random}
    with np.errstate(all="ignore"):
        yield lambda text: array(eval(text, {**known, "nan": np.nan, "inf": np.inf}))


def outcome(expected, got):
    """Whether results are equal, differ by rounding, or differ."""
    if expected.shape != got.shape or expected.dtype.kind != got.dtype.kind:
        return "differ"
    if expected.dtype.kind != "f":
        return "equal" if np.array_equal(expected, got) else "differ"
    unit = np.finfo(expected.dtype).eps / 2
    scale = np.abs(expected[np.isfinite(expected)]).max(initial=0)
    if np.array_equal(expected, got, equal_nan=True):
        return "equal"
    near = np.allclose(expected, got, rtol=0, atol=ROUNDINGS * unit * scale, equal_nan=True)
    return "rounding" if near else "differ"


MEANT = {
    "defect": {"differ"},
    "documented": {"differ"},
    "rounding": {"rounding"},
    "user's error": {"equal"},
    "not reproduced": {"equal", "rounding"},
}


@pytest.mark.parametrize("report", [each for each in DECLARED if each.torch], ids=lambda r: r.claim)
def test_what_a_report_claims_comes_out_as_its_verdict_says(report, call):
    expected = call(report.torch)
    if report.verdict == "needs Ascend":
        with pytest.raises(RuntimeError, match="unregistered"):
            call(report.mindspore)
    else:
        assert outcome(expected, call(report.mindspore)) in MEANT[report.verdict]


def test_outcomes():
    one = np.float32([1, np.nan])
    assert outcome(one, one) == "equal"
    assert outcome(one, one + np.float32(1e-6)) == "rounding"
    assert outcome(one, one + np.float32(1e-4)) == "differ"
    assert outcome(one, np.float32([np.nan, 1])) == "differ"
    assert outcome(np.array(True), np.array(False)) == "differ"
    assert outcome(np.float64([1]), np.float64([1 + 1e-10])) == "differ"


def test_reports_name_findings_that_there_are_and_a_defect_names_one():
    assert {each.shown for each in DECLARED} - {""} <= NAMES
    assert [each.claim for each in DECLARED if each.verdict == "defect" and not each.shown] == []


def test_there_are_reports_of_several_sources_and_each_is_told_once():
    claims = [(each.source, each.claim) for each in DECLARED]
    assert len(set(claims)) == len(claims) >= 40
    assert len({each.source.rpartition("/")[0] for each in DECLARED}) >= 4


def test_the_page_is_current():
    found = scripts.read_all(scripts.FOLDER)
    assert reports.PAGE.read_text() == reports.page(DECLARED, found)


def test_a_source_is_told_by_its_number_or_its_page():
    report = reports.PublicReport(ISSUE, "", "defect")
    assert report.name == "a/b#7"
    assert report._replace(source="https://gitee.com/a/b/blob/c/Adam.md").name == "Adam.md"


@pytest.mark.parametrize(
    ("report", "complaint"),
    [
        ({"claim": "a"}, "is no list of reports"),
        (
            {"source": "https://x.y/a/b/issues/7", "claim": "a", "verdict": "odd"},
            "of a/b#7 is 'odd'",
        ),
        (
            {"source": "https://x.y/a/b/issues/7", "claim": "a", "verdict": "defect"},
            "nothing shows",
        ),
    ],
)
def test_a_report_that_is_not_whole_is_refused(report, complaint, tmp_path):
    path = tmp_path / "reports.json"
    path.write_text(json.dumps([report]))
    with pytest.raises(FindingError, match=complaint):
        reports.read(path)
