"""Recurrent networks: sequences of several lengths, projected states, a tagger and a translator."""

import mindspore as ms
from mindspore import nn, ops
from mindspore.common.initializer import Uniform, initializer

from ms_models.optim import corrected_adam
from ms_models.steps import TrainStep


class Packed(nn.Cell):
    """A recurrent layer over sequences L,N,C of the lengths N; zeros follow their ends."""

    def __init__(self, kind: str, input_size: int, hidden_size: int, bidirectional: bool = False):
        super().__init__()
        self.layer = getattr(nn, kind)(input_size, hidden_size, bidirectional=bidirectional)

    def construct(self, x, lengths):
        return self.layer(x, None, lengths)


class ProjectedLSTM(nn.Cell):
    """An LSTM whose hidden state is projected, L,N,C -> L,N,P: `nn.LSTM` has no projection."""

    def __init__(self, input_size: int = 6, hidden_size: int = 5, proj_size: int = 3):
        super().__init__()
        self.hidden_size, self.proj_size = hidden_size, proj_size
        self.weight_ih_l0 = self.weight(4 * hidden_size, input_size)
        self.weight_hh_l0 = self.weight(4 * hidden_size, proj_size)
        self.bias_ih_l0 = self.weight(4 * hidden_size)
        self.bias_hh_l0 = self.weight(4 * hidden_size)
        self.weight_hr_l0 = self.weight(proj_size, hidden_size)

    def weight(self, *shape: int) -> ms.Parameter:
        """A weight as torch initialises it."""
        bound = self.hidden_size**-0.5
        return ms.Parameter(initializer(Uniform(bound), shape))

    def construct(self, x):
        hidden = ops.zeros((x.shape[1], self.proj_size), x.dtype)
        memory = ops.zeros((x.shape[1], self.hidden_size), x.dtype)
        outputs = []
        for step in range(x.shape[0]):
            gates = ops.matmul(x[step], self.weight_ih_l0.T) + self.bias_ih_l0
            gates = gates + ops.matmul(hidden, self.weight_hh_l0.T) + self.bias_hh_l0
            enter, keep, new, leave = ops.chunk(gates, 4, -1)
            fresh = ops.sigmoid(enter) * ops.tanh(new)
            memory = ops.sigmoid(keep) * memory + fresh
            shown = ops.sigmoid(leave) * ops.tanh(memory)
            hidden = ops.matmul(shown, self.weight_hr_l0.T)
            outputs.append(hidden)
        return ops.stack(outputs), (hidden.expand_dims(0), memory.expand_dims(0))


class Tagger(nn.Cell):
    """A two-way LSTM over words N,L of the lengths N, and the scores of tags: N,L,tags."""

    def __init__(self, words: int = 20, width: int = 6, hidden: int = 5, tags: int = 4):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.lstm = nn.LSTM(width, hidden, batch_first=True, bidirectional=True)
        self.scores = nn.Dense(2 * hidden, tags)

    def construct(self, words, lengths):
        embedded = self.embedding(words)
        read, _ = self.lstm(embedded, None, lengths)
        return self.scores(read)


class TaggerLoss(nn.Cell):
    """The mean cross entropy of a tagger over the words within the lengths."""

    def __init__(self):
        super().__init__()
        self.backbone = Tagger()

    def construct(self, words, lengths, tags):
        scores = self.backbone(words, lengths)
        losses = ops.cross_entropy(scores.swapaxes(1, 2), tags, reduction="none")
        places = ops.arange(words.shape[1])
        kept = ops.cast(places < lengths.expand_dims(-1), ms.float32)
        return (losses * kept).sum() / kept.sum()


class Translator(nn.Cell):
    """A GRU reads words N,S; a GRU cell writes the scores of words N,T and looks back: N,T,words.

    It gets the right word before, as in training, and what it has attended to (Luong, 2015).
    """

    def __init__(self, words: int = 20, width: int = 6, hidden: int = 8):
        super().__init__()
        self.source, self.target = nn.Embedding(words, width), nn.Embedding(words, width)
        self.encoder = nn.GRU(width, hidden, batch_first=True)
        self.decoder = nn.GRUCell(width + hidden, hidden)
        self.mixed = nn.Dense(2 * hidden, hidden)
        self.scores = nn.Dense(hidden, words)

    def construct(self, source, target):
        read, state = self.encoder(self.source(source))
        hidden = state[0]
        attended = ops.zeros_like(hidden)
        before = self.target(target)
        written = []
        for step in range(target.shape[1]):
            entered = ops.cat((before[:, step], attended), -1)
            hidden = self.decoder(entered, hidden)
            scores = (read * hidden.expand_dims(1)).sum(-1)
            shares = ops.softmax(scores, -1)
            context = (shares.expand_dims(-1) * read).sum(1)
            both = ops.cat((hidden, context), -1)
            attended = ops.tanh(self.mixed(both))
            written.append(self.scores(attended))
        return ops.stack(written, 1)


class TranslatorLoss(nn.Cell):
    """The mean cross entropy of a translator."""

    def __init__(self):
        super().__init__()
        self.backbone = Translator()

    def construct(self, source, target, wanted):
        scores = self.backbone(source, target)
        return ops.cross_entropy(scores.reshape(-1, scores.shape[-1]), wanted.reshape(-1))


def tagger_step(learning_rate: float, eps: float) -> nn.Cell:
    """A step of Adam of the tagger."""
    network = TaggerLoss()
    return TrainStep(network, corrected_adam(network, learning_rate, eps=eps))


def translator_step(learning_rate: float, eps: float) -> nn.Cell:
    """A step of Adam of the translator."""
    network = TranslatorLoss()
    return TrainStep(network, corrected_adam(network, learning_rate, eps=eps))
