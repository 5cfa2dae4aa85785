# The usual chores. `make` alone lists them. Everything lands in .venv; nothing outside the folder is touched.
PYTHON ?= python3
VENV ?= .venv
T ?= tests

.DEFAULT_GOAL := help
.PHONY: help dev dev-ide check test picture

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | \
		while IFS='|' read -r name text; do printf '%-10s %s\n' "$$name" "$$text"; done

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

dev: $(VENV)/bin/python  ## editable install: edits, new modules and new entries are live
	$(VENV)/bin/python -m pip install --editable '.[dev]'

dev-ide: $(VENV)/bin/python  ## editable install that go-to-definition can follow; again after adding a file
	$(VENV)/bin/python -m pip install --editable '.[dev]' --config-settings editable_mode=strict

check:  ## what a pull request must pass: build, ruff, mypy and all tests on the built wheel
	.ci/run

test:  ## the tests on the editable install; a part of them: make test T=tests/kb
	$(VENV)/bin/python -Im pytest $(T)

picture:  ## draw examples/diagnosis.svg again from a real run
	$(VENV)/bin/python examples/make_picture.py
