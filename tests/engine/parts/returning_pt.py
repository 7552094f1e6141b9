"""A network that returns its result in whatever structure it is asked for."""

from collections import OrderedDict, namedtuple
from dataclasses import dataclass

import torch
from torch import nn

Pair = namedtuple("Pair", "first second")


@dataclass
class Output:
    logits: object
    hidden: object


class Returning(nn.Module):
    def __init__(self, what: str):
        super().__init__()
        self.what = what
        self.dense = nn.Linear(4, 3)

    def forward(self, x):
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
        if self.what == "none in a dict":
            return {"logits": y, "loss": None}
        if self.what == "loss":
            return {"logits": y, "loss": z.mean()}
        if self.what == "numbers":
            return {"logits": y, "count": 3, "share": 0.5, "found": True}
        if self.what == "other number":
            return {"logits": y, "count": 4, "share": 0.5, "found": True}
        if self.what == "complex":
            return torch.fft.rfft(y)
        if self.what == "text":
            return {"logits": y, "task": "x"}
        if self.what == "dataclass":
            return Output(y, (z, None))
        if self.what == "named tuple":
            return Pair(y, z)
        if self.what == "ordered":
            return OrderedDict(logits=y, hidden=z)
        return y
