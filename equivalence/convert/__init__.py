"""Converts checkpoints from one framework to the other. Frameworks are imported late.

`command` is the command line, `convert` the conversion. `source` is what is read, without wrappers
and what is dropped. `mindspore_names` and `kernels` translate names and shapes, `joined` what a
rename joins, cuts, transposes or reshapes. `destination` describes the network that the weights
must fit. `optimizer_state` and `optimizer_numbers` convert the state of an optimiser. `conversion`
holds the result. Files are read and written by the room `checkpoints`.
"""
