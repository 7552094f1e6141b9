"""What a MindSpore training shows, in PyNative mode and in graph mode."""

import mindspore as ms
import numpy as np
import pytest
from mindspore import nn, ops

from equivalence.host.isolation import isolated
from equivalence.scripts.mindspore_side import GRAPH, MindSporeSide
from equivalence.scripts.recording import RunRecorder
from equivalence.scripts.running import ScriptTraining
from equivalence.scripts.steps import SET
from equivalence.targets import offered

X, Y = np.arange(6, dtype="float32").reshape(2, 3), np.array([0, 1], "int32")


def made():
    ms.set_seed(3)
    net = nn.SequentialCell(nn.Dense(3, 4), nn.ReLU(), nn.Dense(4, 2))
    return net, nn.SGD(net.trainable_params(), 0.1)


def functional(scaler=None):
    net, optimizer = made()

    def forward(x, y):
        loss = ops.cross_entropy(net(x), y)
        return scaler.scale(loss) if scaler else loss

    grad = ms.value_and_grad(forward, None, optimizer.parameters)
    net.set_train()
    while True:
        _, grads = grad(ms.Tensor(X), ms.Tensor(Y))
        optimizer(scaler.unscale(grads) if scaler else grads)


def one_step(mode=ms.PYNATIVE_MODE, scale=None):
    ms.set_context(mode=mode)
    net, optimizer = made()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer, scale)
    step.set_train()
    while True:
        step(ms.Tensor(X), ms.Tensor(Y))


@pytest.fixture
def run():
    """Runs a function; gives what was seen."""

    def run(function, *arguments, steps=1, given=None, eager=False):
        recorder = RunRecorder(MindSporeSide(eager), steps, given)
        with isolated(), offered(lambda: function(*arguments), "training") as target:
            ScriptTraining("candidate", target).run(recorder, recorder.side.watching(recorder))
        return recorder.run

    return run


class Doubled(nn.Cell):
    def construct(self, x):
        return x * (2 if self.training else 1)


@pytest.mark.parametrize("layer", [nn.ReLU, nn.Dropout, Doubled])
def test_a_network_tells_whether_anything_in_it_asks_for_its_mode(layer, run):
    def stepping():
        net = nn.SequentialCell(nn.Dense(3, 4), layer(), nn.Dense(4, 2))
        optimizer = nn.SGD(net.trainable_params(), 0.1)
        grad = ms.value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters)
        optimizer(grad(ms.Tensor(X))[1])

    assert run(stepping).networks[0].reads_mode is (layer is not nn.ReLU)


def test_the_mode_of_a_norm_is_its_own_within_what_level_o2_puts_around_it(run):
    def stepping():
        net = nn.SequentialCell(nn.Dense(3, 4), nn.BatchNorm1d(4), nn.Dense(4, 2)).set_train()
        net = ms.amp.auto_mixed_precision(net, "O2")
        optimizer = nn.SGD(net.trainable_params(), 0.1)
        grad = ms.value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters)
        optimizer(grad(ms.Tensor(X))[1])

    norms = [each for each in run(stepping).networks[0].layers if each.kind == "BatchNorm1d"]
    assert [each.settings["batch_statistics"] for each in norms] == ["in training"] * 2
    assert {each.made_by[0] for each in norms} == {"nn.BatchNorm1d"}


def test_nothing_stays_of_the_watching(run):
    before = nn.Cell.__call__, ops.cross_entropy, nn.Optimizer.__init__, ms.set_context
    run(functional, eager=True)
    assert (nn.Cell.__call__, ops.cross_entropy, nn.Optimizer.__init__, ms.set_context) == before


def test_a_step_cell_shows_what_a_function_shows(run):
    (step,), (plain,) = run(one_step).steps, run(functional).steps
    assert len(step.calls) == len(step.targets) == len(step.losses) == 1
    assert step.targets[0].inputs[0].values.tolist() == [0, 1]
    for part in ("gradients", "reached", "weights"):
        theirs, ours = getattr(plain, part), getattr(step, part)
        assert {*theirs} == {*ours}
        assert all(np.array_equal(theirs[n].values, ours[n].values) for n in theirs)


def test_a_scaled_loss_is_seen_before_it_is_scaled(run):
    (step,) = run(functional, ms.amp.StaticLossScaler(256.0)).steps
    (plain,) = run(functional).steps
    assert step.scale == 256.0
    assert np.allclose(step.losses, plain.losses)
    for name, values in plain.gradients.items():
        assert np.allclose(step.gradients[name].values, values.values, rtol=1e-6)


def test_a_step_of_a_fixed_scale_shows_it_and_its_gradients_without_it(run):
    (step,), (plain,) = run(one_step, ms.PYNATIVE_MODE, 256.0).steps, run(one_step).steps
    assert (step.scale, plain.scale) == (256.0, None)
    assert np.allclose(step.losses, plain.losses)
    for name, values in plain.gradients.items():
        assert np.allclose(step.gradients[name].values, values.values, rtol=1e-6)


class Clipping(nn.TrainOneStepWithLossScaleCell):
    """A step as those of language models are written."""

    def construct(self, x, y):
        loss = self.network(x, y)
        status, scale = self.start_overflow_check(loss, self.scale_sense)
        grads = self.grad(self.network, self.weights)(x, y, ops.cast(scale, loss.dtype))
        grads = self.hyper_map(ops.partial(unscaled, scale), grads)
        grads = ops.clip_by_global_norm(grads, 1e3)
        overflow = self.process_loss_scale(self.get_overflow_status(status, grads))
        if not overflow:
            loss = ops.depend(loss, self.optimizer(grads))
        return loss, overflow, scale


unscaled = ops.MultitypeFuncGraph("unscaled")


@unscaled.register("Tensor", "Tensor")
def of_tensor(scale, grad):
    return grad * ops.reciprocal(scale)


STEP = nn.TrainOneStepWithLossScaleCell


def overflowing(mode, kind=STEP):
    ms.set_context(mode=mode)
    net, optimizer = made()
    scale = nn.DynamicLossScaleUpdateCell(2.0**100, scale_factor=2, scale_window=1000)
    with_loss = nn.WithLossCell(net, nn.CrossEntropyLoss())
    step = kind(with_loss, optimizer, scale)
    step.set_train()
    for factor in (-1e20, 1.0, 1.0):
        step(ms.Tensor(X * np.float32(factor)), ms.Tensor(Y))


@pytest.mark.parametrize("kind", [STEP, Clipping])
@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_a_step_that_skips_its_update_belongs_to_the_one_that_follows(run, mode, kind):
    found = run(overflowing, mode, kind, steps=2)
    (plain,) = run(functional).steps
    first, second = found.steps
    targets = (
        2 if mode == ms.PYNATIVE_MODE else 0
    )  # by itself a compiled step does not tell them from inputs
    assert (first.overflows, len(first.calls), len(first.losses)) == (1, 2, 2)
    assert len(first.targets) == targets
    assert (second.overflows, len(second.calls)) == (0, 1)
    assert [step.scale for step in found.steps] == [2.0**99] * 2
    assert any("all_finite of its gradients stands for it" in note for note in found.notes)
    for name, stored in plain.weights.items():
        assert np.allclose(first.weights[name].values, stored.values, rtol=1e-5)
    for name, stored in first.reached.items():
        assert np.allclose(stored.values, plain.gradients[name].values, rtol=1e-5)
        assert np.allclose(first.gradients[name].values, stored.values, rtol=1e-5)


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_a_step_that_skips_its_update_gets_the_batch_of_its_own_pass(run, mode):
    first = run(overflowing, ms.PYNATIVE_MODE)
    for call in first.steps[0].calls:
        call.inputs[0].values[:] *= 2
    second = run(overflowing, mode, given=first)
    theirs, ours = first.steps[0].weights, second.steps[0].weights
    assert not all(np.allclose(ours[name].values, theirs[name].values) for name in theirs)


def test_a_compiled_step_shows_data_loss_and_weights(run):
    found, plain = run(one_step, ms.GRAPH_MODE), run(one_step)
    (step,), (other,) = found.steps, plain.steps
    assert found.notes == [GRAPH]
    assert step.gradients == step.reached == step.calls[0].outputs == {}
    assert np.allclose(step.losses, other.losses)
    for name, stored in other.weights.items():
        assert np.allclose(step.weights[name].values, stored.values, atol=1e-6)


def test_without_graphs_a_compiled_step_shows_all(run):
    (step,) = run(one_step, ms.GRAPH_MODE, eager=True).steps
    assert step.reached
    assert step.calls[0].outputs


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_a_step_cell_gets_weights_and_batches_of_a_first_run(run, mode):
    first = run(one_step)
    for network in first.networks:
        for values in network.initial.values():
            values += 0.5
    first.steps[0].calls[0].inputs[0].values[:] = 1.0
    second = run(one_step, mode, given=first)
    assert np.array_equal(second.steps[0].calls[0].inputs[0].values, X)
    again = run(one_step, given=first)
    for name, stored in again.steps[0].weights.items():
        assert np.allclose(second.steps[0].weights[name].values, stored.values, atol=1e-6)
    plain = run(one_step).steps[0]
    assert not np.allclose(second.steps[0].losses, plain.losses)


def test_a_network_is_called_once_in_a_step_of_other_data(run):
    first = run(one_step)
    first.steps[0].calls[0].inputs[0].values[:] = 1.0
    assert len(run(one_step, given=first).steps[0].calls) == 1


def test_dropouts_keep_everything_and_are_counted(run):
    def train():
        net = nn.SequentialCell(nn.Dense(3, 2), nn.Dropout(p=0.9))
        optimizer = nn.SGD(net.trainable_params(), 0.1)
        grad = ms.value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters)
        net.set_train()
        while True:
            optimizer(grad(ms.Tensor(X))[1])

    found = run(train)
    assert found.pinned == 1
    assert (found.steps[0].calls[0].outputs["0"].values != 0).all()


def test_draws_are_handed_over_by_law_and_shape_and_others_are_told(run):
    def train():
        net = nn.Dense(3, 2)
        optimizer = nn.SGD(net.trainable_params(), 0.1)
        grad = ms.value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters)
        while True:
            optimizer(grad(ops.randn(2, 3) + ops.rand(1, 3))[1])

    first = run(train)
    ones = np.ones((2, 3), "float32")
    first.steps[0].draws = [("uniform", ones[:, :2]), ("normal", ones)]
    first.steps[0].calls = []
    second = run(train, given=first)
    inputs = second.steps[0].calls[0].inputs[0].values
    assert np.allclose(inputs, 1.0 + second.steps[0].draws[1][1])
    assert second.notes[0].startswith("drawn by the port alone, and kept: uniform numbers, 1x3 (")


def test_rates_are_those_of_each_step(run):
    def train():
        net = nn.Dense(3, 2)
        optimizer = nn.Momentum(net.trainable_params(), [0.3, 0.2, 0.1], 0.9)
        grad = ms.value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters)
        while True:
            optimizer(grad(ms.Tensor(X))[1])

    rates = [step.settings["lr"]["0:weight"] for step in run(train, steps=3).steps]
    assert np.allclose(rates, [0.3, 0.2, 0.1])


@pytest.mark.parametrize("sets", [True, False])
def test_a_weight_that_is_set_and_no_longer_updated_is_told_with_the_line(run, sets):
    def train():
        net, optimizer = made()
        net[0].weight.set_data(net[0].weight + 1)  # before any update it does no harm
        grad = ms.value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters)
        while True:
            optimizer(grad(ms.Tensor(X))[1])
            if sets:
                net[2].bias.set_data(net[2].bias * 0.5)

    first, second = run(train, steps=2).steps
    assert SET not in first.lines
    assert ("net[2].bias.set_data" in second.lines.get(SET, "")) is sets
