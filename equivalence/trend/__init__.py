"""The results of each run, kept to show which errors grow, and since when. Imports no framework.

history: the file that keeps them, a database of SQLite.
measured: the lines of results of a run, as what is kept of it.
growth: which errors have grown.
keeping: keeps a run beside those before it.
command: `equivalence trend`.

`command`, `history` and `growth` need the standard library alone, so that a CI can put files
together anywhere.
"""
