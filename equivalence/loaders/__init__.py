"""Loaders as their users wrote them, taken apart into the stages of a pipeline.

`stages` says what a side of a pipeline is, and imports no framework; `torch_loader` and
`mindspore_loader` take a loader of either framework apart. `epochs` has the orders of a training,
which `torch_epochs` notes and `mindspore_epochs` hands over. `reads` has the batches that a
training reads, and which columns draw. `orders` has the order of an epoch as data; `workers` says
whether processes draw the same numbers.
"""
