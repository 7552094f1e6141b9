"""Recurrent networks: sequences of several lengths, projected states, a tagger and a translator."""

import warnings

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from pt_reference.optim import adam
from pt_reference.steps import TrainStep


class Packed(nn.Module):
    """A recurrent layer of torch over sequences L,N,C of the lengths N; zeros follow their ends."""

    def __init__(self, kind: str, input_size: int, hidden_size: int, bidirectional: bool = False):
        super().__init__()
        self.layer = getattr(nn, kind)(input_size, hidden_size, bidirectional=bidirectional)

    def forward(self, x: torch.Tensor, lengths: torch.Tensor):
        packed = pack_padded_sequence(x, lengths.cpu(), enforce_sorted=False)
        outputs, state = self.layer(packed)
        return pad_packed_sequence(outputs, total_length=len(x))[0], state


class ProjectedLSTM(nn.LSTM):
    """An LSTM whose hidden state is projected, L,N,C -> L,N,P."""

    def __init__(self, input_size: int = 6, hidden_size: int = 5, proj_size: int = 3):
        super().__init__(input_size, hidden_size, proj_size=proj_size)

    def forward(self, x: torch.Tensor):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "LSTM with projections is not supported with oneDNN")
            return super().forward(x)


class Tagger(nn.Module):
    """A two-way LSTM over words N,L of the lengths N, and the scores of tags: N,L,tags."""

    def __init__(self, words: int = 20, width: int = 6, hidden: int = 5, tags: int = 4):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.lstm = nn.LSTM(width, hidden, batch_first=True, bidirectional=True)
        self.scores = nn.Linear(2 * hidden, tags)

    def forward(self, words: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        embedded = self.embedding(words)
        packed = pack_padded_sequence(embedded, lengths.cpu(), True, enforce_sorted=False)
        read, _ = self.lstm(packed)
        return self.scores(pad_packed_sequence(read, True, total_length=words.shape[1])[0])


class TaggerLoss(nn.Module):
    """The mean cross entropy of a tagger over the words within the lengths."""

    def __init__(self):
        super().__init__()
        self.backbone = Tagger()

    def forward(
        self, words: torch.Tensor, lengths: torch.Tensor, tags: torch.Tensor
    ) -> torch.Tensor:
        losses = F.cross_entropy(
            self.backbone(words, lengths).transpose(1, 2), tags, reduction="none"
        )
        kept = torch.arange(words.shape[1]) < lengths[:, None]
        return (losses * kept).sum() / kept.sum()


class Translator(nn.Module):
    """A GRU reads words N,S; a GRU cell writes the scores of words N,T and looks back: N,T,words.

    It gets the right word before, as in training, and what it has attended to (Luong, 2015).
    """

    def __init__(self, words: int = 20, width: int = 6, hidden: int = 8):
        super().__init__()
        self.source, self.target = nn.Embedding(words, width), nn.Embedding(words, width)
        self.encoder = nn.GRU(width, hidden, batch_first=True)
        self.decoder = nn.GRUCell(width + hidden, hidden)
        self.mixed = nn.Linear(2 * hidden, hidden)
        self.scores = nn.Linear(hidden, words)

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        read, state = self.encoder(self.source(source))
        hidden, attended = state[0], torch.zeros_like(state[0])
        before, written = self.target(target), []
        for step in range(target.shape[1]):
            hidden = self.decoder(torch.cat((before[:, step], attended), -1), hidden)
            shares = F.softmax((read * hidden[:, None]).sum(-1), -1)
            context = (shares[..., None] * read).sum(1)
            attended = torch.tanh(self.mixed(torch.cat((hidden, context), -1)))
            written.append(self.scores(attended))
        return torch.stack(written, 1)


class TranslatorLoss(nn.Module):
    """The mean cross entropy of a translator."""

    def __init__(self):
        super().__init__()
        self.backbone = Translator()

    def forward(
        self, source: torch.Tensor, target: torch.Tensor, wanted: torch.Tensor
    ) -> torch.Tensor:
        return F.cross_entropy(self.backbone(source, target).flatten(0, 1), wanted.flatten())


def tagger_step(learning_rate: float, eps: float) -> TrainStep:
    """A step of Adam of the tagger."""
    network = TaggerLoss()
    return TrainStep(network, adam(network, learning_rate, eps=eps))


def translator_step(learning_rate: float, eps: float) -> TrainStep:
    """A step of Adam of the translator."""
    network = TranslatorLoss()
    return TrainStep(network, adam(network, learning_rate, eps=eps))
