"""What every verdict depends on: each part alone changes the digest."""

import os

import pytest

from equivalence.host import conditions


@pytest.fixture
def site(tmp_path):
    """A folder of one installed package, of two files."""
    files = {"nets/__init__.py": "WIDTH = 3\n", "nets/kernel.so": "\x7fELF"}
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    described = tmp_path / "nets-1.0.dist-info"
    described.mkdir()
    rows = [f"{name},sha256=x,{len(text)}" for name, text in files.items()]
    (described / "RECORD").write_text("\n".join([*rows, "nets/__init__.pyc,,"]) + "\n")
    return tmp_path


def packages(folder):
    return conditions.packages(str(folder))[0]


def test_packages_are_the_same_wherever_they_lie_and_whenever_they_were_installed(site, tmp_path):
    before = packages(site)
    moved = site.rename(tmp_path.with_name(f"{tmp_path.name}-moved"))
    (moved / "nets" / "__pycache__").mkdir()
    (moved / "nets" / "__pycache__" / "kernel.pyc").write_text("compiled")
    for path in moved.rglob("*"):
        os.utime(path, (1e9, 1e9))
    assert packages(moved) == before


def another_version(site):
    site.joinpath("nets-1.0.dist-info").rename(site / "nets-1.1.dist-info")


def edited(site):
    (site / "nets" / "__init__.py").write_text("WIDTH = 4\n")


def longer(site):
    path = site / "nets" / "__init__.py"
    path.write_text("WIDTH = 30\n")
    os.utime(path, (1e9, 1e9))


def deleted(site):
    (site / "nets" / "kernel.so").unlink()


def added(site):
    (site / "nets" / "other.py").touch()


@pytest.mark.parametrize("edit", [another_version, edited, longer, deleted, added])
def test_a_package_that_is_not_as_it_was_installed_is_another(site, edit):
    for path in site.rglob("*.py"):
        os.utime(path, (1e9, 1e9))
    before = packages(site)
    edit(site)
    assert packages(site) != before


def test_a_file_that_was_edited_twice_is_another_each_time(site):
    path, found = site / "nets" / "__init__.py", set()
    for width in (4, 5):
        path.write_text(f"WIDTH = {width}\n")
        os.utime(path, (9e9, 9e9))
        found.add(packages(site))
    assert len(found) == 2


def test_a_folder_of_packages_is_one_with_descriptions(site, monkeypatch, tmp_path_factory):
    own = tmp_path_factory.mktemp("own")
    monkeypatch.setattr("sys.path", [str(own), str(site)])
    assert conditions.installed_folders() == [os.path.realpath(site)]
    assert conditions.is_known(str(site / "nets" / "__init__.py"))
    assert conditions.is_known(conditions.__file__)
    assert conditions.is_known(os.__file__)
    assert not conditions.is_known(str(own / "nets.py"))


def test_variables_of_a_session_are_left_out_and_all_others_count():
    session = {"PWD": "/x", "GITHUB_RUN_ID": "7", "PYTEST_CURRENT_TEST": "a", "TERM": "dumb"}
    matter = {"OMP_NUM_THREADS": "2", "MS_DEV_X": "1", "LD_PRELOAD": "x.so", "OF_MY_OWN": ""}
    assert conditions.environment(session | matter) == matter


@pytest.fixture
def digest(monkeypatch, tmp_path):
    """The digest of an engine of one file, without packages."""
    (tmp_path / "engine.py").write_text("BUDGET = 16\n")
    monkeypatch.setattr(conditions, "ENGINE", tmp_path)
    monkeypatch.setattr(conditions, "installed_folders", list)

    def of(options=None, **variables):
        return conditions.digest(options or {"seed": 0}, variables)[0]

    return of


def test_the_engine_options_and_variables_count(digest, tmp_path):
    before = digest(OMP_NUM_THREADS="1")
    assert digest(OMP_NUM_THREADS="1", PWD="/elsewhere") == before
    assert digest(OMP_NUM_THREADS="2") != before
    assert digest({"seed": 1}, OMP_NUM_THREADS="1") != before
    (tmp_path / "engine.py").write_text("BUDGET = 17\n")
    assert digest(OMP_NUM_THREADS="1") != before


def test_the_interpreter_and_the_processor_count(digest, monkeypatch):
    found = {digest()}
    monkeypatch.setattr("sys.version", "3.99")
    found.add(digest())
    monkeypatch.setattr(conditions, "_processor", lambda: ["model name: other"])
    found.add(digest())
    assert len(found) == 3


@pytest.mark.usefixtures("digest")
def test_the_time_of_the_last_edit_is_told(tmp_path):
    written = (tmp_path / "engine.py").stat().st_ctime
    assert conditions.digest({}, {})[1] == written
