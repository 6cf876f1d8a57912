# One command per intention. Everything lives in .venv; nothing outside this folder is touched.
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN := .venv-run
SUPPLY := .venv-supply
RUNTIME := .venv-runtime
LOCK := requirements.lock
COMPILE := $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-annotate --no-header
CORES ?= 2
# Processes of tests; most tests wait most of the time.
WORKERS ?= 4

# $(call environment,LOCK): a virtual environment in the target's folder, with what the lock file names; says so while it does it.
define environment
@echo "Making $(@D) with the packages of $(1):"
@$(PYTHON) -m venv $(@D)
@$(@D)/bin/python -m pip install --disable-pip-version-check --progress-bar off --require-hashes -r $(1) \
	| awk '/^(Collecting|Processing)/ { sub(".*/", "", $$2); print "  " $$2; fflush() } /^Installing collected/ { print "Unpacking them …"; fflush() }'
endef

# The command `tickwright` in the target's environment, from the files of this folder.
ourselves = @$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .

.PHONY: help run setup test unit check format docs pictures lock sbom audit bench fuzz soak clean

help: ## List what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(RUN)/installed ## Start everything on this machine and watch jobs run
	@$(RUN)/bin/python -m worker.dev

$(RUN)/installed: requirements-run.lock pyproject.toml
	$(call environment,$<)
	$(ourselves)
	@touch $@

setup: $(VENV)/installed ## Make the environment of the tests and checks from the lock file

$(VENV)/installed: $(LOCK) pyproject.toml
	$(call environment,$<)
	$(ourselves)
	@touch $@

test: setup ## All tests, on both cores
	$(BIN)/python -m pytest -n $(WORKERS)

unit: setup ## The tests without network and without sleep
	$(BIN)/python -m pytest tests/unit -q -n $(CORES)

check: setup ## Format, lint, types, import contracts, ceilings of size, schemas of compose and Kubernetes
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.ceilings
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec docker-compose.yml
	$(BIN)/python -m tests.manifests
	$(BIN)/hadolint Dockerfile

format: setup ## Put the code in its form
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: setup ## Renew what is generated: the JSON Schema, and the references in docs/
	$(BIN)/python -m schedules.spec.json_schema > schedules/tickwright.schema.json
	$(BIN)/python -m tests.readme

pictures: setup ## Renew the pictures in docs, by a Chromium of this machine
	$(BIN)/python -m tests.board_picture
	$(BIN)/python -m tests.command_pictures

lock: setup ## Renew the lock files from pyproject.toml: everything, what `make run` needs, what the image runs, what builds it
	$(COMPILE) pyproject.toml --group dev --output-file $(LOCK)
	$(COMPILE) pyproject.toml --group run --extra sql --extra s3 --extra kubernetes --constraint $(LOCK) --output-file requirements-run.lock
	$(COMPILE) pyproject.toml --extra sql --extra s3 --extra kubernetes --constraint $(LOCK) --output-file requirements-runtime.lock
	$(COMPILE) --group build --constraint $(LOCK) --output-file requirements-build.lock
	$(COMPILE) --group supply --output-file requirements-supply.lock

sbom: $(RUNTIME)/installed $(SUPPLY)/installed ## Write sbom.cdx.json: what the image installs, with versions, licences and who needs what
	$(SUPPLY)/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
		--output-file sbom.cdx.json $(RUNTIME)/bin/python

audit: $(SUPPLY)/installed ## Ask OSV for advisories about what the image installs; needs the network (OSV_URL: another place that answers)
	@rm -f audit.json
	@$(SUPPLY)/bin/pip-audit --vulnerability-service osv $(if $(OSV_URL),--osv-url $(OSV_URL)) --disable-pip --require-hashes \
		--requirement requirements-runtime.lock --progress-spinner off --format json --output audit.json 2>audit.log; code=$$?; \
	if [ ! -s audit.json ]; then tail -n 1 audit.log; echo "NOTHING WAS AUDITED: the advisories of OSV could not be asked for" >&2; exit 2; fi; \
	tail -n 1 audit.log; echo "details: audit.json"; exit $$code

$(SUPPLY)/installed: requirements-supply.lock
	$(call environment,$<)
	@touch $@

$(RUNTIME)/installed: requirements-runtime.lock
	$(call environment,$<)
	@$(RUNTIME)/bin/python -m pip uninstall --quiet --yes pip setuptools
	@touch $@

fuzz: setup ## The differential and property tests, many times over: 50,000 questions to the real server
	FUZZ_TRIPLES=50000 FUZZ_EXAMPLES=20000 FUZZ_SPECS=100000 IMPORT_EXAMPLES=2000 $(BIN)/python -m pytest tests/integration/schedules/cron/test_times_differential.py \
		tests/property -n $(CORES) --timeout 7200

soak: setup ## The tests that say "each time", 300 times; a quarter of an hour of killing; an hour of faults and people on both schedulers, judged
	SOAK_RUNS=300 $(BIN)/python -m pytest tests/integration/schedules/sync/test_sync_interrupted.py -n $(CORES) --timeout 3600
	CHAOS_SECONDS=900 CHAOS_SEED=$$(date +%s) $(BIN)/python -m pytest tests/chaos -s
	SOAK_SECONDS=3600 SOAK_SEED=$$(date +%s) $(BIN)/python -m pytest tests/soak -n $(CORES)

bench: setup ## Measure, and show the figures beside their aims in one table; fails where an aim is missed
	$(BIN)/python benchmarks

clean: ## Remove the environment and the state of the embedded server
	rm -rf $(VENV) $(RUN) $(SUPPLY) $(RUNTIME) .tickwright audit.json audit.log sbom.cdx.json
