# `make help` lists the targets. Everything runs in .venv, made on first use.

DEVICE ?= cpu
JOBS ?= 2
SEEDS ?= 200
SEED ?= 0
ARGS ?=

BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest
PARALLEL := -n $(JOBS)
SUITES := tests/test_*.py

.DEFAULT_GOAL := help
.PHONY: help install lint gate record nightly test defects findings measured study bench constraints clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  \1\t/' | expand -t 16
	@echo "  variables: DEVICE=cpu|gpu|ascend JOBS=2 SEED=0 SEEDS=200 ARGS='-k conv'"

.venv/installed: pyproject.toml constraints.txt
	@python=$$(for p in python3.11 python3.12 python3; do \
		$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 12))' \
			2>/dev/null && echo $$p && break; done) || true; \
	if [ -z "$$python" ]; then echo "no Python 3.11 or 3.12 found on PATH" >&2; exit 1; fi; \
	$$python -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --editable '.[dev]'
	@touch $@

install: .venv/installed ## make .venv with the pinned dependencies

lint: install ## ruff: lint and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

gate: install ## compare every gate twin on DEVICE (what a merge waits for)
	$(PYTEST) $(SUITES) -m "gate and $(DEVICE)" --seed $(SEED) $(PARALLEL) $(ARGS)

record: install ## store the truth of every gate twin in fixtures/truth, for hosts without torch
	$(PYTEST) tests/test_twins.py -m "gate and $(DEVICE)" --seed $(SEED) --record=write \
		--timeout 1800 $(PARALLEL) $(ARGS)

nightly: install ## compare every twin on DEVICE, the large networks too
	$(PYTEST) $(SUITES) -m "$(DEVICE)" --seed $(SEED) $(PARALLEL) $(ARGS)

test: lint ## lint, the tests of the engine, a tenth of the defects, then the gate on the CPU
	$(PYTEST) tests/engine $(PARALLEL)
	$(PYTEST) tests/defects -m representative $(PARALLEL)
	$(PYTEST) $(SUITES) -m "gate and cpu" $(PARALLEL)

defects: install ## the kill matrix: known mistakes, one by one, each of which must be refused
	$(PYTEST) tests/defects --seed $(SEED) $(PARALLEL) $(ARGS)

findings: install ## the known discrepancies between the frameworks: which of them still stand
	$(BIN)/python -m equivalence findings --jobs $(JOBS) $(ARGS)

measured: install ## keep the errors that the last run measured: fixtures/measured.json
	$(BIN)/python -m equivalence measured

study: install ## run the gate on the CPU with SEEDS base seeds; how far right networks are off
	$(BIN)/python benchmarks/false_alarms.py --seeds $(SEEDS) --jobs $(JOBS) $(ARGS)

bench: install ## what share of the gate is the frameworks' own compute; the judge's speed
	$(BIN)/python benchmarks/overhead.py
	$(BIN)/python benchmarks/judge.py

constraints: install ## pin what .venv holds now
	@{ head -n 1 constraints.txt; $(BIN)/python -m pip freeze --exclude-editable \
		| sed -E 's/\+(cpu|cu[0-9]+)//'; } > constraints.new && mv constraints.new constraints.txt

clean: ## remove .venv, caches and reports
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis reports *.egg-info
