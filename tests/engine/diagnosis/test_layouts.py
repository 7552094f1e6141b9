"""A layer whose partner has its tensors in another layout is fed by itself, too."""

import pytest

from equivalence.declare.draws import normal
from equivalence.diagnosis.diagnose import diagnose
from tests.engine.parts.small import case

PT, MS = "tests.engine.parts.laid_pt:", "tests.engine.parts.laid_ms:"
LINE, PIXELS = normal(2, 4, 9), normal(2, 4, 5, 6)


def diagnosed(reference, candidate, x, **options):
    return diagnose(case(PT + reference, MS + candidate, x, **options), 0, every=True)


@pytest.mark.parametrize("execution", ["pynative", "graph"])
@pytest.mark.parametrize(("name", "x"), [("Line", LINE), ("Pixels", PIXELS)])
def test_right_layers_of_other_axes_are_right_by_themselves(name, x, execution):
    found = diagnosed(name, name, x, execution=execution)
    assert found.culprits == []
    assert {layer.reference for layer in found.layers} >= {"conv"}
    for layer in found.layers:
        assert layer.unfed == ""
        assert max(layer.forward, layer.backward) < 8
        assert max(layer.inherited_forward, layer.inherited_backward) < 8


@pytest.mark.parametrize("phase", ["train", "eval"])
def test_a_wrong_one_is_the_culprit_and_all_else_is_right(phase):
    found = diagnosed("Line", "shifted", LINE, phase=phase)
    (culprit,) = found.culprits
    assert culprit.reference == "conv"
    assert "output.0: shifted by -1 along axis 2" in culprit.causes
    assert found.mended == "all outputs and gradients are right"
    assert not found.notes


def test_what_is_wrong_beside_it_is_found_with_the_original_in_its_place():
    found = diagnosed("Line", "shifted_and_scaled", LINE, phase="eval")
    first, second = found.culprits
    assert first.reference == "conv"
    assert second.statement.endswith("return self.last(y * self.factor)[:, :, 0]")


def test_a_dense_layer_on_rows_is_fed_its_rows():
    found = diagnosed("Pixels", "Flat", PIXELS, phase="eval")
    layers = {layer.reference: layer for layer in found.layers}
    assert layers["mix"].unfed == ""
    assert layers["mix"].forward > 8
    assert layers["conv"].forward < 8
