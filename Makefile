# Each works from a fresh clone and installs what it needs into .venv: demo, test, quick, bare, lint, wheel, docs, bench, scale,
# reproduce, claims, calibration, text, explore, fuzz, differential, golden, mutants, sanitize, load, coverage.
PYTHON ?= python3
VENV := .venv
BARE := .venv-bare
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYTHONDONTWRITEBYTECODE =# the tests start many Pythons, and what one has compiled serves the next

.PHONY: demo test quick bare lint wheel docs bench scale reproduce claims calibration text explore fuzz differential golden mutants sanitize load coverage clean

demo: $(VENV)/.core
	$(BIN)/summarkov demo --output demo

# The paper's data sets are looked for in this folder.
DATA ?= ../shared/data
export SUMMARKOV_DATA = $(DATA)

# One process per core, each with whole files of tests, in their order: the long ones come first.
PYTEST = pytest --numprocesses auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder
test quick bare: export OMP_NUM_THREADS = 1
test quick bare: export OPENBLAS_NUM_THREADS = 1
test: $(VENV)/.test
	$(BIN)/python -m $(PYTEST)

# Every room in less than a minute: without what tests/slow.py names, and with a tenth of the random examples.
QUICK = SUMMARKOV_EXPLORE=0.1 $(1)/bin/python -m $(PYTEST) -m "not slow"
quick: $(VENV)/.test
	$(call QUICK,$(VENV))

# The same where no optional library is installed.
bare: $(BARE)/.bare
	$(call QUICK,$(BARE))

lint: $(VENV)/.lint
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/python tools/audit.py

# The source archive and the wheel, looked into, and the demo from the installed wheel.
wheel: $(VENV)/.wheel
	$(BIN)/python tools/wheel.py

# The site, in build/site: warnings are errors, and so are links inside it that lead nowhere.
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -q -W --keep-going docs build/site
	@echo "Open build/site/index.html"

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

# Graphs from generated Parquet larger than memory; the sizes are numbers of events.
SIZES ?= 1e6 1e7 1e8
scale: $(VENV)/.core
	$(BIN)/python -m benchmarks.scale $(SIZES)

# The paper's tables, from DATA. Add ARGS="--lstm --boosting" for the slow ones.
reproduce: $(VENV)/.baselines
	$(BIN)/python -m paper reproduce "$(DATA)" $(ARGS) -o docs/measured/reproduction.md

# Is what is said of edges true? A made-up log against counts by hand, and coverage of intervals: docs/measured/claims.md.
claims: $(VENV)/.core
	$(BIN)/python -m paper claims

# Simulated graphs whose truth is known: is confidence what it says?
calibration: $(VENV)/.core
	$(BIN)/python -m paper calibration

# Topics and graphs of the Beige Book, and how stable they are: the numbers of docs/measured/text.md.
text: $(VENV)/.text
	$(BIN)/python -m paper text "$(DATA)/beigebook_text.jsonl"

# Properties with TIMES as many examples, new ones each time. TESTS are some of them.
TIMES ?= 20
TESTS ?= tests
explore: $(VENV)/.test
	SUMMARKOV_EXPLORE=$(TIMES) $(BIN)/python -m $(PYTEST) -m hypothesis $(TESTS)

# Coverage-guided: hostile bytes for every reader, RUNS of them each. NAMES="csv xes" are some of them.
RUNS ?= 100000
fuzz: $(VENV)/.fuzz
	nice -n 10 $(BIN)/python -m fuzz $(NAMES) --runs $(RUNS)

# Random tables through every reader, engine and data frame, with several hash seeds, time zones and kernels.
TABLES ?= 10000
differential: $(VENV)/.test
	nice -n 10 $(BIN)/python -m fuzz.differential --tables $(TABLES)

# Do outputs, model files and pages stay what they were at an earlier commit? ARGS="--only shop" compares some of them.
golden: $(VENV)/.test
	nice -n 10 $(BIN)/python tools/golden.py $(ARGS)

# Small changes of the code that counts, scores and searches: does a test notice? ARGS="--of 20" tries some of them,
# ARGS=--native those of the kernels in C++.
mutants: $(VENV)/.sanitize
	nice -n 10 $(BIN)/python tools/mutants.py $(ARGS)

# The native kernels, watched for accesses out of bounds and for undefined behaviour. Needs GCC.
sanitize: $(VENV)/.sanitize
	nice -n 10 $(BIN)/python tools/sanitize.py

# A thousand fits of every model, without growth.
load: $(VENV)/.test
	nice -n 10 $(BIN)/python tools/load.py

# Lines and branches that the tests reach.
coverage: $(VENV)/.coverage
	$(BIN)/python -m coverage run -m $(PYTEST)
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report --skip-covered --show-missing

clean:
	rm -rf $(VENV) $(BARE) build dist demo src/*.egg-info

# An environment without .whole was interrupted while something was installed: nothing in it counts.
$(foreach each,$(VENV) $(BARE),$(if $(wildcard $(each)/.whole),,$(shell rm -f $(each)/.[a-z]*)))

# A stamp is newer than what an installation depends on once its extra is installed.
SOURCES := pyproject.toml setup.py tools/environment.py $(wildcard src/summarkov/kernels/native/*)

$(VENV)/.%: $(SOURCES)
	@$(call INSTALL,$(VENV),$*)

$(BARE)/.bare: $(SOURCES)
	@$(call INSTALL,$(BARE),bare)

OLD = summarkov needs Python 3.11 or later; name one, as in: make PYTHON=python3.13
define INSTALL
"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(OLD)" >&2; exit 1; }
"$(PYTHON)" tools/environment.py $(1) $(2)
endef
