"""Both scripts of the pair whose mistakes show late, with the result of their first steps."""

import pytest

from equivalence.dry.compare import dry
from equivalence.scripts.compare import trainings
from equivalence.scripts.running import ScriptTraining
from tests.engine.dry.mistakes import PAIRS
from tests.engine.scripts.conftest import folder  # noqa: F401

NAMES = ("late_torch.py", "late_mindspore.py")


@pytest.fixture(scope="session")
def first():
    """The result of the first two steps of the right pair."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(PAIRS)
        sides = zip(("reference", "candidate"), NAMES, strict=True)
        return trainings(*(ScriptTraining(role, name) for role, name in sides), 2, {})


@pytest.fixture
def late(folder, first):  # noqa: F811
    """Runs the pair dry, with edits of the port; anew: after two steps of the edited pair."""

    def run(*edits, reference=(), anew=False, **options):
        for name, changes in zip(NAMES, (reference, edits), strict=True):
            text = (PAIRS / name).read_text()
            for old, new in changes:
                assert old in text
                text = text.replace(old, new)
            (folder / name).write_text(text)
        sides = zip(("reference", "candidate"), NAMES, strict=True)
        theirs, ours = (ScriptTraining(role, name) for role, name in sides)
        given = trainings(theirs, ours, 2, {}) if anew else first
        return dry(theirs, ours, given, {}, **options)

    return run
