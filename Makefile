# Turntable. `make help` says what there is; the work is in scripts/, CMake and playbooks/.
#
# Needs root for packages and for network namespaces: as another user it calls sudo.

SHELL := /bin/bash
ifdef SUDO_UID
# After `sudo make` what was made in the user's checkout is the user's.
.SHELLFLAGS := -c 'trap scripts/give-back EXIT; eval "$$1"' recipe
endif
.DEFAULT_GOAL := help
.PHONY: help demo test setup build configure programs softswitch package lint ctest pytest smoke long soak sanitize fuzz fuzz-translator threads bench tofino p4testgen ptf list notebook lab clean testbed-up testbed-down run

JOBS ?= $(shell nproc)
PROFILE ?= embedded
WORKLOAD ?= workloada
SYSTEM ?= farreach

# The environment's programs come first, for CMake's search for Python too. sysctl, ethtool and others of root's are last:
# Debian's users do not have their directories in PATH, and sudo is handed this one.
export PATH := $(CURDIR)/.venv/bin:$(PATH):/usr/local/sbin:/usr/sbin:/sbin
# Ansible refuses to run under another encoding.
export LC_ALL := C.UTF-8
AS_ROOT := $(if $(filter 0,$(shell id -u)),,sudo env "PATH=$(PATH)" LC_ALL=$(LC_ALL) $(if $(TURNTABLE_SYSTEMS),TURNTABLE_SYSTEMS=$(TURNTABLE_SYSTEMS)))
PLAYBOOK := $(AS_ROOT) ansible-playbook

help: ## This list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Set up, compile what the main job needs, bring the embedded testbed up, run it, show its result
	@scripts/stages demo setup programs testbed-up run

test: ## Everything that is checked: lint, C++ and Python tests, a small run end to end
	@scripts/stages test setup build lint ctest pytest smoke

setup: ## Install Debian packages and the Python environment (PYTHON=... takes that interpreter)
	@PYTHON="$(PYTHON)" scripts/setup

build: configure ## Compile everything, tests and benchmarks too (TARGETS="kvserver net_udp_test" only those)
	@echo "build: $(or $(TARGETS),everything: programs, P4 programs, tests, benchmarks)"
	@cmake --build --preset release --parallel $(JOBS) $(if $(TARGETS),--target $(TARGETS))

programs: configure ## Compile what a run needs (SYSTEM=farreach)
	@[[ -f build/system_programs/$(SYSTEM) ]] || \
		{ echo "programs: no system '$(SYSTEM)'; expected one of:" $$(ls build/system_programs) >&2; exit 2; }
	@echo "programs: for runs of $(SYSTEM) $$(cat build/system_programs/$(SYSTEM)); tests and benchmarks: make build"
	@cmake --build --preset release --parallel $(JOBS) --target $(SYSTEM)

softswitch: configure ## Compile what `p4soft run` needs (docs/softswitch.md)
	@cmake --build --preset release --parallel $(JOBS) --target turntable_softswitch_product

package: softswitch ## The software switch as build/package/turntable-softswitch-VERSION.tar.gz, which runs where it is unpacked
	@scripts/package

configure:
	@scripts/setup --check
	@cmake --preset release >build.log 2>&1 || { cat build.log; rm -f build.log; exit 1; }
	@rm -f build.log

lint: ## Static checks (scripts/lint NAME runs one of them)
	@scripts/lint

ctest: ## Tests of the C++ components
	@ctest --preset release --parallel $(JOBS)

pytest: ## Tests in Python, without long ones and those end to end, in groups side by side
	@$(AS_ROOT) scripts/pytest-groups units

smoke: ## Small runs end to end, in groups side by side on testbeds of their own
	@$(AS_ROOT) scripts/pytest-groups e2e

long: ## Tests in Python, and experiments end to end, that take too long for `make test` (about 35 minutes)
	@$(AS_ROOT) pytest -m long tests

soak: ## Kill runs at 20 random moments and continue them (about 10 minutes; SOAK="--kills 5 --seed 2")
	@$(AS_ROOT) scripts/soak $(SOAK)

sanitize: ## C++ tests and whole nodes under the address and undefined-behaviour sanitizers (two processors: 15 minutes to build, 5 to run)
	@$(AS_ROOT) scripts/sanitized sanitize

fuzz: build ## Malformed frames for the sample programs too, under sanitizers (5 minutes)
	@cmake --build --preset release --parallel $(JOBS) --target fuzz_samples

fuzz-translator: configure ## Random P4 programs: p4soft against an interpreter (HOURS=0.1 SEED=0 P4SMITH=/path/to/p4smith P4TESTGEN=…/p4testgen)
	@cmake --build --preset release --parallel $(JOBS) --target p4run turntable_dataplane
	@PYTHONPATH=src:tests python -m p4fuzz --hours "$(or $(HOURS),0.1)" --seed "$(or $(SEED),0)" --jobs $(JOBS) \
		$(if $(P4SMITH),--p4smith "$(P4SMITH)") $(if $(P4TESTGEN),--p4testgen "$(P4TESTGEN)")

threads: ## C++ tests and whole nodes under the thread sanitizer (two processors: 15 minutes to build, 10 to run)
	@$(AS_ROOT) scripts/sanitized threads

bench: ## Ratios of the parts to yardsticks (docs/bench.md)
	@$(AS_ROOT) python -m turntable_bench

tofino: ## P4 programs through the Tofino compiler (P4C=/path/to/p4c, PROGRAMS="a.p4 b.p4", OUTPUT=DIR)
	@python -m turntable_tofino --p4c "$(or $(P4C),p4c)" $(if $(OUTPUT),--output "$(OUTPUT)") $(PROGRAMS)

p4testgen: ## Packet tests by P4Testgen (P4TESTGEN=/path/to/p4testgen, P4TESTGEN_SAMPLES=DIR, P4TESTGEN_TESTS=DIR)
	@PYTHONPATH=tests python -m packet.p4testgen --p4testgen "$(or $(P4TESTGEN),p4testgen)" \
		$(if $(P4TESTGEN_SAMPLES),--samples "$(P4TESTGEN_SAMPLES)") \
		$(if $(P4TESTGEN_TESTS),--tests-dir "$(P4TESTGEN_TESTS)") $(if $(P4TESTGEN_ONLY),--only "$(P4TESTGEN_ONLY)")

ptf: ## PTF tests of open-p4studio's examples (OPEN_P4STUDIO=DIR, PTF_PYTHON=/path/to/python, PROGRAMS="…")
	@$(AS_ROOT) env PYTHONPATH=tests python -m ptf --studio "$(or $(OPEN_P4STUDIO),open-p4studio)" \
		--python "$(or $(PTF_PYTHON),python3)" $(PROGRAMS)

list: ## Experiments with their profiles, testbeds, runs
	@scripts/list

testbed-up: ## Bring the embedded testbed up
	@$(PLAYBOOK) playbooks/testbed_up.yml

testbed-down: ## Remove the embedded testbed, keep its stores
	@$(PLAYBOOK) playbooks/testbed_down.yml

run: ## The main job (PROFILE=smoke|embedded, WORKLOAD=workloada)
	@$(PLAYBOOK) playbooks/farreach/exp01_throughput.yml -e profile=$(PROFILE) -e workload=$(WORKLOAD)
	@scripts/latest-result farreach_exp01_throughput

notebook: ## Execute the notebook of the newest run and say where it is
	@python -m turntable notebook

lab: ## Open JupyterLab on the notebooks; installs it the first time (LAB="--no-browser --port=8899")
	@scripts/lab $(LAB)

clean: ## Remove what was built; keeps the environment and results
	@$(AS_ROOT) rm -rf build .cache .pytest_cache .ruff_cache
