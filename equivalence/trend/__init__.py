"""The results of each run, kept to show which errors grow, and since when. Imports no framework.

history: the file that keeps them, a database of SQLite.
growth: which errors have grown.
keeping: keeps the results of a run beside those before it.
command: `equivalence trend`.

`command`, `history` and `growth` need the standard library alone, so that a CI can put files
together anywhere.
"""
