"""Metrics as people write them, for `equivalence evaluate --metric metrics:bleu`, in this folder.

Each takes the outputs and the labels of the whole data set, as NumPy arrays, and returns a number
or a mapping from names to numbers. A label of -100 fills up what is shorter.
"""

import math
from collections import Counter

import numpy as np

BLANK = 0
"""The class of no letter, of outputs that a CTC loss has trained."""

NGRAMS = 4


def word_error_rate(outputs, labels):
    """Edits to the words per word, of logits (N, T, K) that a CTC loss has trained.

    labels: (N, T), the numbers of the words, and -100 behind them.
    """
    edits = words = 0
    for frames, label in zip(outputs.argmax(2), labels, strict=True):
        changes = np.concatenate([[True], frames[1:] != frames[:-1]])
        found, wanted = frames[changes & (frames != BLANK)].tolist(), label[label >= 0].tolist()
        edits, words = edits + _distance(found, wanted), words + len(wanted)
    return edits / words


def _distance(one, two):
    """The fewest words to insert, delete or replace."""
    row = [*range(len(two) + 1)]
    for place, word in enumerate(one, 1):
        before, row[0] = row[0], place
        for n, other in enumerate(two, 1):
            before, row[n] = row[n], min(row[n] + 1, row[n - 1] + 1, before + (word != other))
    return row[-1]


def bleu(outputs, labels):
    """BLEU of the most likely tokens, of logits (N, T, K), over the whole data set.

    labels: (N, T), the tokens of the one reference, and -100 behind them.
    """
    right, total = np.zeros(NGRAMS), np.zeros(NGRAMS)
    found_length = wanted_length = 0
    for tokens, label in zip(outputs.argmax(2), labels, strict=True):
        found, wanted = tokens[label >= 0].tolist(), label[label >= 0].tolist()
        found_length, wanted_length = found_length + len(found), wanted_length + len(wanted)
        for n in range(NGRAMS):
            one, two = _ngrams(found, n + 1), _ngrams(wanted, n + 1)
            right[n] += sum((one & two).values())
            total[n] += sum(one.values())
    if not right.all():
        return 0.0
    brevity = min(0.0, 1.0 - wanted_length / found_length)
    return math.exp(np.log(right / total).mean() + brevity)


def _ngrams(tokens, n):
    return Counter(tuple(tokens[k : k + n]) for k in range(len(tokens) - n + 1))


def mean_average_precision(outputs, labels):
    """The mean average precision at an overlap of one half.

    outputs: (N, Q, 4 + K), corners x, y, x, y of boxes and a score of each class.
    labels: (N, G, 5), corners and class of what is there; a class of -100 is nothing.
    """
    classes = range(outputs.shape[2] - 4)
    there = [c for c in classes if (labels[..., 4] == c).any()]
    return {"mAP@50": float(np.mean([_average_precision(outputs, labels, c) for c in there]))}


def _average_precision(outputs, labels, of_class):
    found = []
    count = 0
    for boxes, truths in zip(outputs, labels, strict=True):
        left = [each[:4] for each in truths if each[4] == of_class]
        count += len(left)
        for box in sorted(boxes, key=lambda each: -each[4 + of_class]):
            overlaps = [_overlap(box[:4], each) for each in left]
            best = int(np.argmax(overlaps)) if overlaps else -1
            hit = best >= 0 and overlaps[best] >= 0.5
            found.append((box[4 + of_class], hit))
            if hit:
                left.pop(best)
    hits = np.cumsum([hit for _, hit in sorted(found, key=lambda each: -each[0])])
    precision = hits / np.arange(1, len(hits) + 1)
    precision = np.maximum.accumulate(precision[::-1])[::-1]
    return float((precision * np.diff(hits, prepend=0)).sum() / count)


def _overlap(one, two):
    sides = np.minimum(one[2:], two[2:]) - np.maximum(one[:2], two[:2])
    both = np.prod(np.clip(sides, 0.0, None))
    areas = [np.prod(np.clip(each[2:4] - each[:2], 0.0, None)) for each in (one, two)]
    return both / (sum(areas) - both + 1e-12)
