"""A network of one's own against its port, without a declaration in this repository.

command: `equivalence compare TORCH MINDSPORE`, which prints the answer first;
and what all commands are told of two networks.
data: `equivalence data TORCH MINDSPORE`, two data pipelines as they stand.
notebook: the same as functions, on live objects.
session: the structure of both sides, then the verdict on each case, by the engine of all twins.
refused: the outputs of a network of which MindSpore refuses the gradients.
result: what the functions return, and all texts.
terminal: colour, and lines as wide as the terminal.
live: objects of this process as targets and inputs; copies of them are run.
proposal: the shape of an input that the first layer tells.
"""
