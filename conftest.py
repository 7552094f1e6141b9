"""Prepares the process before NumPy, PyTorch or MindSpore is imported, then loads the engine."""

from equivalence.host import environment

environment.prepare()

pytest_plugins = ["equivalence.plugin"]
