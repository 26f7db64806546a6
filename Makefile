.DEFAULT_GOAL := help
include local/setup.mk

STACK := $(VENV)/bin/python -m local.stack
# With nothing but Python's own library: these must work where the environment was never made.
TEARDOWN := /usr/bin/python3 -B -m local.stack.teardown
# Where the stack is, and the credentials for it, is in one file, which whatever talks to the stack reads.
WITH_STACK := . $(STOREBENCH_HOME)/run/env &&
PYTEST := $(VENV)/bin/python -m pytest
options = $(foreach option,$(1),$(if $($(option)),--$(shell echo $(option) | tr A-Z_ a-z-) "$($(option))"))
OPTIONS := $(call options,ROWS STORES CLIENTS BATCHES EXECUTORS REPEATS PRESET) $(foreach param,$(PARAMS),--param '$(param)')

COMPILE = $(STOREBENCH_HOME)/bin/uv pip compile --quiet --generate-hashes --no-emit-index-url --python-version 3.11 \
	--custom-compile-command "make requirements" $(if $(UPGRADE),--upgrade)
# The host's first: the others are constrained by it.
REQUIREMENTS_FILES := host $(filter-out host,$(basename $(notdir $(wildcard requirements/*.in))))
define newline


endef

.PHONY: help
help: ## Show this list
	@echo "Storebench measures storage engines on Kubernetes. Commands:"
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile local/setup.mk
	@awk '/^#: / { print substr($$0, 4) }' Makefile
	@echo "All that it builds and keeps, now: $(STOREBENCH_HOME)"

#: A narrower or wider grid:
#:   make run ROWS=20000 STORES=mongodb,null CLIENTS=tuned BATCHES=10000,all EXECUTORS=1,2 REPEATS=3
#:   make run PARAMS='executor_memory="2g" startup_timeout_s=300'      any other parameter of the DAG, as NAME=JSON
#:   make run PRESET=study                     the original study; PRESET=quick varies one thing at a time (the default
#:                                             where no CLIENTS, BATCHES or EXECUTORS are given)
#: Variables of the environment, and what holds where they are not set:
#:   STOREBENCH_HOME=~/.cache/storebench       where all is built and kept; a path of at most 60 characters
#:   STOREBENCH_PORT_BASE=18000                Airflow's port is this + 80; the others follow
#:   STOREBENCH_PORT_AIRFLOW=18080             one port; likewise _RESULTS _MONGODB _ELASTICSEARCH
#:                                             _ELASTICSEARCH_TRANSPORT _S3 _KUBERNETES _KUBELET _KUBELET_HEALTH
#:                                             _CONTROLLER_MANAGER _SCHEDULER
#:   STOREBENCH_ELASTICSEARCH_HEAP=1g          the heap of the embedded Elasticsearch
#:   STOREBENCH_POD_NETWORK=10.244.0.0/24      the pods' addresses
#:   STOREBENCH_BRIDGE=storebench0             the pods' network link
#:   STOREBENCH_NODES=1                        nodes of the embedded cluster; those after the first are pools of nodes, node2 and so on
#:   KUBECONFIG, AIRFLOW_CONN_STOREBENCH_S3, AIRFLOW_CONN_STOREBENCH_MONGODB, AIRFLOW_CONN_STOREBENCH_ELASTICSEARCH
#:                                             your own cluster and servers, each in the place of the embedded one

.PHONY: run
run: up ## Run the benchmark and print its results; sets up and starts all it needs
	@$(WITH_STACK) $(VENV)/bin/storebench run $(OPTIONS); code=$$?; \
		echo "Airflow: $$STOREBENCH_AIRFLOW_URL, user $$STOREBENCH_AIRFLOW_USER, password $$STOREBENCH_AIRFLOW_PASSWORD"; \
		exit $$code

.PHONY: up
up: setup ## Start the embedded stack, or see that it runs
	@$(STACK) up

.PHONY: status
status: ## Show what runs, and whether it is healthy
	@$(STACK) status

.PHONY: stop
stop: ## Stop the stack; its data and what was built stay
	@$(TEARDOWN) stop

.PHONY: clean
clean: ## Stop the stack and remove all that it has and was built from
	@$(TEARDOWN) clean
	@find . -name __pycache__ -prune -exec rm -rf {} +
	@rm -f src/storebench/web/page/static
	@rm -rf .pytest_cache .ruff_cache .mypy_cache .hypothesis

.PHONY: test
test: ## All checks and tests: lint, unit, integration, e2e
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory unit
	@$(MAKE) --no-print-directory integration
	@$(MAKE) --no-print-directory e2e

.PHONY: docs
docs: setup $(DOCS) ## Build docs/ as a site; a dead link fails
	@local/docs-build

.PHONY: lint
lint: docs ## Style, types, and the documentation
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	local/npm run check

.PHONY: fmt
fmt: setup ## Put the code into the project's style
	$(VENV)/bin/ruff format .
	$(VENV)/bin/ruff check --fix .
	local/npm run fmt
	cp -r $(STOREBENCH_HOME)/page/src $(STOREBENCH_HOME)/page/tests src/storebench/web/page/

.PHONY: requirements
requirements: setup ## Pin anew what requirements/*.in name; UPGRADE=1 takes the newest versions
	$(foreach name,$(REQUIREMENTS_FILES),$(COMPILE) $(if $(filter-out host,$(name)),--constraint requirements/host.txt) \
		$(if $(filter airflow%,$(name)),--no-deps) \
		requirements/$(name).in --output-file requirements/$(name).txt$(newline))

.PHONY: unit
unit: setup $(COMPOSE) ## Tests that need no server
	$(PYTEST) tests/unit
	local/npm test

.PHONY: integration
integration: up ## Tests against the real servers
	$(WITH_STACK) $(PYTEST) tests/integration

.PHONY: e2e
e2e: up $(BROWSER) ## A small run through Airflow and Kubernetes
	$(WITH_STACK) $(PYTEST) tests/e2e

.PHONY: e2e-deploy
e2e-deploy: up ## Only those of the manifests in deploy/kubernetes: a run by its accounts, and what they cannot do
	$(WITH_STACK) $(PYTEST) tests/e2e/test_deploy.py

.PHONY: e2e-compose
e2e-compose: setup $(COMPOSE) $(ENGINE) ## docker-compose.yaml with a Docker Engine of its own and stand-ins for the images (about 40 minutes)
	local/compose/engine $(PYTEST) tests/compose

.PHONY: drills
drills: up ## Faults on purpose, a grid filled bit by bit, and what came of each
	$(WITH_STACK) $(PYTEST) -q tests/drills

.PHONY: bench-dataset
bench-dataset: up ## The dataset generator against a raw write and pandas
	@$(WITH_STACK) $(VENV)/bin/python -m bench.dataset

.PHONY: bench-overhead
bench-overhead: up ## What Airflow and Kubernetes add to a measurement
	@$(WITH_STACK) $(VENV)/bin/python -m bench.overhead

.PHONY: bench-queries
bench-queries: up ## The main queries in a database of a million attempts
	@$(WITH_STACK) $(VENV)/bin/python -m bench.queries

.PHONY: bench-page
bench-page: up $(BROWSER) ## The results page in a database of 100,000 attempts: its first view, and its API
	@$(WITH_STACK) $(VENV)/bin/python -m bench.page

.PHONY: bench-verdicts
bench-verdicts: up ## Two equal sides, and one with a slowdown planted: which of them compare tells apart
	@$(WITH_STACK) $(VENV)/bin/python -m bench.verdicts $(call options,ROWS REPEATS STORES BATCHES)

.PHONY: bench-clients
bench-clients: up ## Each store's tuned client against its reference, in turns
	@$(WITH_STACK) $(VENV)/bin/python -m bench.clients $(call options,ROWS BATCH_SIZE REPEATS STORES EXECUTORS)

.PHONY: bench-encryption
bench-encryption: up ## What it costs that Spark's driver and executors encrypt what they send, on and off in turns
	@$(WITH_STACK) $(VENV)/bin/python -m bench.encryption $(call options,ROWS BATCHES REPEATS EXECUTORS CLIENT)

.PHONY: bench-grid
bench-grid: up ## A run of 1,000 cells: its plan, its first and last cells, and what it costs Airflow (about 2 hours)
	@$(WITH_STACK) $(VENV)/bin/python -m bench.grid $(call options,CELLS EDGE)
