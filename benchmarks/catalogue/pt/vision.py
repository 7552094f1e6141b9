"""The networks of torchvision."""

from typing import Any
from unittest import mock

import torchvision
from torch import nn

FILLS = ("kaiming_normal_", "kaiming_uniform_", "normal_", "trunc_normal_", "uniform_")
"""What fills new weights, left out since the sample sets all of them; some take a minute."""


def network(name: str, **options: Any) -> nn.Module:
    """A network of torchvision by its name, without values of its weights."""
    with mock.patch.multiple(nn.init, **dict.fromkeys(FILLS, lambda *_, **__: None)):
        return torchvision.models.get_model(name, weights=None, **options)
