"""The declarations: what is compared, as data. Imports no framework.

A declaration names its two sides as "module:attribute" and gives one case for each configuration.
`equivalence/kinds.py` says what a case is.

twin, operator, pipeline, initial, data_parallel: the five kinds of declarations.
declaration: the checks of their fields that all kinds share.
difference: known differences and errors, which declarations expect.
draws, distributions: how the inputs of a twin are drawn, or read from files.
batches: the inputs of a twin, also those that a data pipeline gives.
network: a network as an argument of what is compared.
renames: what the renames of weights say.
written: a declaration as a file of Python.
spaces: the space of shapes and arguments that an operator's examples are drawn from.
"""
