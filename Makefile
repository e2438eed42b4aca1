# What a newcomer needs, each a line that can be typed by hand. `make` alone prints this list.

.PHONY: help run test check faults bench fmt doc migration

TARGET := $(or $(CARGO_TARGET_DIR),target)

help: ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

run: ## the service on the embedded database in ./data, ready to try
	cargo run --release --locked -p signpost -- serve

test: ## all tests, on SQLite and on a throw-away Postgres
	.ci/with-postgres cargo test --workspace --locked -- --include-ignored
	@.ci/count-contract-cases

check: ## what CI runs: format, lints, all tests, documentation
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	$(MAKE) test
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --document-private-items

faults: ## breaks what the service stands on and counts the clicks; FULL=1 ONLY="kill outage"
	cargo build --release --locked -p signpost --features sabotage
	cp $(TARGET)/release/signpost $(TARGET)/release/signpost-sabotaged
	cargo build --release --locked -p signpost
	cargo build --release --locked -p signpost-faults
	$(TARGET)/release/faults run $(ONLY) $(if $(FULL),--full) --binary $(TARGET)/release/signpost \
	  --sabotaged $(TARGET)/release/signpost-sabotaged

bench: ## redirects against a bare handler, in one run; needs wrk and two cores
	.ci/bench

fmt: ## formats the code
	cargo fmt --all

doc: ## the code's documentation, in target/doc
	cargo doc --workspace --no-deps --document-private-items

migration: ## a new migration for both databases: make migration name=add_something
	@test -n "$(name)" || { echo "name=what_it_does"; exit 1; }
	@stamp=$$(date -u +%Y-%m-%d-%H%M%S); for db in sqlite postgres; do \
	  mkdir -p migrations/$$db/$${stamp}_$(name); \
	  echo "-- Why." > migrations/$$db/$${stamp}_$(name)/up.sql; \
	  echo "-- The way back." > migrations/$$db/$${stamp}_$(name)/down.sql; done; \
	  echo migrations/*/$${stamp}_$(name)
