# `make help` lists the targets. Everything runs in .venv, made on first use.

DEVICE ?= cpu
# One worker per card; a host with more cards says so.
JOBS ?= $(if $(filter cpu,$(DEVICE)),2,1)
MODE ?=
SEEDS ?=
SEED ?= 0
CANDIDATE ?= reports/candidate
SHARD ?=
# For `make installed`, which needs no .venv: a Python to test with, and newest, oldest or a release.
PYTHON ?= python3
PACKAGES ?= newest
ARGS ?=

BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest
PARALLEL := -n $(JOBS)
mode = $(if $(MODE),--mode $(MODE))
SUITES := tests/test_*.py
RECORDED := tests/test_twins.py tests/test_operators.py::test_operator
# SHARD=2/4 is the second of four parts, which take equally long as far as durations are known.
ifneq ($(SHARD),)
ifneq ($(shell echo '$(SHARD)' | grep -cxE '[1-9][0-9]*/[1-9][0-9]*'),1)
$(error SHARD=$(SHARD) is no part of a whole; write SHARD=2/4 for the second of four parts)
endif
endif
shard = --group $(firstword $(subst /, ,$(SHARD))) --splits $(lastword $(subst /, ,$(SHARD))) \
	--durations-path reports/durations-$(1).json --store-durations --clean-durations
report = --junitxml reports/junit-$(1).xml $(if $(SHARD),$(call shard,$(1)))

# No verdict depends on these but by the options that they become.
unexport DEVICE JOBS MODE SEEDS SEED CANDIDATE SHARD PYTHON PACKAGES ARGS
# A hundred processes start in a run of the tests; each would compile every module anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install lint engine engine-nightly gate changed record record-candidate nightly test defects findings releases audit accept \
	study bench installed docs package constraints clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  \1\t/' | expand -t 20
	@echo "  variables: DEVICE=cpu|gpu|ascend MODE=float32 JOBS=2 SEED=0 SEEDS=200 SHARD=1/4 ARGS='-k conv'"

.venv/installed: pyproject.toml constraints.txt
	@python=$$(for p in python3.11 python3.12 python3; do \
		$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 12))' \
			2>/dev/null && echo $$p && break; done) || true; \
	if [ -z "$$python" ]; then echo "no Python 3.11 or 3.12 found on PATH" >&2; exit 1; fi; \
	$$python -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --editable '.[dev]'
	@touch $@

.venv/zoo: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --editable '.[dev,zoo]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps mindone==0.5.0 \
		mindyolo==0.5.0 diffusers==0.35.2 ultralytics==8.4.190 opencv-python-headless==4.10.0.84
	@touch $@

install: .venv/installed ## make .venv with the pinned dependencies

lint: install docs ## ruff and mypy; the workflows against their schemas; every link of the site
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema custom.github-workflows-require-timeout \
		.github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.gitlab-ci --data-transform gitlab-ci \
		.gitlab-ci.yml

engine: install ## the tests of the engine, and a tenth of the defects
	$(PYTEST) tests/engine -m "not nightly" --dist loadfile $(PARALLEL) $(call report,engine) $(ARGS)
	$(PYTEST) tests/defects -m representative $(PARALLEL) $(call report,defects) $(ARGS)

engine-nightly: install ## the tests of the engine that only a night needs to hold
	$(PYTEST) tests/engine -m nightly --dist loadfile $(PARALLEL) $(call report,engine-nightly) $(ARGS)

gate: install ## compare every gate twin on DEVICE (what a merge waits for)
	$(PYTEST) $(SUITES) -m "gate and $(DEVICE)" $(mode) --seed $(SEED) $(PARALLEL) \
		$(call report,gate) $(ARGS)

changed: install ## the gate, without what was green before with the same sources
	$(PYTEST) $(SUITES) -m "gate and $(DEVICE)" $(mode) --seed $(SEED) $(PARALLEL) --changed $(ARGS)

record: install ## store the truth of the gate in fixtures/truth, for hosts without torch
	$(PYTEST) $(RECORDED) -m "gate and $(DEVICE)" --seed $(SEED) --record=write \
		--timeout 1800 $(PARALLEL) $(ARGS)

record-candidate: install ## keep the runs of the gate's candidates on DEVICE, to be judged elsewhere
	$(PYTEST) tests/test_twins.py -m "gate and $(DEVICE)" $(mode) --seed $(SEED) \
		--record-candidate=$(CANDIDATE) --timeout 1800 $(PARALLEL) $(ARGS)

nightly: install ## compare every twin on DEVICE, the large networks too
	$(PYTEST) $(SUITES) -m "$(DEVICE)" $(mode) --seed $(SEED) $(PARALLEL) \
		$(call report,nightly) $(ARGS)

test: lint engine gate ## what a merge waits for: lint, the tests of the engine, then the gate

defects: install ## the kill matrix: known mistakes, one by one, each of which must be refused
	$(PYTEST) tests/defects --seed $(SEED) $(PARALLEL) $(call report,defects) $(ARGS)

findings: install ## the known discrepancies between the frameworks: which of them still stand
	$(BIN)/python -m equivalence findings run --jobs $(JOBS) $(ARGS)

releases: install ## the findings in each release of MindSpore; writes docs/releases.md
	$(BIN)/python benchmarks/releases.py --jobs $(JOBS) $(ARGS)

audit: .venv/zoo ## networks of other packages beside their originals; writes docs/zoo/
	$(BIN)/python benchmarks/audit.py --jobs $(JOBS) $(ARGS)

accept: install ## keep the errors of the last gate as those that later runs are compared with
	$(BIN)/python -m equivalence accept --device $(DEVICE)

study: install ## right networks on the CPU with SEEDS base seeds: how far they are off
	$(BIN)/python benchmarks/false_alarms.py $(if $(SEEDS),--seeds $(SEEDS)) --jobs $(JOBS) $(ARGS)

bench: install ## the step time of both sides on DEVICE; what the suite costs beside them
	$(BIN)/python benchmarks/step_times.py --device $(DEVICE) $(ARGS)
	$(BIN)/python benchmarks/cost.py
	$(BIN)/python benchmarks/diagnosis.py
	$(BIN)/python benchmarks/overhead.py
	$(BIN)/python benchmarks/judge.py
	$(BIN)/python benchmarks/convert.py

installed: ## what users have: the wheel beside the PACKAGES=newest|oldest|torch==2.9.1 that it allows, with PYTHON
	$(PYTHON) benchmarks/installed.py $(PACKAGES) $(ARGS)

docs: install ## the site of docs/, in reports/site; a link that leads nowhere is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

.venv/package: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --editable '.[dev,package]'
	@touch $@

package: .venv/package ## the sdist and the wheel, in reports/package, as PyPI wants them
	rm -rf reports/package
	$(BIN)/python -m build --quiet --outdir reports/package
	$(BIN)/python -m twine check --strict reports/package/*

constraints: .venv/zoo ## pin what .venv holds now
	@{ head -n 1 constraints.txt; $(BIN)/python -m pip freeze --exclude-editable \
		| sed -E 's/\+(cpu|cu[0-9]+)//'; } > constraints.new && mv constraints.new constraints.txt

clean: ## remove .venv, caches and reports
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis reports *.egg-info
