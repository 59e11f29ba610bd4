# The commands of the README set up a fresh Debian machine with Swift by themselves: `make demo`, `make demo-app`,
# `make demo-delivery` and `make test`.

SWIFT ?= swift
PREFIX ?= /usr/local
BUILD := .build
# Programs for use contain Swift's libraries, so that they start faster and run on systems without Swift. Apple's systems have the
# libraries, and some toolchains lack them in this form.
STATIC = $(if $(filter Linux,$(shell uname -s)),$(shell Scripts/static-flag $(SWIFT)))
# The server to develop against is off by default, so that packages that depend on this one resolve nothing for it.
SERVING = --traits default,Serving $(STATIC)
# Results of benchmarks with every sample, and HTML reports; Benchmarks/Results has a page of each.
RAW := $(BUILD)/bench
# How tests are built: as a release, with the core optimized and Swift not. It compiles as fast as a debug build, and does not define
# DEBUG, with which ArgumentParser and swift-system check themselves at each step: more than half of the processor time of the suites.
# Tests are found by the index, which releases have only when asked.
TESTED := -c release --traits default,Serving,Hosting --scratch-path $(BUILD)/tests --enable-index-store -debug-info-format none -Xswiftc -Onone -Xswiftc -enable-testing
# Finds packstore and packstore-bench where `make release` leaves them.
COMPARE = PATH="$(CURDIR)/$(BUILD)/release:$$PATH" $(BUILD)/compare/release/packstore-compare
PACKAGES := libzstd-dev libxxhash-dev libsodium-dev zlib1g-dev liblzma-dev libsqlite3-dev pkg-config clang-format nginx-light openssl python3 python3-venv
# A check that is skipped without it: systemd-analyze.
OPTIONAL_PACKAGES := systemd
# The programs compared with PackStore by `make bench`. Missing ones are omitted.
PEERS := squashfs-tools erofs-utils liblmdb0 libsqlite3-0 zstd zip unzip casync restic borgbackup
# The programs for `make bench-space`.
SPACE_PEERS := casync restic borgbackup ostree
# The programs for `make bench-serve`.
SERVE_PEERS := nginx-light wrk nghttp2-client
# The same for `make bench-update`. HDiffPatch (hdiffz, hpatchz) takes part where it is on the PATH.
UPDATE_PEERS := zstd xdelta3 bsdiff casync zchunk zsync restic borgbackup
SOURCES := Sources Tests Examples Package.swift Benchmarks/Sources Benchmarks/Tests Benchmarks/Package.swift

# Suites that try very many states, and prove nothing new under a sanitizer; and those in which threads meet.
CAMPAIGNS := Campaign|CrashTests|FaultTests|AtomicCommitTests|TortureTests|SpaceModelTests|UpdateHistoryTests
THREADED := ConcurrencyTests|ThreadsTests|CancelledRead|WholeFile|AssetCacheTests|ReadRange|ForkTests|WatchTests|^PackStoreTests

.PHONY: demo studio-year check embedding-time record-release demo-app demo-delivery demo-host client-host bench-host fuzz-host conformance test build suite release install install-core setup format lint bench bench-managed bench-package bench-publish bench-serve bench-update bench-space bench-sweep bench-test compare sanitize coverage torture fuzz model storage-campaign portability docs golden clean help

help:  ## Show this list.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

setup:  ## Install the system packages that are missing.
	@Scripts/setup $(PACKAGES)

build: setup  ## Build everything for tests.
	$(SWIFT) build --build-tests $(TESTED)

suite:  ## Run the tests that FILTER names: FILTER=ReadTests, FILTER='^PackStoreTests\.'.
	@[ -n '$(value FILTER)' ] || { echo "make suite needs the name of a suite or test: FILTER=ReadTests; 'make test' runs all" >&2; exit 2; }
	@$(MAKE) build
	@# Those of the core are in a process of their own, as in Scripts/run-tests.
	for others in '^(?!CPackStoreTests\.)' '^CPackStoreTests\.'; do SWIFT_BACKTRACE=enable=no \
	  $(SWIFT) test --skip-build $(TESTED) --filter '$(value FILTER)' --skip "$$others" || exit 1; done

check: setup  ## Build and test one part, and check formatting: AREA=PackDelivery; without AREA, what changed since BASE.
	@TESTED='$(TESTED)' CAMPAIGNS='$(CAMPAIGNS)' BASE='$(BASE)' Scripts/check $(BUILD) $(AREA)

release: setup  ## Build the executables for use.
	$(SWIFT) build -c release $(SERVING) --product packstore
	$(SWIFT) build -c release $(SERVING) --product packstore-bench

demo:  ## Build the program, store real files, publish a change, and update a device in three ways.
	@Scripts/setup libzstd-dev libxxhash-dev libsodium-dev zlib1g-dev liblzma-dev
	@Scripts/build-demo $(BUILD)/demo
	@Scripts/demo $(BUILD)/demo/release/packstore $(BUILD)/update.svg

record-release: release  ## Record the release of Docs/Publishing.md: Docs/release.cast and Docs/release.txt.
	@Tests/Storage/setup $(BUILD)/storage
	@Scripts/record-release $(BUILD)/release/packstore

studio-year:  ## Operate a site for a year of releases, faults and keys, and show the bytes stored: WEEKS=n shortens it.
	@Scripts/setup libzstd-dev libxxhash-dev libsodium-dev zlib1g-dev liblzma-dev python3
	$(SWIFT) build -c release --product packstore
	@Scripts/studio-year $(BUILD)/release/packstore

demo-app:  ## Run the sample app against a site of this machine: install, play, update, lose files, go offline. TALK=1: also Apple's talk.
	@Scripts/setup libzstd-dev libxxhash-dev libsodium-dev zlib1g-dev liblzma-dev nginx-light python3
	$(SWIFT) build -c release --package-path Examples/Tour --scratch-path $(BUILD)/tour --product tour
	$(SWIFT) build -c release --package-path Examples/Tour --scratch-path $(BUILD)/tour --product packstore
	@$(if $(TALK),$(SWIFT) build -c release $(SERVING) --product packstore)
	@TALK=$(TALK) Scripts/demo-app $(if $(TALK),$(BUILD)/release/packstore,$(BUILD)/tour/release/packstore) $(BUILD)/tour/release/tour

demo-delivery:  ## Run server, agent and sample app on loopback: install, update while it plays; with the cost of each step.
	@Scripts/setup libzstd-dev libxxhash-dev libsodium-dev zlib1g-dev liblzma-dev python3
	$(SWIFT) build -c release --package-path Examples/Tour --scratch-path $(BUILD)/tour --product tour
	$(SWIFT) build -c release $(SERVING) --product packstore
	@Scripts/demo-delivery $(BUILD)/release/packstore $(BUILD)/tour/release/tour

demo-host:  ## Run the hosting service on loopback: upload two versions, release them in steps, update a device, stop the service.
	@Scripts/setup libzstd-dev libxxhash-dev libsodium-dev zlib1g-dev liblzma-dev nginx-light openssl python3
	$(SWIFT) build -c release --traits default,Hosting --product packstore-host
	$(SWIFT) build -c release --traits default,Hosting --product packstore
	@Scripts/demo-host $(BUILD)/release/packstore $(BUILD)/release/packstore-host

# Programs of PyPI that `make client-host` and `make fuzz-host` run; no other target needs them.
HOST_BUILD = $(SWIFT) build -c release --traits default,Hosting --product
PYTHON_TOOLS := $(BUILD)/python-tools

client-host:  ## Run a public client of App Store Connect's API, unchanged, against the hosting service: codemagic-cli-tools of PyPI.
	@Scripts/setup openssl python3 python3-venv
	$(HOST_BUILD) packstore-host
	@python3 -m venv $(PYTHON_TOOLS) && $(PYTHON_TOOLS)/bin/pip install --quiet 'codemagic-cli-tools>=0.70'
	@Scripts/client-host $(BUILD)/release/packstore-host $(PYTHON_TOOLS)/bin/app-store-connect

fuzz-host:  ## Send generated requests to the hosting service, and check each answer against its document: schemathesis of PyPI. EXAMPLES=n.
	@Scripts/setup openssl python3 python3-venv
	$(HOST_BUILD) packstore-host
	@python3 -m venv $(PYTHON_TOOLS) && $(PYTHON_TOOLS)/bin/pip install --quiet 'schemathesis>=4.32'
	@Scripts/fuzz-host $(BUILD)/release/packstore-host $(PYTHON_TOOLS)/bin/schemathesis $(or $(EXAMPLES),20)

bench-host:  ## Measure the hosting service on this machine: status requests, parallel uploads, one root of many packs; QUICK=1 is a test, not for figures.
	@Scripts/setup openssl python3 wrk
	$(HOST_BUILD) packstore-host
	$(HOST_BUILD) packstore
	@mkdir -p $(RAW)
	@Scripts/bench-host $(if $(QUICK),--quick) $(BUILD)/release/packstore $(BUILD)/release/packstore-host $(if $(QUICK),$(RAW),Benchmarks/Results)/host.md

conformance:  ## Check the answers of the hosting service against Apple's own OpenAPI document: SPEC=FILE; needs python3 -m pip install jsonschema.
	@[ -n '$(SPEC)' ] || { echo "make conformance needs Apple's OpenAPI document: SPEC=openapi.json" >&2; exit 2; }
	PACKSTORE_TESTS=PackHostingTests $(SWIFT) build --build-tests --traits default,Hosting --scratch-path $(BUILD)/hosting
	@Scripts/check-conformance '$(SPEC)' $(BUILD)/hosting

test: build  ## Run all tests, and the checks of CONTRIBUTING.md.
	@Tests/Storage/setup $(BUILD)/storage
	@Scripts/setup --optional $(OPTIONAL_PACKAGES)
	@Scripts/run-tests $(BUILD)

install: release  ## Install the program with its units, the static library of the core, its headers and packstore.pc: PREFIX=/usr/local.
	Scripts/build-core $(BUILD)/core
	Scripts/install $(BUILD)/core $(PREFIX) $(BUILD)/release/packstore

install-core:  ## Install the C library alone, with its headers and packstore.pc. Needs no Swift: PREFIX=/usr/local.
	@Scripts/setup libzstd-dev libxxhash-dev pkg-config
	Scripts/build-core $(BUILD)/core
	@Scripts/install $(BUILD)/core $(PREFIX)

format:  ## Format the sources by the checked-in settings.
	$(SWIFT) format format --in-place --parallel --recursive $(SOURCES)
	@Scripts/format-c --in-place

lint:  ## Check the formatting of the sources, words and widths, links, and that the documents show the figures of the results.
	$(SWIFT) format lint --strict --parallel --recursive $(SOURCES)
	@Scripts/format-c --check
	@Scripts/tidy
	Scripts/readme-figures --check

# A package of its own, built in a folder of its own.
compare: release
	@rm -f $(BUILD)/compare/release.yaml  # This plan would not notice files that are new.
	$(SWIFT) build -c release --package-path Benchmarks --scratch-path $(BUILD)/compare --product packstore-compare
	@mkdir -p $(RAW)

bench: compare  ## Compare with other tools, within 15 minutes; refreshes Benchmarks/Results, Docs/Figures.md and the README's figures.
	@Scripts/setup --optional $(PEERS)
	@python3 Benchmarks/comparisons/measuring.py  # The processor, and whether it has SHA instructions.
	$(COMPARE) reads --rounds 2 --repetitions 4 --minutes 3 --counts 20000,1000000 --json $(RAW)/reads.json \
	  --html $(RAW)/reads.html >/dev/null
	$(COMPARE) mechanisms --cold --repetitions 5 --json $(RAW)/mechanisms.json >/dev/null
	$(COMPARE) swaps --rounds 2 --repetitions 4 --json $(RAW)/swap.json \
	  --html $(RAW)/swap.html >/dev/null
	Benchmarks/compare ingest --runs 2 --json $(RAW)/ingest.json --html $(RAW)/ingest.html >/dev/null
	Benchmarks/compare ingest --second-version --tools packstore --json $(RAW)/second-version.json >/dev/null
	Benchmarks/summarize $(foreach name,reads mechanisms swap ingest second-version,$(RAW)/$(name).json)
	Scripts/readme-figures

bench-update: release  ## Measure the cost of updates, within 15 minutes: PAIRS="name=old,new ..." instead of those from Debian, QUICK=1 is a test, not for figures.
	@Scripts/setup --optional $(UPDATE_PEERS)
	pairs="$(or $(PAIRS),$$(Benchmarks/fetch-pairs $(BUILD)/pairs))"; \
	pages=$(if $(QUICK),$(RAW)/pages,Benchmarks/Results); mkdir -p $$pages $(RAW); \
	Benchmarks/compare update $(if $(QUICK),--quick) \
	  --synthetic front-byte,headers,one-of-many $$(for pair in $$pairs; do echo --pair "$$pair"; done) \
	  --json $(RAW)/update.json --html $(RAW)/update.html >/dev/null; \
	status=$$?; Benchmarks/summarize $(RAW)/update.json --into $$pages && Scripts/readme-figures && exit $$status

bench-managed: setup  ## Measure calls of the managed client, compared with plain stores, within 2 minutes.
	@rm -f $(BUILD)/compare/release.yaml  # This plan would not notice files that are new.
	$(SWIFT) build -c release --package-path Benchmarks --scratch-path $(BUILD)/compare --product packstore-managed
	@mkdir -p $(RAW)
	Benchmarks/compare managed --json $(RAW)/managed.json --html $(RAW)/managed.html >/dev/null
	Benchmarks/summarize $(RAW)/managed.json

bench-package: release  ## Measure packaging, compared with adding the same folder, within 5 minutes.
	@mkdir -p $(RAW)
	Benchmarks/compare package --retries 1 --json $(RAW)/package.json --html $(RAW)/package.html >/dev/null
	Benchmarks/summarize $(RAW)/package.json

bench-publish: release  ## Measure publishing to a bucket, compared with rclone and aws s3 sync, also over a slow line, within 15 minutes.
	@Scripts/setup --optional rclone
	@Tests/Storage/setup $(BUILD)/storage
	@[ -x $(BUILD)/awscli/bin/aws ] || { python3 -m venv $(BUILD)/awscli && $(BUILD)/awscli/bin/pip install -q awscli; } || true
	@mkdir -p $(RAW)
	PATH="$(CURDIR)/$(BUILD)/awscli/bin:$$PATH" Benchmarks/compare publish --json $(RAW)/publish.json --html $(RAW)/publish.html >/dev/null
	Benchmarks/summarize $(RAW)/publish.json

bench-serve: release  ## Measure the development server, compared with nginx, by HTTP/1.1 and HTTP/2, within 10 minutes.
	@Scripts/setup --optional $(SERVE_PEERS)
	@mkdir -p $(RAW)
	Benchmarks/compare serve --json $(RAW)/serve.json --html $(RAW)/serve.html >/dev/null
	Benchmarks/summarize $(RAW)/serve.json

bench-space: release  ## Measure the size of a store over many updates, and the cost of freeing space, within 25 minutes.
	@Scripts/setup --optional $(SPACE_PEERS)
	@mkdir -p $(RAW)
	Benchmarks/compare space --parts updates,peers,purge --retries 1 --json $(RAW)/space.json --html $(RAW)/space.html >/dev/null
	Benchmarks/compare space --parts gc --gigabytes 10 --json $(RAW)/space.json --html $(RAW)/space.html >/dev/null
	Benchmarks/summarize $(RAW)/space.json
	Scripts/readme-figures

bench-sweep: compare  ## Measure the sizes to choose from, which takes hours: FOLDERS="name=folder ..." PAIRS="name=old:new ...".
	$(COMPARE) sweep $(foreach folder,$(FOLDERS),--folder $(folder)) $(foreach pair,$(PAIRS),--pair $(pair)) \
	  --json $(RAW)/sweep.json >/dev/null
	Benchmarks/summarize $(RAW)/sweep.json

embedding-time:  ## Measure the build time of a package that embeds PackStore; on an idle machine. Refreshes the README's figure.
	@Scripts/setup libzstd-dev libxxhash-dev
	@mkdir -p $(BUILD)
	@Scripts/embedding-time $(BUILD) && Scripts/readme-figures

bench-test: setup  ## Run the tests of the package Benchmarks.
	$(SWIFT) build --build-tests --package-path Benchmarks --scratch-path $(BUILD)/compare
	SWIFT_BACKTRACE=enable=no $(SWIFT) test --skip-build --package-path Benchmarks --scratch-path $(BUILD)/compare

sanitize: setup  ## Run the suites under the address and thread sanitizers, without the long ones.
	# The undefined-behaviour sanitizer is in the fuzz targets: Swift's linker driver does not know it here.
	$(SWIFT) build --build-tests --sanitize address --scratch-path $(BUILD)/address
	ASAN_OPTIONS=detect_leaks=0 SWIFT_BACKTRACE=enable=no $(SWIFT) test --skip-build \
	  --sanitize address --scratch-path $(BUILD)/address --filter '^C?PackStoreTests\.' --skip '$(CAMPAIGNS)'
	$(SWIFT) build --build-tests --sanitize thread --scratch-path $(BUILD)/thread
	TSAN_OPTIONS=suppressions=Tests/Sanitizers/thread.suppressions SWIFT_BACKTRACE=enable=no $(SWIFT) test --skip-build \
	  --sanitize thread --scratch-path $(BUILD)/thread --filter '$(THREADED)'

coverage: setup  ## List the branches of the core that its suites take.
	Scripts/coverage $(BUILD)/coverage

torture: build  ## Run the campaigns at length: SEED=n (default: random, printed), SCALE=n times as far, MINUTES=n of processes.
	$(eval SEED ?= $(shell od -An -N4 -tu4 /dev/urandom | tr -d ' '))
	$(eval SCALE ?= 20)
	$(eval MINUTES ?= 2)
	@echo "SEED=$(SEED) SCALE=$(SCALE) MINUTES=$(MINUTES)"
	$(BUILD)/tests/release/packstore-torture kills --seed $(SEED) --recoveries $(SCALE)
	$(BUILD)/tests/release/packstore-torture storm --seed $(SEED) --seconds $$(($(MINUTES) * 60))
	PACKSTORE_SEED=$(SEED) PACKSTORE_SCALE=$(SCALE) $(SWIFT) test --skip-build $(TESTED) --filter 'Campaign|SpaceModelTests'

fuzz: setup  ## Fuzz every decoder of the core: SECONDS=n each (20), TARGET=name, SEED=n.
	SECONDS_EACH=$(or $(SECONDS),20) TARGET=$(TARGET) SEED=$(SEED) Tests/Fuzzing/run $(BUILD)/fuzz

storage-campaign: build  ## Publish to a substitute for S3 with faults and kills: SEED=n (default: random, printed), KILLS=n (300).
	@Tests/Storage/setup $(BUILD)/storage
	$(eval SEED ?= $(shell od -An -N2 -tu2 /dev/urandom | tr -d ' '))
	@echo "SEED=$(SEED) KILLS=$(or $(KILLS),300)"
	PACKSTORE_SEED=$(SEED) PACKSTORE_KILLS=$(or $(KILLS),300) $(SWIFT) test --skip-build $(TESTED) --filter BucketTests
	PACKSTORE_SEED=$(SEED) PACKSTORE_SCALE=20 $(SWIFT) test --skip-build $(TESTED) --filter ProtocolCampaign

model: setup  ## Check the protocol of object storage with spin, and that it needs each of its rules: within 30 minutes.
	@Scripts/setup --optional spin
	Tests/Models/run $(BUILD)/models

portability:  ## Build the core for arm64, 32-bit ARM and big-endian s390x, and compare what it stores: TARGETS=aarch64 for one.
	Tests/Portability/run $(BUILD)/portability

docs: build  ## Build the documentation of the products with DocC, and compile the code in it.
	Scripts/build-docs $(BUILD)

golden: build  ## Write the golden files again after a change of the format.
	PACKSTORE_REGENERATE_GOLDEN=1 $(SWIFT) test --skip-build $(TESTED) --filter Golden

clean:  ## Remove what was built.
	$(SWIFT) package clean
	$(SWIFT) package --scratch-path $(BUILD)/tests clean
