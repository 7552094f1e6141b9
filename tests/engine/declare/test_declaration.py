"""Twins, pipelines and initialisers are refused for the same mistakes, each with its name."""

import pytest

from equivalence.declare.declaration import stem
from equivalence.declare.draws import normal
from equivalence.declare.initial import Initial
from equivalence.declare.pipeline import Pipeline
from equivalence.declare.twin import Twin
from equivalence.errors import DeclarationError

KINDS = {
    "twin": (Twin, {"inputs": [normal(2)]}),
    "pipeline": (Pipeline, {"files": "some.module:files"}),
    "initial": (Initial, {}),
}


def declared(kind: str, **changes):
    make, own = KINDS[kind]
    right = {"name": "it", "reference": "some.module:f", "candidate": "some.module:f", **own}
    return make(**{**right, **changes})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"name": "not one"}, "'not one': is no identifier"),
        ({"name": "class"}, "'class': is no identifier"),
        ({"candidate": "some.module"}, "candidate 'some.module' is not 'module:attribute'"),
        ({"reference": "f"}, "reference 'f' is not 'module:attribute'"),
        ({"level": "weekly"}, "level 'weekly' is not among gate, nightly"),
        ({"configs": {}}, "configs is one configuration; write a list"),
        ({"configs": []}, "configs is empty, so nothing would be compared"),
        ({"configs": [{"a": 1}, {"a": 1}]}, "several configurations share the name it-a1"),
    ],
)
def test_a_mistake_is_told_with_the_kind(kind, changes, complaint):
    with pytest.raises(DeclarationError) as refused:
        declared(kind, **changes)
    assert str(refused.value).startswith(f"{kind} ")
    assert str(refused.value).endswith(complaint)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_right_is_taken_and_may_name_a_part(kind):
    assert declared(kind).name == "it"
    assert declared(kind, reference="some.module:f.network.backbone").level == "gate"


def test_a_stem_can_be_a_file_name_and_a_test_id():
    assert stem("it", {"a": 1, "b": (2, 3), "c": (), "d": "x/y z"}) == "it-a1-b2_3-cempty-dx_y_z"
