"""The tutorial, typed from its first line to its last: each command prints what the page says."""

import pytest

from tests.tutorial import PAGE, follow


@pytest.mark.cpu
@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_every_command_prints_what_the_page_says(tmp_path):
    assert follow(tmp_path, PAGE.read_text()) == []
