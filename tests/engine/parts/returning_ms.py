"""A network that returns its result in whatever structure it is asked for."""

from collections import OrderedDict, namedtuple
from dataclasses import dataclass

import mindspore as ms
from mindspore import nn, ops

Pair = namedtuple("Pair", "first second")


@dataclass
class Output:
    logits: object
    hidden: object


class Returning(nn.Cell):
    def __init__(self, what: str):
        super().__init__()
        self.what = what
        self.dense = nn.Dense(4, 3)

    def construct(self, x):
        y = self.dense(x)
        z = 2 * y + 1
        if self.what == "dict":
            return {"logits": y, "hidden": (z, [y, {"last": z}])}
        if self.what == "other order":
            return {"hidden": (z, [y, {"last": z}]), "logits": y}
        if self.what == "lacking":
            return {"logits": y, "hidden": (z, [y])}
        if self.what == "tuple":
            return y, (z, y, z)
        if self.what == "exchanged":
            return {"logits": z, "hidden": (y, [y, {"last": z}])}
        if self.what == "none":
            return y, None, z
        if self.what == "pair":
            return y, z
        if self.what == "row":
            return y[:1]
        if self.what == "whole":
            return y, x.astype(ms.int32)
        if self.what == "interpreted":
            return ms.Tensor(y.asnumpy())
        if self.what == "raises":
            raise ValueError("nothing is returned")
        if self.what == "none in a dict":
            return {"logits": y, "loss": None}
        if self.what == "loss":
            return {"logits": y, "loss": z.mean()}
        if self.what == "numbers":
            return {"logits": y, "count": 3, "share": 0.5, "found": True}
        if self.what == "other number":
            return {"logits": y, "count": 4, "share": 0.5, "found": True}
        if self.what == "complex":
            return ops.rfft(y)
        if self.what == "conjugate":
            return ops.conj(ops.rfft(y))
        if self.what == "text":
            return {"logits": y, "task": "x"}
        if self.what == "dataclass":
            return Output(y, (z, None))
        if self.what == "named tuple":
            return Pair(y, z)
        if self.what == "ordered":
            return OrderedDict(logits=y, hidden=z)
        return y
