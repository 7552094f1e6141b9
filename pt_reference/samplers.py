"""Sampling and training of diffusion models: whole loops from given noise, losses, averages."""

import itertools
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn, optim

from pt_reference.diffusion import DiT
from pt_reference.steps import TrainStep

TRAIN_STEPS = 1000


def cumulated_alphas(start: float = 0.00085, end: float = 0.012) -> np.ndarray:
    """The share of the signal at each step of a training, of latent diffusion's schedule."""
    betas = np.linspace(start**0.5, end**0.5, TRAIN_STEPS) ** 2
    return np.cumprod(1.0 - betas)


class Denoiser(nn.Module):
    """A small network of images, times and labels; the last label stands for none."""

    def __init__(self, channels: int, width: int, classes: int):
        super().__init__()
        self.nothing = classes
        self.time = nn.Linear(1, width)
        self.label = nn.Embedding(classes + 1, width)
        self.conv_in = nn.Conv2d(channels, width, 3, padding=1)
        self.conv_out = nn.Conv2d(width, channels, 3, padding=1)

    def forward(self, x, times, labels):
        condition = self.time(times[:, None] / TRAIN_STEPS) + self.label(labels)
        h = F.silu(self.conv_in(x) + condition[:, :, None, None])
        return self.conv_out(h)


class Guided(nn.Module):
    """Classifier-free guidance: away from what the network says without a label."""

    def __init__(self, network: nn.Module, scale: float):
        super().__init__()
        self.network, self.scale = network, scale

    def forward(self, x, time, labels):
        times = torch.full((2 * len(x),), time, dtype=x.dtype)
        nothing = torch.full_like(labels, self.network.nothing)
        both = self.network(torch.cat([x, x]), times, torch.cat([nothing, labels]))
        without, with_label = both.chunk(2)
        return without + self.scale * (with_label - without)


class DDIM(nn.Module):
    """Noise, labels, fresh noise of each step -> images, by DDIM.

    The network predicts the noise. `eta` is the share of fresh noise.
    """

    def __init__(
        self, channels: int, width: int, classes: int, scale: float, steps: int, eta: float
    ):
        super().__init__()
        self.model = Guided(Denoiser(channels, width, classes), scale)
        self.alphas, self.eta = cumulated_alphas(), eta
        self.stride = TRAIN_STEPS // steps
        self.times = [1 + self.stride * i for i in reversed(range(steps))]

    def forward(self, x, labels, fresh):
        for i, time in enumerate(self.times):
            # Past the last step stands the first alpha, not one.
            now, later = self.alphas[time], self.alphas[max(time - self.stride, 0)]
            noise = self.model(x, float(time), labels)
            image = (x - math.sqrt(1 - now) * noise) / math.sqrt(now)
            sigma = self.eta * math.sqrt((1 - later) / (1 - now) * (1 - now / later))
            x = math.sqrt(later) * image + math.sqrt(1 - later - sigma**2) * noise
            x = x + sigma * fresh[i]
        return x


class DPMSolver(nn.Module):
    """Noise, labels -> images, by DPM-Solver++ of second order in several steps.

    The network predicts the noise; the first and the last step are of first order.
    """

    def __init__(self, channels: int, width: int, classes: int, scale: float, steps: int):
        super().__init__()
        self.model = Guided(Denoiser(channels, width, classes), scale)
        alphas = cumulated_alphas()
        self.times = np.linspace(0, TRAIN_STEPS - 1, steps + 1).round()[:0:-1].astype(int)
        self.alpha = [math.sqrt(alphas[t]) for t in self.times] + [1.0]
        self.sigma = [math.sqrt(1 - alphas[t]) for t in self.times] + [0.0]

    def half_log_snr(self, i: int) -> float:
        """lambda of the i-th step."""
        return math.log(self.alpha[i] / self.sigma[i])

    def forward(self, x, labels):
        before, last = None, len(self.times) - 1
        for i, time in enumerate(self.times):
            noise = self.model(x, float(time), labels)
            image = (x - self.sigma[i] * noise) / self.alpha[i]
            if i == last:
                return image
            h = self.half_log_snr(i + 1) - self.half_log_snr(i)
            direction = image
            if before is not None:
                ratio = (self.half_log_snr(i) - self.half_log_snr(i - 1)) / h
                direction = image + (image - before) / (2 * ratio)
            ahead = self.alpha[i + 1] * math.expm1(-h)
            x = self.sigma[i + 1] / self.sigma[i] * x - ahead * direction
            before = image
        return x


class FlowEuler(nn.Module):
    """Noise, labels -> images, along a flow by Euler's method; `shift` moves steps to the noise."""

    def __init__(
        self, channels: int, width: int, classes: int, scale: float, steps: int, shift: float
    ):
        super().__init__()
        self.model = Guided(Denoiser(channels, width, classes), scale)
        sigmas = np.linspace(1.0, 1.0 / TRAIN_STEPS, steps)
        self.sigmas = [*(shift * sigmas / (1 + (shift - 1) * sigmas)).tolist(), 0.0]

    def forward(self, x, labels):
        for now, later in itertools.pairwise(self.sigmas):
            x = x + (later - now) * self.model(x, now * TRAIN_STEPS, labels)
        return x


class VelocityLoss(nn.Module):
    """Images, noise, times, labels -> the loss of a predicted velocity, weighted by min-SNR."""

    def __init__(self, channels: int, width: int, classes: int, gamma: float):
        super().__init__()
        self.network, self.gamma = Denoiser(channels, width, classes), gamma
        alphas = torch.from_numpy(cumulated_alphas().astype(np.float32))
        self.register_buffer("alphas", alphas, persistent=False)

    def forward(self, x, noise, times, labels):
        share = self.alphas[times]
        signal, sigma = share.sqrt()[:, None, None, None], (1 - share).sqrt()[:, None, None, None]
        velocity = self.network(signal * x + sigma * noise, times.to(x.dtype), labels)
        error = (velocity - (signal * noise - sigma * x)).square().mean(dim=(1, 2, 3))
        snr = share / (1 - share)
        return (error * snr.clamp(max=self.gamma) / (snr + 1)).mean()


class FlowLoss(nn.Module):
    """Images, noise, shares of noise, labels -> the loss of a predicted flow."""

    def __init__(self, network: nn.Module):
        super().__init__()
        self.network = network

    def forward(self, x, noise, sigmas, labels):
        share = sigmas[:, None, None, None]
        flow = self.network((1 - share) * x + share * noise, sigmas * TRAIN_STEPS, labels)
        return (flow - (noise - x)).square().mean()


class AveragedStep(TrainStep):
    """A step that keeps a moving average of all weights, whose decay warms up."""

    def __init__(self, network: nn.Module, optimizer: optim.Optimizer, limit: float, decay: float):
        super().__init__(network, optimizer)
        self.clip = lambda parameters: nn.utils.clip_grad_norm_(parameters, limit)
        self.decay, self.updates = decay, 0
        self.average = [parameter.detach().clone() for parameter in network.parameters()]

    @torch.no_grad()
    def descend(self) -> None:
        """Let the optimiser use the gradients, then the average the new weights."""
        super().descend()
        self.updates += 1
        decay = min(self.decay, (1 + self.updates) / (10 + self.updates))
        for average, parameter in zip(self.average, self.network.parameters(), strict=True):
            average.lerp_(parameter, 1 - decay)


def dit_training(
    learning_rate: float, weight_decay: float, limit: float, decay: float, **network
) -> AveragedStep:
    """A DiT learns a flow: AdamW, gradients clipped by their common norm, averaged weights."""
    trained = FlowLoss(DiT(**network))
    optimizer = optim.AdamW(trained.parameters(), learning_rate, weight_decay=weight_decay)
    return AveragedStep(trained, optimizer, limit, decay)
