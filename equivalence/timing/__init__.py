"""How long a step takes on both sides, beside each other: never a verdict.

steps: rounds in which the sides take turns; their median and spread as a table.
sides: a step of PyTorch, and one of MindSpore in each execution mode, made ready.
loaders: rows per second of two loaders.
waiting: whether a step waits for its data.
layers: the time of each layer's forward pass, on both sides.
command: `equivalence time`.
"""
