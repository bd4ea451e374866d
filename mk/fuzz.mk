# SPDX-License-Identifier: BSD-3-Clause
# `make fuzz`: every tests/fuzz/NAME.cpp is a libFuzzer target with AddressSanitizer and
# UndefinedBehaviorSanitizer, run FUZZ_SECONDS each, FUZZ_JOBS at a time. It starts from the
# captures of FUZZ_DATA where they are there, and from tests/fuzz/seeds/NAME. What it learns stays in
# $(BUILD)/fuzz/corpus, findings go to $(BUILD)/fuzz/findings: run the target with such a file again.
FUZZ_PACKAGES := clang-14 libclang-rt-14-dev
FUZZ_CXX := clang++-14
FUZZ_SECONDS := 600
FUZZ_JOBS := $(shell nproc)
FUZZ_FLAGS := -timeout=10 -rss_limit_mb=1024 -max_len=65536
FUZZ_DATA := ../shared/data
FUZZ_TARGETS := $(basename $(notdir $(wildcard tests/fuzz/*.cpp)))

# Those of the library that read somebody's text, and what they need.
FUZZ_SOURCES := $(wildcard src/base/*.cpp topo/*.cpp topo/*/*.cpp src/study/import/*.cpp \
  src/model/collective.cpp src/model/record.cpp src/report/csv_reader.cpp src/report/csv_writer.cpp src/report/table.cpp src/report/markup_text.cpp \
  src/report/output_file.cpp \
  src/judge/spec/reader*.cpp src/judge/spec/specification.cpp)
FUZZ_OBJECTS := $(FUZZ_SOURCES:%.cpp=$(BUILD)/fuzz/%.o)
FUZZ_CXXFLAGS = -std=c++20 -O1 -g -fsanitize=fuzzer-no-link,address,undefined \
  -fno-sanitize-recover=all -fno-omit-frame-pointer -Isrc -I. $(TOML_CXXFLAGS)

# Where each target's captures lie.
FUZZ_SEEDS_smi_matrix := $(FUZZ_DATA)/nvidia_smi_topo_m
FUZZ_SEEDS_smi_p2p := $(FUZZ_DATA)/nvidia_smi_topo_p2p
FUZZ_SEEDS_smi_nvlink := $(FUZZ_DATA)/nvidia_smi_nvlink
FUZZ_SEEDS_nccl_xml := $(FUZZ_DATA)/nccl_topo_xml
FUZZ_SEEDS_hwloc_xml := $(FUZZ_DATA)/hwloc_xml
FUZZ_SEEDS_import_log := $(FUZZ_DATA)/nccl_tests_logs
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

$(BUILD)/fuzz/%.o: %.cpp
	@mkdir -p $(@D)
	@echo "  FUZZ  $<"
	@$(FUZZ_CXX) $(FUZZ_CXXFLAGS) -MMD -MP -c -o $@ $<

$(FUZZ_TARGETS:%=$(BUILD)/fuzz/bin/%): $(BUILD)/fuzz/bin/%: $(BUILD)/fuzz/tests/fuzz/%.o $(FUZZ_OBJECTS) $(ALL_TEXTS)
	@mkdir -p $(@D)
	@echo "  LINK  fuzz/$*"
	@$(FUZZ_CXX) -fsanitize=fuzzer,address,undefined -o $@ $(filter %.o,$^) $(TOML_LDLIBS) -lpugixml -lhwloc -lglpk -llemon -lfmt

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
