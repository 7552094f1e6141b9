"""Optimisers of a network's parameters, weight decay on kernels and matrices alone.

The scales, shifts and biases of a network (gamma, beta, bias) are never decayed where a function
speaks of groups. All take the network rather than its parameters, since the groups are its own.
"""

import torch
from torch import nn, optim


def decay_groups(network: nn.Module, weight_decay: float) -> list[dict]:
    """Two parameter groups: what `weight_decay` applies to, and one-dimensional parameters."""
    trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
    return [
        {"params": [p for p in trained if p.ndim > 1], "weight_decay": weight_decay},
        {"params": [p for p in trained if p.ndim <= 1], "weight_decay": 0.0},
    ]


def momentum(
    network: nn.Module,
    learning_rate: float,
    momentum: float,
    weight_decay: float,
    nesterov: bool = False,
) -> optim.Optimizer:
    """SGD with momentum, decay by groups."""
    groups = decay_groups(network, weight_decay)
    return optim.SGD(groups, learning_rate, momentum, nesterov=nesterov)


def sgd(
    network: nn.Module,
    learning_rate: float,
    momentum: float = 0.0,
    dampening: float = 0.0,
    weight_decay: float = 0.0,
    nesterov: bool = False,
) -> optim.Optimizer:
    """SGD, decay on every parameter."""
    return optim.SGD(
        network.parameters(), learning_rate, momentum, dampening, weight_decay, nesterov
    )


def adam(
    network: nn.Module,
    learning_rate: float,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    amsgrad: bool = False,
) -> optim.Optimizer:
    """Adam, with the L2 penalty of every parameter in its gradient."""
    return optim.Adam(network.parameters(), learning_rate, betas, eps, weight_decay, amsgrad)


def adamw(
    network: nn.Module,
    learning_rate: float,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    amsgrad: bool = False,
) -> optim.Optimizer:
    """Adam with decoupled weight decay, by groups."""
    groups = decay_groups(network, weight_decay)
    return optim.AdamW(groups, learning_rate, betas, eps, amsgrad=amsgrad)


class BertAdam(optim.Optimizer):
    """Adam with decoupled decay and no bias correction, as BERT was trained.

    w -= learning_rate * (m / (sqrt(v) + eps) + weight_decay * w)
    """

    def __init__(self, groups: list[dict], lr: float, betas: tuple[float, float], eps: float):
        super().__init__(groups, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": 0.0})

    @torch.no_grad()
    def step(self) -> None:
        """One update."""
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                state = self.state[p]
                m = state["m"] = beta1 * state.get("m", 0.0) + (1 - beta1) * p.grad
                v = state["v"] = beta2 * state.get("v", 0.0) + (1 - beta2) * p.grad**2
                change = m / (v.sqrt() + group["eps"]) + group["weight_decay"] * p
                p -= group["lr"] * change


def bert_adam(
    network: nn.Module,
    learning_rate: float,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-6,
    weight_decay: float = 0.0,
) -> optim.Optimizer:
    """`BertAdam`, decay by groups."""
    return BertAdam(decay_groups(network, weight_decay), learning_rate, betas, eps)
