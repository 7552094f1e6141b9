"""What is told of the statements to blame."""

import inspect

import numpy as np
import pytest

from equivalence.declare.draws import normal
from equivalence.diagnosis import diagnose, statement
from equivalence.diagnosis.statement import SEEN_LATER
from equivalence.statements import blame
from equivalence.statements.calls import Blame, Effort, Statement
from tests.defects import functional, functional_candidates
from tests.engine.parts.small import case
from tests.engine.statements import telling

KERNEL = "  the port is right, and MindSpore's kernel is not: ops.Expm1 on cpu (its own error "


def attending(candidate, reference="Attending"):
    reference = f"tests.engine.parts.attending_pt:{reference}"
    wrong = case(reference, f"tests.engine.parts.attending_ms:{candidate}", normal(2, 6, 16))
    return diagnose.tell(wrong, 0, False)[0]


def test_an_inaccurate_kernel_is_named_at_its_statement():
    lines = attending("Attending")
    assert lines[0].endswith("return ops.expm1(1e-4 * self.out(y))")
    assert lines[2].startswith(KERNEL)
    assert "finding expm1_accuracy" in lines[2]


def test_an_inaccurate_kernel_behind_a_mistake_draws_no_blame():
    lines = attending("OverQueries")
    (culprit,) = [line for line in lines if line.startswith("culprit: ")]
    assert culprit.endswith("return ops.softmax(scores / 2.0, -2)")
    assert not any("the port is right" in line for line in lines)
    assert SEEN_LATER not in lines


def test_layers_of_one_class_are_searched_once_though_time_is_up_after_that(monkeypatch):
    searched, search = [], blame.Statements.blame
    monkeypatch.setattr(
        blame.Statements, "blame", lambda self: searched.append(self) or search(self)
    )
    monkeypatch.setattr(statement, "Effort", lambda: Effort(1.0))
    lines = attending("Twice", "Twice")
    assert lines[0].endswith("return ops.softmax(scores / 2.0, -2)")
    assert lines[1] == "  in one (Attending), two (Attending)"
    assert len(searched) == 1


def test_a_mistake_behind_another_is_named_too():
    lines = telling.told(functional.DEFECTS, "scaled_by_width_and_softmax_over_queries")
    culprits = [line for line in lines if line.startswith("culprit: ")]
    assert "scores / math.sqrt(c)" in culprits[0]
    assert "ops.softmax(scores, -2)" in culprits[1]
    assert any("goes in is the same, once functional_candi" in line for line in lines)
    assert SEEN_LATER not in lines


def test_a_value_for_another_is_named_before_a_mistake_behind_it():
    lines = telling.told(functional.DEFECTS, "union_counts_twice_and_penalty_by_union")
    culprits = [line for line in lines if line.startswith("culprit: ")]
    assert len(culprits) == 2
    assert culprits[0].endswith("union = area1 + area2")
    assert culprits[1].endswith("penalty = (around - union) / union")
    assert any(
        line.endswith("(union = area1 + area2 - inner): no simple difference") for line in lines
    )


def test_it_is_said_where_more_is_wrong_than_is_named(monkeypatch):
    monkeypatch.setattr(blame, "MISTAKES", 1)
    lines = telling.told(functional.DEFECTS, "scaled_by_width_and_softmax_over_queries")
    assert sum(line.startswith("culprit: ") for line in lines) == 1
    assert SEEN_LATER in lines


def test_it_is_said_what_the_original_has_changed_in_place():
    lines = telling.told(functional.DEFECTS, "written_in_place_forgotten")
    changed = (
        "  it takes a value as it was; the original has changed it in place: relu_ in functional_r"
    )
    assert any(line.startswith(changed) for line in lines)


SETTING = ["culprits: one.norm (LayerNorm), two.norm (LayerNorm)"]


def beside(candidate):
    """The culprits of a network with a wrong setting of its norms, and the notes."""
    wrong = case(
        "tests.engine.parts.beside_pt:Net",
        f"tests.engine.parts.beside_ms:{candidate}",
        normal(2, 6, 16),
    )
    lines = diagnose.tell(wrong, 0, False)[0]
    return [line for line in lines if line.startswith("culprit")], lines


def test_a_wrong_setting_alone_is_the_only_culprit():
    culprits, lines = beside("Net")
    assert culprits == SETTING
    assert SEEN_LATER not in lines


@pytest.mark.parametrize(
    ("candidate", "statement", "why"),
    [
        (
            "OfBehind",
            "return x + 0.25 * self.fc(self.norm(x))",
            "  what goes in is the same, once one.norm is mended",
        ),
        (
            "OfBefore",
            "return x + 0.5 * self.fc(self.norm(ops.square(x)))",
            "  what goes in is the same",
        ),
        (
            "OfBackward",
            "return ops.stop_gradient(x) + 0.5 * self.fc(self.norm(x))",
            "  its result is right; the gradient that it passes back is not",
        ),
    ],
)
def test_a_mistake_in_the_code_around_a_wrong_layer_is_named_too(candidate, statement, why):
    culprits, lines = beside(candidate)
    assert culprits[:1] == SETTING
    assert [line.partition("  ")[2] for line in culprits[1:]] == [statement]
    assert "  in one (Half), two (Half)" in lines
    assert why in lines


def test_a_mistake_further_out_is_named_too():
    culprits, lines = beside("Summed")
    assert culprits[:1] == SETTING
    assert culprits[1].endswith("return self.two(self.one(x)).sum(1)")
    assert any(line.endswith("once one.norm, two.norm are mended") for line in lines)
    assert SEEN_LATER not in lines


def test_it_is_said_where_a_statement_beside_wrong_layers_is_not_found(monkeypatch):
    monkeypatch.setattr(blame.Statements, "blame", lambda *_: [])
    culprits, lines = beside("Summed")
    assert culprits == SETTING
    assert SEEN_LATER in lines


def test_why_nothing_beside_wrong_layers_could_be_watched_is_said_once(monkeypatch):
    def fail(*_):
        raise RuntimeError("no stand-in\nmore")

    monkeypatch.setattr(statement, "lend", fail)
    culprits, lines = beside("Summed")
    assert culprits == SETTING
    assert lines.count("its statements could not be watched: RuntimeError: no stand-in") == 1


def test_the_statements_of_an_installed_port_are_named(monkeypatch, tmp_path):
    package = tmp_path / "lib" / "site-packages" / "installed_port"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    source = inspect.getsource(functional_candidates)
    wrong = source.replace("scores / math.sqrt(c // HEADS)", "scores / math.sqrt(c)")
    (package / "attention.py").write_text(wrong)
    monkeypatch.syspath_prepend(package.parent)
    reference = "tests.defects.functional_reference:Attention"
    port = case(reference, "installed_port.attention:Attention", normal(2, 6, 24))
    lines = diagnose.tell(port, 0, False)[0]
    assert lines[0].startswith("culprit: attention.py:")
    assert lines[0].endswith("scores = scores / math.sqrt(c)")


def test_a_line_that_gives_several_values_is_named_once():
    gives, other, takes = (Statement("net.py", n, f"y{n}", "") for n in (1, 2, 3))
    values = np.zeros(1), np.ones(1)
    blamed = Blame(takes, None, *values, 1.0, (gives, gives, gives, other))
    assert statement._title(blamed).endswith(", or what it takes from net.py:1, net.py:2")
