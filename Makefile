# Each works from a fresh clone and installs what it needs into .venv: demo, test, lint, bench, scale, reproduce, calibration,
# text, explore, fuzz, differential, mutants, sanitize, load, coverage.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# pip keeps quiet about an extension that could not be built.
TELL = $(BIN)/python -c "import summarkov; summarkov.backend() == 'native' or print( \
    'summarkov: native kernels not built (no C++ compiler?); the NumPy kernels serve, slower')"

.PHONY: demo test lint bench scale reproduce calibration text explore fuzz differential mutants sanitize load coverage clean

demo: $(VENV)/.report
	$(BIN)/summarkov demo --output demo

# A process a core, each with whole files of tests, in their order: the long ones come first.
PYTEST = pytest --numprocesses auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder
test: export OMP_NUM_THREADS = 1
test: export OPENBLAS_NUM_THREADS = 1
test: $(VENV)/.test
	$(BIN)/python -m $(PYTEST)

lint: $(VENV)/.lint
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python tools/audit.py

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

# Graphs from generated Parquet larger than memory; the sizes are numbers of events.
SIZES ?= 1e6 1e7 1e8
scale: $(VENV)/.core
	$(BIN)/python -m benchmarks.scale $(SIZES)

# The paper's tables; DATA is the folder of its data sets. Add ARGS="--lstm --boosting" for the slow ones.
DATA ?= ../shared/data
reproduce: $(VENV)/.baselines
	$(BIN)/summarkov reproduce "$(DATA)" $(ARGS) -o docs/reproduction.md

# Simulated graphs whose truth is known: is confidence what it says?
calibration: $(VENV)/.core
	$(BIN)/python tools/calibration.py

# Topics and graphs of the Beige Book, and how stable they are: the numbers of docs/text.md.
text: $(VENV)/.text
	$(BIN)/python tools/text_evidence.py "$(DATA)/beigebook_text.jsonl"

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

# Small changes of the code that counts, scores and searches: does a test notice? ARGS="--of 20" tries some of them.
mutants: $(VENV)/.test
	nice -n 10 $(BIN)/python tools/mutants.py $(ARGS)

# The native kernels, watched for accesses out of bounds and for undefined behaviour. Needs GCC.
sanitize: $(VENV)/.sanitize
	nice -n 10 $(BIN)/python tools/sanitize.py

# A million steps of follow() and a thousand fits, without growth.
load: $(VENV)/.test
	nice -n 10 $(BIN)/python tools/load.py

# Lines and branches that the tests reach.
coverage: $(VENV)/.coverage
	$(BIN)/python -m coverage run -m $(PYTEST)
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report --skip-covered --show-missing

clean:
	rm -rf $(VENV) build demo src/*.egg-info

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# A stamp is newer than what an installation depends on once its extra is installed.
SOURCES := pyproject.toml setup.py $(wildcard src/summarkov/kernels/native/*)

$(VENV)/.%: $(SOURCES) | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e ".[$*]"
	@$(TELL)
	touch $@
