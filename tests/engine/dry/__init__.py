"""Tests of `equivalence.dry`."""
