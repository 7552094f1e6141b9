"""The benchmark of the diagnosis."""

import pytest

from benchmarks import diagnosis
from equivalence.declare.draws import normal
from tests.engine.parts.small import case


@pytest.mark.nightly
def test_the_diagnosis_is_measured_beside_the_comparison():
    wrong = case(
        "tests.defects.functional_reference:Attention",
        "tests.defects.functional:scaled_by_width",
        normal(2, 6, 24),
    )
    measured = diagnosis.of(wrong)
    assert measured.told.endswith("scores = scores / math.sqrt(c)")
    assert min(measured.comparison, measured.diagnosis) > 0.0
    assert measured.calls > 10
    assert measured.runs > 1


def test_the_table_has_a_row_for_each_case():
    row = diagnosis.table([diagnosis.Cost("net", 2.0, 5.0, 1000, 7, "conv (Conv2d)")])[-1]
    assert row == "| net | 2.0 | 5.0 | 1000 | 7 | conv (Conv2d) |"


def test_the_networks_are_there():
    assert {*diagnosis.USUAL} < {*diagnosis.NETWORKS}
    assert all(make() for make in diagnosis.NETWORKS.values())


def test_an_unknown_network_is_refused(capsys):
    with pytest.raises(SystemExit):
        diagnosis.main(["resnet51"])
    assert "there is no network 'resnet51'; take resnet50, " in capsys.readouterr().err
