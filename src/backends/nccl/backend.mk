# SPDX-License-Identifier: BSD-3-Clause
# Device memory over NCCL: in the build where the headers of CUDA and NCCL and nvcc are. HAVE_NCCL=0
# leaves it out; HAVE_NCCL=1 ends the build where something is missing. The libraries themselves are
# opened at run time (libraries.hpp), so nothing is linked. Only kernels.cu needs nvcc.
NCCL_TARGETS := $(addprefix targets/,$(if $(filter aarch64,$(shell uname -m)),sbsa-linux aarch64-linux,x86_64-linux))

# A CUDA_HOME of the user's must be one; else the places of NVIDIA's variables, conda, HPC SDK, nvcc's
# own folder, Debian and the default.
CUDA_WANTED := $(CUDA_HOME)
ifneq ($(CUDA_WANTED),)
  CUDA_ROOTS := $(CUDA_WANTED)
else
  CUDA_ROOTS := $(CUDA_PATH) $(CONDA_PREFIX) $(if $(NVHPC_ROOT),$(NVHPC_ROOT)/cuda) \
    $(patsubst %/bin/,%,$(dir $(shell readlink -f "$$(command -v nvcc)"))) /usr/local/cuda /usr
endif
# where(ROOTS,FILE): the first root, or its folder of this machine's kind, that has the file.
nccl_where = $(patsubst %/$2,%,$(firstword $(wildcard $(foreach r,$1,$r/$2 $(addsuffix /$2,$(addprefix $r/,$(NCCL_TARGETS)))))))
CUDA_HEADERS := $(call nccl_where,$(CUDA_ROOTS),include/cuda_runtime_api.h)
CUDA_HOME := $(or $(patsubst %/,%,$(firstword $(subst /targets/,/ ,$(CUDA_HEADERS)))),$(firstword $(CUDA_ROOTS)))
NVCC := $(or $(wildcard $(CUDA_HOME)/bin/nvcc),nvcc)
NCCL_ROOTS := $(NCCL_HOME) $(CUDA_HOME) $(CONDA_PREFIX) $(if $(NVHPC_ROOT),$(NVHPC_ROOT)/comm_libs/nccl) /usr
NCCL_HEADERS := $(call nccl_where,$(NCCL_ROOTS),include/nccl.h)

NCCL_MISSING := $(strip $(if $(shell command -v $(NVCC)),,nvcc (looked in CUDA_HOME=$(CUDA_HOME))) \
  $(if $(CUDA_HEADERS),,cuda_runtime_api.h (in CUDA_HOME=$(CUDA_HOME)/include)) \
  $(if $(NCCL_HEADERS),,nccl.h (in NCCL_HOME, CUDA_HOME and /usr)))
# Where the user names neither, a missing part leaves the backend out.
HAVE_NCCL := $(if $(and $(NCCL_MISSING),$(if $(CUDA_WANTED)$(NCCL_HOME),,yes)),0,1)
ifeq ($(HAVE_NCCL),1)
  ifneq ($(NCCL_MISSING),)
    $(error the nccl backend lacks $(NCCL_MISSING); HAVE_NCCL=0 leaves it out)
  endif

BACKENDS += nccl
# Compute capabilities from 6.0 to 12.0 that this toolkit knows, and PTX of the first for all others.
NVCC_ARCHS = $(filter 60 70 75 80 90 100 120,$(patsubst compute_%,%,$(shell $(NVCC) --list-gpu-arch)))
NVCC_GENCODE = $(foreach a,$(NVCC_ARCHS),-gencode=arch=compute_$(a),code=sm_$(a)) \
  -gencode=arch=compute_$(firstword $(NVCC_ARCHS)),code=compute_$(firstword $(NVCC_ARCHS))
# Host compiler of nvcc, where the default one is newer than it allows.
NVCC_CCBIN :=
# Folders of the libraries, NCCL_HOME's first. A run path, not an rpath: LD_LIBRARY_PATH goes before
# it. The linker's own folders are in no need of it.
NCCL_LIBRARIES := $(patsubst %/,%,$(dir $(firstword $(foreach r,$(NCCL_HEADERS) $(NCCL_HOME),$(wildcard $(r)/lib/*/libnccl.so.2 $(r)/lib64/libnccl.so.2 $(r)/lib/libnccl.so.2)))))
CUDA_LIBRARIES := $(patsubst %/,%,$(dir $(firstword $(foreach r,$(CUDA_HEADERS) $(CUDA_HOME),$(wildcard $(r)/lib64/libcudart.so $(r)/lib/libcudart.so)))))
BACKEND_LDLIBS += $(foreach l,$(filter-out /usr/lib%,$(NCCL_LIBRARIES) $(CUDA_LIBRARIES)),-Wl,-rpath,$(l)) -Wl,--enable-new-dtags -ldl
BACKEND_OBJECTS += $(BUILD)/src/backends/nccl/kernels.o
# GCC finds no C header after -isystem /usr/include, so the compiler's own folders are never named.
NCCL_CXXFLAGS := $(foreach i,$(filter-out /usr,$(NCCL_HEADERS) $(filter-out $(NCCL_HEADERS),$(CUDA_HEADERS))),-isystem $(i)/include)

$(BUILD)/joined/src/backends/nccl.o $(BUILD)/src/backends/nccl/%.o $(BUILD)/joined/tests/unit/backends/nccl.o $(BUILD)/tests/unit/backends/nccl/%.o: ALL_CXXFLAGS += $(NCCL_CXXFLAGS)
$(BUILD)/src/backends/nccl/kernels.fatbin: src/backends/nccl/kernels.cu src/backends/nccl/kernels.cuh src/backends/nccl/backend.mk
	@mkdir -p $(@D)
	@echo "  NVCC  $<"
	@$(NVCC) -std=c++17 -O2 $(NVCC_GENCODE) $(if $(NVCC_CCBIN),-ccbin $(NVCC_CCBIN)) -Isrc -fatbin -o $@ $<
# The fatbin as the program's data, under the name that device_memory.cpp knows.
$(BUILD)/src/backends/nccl/kernels.o: $(BUILD)/src/backends/nccl/kernels.fatbin
	@printf '.section .rodata\n.balign 16\n.globl busbar_kernels\nbusbar_kernels:\n.incbin "$<"\n.section .note.GNU-stack,"",@progbits\n' | \
	  $(CXX) -x assembler -c -o $@ -
endif
