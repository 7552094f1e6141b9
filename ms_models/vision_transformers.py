"""ViT and Swin as torchvision has them, under its names."""

import math
from collections import OrderedDict

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops


def layer_norm(width: int, epsilon: float) -> nn.LayerNorm:
    """Over the last axis; MindSpore's own epsilon is 1e-7, ViT's 1e-6 and Swin's 1e-5."""
    return nn.LayerNorm((width,), epsilon=epsilon)


def mlp(width: int, hidden: int, dropout: float = 0.0) -> nn.SequentialCell:
    """Two dense layers around the exact GELU; `nn.GELU()` alone would approximate it by tanh."""
    return nn.SequentialCell(
        nn.Dense(width, hidden),
        nn.GELU(approximate=False),
        nn.Dropout(p=dropout),
        nn.Dense(hidden, width),
        nn.Dropout(p=dropout),
    )


def patches(width: int, size: int) -> nn.Conv2d:
    """N,3,H,W -> N,width,H/size,W/size, each patch by itself."""
    return nn.Conv2d(3, width, size, size, pad_mode="valid", has_bias=True)


class EncoderBlock(nn.Cell):
    """ViT's block, normalised before each branch: N,S,hidden_dim -> N,S,hidden_dim."""

    def __init__(self, num_heads: int, hidden_dim: int, mlp_dim: int, dropout: float = 0.0):
        super().__init__()
        self.ln_1 = layer_norm(hidden_dim, 1e-6)
        self.self_attention = nn.MultiheadAttention(
            hidden_dim, num_heads, dropout=dropout, batch_first=True
        )
        self.dropout = nn.Dropout(p=dropout)
        self.ln_2 = layer_norm(hidden_dim, 1e-6)
        self.mlp = mlp(hidden_dim, mlp_dim, dropout)

    def construct(self, x):
        y = self.ln_1(x)
        y = self.self_attention(y, y, y, need_weights=False)[0]
        x = x + self.dropout(y)
        y = self.ln_2(x)
        y = self.mlp(y)
        return x + y


class Encoder(nn.Cell):
    """Positions, blocks and a last normalisation."""

    def __init__(self, seq_length: int, num_layers: int, hidden_dim: int, dropout: float, **block):
        super().__init__()
        positions = np.random.normal(0.0, 0.02, (1, seq_length, hidden_dim))
        self.pos_embedding = Parameter(Tensor(positions, ms.float32))
        self.dropout = nn.Dropout(p=dropout)
        self.layers = nn.SequentialCell(
            OrderedDict(
                (
                    f"encoder_layer_{number}",
                    EncoderBlock(hidden_dim=hidden_dim, dropout=dropout, **block),
                )
                for number in range(num_layers)
            )
        )
        self.ln = layer_norm(hidden_dim, 1e-6)

    def construct(self, x):
        x = x + self.pos_embedding
        return self.ln(self.layers(self.dropout(x)))


class VisionTransformer(nn.Cell):
    """Images N,3,H,W -> logits N,num_classes, read off the class token."""

    def __init__(
        self,
        image_size: int,
        patch_size: int,
        num_layers: int,
        num_heads: int,
        hidden_dim: int,
        mlp_dim: int,
        num_classes: int,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.conv_proj = patches(hidden_dim, patch_size)
        self.class_token = Parameter(ops.zeros((1, 1, hidden_dim), ms.float32))
        self.encoder = Encoder(
            (image_size // patch_size) ** 2 + 1,
            num_layers,
            hidden_dim,
            dropout,
            num_heads=num_heads,
            mlp_dim=mlp_dim,
        )
        self.heads = nn.SequentialCell(OrderedDict(head=nn.Dense(hidden_dim, num_classes)))

    def construct(self, x):
        x = self.conv_proj(x)
        x = x.flatten(start_dim=2).swapaxes(1, 2)
        token = ops.tile(self.class_token, (x.shape[0], 1, 1))
        x = ops.cat((token, x), axis=1)
        x = self.encoder(x)
        return self.heads(x[:, 0])


def rolled(x, shift, axis):
    """The entries moved `shift` places towards the beginning; ops.roll has no CPU kernel."""
    if shift == 0:
        return x
    size = x.shape[axis]
    first, rest = ops.split(x, (shift % size, size - shift % size), axis)
    return ops.cat((rest, first), axis)


def padded(x, below, beside):
    """Zeros below and beside the map: N,H,W,C -> N,H+below,W+beside,C.

    In graph mode the gradient of ops.pad is wrong from the second call on.
    """
    n, h, w, c = x.shape
    if below > 0:
        x = ops.cat((x, ops.zeros((n, below, w, c), x.dtype)), axis=1)
    if beside > 0:
        x = ops.cat((x, ops.zeros((n, h + below, beside, c), x.dtype)), axis=2)
    return x


class ShiftedWindowAttention(nn.Cell):
    """Attention within windows of a map that is shifted: N,H,W,dim -> N,H,W,dim."""

    def __init__(self, dim: int, num_heads: int, window: int, shift: int):
        super().__init__()
        self.num_heads, self.window, self.shift = num_heads, window, shift
        self.qkv = nn.Dense(dim, 3 * dim)
        self.proj = nn.Dense(dim, dim)
        table = np.random.normal(0.0, 0.02, ((2 * window - 1) ** 2, num_heads))
        self.relative_position_bias_table = Parameter(Tensor(table, ms.float32))
        rows, columns = np.indices((window, window)).reshape(2, -1)
        down = rows[:, None] - rows[None] + window - 1
        right = columns[:, None] - columns[None] + window - 1
        index = down * (2 * window - 1) + right
        self.relative_position_index = Parameter(
            Tensor(index.reshape(-1), ms.int32), requires_grad=False
        )

    def bias(self):
        """What is added to the scores of two places of a window: 1,heads,places,places."""
        places = self.window**2
        bias = ops.gather(self.relative_position_bias_table, self.relative_position_index, 0)
        return bias.reshape(places, places, self.num_heads).transpose(2, 0, 1)[None]

    def split(self, x):
        """Windows and their places: N,H,W,C -> N*windows,places,C."""
        n, h, w, c = x.shape
        x = x.reshape(n, h // self.window, self.window, w // self.window, self.window, c)
        return x.transpose(0, 1, 3, 2, 4, 5).reshape(-1, self.window**2, c)

    def parts(self, size, shift):
        """Which of the three parts of an axis its places are of, once the axis is shifted."""
        places = ops.arange(size)
        far = (places >= size - self.window).astype(ms.float32)
        return far + (places >= size - shift).astype(ms.float32) if shift else 0.0 * far

    def mask(self, h, w, down, right):
        """-100 for two places of a window that were apart before the shift."""
        part = 3.0 * self.parts(h, down)[:, None] + self.parts(w, right)[None]
        part = self.split(part[None, :, :, None])[:, :, 0]
        apart = part[:, None, :] != part[:, :, None]
        return apart.astype(ms.float32) * -100.0

    def construct(self, x):
        n, height, width, c = x.shape
        below, beside = -height % self.window, -width % self.window
        x = padded(x, below, beside)
        h, w = height + below, width + beside
        # A single window is not shifted.
        down = self.shift if h > self.window else 0
        right = self.shift if w > self.window else 0
        x = rolled(rolled(x, down, 1), right, 2)
        x = self.split(x)
        qkv = self.qkv(x).reshape(x.shape[0], x.shape[1], 3, self.num_heads, c // self.num_heads)
        q, k, v = qkv.transpose(2, 0, 3, 1, 4)
        q = q / math.sqrt(c // self.num_heads)
        scores = ops.matmul(q, k.swapaxes(-2, -1))
        scores = scores + self.bias()
        if down + right > 0:
            mask = self.mask(h, w, down, right)
            scores = scores.reshape(n, mask.shape[0], self.num_heads, *mask.shape[1:])
            scores = (scores + mask[None, :, None]).reshape(-1, self.num_heads, *mask.shape[1:])
        weights = ops.softmax(scores, axis=-1)
        x = ops.matmul(weights, v).swapaxes(1, 2).reshape(x.shape)
        x = self.proj(x)
        x = x.reshape(n, h // self.window, w // self.window, self.window, self.window, c)
        x = x.transpose(0, 1, 3, 2, 4, 5).reshape(n, h, w, c)
        x = rolled(rolled(x, -down, 1), -right, 2)
        return x[:, :height, :width]


class SwinBlock(nn.Cell):
    """Swin's block, normalised before each branch: N,H,W,dim -> N,H,W,dim."""

    def __init__(self, dim: int, num_heads: int, window: int, shift: int):
        super().__init__()
        self.norm1 = layer_norm(dim, 1e-5)
        self.attn = ShiftedWindowAttention(dim, num_heads, window, shift)
        self.norm2 = layer_norm(dim, 1e-5)
        self.mlp = mlp(dim, 4 * dim)

    def construct(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class PatchMerging(nn.Cell):
    """Four neighbours become one place of twice the width: N,H,W,dim -> N,H/2,W/2,2*dim."""

    def __init__(self, dim: int):
        super().__init__()
        self.reduction = nn.Dense(4 * dim, 2 * dim, has_bias=False)
        self.norm = layer_norm(4 * dim, 1e-5)

    def construct(self, x):
        x = padded(x, x.shape[1] % 2, x.shape[2] % 2)
        n, h, w, c = x.shape
        x = x.reshape(n, h // 2, 2, w // 2, 2, c)
        # Of the four, those of the left come first, as the weights are trained.
        x = x.transpose(0, 1, 3, 4, 2, 5).reshape(n, h // 2, w // 2, 4 * c)
        return self.reduction(self.norm(x))


class ChannelsLast(nn.Cell):
    """N,C,H,W -> N,H,W,C."""

    def construct(self, x):
        return x.transpose(0, 2, 3, 1)


class Swin(nn.Cell):
    """Images N,3,H,W -> logits N,num_classes; every second block is shifted by half a window."""

    def __init__(
        self,
        patch_size: int,
        embed_dim: int,
        depths: tuple[int, ...],
        num_heads: tuple[int, ...],
        window: int,
        num_classes: int,
    ):
        super().__init__()
        stem = patches(embed_dim, patch_size), ChannelsLast(), layer_norm(embed_dim, 1e-5)
        features, width = [nn.SequentialCell(*stem)], embed_dim
        for stage, (depth, heads) in enumerate(zip(depths, num_heads, strict=True)):
            if stage > 0:
                features.append(PatchMerging(width))
                width *= 2
            shifts = [window // 2 * (number % 2) for number in range(depth)]
            blocks = [SwinBlock(width, heads, window, shift) for shift in shifts]
            features.append(nn.SequentialCell(*blocks))
        self.features = nn.SequentialCell(*features)
        self.norm = layer_norm(width, 1e-5)
        self.head = nn.Dense(width, num_classes)

    def construct(self, x):
        x = self.norm(self.features(x))
        return self.head(x.mean((1, 2)))
