"""Diffusion transformers: times, patches, DiT with adaLN-zero, and a joint block of two streams."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class TimestepMLP(nn.Module):
    """B -> B,C: two linear layers over the cosines and sines of times."""

    def __init__(self, width: int, channels: int):
        super().__init__()
        self.half = width // 2
        self.mlp = nn.Sequential(
            nn.Linear(width, channels), nn.SiLU(), nn.Linear(channels, channels)
        )

    def forward(self, times):
        steps = torch.arange(self.half, dtype=torch.float32, device=times.device)
        frequencies = torch.exp(-math.log(10000.0) * steps / self.half)
        angles = times[:, None].float() * frequencies
        return self.mlp(torch.cat([torch.cos(angles), torch.sin(angles)], dim=-1))


class Patchify(nn.Module):
    """B,C,H,W -> B,T,D: a linear layer over patches that do not overlap."""

    def __init__(self, channels: int, width: int, patch: int):
        super().__init__()
        self.proj = nn.Conv2d(channels, width, patch, stride=patch)

    def forward(self, x):
        return self.proj(x).flatten(2).transpose(1, 2)


def unpatchify(x, patch: int, channels: int, height: int, width: int):
    """B,T,P*P*C -> B,C,H,W, where there are T = (H / P) * (W / P) patches."""
    x = x.unflatten(-1, (patch, patch, channels))
    x = x.unflatten(1, (height // patch, width // patch))
    return torch.einsum("nhwpqc->nchpwq", x).reshape(-1, channels, height, width)


class Patches(nn.Module):
    """An image through its patches and back: B,C,H,W -> B,C,H,W."""

    def __init__(self, channels: int, hidden: int, patch: int):
        super().__init__()
        self.channels, self.patch = channels, patch
        self.patchify = Patchify(channels, hidden, patch)
        self.head = nn.Linear(hidden, patch * patch * channels)

    def forward(self, x):
        height, width = x.shape[-2:]
        x = self.head(self.patchify(x))
        return unpatchify(x, self.patch, self.channels, height, width)


def modulate(x, shift, scale):
    """B,T,D, scaled and shifted as a condition of shape B,D says."""
    return x * (1 + scale.unsqueeze(1)) + shift.unsqueeze(1)


class Attention(nn.Module):
    """Self-attention by one projection to queries, keys and values."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v)
        return self.proj(y.transpose(1, 2).flatten(2))


class FeedForward(nn.Module):
    """Two linear layers with the approximate GELU between them."""

    def __init__(self, width: int, hidden: int):
        super().__init__()
        self.fc1 = nn.Linear(width, hidden)
        self.act = nn.GELU(approximate="tanh")
        self.fc2 = nn.Linear(hidden, width)

    def forward(self, x):
        return self.fc2(self.act(self.fc1(x)))


class DiTBlock(nn.Module):
    """A block of DiT: its norms are shifted and scaled, its branches gated by the condition."""

    def __init__(self, width: int, heads: int, ratio: int = 4):
        super().__init__()
        self.norm1 = nn.LayerNorm(width, elementwise_affine=False, eps=1e-6)
        self.attn = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width, elementwise_affine=False, eps=1e-6)
        self.mlp = FeedForward(width, ratio * width)
        self.adaLN_modulation = nn.Sequential(nn.SiLU(), nn.Linear(width, 6 * width))

    def forward(self, x, c):
        shift1, scale1, gate1, shift2, scale2, gate2 = self.adaLN_modulation(c).chunk(6, dim=1)
        x = x + gate1.unsqueeze(1) * self.attn(modulate(self.norm1(x), shift1, scale1))
        return x + gate2.unsqueeze(1) * self.mlp(modulate(self.norm2(x), shift2, scale2))


class FinalLayer(nn.Module):
    """From tokens to patches."""

    def __init__(self, width: int, outputs: int):
        super().__init__()
        self.norm_final = nn.LayerNorm(width, elementwise_affine=False, eps=1e-6)
        self.linear = nn.Linear(width, outputs)
        self.adaLN_modulation = nn.Sequential(nn.SiLU(), nn.Linear(width, 2 * width))

    def forward(self, x, c):
        shift, scale = self.adaLN_modulation(c).chunk(2, dim=1)
        return self.linear(modulate(self.norm_final(x), shift, scale))


def position_table(width: int, rows: int, columns: int) -> np.ndarray:
    """Sines and cosines of the places in a grid, half of the width for each axis: 1,T,D."""
    half = width // 4
    frequencies = 10000.0 ** (-np.arange(half) / half)
    down, along = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
    # DiT has the columns in the first half.
    angles = [places.reshape(-1, 1) * frequencies for places in (along, down)]
    table = [part for each in angles for part in (np.sin(each), np.cos(each))]
    return np.concatenate(table, axis=1)[None].astype(np.float32)


class DiT(nn.Module):
    """A diffusion transformer with labels: images, times, labels -> images.

    The last row of the table of labels stands for no label.
    """

    def __init__(
        self, size: int, channels: int, patch: int, width: int, depth: int, heads: int, classes: int
    ):
        super().__init__()
        self.channels, self.patch = channels, patch
        self.x_embedder = Patchify(channels, width, patch)
        self.t_embedder = TimestepMLP(width, width)
        self.y_embedder = nn.Embedding(classes + 1, width)
        grid = size // patch
        table = torch.from_numpy(position_table(width, grid, grid))
        self.register_buffer("pos_embed", table)
        self.blocks = nn.ModuleList(DiTBlock(width, heads) for _ in range(depth))
        self.final_layer = FinalLayer(width, patch * patch * channels)
        self.initialise()

    def initialise(self) -> None:
        """Xavier for what is linear; zeros where adaLN-zero wants a block to be the identity."""
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)
        kernel = self.x_embedder.proj.weight
        nn.init.xavier_uniform_(kernel.view(kernel.shape[0], -1))
        nn.init.zeros_(self.x_embedder.proj.bias)
        for weight in (self.y_embedder, self.t_embedder.mlp[0], self.t_embedder.mlp[2]):
            nn.init.normal_(weight.weight, std=0.02)
        for layer in (*self.blocks, self.final_layer):
            nn.init.zeros_(layer.adaLN_modulation[1].weight)
        nn.init.zeros_(self.final_layer.linear.weight)

    def forward(self, x, times, labels):
        height, width = x.shape[-2:]
        x = self.x_embedder(x) + self.pos_embed
        c = self.t_embedder(times) + self.y_embedder(labels)
        for block in self.blocks:
            x = block(x, c)
        x = self.final_layer(x, c)
        return unpatchify(x, self.patch, self.channels, height, width)


class JointAttention(nn.Module):
    """Attention over an image and a text at once; queries and keys are normalised by head."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.to_qkv = nn.Linear(width, 3 * width)
        self.add_qkv = nn.Linear(width, 3 * width)
        self.norm_q = nn.RMSNorm(width // heads, eps=1e-6)
        self.norm_k = nn.RMSNorm(width // heads, eps=1e-6)
        self.norm_added_q = nn.RMSNorm(width // heads, eps=1e-6)
        self.norm_added_k = nn.RMSNorm(width // heads, eps=1e-6)
        self.to_out = nn.Linear(width, width)
        self.to_add_out = nn.Linear(width, width)

    def forward(self, x, text):
        q, k, v = self.to_qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        added = self.add_qkv(text).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        q = torch.cat([self.norm_q(q), self.norm_added_q(added[0])], dim=2)
        k = torch.cat([self.norm_k(k), self.norm_added_k(added[1])], dim=2)
        v = torch.cat([v, added[2]], dim=2)
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        return self.to_out(y[:, : x.shape[1]]), self.to_add_out(y[:, x.shape[1] :])


class Stream(nn.Module):
    """What one of the streams of a joint block does before and after the attention."""

    def __init__(self, width: int, ratio: int):
        super().__init__()
        self.modulation = nn.Sequential(nn.SiLU(), nn.Linear(width, 6 * width))
        self.norm1 = nn.LayerNorm(width, elementwise_affine=False, eps=1e-6)
        self.norm2 = nn.LayerNorm(width, elementwise_affine=False, eps=1e-6)
        self.ff = FeedForward(width, ratio * width)

    def before(self, x, c):
        """What goes into the attention, and what `after` needs of the condition."""
        shift, scale, *later = self.modulation(c).chunk(6, dim=1)
        return modulate(self.norm1(x), shift, scale), later

    def after(self, x, attended, later):
        """The stream with what the attention adds, and the feed-forward layer."""
        gate1, shift, scale, gate2 = later
        x = x + gate1.unsqueeze(1) * attended
        return x + gate2.unsqueeze(1) * self.ff(modulate(self.norm2(x), shift, scale))


class JointBlock(nn.Module):
    """A block of MMDiT: an image and a text with weights of their own, one attention over both."""

    def __init__(self, width: int, heads: int, ratio: int = 4):
        super().__init__()
        self.image = Stream(width, ratio)
        self.text = Stream(width, ratio)
        self.attn = JointAttention(width, heads)

    def forward(self, x, text, c):
        image, of_image = self.image.before(x, c)
        words, of_text = self.text.before(text, c)
        image, words = self.attn(image, words)
        return self.image.after(x, image, of_image), self.text.after(text, words, of_text)
