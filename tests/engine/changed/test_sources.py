"""The sources that a test depends on: each of them alone changes the digest, and no other does."""

import sys
from pathlib import Path

import pytest

from equivalence.changed import sources as room
from equivalence.changed.identity import UnknownError
from equivalence.changed.sources import RECORD, Sources, lasting, own_folders
from equivalence.record.store import FORMAT

FILES = {
    "pkg/__init__.py": "from pkg import constants\n",
    "pkg/constants.py": "EPS = 1e-5\n",
    "pkg/nets.py": "import torch\nfrom .layers import conv\n\ndef net():\n    import late\n",
    "pkg/layers/__init__.py": "",
    "pkg/layers/conv.py": "from ..constants import EPS\nimport pkg\nX = pkg.tables.X\n",
    "pkg/tables.py": "X = 1\n",
    "pkg/apart.py": "Y = 1\n",
    "late.py": "Z = 1\n",
    "test_nets.py": "from pkg.nets import net\n",
}


def write(root, files):
    for name, text in files.items():
        path = Path(root, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def project(tmp_path):
    write(tmp_path, FILES)
    return tmp_path


def parts(root, *roots, reached=(), folders=(".",)):
    return Sources(root, folders, dict(reached)).parts(roots)


def test_the_sources_of_a_module_are_all_that_it_imports(project):
    of_nets = {*FILES} - {"pkg/apart.py", "test_nets.py"}
    assert {*parts(project, "pkg.nets")} == of_nets
    assert {*parts(project, "test_nets.py")} == of_nets | {"test_nets.py"}
    assert {*parts(project, "late")} == {"late.py"}
    assert parts(project, "torch.nn") == {}


@pytest.mark.parametrize("name", FILES)
def test_every_source_counts_and_no_other(project, name):
    before = Sources(project, ["."], {}).digest(["pkg.nets"])
    path = project / name
    path.write_text(path.read_text() + "# edited\n")
    same = Sources(project, ["."], {}).digest(["pkg.nets"]) == before
    assert same == (name in ("pkg/apart.py", "test_nets.py"))


def test_a_module_that_is_new_or_gone_counts(project):
    sums = [Sources(project, ["."], {}).digest(["pkg.nets"])]
    write(project, {"torch.py": "shadows = True\n"})
    sums.append(Sources(project, ["."], {}).digest(["pkg.nets"]))
    (project / "torch.py").unlink()
    (project / "late.py").unlink()
    sums.append(Sources(project, ["."], {}).digest(["pkg.nets"]))
    assert len({*sums}) == 3


def test_the_first_folder_with_a_module_gives_it(project):
    write(project, {"first/late.py": "Z = 2\n"})
    assert {*parts(project, "late", folders=["first", "."])} == {"first/late.py"}


def test_plugins_that_a_source_names_are_its_modules(project):
    write(project, {"conftest.py": 'pytest_plugins = ["pkg.apart"]\n'})
    assert "pkg/apart.py" in parts(project, "conftest.py")


def test_what_a_source_was_seen_to_reach_counts(project):
    write(project, {"data/x.npy": "1", "data/y.npy": "2"})
    reached = {"late.py": ["module pkg.apart", "file data/x.npy", "folder data"]}
    before = parts(project, "late", reached=reached)
    found = {"late.py", "pkg/apart.py", "file data/x.npy", "folder data"}
    assert found <= {*before}
    for edit in ({"data/x.npy": "3"}, {"data/z.npy": "1"}, {"pkg/apart.py": "Y = 2\n"}):
        write(project, edit)
        after = parts(project, "late", reached=reached)
        assert after != before
        before = after
    (project / "data" / "x.npy").unlink()
    assert parts(project, "late", reached=reached) != before
    assert {*parts(project, "pkg.tables", reached=reached)}.isdisjoint(found)


def test_a_file_that_a_source_names_counts(project):
    write(project, {"data/x.npy": "1", "reading.py": "X = load('data/x.npy')\n"})
    before = parts(project, "reading")
    write(project, {"data/x.npy": "2"})
    assert parts(project, "reading") != before


def test_what_the_system_tells_of_itself_is_no_file_that_counts(project):
    write(project, {"asking.py": "X = ['/proc/self/clear_refs', '/proc/self/task', '/dev/null']\n"})
    assert {*parts(project, "asking")} == {"asking.py"}


def test_a_file_that_cannot_be_read_counts_as_absent(project, monkeypatch):
    def refuse(_):
        raise PermissionError

    write(project, {"data/x.npy": "1", "reading.py": "X = load('data/x.npy')\n"})
    known = Sources(project, ["."], {})
    monkeypatch.setattr("equivalence.changed.sources.of_file", refuse)
    assert known.parts(["reading"])["file data/x.npy"] == "absent"


def test_where_a_source_cannot_be_known_nothing_that_imports_it_is(project):
    write(project, {"late.py": "exec('x = 1')\n"})
    with pytest.raises(UnknownError, match=r"late\.py calls exec"):
        parts(project, "pkg.nets")
    write(project, {"late.py": "x = 'pkg/layers'\n"})
    with pytest.raises(UnknownError, match="names the folder pkg/layers"):
        parts(project, "pkg.nets")
    assert parts(project, "pkg.tables")


def test_a_module_without_a_source_is_not_known(project):
    write(project, {"late.so": ""})
    (project / "late.py").unlink()
    suffix = next(each for each in room.PathFinder.find_spec("_ctypes").origin.split("_ctypes")[1:])
    (project / "late.so").rename(project / f"late{suffix}")
    with pytest.raises(UnknownError, match="is no source of Python"):
        parts(project, "pkg.nets")


def test_before_it_was_watched_nothing_that_is_to_be_watched_is_known(project, monkeypatch):
    write(project, {"late.py": "import importlib\nx = importlib.import_module('pkg.apart')\n"})
    assert parts(project, "late")
    monkeypatch.setattr(room, "EARLY", {str((project / "late.py").resolve())})
    with pytest.raises(UnknownError, match="calls import_module before that is watched"):
        parts(project, "late")


def test_the_record_of_a_twin_counts(project):
    entry = '"file": "a", "sha256": "b", "bytes": 1, %s'
    manifest = f'{{"format": {FORMAT}, "twins": {{"small": {{{entry}}}}}}}'
    found = []
    sample = '{"fingerprint": "f", "versions": {}, "multiplies": 1}'
    for samples in ('"samples": {}', f'"samples": {{"x": {sample}}}'):
        write(project, {"fixtures/truth/manifest.json": manifest % samples})
        found.append(parts(project, RECORD + "small"))
        found.append(parts(project, RECORD + "other"))
    assert found[0] != found[2]
    assert found[1] == found[3]
    write(project, {"fixtures/truth/manifest.json": "{"})
    with pytest.raises(UnknownError, match="is damaged"):
        parts(project, RECORD + "small")


def test_what_was_written_since_a_time_is_seen(project):
    times = [(project / name).stat().st_ctime for name in FILES]
    write(project, {"data/x.npy": "1"})
    found = Sources(project, ["."], {"pkg/tables.py": ["folder data"]})
    assert found.are_older(["late"], max(times) + 1)
    assert not found.are_older(["pkg.nets"], min(times))
    assert not found.are_older(["pkg.tables"], (project / "data" / "x.npy").stat().st_ctime)


def test_own_folders_are_those_that_hold_no_packages(project, monkeypatch):
    (project / "site" / "x-1.dist-info").mkdir(parents=True)
    places = [str(project), str(project / "pkg"), str(project / "site"), str(project)]
    monkeypatch.setattr(sys, "path", [*places, *sys.path[1:]])
    assert own_folders(project)[:2] == [".", "pkg"]
    assert "site" not in own_folders(project)


def test_what_a_run_made_for_the_time_being_is_no_source(project, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    write(elsewhere, {"x.npy": "1"})
    made = (elsewhere / "x.npy").stat().st_ctime
    file = str(project / "late.py")
    every = {f"file {elsewhere}/x.npy", f"folder {elsewhere}", f"folder {project}/pkg"}
    every |= {"file /proc/stat", "module torch", f"file {elsewhere}/none"}
    found = Sources(project, ["."], {})
    lasts = ["folder pkg", "module torch"]
    assert lasting({file: every}, made, found) == {"late.py": lasts}
    known = [f"file {elsewhere}/x.npy", *lasts]
    assert lasting({file: every}, made + 1, found) == {"late.py": known}
