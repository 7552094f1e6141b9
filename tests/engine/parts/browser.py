"""A page in a real browser: headless Chromium, whose document is read once it has settled."""

import json
import os
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")

QUIET = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--hide-scrollbars", "--window-size=1400,1200", "--enable-logging=stderr"),
    "--virtual-time-budget=200000",
)
"""Options of a browser that asks nobody, and says on stderr what scripts complain of."""

READY = """
<script>
(async () => {
  while (!("ready" in document.documentElement.dataset)) await new Promise(requestAnimationFrame);
  const told = await (async () => { %s })();
  const text = document.createElement("pre");
  text.id = "told";
  text.textContent = JSON.stringify(told);
  document.body.append(text);
})();
</script>
"""
"""What is added to a page: it runs a script and writes down what that returns."""


class Shown(NamedTuple):
    """What came of a page. told: what the script returned; complaints: of the console."""

    told: Any
    complaints: list[str]


def program() -> str:
    """The browser. Skips the test where there is none, but where BROWSER_TESTS=required."""
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None and os.environ.get("BROWSER_TESTS") == "required":
        pytest.fail(f"none of {', '.join(PROGRAMS)} is installed")
    if found is None:
        pytest.skip(f"none of {', '.join(PROGRAMS)} is installed")
    return found


def picture(folder: Path, page: str, to: Path, state: str = "", *options: str) -> None:
    """Keep a picture of a page, as PNG.

    state, options: as for `show`.
    """
    file = folder / "picture.html"
    file.write_text(page)
    to.parent.mkdir(parents=True, exist_ok=True)
    data = f"--user-data-dir={folder / 'profile'}"
    command = [program(), *QUIET, data, *options, f"--screenshot={to}", f"{file.as_uri()}#{state}"]
    subprocess.run(command, capture_output=True, check=True, timeout=120)


def show(folder: Path, page: str, script: str, state: str = "", *options: str) -> Shown:
    """Open a page, run a script in it, and return what that returns.

    state: what its address has after the #.
    options: further options of the browser.
    """
    file = folder / "page.html"
    file.write_text(page + READY % script)
    data = f"--user-data-dir={folder / 'profile'}"
    address = f"{file.as_uri()}#{state}"
    command = [program(), *QUIET, data, *options, "--dump-dom", address]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    found = re.search(r'<pre id="told">(.*?)</pre>', done.stdout, re.S)
    complaints = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert found, f"the script did not end: {complaints or done.stderr[-2000:]}"
    return Shown(json.loads(unescape(found[1])), complaints)
