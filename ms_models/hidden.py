"""Networks and training steps with settings that no tensor shows."""

from mindspore import Parameter, nn, ops
from mindspore import float32 as single

from ms_models import optim, schedules, steps
from ms_models.given import GivenGradients
from ms_models.steps import TrainStep


class RMSNorm(nn.Cell):
    """x / sqrt(mean of squares + eps), scaled."""

    def __init__(self, size: int, eps: float):
        super().__init__()
        self.weight = Parameter(ops.ones((size,), single))
        self.variance_epsilon = eps

    def construct(self, x):
        mean = (x * x).mean(-1, keep_dims=True)
        return self.weight * x * ops.rsqrt(mean + self.variance_epsilon)


class Norms(nn.Cell):
    """Vectors of 12 to one of the normalisations after the other, each of large inputs."""

    def __init__(
        self,
        layer_eps: float = 1e-5,
        group_eps: float = 1e-5,
        rms_eps: float = 1e-5,
        batch_eps: float = 1e-5,
        momentum: float = 0.1,
    ):
        super().__init__()
        self.layer = nn.LayerNorm((12,), epsilon=layer_eps)
        self.group = nn.GroupNorm(3, 12, group_eps)
        self.rms = RMSNorm(12, rms_eps)
        self.batch = nn.BatchNorm1d(12, batch_eps, 1 - momentum)

    def construct(self, x):
        x = self.layer(1e3 * x)
        x = self.group(1e3 * x.reshape(-1, 12, 1, 1)).reshape(-1, 12)
        x = self.rms(1e3 * x)
        return self.batch(x) if self.training else x


class Activations(nn.Cell):
    """Vectors to all activations of values between 0 and 1, and to a loss in training."""

    def __init__(
        self,
        slope: float = 0.01,
        least: float = -1.0,
        most: float = 2.0,
        p: float = 0.1,
        smoothing: float = 0.1,
        ignored: int = -100,
    ):
        super().__init__()
        self.leaky = nn.LeakyReLU(slope)
        self.elu = nn.ELU()
        self.hard = nn.Hardtanh(least, most)
        self.relu = nn.ReLU()
        self.dropout = nn.Dropout(p=p)
        self.loss = nn.CrossEntropyLoss(label_smoothing=smoothing, ignore_index=ignored)

    def construct(self, x, labels):
        x = ops.sigmoid(x)
        x = self.dropout(self.leaky(x) + self.elu(x) + self.relu(x) + self.hard(x))
        return self.loss(x, labels) if self.training else x


def fine_tuning(
    learning_rate: float, weight_decay: float, eps: float = 1e-8, limit: float = 1e4
) -> nn.Cell:
    """AdamW at a rate at which its decay does not show, with a clip that never bites."""
    network = GivenGradients()
    optimizer = optim.adamw(network, learning_rate, eps=eps, weight_decay=weight_decay)
    return TrainStep(network, optimizer, steps.clip_norm(limit))


def long_run(learning_rate: float, warmup_steps: int, total_steps: int) -> nn.Cell:
    """Momentum under a schedule of which a few steps show little."""
    network = GivenGradients()
    rates = schedules.warmup_cosine(learning_rate, warmup_steps, total_steps)
    return TrainStep(network, optim.momentum(network, rates, 0.875, 0.1))


def dropping(learning_rate: float, milestone: int, total_steps: int) -> nn.Cell:
    """Momentum at a rate that is a tenth from a late step on."""
    network = GivenGradients()
    rates = schedules.milestones(learning_rate, (milestone,), 0.1, total_steps)
    return TrainStep(network, optim.momentum(network, rates, 0.875, 0.1))
