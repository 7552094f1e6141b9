"""Finds where a candidate first goes wrong, and why. Loads both frameworks.

`diagnose` chooses the way: `network` searches the layers, `stages` the steps of a training, and
`sizes` the first size that differs. `search` feeds each layer the reference's own input
(`in_situ`) and judges it. `causes` explains a culprit, also by the shape of its error (`pattern`,
`positions`, `residual`). `found` holds the result; `text` prints it. `pattern`, `positions` and
`residual` import no framework.
"""
