# demo, test, lint, bench: each works from a fresh clone and installs what it needs into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# pip keeps quiet about an extension that could not be built.
TELL = $(BIN)/python -c "import summarkov; summarkov.backend() == 'native' or print( \
    'summarkov: native kernels not built (no C++ compiler?); the NumPy kernels serve, slower')"

.PHONY: demo test lint bench clean

demo: $(VENV)/.core
	$(BIN)/summarkov demo --output demo

test: $(VENV)/.test
	$(BIN)/python -m pytest

lint: $(VENV)/.lint
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) build demo src/*.egg-info

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# A stamp is newer than pyproject.toml once its extra is installed.
$(VENV)/.core: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e .
	@$(TELL)
	touch $@

$(VENV)/.%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e ".[$*]"
	@$(TELL)
	touch $@
