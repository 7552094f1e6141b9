"""docs/random.md is true: the networks that it shows have the answer that it prints."""

import re
from pathlib import Path

from equivalence.__main__ import main

PAGE = (Path(__file__).parents[3] / "docs" / "random.md").read_text()


def test_the_dropout_at_another_place_is_told_as_the_page_has_it(tmp_path, monkeypatch, capsys):
    for name, source in re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```$", PAGE, re.S | re.M):
        (tmp_path / name).write_text(source)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    told = re.search(r"^```text\n(.*?)^```$", PAGE, re.S | re.M).group(1)
    command = ["compare", "t:Block", "m:Block", "--input", "normal(8, 16)", "--phase", "train"]
    assert main(command) == 1
    assert told in capsys.readouterr().out
