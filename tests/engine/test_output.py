"""How every command ends."""

import json
import re

import pytest

from equivalence.errors import DeclarationError
from equivalence.output import DIFFERENT, answer, aside, demand_writable, tell, write


@pytest.mark.parametrize(("equal", "code"), [(True, 0), (False, DIFFERENT)])
def test_the_answer_is_printed_and_written_and_makes_the_exit_code(tmp_path, capsys, equal, code):
    file = tmp_path / "new" / "r.json"
    assert answer(["EQUAL.", "more"], equal, file, {"a": 1}) == code
    assert capsys.readouterr().out == "EQUAL.\nmore\n"
    assert json.loads(file.read_text()) == {"a": 1}


def test_what_is_printed_aside_is_no_part_of_the_answer(capsys):
    with aside():
        print("from a network")
        tell("running")
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "from a network\n... running\n")


def test_a_file_that_cannot_be_written_is_refused_before_and_told_after(tmp_path):
    (tmp_path / "file").write_text("")
    demand_writable(None, "--json")
    demand_writable(tmp_path / "file", "--json")
    for path, replace, words in (
        (tmp_path, True, f"--json {tmp_path} is a folder; name another file"),
        (tmp_path / "file", False, f"--json {tmp_path}/file is there already; name another file"),
        (tmp_path / "file" / "x", True, f"{tmp_path}/file cannot be written; name another file"),
    ):
        with pytest.raises(DeclarationError, match=re.escape(words)):
            demand_writable(path, "--json", replace)
    with pytest.raises(DeclarationError, match=r"file/x cannot be written: .*; name another file"):
        write(tmp_path / "file" / "x", "")
