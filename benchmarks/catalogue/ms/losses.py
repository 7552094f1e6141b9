"""Losses whose gradients are signs, or next to nothing beside their terms, on two dense layers."""

from mindspore import nn, ops


class Layers(nn.Cell):
    """N,16 -> N,8."""

    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Dense(16, 32), nn.Dense(32, 8)

    def scores(self, x):
        """What the layers make of an input."""
        return self.down(ops.tanh(self.up(x)))


class Hinge(Layers):
    """The multi-class hinge loss, summed over classes."""

    def construct(self, x, labels):
        scores = self.scores(x)
        margins = 1.0 + scores - scores.gather_elements(1, labels.expand_dims(1))
        return ops.maximum(ops.zeros_like(margins), margins).sum(1).mean()


class GanHinge(Layers):
    """The loss of a discriminator."""

    def construct(self, real, fake):
        real, fake = self.scores(real), self.scores(fake)
        return ops.relu(1.0 - real).mean() + ops.relu(1.0 + fake).mean()


class Quantile(Layers):
    """The pinball loss of the ninth decile."""

    def construct(self, x, y):
        error = y - self.scores(x)
        return ops.maximum(0.9 * error, -0.1 * error).mean()


class Distillation(Layers):
    """The divergence from a teacher's scores."""

    def construct(self, x, teacher):
        student = ops.log_softmax(self.scores(x) / 4.0, 1)
        teacher = ops.softmax(teacher / 4.0, 1)
        return 16.0 * ops.kl_div(student, teacher, reduction="batchmean")
