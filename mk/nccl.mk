# SPDX-License-Identifier: BSD-3-Clause
# NVIDIA's own NCCL, built from its source, over the fake GPU machine: docs/dev/without-a-gpu.md.
# Its source is not ours: a folder or a tarball of NCCL 2.28.9.
NCCL_SOURCE := $(wildcard ../shared/data/nccl-2.28.9.tar.xz)
WHY_NO_NCCL := $(if $(NCCL_SOURCE),,no NCCL_SOURCE=FOLDER_OR_TARBALL of NCCL 2.28.9)$(if $(FAKE_CUDART),, no CUDA toolkit)

.PHONY: test-nccl check-nccl
ifeq ($(strip $(WHY_NO_NCCL)),)
test-nccl: packages-build packages-check ## NVIDIA's own NCCL over the fake GPU machine: NCCL_SOURCE=FOLDER_OR_TARBALL
	@tools/install-packages python3 strace
	@$(MAKE) --no-print-directory -j$(shell nproc) executables fake-gpu
	@built=$$(tools/build-nccl $(NCCL_SOURCE) $(NVCC)) && \
	  $(MAKE) --no-print-directory NCCL_BUILT=$$built check-nccl
else
test-nccl: ; @echo "test-nccl: skipped: $(strip $(WHY_NO_NCCL))"
endif

# Compiled with NCCL's own headers, which say what its host code writes for its kernels.
NCCL_KERNELS = $(BUILD)/$(notdir $(NCCL_BUILT))/libfake-nccl-kernels.so
NCCL_KERNEL_SOURCES := $(wildcard tests/gpu/fake/kernels/*.cpp) tests/gpu/fake/nccl/reduction.cpp
NCCL_KERNEL_FLAGS = -DNCCL_FUNCTIONS='"$(NCCL_BUILT)/functions"' $(foreach f,$(NCCL_BUILT)/include \
  $(NCCL_BUILT)/include/plugin $(CUDA_HEADERS)/include $(CUDA_HEADERS)/include/cccl,-isystem $(f))
ifneq ($(NCCL_BUILT),)
$(NCCL_KERNELS): $(NCCL_KERNEL_SOURCES) $(wildcard tests/gpu/fake/kernels/*.hpp) mk/nccl.mk $(FAKE_CUDART)
	@mkdir -p $(@D)
	@echo "  LINK  $(@F)"
	@$(CXX) $(filter-out -MMD -MP,$(ALL_CXXFLAGS)) -fPIC -shared $(NCCL_KERNEL_FLAGS) -o $@ $(NCCL_KERNEL_SOURCES) $(FAKE_CUDART)

check-nccl: executables fake-gpu $(NCCL_KERNELS)
	@export NCCL_BUILT=$(NCCL_BUILT) FAKE_NCCL_KERNELS=$(abspath $(NCCL_KERNELS)); $(call run_bats,nccl,$(WITH_TAGS)) tests/gpu/nccl
endif
