# Needs make and Python 3.11 or newer. `make` alone lists what there is.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
# Other tools bring much along, so they have an environment of their own.
PEERS ?= build/peers
# Of all the files that come, a few are ever imported: Python compiles those then, which takes half the time.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt
# The models of the notebooks are so small that a second thread only makes them wait for each other.
EXECUTE := OMP_NUM_THREADS=1 $(BIN)/jupyter nbconvert --log-level WARN --execute --ExecutePreprocessor.record_timing=False
# ipykernel warns of what holds for every kernel on one machine; pipefail keeps the exit status in front of it.
QUIETLY := 2>&1 | { grep -v 'running over TCP without encryption' || true; }
# Jupyter asks to be told that it is root, as it is in a container.
AS_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)
# Files of tests that run side by side.
JOBS ?= 2
# A machine that stops for a moment fails no test: what fails runs once more, and the summary counts it as a rerun.
AGAIN ?= --reruns 1 --rerun-except 'Timeout \(>'
SHELL := bash
.SHELLFLAGS := -o pipefail -c

.DEFAULT_GOAL := help
.PHONY: help setup demo lab test check lint bench peers docs notebooks changes dist matrix binder clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.dev ## build the environment in .venv: package, notebooks, tests, checks

demo: $(VENV)/.demo ## run notebooks/first_look.ipynb; leaves notebook and web page in build/demo
	@mkdir -p build/demo
	@$(EXECUTE) --to notebook --output-dir build/demo notebooks/first_look.ipynb $(QUIETLY)
	@$(BIN)/jupyter nbconvert --log-level WARN --to html build/demo/first_look.ipynb
	@$(BIN)/python notebooks/summary.py build/demo/first_look.ipynb

lab: $(VENV)/.demo ## open the notebook in JupyterLab
	$(BIN)/jupyter lab $(AS_ROOT) notebooks/first_look.ipynb

test: $(VENV)/.dev ## run every test that needs no GPU
	$(BIN)/python -m pytest -m "not gpu" -n $(JOBS) --dist loadfile --no-loadscope-reorder $(AGAIN)

check: lint ## what must hold before a commit: lint, types, contracts between the rooms
	$(BIN)/mypy
	$(BIN)/lint-imports

lint: $(VENV)/.dev ## style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

bench: $(VENV)/.dev ## what watching costs at each level, and what loading the extension costs
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/overhead.py
	$(BIN)/python benchmarks/load_ext.py

peers: $(PEERS)/.installed ## what other tools cost on the same trainings, beside torchmagic
	OMP_NUM_THREADS=1 $(PEERS)/bin/python benchmarks/peers.py

docs: $(VENV)/.dev ## build the manual, offline, in build/docs/html
	$(BIN)/python docs/build.py build/docs
	$(BIN)/python docs/stage.py build/docs/source build/docs/rules
	$(BIN)/sphinx-build -q -W --keep-going -c docs -d build/docs/doctrees build/docs/source build/docs/html
	@echo "build/docs/html/index.html"

notebooks: $(VENV)/.dev ## run the stored notebooks again, in place
	$(EXECUTE) --ExecutePreprocessor.store_widget_state=False --to notebook --inplace notebooks/*.ipynb $(QUIETLY)
	$(BIN)/jupyter nbconvert --log-level WARN --coalesce-streams --inplace notebooks/*.ipynb

changes: $(VENV)/.dev ## show what the next release's section of the changelog will be
	@$(BIN)/towncrier build --draft --version next

dist: $(VENV)/.dev ## build wheel and sdist in dist, check them, install the wheel into an empty environment
	rm -rf dist
	$(BIN)/python -m build --quiet
	$(BIN)/twine check --strict dist/*
	DIST=dist $(BIN)/python -m pytest -q tests/release

matrix: $(VENV)/.dev ## run the fast tests in the versions that are supported, each in an environment of its own
	$(BIN)/nox --envdir build/matrix

binder: ## take the steps of repo2docker in an empty environment, and run the first notebook there
	.ci/binder

clean: ## remove what was built, but not .venv
	rm -rf build dist notebooks/.torchmagic

$(VENV)/bin/python:
	@echo "building $(VENV) with $(PYTHON)"
	@"$(PYTHON)" -m venv $(VENV)

$(VENV)/.demo: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "installing torchmagic and what the notebooks need; torch is large, so this takes some minutes"
	@$(INSTALL) -e '.[demo]'
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "installing torchmagic and what its tests need; torch is large, so this takes some minutes"
	@$(INSTALL) -e '.[dev]'
	@touch $(VENV)/.demo $@

$(PEERS)/.installed: benchmarks/requirements-peers.txt pyproject.toml constraints.txt
	@test -x "$(PEERS)/bin/python" || "$(PYTHON)" -m venv "$(PEERS)"
	@"$(PEERS)/bin/python" -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@grep -v '^#' benchmarks/requirements-peers.txt | while read -r tool; do \
	  "$(PEERS)/bin/python" -m pip install --quiet --disable-pip-version-check -c constraints.txt "$$tool" < /dev/null \
	    || echo "$$tool does not install here; it will be skipped"; \
	done
	@touch $@
