# Everything sets itself up: the only need is Python 3.11 or newer.  `make demo` and `make test` are the two to know.

VENV  := .venv
BIN   := $(VENV)/bin
READY := $(VENV)/.ready
OUT   ?= out
JOBS  ?= 2

.PHONY: demo cubins test test-slow lint format specs lock clean

demo: $(READY)  ## compile every kernel of the corpus, verify it, write $(OUT)/index.html
	$(BIN)/intent-np build kernels --target sm_90 --out $(OUT) --jobs $(JOBS) --verify

cubins: $(READY)  ## compile every kernel of the corpus for each architecture; needs no GPU
	for target in sm_80 sm_90 sm_100; do \
	  $(BIN)/intent-np build kernels --target $$target --out $(OUT)/$$target --jobs $(JOBS) || exit 1; \
	done

test: lint  ## what CI runs
	$(BIN)/python -m pytest -n $(JOBS) -m "not slow"

test-slow: $(READY)  ## the long ones too
	$(BIN)/python -m pytest -n $(JOBS)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

specs: $(READY)  ## write the generated parts of specs/ again
	$(BIN)/intent-np docs

# The venv is rebuilt when what it is made from changes, so that it never holds a package of an older lock.
# An interpreter is tried before it is used: a shim may exist without a Python behind it, or lack ensurepip.
$(READY): requirements.lock pyproject.toml
	@set -e; \
	for python in $(PYTHON) python3.12 python3.11 python3 python; do \
	  if $$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then break; fi; \
	  python=; \
	done; \
	if [ -z "$$python" ]; then echo 'Python 3.11 or newer with venv is needed: make PYTHON=/path/to/python' >&2; exit 1; fi; \
	echo "setting up $(VENV) with $$($$python --version)"; \
	$$python -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

lock:  ## resolve requirements.lock again, for Python 3.11 and up on any platform
	python3 -m venv --clear .venv-lock
	.venv-lock/bin/python -m pip install --quiet uv
	.venv-lock/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header \
	  --extra test --output-file requirements.lock pyproject.toml requirements.in
	rm -rf .venv-lock

clean:
	rm -rf $(VENV) .venv-lock out build dist .pytest_cache .hypothesis .ruff_cache .mypy_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
