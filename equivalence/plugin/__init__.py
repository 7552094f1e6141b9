"""The pytest plugin of the suite. Name this one; it loads the others.

door: the entry point, which loads this in a project that has files of declarations.
collector: makes tests of files of declarations.
records: `--record` and `--candidate`.
devices: `--mode` and `--rehearse`.
options: all other options, the markers, and how far a long run is.
fixtures: `compare` and `explore`.
watch: names the case in which a process dies or hangs.
results: the lines of results, their page, and the summary.
changed, green: `--changed`, and the green tests that every run keeps.
scheduler: deals cases out to the workers of pytest-xdist.

PYTEST_DONT_REWRITE: this is imported before pytest could rewrite its assertions; it has none.
"""

pytest_plugins = [
    "equivalence.plugin.door",
    "equivalence.plugin.collector",
    "equivalence.plugin.records",
    "equivalence.plugin.devices",
    "equivalence.plugin.options",
    "equivalence.plugin.watch",
    "equivalence.plugin.changed",
    "equivalence.plugin.fixtures",
]
