"""The journal of a long measurement: it goes on after any end, and mixes no two measurements."""

import subprocess
import sys

import pytest

from benchmarks import journal


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal.jsonl"


def written(path, *records):
    kept = journal.Journal(path)
    for record in records:
        kept.append(record)
    kept.close()


def read(path):
    kept = journal.Journal(path)
    kept.close()
    return kept.records


def test_a_line_that_was_cut_off_is_dropped_and_overwritten(path):
    written(path, {"unit": 1}, {"unit": 2})
    path.write_bytes(path.read_bytes()[:-4])
    assert read(path) == [{"unit": 1}]
    written(path, {"unit": 3})
    assert read(path) == [{"unit": 1}, {"unit": 3}]


def test_a_record_is_kept_as_a_later_run_reads_it(path):
    """A study reports the records of both; the least of a pair and a list is an error."""
    kept = journal.Journal(path)
    kept.append({"faintest": (40.0, "case")})
    kept.close()
    assert kept.records == read(path) == [{"faintest": [40.0, "case"]}]


def test_a_journal_of_other_code_is_refused(path, monkeypatch):
    written(path, {"unit": 1})
    monkeypatch.setattr(journal, "measured_with", lambda: {"sources": "others"})
    with pytest.raises(SystemExit, match="measured with other code or versions; move it away"):
        read(path)


def test_nothing_is_kept_that_was_measured_while_the_sources_changed(path, monkeypatch):
    kept = journal.Journal(path)
    with monkeypatch.context() as patch:
        patch.setattr(journal, "measured_with", lambda: {"sources": "others"})
        with pytest.raises(SystemExit, match="the sources changed while they were measured"):
            kept.append({"unit": 1})
    kept.close()
    assert read(path) == []


def test_a_damaged_journal_is_refused(path):
    written(path, {"unit": 1})
    path.write_text(path.read_text() + "{nonsense\n")
    with pytest.raises(SystemExit, match="is damaged"):
        read(path)


def test_two_studies_do_not_write_one_journal(path):
    kept = journal.Journal(path)
    with pytest.raises(SystemExit, match="is being written by another run"):
        journal.Journal(path)
    kept.close()
    assert read(path) == []


USED = """
import sys
from equivalence.host.isolation import isolated
from tests.engine.benchmarks.test_false_alarms import of, measure
assert not measure(of(), [0])["alarms"]
print(*sorted(m for m in sys.modules if m.startswith("equivalence.")))
"""


@pytest.mark.nightly
def test_the_sources_that_count_are_those_that_a_comparison_loads():
    run = [sys.executable, "-c", USED]
    loaded = subprocess.run(run, cwd=journal.ROOT, capture_output=True, text=True, check=True)
    names = {path.relative_to(journal.ROOT).as_posix() for path in journal.deciding()}
    files = {f"{module.replace('.', '/')}.py" for module in loaded.stdout.split()}
    # The catalogue's collector loads declarations of every kind.
    files -= {"equivalence/declare/data_parallel.py", "equivalence/declare/initial.py"}
    # The study says how far it is, looks whether memory suffices, and ends what hangs.
    files -= {"equivalence/progress.py", "equivalence/host/memory.py", "equivalence/processes.py"}
    assert {file for file in files if (journal.ROOT / file).exists()} <= names  # else a room
    assert {"equivalence/judge/verdict.py", "ms_models/conv.py", "tests/twins/conv.py"} <= names
    assert not {"equivalence/plugin/options.py", "equivalence/report/text.py"} & names


def test_a_change_of_a_source_that_counts_is_another_measurement(tmp_path, monkeypatch):
    source = tmp_path / "equivalence/judge/verdict.py"
    source.parent.mkdir(parents=True)
    source.write_text("BUDGET = 16")
    monkeypatch.setattr(journal, "ROOT", tmp_path)
    monkeypatch.setattr(journal, "deciding", lambda: [source])
    before = journal.measured_with()
    assert before == journal.measured_with()
    source.write_text("BUDGET = 17")
    assert before != journal.measured_with()
