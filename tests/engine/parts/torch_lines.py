"""Lines of PyTorch, one call each: what `coverage` calls verified is run beside MindSpore."""

from pathlib import Path

PATH = Path(__file__).with_suffix(".txt")
"""The lines, as the body of a function."""
LINES = {line.strip() for line in PATH.read_text().splitlines()[4:]}
SHAPES = {
    **{"x": (3, 4), "y": (3, 4), "v": (4,), "w": (5, 4), "square": (4, 4)},
    **{"maps": (2, 3, 8, 8), "stack": (2, 3, 4), "other": (2, 4, 3)},
}
"""The inputs of the lines, besides `labels`."""
