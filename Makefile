.DEFAULT_GOAL := help
include local/setup.mk

STACK := $(VENV)/bin/python -m local.stack
# Where the stack is, and the credentials for it, is in one file, which whatever talks to the stack reads.
WITH_STACK := . $(STOREBENCH_HOME)/run/env &&
PYTEST := $(VENV)/bin/python -m pytest
OPTIONS := $(foreach option,ROWS STORES BATCHES EXECUTORS REPEATS PRESET,$(if $($(option)),--$(shell \
	echo $(option) | tr A-Z a-z) "$($(option))"))

.PHONY: help
help: ## Show this list
	@echo "Storebench measures storage engines on Kubernetes. Commands:"
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile local/setup.mk
	@echo "A narrower or wider grid: make run ROWS=20000 STORES=mongodb,null BATCHES=10000,all EXECUTORS=1,2 REPEATS=3,"
	@echo "or the original study: make run PRESET=study. All that it builds and keeps: $(STOREBENCH_HOME)"

.PHONY: run
run: up ## Run the benchmark and print its results; sets up and starts all it needs
	@$(WITH_STACK) $(VENV)/bin/storebench run $(OPTIONS)

.PHONY: up
up: setup ## Start the embedded stack, or see that it runs
	@$(STACK) up

.PHONY: status
status: ## Show what runs, and whether it is healthy
	@$(STACK) status

.PHONY: stop
stop: ## Stop the stack; its data and what was built stay
	@if [ -e $(VENV)/bin/python ]; then $(STACK) down; fi

.PHONY: clean
clean: ## Stop the stack and remove all that it has and was built from
	@if [ -e $(VENV)/bin/python ]; then $(STACK) clean; else rm -rf $(STOREBENCH_HOME); fi

.PHONY: test
test: ## All checks and tests: lint, unit, integration, e2e
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory unit
	@$(MAKE) --no-print-directory integration
	@$(MAKE) --no-print-directory e2e

.PHONY: lint
lint: setup ## Style and types
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy

.PHONY: fmt
fmt: setup ## Put the code into the project's style
	$(VENV)/bin/ruff format .
	$(VENV)/bin/ruff check --fix .

.PHONY: unit
unit: setup ## Tests that need no server
	$(PYTEST) tests/unit

.PHONY: integration
integration: up ## Tests against the real servers
	$(WITH_STACK) $(PYTEST) tests/integration

.PHONY: e2e
e2e: up ## A small run through Airflow and Kubernetes
	$(WITH_STACK) $(PYTEST) tests/e2e

.PHONY: bench-dataset
bench-dataset: up ## The dataset generator against a raw write and pandas
	@$(WITH_STACK) $(VENV)/bin/python -m bench.dataset

.PHONY: bench-overhead
bench-overhead: up ## What Airflow and Kubernetes add to a measurement
	@$(WITH_STACK) $(VENV)/bin/python -m bench.overhead
