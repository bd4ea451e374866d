# SPDX-License-Identifier: BSD-3-Clause
# Device memory over NCCL: in the build where the CUDA Toolkit and NCCL are. HAVE_NCCL=0 leaves it out;
# HAVE_NCCL=1 ends the build where something is missing. Only kernels.cu needs nvcc.
CUDA_HOME := $(or $(wildcard $(CUDA_HOME)),/usr/local/cuda)
NVCC := $(firstword $(wildcard $(CUDA_HOME)/bin/nvcc) nvcc)
NCCL_HOME := $(patsubst %/include/nccl.h,%,$(firstword $(wildcard $(addsuffix /include/nccl.h,$(NCCL_HOME) $(CUDA_HOME) /usr))))
NCCL_MISSING := $(strip $(if $(shell command -v $(NVCC)),,nvcc (looked in CUDA_HOME=$(CUDA_HOME))) \
  $(if $(wildcard $(CUDA_HOME)/include/cuda_runtime_api.h),,cuda_runtime_api.h (in CUDA_HOME=$(CUDA_HOME)/include)) \
  $(if $(NCCL_HOME),,nccl.h (in NCCL_HOME, CUDA_HOME and /usr)))
HAVE_NCCL := $(if $(NCCL_MISSING),0,1)
ifeq ($(HAVE_NCCL),1)
  ifneq ($(NCCL_MISSING),)
    $(error HAVE_NCCL=1: missing: $(NCCL_MISSING))
  endif

BACKENDS += nccl
# Compute capabilities from 6.0 to 12.0 that this toolkit knows, and PTX of the last for what comes after.
NVCC_ARCHS = $(filter 60 70 75 80 90 100 120,$(patsubst compute_%,%,$(shell $(NVCC) --list-gpu-arch)))
NVCC_GENCODE = $(foreach a,$(NVCC_ARCHS),-gencode=arch=compute_$(a),code=sm_$(a)) \
  -gencode=arch=compute_$(lastword $(NVCC_ARCHS)),code=compute_$(lastword $(NVCC_ARCHS))
CUDA_LIBRARIES := $(firstword $(wildcard $(CUDA_HOME)/lib64 $(CUDA_HOME)/lib))
NCCL_LIBRARIES := $(firstword $(wildcard $(NCCL_HOME)/lib/x86_64-linux-gnu $(NCCL_HOME)/lib64 $(NCCL_HOME)/lib))
# A run path, not an rpath: LD_LIBRARY_PATH goes before it.
BACKEND_LDLIBS += $(foreach l,$(sort $(CUDA_LIBRARIES) $(NCCL_LIBRARIES)),-L$(l) -Wl,-rpath,$(l)) \
  -Wl,--enable-new-dtags -lnccl -lcudart
BACKEND_OBJECTS += $(BUILD)/src/backends/nccl/kernels.o
NCCL_CXXFLAGS := $(foreach i,$(sort $(CUDA_HOME) $(NCCL_HOME)),-isystem $(i)/include)

$(BUILD)/src/backends/nccl/%.o $(BUILD)/tests/unit/backends/nccl/%.o: ALL_CXXFLAGS += $(NCCL_CXXFLAGS)
$(BUILD)/src/backends/nccl/kernels.o: src/backends/nccl/kernels.cu
	@mkdir -p $(@D)
	@echo "  NVCC  $<"
	@$(NVCC) -std=c++17 -O2 $(NVCC_GENCODE) -cudart shared -Xcompiler -Wall,-Wextra -Isrc -MMD -MP -c -o $@ $<
endif
