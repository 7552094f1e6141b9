"""What a PyTorch training shows, and that nothing of the watching stays."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from equivalence.distributed import alone
from equivalence.scripts.recording import RunRecorder
from equivalence.scripts.running import ScriptTraining
from equivalence.scripts.torch_side import TorchSide

HEAD = """
import torch
from torch import nn
from torch.nn import functional as F
torch.manual_seed(3)
net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
x, y = torch.arange(6.0).reshape(2, 3), torch.tensor([0, 1])
"""
STEP = "F.cross_entropy(net(x), y).backward()\noptimizer.step()\noptimizer.zero_grad()\n"


@pytest.fixture
def run(folder):
    """Runs code as a script; gives what was seen."""

    def run(code, steps=4, given=None, head=HEAD, **options):
        recorder = RunRecorder(TorchSide(**options), steps, given)
        (folder / "train.py").write_text(head + code)
        ScriptTraining("reference", "train.py").run(recorder, recorder.side.watching(recorder))
        return recorder.run

    return run


def test_nothing_stays_of_the_watching(run):
    before = nn.Module.__call__, F.cross_entropy, torch.autograd.backward, torch.autograd.grad
    before += torch.optim.Optimizer.__init__, torch.amp.GradScaler.scale
    run(STEP)
    after = nn.Module.__call__, F.cross_entropy, torch.autograd.backward, torch.autograd.grad
    assert (*after, torch.optim.Optimizer.__init__, torch.amp.GradScaler.scale) == before
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    net(torch.ones(1, 2)).sum().backward()
    optimizer.step()  # with no hook


def test_a_step_has_all_that_happens(run):
    (step,) = run(STEP).steps
    assert [given.values.shape for given in step.calls[0].inputs] == [(2, 3)]
    assert step.targets[0].inputs[0].values.tolist() == [0, 1]
    assert step.calls[0].outputs["0"].shape == (2, 2)
    assert {*step.gradients} == {*step.reached} == {*step.weights}
    assert step.settings["lr"] == dict.fromkeys(step.weights, 0.1)


def test_gradients_of_several_backward_passes_add_up_and_clipping_comes_after(run):
    twice = "for _ in range(2):\n    F.cross_entropy(net(x), y).backward()\n"
    clip = "nn.utils.clip_grad_norm_(net.parameters(), 0.01)\noptimizer.step()\n"
    (step,) = run(twice + clip).steps
    ((once),) = run(STEP).steps
    assert len(step.losses) == len(step.calls) == 2
    name = "0:2.weight"
    assert np.allclose(step.gradients[name].values, 2 * once.gradients[name].values)
    assert np.abs(step.reached[name].values).max() < 0.011


def test_an_optimiser_that_calls_a_closure_gets_its_gradients(run):
    code = (
        "def closure():\n    optimizer.zero_grad()\n    loss = F.cross_entropy(net(x), y)\n"
        "    loss.backward()\n    return loss\n"
    )
    plain = run(STEP + STEP).steps
    for call in ("closure", "closure=closure"):
        steps = run(code + f"optimizer.step({call})\n" * 2).steps
        for one, two in zip(plain, steps, strict=True):
            for part in ("reached", "weights"):
                theirs, ours = getattr(one, part), getattr(two, part)
                assert {*theirs} == {*ours}
                assert all(np.array_equal(theirs[n].values, ours[n].values) for n in theirs)


def test_a_scaled_loss_is_seen_before_it_is_scaled(run):
    code = (
        "scaler = torch.amp.GradScaler('cpu', init_scale=256.0)\n"
        "scaler.scale(F.cross_entropy(net(x), y)).backward()\nscaler.step(optimizer)\n"
    )
    (step,), (plain,) = run(code).steps, run(STEP).steps
    assert step.scale == 256.0
    assert step.losses[0] == plain.losses[0]
    for name, values in plain.gradients.items():
        assert np.allclose(step.gradients[name].values, values.values, rtol=1e-6)
        assert np.allclose(step.reached[name].values, values.values, rtol=1e-6)


def test_a_scaler_that_is_off_holds_nothing(run):
    assert run("scaler = torch.amp.GradScaler('cpu', enabled=False)\n" + STEP).notes == []


def test_gradients_that_are_asked_for_are_seen(run):
    code = (
        "loss = F.cross_entropy(net(x), y)\n"
        "for p, g in zip(net.parameters(), torch.autograd.grad(loss, [*net.parameters()])):\n"
        "    p.grad = g\noptimizer.step()\n"
    )
    (step,), (plain,) = run(code).steps, run(STEP).steps
    assert step.losses == plain.losses
    assert np.array_equal(step.gradients["0:0.bias"].values, plain.gradients["0:0.bias"].values)


def test_a_backward_pass_by_autograd_is_one(run):
    code = STEP.replace("F.cross_entropy(net(x), y).backward()", "{}")
    (step,) = run(code.format("torch.autograd.backward(F.cross_entropy(net(x), y))")).steps
    (plain,) = run(STEP).steps
    assert step.losses == plain.losses
    assert np.array_equal(step.gradients["0:0.bias"].values, plain.gradients["0:0.bias"].values)


@pytest.mark.parametrize("layer", ["nn.ReLU()", "nn.Dropout(0.1)", "nn.BatchNorm1d(4)", "Own()"])
def test_a_network_tells_whether_anything_in_it_asks_for_its_mode(run, layer):
    own = (
        "class Own(nn.Module):\n    def forward(self, x):\n"
        "        return x * (2 if self.training else 1)\n"
    )
    found = run(own + f"net.insert(1, {layer})\n" + STEP)
    assert found.networks[0].reads_mode is (layer != "nn.ReLU()")


def test_a_network_that_is_scripted_or_compiled_is_seen_as_it_is_written(run):
    plain = run(STEP)
    for wrap in ("torch.jit.script(net)", "torch.jit.trace(net, x)", "torch.compile(net)"):
        found = run(f"net = {wrap}\n" + STEP)
        assert found.networks[0].slots == plain.networks[0].slots
        assert found.steps[0].losses == plain.steps[0].losses


def test_calls_without_gradients_are_no_part_of_a_step(run):
    found = run("net.eval()\nwith torch.no_grad():\n    net(x)\nnet.train()\n" + STEP)
    assert len(found.steps[0].calls) == 1
    assert found.evaluations == 1


def test_a_wrapper_with_a_loss_is_not_the_network(run):
    code = (
        "class Both(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.net, self.loss = net, nn.CrossEntropyLoss()\n"
        "    def forward(self, x, y):\n        return self.loss(self.net(x), y)\n"
        "Both()(x, y).backward()\noptimizer.step()\n"
    )
    found = run(code)
    assert [each.name for each in found.networks] == ["Sequential"]
    assert found.steps[0].targets[0].inputs[0].values.tolist() == [0, 1]


def test_what_is_drawn_is_known_also_after_arithmetic(run):
    drawn = "net(torch.randn(2, 3) * 2 + x).sum().backward()\noptimizer.step()\n"
    given = "net(x + 1).sum().backward()\noptimizer.step()\n"
    steps = run(drawn + given).steps
    assert [step.calls[0].inputs[0].drawn for step in steps] == [True, False]


def test_samples_in_an_order_that_is_drawn_are_no_draws(run):
    (step,) = run("net(x[torch.randperm(2)]).sum().backward()\noptimizer.step()\n").steps
    assert [law for law, _ in step.draws] == ["permutation"]
    assert not step.calls[0].inputs[0].drawn


def test_draws_are_noted_in_order_and_initial_weights_are_none(run):
    code = "own = nn.Linear(2, 2)\nz = torch.rand(2, 3)\nz = z + torch.randint(0, 5, (1,))\n"
    code += "order = torch.randperm(2)\n"
    draws = run(code + STEP).steps[0].draws
    assert [(law, values.shape) for law, values in draws] == [
        ("uniform", (2, 3)),
        ("integers", (1,)),
        ("permutation", (2,)),
    ]


def test_what_a_loader_draws_and_what_a_layer_is_made_with_are_no_draws_of_the_script(run):
    code = (
        "class Own(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.w = nn.Parameter(torch.randn(3) * 0.1)\n    def forward(self, x):\n"
        "        return x * self.w\n"
        "class Data:\n    def __len__(self):\n        return 2\n"
        "    def __getitem__(self, i):\n        return x[i] + torch.randn(3), i % 2\n"
        "own = Own()\n"
        "for x, y in torch.utils.data.DataLoader(Data(), 1, shuffle=True):\n"
        "    F.cross_entropy(net(own(x) + torch.rand(3)), y).backward()\n    optimizer.step()\n"
    )
    steps = run(code, 2).steps
    assert [[(law, v.shape) for law, v in step.draws] for step in steps] == [
        [("uniform", (3,))],
        [("uniform", (3,))],
    ]


def test_buffers_that_are_drawn_are_known_also_after_arithmetic(run):
    code = (
        "class Own(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.register_buffer('queue', F.normalize(torch.randn(3, 2), dim=0))\n"
        "        self.register_buffer('mask', torch.ones(3))\n        self.fc = nn.Linear(3, 3)\n"
        "    def forward(self, x):\n        return self.fc(x * self.mask) @ self.queue\n"
        "own = Own()\nown.register_buffer('late', 2 * torch.rand(3))\n"
        "optimizer = torch.optim.SGD(own.parameters(), 0.1)\n"
        "own(x).sum().backward()\noptimizer.step()\n"
    )
    assert {*run(code).networks[0].drawn} == {"queue", "late"}


def test_a_copy_that_counts_its_batches_is_one_average(run):
    code = (
        "import copy\nnet = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))\n"
        "optimizer = torch.optim.SGD(net.parameters(), 0.1)\nema = copy.deepcopy(net)\n"
    )
    names = ("0.weight", "0.bias", "1.weight", "1.bias", "1.running_mean", "1.running_var")
    assert {*run(code + STEP).steps[0].averages} == {f"average 1 of 0:{n}" for n in names}


def test_a_script_of_ranks_is_the_only_rank_of_one(run):
    code = (
        "import os\nrank = int(os.environ['LOCAL_RANK'])\nimport torch.distributed as dist\n"
        "dist.init_process_group('gloo')\nassert (rank, dist.get_world_size()) == (0, 1)\n"
        "net = nn.parallel.DistributedDataParallel(net)\n"
    )
    found = run(code + STEP)
    assert found.notes == [alone.ALONE]
    assert [each.name for each in found.networks] == ["Sequential"]
    torch.distributed.destroy_process_group()


def test_what_a_network_computes_is_no_data(run):
    code = "z = nn.Linear(3, 3)\nnet(z(x).detach()).sum().backward()\noptimizer.step()\n"
    first, second = run(code).steps[0].calls
    assert [first.inputs[0].computed, second.inputs[0].computed] == [False, True]


def test_dropouts_keep_everything_and_are_counted(run):
    code = "net.append(nn.Dropout(0.9))\nnet.train()\n" + STEP
    found, plain = run(code), run(STEP)
    assert found.pinned == 1
    assert np.array_equal(
        found.steps[0].calls[0].outputs["0"].values, plain.steps[0].calls[0].outputs["0"].values
    )


def test_a_second_run_gets_weights_and_batches_of_the_first(run):
    first = run(STEP)
    other = HEAD.replace("manual_seed(3)", "manual_seed(4)").replace("arange(6.0)", "ones(6)")
    second = run(STEP, given=first, head=other)
    assert np.array_equal(second.steps[0].calls[0].inputs[0].values, np.ones((2, 3)))
    for name, stored in first.steps[0].weights.items():
        assert np.array_equal(second.steps[0].weights[name].values, stored.values)


def test_copies_of_the_weights_are_found_and_begin_with_what_is_handed_over(run):
    copy = "import copy\nema = copy.deepcopy(net)\n"
    first = run(copy + STEP)
    second = run(copy + STEP, given=first, head=HEAD.replace("manual_seed(3)", "manual_seed(4)"))
    names = {f"average 1 of 0:{n}" for n in ("0.weight", "0.bias", "2.weight", "2.bias")}
    for found in (first, second):
        assert {*found.steps[0].averages} == names
        for name, stored in first.steps[0].averages.items():
            assert np.array_equal(found.steps[0].averages[name].values, stored.values)


def test_the_script_is_stopped_after_its_last_step(run):
    found = run("count = 0\nwhile True:\n    count += 1\n    " + STEP.replace("\n", "\n    "), 3)
    assert len(found.steps) == 3


def test_weights_of_no_network_are_told(run):
    code = "own = nn.Parameter(torch.ones(1))\noptimizer.add_param_group({'params': [own]})\n"
    found = run(code + "(net(x).sum() * own).backward()\noptimizer.step()\n")
    assert found.notes == ["not compared: 1 weight of an optimiser, of no network that is called"]


def test_of_ranks_gradients_are_those_of_the_pass_before_they_are_averaged(run):
    head = (
        HEAD
        + """
def averaged(weight):
    weight.grad.mul_(0.5)
for weight in net.parameters():
    weight.register_post_accumulate_grad_hook(averaged)
"""
    )
    plain, own = run(STEP, head=head), run(STEP, head=head, own_gradients=True)
    for name, values in own.steps[0].gradients.items():
        reached = own.steps[0].reached[name].values
        np.testing.assert_array_equal(0.5 * values.values, reached)
        np.testing.assert_array_equal(plain.steps[0].gradients[name].values, reached)


def test_an_optimiser_that_calls_another_one_makes_one_step(run):
    head = (
        HEAD
        + """
class Outer(torch.optim.Optimizer):
    def __init__(self, weights):
        super().__init__(weights, {})
        self.inner = torch.optim.SGD([*net.parameters()][:2], 0.1)
    def step(self):
        self.inner.step()
optimizer = Outer([*net.parameters()])
"""
    )
    found = run(STEP * 2, head=head)
    assert [len(step.reached) for step in found.steps] == [4, 4]
    assert found.steps[0].kind.endswith("Outer")
