"""Decoding with caches: the tokens of two functions that generate, and each call of their networks.

command: `equivalence generate TORCH MINDSPORE`.
calls: what goes into the network of each side and what it gives, call by call.
compare: the logits of each call, the first token that differs, and whether rounding decides it.

It does not look at how tokens are chosen: greedily, by beams, with a cache or without. It sees what
the network is called with, and what it gives.
"""
