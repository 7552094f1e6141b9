"""Converts checkpoints from one framework to the other. Frameworks are imported late.

`convert` is the conversion, and its command line. `source` is what is read, without wrappers and
what is dropped, and what became of it. `mindspore_names` translates names, `joined` what a rename
or a framework joins, cuts, transposes or reshapes. `destination` describes the network that the
weights must fit. `optimizer_state` and `optimizer_numbers` convert the state of an optimiser.
`trained` gives the weights of a checkpoint to both sides of a case. Files are read and written by
the room `checkpoints`.
"""
