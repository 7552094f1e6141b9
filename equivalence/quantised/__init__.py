"""How much a quantised network loses beside its own float original, layer by layer. No verdict.

command: `equivalence quantised FLOAT QUANTISED`.
running: a network of either framework, as it is built, and what goes through its layers.
losses: the signal to noise of each layer, in the whole run and by itself.
"""
