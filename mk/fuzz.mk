# SPDX-License-Identifier: BSD-3-Clause
# `make fuzz`: every tests/fuzz/NAME.cpp, and every name in the table of texts.cpp, is a libFuzzer target with AddressSanitizer and
# UndefinedBehaviorSanitizer, run FUZZ_SECONDS each, FUZZ_JOBS at a time. It starts from the
# captures of FUZZ_DATA where they are there, from tests/fixtures/captures and tests/fuzz/seeds/NAME. What it learns stays in
# $(BUILD)/fuzz/corpus, findings go to $(BUILD)/fuzz/findings: run the target with such a file again.
FUZZ_PACKAGES := clang-14 libclang-rt-14-dev
FUZZ_CXX := clang++-14
FUZZ_SECONDS := 600
FUZZ_JOBS := $(shell nproc)
FUZZ_TIMEOUT := 10
FUZZ_FLAGS = -timeout=$(FUZZ_TIMEOUT) -rss_limit_mb=1024 -max_len=65536
FUZZ_DATA := ../shared/data
FUZZ_PROGRAMS := $(basename $(notdir $(wildcard tests/fuzz/*.cpp)))
FUZZ_TEXTS := $(shell sed -n 's/^ *{"\(.*\)", read_.*/\1/p' tests/fuzz/texts.cpp)
FUZZ_TARGETS := $(filter-out texts,$(FUZZ_PROGRAMS)) $(FUZZ_TEXTS)

# What the targets are linked from; asked for only where they are made.
FUZZ_SOURCES := $(if $(filter fuzz%,$(MAKECMDGOALS)),$(shell tools/sources-of $(wildcard tests/fuzz/*.cpp)))
# A folder is compiled as one file, as in the ordinary build.
FUZZ_OBJECTS := $(patsubst %/,$(BUILD)/fuzz/joined/%.o,$(sort $(dir $(FUZZ_SOURCES))))
# FUZZ_CHECKS= FUZZ_OPTIMIZE=-O0 builds in a third of the time, and finds crashes only; FUZZ_TIMEOUT=100 on a busy machine.
FUZZ_CHECKS := $(comma)address$(comma)undefined
FUZZ_OPTIMIZE := -O1
FUZZ_CXXFLAGS = -std=c++20 $(FUZZ_OPTIMIZE) -g1 -fsanitize=fuzzer-no-link$(FUZZ_CHECKS) \
  -fno-sanitize-recover=all -fno-omit-frame-pointer -Isrc -I. $(TOML_CXXFLAGS)

# Where each target's captures lie.
captures = $(FUZZ_DATA)/$1 tests/fixtures/captures/$1
FUZZ_SEEDS_smi_matrix := $(call captures,nvidia_smi_topo_m)
FUZZ_SEEDS_smi_p2p := $(call captures,nvidia_smi_topo_p2p)
FUZZ_SEEDS_smi_nvlink := $(call captures,nvidia_smi_nvlink)
FUZZ_SEEDS_nccl_xml := $(call captures,nccl_topo_xml)
FUZZ_SEEDS_hwloc_xml := $(call captures,hwloc_xml)
FUZZ_SEEDS_import_log := $(call captures,nccl_tests_logs)
FUZZ_SEEDS_system_file := topo/systems
FUZZ_SEEDS_specification := results/expect

.PHONY: packages-fuzz fuzz fuzz-programs fuzz-runs
packages-fuzz: ; @tools/install-packages $(FUZZ_PACKAGES)

fuzz: packages-build packages-fuzz ## look for texts that break a parser: FUZZ_SECONDS=600 each
	@$(MAKE) --no-print-directory -j$(FUZZ_JOBS) fuzz-programs
	@rm -rf $(BUILD)/fuzz/log
	@$(MAKE) --no-print-directory -j$(FUZZ_JOBS) fuzz-runs
	@tools/fuzz-summary $(BUILD)/fuzz $(FUZZ_TARGETS)

fuzz-programs: $(FUZZ_TARGETS:%=$(BUILD)/fuzz/bin/%)

$(FUZZ_OBJECTS:.o=.cpp): $(BUILD)/fuzz/joined/%.cpp: FORCE
	@mkdir -p $(@D)
	@printf '#include "%s"\n' $(filter $(wildcard $*/*.cpp),$(FUZZ_SOURCES)) > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
$(BUILD)/fuzz/joined/%.o: $(BUILD)/fuzz/joined/%.cpp
	@echo "  FUZZ  $*"
	@$(FUZZ_CXX) $(FUZZ_CXXFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/fuzz/tests/%.o: tests/%.cpp
	@mkdir -p $(@D)
	@echo "  FUZZ  $<"
	@$(FUZZ_CXX) $(FUZZ_CXXFLAGS) -MMD -MP -c -o $@ $<

$(FUZZ_PROGRAMS:%=$(BUILD)/fuzz/bin/%): $(BUILD)/fuzz/bin/%: $(BUILD)/fuzz/tests/fuzz/%.o $(FUZZ_OBJECTS) $(ALL_TEXTS) $(TOML)
	@mkdir -p $(@D)
	@echo "  LINK  fuzz/$*"
	@$(FUZZ_CXX) -fsanitize=fuzzer$(FUZZ_CHECKS) -o $@ $(filter %.o,$^) -lpugixml -lhwloc -lfmt

$(FUZZ_TEXTS:%=$(BUILD)/fuzz/bin/%): $(BUILD)/fuzz/bin/texts
	@ln -f $< $@

# A target that finds something fails in the summary, not here: the others run their time.
fuzz-runs: $(FUZZ_TARGETS:%=fuzz-run-%)
.PHONY: $(FUZZ_TARGETS:%=fuzz-run-%)
$(FUZZ_TARGETS:%=fuzz-run-%): fuzz-run-%: $(BUILD)/fuzz/bin/%
	@mkdir -p $(BUILD)/fuzz/corpus/$* $(BUILD)/fuzz/findings $(BUILD)/fuzz/log
	@echo "  RUN   fuzz/$* for $(FUZZ_SECONDS) s"
	@$< -max_total_time=$(FUZZ_SECONDS) $(FUZZ_FLAGS) -print_final_stats=1 \
	  -artifact_prefix=$(BUILD)/fuzz/findings/$*- $(BUILD)/fuzz/corpus/$* \
	  $(wildcard $(FUZZ_SEEDS_$*) tests/fuzz/seeds/$*) > $(BUILD)/fuzz/log/$* 2>&1; \
	  echo "exit status $$?" >> $(BUILD)/fuzz/log/$*
