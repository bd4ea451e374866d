# SPDX-License-Identifier: BSD-3-Clause
# A pretended libcudart and libnccl for the tests of the nccl backend: tests/fake_gpu/README.md.
# Without a CUDA toolkit `make fake-gpu` does nothing.
FAKE_GPU := $(BUILD)/fake_gpu
FAKE_GPU_MAJOR := $(shell sed -n 's/^\#define CUDART_VERSION *\([0-9]*\)[0-9]\{3\}$$/\1/p' \
  $(CUDA_HOME)/include/cuda_runtime_api.h 2>/dev/null)

.PHONY: fake-gpu
ifeq ($(and $(FAKE_GPU_MAJOR),$(HAVE_NCCL)),1)

FAKE_CUDART := $(FAKE_GPU)/libcudart.so.$(FAKE_GPU_MAJOR)
FAKE_NCCL := $(FAKE_GPU)/libnccl.so.2
FAKE_CUDART_OBJECTS := $(patsubst %.cpp,$(BUILD)/%.o,$(wildcard tests/fake_gpu/cudart/*.cpp))
FAKE_NCCL_OBJECTS := $(patsubst %.cpp,$(BUILD)/%.o,$(wildcard tests/fake_gpu/nccl/*.cpp))
$(FAKE_CUDART_OBJECTS) $(FAKE_NCCL_OBJECTS): private ALL_CXXFLAGS += -fPIC $(NCCL_CXXFLAGS)
FAKE_GPU_TEST_OBJECTS := $(call objects,$(wildcard tests/fake_gpu/selftest/*.cpp))
$(FAKE_GPU_TEST_OBJECTS): private ALL_CXXFLAGS += $(NCCL_CXXFLAGS)

fake-gpu: $(FAKE_CUDART) $(FAKE_NCCL) $(FAKE_GPU)/selftest $(FAKE_GPU)/nvidia-smi ## pretended libcudart and libnccl for tests, if there is CUDA

# The names and versions are those of NVIDIA's libraries; fake_gpu is what our two share.
$(FAKE_GPU)/cudart.version: mk/fake_gpu.mk
	@mkdir -p $(@D)
	@echo 'libcudart.so.$(FAKE_GPU_MAJOR) { global: cuda*; __cuda*; _ZN8fake_gpu*; _ZNK8fake_gpu*; local: *; };' > $@
$(FAKE_GPU)/nccl.version: mk/fake_gpu.mk
	@mkdir -p $(@D)
	@echo '{ global: nccl*; local: *; };' > $@

FAKE_GPU_LINK = echo "  LINK  $(@F)" && $(CXX) -shared $(SANITIZE_FLAGS) $(LDFLAGS) -Wl,-soname,$(@F) -o $@

$(FAKE_CUDART): $(FAKE_CUDART_OBJECTS) $(FAKE_GPU)/cudart.version
	@$(FAKE_GPU_LINK) -Wl,--version-script=$(FAKE_GPU)/cudart.version -Wl,-z,defs $(FAKE_CUDART_OBJECTS) -pthread -ldl
$(FAKE_NCCL): $(FAKE_NCCL_OBJECTS) $(FAKE_GPU)/nccl.version $(FAKE_CUDART)
	@$(FAKE_GPU_LINK) -Wl,--version-script=$(FAKE_GPU)/nccl.version -Wl,-z,defs '-Wl,-rpath,$$ORIGIN' \
	  $(FAKE_NCCL_OBJECTS) $(FAKE_CUDART) -pthread

# Linked to NVIDIA's libraries, as the programs are.
$(FAKE_GPU)/selftest: $(FAKE_GPU_TEST_OBJECTS) $(BIN)/parts.list
	@mkdir -p $(@D)
	@echo "  LINK  $(@F)"
	@$(CXX) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(BACKEND_LDLIBS) $(MPI_LDLIBS) -pthread

FAKE_SMI_OBJECTS := $(patsubst %.cpp,$(BUILD)/%.o,$(wildcard tests/fake_gpu/smi/*.cpp)) $(BUILD)/tests/fake_gpu/cudart/machine.o
$(FAKE_GPU)/nvidia-smi: $(FAKE_SMI_OBJECTS)
	@mkdir -p $(@D)
	@echo "  LINK  nvidia-smi (pretended)"
	@$(CXX) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ $^

else
fake-gpu: ; @echo "fake-gpu: no CUDA toolkit with NCCL, nothing to do"
endif
