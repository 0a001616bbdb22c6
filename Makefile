# Each target works alone on a fresh clone: scripts/environment makes .venv and installs what the target needs.
.DEFAULT_GOAL := help
.PHONY: help demo test test-long test-integrations check docs build release-check audit-deps lock train evaluate-judge
.NOTPARALLEL:

export PYTHONUTF8 := 1
# Tests start many programs: each would compile the package anew where the environment forbids to keep what is compiled.
unexport PYTHONDONTWRITEBYTECODE
BIN := .venv/bin
WORKERS ?= auto
PACKAGE := src/hallumeter
# What decides a number, as PURE in tests/test_architecture.py lists it: every line and branch of it is tested.
PURE := $(PACKAGE)/errors.py,$(PACKAGE)/records/*,$(PACKAGE)/stats/*,$(PACKAGE)/text/*,$(PACKAGE)/claims/metrics/*,$(PACKAGE)/claims/profiles.py,$(PACKAGE)/transcripts/alignment.py,$(PACKAGE)/transcripts/anchoring.py,$(PACKAGE)/transcripts/catalog.py,$(PACKAGE)/transcripts/error_classes.py,$(PACKAGE)/transcripts/line_errors.py,$(PACKAGE)/transcripts/loops.py,$(PACKAGE)/transcripts/metrics.py,$(PACKAGE)/transcripts/page_reading.py,$(PACKAGE)/transcripts/policy.py,$(PACKAGE)/transcripts/records.py,$(PACKAGE)/transcripts/remarks.py,$(PACKAGE)/dialogue/catalog.py,$(PACKAGE)/dialogue/metrics.py,$(PACKAGE)/dialogue/records.py,$(PACKAGE)/aspects/metrics/*,$(PACKAGE)/aspects/records/*,$(PACKAGE)/aspects/catalog*.py,$(PACKAGE)/decide/policy.py

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' Makefile

demo: ## measure the bundled samples and write a report
	@scripts/environment demo
	@$(BIN)/hallumeter demo

# worksteal keeps the tests of a file on one worker while it can, so that what they share is made once.
PYTEST := $(BIN)/pytest -n $(WORKERS) --dist worksteal --durations=10 --durations-min=1

test: ## run the tests that every change must pass, with their coverage limits
	@scripts/environment test
	@$(PYTEST) -m "not long" --cov --cov-report=
	@echo "Coverage of the pure parts, 100 % required:"
	@$(BIN)/coverage report --include='$(PURE)' --fail-under=100
	@echo "Coverage of everything, 95 % required:"
	@$(BIN)/coverage report --omit='$(PACKAGE)/integrations/*' --fail-under=95

# WITHOUT=--ignore=FILE leaves tests out.
test-long: ## run the tests that take long: kills, growth, memory, simulations, fuzzing, whole programs
	@scripts/environment test-long
	@$(PYTEST) -m long $(WITHOUT)

# The tools bring plugins of pytest that would watch these tests, and warnings of their own.
test-integrations: ## run the adapters in the tools that they are for, in .venv-integrations
	@scripts/environment test-integrations
	@HALLUMETER_INTEGRATIONS=1 .venv-integrations/bin/pytest tests/integrations -W default --disable-warnings --durations=5 \
	  -p no:deepeval -p no:langsmith_plugin -p no:phoenix -p no:asyncio --cov=hallumeter.integrations --cov-fail-under=95

check: ## format, lint, types, spelling
	@scripts/environment check
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/codespell

docs: ## build the documentation into site/, a warning is an error
	@scripts/environment docs
	@$(BIN)/python docs/build_gallery.py
	@$(BIN)/zensical build --clean --strict
	@grep -qi pandas site/search.json || { echo "docs: a search for pandas would find nothing"; exit 1; }

build: ## build sdist, wheel and bill of materials into dist/, and try the wheel without extras
	@scripts/environment build
	@rm -rf dist
	@$(BIN)/python -m build --outdir dist . >.venv/build.log 2>&1 || { cat .venv/build.log; exit 1; }
	@$(BIN)/python scripts/audit_dependencies.py --sbom dist/sbom.cdx.json
	@scripts/environment try-wheel dist/*.whl

release-check: ## check that what would be published builds, is complete, and installs with every Python here
	@scripts/environment release-check
	@$(BIN)/python scripts/release_check.py

audit-deps: ## list the required packages with licences, advisories and platforms without a wheel
	@scripts/environment audit-deps
	@$(BIN)/python scripts/audit_dependencies.py
	@$(BIN)/python scripts/wheel_coverage.py || [ $$? -eq 3 ]

lock: ## write the locked versions of what contributors install anew
	@scripts/environment lock

train: ## train the embedded judge anew; hours, and resumed when it was stopped
	@scripts/environment training
	@$(BIN)/python -m training $(TRAINING)

evaluate-judge: ## print the tables of the embedded judge's model card
	@scripts/environment training
	@$(BIN)/python -m training.evaluate
