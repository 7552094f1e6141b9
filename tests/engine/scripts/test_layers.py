"""The first layer that departs, or the code of the network before, within or after a layer."""

import pytest


@pytest.mark.parametrize(
    ("edit", "told", "line"),
    [
        (
            ("self.bn = nn.BatchNorm2d(4)", "self.bn = nn.BatchNorm2d(4, eps=0.1)"),
            "bn (BatchNorm2d)",
            "self.bn(self.conv(x))",
        ),
        (
            ('approximate="none"', 'approximate="tanh"'),
            "the network's code before drop (Dropout)",
            "return self.fc(self.drop(x))",
        ),
        (
            ("return self.fc(self.drop(x))", "return self.fc(self.drop(x)) * 1.01"),
            "the network's code after fc",
            "return self.fc(self.drop(x)) * 1.01",
        ),
    ],
)
def test_the_first_that_departs_is_named_with_its_line(compared, edit, told, line):
    result = compared("plain", edit, steps=1)
    assert result.culprit.told == told
    assert line in result.culprit.line
    assert result.culprit.of_reference.startswith("plain_torch.py:")


def test_the_code_of_a_layer_is_named_where_all_within_it_is_right(compared):
    inside = (
        "class Head(nn.Cell):\n    def __init__(self):\n        super().__init__()\n"
        "        self.fc = nn.Dense(36, 5)\n    def construct(self, x):\n"
        "        return self.fc(x) * {}\n\n\nclass Net(nn.Cell):"
    )
    theirs = (
        "class Head(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.fc = nn.Linear(36, 5)\n    def forward(self, x):\n"
        "        return self.fc(x) * 2\n\n\nclass Net(nn.Module):"
    )
    reference = [("class Net(nn.Module):", theirs), ("nn.Linear(4 * 9, 5)", "Head()")]
    edits = [("class Net(nn.Cell):", inside.format(3)), ("nn.Dense(4 * 9, 5)", "Head()")]
    result = compared("plain", *edits, steps=1, reference=reference)
    assert result.culprit.told == "the code of fc (Head)"
    assert result.culprit.line.endswith("return self.fc(x) * 3")


def test_a_layer_whose_weights_the_script_has_changed_is_told_with_these(compared):
    changes = "        net.fc.weight.data.clamp_(-0.05, 0.05)\n        scheduler.step()"
    reference = ("        scheduler.step()", changes)
    result = compared("plain", steps=2, reference=[reference])
    assert result.verdict.departures[0].step == 2
    assert result.culprit.told == (
        "fc (Linear), whose weight differs when it is called: what the two scripts do after the "
        "update of step 1 differs"
    )


def test_nothing_is_looked_for_where_outputs_are_right(compared):
    edit = ("grads = ops.clip_by_global_norm(grads, 0.5)", "pass")
    assert compared("plain", edit, steps=1).culprit is None
