"""The networks of torchvision."""

from typing import Any
from unittest import mock

import torchvision
from torch import nn


def network(name: str, **options: Any) -> nn.Module:
    """A network of torchvision by its name, without trained weights.

    What fills new weights is left out where it takes minutes: the sample sets all weights.
    """
    with mock.patch.object(nn.init, "trunc_normal_"):
        return torchvision.models.get_model(name, weights=None, **options)
