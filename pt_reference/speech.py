"""A Conformer, as its paper has it but for absolute positions, under the CTC loss."""

import torch
from torch import nn


def feed_forward(width: int, hidden: int) -> nn.Sequential:
    """The half step at both ends of a block."""
    return nn.Sequential(
        nn.LayerNorm(width), nn.Linear(width, hidden), nn.SiLU(), nn.Linear(hidden, width)
    )


class Convolution(nn.Module):
    """A gate and a depthwise convolution over time: N,T,width -> N,T,width."""

    def __init__(self, width: int, kernel_size: int):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.pointwise1 = nn.Conv1d(width, 2 * width, 1)
        self.depthwise = nn.Conv1d(
            width, width, kernel_size, padding=kernel_size // 2, groups=width, bias=False
        )
        self.batch_norm = nn.BatchNorm1d(width)
        self.pointwise2 = nn.Conv1d(width, width, 1)

    def forward(self, x: torch.Tensor, padding: torch.Tensor) -> torch.Tensor:
        x = self.norm(x).transpose(1, 2)
        x = nn.functional.glu(self.pointwise1(x), 1)
        x = x.masked_fill(padding[:, None], 0.0)
        x = nn.functional.silu(self.batch_norm(self.depthwise(x)))
        return self.pointwise2(x).transpose(1, 2)


class ConformerBlock(nn.Module):
    """Half a step, attention, convolution, half a step: N,T,width and lengths -> N,T,width."""

    def __init__(self, width: int, num_heads: int, hidden: int, kernel_size: int):
        super().__init__()
        self.feed_forward1 = feed_forward(width, hidden)
        self.norm = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, num_heads, batch_first=True)
        self.convolution = Convolution(width, kernel_size)
        self.feed_forward2 = feed_forward(width, hidden)
        self.last_norm = nn.LayerNorm(width)

    def forward(self, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        padding = torch.arange(x.shape[1], device=x.device)[None] >= lengths[:, None]
        x = x + 0.5 * self.feed_forward1(x)
        y = self.norm(x)
        y, _ = self.attention(y, y, y, key_padding_mask=padding, need_weights=False)
        x = x + y
        x = x + self.convolution(x, padding)
        x = x + 0.5 * self.feed_forward2(x)
        return self.last_norm(x)


class Recogniser(nn.Module):
    """N,T,features with lengths, and labels with theirs -> the CTC loss; the blank is 0.

    Two frames are joined before the block, so that half the time is left.
    """

    def __init__(self, features: int, width: int, symbols: int, **block: int):
        super().__init__()
        self.join = nn.Linear(2 * features, width)
        self.block = ConformerBlock(width, **block)
        self.head = nn.Linear(width, symbols)
        self.loss = nn.CTCLoss(blank=0, zero_infinity=True)

    def forward(
        self,
        frames: torch.Tensor,
        lengths: torch.Tensor,
        labels: torch.Tensor,
        label_lengths: torch.Tensor,
    ) -> torch.Tensor:
        n, time, features = frames.shape
        x = self.join(frames.reshape(n, time // 2, 2 * features))
        x = self.block(x, lengths // 2)
        logits = self.head(x).transpose(0, 1)
        return self.loss(logits.log_softmax(-1), labels, lengths // 2, label_lengths)
