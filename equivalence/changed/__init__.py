"""Verdicts of earlier runs that must still be the same, for `--changed`. Imports no framework.

identity: a case as text, and the modules that it names.
sources: the project's own sources that a test depends on.
reading: what is read off one of them.
store: the green tests of earlier runs.

What verdicts depend on besides is in `host/conditions.py`; what sources reach and do not name is
seen by `host/watch.py`.
"""
