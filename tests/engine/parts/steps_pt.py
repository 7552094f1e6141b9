"""Training steps in PyTorch, to see the engine train; partners in `steps_ms.py`."""

import torch
from torch import nn


class Given(nn.Module):
    """A network whose gradients are its inputs."""

    def __init__(self):
        super().__init__()
        self.kernel = nn.Parameter(torch.empty(3, 2, 3, 3))
        self.bias = nn.Parameter(torch.empty(3))

    def forward(self, kernel, bias):
        return (self.kernel * kernel).sum() + (self.bias * bias).sum()


class Classifier(nn.Module):
    """Convolution, BatchNorm, SiLU and a dense layer, with a cross entropy."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(6)
        self.fc = nn.Linear(6, 5)

    def forward(self, images, labels):
        features = nn.functional.silu(self.bn(self.conv(images))).mean((2, 3))
        return nn.functional.cross_entropy(self.fc(features), labels.long())


class Difference(nn.Module):
    """A network whose gradient is the difference of its inputs."""

    def __init__(self):
        super().__init__()
        self.kernel = nn.Parameter(torch.empty(4, 16))

    def forward(self, plus, minus):
        return (self.kernel * plus).sum() - (self.kernel * minus).sum()


class Bent(nn.Module):
    """A network with a tanh far from zero, where MindSpore's own loses digits."""

    def __init__(self):
        super().__init__()
        self.kernel = nn.Parameter(torch.empty(4, 6))
        self.bias = nn.Parameter(torch.empty(4))
        self.spare = nn.Parameter(torch.empty(4))

    def forward(self, x):
        return torch.tanh(3.0 * (x @ self.kernel.T + self.bias)).square().mean()


class Signs(torch.optim.Optimizer):
    """Every update is the learning rate, one way or the other."""

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for parameter in group["params"]:
                parameter -= group["lr"] * parameter.grad.sign()


class Step(nn.Module):
    """One update by momentum and decay; the rate falls from step to step."""

    def __init__(self, network, learning_rate=0.1, momentum=0.9, weight_decay=0.1, fall=0.8):
        super().__init__()
        self.network = network
        self.optimizer = torch.optim.SGD(
            network.parameters(), learning_rate, momentum, weight_decay=weight_decay
        )
        self.fall = fall

    def forward(self, *batch):
        loss = self.network(*batch)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        for group in self.optimizer.param_groups:
            group["lr"] *= self.fall
        return loss.detach()


class RateInTheLoop(Step):
    """The step itself sets the rate: it rises from call to call."""

    def __init__(self, network):
        super().__init__(network, fall=1.0)
        self.calls = 0

    def forward(self, *batch):
        self.calls += 1
        for group in self.optimizer.param_groups:
            group["lr"] = 0.03 * self.calls
        return super().forward(*batch)


def given_at_rates_of_a_loop():
    return RateInTheLoop(Given())


def given(**settings):
    return Step(Given(), **settings)


class Clipped(Step):
    """One update by plain gradient descent; the norm of all gradients together is clipped."""

    def __init__(self):
        super().__init__(Bent(), momentum=0.0, weight_decay=0.0, fall=1.0)

    def forward(self, *batch):
        loss = self.network(*batch)
        self.optimizer.zero_grad()
        loss.backward()
        used = [p for p in self.network.parameters() if p.grad is not None]
        nn.utils.clip_grad_norm_(used, 0.01)
        self.optimizer.step()
        return loss.detach()


def bent():
    return Step(Bent(), momentum=0.0, weight_decay=0.1, fall=1.0)


def bent_clipped():
    return Clipped()


def given_at_rest(**settings):
    return Step(Given(), **{**settings, "learning_rate": 0.0})


def classifier(**settings):
    return Step(Classifier(), **settings)


class SignStep(nn.Module):
    """One update by `Signs`."""

    def __init__(self, network, learning_rate=0.1):
        super().__init__()
        self.network = network
        self.optimizer = Signs(network.parameters(), {"lr": learning_rate})

    def forward(self, *batch):
        loss = self.network(*batch)
        loss.backward()
        self.optimizer.step()
        return loss.detach()


def signs():
    return SignStep(Difference())


class Centred(nn.Module):
    """A network in which the gradient of one element of its bias cancels to nothing."""

    def __init__(self):
        super().__init__()
        self.bias = nn.Parameter(torch.empty(4))

    def forward(self, plus, minus):
        first = (plus[0] - plus[0].mean()).sum() * self.bias[0]
        return first + (minus[1:].sum(1) * self.bias[1:]).sum()


def centred():
    return SignStep(Centred())


class Players(nn.Module):
    """Two kernels with a loss each; the second one's gradients depend on the first kernel."""

    def __init__(self):
        super().__init__()
        self.kernel = nn.Parameter(torch.empty(4, 16))
        self.second = nn.Parameter(torch.empty(4, 16))

    def judged(self, plus, minus):
        return (self.kernel * plus).sum() - (self.kernel * minus).sum()

    def forward(self, plus, minus):  # noqa: ARG002
        return (self.second * plus).sum() * (3.0 + 0.01 * self.kernel.sum())


class PlayersStep(nn.Module):
    """An update of the first kernel by `Signs`, then one of the second by its gradient."""

    def __init__(self):
        super().__init__()
        self.network = Players()
        self.of_first = Signs([self.network.kernel], {"lr": 0.1})
        self.of_second = torch.optim.SGD([self.network.second], 0.1)

    def forward(self, *batch):
        loss = self.network.judged(*batch)
        loss.backward()
        self.of_first.step()
        self.of_second.zero_grad()
        self.network(*batch).backward()
        self.of_second.step()
        return loss.detach()


def players():
    return PlayersStep()


def not_a_step():
    return Given()
