PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test test-all check bench clean

run: $(VENV)/installed
	$(BIN)/bookchunk chunk corpus

test: $(VENV)/installed-test
	$(BIN)/python -m pytest -n 2 -W ignore

test-all: test
	$(BIN)/python -m pytest -m system -W ignore

check: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/installed-bench
	$(BIN)/python -m benchmarks.bench $(if $(CORPUS),--corpus $(CORPUS))
	$(if $(CORPUS),,$(BIN)/python -m benchmarks.library --books $(or $(BOOKS),100))
	$(if $(CORPUS),,$(BIN)/python -m benchmarks.embedding)

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: $(VENV)/bin/python pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(VENV)/installed-test: $(VENV)/installed
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]'
	touch $@

$(VENV)/installed-bench: $(VENV)/installed
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	touch $@

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache
