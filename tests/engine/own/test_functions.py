"""Functions of tensors, and of networks and tensors, as targets."""

import functools

import mindspore as ms
import pytest
import torch
from mindspore import nn as ms_nn
from mindspore import ops
from torch import nn

from equivalence import DeclarationError, cases, check, compare, diagnose, integers, network, normal
from equivalence.__main__ import main
from equivalence.declare.twin import Twin
from equivalence.errors import EquivalenceError
from equivalence.targets import Plain, build

X, Y = normal(3, 4), normal(3, 4)
ONCE = {"phase": "eval", "execution": "pynative"}


class Theirs(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.fc = nn.Linear(4, width)

    def forward(self, x):
        return self.fc(x).tanh()

    def twice(self, x):
        return self(self(x))


class Ours(ms_nn.Cell):
    def __init__(self, width=4):
        super().__init__()
        self.fc = ms_nn.Dense(4, width)

    def construct(self, x):
        return ops.tanh(self.fc(x))

    def twice(self, x):
        return self.construct(self.construct(x))

    def once(self, x):
        return self.construct(x)


def loss(x, y, power=2):
    return ((x - y).abs() ** power).mean()


def ms_loss(x, y, power=2):
    return ((x - y).abs() ** power).mean()


def wrong_loss(x, y, power=2):
    return ((x - y).abs() ** power).sum()


@torch.no_grad()
def sample(model, x, steps=2):
    for step in range(steps):
        x = x - 0.1 * (step + 1) * model(x)
    return x


def ms_sample(net, x, steps=2):
    for step in range(steps):
        x = x - 0.1 * (step + 1) * net(x)
    return x


def late_sample(net, x, steps=2):
    for step in range(steps):
        x = x - 0.1 * step * net(x)
    return x


def total(*values):
    return torch.stack(values).sum(0)


def ms_total(*values):
    return ops.stack(values).sum(0)


def best(scores, k=2):
    return scores.topk(k).indices


def ms_best(scores, k=2):
    return ops.topk(scores, k)[1]


def second_best(scores, k=2):
    return ops.topk(scores, k)[1][:, ::-1]


def wide(width):
    return nn.Linear(4, len(width))


held = Theirs()


def holding(x):
    return held(x)


HERE = __name__


@pytest.mark.parametrize(
    ("theirs", "ours", "tensors"), [(loss, ms_loss, 3), (total, ms_total, 3), (best, ms_best, 1)]
)
def test_functions_of_tensors_are_compared_with_the_gradients_they_have(theirs, ours, tensors):
    inputs = [X] if theirs is best else [X, Y]
    result = compare(theirs, ours, *inputs, phase="eval")
    assert result
    assert {len(outcome.judgement.verdicts) for outcome in result.outcomes} == {tensors}


def test_a_wrong_function_is_blamed_to_its_line():
    result = compare(loss, wrong_loss, X, Y, **ONCE)
    (culprit,) = result.culprits
    assert not result
    assert "return ((x - y).abs() ** power).sum()" in culprit.statement


@pytest.mark.usefixtures("undiagnosed")
def test_a_wrong_order_of_whole_numbers_is_red():
    assert not compare(best, second_best, X, **ONCE)


@pytest.mark.usefixtures("undiagnosed")
def test_functions_of_the_frameworks_are_compared():
    assert compare(torch.sigmoid, ops.sigmoid, X, **ONCE)
    assert not compare(torch.sigmoid, ops.tanh, X, **ONCE)


@pytest.mark.parametrize("execution", ["pynative", "graph"])
@pytest.mark.parametrize(("ours", "right"), [(ms_sample, True), (late_sample, False)])
def test_a_function_gets_a_network_whose_weights_both_sides_share(ours, right, execution):
    given = network(Theirs, Ours)
    result = compare(sample, ours, X, configs=[{"net": given}], phase="eval", execution=execution)
    assert bool(result) == right
    assert dict(result.pairs) == {"net.fc.weight": "net.fc.weight", "net.fc.bias": "net.fc.bias"}
    if not right:
        assert "x = x - 0.1 * step * net(x)" in result.culprits[0].statement


@pytest.mark.usefixtures("undiagnosed")
def test_partials_and_methods_show_their_networks_which_stay_as_they_were():
    theirs, ours = Theirs(), Ours()
    weight, own = theirs.fc.weight.clone(), ours.fc.weight.asnumpy().copy()
    partials = functools.partial(sample, theirs), functools.partial(ms_sample, ours, steps=2)
    assert compare(*partials, X, phase="eval")
    assert compare(theirs.twice, ours.twice, X, **ONCE)
    assert not compare(theirs.twice, ours.once, X, **ONCE)
    assert torch.equal(theirs.fc.weight, weight)
    assert (ours.fc.weight.asnumpy() == own).all()


def test_the_result_says_what_was_found_by_trying():
    told = str(compare(sample, ms_sample, X, configs=[{"net": network(Theirs, Ours)}], **ONCE))
    assert "the reference is a function of (x, steps=2) and the network net" in told
    told = str(compare(lambda: loss, ms_loss, X, Y, **ONCE))
    assert "the reference builds a function of (x, y, power=2)" in told
    assert "the candidate is a function of (x, y, power=2)" in told


def test_a_network_that_is_found_in_the_module_is_told():
    plain = build(f"{HERE}:holding", {}, or_plain=True)
    assert isinstance(plain, Plain)
    assert plain.unseen == ["held"]


def test_a_function_that_builds_a_network_of_what_is_missing_is_told_so():
    with pytest.raises(EquivalenceError, match="since it needs width"):
        compare(wide, ms_loss, X, **ONCE)


def test_a_function_without_inputs_is_told_what_it_takes():
    with pytest.raises(DeclarationError, match=r"it is a function of \(x, y, power=2\)"):
        compare(loss, ms_loss)


def test_a_twin_of_functions_is_declared_as_ever():
    def twin(ours):
        return Twin(
            "sampler",
            f"{HERE}:sample",
            f"{HERE}:{ours}",
            [X],
            [{"net": network(f"{HERE}:Theirs", f"{HERE}:Ours", width=4), "steps": 3}],
            phases=("eval",),
        )

    assert next(cases(twin("ms_sample"), "cpu")).name.startswith("sampler-netTheirs_width4-steps3")
    assert all(check(case, 0).passed for case in cases(twin("ms_sample"), "cpu"))
    wrong = next(cases(twin("late_sample"), "cpu"))
    assert not check(wrong, 0).passed
    assert any("net(x)" in line for line in diagnose(wrong, 0).brief)


def test_the_command_takes_functions_and_networks(capsys):
    once = ["--phase", "eval", "--execution", "pynative"]
    given = f"net=network({HERE}:Theirs, {HERE}:Ours, width=4)"
    command = ["compare", f"{HERE}:sample", f"{HERE}:late_sample", "--input", "normal(3,4)", *once]
    assert main([*command, "--arguments", given]) == 1
    told = capsys.readouterr().out
    assert "--arguments 'net=network(" in told
    assert "x = x - 0.1 * step * net(x)" in told


def test_labels_and_logits_are_inputs_of_a_loss():
    def theirs(logits, labels):
        return nn.functional.cross_entropy(logits, labels)

    def ours(logits, labels):
        return ops.cross_entropy(logits, labels.astype(ms.int32))

    assert compare(theirs, ours, X, integers(3, high=4), **ONCE)


def test_what_a_function_lacks_is_not_called_the_same():
    told = str(compare(best, ms_best, X, **ONCE))
    assert "settings: none that both sides hold" in told
    assert "weights: none pair up" in told
    assert ": equal; its tensor is within 8 roundings" in told
