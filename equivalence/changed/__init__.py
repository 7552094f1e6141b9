"""Verdicts of earlier runs that must still be the same, for `--changed`. Imports no framework.

conditions: what every verdict depends on: engine, packages, processor, environment.
identity: a case as text, and the modules that it names.
sources: the project's own sources that a test depends on.
watch: what these sources reach and do not name: modules, files and folders.
store: the green tests of earlier runs.
"""
