"""A pytest plugin, `-p tests.engine.parts.without_torch`: the process has no torch."""

import sys

for _package in ("torch", "torchvision"):
    if _package in sys.modules:
        raise RuntimeError(f"{_package} is imported already; name this plugin on the command line")
    sys.modules[_package] = None  # importing it now raises ModuleNotFoundError
