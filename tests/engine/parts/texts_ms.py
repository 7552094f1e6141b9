"""The same text as users of MindSpore read it, right and with mistakes."""

from pathlib import Path

import mindspore.dataset as ds
import numpy as np
from mindspore.dataset import text

from tests.engine.parts import record_files
from tests.engine.parts.texts_pt import BEGIN, END, LINES, PAD, UNKNOWN, VOCABULARY


class Lines:
    def __len__(self):
        return len(LINES)

    def __getitem__(self, index):
        return LINES[index], np.int32(index % 3), LINES[index]


def tokens_of(line, unknown=UNKNOWN, small=True):
    words = str(line).lower().split() if small else str(line).title().split()
    return [VOCABULARY.get(word, unknown) for word in words]


def tokenise(line):
    return np.array([BEGIN, *tokens_of(line), END], np.int32)


def without_end(line):
    return np.array([BEGIN, *tokens_of(line)], np.int32)


def without_ends(line):
    return np.array(tokens_of(line), np.int32)


def in_capitals(line):
    return np.array([BEGIN, *tokens_of(line, small=False), END], np.int32)


def shifted(line):
    return tokenise(line) + 1


def padding(side="right", value=PAD, longest=None, lengths=0, invert=False, capitals=False):
    """A per_batch_map."""

    def pad(ids, labels, lines, _):
        size = longest or max(len(row) for row in ids)
        ids = [row[:size] for row in ids]
        ends = [(0, size - len(row)) if side == "right" else (size - len(row), 0) for row in ids]
        padded = [np.pad(r, e, constant_values=value) for r, e in zip(ids, ends, strict=True)]
        masks = [(row != value) ^ invert for row in padded]
        given = [np.array(str(line).upper() if capitals else line) for line in lines]
        return padded, masks, [np.int32(len(row) + lengths) for row in ids], labels, given

    return pad


def batched(made, pad, **more):
    given = ["ids", "label", "line"]
    names = ["ids", "mask", "lengths", "label", "line"]
    return made.batch(4, per_batch_map=pad, input_columns=given, output_columns=names, **more)


def source(shuffle=False, **more):
    return ds.GeneratorDataset(Lines(), ["ids", "label", "line"], shuffle=shuffle, **more)


def loader(tokeniser=tokenise, shuffle=False, buffer=None, sampler=None, **more):
    made = source(None if sampler else shuffle, **({"sampler": sampler} if sampler else {}))
    if buffer:
        made = made.shuffle(buffer)
    return batched(made.map(tokeniser, ["ids"]), padding(**more))


def operators():
    """By MindSpore's own tokeniser, vocabulary and padding."""
    words = text.Vocab.from_dict(
        {"[PAD]": PAD, "[UNK]": UNKNOWN, "[B]": BEGIN, "[E]": END, **VOCABULARY}
    )
    steps = [
        text.WhitespaceTokenizer(),
        lambda tokens: np.array(["[B]", *tokens, "[E]"]),
        text.Lookup(words, "[UNK]"),
        lambda ids: (ids, np.int32(len(ids))),
    ]
    made = source().map(steps, ["ids"], ["ids", "lengths"])
    made = made.padded_batch(4, pad_info={"ids": (None, PAD)})
    made = made.map(lambda ids: (ids, ids != PAD), ["ids"], ["ids", "mask"])
    return made.project(["ids", "mask", "lengths", "label", "line"])


def sentences(home, capitals=()):
    """As they are, from a file. capitals: the lines that are in capitals."""
    lines = [each.upper() if n in capitals else each for n, each in enumerate(LINES)]
    labels = [n % 3 for n in range(len(LINES))]
    return record_files.sentences(Path(home), lines, labels).batch(4)


MISTAKES = {
    "left": {"side": "left"},
    "value": {"value": UNKNOWN},
    "cut": {"longest": 9},
    "fixed": {"longest": 16},
    "lengths": {"lengths": -2},
    "mask": {"invert": True},
    "line": {"capitals": True},
    "end": {"tokeniser": without_end},
    "ends": {"tokeniser": without_ends},
    "shift": {"tokeniser": shifted},
    "case": {"tokeniser": in_capitals},
    "shuffled": {"shuffle": True},
}


def shuffled():
    return loader(shuffle=True)


def buffered():
    return loader(buffer=4)


def weighted():
    weights = [float(n % 3 + 1) for n in range(32)]
    return loader(sampler=ds.WeightedRandomSampler(weights, 32))


def weighted_otherwise():
    return loader(sampler=ds.WeightedRandomSampler([1.0, *[2.0] * 31], 32))


def subset():
    return loader(sampler=ds.SubsetRandomSampler([*range(0, 32, 2)]))


def without_line():
    return loader().project(["ids", "mask", "lengths", "label"])


def __getattr__(name):
    """`broken_MISTAKE` builds the port with it."""
    mistake = name.removeprefix("broken_")
    if mistake not in MISTAKES or mistake == name:
        raise AttributeError(name)
    return lambda: loader(**MISTAKES[mistake])
