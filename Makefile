# Each target works alone on a fresh clone: scripts/environment makes .venv and installs what the target needs.
.DEFAULT_GOAL := help
.PHONY: help demo test check docs build train evaluate-judge
.NOTPARALLEL:

export PYTHONUTF8 := 1
BIN := .venv/bin
WORKERS ?= auto
PACKAGE := src/hallumeter
# Bands 0 and 1 of tests/test_architecture.py: every line and branch of them is tested.
PURE := $(PACKAGE)/records/*,$(PACKAGE)/errors.py,$(PACKAGE)/text/*,$(PACKAGE)/metrics/*,$(PACKAGE)/stats/*,$(PACKAGE)/policy/*,$(PACKAGE)/summary.py

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

demo: ## measure the bundled samples and write a report
	@scripts/environment demo
	@$(BIN)/hallumeter demo

test: ## run the tests, with their coverage limits
	@scripts/environment test
	@$(BIN)/pytest -n $(WORKERS) --cov --cov-report=
	@echo "Coverage of the pure parts, 100 % required:"
	@$(BIN)/coverage report --include='$(PURE)' --fail-under=100
	@echo "Coverage of everything, 95 % required:"
	@$(BIN)/coverage report --fail-under=95

check: ## format, lint, types, spelling
	@scripts/environment check
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/codespell

docs: ## build the documentation into site/, a warning is an error
	@scripts/environment docs
	@$(BIN)/zensical build --clean --strict

build: ## build sdist and wheel into dist/, and try the wheel without extras
	@scripts/environment build
	@rm -rf dist
	@$(BIN)/python -m build --outdir dist . >.venv/build.log 2>&1 || { cat .venv/build.log; exit 1; }
	@scripts/environment try-wheel dist/*.whl

train: ## train the embedded judge anew; hours, and resumed when it was stopped
	@scripts/environment training
	@$(BIN)/python -m training $(TRAINING)

evaluate-judge: ## print the tables of the embedded judge's model card
	@scripts/environment training
	@$(BIN)/python -m training.evaluate
