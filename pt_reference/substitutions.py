"""What operators put together from others must equal."""

import torch
import torch.nn.functional as F


def reshaped():
    """Squeeze, Flatten and ExpandDims."""
    return lambda x: (x.squeeze(1), torch.flatten(x, 1), x.unsqueeze(2))


def sorted_rows(descending: bool):
    """Sorted; elements that tie stay in their order."""
    return lambda x: tuple(torch.sort(x, descending=descending, stable=True))


def unfolded(kernel_size: int, padding: int, stride: int):
    """Unfold, times the identity: a product, which a device makes as exactly as a convolution."""

    def call(x):
        blocks = F.unfold(x, kernel_size, padding=padding, stride=stride)
        return torch.eye(blocks.shape[1], dtype=blocks.dtype) @ blocks

    return call


def gathered():
    """Rows and elements of a matrix by the four ways to name them."""

    def call(x, rows):
        first = rows[:, 0]
        return x[first], x.gather(0, rows), x[first, rows[:, 1]], x.index_select(0, first)

    return call


def one_hot(num_classes: int):
    return lambda labels: F.one_hot(labels, num_classes)


def padded(padding: tuple[int, ...], modes: tuple[str, ...]):
    return lambda x: tuple(F.pad(x, padding, mode) for mode in modes)
