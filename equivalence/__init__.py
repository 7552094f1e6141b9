"""Numerical equivalence of MindSpore networks with their PyTorch twins."""
