# SPDX-License-Identifier: BSD-3-Clause
# The fake GPU machine, for tests of the nccl backend: tests/gpu/fake/README.md.
# Without a CUDA toolkit `make fake-gpu` does nothing.
FAKE_GPU := $(BUILD)/fake_gpu
FAKE_GPU_MAJOR := $(shell sed -n 's/^\#define CUDART_VERSION *\([0-9]*\)[0-9]\{3\}$$/\1/p' \
  $(CUDA_HEADERS)/include/cuda_runtime_api.h 2>/dev/null)

.PHONY: fake-gpu
ifeq ($(and $(FAKE_GPU_MAJOR),$(HAVE_NCCL)),1)

FAKE_CUDART := $(FAKE_GPU)/libcudart.so.$(FAKE_GPU_MAJOR)
FAKE_CUDA := $(FAKE_GPU)/libcuda.so.1
FAKE_NCCL := $(FAKE_GPU)/libnccl.so.2
FAKE_NVML := $(FAKE_GPU)/libnvidia-ml.so.1
FAKE_NVML_OBJECTS := $(patsubst %.cpp,$(BUILD)/%.o,$(wildcard tests/gpu/fake/nvml/*.cpp))
FAKE_OLD_NCCL := $(FAKE_GPU)/nccl-2.14/libnccl.so.2
fake_objects = $(patsubst %.cpp,$(BUILD)/%.o,$(wildcard tests/gpu/fake/$(1)))
FAKE_CUDART_OBJECTS := $(call fake_objects,cudart/*.cpp)
FAKE_CUDA_OBJECTS := $(call fake_objects,driver/*.cpp)
FAKE_NCCL_OBJECTS := $(call fake_objects,nccl/*.cpp)
FAKE_NCCL_BUILT := $(BUILD)/tests/gpu/fake/nccl/built
FAKE_SELFTEST_OBJECTS := $(call objects,$(wildcard tests/gpu/fake/selftest/*.cpp))
$(FAKE_CUDART_OBJECTS) $(FAKE_CUDA_OBJECTS) $(FAKE_NCCL_OBJECTS) $(FAKE_NVML_OBJECTS) $(FAKE_NCCL_BUILT)/%.o: private ALL_CXXFLAGS += -fPIC $(NCCL_CXXFLAGS)
$(FAKE_SELFTEST_OBJECTS): private ALL_CXXFLAGS += $(NCCL_CXXFLAGS)

fake-gpu: $(FAKE_CUDART) $(FAKE_CUDA) $(FAKE_NVML) $(FAKE_NCCL) $(FAKE_OLD_NCCL) $(FAKE_GPU)/selftest $(FAKE_GPU)/nvidia-smi ## fake libcudart, libcuda and libnccl for tests, if there is CUDA

# The names and versions are those of NVIDIA's libraries; fake_gpu is what ours share.
$(FAKE_GPU)/cudart.version: mk/fake_gpu.mk
	@mkdir -p $(@D)
	@echo 'libcudart.so.$(FAKE_GPU_MAJOR) { global: cuda*; __cuda*; _ZN8fake_gpu*; _ZNK8fake_gpu*; local: *; };' > $@
$(FAKE_GPU)/%.version: mk/fake_gpu.mk
	@mkdir -p $(@D)
	@echo '{ global: $**; local: *; };' > $@

FAKE_GPU_LINK = mkdir -p $(@D) && echo "  LINK  $(@F)" && $(CXX) -shared $(SANITIZE_FLAGS) $(LDFLAGS) \
  -Wl,-soname,$(@F) -Wl,-z,defs -o $@ $(patsubst %.version,-Wl$(comma)--version-script=%.version,$^) -pthread -ldl

$(FAKE_CUDART): $(FAKE_CUDART_OBJECTS) $(FAKE_GPU)/cudart.version
	@$(FAKE_GPU_LINK)
$(FAKE_CUDA): $(FAKE_CUDA_OBJECTS) $(FAKE_GPU)/cu.version $(FAKE_CUDART)
	@$(FAKE_GPU_LINK) '-Wl,-rpath,$$ORIGIN'
$(FAKE_NVML): $(FAKE_NVML_OBJECTS) $(FAKE_GPU)/nvml.version $(FAKE_CUDART)
	@$(FAKE_GPU_LINK) '-Wl,-rpath,$$ORIGIN'
$(FAKE_NCCL): $(FAKE_NCCL_OBJECTS) $(FAKE_NCCL_BUILT)/this_version.o $(FAKE_GPU)/nccl.version $(FAKE_CUDART)
	@$(FAKE_GPU_LINK) '-Wl,-rpath,$$ORIGIN'
# The same code, without what came after 2.14.
$(FAKE_OLD_NCCL): $(FAKE_NCCL_OBJECTS) $(FAKE_NCCL_BUILT)/version_2_14.o tests/gpu/fake/nccl/built/nccl-2.14.version $(FAKE_CUDART)
	@$(FAKE_GPU_LINK) '-Wl,-rpath,$$ORIGIN/..'

# Lazy binding: it also runs beside the old NCCL, whose missing functions it does not call.
$(FAKE_GPU)/selftest: $(FAKE_SELFTEST_OBJECTS) $(FAKE_NCCL) $(FAKE_CUDA) $(FAKE_CUDART) $(BIN)/parts.list
	@echo "  LINK  $(@F)"
	@$(CXX) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ $(filter-out %.list,$^) -Wl,-z,lazy '-Wl,-rpath,$$ORIGIN' $(MPI_LDLIBS) -pthread -ldl

FAKE_SMI_OBJECTS := $(patsubst %.cpp,$(BUILD)/%.o,$(wildcard tests/gpu/fake/smi/*.cpp)) $(BUILD)/tests/gpu/fake/cudart/machine.o
$(FAKE_GPU)/nvidia-smi: $(FAKE_SMI_OBJECTS)
	@mkdir -p $(@D)
	@echo "  LINK  nvidia-smi (fake)"
	@$(CXX) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ $^

else
fake-gpu: ; @echo "fake-gpu: no CUDA toolkit with NCCL, nothing to do"
endif
