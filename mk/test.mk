# SPDX-License-Identifier: BSD-3-Clause
# Tests: unit (GoogleTest), command line, under mpirun, on stand-in nodes and fake GPUs (bats).
# What each run of tests reports, for the closing line of `make test`.
REPORTS := $(BUILD)/tests/reports
run_bats = mkdir -p $(REPORTS)/$1 && $(BATS_ENV) bats --report-formatter tap --output $(REPORTS)/$1
BATS_ENV = BUILD=$(BUILD) MPI_FOUND='$(MPI_FOUND)' $(if $(SANITIZE),ASAN_OPTIONS=detect_leaks=0)

# Compiled in haste; what every test has is included for it.
UNIT_OBJECTS := $(call folder_objects,$(UNIT_SOURCES))
EVERY_TEST_HAS := algorithm array map optional string vector fmt/format.h gmock/gmock.h gtest/gtest.h
$(UNIT_OBJECTS): private CXXFLAGS := -O0
$(UNIT_OBJECTS): private ALL_CXXFLAGS += $(EVERY_TEST_HAS:%=-include %)

$(BIN)/unit_tests: $(BIN)/parts.list $(UNIT_OBJECTS) $(CORE)
	@mkdir -p $(@D)
	@echo "  LINK  unit_tests"
	@$(CXX) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LDLIBS) -lgmock -lgtest -lgtest_main -lutil

.PHONY: test
test: packages-build packages-test ## install what is missing, build, run every test
	@rm -rf $(REPORTS)
	@$(MAKE) --no-print-directory -j$(shell nproc) executables fake-gpu $(BIN)/unit_tests
	@$(MAKE) --no-print-directory check
	@$(MAKE) --no-print-directory test-nccl
	@n=$$(cat $(REPORTS)/*/* | grep -cE '(# skip|<skipped message=).*\.\./shared/data'); \
	[ "$$n" = 0 ] || echo "skipped for want of ../shared/data: $$n tests"

.PHONY: check
check: check-unit check-bats check-other-mpi test-cluster check-targets

.PHONY: check-unit
# In two halves at the same time: most of it is arithmetic of one thread. A test that hangs, or ends the process, is named.
check-unit: $(BIN)/unit_tests ## unit tests only
	@half() { GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=$$1 $(UNPACKED_MPI) timeout $(UNIT_LIMIT_S) $(BIN)/unit_tests \
	  --gtest_output=xml:$(REPORTS)/unit/$$1.xml | awk '/^\[ RUN / { test = $$4 } /^\[=+\] .* ran\./ { test = "" } \
	  !/^$$|^\[( RUN |  *OK |-+)/; END { if (test) print "check-unit: ended in " test ", or after $(UNIT_LIMIT_S) s" }'; }; \
	half 1 & other=$$!; half 0 && status=0 || status=1; wait $$other && exit $$status
UNIT_LIMIT_S := 1200

.PHONY: check-bats
# (MPICH loads modules that leak at exit: of the programs, leaks are not looked for.)
check-bats: executables fake-gpu $(BIN)/unit_tests $(BIN)/simulated_ratios ## tests of the programs only: command line, MPI, fake GPUs
	$(call run_bats,programs) tests/cli tests/mpi tests/fake_gpu

# The same for whichever of MPICH and Open MPI is not the machine's: what MPI has a part in.
OTHER_MPI := $(if $(filter openmpi,$(MPI_NAME)),mpich,openmpi)
.PHONY: check-other-mpi check-mpi
check-other-mpi: ## tests with Open MPI where the machine's MPI is MPICH, or the other way round
	@$(MAKE) --no-print-directory -j$(shell nproc) MPI=$(OTHER_MPI) MPICXX= check-mpi
ifneq ($(MPI_SHOW),)
check-mpi: programs $(BIN)/unit_tests
	$(UNPACKED_MPI) $(BIN)/unit_tests --gtest_brief=1 --gtest_filter='*Mpi*:*Launcher*:*TemporaryMemory*:Complete*:*HostMemory*'
	PROGRAMS=$(BIN) $(BATS_ENV) bats --filter-tags '!any-mpi' tests/mpi
else
check-mpi: ; @echo "check-mpi: no $(MPI_NAME) here; its tests are skipped" >&2
endif

# Last, when all is built that it takes along.
.PHONY: check-targets
check-targets: packages-bench packages-fuzz executables ## every target that is listed here, in a short form, in a clone
	bats tests/targets

.PHONY: check-repeated
check-repeated: executables fake-gpu $(BIN)/unit_tests ## all tests again and again, half of it under load: UNIT_RUNS=200 BATS_RUNS=20
	$(UNPACKED_MPI) $(BATS_ENV) tools/repeat-tests $(UNIT_RUNS) $(BATS_RUNS)
check-repeated: private UNIT_RUNS := 200
check-repeated: private BATS_RUNS := 20

.PHONY: soak
soak: executables ## slow tests: large counts, memory, the main job
	bats tests/soak
