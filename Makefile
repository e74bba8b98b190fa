# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
CORES ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu)
# more test processes than cores: a third of the time they wait, for browsers, servers and killed children
PROCESSES ?= $(shell echo $$(($(CORES) + 3)))
# Bytecode is kept, even where the environment says not to (images of containers often do): each of hundreds of processes
# that the tests start would compile torch and transformers again, which takes a quarter of a minute.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo pretrained check slow test tests lint lock format chaos fuzz bench experiments release clean

help:
	@echo "make demo   set up, then train, ask, attack, diagnose and compare two small models (a few minutes)"
	@echo "make test   set up, then lint, types and all tests"
	@echo "make check  lint, types and the quick tests"
	@echo "make slow   measure all tests anew: which of them make check leaves out"
	@echo "make lint   ruff, mypy and import-linter only"
	@echo "make lock   the newest versions of all packages into requirements-dev.txt, which the tests run with"
	@echo "make chaos  kill, starve and unplug every command that writes, and resume it (half an hour or more)"
	@echo "make bench  the benchmarks: speed and memory as ratios, measured side by side"
	@echo "make fuzz   damaged inputs for every reader and command (CASES of each target, 1,000 by default)"
	@echo "make release  wheel and sdist, each tried out in an empty environment: doctor, then the demo"
	@echo "make experiments  the documented experiments on real data (ANAPHORA_DATA); training ones take hours"

# torch first, and pinned: an unpinned one may bring gigabytes of CUDA that the tests have no use for. Everything else has
# the version of requirements-dev.txt: tests that passed pass again, and pip has nothing to search for.
$(VENV)/.dev: pyproject.toml requirements-dev.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --no-compile torch==2.13.0
	$(PIP) --no-compile --no-deps --requirement requirements-dev.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	touch $@

# the newest versions that pyproject.toml admits, for another run of all tests
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

# what to run while working: everything that does not take long
check: lint
	$(BIN)/pytest --numprocesses $(CORES) --dist worksteal --quiet -m "not slow and not browser and not cluster"

# all tests with their times, of which those that are slow go to tests/slow.txt
slow: $(VENV)/.dev
	$(BIN)/pytest --numprocesses $(CORES) --dist worksteal --quiet -p tests.slow

# types are checked beside the tests: mypy uses one core
test: $(VENV)/.dev
	$(MAKE) --jobs 2 lint tests

# Collecting first leaves the bytecode of all that the tests import, which the processes would compile side by side.
tests:
	$(BIN)/pytest --collect-only --quiet > /dev/null || $(BIN)/pytest --collect-only --quiet
	$(BIN)/pytest --numprocesses $(PROCESSES) --dist worksteal

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# 200 kills and more, losses of power, full disks; CHAOS="--only train" for some of it, see python -m tests.chaos --help
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

# Each of the two is installed as users do it: into nothing, with no more than it declares. First the core alone, then
# what the demo needs. It runs outside of this folder, so that only what is in the package can be found.
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
