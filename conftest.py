"""Prepares the process before NumPy, PyTorch or MindSpore is imported, then loads the engine."""

from equivalence import environment

environment.prepare()

pytest_plugins = ["equivalence.record_plugin", "equivalence.device_plugin", "equivalence.plugin"]
