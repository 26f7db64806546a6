.DEFAULT_GOAL := help
include local/setup.mk

# make would ignore a misspelled variable, and the run would measure something else than requested.
OF_RUN := AXES CLIENTS DATASET PARAMS PRESET REPEATS ROWS SEED STORES STUDY TAGS
OF_OTHERS := BY CELLS CLIENT CONFIGURATIONS DATABASE EDGE INPUTS MINUTES OUT PASSES PODS RUN SECONDS UPGRADE WITH
VARIABLES := $(OF_RUN) $(if $(filter run,$(MAKECMDGOALS)),,$(OF_OTHERS))
SETTINGS := STOREBENCH_% AIRFLOW_% KUBECONFIG VENV PROGRESS
typed := $(foreach name,$(.VARIABLES),$(if $(filter command,$(origin $(name))),$(name)))
unknown := $(strip $(filter-out $(VARIABLES) $(SETTINGS),$(typed)))
ifneq ($(unknown),)
$(error Unknown variable: $(unknown). There are $(VARIABLES). Environment variables stand before the command: NAME=VALUE make …)
endif

STACK := $(VENV)/bin/python -m local.stack
# The teardown uses only Python's standard library: it must work without the project's Python environment.
TEARDOWN := /usr/bin/python3 -B -m local.stack.teardown
# One file has the stack's addresses and credentials. All programs that connect to the stack read this file.
WITH_STACK := . $(STOREBENCH_HOME)/run/env &&
# For targets that use the running stack: `up` could restart it.
RUNNING := test -e $(STOREBENCH_HOME)/run/env || { echo "The stack is not running: \`make up\` starts it"; exit 1; }
# The variable tells the program to suggest the targets below as its next commands.
STOREBENCH := STOREBENCH_BY_MAKE=1 $(VENV)/bin/storebench
RUN_NAME = "$(or $(RUN),latest)"
PYTEST := $(VENV)/bin/python -m pytest
# The tests of one file run in one process, so that its fixtures are created once.
SPREAD := --numprocesses=2 --dist=loadfile
# pytest writes the seconds of each test to a file in this folder, which local/times.py reads.
REPORTS := $(STOREBENCH_HOME)/log/tests
tests = $(PYTEST) --junitxml=$(REPORTS)/$(1).xml tests/$(1)
options = $(foreach option,$(1),$(if $($(option)),--$(shell echo $(option) | tr A-Z_ a-z-) "$($(option))"))
axes = $(foreach axis,$(AXES),--axis '$(axis)')
OPTIONS := $(call options,STUDY PRESET DATASET ROWS SEED STORES CLIENTS REPEATS) $(axes) $(foreach tag,$(TAGS),--tag '$(tag)') \
	$(foreach param,$(PARAMS),--param '$(param)')

COMPILE = $(STOREBENCH_HOME)/bin/uv pip compile --quiet --generate-hashes --no-emit-index-url \
	--custom-compile-command "make requirements" $(if $(UPGRADE),--upgrade)
# host.txt comes first: it constrains the other files, except the files for pods with another Python version, and the files with other versions
# on purpose.
OLD_PYTHON := client-wendelin client-wendelin-build
OTHER_VERSIONS := bench-shells
constraint = $(if $(filter $(OLD_PYTHON),$(1)),--python-version 3.9 --build-constraint requirements/client-wendelin-build.in,--python-version 3.11 \
	$(if $(filter-out host $(OTHER_VERSIONS),$(1)),--constraint requirements/host.txt))
REQUIREMENTS_FILES := host $(filter-out host,$(basename $(notdir $(wildcard requirements/*.in))))
define newline


endef

.PHONY: help
help: ## Show this list
	@echo "Storebench measures storage engines on Kubernetes. Commands:"
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile local/setup.mk
	@awk '/^#: / { print substr($$0, 4) }' Makefile
	@echo "Everything is built and kept in $(STOREBENCH_HOME)"

#: Choose a study and a grid. `storebench studies` lists the studies, and `storebench run --study NAME --help` lists a study's options:
#:   make run STUDY=bulk_write_read STORES=mongodb,null CLIENTS=tuned AXES='batch=10000,all executors=2' ROWS=20000 REPEATS=6
#:   make run DATASET=s3://storebench/file.csv  your own CSV or Parquet file in the stack's S3 instead of generated rows
#:   make run PARAMS='executor_memory="2g" startup_timeout_s=300'      any other parameter of the DAG, as NAME=JSON
#:   make run TAGS='release:1.2 nightly'         labels of the run
#:   make run PRESET=NAME                      a named set of parameters; without CLIENTS and AXES, the default is the study's first
#:                                             preset. The presets of bulk_write_read:
#:     quick                                   each default store once, in batches of 1,000 and all at once
#:     tour                                    every default store, client, batch and two executor counts, one change at a time
#:     study                                   the original study
#: Free disk space for the first set-up; with less, make builds nothing and reports the missing space. A completed set-up needs 5 GB:
#:   make run 12 GB, make test 22 GB, all stores of all studies 24 GB
#: Variables of the environment, with their defaults:
#:   STOREBENCH_HOME=~/.cache/storebench       the folder for all built programs and data; at most 60 characters
#:   STOREBENCH_PORT_BASE=18000                Airflow's port is this number + 80; the other ports follow
#:   STOREBENCH_PORT_AIRFLOW=18080             the port of one part. The other parts are _RESULTS _MONGODB _ELASTICSEARCH
#:                                             _ELASTICSEARCH_TRANSPORT _S3 _KUBERNETES _KUBELET _KUBELET_HEALTH
#:                                             _CONTROLLER_MANAGER _SCHEDULER _USAGE _PROXY _PROXY_METRICS
#:                                             _SERVICES_CONTROLLERS _DNS _DNS_READY
#:   STOREBENCH_ELASTICSEARCH_HEAP=1g          the heap of the embedded Elasticsearch
#:   STOREBENCH_IDLE_MINUTES=30                a store's embedded server is stopped after this time without a run that needs it; 0: never
#:   STOREBENCH_POD_NETWORK=10.244.0.0/24      the pods' addresses
#:   STOREBENCH_BRIDGE=storebench0             the pods' network link
#:   STOREBENCH_STUDY=bulk_write_read          the default study of commands; if empty, the first study by name
#:   STOREBENCH_KUBERNETES=auto                Kubernetes' programs: download the release, compile, or auto: compile if the download fails
#:   STOREBENCH_KUBERNETES_SITE=https://dl.k8s.io
#:                                             the site of Kubernetes' releases, or a mirror of it; a checksum is verified
#:   STOREBENCH_NODES=1                        number of nodes of the embedded cluster; further nodes are node pools: node2 and so on
#:   KUBECONFIG, AIRFLOW_CONN_STOREBENCH_S3, AIRFLOW_CONN_STOREBENCH_MONGODB, AIRFLOW_CONN_STOREBENCH_ELASTICSEARCH,
#:   AIRFLOW_CONN_STOREBENCH_POSTGRESQL
#:                                             your own cluster and servers instead of the embedded cluster and servers

.PHONY: run
run: up ## Set up and start the required parts, run the benchmark, and print each result when it is recorded
	@$(WITH_STACK) $(STOREBENCH) run $(OPTIONS); code=$$?; \
		echo "Airflow: $$STOREBENCH_AIRFLOW_URL, user $$STOREBENCH_AIRFLOW_USER, password $$STOREBENCH_AIRFLOW_PASSWORD"; \
		exit $$code

# The next five targets are the commands that a run suggests at its end. Their run is the newest run, or RUN.
.PHONY: results
results: ## Print each attempt of the newest run, or of RUN
	@$(RUNNING)
	@$(WITH_STACK) $(STOREBENCH) results --run $(RUN_NAME) $(call options,STUDY)

.PHONY: report
report: ## Write the charts and tables of the newest run, or of RUN, as one HTML file into the folder OUT
	@test -n "$(OUT)" || { echo "Into which folder? make report OUT=DIR"; exit 1; }
	@$(RUNNING)
	@$(WITH_STACK) $(STOREBENCH) report $(RUN_NAME) $(call options,STUDY OUT)

.PHONY: ranking
ranking: ## Rank the stores and clients of the study of the newest run, or of RUN
	@$(RUNNING)
	@$(WITH_STACK) $(STOREBENCH) ranking $(RUN_NAME) $(call options,STUDY)

.PHONY: replay
replay: ## Start the newest run, or RUN, again, with REPEATS if given
	@$(RUNNING)
	@$(WITH_STACK) $(STOREBENCH) replay $(RUN_NAME) --follow $(call options,STUDY REPEATS)

.PHONY: compare
compare: ## Compare the newest run, or RUN, with the run WITH, or two values BY=store=A,B within the run
	@test -n "$(WITH)$(BY)" || { echo "With what? make compare BY=store=A,B or make compare RUN=ID WITH=latest"; exit 1; }
	@$(RUNNING)
	@$(WITH_STACK) $(STOREBENCH) compare $(RUN_NAME) $(if $(WITH),"$(WITH)") $(call options,STUDY BY)

.PHONY: up
up: setup ## Start the embedded stack, unless it runs already
	@$(STACK) up $(NEEDED)

# The store null needs no optional part.
.PHONY: example
example: ## Start the smallest stack, load the shipped runs, and print the addresses of their pages; measures nothing
	@$(MAKE) --no-print-directory up STUDY=bulk_write_read STORES=null
	@$(WITH_STACK) for bundle in docs/studies/data/*.zip; do $(VENV)/bin/storebench import $$bundle; done && \
		echo "Airflow: $$STOREBENCH_AIRFLOW_URL, user $$STOREBENCH_AIRFLOW_USER, password $$STOREBENCH_AIRFLOW_PASSWORD"

.PHONY: status
status: ## Show the running programs, and whether they are healthy
	@$(STACK) status

.PHONY: database
database: ## Create the database DATABASE for your own store on the embedded PostgreSQL, and its Airflow Connection
	@test -n "$(DATABASE)" || { echo "Which database? make database DATABASE=NAME"; exit 1; }
	@$(RUNNING)
	@$(STACK) database "$(DATABASE)"

.PHONY: stop
stop: ## Stop the stack; keep its data and all built programs
	@$(TEARDOWN) stop

.PHONY: clean
clean: ## Stop the stack; remove its data and all built programs
	@$(TEARDOWN) clean
	@find . -name __pycache__ -prune -exec rm -rf {} +
	@rm -f src/storebench/web/page/static
	@rm -rf .pytest_cache .ruff_cache .mypy_cache .hypothesis

.PHONY: test
test: ## Run all checks and tests: lint, unit, integration, e2e
	@$(CHECK_CHECKOUT)
	@$(PROGRESS) --space "make test" $(MAKE) --no-print-directory --silent $(TEST_STEPS)
	@/usr/bin/python3 -B -m local.times $(REPORTS) steps lint unit integration e2e -- $(MAKE) --no-print-directory

# The steps of all four targets. Two steps run at a time, but only one build of an image: images and other steps take turns.
TEST_STEPS = $(ALL_STEPS) $(subst |, ,$(join $(addsuffix |,$(E2E_PARTS)),$(sort $(UNIT_STEPS) $(INTEGRATION_STEPS) $(DOCS) $(E2E_STEPS))))

.PHONY: steps
steps: SETUP_STEPS = $(TEST_STEPS)
steps: setup

.PHONY: docs
docs: setup $(DOCS) ## Build docs/ as a site; a dead link fails. Beside it, build the gallery: the site of the runs that the pages show
	@local/docs-build
	@$(MAKE) --no-print-directory up STUDY=bulk_write_read STORES=null
	@$(WITH_STACK) $(VENV)/bin/python -m local.reference.shipped $(STOREBENCH_HOME)/docs/site/gallery

# The check of types takes as long as all other checks together. Its cache outlives a checkout.
CHECKS := check-types check-page check-docs check-style
.PHONY: lint $(CHECKS)
lint: setup $(DOCS) ## Check style, types, imports between packages, and the documentation
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target $(CHECKS)

check-types:
	$(VENV)/bin/mypy --cache-dir $(STOREBENCH_HOME)/mypy

check-page:
	local/npm run check

check-docs:
	@local/docs-build

check-style:
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/lint-imports --no-cache

.PHONY: fmt
fmt: setup ## Format the code in the project's style
	$(VENV)/bin/ruff format .
	$(VENV)/bin/ruff check --fix .
	local/npm run fmt
	cp -r $(STOREBENCH_HOME)/page/src $(STOREBENCH_HOME)/page/tests src/storebench/web/page/

# Its page's copy in the cache has the programs that make the types.
.PHONY: figures
figures: setup ## Write the files that follow from the declared figures of an attempt, and the types of the page's API
	$(VENV)/bin/python -m storebench.attempt.schema
	AIRFLOW_HOME=$(STOREBENCH_HOME)/tmp $(VENV)/bin/python -m storebench.web.openapi
	cp src/storebench/web/page/openapi.json $(STOREBENCH_HOME)/page/
	local/npm run types
	cp $(STOREBENCH_HOME)/page/src/api/types.ts src/storebench/web/page/src/api/

.PHONY: docs-reference
docs-reference: setup ## Write docs/reference/, which follows from the code: parameters, metrics, commands, variables, exit codes
	@$(VENV)/bin/python -W ignore -m local.reference.pages

.PHONY: docs-figures
docs-figures: ## Write the tables of figures in the documentation, which follow from the shipped runs
	@$(MAKE) --no-print-directory up STUDY=bulk_write_read STORES=null
	@$(WITH_STACK) $(VENV)/bin/python -m local.reference.figures

.PHONY: requirements
requirements: setup ## Pin the packages in requirements/*.in again; UPGRADE=1 takes the newest versions
	$(foreach name,$(REQUIREMENTS_FILES),$(COMPILE) $(call constraint,$(name)) $(if $(filter airflow%,$(name)),--no-deps) \
		requirements/$(name).in --output-file requirements/$(name).txt$(newline))

.PHONY: outdated
outdated: setup ## List the packages that have a newer version, by part (two minutes)
	@$(VENV)/bin/python -m local.outdated 3.9 $(OLD_PYTHON)

# The steps of the agent and of the map job run the tests in Go, whenever their code has changed.
UNIT_STEPS := $(AGENT) $(COMPOSE) $(MAP_JOB)

.PHONY: unit
unit: setup $(UNIT_STEPS) ## Run the tests that need no server
	$(call tests,unit) $(SPREAD)
	local/npm test -- --reporter=default --reporter=junit --outputFile.junit=$(REPORTS)/page.xml

INTEGRATION_STEPS := $(READER) $(MAP_JOB) $(AGENT) $(MARIADB) $(PGBOUNCER)

.PHONY: integration
integration: up $(INTEGRATION_STEPS) ## Run the tests against real servers
	$(WITH_STACK) PATH=$(STOREBENCH_HOME)/bin:$$PATH $(call tests,integration) $(SPREAD)

# The parts that the end-to-end tests need in addition to `setup`.
E2E_PARTS := chdb columns formats iceberg iceberg-spark load wendelin services $(addprefix servers-,agent cassandra elasticsearch hdfs mariadb mongodb zeo)
E2E_STEPS := $(BROWSER)

.PHONY: e2e
e2e: setup $(E2E_PARTS) up $(E2E_STEPS) ## Run the end-to-end tests: small runs through Airflow and Kubernetes
	$(WITH_STACK) $(call tests,e2e)

.PHONY: e2e-deploy
e2e-deploy: up ## Run the end-to-end tests of deploy/kubernetes: a run with its accounts, and the limits of their permissions
	$(WITH_STACK) $(PYTEST) tests/e2e/test_deploy.py tests/e2e/test_policies.py tests/e2e/test_secrets.py

.PHONY: e2e-compose
e2e-compose: setup $(COMPOSE) $(ENGINE) services $(IMAGES) $(SERVER_IMAGES) ## Test docker-compose.yaml with a separate Docker Engine and stand-ins for the images: the quick run of each study (about 90 minutes; STUDY=NAME: only of this study)
	local/compose/engine $(PYTEST) tests/compose $(if $(STUDY),-k "$(STUDY)")

.PHONY: drills
drills: setup $(E2E_PARTS) servers-ozone servers-postgresql up ## Cause faults, fill a grid step by step, and show the outcome of each
	$(WITH_STACK) $(PYTEST) -q tests/drills

.PHONY: fuzz
fuzz: setup $(MAP_JOB) ## Decode 10,000,000 nearly valid inputs with the Go codecs of Skiff and YSON; INPUTS sets another number
	@$(STOREBENCH_HOME)/bin/map-codecs fuzz $(or $(INPUTS),10000000)

.PHONY: fuzz-conf
fuzz-conf: setup ## Try 10,000 random configurations of all studies in draft, plan and command line; CONFIGURATIONS sets another number
	@$(VENV)/bin/python -W ignore -m bench.fuzz_conf $(call options,CONFIGURATIONS SEED)

.PHONY: bench-formats
bench-formats: setup $(MAP_JOB) ## Compare the Go codecs with the codecs of ytsaurus-client, and the fastest format with null
	@PATH=$(STOREBENCH_HOME)/bin:$$PATH $(VENV)/bin/python -m bench.formats

.PHONY: bench-dataset
bench-dataset: up ## Compare the dataset generator with a raw upload and pandas; PODS=1,2,4: measure only these numbers of pods
	@$(WITH_STACK) $(VENV)/bin/python -m bench.dataset $(if $(PODS),--pods $(PODS))

.PHONY: bench-overhead
bench-overhead: up ## Measure the overhead of Airflow and Kubernetes
	@$(WITH_STACK) $(VENV)/bin/python -m bench.overhead

.PHONY: bench-queries
bench-queries: up ## Measure the main queries in a database of a million attempts
	@$(WITH_STACK) $(VENV)/bin/python -m bench.queries

.PHONY: bench-page
bench-page: up $(BROWSER) ## Measure the results page with 100,000 attempts: its first view, and its API
	@$(WITH_STACK) $(VENV)/bin/python -m bench.page

.PHONY: bench-site
bench-site: up $(BROWSER) ## Measure how soon the pages of a static site with 100,000 attempts are usable
	@$(WITH_STACK) $(VENV)/bin/python -m bench.site

.PHONY: pictures
pictures: example $(BROWSER) ## Retake the documentation's pictures of the results page, from the run that `make example` loads, or from RUN
	@$(WITH_STACK) $(VENV)/bin/python -m bench.pictures $(call options,RUN)

.PHONY: bench-verdicts
bench-verdicts: up ## Measure how often `compare` distinguishes equal sides, and sides with a planted slowdown
	@$(WITH_STACK) $(VENV)/bin/python -m bench.verdicts $(call options,ROWS REPEATS STORES) $(axes)

.PHONY: bench-clients
bench-clients: up ## Compare each store's tuned client with its reference client, in turns
	@$(WITH_STACK) $(VENV)/bin/python -m bench.clients $(call options,ROWS REPEATS STORES) $(axes)

.PHONY: bench-encryption
bench-encryption: up ## Measure the cost of Spark's encryption, on and off in turns
	@$(WITH_STACK) $(VENV)/bin/python -m bench.switch executor_encryption --stores delta-spark --axis batch=10000,all --axis executors=2 \
		$(call options,ROWS REPEATS CLIENT) $(axes)

.PHONY: bench-counters
bench-counters: up ## Measure the cost of reading the counters of servers, on and off in turns
	@$(WITH_STACK) $(VENV)/bin/python -m bench.switch counters --stores $(or $(STORES),elasticsearch) --axis batch=10000 \
		$(call options,ROWS REPEATS CLIENT) $(axes)

.PHONY: bench-shells
bench-shells: up ## Compare the times of the study queries with psql and DuckDB's own shell, in turns
	@$(WITH_STACK) $(VENV)/bin/python -m bench.shells $(call options,ROWS PASSES)

.PHONY: bench-grid
bench-grid: up ## Measure a run of 1,000 cells: its plan, its first and last cells, and its cost to Airflow (about 2 hours, or MINUTES)
	@$(WITH_STACK) $(VENV)/bin/python -m bench.grid $(call options,CELLS EDGE REPEATS ROWS MINUTES)

# The next two targets need no stack.
.PHONY: bench-load
bench-load: setup ## Compare the load generator of point_operations with a raw log of its requests, and its rate with Locust's (two minutes)
	@$(VENV)/bin/python -m bench.load $(call options,SECONDS)

.PHONY: bench-agent
bench-agent: setup $(AGENT) ## Measure the CPU and memory of the agent that watches a server's container (a minute)
	@$(VENV)/bin/python -m bench.agent $(call options,SECONDS)

.PHONY: bench-idle
bench-idle: ## Measure the CPU and memory of the running stack without a run (two minutes)
	@$(RUNNING)
	@$(WITH_STACK) $(VENV)/bin/python -m bench.idle $(call options,SECONDS)
