"""Networks with masks, tables and indices: buffers that no optimizer trains."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class RMSNorm(nn.Module):
    """Divides by the root mean square, in float32."""

    def __init__(self, size: int, eps: float = 1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return self.weight * wide.to(x.dtype)


def frequencies(size: int, base: float) -> torch.Tensor:
    """The angle per position of each pair of a head of `size` channels: size / 2."""
    return 1.0 / base ** (torch.arange(0, size, 2, dtype=torch.int64).float() / size)


def rotate_half(x: torch.Tensor) -> torch.Tensor:
    """The second half of the channels, negated, in front of the first."""
    first, second = x.chunk(2, -1)
    return torch.cat((-second, first), -1)


class Rotary(nn.Module):
    """The cosines and sines of the angles of `length` positions from `start` on.

    `tables` says where they are computed: in "forward" from frequencies that are computed there;
    from frequencies in a "buffer"; or in the "constructor".
    """

    def __init__(self, size: int, length: int, start: int, tables: str, base: float = 1e4):
        super().__init__()
        self.size, self.length, self.start, self.base = size, length, start, base
        self.tables = tables
        if tables != "forward":
            self.register_buffer("inv_freq", frequencies(size, base), persistent=False)
        if tables == "constructor":
            cosines, sines = self.angles()
            self.register_buffer("cosines", cosines, persistent=False)
            self.register_buffer("sines", sines, persistent=False)

    def angles(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The cosines and sines, each length x size."""
        forward = self.tables == "forward"
        inverse = frequencies(self.size, self.base) if forward else self.inv_freq
        positions = torch.arange(self.start, self.start + self.length)
        angles = torch.outer(positions.float(), inverse.float())
        angles = torch.cat((angles, angles), -1)
        return angles.cos(), angles.sin()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        known = self.tables == "constructor"
        cosines, sines = (self.cosines, self.sines) if known else self.angles()
        return x * cosines.to(x.dtype) + rotate_half(x) * sines.to(x.dtype)


class Attention(nn.Module):
    """Causal attention of rotated queries and keys: batch, length, heads x size."""

    def __init__(self, heads: int, size: int, length: int, start: int, tables: str):
        super().__init__()
        self.heads, self.size = heads, size
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (
            nn.Linear(heads * size, heads * size, bias=False) for _ in range(4)
        )
        self.rotary = Rotary(size, length, start, tables)
        mask = torch.ones(length, length, dtype=torch.bool).tril()
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        def heads(rows: torch.Tensor) -> torch.Tensor:
            return rows.unflatten(-1, (self.heads, self.size)).transpose(1, 2)

        queries, keys = self.rotary(heads(self.q_proj(x))), self.rotary(heads(self.k_proj(x)))
        scores = queries @ keys.transpose(-1, -2) / math.sqrt(self.size)
        scores = scores.masked_fill(~self.mask, -torch.inf)
        shares = F.softmax(scores, dim=-1, dtype=torch.float32).to(x.dtype)
        return self.o_proj((shares @ heads(self.v_proj(x))).transpose(1, 2).flatten(2))


class Block(nn.Module):
    """Attention and a gated pair of products, each behind an RMSNorm and beside a shortcut."""

    def __init__(self, heads: int, size: int, length: int, start: int, tables: str):
        super().__init__()
        width = heads * size
        self.input_layernorm = RMSNorm(width)
        self.self_attn = Attention(heads, size, length, start, tables)
        self.post_attention_layernorm = RMSNorm(width)
        self.gate_proj, self.up_proj = (nn.Linear(width, 2 * width, bias=False) for _ in range(2))
        self.down_proj = nn.Linear(2 * width, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.self_attn(self.input_layernorm(x))
        y = self.post_attention_layernorm(x)
        return x + self.down_proj(F.silu(self.gate_proj(y)) * self.up_proj(y))


class Timesteps(nn.Module):
    """Two products of the sines and cosines of timesteps: batch -> batch, width."""

    def __init__(self, width: int):
        super().__init__()
        self.width = width
        self.linear_1, self.linear_2 = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, timesteps: torch.Tensor) -> torch.Tensor:
        half = self.width // 2
        steps = torch.arange(half, dtype=torch.float32)
        inverse = torch.exp(-math.log(10000) * steps / half)
        angles = timesteps[:, None].float() * inverse[None]
        embedding = torch.cat((angles.cos(), angles.sin()), -1)
        return self.linear_2(F.silu(self.linear_1(embedding)))


class WindowAttention(nn.Module):
    """Attention within windows of `side` x `side` places: windows, places, heads x size.

    The bias of two places is looked up by their distance. Places of the upper and of the lower half
    of every second window do not see each other.
    """

    def __init__(self, heads: int, size: int, side: int, windows: int):
        super().__init__()
        self.heads, self.size = heads, size
        self.qkv = nn.Linear(heads * size, 3 * heads * size)
        self.relative_position_bias_table = nn.Parameter(torch.zeros((2 * side - 1) ** 2, heads))
        rows, columns = torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij")
        places = torch.stack((rows.flatten(), columns.flatten()))
        distances = places[:, :, None] - places[:, None, :] + side - 1
        index = distances[0] * (2 * side - 1) + distances[1]
        self.register_buffer("relative_position_index", index)
        upper = rows.flatten() < side // 2
        apart = (upper[:, None] != upper[None]) & (torch.arange(windows)[:, None, None] % 2 == 1)
        self.register_buffer("attn_mask", torch.where(apart, -100.0, 0.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        windows, places, width = x.shape
        split = self.qkv(x).reshape(windows, places, 3, self.heads, self.size)
        queries, keys, values = split.permute(2, 0, 3, 1, 4)
        scores = queries @ keys.transpose(-1, -2) * self.size**-0.5
        bias = self.relative_position_bias_table[self.relative_position_index]
        scores = scores + bias.permute(2, 0, 1) + self.attn_mask[:, None]
        return (scores.softmax(-1) @ values).transpose(1, 2).reshape(windows, places, width)


class Pixels(nn.Module):
    """A convolution of pixels that are normalised first: batch, 3, height, width."""

    def __init__(self, planes: int):
        super().__init__()
        self.register_buffer("mean", torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1))
        self.register_buffer("std", torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1))
        self.conv = nn.Conv2d(3, planes, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv((x - self.mean) / self.std)


class Centred(nn.Module):
    """A product minus its centre, which follows the means of the batches: batch, classes."""

    def __init__(self, features: int, classes: int, momentum: float = 0.9):
        super().__init__()
        self.linear = nn.Linear(features, classes)
        self.momentum = momentum
        self.register_buffer("centre", torch.full((classes,), 0.25))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.linear(x)
        if self.training:
            mean = y.detach().mean(0)
            self.centre = self.centre * self.momentum + mean * (1.0 - self.momentum)
        return torch.tanh(y - self.centre)
