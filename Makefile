# Each target runs commands of package.json or a script. `make help` reads the comments after ##.
SHELL := /bin/bash
.DELETE_ON_ERROR:

# Node 24 comes with the packages; the installed Node only runs npm.
SYSTEM_PATH := $(PATH)
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)

INSTALLED := node_modules/.installed
GENERATED := proto/gen/.generated
CLIENT := services/client/gen/.generated
CATALOGUES := services/catalogue/checks.ts services/catalogue/reviews.ts
CLIENT_SOURCES := $(shell find services/edge $(CATALOGUES) deploy/client deploy/docs/openapi -name '*.ts' -not -name '*.test.ts')
CONSOLE := dist/console/.built
DOCS := dist/docs/.built
DOCS_SOURCES := $(shell find services/edge $(CATALOGUES) deploy/docs deploy/static docs/integrate docs/integrate.md -type f -not -name '*.test.ts')
DASHBOARDS := deploy/dashboards/gen/.generated
DASHBOARD_SOURCES := $(shell find deploy/dashboards -name '*.ts' -not -name '*.test.ts')
ALERTS := deploy/k8s/components/observability/gen/.generated
ALERT_SOURCES := $(wildcard deploy/alerts/*-rules.yaml) deploy/alertmanager/alertmanager.yml deploy/alertmanager/inhibition.ts deploy/k8s/write-alerts.ts
CONSOLE_SOURCES := $(shell find services/console services/client services/kernel/values/csv.ts services/kernel/review/owner.ts $(CATALOGUES) services/edge/wire/scopes.ts deploy/console deploy/static -type f -not -path '*/gen/*' -not -name '*.test.ts*')
PROTOS := $(shell find proto -name '*.proto' -not -path 'proto/gen/*')

# As for the services: a program that was started before compiles nothing.
run demo: export NODE_COMPILE_CACHE := $(CURDIR)/node_modules/.cache/compile

CHECKS := types openapi lint architecture format-check commits vocabulary dead-code contracts manifests

.PHONY: help setup codegen dashboards alerts check $(CHECKS) test quick times proof due bench journey kills chaos sim images sbom client postman conformance compose-test \
        mutants contract rehearse-restore rehearse-rotation run stop demo streams keys fmt new-migration clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 20

setup: $(INSTALLED) $(GENERATED) $(CLIENT) $(CONSOLE) $(DOCS) $(DASHBOARDS) $(ALERTS) ## install the packages, generate the contracts, dashboards and alerts, build console and documentation, provide nats-server
	@sh deploy/local/nats-server.sh >/dev/null

codegen: $(GENERATED) $(CLIENT) ## generate TypeScript from the contracts, and the client's part from the routes

dashboards: $(DASHBOARDS) ## write the dashboards for Grafana

alerts: $(ALERTS) ## write the alerts for the Prometheus Operator

# Two at a time, because most of them keep one core busy.
check: setup ## every check that needs no server
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target $(CHECKS)

test: check ## check, then every test with the sizes for minutes: about 13 minutes on two idle cores
	@npm run --silent test

quick: setup ## types, unit tests, and the tests beside what differs from base=HEAD: at most two minutes
	@npm run --silent types
	@vitest run --project unit --project console
	@beside=$$( (git diff --name-only $(or $(base),HEAD); git ls-files --others --exclude-standard) | grep / | xargs --no-run-if-empty dirname | sort --unique); \
	  [ -z "$$beside" ] || vitest run --project integration --passWithNoTests --changed $(or $(base),HEAD) $$beside

times: ## take over the seconds of the last run of all tests, from which their order follows
	@cp .cache/times.json test/times.json

proof: setup ## the long tests, for more than an hour; writes docs/reliability.md; part="simulation" runs one part, `make proof due` those of old commits
	@node test/proof/run.ts $(or $(filter due,$(MAKECMDGOALS)),$(part))

due: proof

bench: setup ## measure against pgbench and other designs; writes docs/performance.md; part="deposit limit" measures some
	@node test/bench/run.ts $(part)

journey: setup ## the tests that start all processes
	@vitest run --project journey

kills: setup ## processes are killed during trading and fee weeks; takes minutes
	@PAMM_PROOF=true vitest run test/journey/trading.test.ts

chaos: setup ## every fault while money moves; takes a quarter of an hour or more
	@PAMM_PROOF=true vitest run test/chaos

sim: setup ## simulate the money protocol; SEED=4711 prints one history, SEEDS=10000 runs many, MODE=safety or liveness
	@node test/simulation/run.ts $(if $(SEED),--seed $(SEED)) $(if $(SEEDS),--seeds $(SEEDS)) $(if $(MODE),--mode $(MODE))

mutants: setup ## put each mutant into the code: the simulation has to detect it
	@PAMM_PROOF=true vitest run test/simulation -t "the mutant"

contract: setup ## the tests of the contracts
	@vitest run test/contract

images: ## build the images product and simulator; NODE_IMAGE=node:24-bookworm-slim@sha256:... names the base by digest
	@for target in product simulator; do \
	  image=$$([ $$target = product ] && echo pamm-integration-service || echo pamm-simulator); \
	  docker build --file deploy/Dockerfile --target $$target --tag $$image:local $(if $(NODE_IMAGE),--build-arg NODE_IMAGE=$(NODE_IMAGE)) \
	    --build-arg VERSION=$$(node -p 'require("./package.json").version') --build-arg REVISION=$$(git rev-parse HEAD) . || exit 1; \
	done

sbom: ## print the packages of the product image as CycloneDX; needs no network
	@node deploy/image/sbom.mjs

client: setup ## compile and pack the TypeScript client for callers; prints the path of the package
	@npm run --silent client

postman: setup ## print the path of the Postman collection that is served at /docs/postman.json
	@echo $(CURDIR)/dist/docs/docs/postman.json

conformance: $(INSTALLED) ## compare a deployment with the specification over HTTP; URL=... KEY=... SIMULATOR=... WEEK=... flags=--allow-money
	@URL="$(URL)" KEY="$(KEY)" SIMULATOR="$(SIMULATOR)" WEEK="$(WEEK)" MASTER_GROUP='$(MASTER_GROUP)' INVESTOR_GROUP='$(INVESTOR_GROUP)' \
	  node test/conformance/run.ts $(flags)

compose-test: setup ## start the composed system as a cluster, and fail its parts while money moves; needs Docker, takes about 15 minutes
	@node test/compose/run.ts

run: setup ## start everything, print the URL, an API key and first requests; Ctrl-C stops it
	@exec node deploy/local/run.ts

stop: ## stop what `make run` started, from another terminal
	@exec node deploy/local/stop.ts

demo: setup ## run the demo scenarios on the system that `make run` started; scenario=lifecycle or scenario=fortnight runs one, story=showcase fills a year
	@exec node deploy/demo/run.ts $(scenario) $(story)

rehearse-restore: setup ## lose the database of a system of its own, restore it to an instant, and prove that no money moves twice; prints each step with its time
	@exec node deploy/rehearse/restore.ts

rehearse-rotation: setup ## replace every secret of a system of its own while deposits go on; prints what callers saw
	@exec node deploy/rehearse/rotation.ts

streams: setup ## create or repair the streams of a NATS of your own; NATS_SETUP_URL names a user who may
	@exec node deploy/nats/set-up-streams.ts

keys: setup ## manage API keys; what="create --name crm --scopes masters:read,investors:write" (what="help" lists all)
	@exec node services/edge/keys.ts $(what)

fmt: setup ## format the code
	@npm run --silent format

new-migration: ## create the next numbered migration; service=funding name=what_it_does
	@sh deploy/local/new-migration.sh "$(service)" "$(name)"

clean: ## remove what was installed and generated; .state, the data of `make run`, stays
	rm -rf node_modules proto/gen services/client/gen dist $(dir $(DASHBOARDS) $(ALERTS)) .cache

format-check: setup
	@npm run --silent format:check

lint: setup
	@npm run --silent lint

types: setup
	@npm run --silent types

architecture: setup
	@npm run --silent architecture

commits: setup
	@npm run --silent commits

vocabulary: setup ## words that must not come back, with what to write instead
	@npm run --silent vocabulary

dead-code: setup
	@npm run --silent dead-code

contracts: setup
	@npm run --silent contracts

manifests: setup ## compare deploy/k8s with the types of Kubernetes, and with the rules of this project
	@npm run --silent manifests

openapi: setup ## lint the OpenAPI document by the rules of Redocly
	@npm run --silent openapi

# npm must run on the system's Node, because npm ci replaces the one in node_modules.
$(INSTALLED): package-lock.json
	@echo "Installing packages from the npm registry into node_modules (0.7 GB); this can take some minutes."
	@PATH="$(SYSTEM_PATH)" npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@node -e 'if (parseInt(process.versions.node) < 24) { console.error("Node 24 or newer is required, and no npm package provides it for this platform: install it"); process.exit(1) }'
	@touch $@

$(GENERATED): $(INSTALLED) $(PROTOS) proto/buf.gen.yaml
	@echo "Generating TypeScript from the contracts in proto."
	@npm run --silent codegen
	@touch $@

# Its types follow the routes and schemas of the edge.
$(CLIENT): $(GENERATED) $(CLIENT_SOURCES) package.json
	@echo "Generating the types of the client from the routes."
	@npm run --silent codegen:client
	@touch $@

# Its code and styles, and the client with the operations of the routes.
$(CONSOLE): $(CLIENT) $(CONSOLE_SOURCES)
	@echo "Building the console."
	@npm run --silent console
	@touch $@

# The guide, the schemas of the routes and the problems.
$(DOCS): $(GENERATED) $(DOCS_SOURCES) package.json
	@echo "Building the documentation."
	@npm run --silent docs
	@touch $@

$(DASHBOARDS): $(INSTALLED) $(DASHBOARD_SOURCES)
	@echo "Writing the dashboards into $(@D)."
	@npm run --silent dashboards
	@touch $@

# Kustomize reads no file outside of its folder.
$(ALERTS): $(INSTALLED) $(ALERT_SOURCES)
	@echo "Writing the alerts into $(@D)."
	@npm run --silent alerts
	@touch $@
