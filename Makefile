# On a fresh machine, two commands do everything: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
CORES ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu)
# more test processes than cores, because they wait a third of the time: for browsers, servers and killed children
PROCESSES ?= $(shell echo $$(($(CORES) + 3)))
# Write bytecode even if the environment disables it, as container images often do. Otherwise, each of the hundreds of
# processes that the tests start would compile torch and transformers again, which takes 15 seconds.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo pretrained check slow test tests lint lock format chaos fuzz bench experiments release clean

help:
	@echo "make demo   set up, then train, score, attack, diagnose and compare two small models (a few minutes)"
	@echo "make test   set up, then run lint, type checks and all tests"
	@echo "make check  run lint, type checks and the quick tests"
	@echo "make slow   time all tests, and update the list that make check leaves out"
	@echo "make lint   run ruff, mypy and import-linter only"
	@echo "make lock   write the newest versions of all packages to requirements-dev.txt"
	@echo "make chaos  interrupt every command that writes, and resume it (five minutes to an hour)"
	@echo "make bench  run the benchmarks: speed and memory, as ratios within one run"
	@echo "make fuzz   damage the inputs of every reader and command (CASES per target, 1,000 by default)"
	@echo "make release  build wheel and sdist, and try each in an empty environment"
	@echo "make experiments  run the experiments on real data (ANAPHORA_DATA); training takes hours"

# Install torch first and pinned: an unpinned version may download gigabytes of CUDA libraries that the tests do not use.
# Everything else has the version in requirements-dev.txt, so that the tests are reproducible and pip resolves nothing.
$(VENV)/.dev: pyproject.toml requirements-dev.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --no-compile torch==2.13.0
	$(PIP) --no-compile --no-deps --requirement requirements-dev.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	touch $@

# the newest versions that pyproject.toml allows; run all tests afterwards
lock:
	$(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install --quiet torch==2.13.0
	build/lock/bin/python -m pip install --quiet ".[all,dev]"
	build/lock/bin/python .ci/lock.py > requirements-dev.txt.new
	mv requirements-dev.txt.new requirements-dev.txt

# The demo trains two small models: torch first, and pinned, as above.
$(VENV)/.demo: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) torch==2.13.0
	$(PIP) --editable ".[nmt]"
	touch $@

demo: $(VENV)/.demo
	$(BIN)/anaphora demo

# the weights of `anaphora demo --pretrained`, trained by the demo itself
pretrained: $(VENV)/.demo
	rm -rf anaphora-demo
	$(BIN)/anaphora demo -o anaphora-demo
	$(BIN)/python -m anaphora.demo.story anaphora-demo

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# the quick checks to run while you work
check: lint
	$(BIN)/pytest --numprocesses $(CORES) --dist worksteal --quiet -m "not slow and not browser and not cluster"

# time all tests and write the slow ones to tests/slow.txt
slow: $(VENV)/.dev
	$(BIN)/pytest --numprocesses $(CORES) --dist worksteal --quiet -p tests.slow

# mypy uses one core, so it runs next to the tests
test: $(VENV)/.dev
	$(MAKE) --jobs 2 lint tests

# Collecting first compiles everything that the tests import; otherwise, each process would compile it.
tests:
	$(BIN)/pytest --collect-only --quiet > /dev/null || $(BIN)/pytest --collect-only --quiet
	$(BIN)/pytest --numprocesses $(PROCESSES) --dist worksteal

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# more than 200 kills, power losses and full disks; CHAOS="--only train" selects some: python -m tests.chaos --help
chaos: $(VENV)/.dev
	$(BIN)/python -m tests.chaos --json chaos.json $(CHAOS)

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/run.py

CASES ?= 1000
SEED ?= 1
fuzz: $(VENV)/.dev
	PYTHONPATH=.:src $(BIN)/python -m tests.fuzz.run --cases $(CASES) --seed $(SEED) --workers 2 $(if $(RECORD),--record $(RECORD))

experiments: $(VENV)/.dev
	$(BIN)/python experiments/run.py

# Install each distribution as users do, into an empty environment: first the core alone, then what the demo needs. The
# commands run outside this folder, so that they find only what is in the package.
RELEASE := $(CURDIR)/build/release
release:
	rm -rf dist $(RELEASE)
	$(PYTHON) -m venv $(RELEASE)/tools
	$(RELEASE)/tools/bin/python -m pip install --quiet build
	$(RELEASE)/tools/bin/python -m build --outdir dist .
	@set -e; unset PYTHONPATH; for file in $(CURDIR)/dist/*.whl $(CURDIR)/dist/*.tar.gz; do \
	  echo "== $$(basename $$file)"; place=$(RELEASE)/$${file##*.}; bin=$$place/bin; \
	  $(PYTHON) -m venv $$place; cd $$place; \
	  $$bin/python -m pip install --quiet $$file; \
	  $$bin/anaphora --version; $$bin/anaphora doctor; $$bin/anaphora demo --stand-ins -o stand-ins > /dev/null; \
	  $$bin/python -m pip install --quiet torch==2.13.0 "$$file[nmt]"; \
	  $$bin/python -m pip check; \
	  $$bin/anaphora demo --pretrained -o demo; test -s demo/report.html; \
	done

clean:
	rm -rf $(VENV) anaphora-demo dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
