"""A pytest plugin, `-p tests.engine.parts.without_mindspore`: its process has no MindSpore."""

import sys

if "mindspore" in sys.modules:
    raise RuntimeError("mindspore is imported already; name this plugin on the command line")
sys.modules["mindspore"] = None  # importing it now raises ModuleNotFoundError
