# The two commands of the README set up a fresh Debian machine with Swift by themselves: `make demo` and `make test`.

SWIFT ?= swift
BUILD := .build
PACKAGES := libzstd-dev libxxhash-dev libssl-dev pkg-config clang-format
SOURCES := Sources Tests Package.swift

.PHONY: demo test build release setup format lint bench golden clean help

help:  ## Show this list.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

setup:  ## Install the system packages that are missing.
	@Scripts/setup $(PACKAGES)

build: setup  ## Build everything for debugging.
	$(SWIFT) build --build-tests

release: setup  ## Build the executables for use.
	$(SWIFT) build -c release --product packstore
	$(SWIFT) build -c release --product packstore-bench

demo: setup  ## Store a real folder, change it, store it again, read it back, and show what was saved.
	$(SWIFT) build -c release --product packstore
	@Scripts/demo $(BUILD)/release/packstore

test: build lint  ## Run all tests.
	$(SWIFT) test --skip-build
	Scripts/check-seam $(BUILD)/debug/CPackStore.build
	Scripts/check-layers ARCHITECTURE.md Sources/CPackStore
	Tests/Embedding/run

format:  ## Format the sources by the checked-in settings.
	$(SWIFT) format format --in-place --parallel --recursive $(SOURCES)
	@Scripts/format-c --in-place

lint:  ## Check the formatting of the sources.
	$(SWIFT) format lint --strict --parallel --recursive $(SOURCES)
	@Scripts/format-c --check

bench: release  ## Measure beside other tools; refreshes Benchmarks/Results.
	Benchmarks/compare-ingest --packstore $(BUILD)/release/packstore --output Benchmarks/Results/ingest.md --json Benchmarks/Results/ingest.json

golden: build  ## Write the golden files anew after a change of the format.
	PACKSTORE_REGENERATE_GOLDEN=1 $(SWIFT) test --skip-build --filter Golden

clean:  ## Remove what was built.
	$(SWIFT) package clean
