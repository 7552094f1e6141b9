"""The plugin's entry point: loads the rest where a project has files of declarations.

pytest imports this file in every project of the environment, so it imports little, and does nothing
in a project of something else. Entry point and module have the same name, so that a conftest.py
that names `equivalence.plugin` does not load this twice.

PYTEST_DONT_REWRITE: it is imported before pytest could rewrite its assertions; it has none.
"""

import fnmatch
import glob
import itertools
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from equivalence.host import environment

DEFAULT = ("twins_*.py",)
"""The files of declarations, unless the ini option `twins` names others."""

TUPLES = ("TWINS", "PIPELINES", "INITIALS", "TRAININGS")
"""What a file calls the tuples of what it declares."""

_DECLARES = re.compile(rf"^({'|'.join(TUPLES)})\b".encode(), re.MULTILINE)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(
        "twins",
        type="args",
        default=[],
        help=f"files of declarations of the plugin equivalence (default: {' '.join(DEFAULT)})",
    )


def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Prepare the process and load the plugin, before a conftest.py imports a framework."""
    named, folders = _roots(early_config)
    files = (*named, *_files(folders, early_config.getini("norecursedirs")))
    if any(declares(early_config, file, file in named) for file in files):
        environment.prepare()
        _load(early_config.pluginmanager)
    elif early_config.getini("twins") and folders == [early_config.rootpath]:
        raise pytest.UsageError(
            f"{early_config.inipath}: twins = {' '.join(early_config.getini('twins'))}, and there "
            f"is no such file in {early_config.rootpath}"
        )


def declares(config: pytest.Config, file: Path, named: bool) -> bool:
    """Whether a file holds declarations.

    named: whether the command line names the file, which then may have any name.

    A file that only has the default name may be a stranger's: it must tell of this package.
    """
    if file.suffix != ".py":
        return False
    given = config.getini("twins")
    if any(file.match(pattern) for pattern in given):
        return True
    named = named and not any(file.match(pattern) for pattern in config.getini("python_files"))
    if not named and (given or not any(file.match(pattern) for pattern in DEFAULT)):
        return False
    text = file.read_bytes() if file.is_file() else b""
    return bool(_DECLARES.search(text)) or (not named and b"equivalence" in text)


def _roots(config: pytest.Config) -> tuple[list[Path], list[Path]]:
    """The files and the folders that this run collects from, as far as they are known by now."""
    here = config.invocation_params.dir
    named = [argument.partition("::")[0] for argument in config.known_args_namespace.file_or_dir]
    roots = [here / name for name in named if (here / name).exists()]
    if roots and _may_be_values(config, named):
        roots.append(here)
    if not roots and here == config.rootpath:
        patterns = [os.path.join(here, name) for name in config.getini("testpaths")]
        found = [path for each in patterns for path in sorted(glob.iglob(each, recursive=True))]
        roots = [Path(path) for path in found]
    roots = roots or [here]
    return [path for path in roots if path.is_file()], [path for path in roots if path.is_dir()]


def _may_be_values(config: pytest.Config, named: Sequence[str]) -> bool:
    """Whether each name may be the value of an option, such as cand in `--candidate cand`.

    Options of the plugin are not known yet, so that their values look like files.
    """
    given = [str(word).partition("::")[0] for word in config.invocation_params.args]
    after = {b for a, b in itertools.pairwise(given) if re.match(r"--[a-z-]+$", a)}
    return {*named} <= after


def _files(folders: Sequence[Path], passed_over: Sequence[str]) -> Iterator[Path]:
    """The Python files below folders, but for those that pytest does not look into."""
    for root in folders:
        for folder, inner, names in os.walk(root):
            inner[:] = [
                name
                for name in inner
                if not any(fnmatch.fnmatch(name, pattern) for pattern in passed_over)
                and not os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))
            ]
            yield from (Path(folder, name) for name in names if name.endswith(".py"))


def _load(manager: pytest.PytestPluginManager) -> None:
    try:
        manager.import_plugin("equivalence.plugin")
    except ValueError as error:  # of argparse, which knows no plugins
        raise pytest.UsageError(
            f"another plugin has an option of the plugin equivalence: {error}; leave one of them "
            "out, with `-p no:NAME`"
        ) from None
