"""Text as users of PyTorch read it: a data set that tokenises, and a collate_fn that pads."""

from itertools import product

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset, SubsetRandomSampler, WeightedRandomSampler

WORDS = (("red", "old", "big", "wet"), ("cat", "dog", "cow", "hen"), ("mat", "log"))
LINES = [
    f"the {a} {b} sat on the {c}{' again' * (n % 4)}" for n, (a, b, c) in enumerate(product(*WORDS))
]
PAD, UNKNOWN, BEGIN, END = 0, 1, 2, 3
VOCABULARY = {word: n + 4 for n, word in enumerate(sorted({w for x in LINES for w in x.split()}))}


class Lines(Dataset):
    def __len__(self):
        return len(LINES)

    def __getitem__(self, index):
        tokens = [VOCABULARY.get(word, UNKNOWN) for word in LINES[index].lower().split()]
        return torch.tensor([BEGIN, *tokens, END]), torch.tensor(index % 3), LINES[index]


def collate(batch):
    ids, labels, lines = zip(*batch, strict=True)
    padded = pad_sequence(ids, batch_first=True, padding_value=PAD)
    lengths = torch.tensor([len(each) for each in ids])
    inputs = {"ids": padded, "mask": padded != PAD, "lengths": lengths}
    return {**inputs, "label": torch.stack(labels), "line": list(lines)}


def loader(**more):
    return DataLoader(Lines(), batch_size=4, collate_fn=collate, **more)


class Sentences(Dataset):
    def __len__(self):
        return len(LINES)

    def __getitem__(self, index):
        return {"line": LINES[index], "label": index % 3}


def sentences(home, capitals=()):  # noqa: ARG001 - what both sides are called with
    return DataLoader(Sentences(), batch_size=4)


def nested():
    def collate_nested(batch):
        made = collate(batch)
        return (made["ids"], made["mask"]), made["lengths"], made["label"], made["line"]

    return DataLoader(Lines(), batch_size=4, collate_fn=collate_nested)


def ragged():
    return DataLoader(
        Lines(), batch_size=4, collate_fn=lambda batch: {"ids": [r[0] for r in batch]}
    )


def shuffled():
    return loader(shuffle=True)


def weighted():
    return loader(sampler=WeightedRandomSampler([n % 3 + 1.0 for n in range(32)], 32))


def subset():
    return loader(sampler=SubsetRandomSampler([*range(0, 32, 2)]))
