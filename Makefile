# Everything that is done with this project, on one page. `make demo` and `make test` set up what they need by themselves
# from the hashed lock files; the machine needs only Python 3.11 or later with pip.

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV  := .venv
BIN   := $(VENV)/bin
PIP   := $(BIN)/python -m pip --disable-pip-version-check
TESTS ?= tests
JOBS  ?= auto

.PHONY: demo test lint types style unit cover docs bench torture size build lock format clean help

help:            ## what can be made
	@grep -hE '^[a-z]+: .*##|^[a-z]+:  *##' Makefile | sed -E 's/:[^#]*##/\t/' | expand -t 12

demo: $(VENV)/.base  ## one conversation: in, folded, found again, with its sources
	@$(BIN)/leporello demo

test: lint types unit  ## lint, types and all tests except torture

lint: style      ## ruff, import contracts, sizes and names
	$(BIN)/ruff format --check -q --output-format concise src tests tools examples
	$(BIN)/ruff check -q src tests tools examples
	$(BIN)/lint-imports --no-logo

style: $(VENV)/.dev
	$(BIN)/python tools/check_style.py src tests tools examples

types: $(VENV)/.dev  ## mypy --strict
	$(BIN)/mypy

unit: $(VENV)/.dev  ## the tests alone; TESTS=tests/core chooses some, JOBS=1 runs them one by one
	$(BIN)/pytest -q -n $(JOBS) -m "not torture" $(TESTS)

cover: $(VENV)/.dev  ## the tests with branch coverage, held to the shares in pyproject.toml
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -q -n $(JOBS) -m "not torture"
	$(BIN)/coverage combine -q
	$(BIN)/python tools/check_cover.py

torture: $(VENV)/.dev  ## kills, many processes, long runs, thousands of random histories
	$(BIN)/pytest -q -n $(JOBS) -m torture $(TESTS)
	$(BIN)/python -m leporello.bench.torture
	$(BIN)/python -m leporello.bench.torture_loop

bench: $(VENV)/.dev  ## cost of writing and recall beside their bare parts
	$(BIN)/leporello bench

docs: $(VENV)/.dev  ## write docs/reference from the code
	$(BIN)/python tools/make_docs.py

size: $(VENV)/.base  ## what the base install takes on disk
	$(BIN)/python tools/size.py

build: $(VENV)/.dev  ## wheel and source archive in dist/
	$(BIN)/python -m build --no-isolation

format: $(VENV)/.dev  ## lay the code out, sort imports and mend what ruff can
	$(BIN)/ruff check -q --fix src tests tools examples
	$(BIN)/ruff format -q src tests tools examples

lock:            ## write the lock files anew (needs uv)
	uv pip compile -q pyproject.toml --extra dev $(LOCK) -o requirements/dev.txt
	uv pip compile -q pyproject.toml -c requirements/dev.txt $(LOCK) -o requirements/base.txt
	uv pip compile -q requirements/build.in -c requirements/dev.txt $(LOCK) -o requirements/build.txt

LOCK := --generate-hashes --no-emit-index-url --universal --python-version 3.11 --no-header --no-annotate

clean:           ## remove what was made, the environment too
	rm -rf $(VENV) dist build .coverage* .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- set-up: each stamp is made again when what it depends on changes ---------------------------------------------------

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or later is needed."; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { $(PYTHON) -m venv --without-pip --clear $(VENV) && $(PYTHON) -m pip --python $(BIN)/python install -q pip; }

$(VENV)/.base: requirements/base.txt requirements/build.txt pyproject.toml | $(BIN)/python
	@echo "Setting up $(VENV) ..."
	@$(PIP) install -q --require-hashes -r requirements/build.txt
	@$(PIP) install -q --require-hashes -r requirements/base.txt
	@$(PIP) install -q --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.base
	@$(PIP) install -q --require-hashes -r requirements/dev.txt
	@touch $@
