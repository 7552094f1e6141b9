"""Networks that meet silent faults of MindSpore, right and wrong; partners in `faulty_pt.py`."""

import mindspore as ms
from mindspore import mint, nn, ops


class Shifted(nn.Cell):
    def __init__(self, filled=0.5, factor=1.0):
        super().__init__()
        self.far, self.filled, self.factor = nn.Dense(6, 5), filled, factor

    def construct(self, x):
        scores = self.factor * self.far(x)
        b, rows, columns = scores.shape
        wide = ops.pad(scores, (1, 0), value=self.filled)
        return wide.view(b, columns + 1, rows)[:, 1:].reshape(b, rows, columns)


class Scaled(nn.Cell):
    def __init__(self, cut=False):
        super().__init__()
        self.one, self.two, self.cut = nn.Dense(6, 5), nn.Dense(5, 4), cut

    def construct(self, x):
        y = ops.selu(self.one(x))
        if self.cut:
            y = ops.stop_gradient(y)
        return self.two(y)


class Both(nn.Cell):
    def __init__(self):
        super().__init__()
        self.shifted, self.act = Shifted(), nn.SeLU()

    def construct(self, x):
        return self.act(self.shifted(x))


class Squashed(nn.Cell):
    def __init__(self, factor=3.0):
        super().__init__()
        self.shifted, self.factor = Shifted(), factor

    def construct(self, x):
        return ops.tanh(self.factor * self.shifted(x))


class Loss(nn.Cell):
    def __init__(self):
        super().__init__()
        self.shifted = Shifted()

    def construct(self, x):
        return ops.square(self.shifted(x)).mean()


class Step(nn.Cell):
    def __init__(self, factor=1.0):
        super().__init__(auto_prefix=False)
        self.network, self.factor = Loss(), factor
        self.optimizer = nn.SGD(self.network.trainable_params(), 0.1)
        self.gradients = ms.value_and_grad(self.network, None, self.optimizer.parameters)

    def construct(self, x):
        loss, (weight, bias) = self.gradients(x)
        self.optimizer((self.factor * weight, self.factor * bias))
        return loss


def shifted_filled_otherwise():
    return Shifted(filled=0.25)


def shifted_twice_as_large():
    return Shifted(factor=2.0)


def squashed_less():
    return Squashed(factor=2.5)


def scaled_without_gradient():
    return Scaled(cut=True)


def step_twice_as_long():
    return Step(factor=2.0)


class Mished(nn.Cell):
    def __init__(self, factor=100.0):
        super().__init__()
        self.far, self.factor = nn.Dense(6, 5), factor

    def construct(self, x):
        return ops.mish(self.factor * self.far(x))


class Distilled(nn.Cell):
    def __init__(self, reduction="batchmean"):
        super().__init__()
        self.one, self.two, self.reduction = nn.Dense(6, 5), nn.Dense(6, 5), reduction

    def construct(self, x):
        target = ops.softplus(self.two(x))
        return ops.kl_div(self.one(x), target, self.reduction)


class Single(nn.Cell):
    def __init__(self, divisor=9.0):
        super().__init__()
        self.far, self.divisor = nn.Dense(6, 5), divisor

    def construct(self, x):
        share = ops.softplus(self.far(x)).mean().reshape(1)
        target = ops.stop_gradient(share) / self.divisor
        return ops.binary_cross_entropy(share / (1.0 + share), target)


class Upscaled(nn.Cell):
    def __init__(self, factor=1.0):
        super().__init__()
        self.far, self.factor = nn.Dense(6, 5), factor

    def construct(self, x):
        y = self.factor * self.far(x).expand_dims(1)
        return ops.interpolate(y, size=(6, 8), mode="bicubic", align_corners=False)


class Cornered(Upscaled):
    def construct(self, x):
        y = self.factor * self.far(x).expand_dims(1)
        return ops.interpolate(y, size=(6, 8), mode="bicubic", align_corners=True)


class Padded(nn.Cell):
    def __init__(self, factor=1.0, row=0):
        super().__init__()
        self.rows, self.factor = nn.Embedding(3, 5, padding_idx=row), factor

    def construct(self, x):
        ids = (x > 0).int()
        return self.factor * self.rows(ids) * ops.expand_dims(x, -1)


def padded_twice_as_large():
    return Padded(factor=2.0)


def padded_without_padding():
    return Padded(row=2)


class Decoded(nn.Cell):
    def __init__(self, factor=1.0):
        super().__init__()
        more = {"pad_mode": "pad", "padding": 1, "output_padding": 1, "has_bias": True}
        self.up, self.factor = nn.Conv2dTranspose(4, 3, 3, stride=2, **more), factor

    def construct(self, x):
        return self.up(self.factor * x.reshape(2, 4, 2, 3))


class Blended(nn.Cell):
    def __init__(self, weight=0.25):
        super().__init__()
        self.start = ms.Parameter(ops.zeros((4, 1)), name="start")
        self.weight = weight

    def construct(self, x):
        return ops.lerp(self.start, x[:1, :1], self.weight)


class Flipped(nn.Cell):
    def __init__(self, factor=1.0):
        super().__init__()
        self.far, self.factor = nn.Dense(6, 5), factor

    def construct(self, x):
        one, two = mint.split(self.factor * self.far(x), [2, 3], -1)
        return mint.cat([two, one], -1)


def flipped_twice():
    return Flipped(2.0)


def mished_more():
    return Mished(101.0)


class Averaged(Distilled):
    """The primitive itself, which knows more reductions."""

    def construct(self, x):
        target = ops.softplus(self.two(x))
        return ops.KLDivLoss(reduction=self.reduction)(self.one(x), target)


def averaged_for_each_sample():
    return Averaged("batchmean")


def distilled_by_sum():
    return Distilled("sum")


def single_of_another_target():
    return Single(8.0)


def upscaled_twice():
    return Upscaled(2.0)


def decoded_twice():
    return Decoded(2.0)


def blended_more():
    return Blended(0.3)


class Beside(Decoded):
    def __init__(self, factor=1.0):
        super().__init__()
        self.factor = factor

    def construct(self, x):
        return self.up(x.reshape(2, 4, 2, 3)), ops.tanh(self.factor * x)


def doubled_beside():
    return Beside(2.0)


class Enlarged(Upscaled):
    def __init__(self, slope=1.0):
        super().__init__()
        self.slope = slope

    def construct(self, x):
        return ops.tanh(super().construct(x)) * self.slope


def enlarged_twice():
    return Enlarged(2.0)


class EnlargedOtherwise(Cornered):
    def construct(self, x):
        return ops.tanh(super().construct(x)) * 2


class Normed(Upscaled):
    def __init__(self, epsilon=1e-5):
        super().__init__()
        self.norm = nn.LayerNorm((8,), epsilon=epsilon)

    def construct(self, x):
        return self.norm(super().construct(x))


def normed_otherwise():
    return Normed(0.1)


class Looked(Padded):
    def construct(self, x):
        return self.factor * ops.sigmoid(self.rows((x > 0).int()))


def looked_twice():
    return Looked(2.0)
