"""Pairs of training scripts, and mistakes of a port: an edit, and where it must be found."""

from dataclasses import dataclass
from pathlib import Path

PAIRS = Path(__file__).parent / "pairs"

STYLES = {
    "plain": "a loop in the script, with clipping, momentum and a cosine",
    "model": "Model.train with callbacks, behind arguments",
    "trainer": "a Trainer class, with groups of weights and warmup",
    "gan": "a GAN with two optimisers, whose noise is drawn",
    "accumulation": "accumulation, a loss scaler and an average of the weights",
    "amp": "half precision: autocast and O2 on convolutions, loss scalers that move",
    "manager": "Model.train under O2 with a DynamicLossScaleManager, and an overflow",
    "ddp": "ranks: DistributedDataParallel and DistributedGradReducer, each as the only rank",
    "augmented": "a plain loop over photos that are cropped, flipped and coloured at random",
    "cell": "functions that yield losses, with TrainOneStepCell",
}
"""Pair -> its style. `cell` is called as functions."""


def names(pair: str) -> list[str]:
    """How both sides of a pair are called on the command line."""
    both = [f"{pair}_{side}" for side in ("torch", "mindspore")]
    return [f"{each}:train" if pair == "cell" else f"{each}.py" for each in both]


@dataclass(frozen=True)
class Mistake:
    """A mistake in a port's script.

    pair: the pair. name: what it is. old, new: the edit.
    step, stage: where it must be found. line: what the line that is named has in it.
    """

    pair: str
    name: str
    old: str
    new: str
    step: int
    stage: str
    line: str


MISTAKES = (
    Mistake(
        "plain",
        "rate late by a step",
        "for k in range(16)]",
        "for k in [0, *range(15)]]",
        2,
        "schedule",
        "optimizer = nn.SGD(",
    ),
    Mistake(
        "plain",
        "clipping lost",
        "grads = ops.clip_by_global_norm(grads, 0.5)",
        "pass",
        1,
        "clipping",
        "optimizer(grads)",
    ),
    Mistake(
        "plain",
        "another shuffle",
        "np.random.default_rng(epoch)",
        "np.random.default_rng(epoch + 1)",
        1,
        "data",
        "return criterion(net(x), y)",
    ),
    Mistake(
        "model",
        "tanh taken for GELU",
        "nn.Tanh()",
        "nn.GELU()",
        1,
        "forward",
        "model.train(3, data",
    ),
    Mistake(
        "model",
        "decay not on norms and biases",
        'groups = [{"params": net.trainable_params()}]',
        "groups = net.trainable_params()",
        1,
        "settings",
        "optimizer = nn.Momentum(groups",
    ),
    Mistake(
        "model",
        "targets of another column",
        'y = (x[:, :1] - 0.5 * x[:, 1:2]).astype("float32")',
        'y = (x[:, :1] - 0.5 * x[:, 2:3]).astype("float32")',
        1,
        "data",
        "model.train(3, data",
    ),
    Mistake(
        "trainer",
        "labels are smoothed",
        "ignore_index=-100",
        "ignore_index=-100, label_smoothing=0.1",
        1,
        "loss",
        "return ops.cross_entropy(",
    ),
    Mistake(
        "trainer",
        "warmup begins a step late",
        "(step + 1) / self.warmup",
        "(step + 2) / self.warmup",
        1,
        "schedule",
        "self.optimizer = optim.AdamW(",
    ),
    Mistake(
        "trainer",
        "no residual",
        "self.norm(x + ops.bmm(",
        "self.norm(ops.bmm(",
        1,
        "forward",
        "logits = self.model(ids, mask)",
    ),
    Mistake(
        "gan",
        "beta1 of Adam left at 0.9",
        "discriminator.trainable_params(), 1e-3, betas=(0.5, 0.999)",
        "discriminator.trainable_params(), 1e-3, betas=(0.9, 0.999)",
        1,
        "settings",
        "of_discriminator = optim.Adam(",
    ),
    Mistake(
        "gan",
        "the generator is updated first",
        "    fake = ops.stop_gradient(generator(z))\n"
        "    loss_d, grads = grad_d(real, fake, ones, zeros)\n"
        "    of_discriminator(grads)\n\n"
        "    loss_g, grads = grad_g(z, ones)\n"
        "    of_generator(grads)\n",
        "    loss_g, grads = grad_g(z, ones)\n"
        "    of_generator(grads)\n\n"
        "    fake = ops.stop_gradient(generator(z))\n"
        "    loss_d, grads = grad_d(real, fake, ones, zeros)\n"
        "    of_discriminator(grads)\n",
        1,
        "data",
        "of_generator(grads)",
    ),
    Mistake(
        "gan",
        "the loss of fakes is lost",
        "criterion(discriminator(real), ones) + criterion(discriminator(fake), zeros)",
        "2 * criterion(discriminator(real), ones) + 0 * discriminator(fake).sum()",
        1,
        "loss",
        "return 2 * criterion(",
    ),
    Mistake(
        "accumulation",
        "gradients are not divided by their number",
        "ops.cross_entropy(net(x), y) / MICRO",
        "ops.cross_entropy(net(x), y)",
        1,
        "loss",
        "return scaler.scale(",
    ),
    Mistake(
        "accumulation",
        "gradients of earlier steps stay",
        "        total = None\n        for _",
        "        total = total if step else None\n        for _",
        2,
        "clipping",
        "optimizer(total)",
    ),
    Mistake(
        "accumulation",
        "decay of the average 0.99 for 0.9",
        "EMA(net, 0.9)",
        "EMA(net, 0.99)",
        1,
        "averages",
        "optimizer(total)",
    ),
    Mistake(
        "amp",
        "the scale stays in the gradients",
        "    grads = scaler.unscale(grads)\n",
        "",
        1,
        "clipping",
        "optimizer(grads)",
    ),
    Mistake(
        "amp",
        "clipping before the scale is out",
        "    grads = scaler.unscale(grads)\n    finite = all_finite(grads)\n    if finite:\n"
        "        grads = ops.clip_by_value(grads, -0.05, 0.05)\n",
        "    grads = ops.clip_by_value(grads, -0.05, 0.05)\n    grads = scaler.unscale(grads)\n"
        "    finite = all_finite(grads)\n    if finite:\n",
        1,
        "clipping",
        "optimizer(grads)",
    ),
    Mistake(
        "amp",
        "the scale does not grow",
        "    scaler.adjust(finite)\n",
        "",
        3,
        "scale",
        "optimizer(grads)",
    ),
    Mistake(
        "manager",
        "the scale grows a step later",
        "scale_window=2",
        "scale_window=3",
        3,
        "scale",
        "model.train(",
    ),
    Mistake(
        "manager",
        "the optimiser takes the scale out once more",
        "0.05, momentum=0.9)",
        "0.05, momentum=0.9, loss_scale=4096.0)",
        1,
        "clipping",
        "model.train(",
    ),
    Mistake(
        "manager",
        "an update that overflows is made",
        "0.05, momentum=0.9)\nmanager = DynamicLossScaleManager(init_loss_scale=2**12, "
        "scale_factor=2, scale_window=2)",
        "0.05, momentum=0.9, loss_scale=4096.0)\n"
        "manager = ms.amp.FixedLossScaleManager(4096, drop_overflow_update=False)",
        3,
        "forward",
        "model.train(",
    ),
    Mistake(
        "ddp",
        "each epoch has the order of the first",
        "in rows:",
        "in data.create_tuple_iterator():",
        3,
        "data",
        "for images, labels in data",
    ),
    Mistake(
        "ddp",
        "the rate is not that of this step",
        "[1, 4, 99]",
        "[2, 4, 99]",
        2,
        "schedule",
        "optimizer = nn.SGD(",
    ),
    Mistake(
        "ddp",
        "labels of the samples beside",
        'y.astype("int32")',
        'np.roll(y, 1).astype("int32")',
        1,
        "data",
        "return ops.cross_entropy(",
    ),
    Mistake(
        "augmented",
        "the flip is lost",
        "    vision.RandomHorizontalFlip(),\n",
        "",
        1,
        "data",
        "rows = data.create_tuple_iterator(",
    ),
    Mistake(
        "augmented",
        "the crop pads less",
        "padding=2)",
        "padding=1)",
        1,
        "data",
        "rows = data.create_tuple_iterator(",
    ),
    Mistake(
        "augmented",
        "the colours change less",
        "RandomColorAdjust((0.6, 1.4),",
        "RandomColorAdjust((0.9, 1.1),",
        1,
        "data",
        "rows = data.create_tuple_iterator(",
    ),
    Mistake(
        "augmented",
        "the loop scales its pictures otherwise",
        "images = images * 0.5",
        "images = images * 0.25",
        1,
        "data",
        "return ops.cross_entropy(",
    ),
    Mistake(
        "cell",
        "momentum of the norm left at 0.9",
        "nn.BatchNorm1d(10, momentum=0.8)",
        "nn.BatchNorm1d(10)",
        1,
        "update",
        "step(ms.Tensor(x), ms.Tensor(y))",
    ),
    Mistake(
        "cell",
        "beta of the loss",
        "beta=0.5",
        "beta=1.0",
        1,
        "forward",
        "step(ms.Tensor(x), ms.Tensor(y))",
    ),
    Mistake(
        "cell",
        "set_train forgotten",
        "    step.set_train()\n",
        "",
        1,
        "forward",
        "step(ms.Tensor(x), ms.Tensor(y))",
    ),
)
