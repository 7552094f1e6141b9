"""Tests of the engine: each module of `equivalence/` by itself."""
