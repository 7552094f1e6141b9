"""The networks of torchvision."""

from typing import Any

import torchvision
from torch import nn


def network(name: str, **options: Any) -> nn.Module:
    """A network of torchvision by its name, without trained weights."""
    return torchvision.models.get_model(name, weights=None, **options)
