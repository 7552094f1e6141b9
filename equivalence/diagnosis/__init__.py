"""Finds where a candidate first goes wrong, and why. Loads both frameworks.

`diagnose` chooses the way: `network` searches the layers, at the first size that differs, and
`stages` the steps of a training. `search` feeds each layer the reference's own input
(`in_situ`) and judges it. `causes` explains a culprit, also by the shape of its error (`pattern`,
`positions`, `residual`), `detached` tells of gradients that are cut on purpose, and `statement`
points to the statement that is to blame in a layer's own code. Before all that, `known` tries
whether known faults of MindSpore explain the case. `whole` looks at a run as a whole where layers
cannot be compared by themselves, and `attributes` at the lines that write what is not returned.
`found` holds the result; `text` prints it. `pattern`, `positions` and `residual` import no
framework.
"""
