# SPDX-License-Identifier: BSD-3-Clause
# Tests: unit (GoogleTest), command line, under mpirun, on stand-in nodes and fake GPUs (bats). What takes long, or needs
# more than a newcomer has, is not in `make test`: unit suites named Long..., and tests of programs without the tag quick.

# Compiled in haste; what every test has is included for it.
UNIT_OBJECTS := $(call folder_objects,$(UNIT_SOURCES))
EVERY_TEST_HAS := algorithm array map optional string vector fmt/format.h gtest/gtest.h \
  $(patsubst %,tests/unit/support/%.hpp,failure matchers temporary_folder)
$(UNIT_OBJECTS): private CXXFLAGS := -O0
$(UNIT_OBJECTS): private ALL_CXXFLAGS += $(EVERY_TEST_HAS:%=-include %)

$(BIN)/unit_tests: $(BIN)/parts.list $(UNIT_OBJECTS) $(CORE)
	@mkdir -p $(@D)
	@echo "  LINK  unit_tests"
	@$(CXX) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LDLIBS) -lgmock -lgtest -lgtest_main -lutil

# Each run of tests leaves a report in JUnit's format, with the times.
REPORTS := $(BUILD)/tests/reports
BATS_ENV = BUILD=$(BUILD) MPI_FOUND='$(MPI_FOUND)' $(if $(SANITIZE),ASAN_OPTIONS=detect_leaks=0)
# run_bats NAME,WORDS
run_bats = mkdir -p $(REPORTS)/$1 && $(BATS_ENV) bats --report-formatter junit --output $(REPORTS)/$1 $2
closing_line = @tools/count-tests $(REPORTS) "$1"
BUILT_FOR_TESTS = executables fake-gpu $(BIN)/unit_tests $(BIN)/simulated_ratios

.PHONY: test check check-all check-rest
test: packages-build packages-test ## install what is missing, build, run the tests that take minutes
	@rm -rf $(REPORTS) && mkdir -p $(REPORTS)
	@$(MAKE) --no-print-directory -j$(shell nproc) $(BUILT_FOR_TESTS)
	@$(MAKE) --no-print-directory check-unit UNIT_FILTER='-Long*:*/Long*'
	@$(MAKE) --no-print-directory check-bats TAGS=quick
	$(call closing_line,not run: longer ones (make check); Open MPI$(comma) cluster$(comma) NCCL$(comma) pages (make check-all))
check: test check-rest ## all tests that need no root
	$(call closing_line,not run: Open MPI$(comma) cluster$(comma) NCCL$(comma) pages (make check-all))
check-rest: packages-check
	@$(MAKE) --no-print-directory check-unit UNIT_FILTER='Long*:*/Long*'
	@$(MAKE) --no-print-directory check-bats TAGS='!quick'
check-all: packages-pages check check-other-mpi test-cluster test-nccl check-targets ## all tests: these need root for a part
	$(call closing_line,)

.PHONY: check-unit
# In two halves at the same time: most of it is arithmetic of one thread. A test that hangs, or ends the process, is named.
check-unit: $(BIN)/unit_tests ## unit tests only
	@mkdir -p $(REPORTS)/unit; half() { GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=$$1 $(UNPACKED_MPI) timeout $(UNIT_LIMIT_S) $(BIN)/unit_tests \
	  --gtest_filter='$(UNIT_FILTER)' --gtest_output=xml:$(REPORTS)/unit/$$$$-$$1.xml | awk '/^\[ RUN / { test = $$4 } \
	  /^\[=+\] .* ran\./ { test = "" } !/^$$|^\[( RUN |  *OK |-+)/; END { if (test) print "check-unit: ended in " test ", or after $(UNIT_LIMIT_S) s" }'; }; \
	half 1 & other=$$!; half 0 && status=0 || status=1; wait $$other && exit $$status
UNIT_LIMIT_S := 1200
UNIT_FILTER := *

.PHONY: check-bats
# (MPICH loads modules that leak at exit: of the programs, leaks are not looked for.) Those of the command line in two halves
# at the same time, one of which has all that change build/; those with ranks never beside others.
BATS_HALF := tests/project $(patsubst %,tests/programs/%.bats,accept_launches expect loading schemas)
BATS_MPI := $(shell grep -l '^\# bats file_tags=.*mpi' tests/programs/*.bats)
BATS_RANKS := tests/programs/rendezvous.bats $(BATS_MPI) tests/gpu
WITH_TAGS = --filter-tags '$(if $(TAGS),$(TAGS)$(comma))!soak'
check-bats: $(BUILT_FOR_TESTS) ## tests of the programs only: command line, MPI, fake GPUs
	@other=$$(mktemp); { $(call run_bats,half-$(TAGS:!%=not-%),$(WITH_TAGS)) $(BATS_HALF) > $$other; } 2>&1 & \
	$(call run_bats,cli-$(TAGS:!%=not-%),$(WITH_TAGS)) $(filter-out $(BATS_HALF) $(BATS_RANKS),$(wildcard tests/programs/*.bats)) && status=0 || status=1; \
	wait $$! || status=1; cat $$other; rm $$other; exit $$status
	@$(call run_bats,ranks-$(TAGS:!%=not-%),$(WITH_TAGS)) $(BATS_RANKS)

# The same for whichever of MPICH and Open MPI is not the machine's: what MPI has a part in.
OTHER_MPI := $(if $(filter openmpi,$(MPI_NAME)),mpich,openmpi)
.PHONY: check-other-mpi check-mpi
check-other-mpi: openmpi ## tests with Open MPI where the machine's MPI is MPICH, or the other way round
	@$(MAKE) --no-print-directory -j$(shell nproc) MPI=$(OTHER_MPI) MPICXX= check-mpi
ifneq ($(MPI_SHOW),)
check-mpi: programs $(BIN)/unit_tests
	$(UNPACKED_MPI) $(BIN)/unit_tests --gtest_brief=1 --gtest_filter='*Mpi*:*Launcher*:*TemporaryMemory*:Complete*:*HostMemory*'
	export PROGRAMS=$(BIN); $(call run_bats,$(MPI_NAME),$(WITH_TAGS)) $(BATS_MPI)
else
check-mpi: ; @echo "check-mpi: no $(MPI_NAME) here; its tests are skipped" >&2
endif

# Last, when all is built that it takes along.
.PHONY: check-targets
check-targets: packages-bench packages-fuzz executables ## every target that is listed here, in a short form, in a clone
	bats tests/project/targets

.PHONY: check-repeated
check-repeated: executables fake-gpu $(BIN)/unit_tests ## all tests again and again, half of it under load: UNIT_RUNS=200 BATS_RUNS=20
	$(UNPACKED_MPI) $(BATS_ENV) tools/repeat-tests $(UNIT_RUNS) $(BATS_RUNS)
check-repeated: private UNIT_RUNS := 200
check-repeated: private BATS_RUNS := 20

.PHONY: soak
soak: executables ## slow tests: large counts, memory, the main job
	bats --filter-tags soak tests/programs tests/cluster
