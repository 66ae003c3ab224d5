# make, or make help, lists what there is.
.DEFAULT_GOAL := help
MODULES := ./... ./sdk/client/go/... ./sdk/go/... ./examples/gauges/... ./plugins/agent/... ./plugins/conformance/... ./plugins/connectors/... ./plugins/digest/...

help: ## list these verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build ./bin/wharf, static and without cgo
	CGO_ENABLED=0 go build -trimpath -o bin/wharf ./cmd/wharf

test: ## run the tests (some minutes)
	go test $(MODULES)

test-long: ## run the long form of the tests that have one: more rounds, cross builds
	WHARF_LONG=1 go test -timeout 50m $$(go run ./internal/longtests)

race: ## run what is concurrent under the race detector
	.ci/run race

fuzz: ## run each fuzz target for a short while (FUZZTIME=10s)
	.ci/run fuzz

lint: ## gofmt, go vet, staticcheck
	.ci/run lint

bench: ## measure, each figure against its ceiling (ARGS="--help")
	go run ./benches $(ARGS)

demo: ## see in a few seconds what a node does for agents (FILE=some.md)
	go run ./cmd/wharf demo $(FILE)

generate: ## rebuild what is generated from sources
	go generate $(MODULES)

ci: ## everything that CI does
	.ci/run

cover: ## write coverage.html
	go test -coverprofile=coverage.out -coverpkg=./... ./...
	go tool cover -html=coverage.out -o coverage.html

clean: ## remove what these verbs leave behind
	rm -rf bin coverage.out coverage.html conformance/clients/node_modules

.PHONY: help build test test-long race fuzz lint bench demo generate ci cover clean
