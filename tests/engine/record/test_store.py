"""Damaged, cut off and foreign records are refused by name; what breaks off leaves no half file."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from equivalence.errors import RecordError
from equivalence.record import store, truths
from equivalence.record.store import FORMAT
from tests.engine.parts.recording import affine, judged, recorded

ROOT = Path(__file__).parents[3]
MEGABYTES = 20
"""What the committed records of the gate may take."""


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """The files of a folder of records, by name."""
    folder = tmp_path_factory.mktemp("recorded") / "truth"
    recorded(folder, affine())
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def folder(tmp_path, content):
    made = tmp_path / "truth"
    made.mkdir()
    for name, each in content.items():
        (made / name).write_bytes(each)
    return made


def file_of(folder):
    (path,) = folder.glob("*.safetensors")
    return path


def told(folder) -> dict:
    return json.loads((folder / "manifest.json").read_text())


def retold(folder, change) -> None:
    """Change the manifest."""
    text = told(folder)
    change(text)
    (folder / "manifest.json").write_text(json.dumps(text))


def replaced(folder, new: bytes) -> None:
    """Put another content into the file, and its checksum into the manifest."""
    file_of(folder).write_bytes(new)

    def change(text):
        text["twins"]["small"] |= {"sha256": hashlib.sha256(new).hexdigest(), "bytes": len(new)}

    retold(folder, change)


def repacked(folder, change, twin="small") -> None:
    records = store.decode_file(file_of(folder), file_of(folder).read_bytes(), "small")
    change(records)
    replaced(folder, store.encode_file(twin, records))


def flip(path) -> None:
    damaged = bytearray(path.read_bytes())
    damaged[-100] ^= 1
    path.write_bytes(damaged)


def other_format(folder) -> None:
    written = rf"{{\"format\":{FORMAT},".encode()
    replaced(folder, file_of(folder).read_bytes().replace(written, rb"{\"format\":0,"))


DAMAGE = {
    "byte": (lambda f: flip(file_of(f)), "{file} is damaged, its SHA-256 is not the manifest's"),
    "cut off": (
        lambda f: file_of(f).write_bytes(file_of(f).read_bytes()[:999]),
        "{file} is cut off, 999 of {size} bytes",
    ),
    "empty": (lambda f: file_of(f).write_bytes(b""), "{file} is cut off, 0 of {size} bytes"),
    "missing": (
        lambda f: file_of(f).unlink(),
        "{file} cannot be read (No such file or directory)",
    ),
    "header": (lambda f: replaced(f, b"\0" * 500), "{file} is no file of records"),
    "another twin's": (
        lambda f: repacked(f, lambda _: None, twin="large"),
        "{file} holds records of 'large', not of 'small'",
    ),
    "another format": (other_format, f"{{file}} has format 0, and this version reads {FORMAT}"),
    "sample": (lambda f: repacked(f, lambda r: r.clear()), "{file} lacks what 'small-"),
    "array": (
        lambda f: repacked(f, lambda r: next(iter(r.values()))[0].pop("output.0/truth")),
        "{file} lacks what 'small-",
    ),
    "figure": (
        lambda f: repacked(
            f, lambda r: next(iter(r.values()))[1]["tensors"]["output.0"]["figures"].pop()
        ),
        "{file} lacks what 'small-",
    ),
    "array of no sample": (
        lambda f: replaced(f, file_of(f).read_bytes().replace(b'"0/output.0/', b'"9/output.0/')),
        "{file} has an array '9/output.0/truth' of no sample",
    ),
    "manifest": (
        lambda f: (f / "manifest.json").write_text(f'{{"format": {FORMAT}, "tw'),
        "{folder}/manifest.json is damaged",
    ),
    "manifest of another kind": (
        lambda f: retold(f, lambda text: text.update(twins={"small": {}})),
        "{folder}/manifest.json is damaged",
    ),
    **{
        f"manifest with {what}": (
            lambda f, change=change: retold(f, lambda text: change(text["twins"]["small"])),
            "{folder}/manifest.json is damaged",
        )
        for what, change in {
            "a number for a file": lambda twin: twin.update(file=7),
            "a text for a size": lambda twin: twin.update(bytes="7"),
            "a list of samples": lambda twin: twin.update(samples=[]),
            "samples of another form": lambda twin: twin.update(samples={"small-": 7}),
            "versions of another form": lambda twin: [
                sample.update(versions=["2.9.0"]) for sample in twin["samples"].values()
            ],
        }.items()
    },
    "manifest that is a list": (
        lambda f: (f / "manifest.json").write_text("[]"),
        "{folder}/manifest.json is damaged",
    ),
    "manifest of another format": (
        lambda f: retold(f, lambda text: text.update(format=0)),
        f"{{folder}}/manifest.json has format 0, and this version reads {FORMAT}",
    ),
}


@pytest.mark.parametrize(("damage", "sentence"), DAMAGE.values(), ids=DAMAGE)
def test_damage_is_one_sentence_that_names_the_file_and_the_cure(folder, damage, sentence):
    file = file_of(folder)
    sentence = sentence.format(file=file, folder=folder, size=file.stat().st_size)
    damage(folder)
    for mode in (truths.USE, truths.REQUIRE):
        with pytest.raises(RecordError) as refused:
            judged(affine(), folder, mode)
        (line,) = str(refused.value).splitlines()
        assert line.startswith(sentence)
        assert "run pytest with --record=write where torch is installed" in line
    # Neither stands in the way where records are not read.
    assert judged(affine(), folder, truths.IGNORE).passed
    assert recorded(folder, affine()) == 1
    assert judged(affine(), folder, truths.REQUIRE).passed


def test_what_is_recorded_waits_until_it_is_put_into_the_folder(folder, content):
    other = affine(rows=31, config={"in_features": 40, "out_features": 25})
    judged(other, folder, truths.WRITE)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == content
    (part,) = (folder / "../parts").rglob("*.safetensors")
    assert store.pack([part], folder) == 1
    assert judged(affine(), folder, truths.USE).record is None  # not declared with the other
    assert judged(other, folder, truths.REQUIRE).record == "used"


@pytest.mark.parametrize("at", ["small", "manifest"])
def test_a_run_that_breaks_off_while_it_packs_leaves_the_records_of_before(
    folder, content, monkeypatch, at
):
    judged(affine(rows=31), folder, truths.WRITE)
    write = store.write

    def broken(path, new):
        if path.name.startswith(at):
            path.with_name(f"{path.name}.1.part").write_bytes(new[:100])
            raise KeyboardInterrupt
        write(path, new)

    monkeypatch.setattr(store, "write", broken)
    with pytest.raises(KeyboardInterrupt):
        store.pack((folder / "../parts").rglob("*.safetensors"), folder)
    assert {name: (folder / name).read_bytes() for name in content} == content
    assert judged(affine(), folder, truths.REQUIRE).record == "used"
    monkeypatch.undo()
    # What it left is gone after the next one.
    assert store.pack((folder / "../parts").rglob("*.safetensors"), folder) == 1
    assert len([*folder.iterdir()]) == 2


def test_samples_that_are_no_longer_declared_are_dropped(folder):
    wider = affine(config={"in_features": 40, "out_features": 25})
    assert recorded(folder, wider) == 1
    (entry,) = told(folder)["twins"].values()
    assert [key.partition(" ")[0] for key in entry["samples"]] == [wider.sample_name]


def test_of_a_reference_that_no_longer_multiplies_one_record_is_left(folder):
    recorded(folder, affine(device="ascend"))
    (entry,) = told(folder)["twins"].values()
    assert len(entry["samples"]) == 2
    shutil.rmtree(folder / "../parts")
    recorded(folder, affine(reference="tests.engine.parts.products_pt:Untouched"))
    (entry,) = told(folder)["twins"].values()
    (key,) = entry["samples"]
    assert key.endswith("u=2^-24")


def test_seeds_are_recorded_side_by_side(folder):
    recorded(folder, affine(), seed=5)
    for seed in (0, 5):
        assert judged(affine(), folder, truths.REQUIRE, seed).record == "used"


def test_the_manifest_tells_what_each_record_was_made_with(folder):
    (entry,) = told(folder)["twins"].values()
    assert entry["file"] == file_of(folder).name
    assert entry["sha256"] == hashlib.sha256(file_of(folder).read_bytes()).hexdigest()
    (sample,) = entry["samples"].values()
    assert len(sample["fingerprint"]) == 64
    assert sample["versions"].keys() == {"torch", "torchvision", "numpy"}
    assert sample["multiplies"] is True


def test_the_committed_records_are_whole_and_small():
    folder = ROOT / truths.FOLDER
    found = store.manifest(folder)
    for twin, entry in found.items():
        assert store.read(folder, twin, entry).keys() == entry["samples"].keys()
    files = [path for path in folder.glob("*") if path.name != "manifest.json"]
    assert {path.name for path in files} == {entry["file"] for entry in found.values()}
    assert sum(path.stat().st_size for path in folder.glob("*")) < MEGABYTES * 1e6
