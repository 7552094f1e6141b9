"""Data pipelines inside pytest, by runs of a small project that uses the real plugin."""

import pytest

from equivalence.host.isolation import isolated
from tests.engine.plugin.test_options import by_case, project, results, run, text_of  # noqa: F401

pytest_plugins = ["pytester"]

SUITE = """
import pytest
from tests.engine.pipelines.test_compare import case

CASES = [pytest.param(c, id=c.name) for c in (case("flipped"), case("right", batch_size=3))]


@pytest.mark.parametrize("case", CASES)
def test_pipeline(case, compare):
    compare(case)
"""


@pytest.fixture(scope="module", autouse=True)
def _frameworks():
    """Loads what `isolated` imports: a run forgets the modules that were imported in it."""
    with isolated():
        pass


def test_a_failing_pipeline_names_its_stage_and_is_counted(project):  # noqa: F811
    project.makepyfile(test_twins=SUITE)
    result = run(project, "test_twins.py")
    result.assert_outcomes(failed=1, passed=1)
    text = text_of(result)
    first = "small-pipeline-cpu: 3 of 8 tensors differ by more than rounding "
    assert f"{first}(images 3/3, labels 0/3, counts 0/2)" in text
    assert "\nculprit: crop\n  flipped left to right (in 10 of 10)\n" in text
    assert "\nevery stage: reports/diagnosis/small-pipeline-cpu.txt\n" in text
    assert "repeat: pytest 'test_twins.py::test_pipeline[small-pipeline-cpu]' --seed 0" in text
    assert "DIFFERENT in 1 of 2 cases. 18 tensors of 2 cases of 1 twin" in text
    assert "DIFFERENT. small-pipeline-cpu: all 3 images are off by up to " in text
    assert "the place to mend:\n  crop: flipped left to right (in 10 of 10)\n" in text
    written = (project.path / "reports/diagnosis/small-pipeline-cpu.txt").read_text()
    assert written.startswith("small-pipeline-cpu\n\nculprit: crop\n")
    found = by_case(results(project))
    assert [len(lines) for lines in found.values()] == [8, 10]
    assert [line["equal"] for line in found["small-pipeline-cpu"]] == [False, True] * 3 + [True] * 2


def test_the_stages_of_a_case_that_passes_are_shown_on_request(project):  # noqa: F811
    project.makepyfile(test_twins=SUITE)
    text = text_of(run(project, "test_twins.py", "-k", "batch_size3", "--diagnose"))
    assert "culprit: none; every stage is within the budget" in text
    assert "    crop       equal\n" in text
