# SPDX-License-Identifier: BSD-3-Clause
# One non-recursive makefile; `make help` prints what there is. Parts: mk/*.mk, src/backends/*/backend.mk.
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c

CXX := g++
# Where ccache is installed, what was compiled before is not compiled again, whichever clone it was in.
ifneq ($(wildcard /usr/lib/ccache/g++),)
export PATH := /usr/lib/ccache:$(PATH)
export CCACHE_NOHASHDIR := true
endif
# SANITIZE=address,undefined builds and tests with these sanitizers, in a build folder of its own.
# A program of SANITIZE=thread wants UCX_MEM_EVENTS=n UCX_MEM_MMAP_HOOK_MODE=none where its MPI has UCX.
SANITIZE :=
# WERROR= lets a compiler that warns of more than Debian 12's go on.
WERROR := -Werror
BUILD := build$(if $(SANITIZE),-sanitize)
comma := ,

# Each backend's fragment adds to these; HAVE_NCCL=0 leaves the nccl backend out.
BACKENDS :=
BACKEND_LDLIBS :=
BACKEND_OBJECTS :=
include mk/portable.mk mk/mpi.mk mk/packages.mk mk/texts.mk
include $(wildcard src/backends/*/backend.mk)
ABSENT_BACKENDS := $(filter-out $(BACKENDS),$(patsubst src/backends/%/backend.mk,%,$(wildcard src/backends/*/backend.mk)))

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wconversion -Wsign-conversion \
  -Wold-style-cast -Wduplicated-cond -Wlogical-op $(WERROR)
# GCC 12 takes the copy of a string that it inlined for one beyond its object (GCC bugs 105329, 105562), and the members of a
# variant that is moved for unset ones.
WARNINGS += -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread -Wno-maybe-uninitialized \
  -Wno-free-nonheap-object
SANITIZE_FLAGS := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all)
CXXFLAGS := $(if $(SANITIZE),-O1,-O2) -g1
# Multiplications and additions are rounded one by one: contracted ones, as GCC makes them for arm64, moved an interval by a rank.
ALL_CXXFLAGS = -std=c++20 -ffp-contract=off $(CXXFLAGS) $(WARNINGS) $(SANITIZE_FLAGS) -Isrc -I. $(TOML_CXXFLAGS) -MMD -MP
TOML_CXXFLAGS := -DTOML_HEADER_ONLY=0
LDLIBS = $(BACKEND_LDLIBS) $(MPI_LDLIBS) -lhwloc -lpugixml -lsodium -lfmt -pthread
LINT_CXXFLAGS = -std=c++20 -Isrc -I. $(MPI_CXXFLAGS) $(TOML_CXXFLAGS) $(NCCL_CXXFLAGS)

# --- what is built -------------------------------------------------------------------------------
# Those with a footprint in src/model/collective.cpp, as its unit test checks.
COLLECTIVES := allreduce allgather reducescatter broadcast reduce alltoall alltoallv gather scatter sendrecv
PERF := $(COLLECTIVES:%=%_perf)
# nccl-tests' spelling, which scripts and DCGM know.
LINKS := all_reduce_perf reduce_scatter_perf all_gather_perf

# Two halves: what runs on a compute node, and what reads files. A measuring program has nothing of the second.
MEASURE_SOURCES := $(wildcard src/base/*.cpp src/stats/*.cpp src/model/*.cpp topo/*.cpp topo/*/*.cpp src/bootstrap/*.cpp \
  $(if $(filter mpi,$(BACKENDS)),src/bootstrap/mpi/*.cpp) $(BACKENDS:%=src/backends/%/*.cpp) src/format/*.cpp src/machine/*.cpp src/harness/*.cpp)
ANALYZE_SOURCES := $(wildcard src/study/*.cpp src/study/*/*.cpp src/judge/*.cpp src/judge/*/*.cpp)
# A folder is compiled as one file, in half the time that its files take one by one; JOIN=0 compiles each by
# itself, which is faster for who changes one file again and again. The sub-folders of the judge are compiled with it.
JOIN := 1
units = $(sort $(patsubst src/judge/%,src/judge,$(patsubst %/,%,$(dir $1))))
joined = $(foreach unit,$(call units,$1),$(if $(filter $(USES_MPI),$(unit)/x),$(MPI_BUILD),$(BUILD))/joined/$(unit).o)
folder_objects = $(if $(filter 0,$(JOIN)),$(call objects,$1),$(call joined,$1))
FOLDERS := $(call units,$(MEASURE_SOURCES) $(ANALYZE_SOURCES)) src/apps
UNIT_SOURCES := $(filter-out $(foreach b,$(ABSENT_BACKENDS),tests/unit/backends/$(b)/% tests/unit/bootstrap/$(b)/%),\
  $(shell find tests/unit -name '*_test.cpp' 2>/dev/null))
TEST_FOLDERS := $(call units,$(UNIT_SOURCES))
unit_sources = $(filter-out %/perf_main.cpp,$(wildcard $1/*.cpp $(1:src/judge=src/judge/*)/*.cpp))
$(FOLDERS:%=$(BUILD)/joined/%.cpp) $(TEST_FOLDERS:%=$(BUILD)/joined/%.cpp): $(BUILD)/joined/%.cpp: FORCE
	@mkdir -p $(@D)
	@printf '#include "%s"\n' $(sort $(call unit_sources,$*)) | cmp -s - $@ || printf '#include "%s"\n' $(sort $(call unit_sources,$*)) > $@
# Sources that read files and write pages are not worth the time that -O2 takes.
UNHURRIED := $(filter src/apps src/format src/study% src/judge% topo/probes topo/assemble topo/systems,$(FOLDERS))
$(UNHURRIED:%=$(BUILD)/joined/%.o): private CXXFLAGS := $(patsubst -O2,-O1,$(CXXFLAGS))
$(BUILD)/joined/%.o: $(BUILD)/joined/%.cpp
	@mkdir -p $(@D)
	@echo "  CXX   $*"
	@$(CXX) $(ALL_CXXFLAGS) -c -o $@ $<

# toml++ is compiled once, so that no program needs its library, which not every distribution has. Without NDEBUG its
# assertions would end a program on "[[[".
TOML := $(BUILD)/toml++.o
$(TOML): Makefile
	@mkdir -p $(@D)
	@echo "  CXX   toml++"
	@printf '#define TOML_IMPLEMENTATION\n#include <toml++/toml.h>\n' | $(CXX) $(ALL_CXXFLAGS) -DNDEBUG -MF $(@:.o=.d) -x c++ -c -o $@ -

MEASURE_OBJECTS := $(call folder_objects,$(MEASURE_SOURCES)) $(BACKEND_OBJECTS) $(TOML)
MEASURE := $(MEASURE_OBJECTS) $(MEASURE_TEXTS)
CORE := $(MEASURE_OBJECTS) $(call folder_objects,$(ANALYZE_SOURCES)) $(ALL_TEXTS)

.PHONY: all
all: packages-named executables ## build all executables at the root; installs nothing

.PHONY: packages-named
packages-named: ; @BUSBAR_NO_INSTALL=1 tools/install-packages $(BUILD_PACKAGES) $(MPI_PACKAGES)

.PHONY: executables
executables: $(PERF) $(LINKS) busbar

.PHONY: programs
programs: $(PERF:%=$(BIN)/%) $(BIN)/busbar

# Another choice of backends or another MPI is another program: what is linked depends on this list.
$(BIN)/parts.list: FORCE
	@mkdir -p $(@D)
	@echo '$(BACKENDS) $(MPI_NAME)' | cmp -s - $@ || echo '$(BACKENDS) $(MPI_NAME)' > $@
$(PERF:%=$(BIN)/%) $(BIN)/busbar: $(BIN)/parts.list

# The root has links, so that a sanitized and an ordinary build never mix their objects.
$(PERF) busbar: %: $(BIN)/% FORCE
	@ln -sf $< $@
all_reduce_perf: allreduce_perf
reduce_scatter_perf: reducescatter_perf
all_gather_perf: allgather_perf
$(LINKS):
	@ln -sf $< $@
.PHONY: FORCE
FORCE:

# A program's collective is a name in an object of its own.
PROGRAM_NAMES := $(COLLECTIVES:%=$(BUILD)/programs/%.o)
$(PROGRAM_NAMES): $(BUILD)/programs/%.o: Makefile
	@mkdir -p $(@D)
	@echo 'namespace busbar { extern const char* const kProgramCollective; const char* const kProgramCollective = "$*"; }' \
	  | $(CXX) $(ALL_CXXFLAGS) -MF $(@:.o=.d) -x c++ -c -o $@ -

# Objects, never an archive: an archive would drop the backends, which register themselves at start-up.
$(PERF:%=$(BIN)/%): $(BIN)/%_perf: $(BUILD)/src/apps/perf_main.o $(BUILD)/programs/%.o $(MEASURE)
	@mkdir -p $(@D)
	@echo "  LINK  $*_perf"
	@$(CXX) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LDLIBS)

BUSBAR_OBJECTS := $(call folder_objects,$(filter-out src/apps/perf_main.cpp,$(wildcard src/apps/*.cpp)))
$(BIN)/busbar: $(BUSBAR_OBJECTS) $(CORE)
	@mkdir -p $(@D)
	@echo "  LINK  busbar"
	@$(CXX) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LDLIBS)

$(BUILD)/%.o: %.cpp
	@mkdir -p $(@D)
	@echo "  CXX   $<"
	@$(CXX) $(ALL_CXXFLAGS) -c -o $@ $<

# They are written by the compiler: make must not look for a rule of its own that makes one.
%.d: ;
-include $(shell find $(BUILD) -name '*.d' -type f 2>/dev/null)

# --- the rest ------------------------------------------------------------------------------------
-include $(filter-out mk/portable.mk mk/mpi.mk mk/packages.mk mk/texts.mk,$(wildcard mk/*.mk))

.PHONY: docs
docs: executables ## write the documents that are generated: docs/csv.md, docs/schemas/common.schema.json
	./busbar schema > docs/csv.md
	./busbar schema --json > docs/schemas/common.schema.json

.PHONY: clean
clean: ## remove what was built
	rm -rf build build-sanitize $(PERF) $(LINKS) busbar

.PHONY: help
help: ## print this list
	@echo 'make [TARGET] [MPI=mpich|openmpi|0] [MPICXX=WRAPPER] [CXX=g++] [SANITIZE=address,undefined] [BUSBAR_NO_INSTALL=1] [WERROR=] [JOIN=0]'
	@echo '     [HAVE_NCCL=0|1] [CUDA_HOME=/usr/local/cuda] [NCCL_HOME=FOLDER] [NVCC_GENCODE=...] [NVCC_CCBIN=g++-11]'
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
