"""The pytest plugin of the suite. Name this one; it loads the others.

records: `--record` and `--candidate`.
devices: `--mode` and `--rehearse`.
options: all other options, and the markers.
fixtures: `compare` and `explore`.
results: the lines of results, and the summary.
scheduler: deals cases out to the workers of pytest-xdist.
"""

pytest_plugins = [
    "equivalence.plugin.records",
    "equivalence.plugin.devices",
    "equivalence.plugin.options",
    "equivalence.plugin.fixtures",
]
