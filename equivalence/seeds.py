"""Random seeds and generators, made from words. They are the same on every host and Python."""

import hashlib

import numpy as np


def seed_of(*parts: object) -> int:
    """A seed of 64 bits: a hash of the parts as text."""
    text = "\0".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def stream(*parts: object) -> np.random.Generator:
    """A random generator seeded by the parts."""
    return np.random.Generator(np.random.SFC64(seed_of(*parts)))
