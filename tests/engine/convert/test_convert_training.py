"""A training that changes its framework half way goes on as if it had not.

Some steps on one side, the checkpoint converted with its optimiser's state, the other steps on the
other side: what all of them together changed in each weight is judged against the same number of
steps in PyTorch's float64.
"""

import functools

import numpy as np
import pytest
import torch

from equivalence.checkpoints import files as checkpoints
from equivalence.checkpoints.formats import MINDSPORE, StoredWeight
from equivalence.convert.convert import convert
from equivalence.host.isolation import isolated
from equivalence.judge.expected import Expected
from equivalence.judge.precision import BUDGET, UNIT_ROUNDOFF
from equivalence.judge.verdict import judge
from equivalence.seeds import stream
from equivalence.sides.torch_noise import Noise
from equivalence.structure.weights import reference_name
from tests.engine.parts import training_ms, training_pt

HERE = "tests.engine.parts."
STEPS = 4
PROBES = 2
U = UNIT_ROUNDOFF["float32"]

# PyTorch's optimiser, MindSpore's.
PAIRS = [
    ("momentum", "momentum"),
    ("momentum", "sgd"),
    ("momentum", "new_sgd"),
    ("nesterov", "nesterov"),
    ("adam", "adam"),
    ("amsgrad", "amsgrad"),
    ("adam", "new_adam"),
    ("adamw", "new_adamw"),
    ("adamw_amsgrad", "new_adamw_amsgrad"),
]


@pytest.fixture(autouse=True)
def alone():
    with isolated():
        yield


def batches(name):
    """Twice STEPS batches of six images."""
    rng = stream(name, "batches")
    return [
        (
            rng.normal(size=(6, 3, 5, 6)).astype(np.float32),
            rng.integers(0, 4, 6).astype(np.int32),
        )
        for _ in range(2 * STEPS)
    ]


def start(name):
    """float32 weights of the network before the first step."""
    rng = stream(name, "weights")
    state = training_pt.Net().state_dict()
    for key, tensor in state.items():
        if tensor.is_floating_point():
            scale = (tensor[0].numel() ** -0.5) if tensor.ndim > 1 else 0.3
            centre = 1.0 if key in ("bn.weight", "bn.running_var") else 0.0
            state[key] = torch.from_numpy(
                (centre + scale * rng.uniform(-1, 1, tuple(tensor.shape))).astype(np.float32)
            )
    return state


def rounded(values, rng):
    return values * (1.0 + U * rng.choice((-1.0, 1.0), values.shape))


def run(build, state, data, dtype=torch.float64, unsettled=None):
    """All steps in PyTorch; the weights after them.

    unsettled: a generator that rounds every hyperparameter anew in each step, as a step in
    float32 does wherever it uses one: 1 - beta of Adam above all is all rounding.
    """
    network = training_pt.Net().to(dtype)
    network.load_state_dict(state)
    optimizer = build(network)
    settings = [dict(group) for group in optimizer.param_groups]
    for batch in data:
        for group, known in zip(optimizer.param_groups, settings, strict=True):
            for key in (
                {"lr", "momentum", "betas", "weight_decay"} & known.keys() if unsettled else ()
            ):
                values = rounded(np.array(known[key], np.float64), unsettled)
                group[key] = tuple(values.tolist()) if key == "betas" else float(values)
        training_pt.train(network, optimizer, [batch])
    return training_pt.weights(network)


@functools.cache
def expected(name):
    """Truth and noise of what all steps change, by PyTorch's names.

    Every perturbed run is measured from the weights that the others start at, since an update in
    float32 is that of a weight that is rounded.
    """
    build, state, data = getattr(training_pt, name), start(name), batches(name)
    truth = {
        key: Expected(values, "float32")
        for key, values in changes(run(build, state, data), state).items()
    }
    for probe in range(PROBES):
        rng = stream(name, "probe", probe)
        moved = {
            key: torch.from_numpy(rounded(tensor.double().numpy(), rng))
            if tensor.is_floating_point()
            else tensor
            for key, tensor in state.items()
        }
        images = [(rounded(x.astype(np.float64), rng), labels) for x, labels in data]
        with Noise(U, probe):
            after = run(build, moved, images, unsettled=rng)
        for key, values in changes(after, state).items():
            truth[key].widen(values)
    own = judge(truth, updates(run(build, state, data, torch.float32), state), U, BUDGET)
    for verdict in own.verdicts:
        truth[verdict.name].own_error, truth[verdict.name].own_worst = verdict.error, verdict.worst
    return truth


def changes(after, state):
    """What the steps changed in each weight."""
    return {
        f"update:{key}": values.astype(np.float64) - state[key].double().numpy()
        for key, values in after.items()
    }


def updates(after, state):
    """The same in float32."""
    return {key: change.astype(np.float32) for key, change in changes(after, state).items()}


def judged(name, after):
    return judge(expected(name), updates(after, start(name)), U, BUDGET)


def saved(path, name, kind, steps=STEPS, **options):
    """A PyTorch training checkpoint after `steps` steps in float32."""
    network = training_pt.Net()
    network.load_state_dict(start(name))
    optimizer = getattr(training_pt, kind)(network, **options)
    training_pt.train(network, optimizer, batches(name)[:steps])
    whole = {"model": network.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}
    torch.save(whole, path)
    return path


def stored(path, name, kind, folder):
    """A MindSpore training checkpoint after the first steps."""
    torch.save(start(name), folder / "start.pth")
    convert(folder / "start.pth", folder / "start.ckpt", network=f"{HERE}training_ms:Net")
    network = training_ms.Net()
    loaded = training_ms.ms.load_checkpoint(str(folder / "start.ckpt"))
    training_ms.ms.load_param_into_net(network, loaded, strict_load=True)
    optimizer = getattr(training_ms, kind)(network)
    training_ms.train(network, optimizer, batches(name)[:STEPS])
    training_ms.save(network, optimizer, path)
    return path


def goes_on_in_mindspore(path, name, kind):
    """The remaining steps from that file; the weights after them, by PyTorch's names."""
    network = training_ms.Net()
    optimizer = getattr(training_ms, kind)(network)
    assert training_ms.load(network, optimizer, path) == ([], [])
    training_ms.train(network, optimizer, batches(name)[STEPS:])
    return {reference_name(n, {}): values for n, values in training_ms.weights(network).items()}


def goes_on_in_pytorch(path, name, kind):
    network = training_pt.Net()
    optimizer = getattr(training_pt, kind)(network)
    training_pt.load(network, optimizer, torch.load(path, weights_only=True))
    training_pt.train(network, optimizer, batches(name)[STEPS:])
    return training_pt.weights(network)


def to_mindspore(source, target, kind, **options):
    network = f"{HERE}training_ms:Net"
    return convert(
        source, target, network=network, optimizer=f"{HERE}training_ms:{kind}", **options
    )


def to_pytorch(source, target, kind, **options):
    network = f"{HERE}training_pt:Net"
    return convert(
        source, target, network=network, optimizer=f"{HERE}training_pt:{kind}", **options
    )


@pytest.mark.parametrize(("reference", "candidate"), PAIRS)
def test_from_pytorch_to_mindspore(tmp_path, reference, candidate):
    source = saved(tmp_path / "half.pth", reference, reference)
    to_mindspore(source, tmp_path / "half.ckpt", candidate)
    after = goes_on_in_mindspore(tmp_path / "half.ckpt", reference, candidate)
    judgement = judged(reference, after)
    assert judgement.equal, judgement.differing or judgement.ill_posed


@pytest.mark.parametrize(("reference", "candidate"), PAIRS)
def test_from_mindspore_to_pytorch(tmp_path, reference, candidate):
    source = stored(tmp_path / "half.ckpt", reference, candidate, tmp_path)
    to_pytorch(source, tmp_path / "half.pth", reference)
    after = goes_on_in_pytorch(tmp_path / "half.pth", reference, reference)
    judgement = judged(reference, after)
    assert judgement.equal, judgement.differing or judgement.ill_posed


# --- Wrong states are seen -----------------------------------------------------------------------


def each(prefix, change):
    """Every value below `prefix` changed."""

    def mistake(values):
        found = [name for name in values if name.startswith(f"{prefix}.")]
        assert found
        for name in found:
            values[name] = np.asarray(change(values[name]), values[name].dtype)

    return mistake


def exchanged(first, second):
    """Two values, or all below two names, in each other's place."""

    def mistake(values):
        found = [name for name in values if f"{name}.".startswith(f"{first}.")]
        assert found
        for name in found:
            other = second + name.removeprefix(first)
            values[name], values[other] = values[other], values[name]

    return mistake


def put(name, value):
    def mistake(values):
        values[name] = np.full_like(values[name], value)

    return mistake


def both(*mistakes):
    def mistake(values):
        for each_of_them in mistakes:
            each_of_them(values)

    return mistake


B1, B2 = training_pt.BETAS

# The optimisers, what was done wrong, and how.
WRONG_IN_MINDSPORE = [
    ("momentum", "momentum", "left out", each("moments", np.zeros_like)),
    ("momentum", "momentum", "other sign", each("moments", np.negative)),
    ("momentum", "momentum", "times the rate", each("moments", lambda v: v * training_pt.LR)),
    ("momentum", "momentum", "dampened", each("moments", lambda v: v * (1 - training_pt.MOMENTUM))),
    ("momentum", "momentum", "by number", exchanged("moments.bn.gamma", "moments.bn.beta")),
    ("momentum", "sgd", "before a first step", each("stat", np.ones_like)),
    ("momentum", "new_sgd", "before a first step", each("stat", np.ones_like)),
    ("adam", "adam", "exchanged", exchanged("moment1", "moment2")),
    ("adam", "adam", "its root", each("moment2", np.sqrt)),
    ("adam", "adam", "corrected", each("moment1", lambda v: v / (1 - B1**STEPS))),
    ("adam", "adam", "no powers", both(put("beta1_power", 1), put("beta2_power", 1))),
    ("adam", "adam", "powers exchanged", exchanged("beta1_power", "beta2_power")),
    (
        *("adam", "adam", "a step too few"),
        both(put("beta1_power", B1 ** (STEPS - 1)), put("beta2_power", B2 ** (STEPS - 1))),
    ),
    ("adamw", "new_adamw", "steps left out", put("state_step", 0)),
    ("amsgrad", "amsgrad", "largest left out", each("vhat", np.zeros_like)),
    ("adamw_amsgrad", "new_adamw_amsgrad", "left out", each("max_exp_avg_sq", np.zeros_like)),
]


def named(rows):
    """What was done wrong becomes part of the test's name."""
    return [
        pytest.param(reference, candidate, mistake, id=f"{reference}-{candidate}-{how}")
        for reference, candidate, how, mistake in rows
    ]


@pytest.mark.parametrize(("reference", "candidate", "mistake"), named(WRONG_IN_MINDSPORE))
def test_a_wrong_state_is_seen_in_mindspore(tmp_path, reference, candidate, mistake):
    source, target = saved(tmp_path / "half.pth", reference, reference), tmp_path / "half.ckpt"
    made = to_mindspore(source, target, candidate)
    values = {name: weight.values.copy() for name, weight in made.weights.items()}
    mistake(values)
    weights = {name: StoredWeight(w.dtype, values[name]) for name, w in made.weights.items()}
    checkpoints.write(target, MINDSPORE, weights, {})
    after = goes_on_in_mindspore(target, reference, candidate)
    judgement = judged(reference, after)
    assert judgement.differing
    assert not judgement.ill_posed


# Numbers of PyTorch's parameters: the four kernels of the first group, then the scale, the shift
# and the biases.
SCALE, SHIFT = 3, 4

WRONG_IN_PYTORCH = [
    ("momentum", "momentum", "other sign", each("momentum_buffer", np.negative)),
    (
        *("momentum", "momentum", "one further"),
        exchanged(f"momentum_buffer.{SCALE}", f"momentum_buffer.{SHIFT}"),
    ),
    ("adam", "adam", "exchanged", exchanged("exp_avg", "exp_avg_sq")),
    ("adam", "adam", "a step too few", each("step", lambda v: v - 1)),
    ("amsgrad", "amsgrad", "largest left out", each("max_exp_avg_sq", np.zeros_like)),
]


@pytest.mark.parametrize(("reference", "candidate", "mistake"), named(WRONG_IN_PYTORCH))
def test_a_wrong_state_is_seen_in_pytorch(tmp_path, reference, candidate, mistake):
    source = stored(tmp_path / "half.ckpt", reference, candidate, tmp_path)
    to_pytorch(source, tmp_path / "half.pth", reference)
    whole = torch.load(tmp_path / "half.pth", weights_only=True)
    state = whole["optimizer"]["state"]
    values = {f"{key}.{n}": t.numpy() for n, entry in state.items() for key, t in entry.items()}
    mistake(values)
    for number, entry in state.items():
        entry.update({key: torch.from_numpy(values[f"{key}.{number}"].copy()) for key in entry})
    torch.save(whole, tmp_path / "half.pth")
    after = goes_on_in_pytorch(tmp_path / "half.pth", reference, reference)
    judgement = judged(reference, after)
    assert judgement.differing
    assert not judgement.ill_posed


@pytest.mark.parametrize("reference", ["momentum", "adam"])
def test_a_state_that_is_left_behind_is_seen(tmp_path, reference):
    source = saved(tmp_path / "half.pth", reference, reference)
    target = tmp_path / "half.ckpt"
    convert(source, target, network=f"{HERE}training_ms:Net", drop=["optimizer"])
    network = training_ms.Net()
    training_ms.load(network, None, target)
    optimizer = getattr(training_ms, reference)(network)
    training_ms.train(network, optimizer, batches(reference)[STEPS:])
    after = {reference_name(n, {}): v for n, v in training_ms.weights(network).items()}
    judgement = judged(reference, after)
    assert judgement.differing
    assert not judgement.ill_posed
