"""Activations whose arguments or defaults are named otherwise than PyTorch's."""

from mindspore import nn


def leaky_relu(negative_slope: float = 0.01) -> nn.LeakyReLU:
    """`torch.nn.LeakyReLU`. MindSpore's own default slope is 0.2."""
    return nn.LeakyReLU(negative_slope)


def gelu(approximate: str = "none") -> nn.GELU:
    """`torch.nn.GELU`: by the error function, or "tanh". MindSpore's own default is the latter."""
    return nn.GELU(approximate=approximate == "tanh")


def softmax(dim: int) -> nn.Softmax:
    """`torch.nn.Softmax`. MindSpore's own default axis is the last."""
    return nn.Softmax(dim)


def prelu(num_parameters: int = 1) -> nn.PReLU:
    """`torch.nn.PReLU`: one slope for all channels, or one for each."""
    return nn.PReLU(num_parameters)
