# Each target runs commands of package.json or a script. `make help` reads the comments after ##.
SHELL := /bin/bash
.DELETE_ON_ERROR:

# Node 24 comes with the packages; the installed Node only runs npm.
SYSTEM_PATH := $(PATH)
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)

INSTALLED := node_modules/.installed
GENERATED := proto/gen/.generated
PROTOS := $(shell find proto -name '*.proto' -not -path 'proto/gen/*')

.PHONY: help setup codegen check format-check lint types architecture commits vocabulary dead-code contracts test journey kills chaos contract \
        run stop demo keys fmt new-migration clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 16

setup: $(INSTALLED) $(GENERATED) ## install the packages, generate the contracts, provide nats-server
	@sh deploy/local/nats-server.sh >/dev/null

codegen: $(GENERATED) ## generate TypeScript from the contracts

check: setup format-check lint types architecture commits dead-code contracts ## everything that needs no server

test: check ## check, then every test
	@npm run --silent test

journey: setup ## only the tests that drive the whole system
	@vitest run test/journey

kills: setup ## two weeks of trading while processes are killed one after the other; takes minutes
	@PAMM_LONG=true vitest run test/journey/kills.test.ts test/journey/trading-kills.test.ts

chaos: setup ## crash and network failures while money moves, and a table of the answers to callers; takes 15 minutes
	@PAMM_LONG=true vitest run test/chaos

sim: setup ## simulate the money protocol; SEED=4711 prints one history, SEEDS=10000 runs many, MODE=safety or liveness, CELLS=yes
	@node test/simulation/run.ts $(if $(SEED),--seed $(SEED)) $(if $(SEEDS),--seeds $(SEEDS)) $(if $(MODE),--mode $(MODE)) $(if $(CELLS),--cells)

sabotage: setup ## plant defects in the code and show which test detects each; writes the table in docs/reliability.md
	@node test/simulation/sabotage/find-out.ts

contract: setup ## only the tests that pin the contracts
	@vitest run test/contract

run: setup ## start everything, print the URL, an API key and first requests; Ctrl-C stops it
	@exec node deploy/local/run.ts

stop: ## stop what `make run` started, from another terminal
	@exec node deploy/local/stop.ts

demo: setup ## run the demo scenarios on the system that `make run` started; scenario=lifecycle or scenario=fortnight runs one
	@exec node deploy/demo/run.ts $(scenario)

keys: setup ## manage API keys; what="create --name crm --scopes investors:write,funds:deposit" (see what="help")
	@exec node services/edge/keys.ts $(what)

fmt: setup ## format the code
	@npm run --silent format

new-migration: ## service=funding name=what_it_does: the next numbered file
	@sh deploy/local/new-migration.sh "$(service)" "$(name)"

clean: ## remove what was installed and generated; .state, the data of `make run`, stays
	rm -rf node_modules proto/gen .cache

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
