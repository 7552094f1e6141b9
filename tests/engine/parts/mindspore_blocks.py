"""The network of `torch_blocks.py` in MindSpore, right or with a mistake."""

from mindspore import mint, nn, ops


class Block(nn.Cell):
    """A residual block; `minted` calls an operator that has no kernel on a CPU."""

    def __init__(self, width, epsilon=1e-5, residual=True, stop=False, minted=False):
        super().__init__()
        self.norm, self.fc = nn.LayerNorm((width,), epsilon=epsilon), nn.Dense(width, width)
        self.scale, self.residual, self.stop = 0.5, residual, stop
        self.minted = minted

    def construct(self, x, mask, shift=False):
        y = ops.sigmoid(self.fc(self.norm(x) * mask))
        if self.stop:
            y = ops.stop_gradient(y)
        if self.minted:
            y = mint.clone(y)
        out = y + (1.0 if shift else 0.0)
        return (x + out if self.residual else out), y.mean(-1)


class Net(nn.Cell):
    """Tokens through blocks to logits.

    order: the blocks in the order in which they are called.
    shift: what the blocks are called with.
    blocks: number of a block -> further arguments of it.
    halved: the number of a block before which what it takes is halved, off by a factor.
    stopped: the number of a block before which no gradient goes back.
    """

    def __init__(
        self,
        depth=3,
        width=8,
        tied=False,
        order=None,
        shift=True,
        blocks=None,
        halved=None,
        stopped=None,
    ):
        super().__init__()
        self.embed = nn.Embedding(11, width)
        blocks = blocks or {}
        self.layers = nn.CellList([Block(width, **blocks.get(i, {})) for i in range(depth)])
        self.head = nn.Dense(width, 11, has_bias=False)
        self.order = tuple(range(depth)) if order is None else order
        self.shift, self.halved, self.stopped = shift, halved, stopped
        if tied:
            self.head.weight = self.embed.embedding_table

    def construct(self, tokens):
        x = self.embed(tokens)
        mask = ops.cumsum(ops.ones((x.shape[1], 1)), 0)
        kept = []
        for i in self.order:
            if i == self.halved:
                x = x * 0.5
            if i == self.stopped:
                x = ops.stop_gradient(x)
            x, y = self.layers[i](x, mask, shift=self.shift)
            kept.append(y * self.layers[i].scale)
        return self.head(x), ops.stack(kept)


class Stopped(Net):
    """A network in which no gradient goes back between two blocks."""

    def __init__(self, depth=3):
        super().__init__(depth, stopped=1)


class Wrong(Net):
    """A network with another epsilon in one block."""

    def __init__(self):
        super().__init__(blocks={1: {"epsilon": 1e-2}})
