# SPDX-License-Identifier: BSD-3-Clause
# Benchmarks of our own hot paths, each a ratio within one run; and what host memory can do.
BENCH_LINK = mkdir -p $(@D) && echo "  LINK  $(@F)" && $(CXX) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LDLIBS)

$(BUILD)/bin/mpi_ratios: $(BUILD)/bench/mpi_ratios.o $(BUILD)/src/collectives/allreduce.o $(CORE)
	@$(BENCH_LINK)
$(BUILD)/bin/verification: $(BUILD)/bench/verification.o $(CORE)
	@$(BENCH_LINK) -lbenchmark
$(BUILD)/bin/topology_bounds: $(BUILD)/bench/topology_bounds.o $(CORE)
	@$(BENCH_LINK) -lbenchmark
$(BUILD)/bin/topology_choice: $(BUILD)/bench/topology_choice.o $(CORE)
	@$(BENCH_LINK)
$(BUILD)/bin/host_limits: $(BUILD)/bench/host_limits.o $(CORE)
	@$(BENCH_LINK) -lbenchmark

$(BUILD)/bin/simulation: $(BUILD)/bench/simulation.o $(CORE)
	@$(BENCH_LINK)

$(BUILD)/bin/csv_rows: $(BUILD)/bench/csv_rows.o $(CORE)
	@$(BENCH_LINK)

.PHONY: bench
bench: packages-build packages-bench ## ratios of our own speed: overhead, progress, verification, stopping, bounds and choice of devices; speed of host memory
	@$(MAKE) --no-print-directory -j$(shell nproc) $(BUILD)/bin/mpi_ratios $(BUILD)/bin/verification $(BUILD)/bin/topology_bounds $(BUILD)/bin/topology_choice $(BUILD)/bin/simulation $(BUILD)/bin/host_limits
	mpirun -np 2 $(BUILD)/bin/mpi_ratios overhead
	mpirun -np 16 $(BUILD)/bin/mpi_ratios progress
	$(BUILD)/bin/verification
	mpirun -np 2 $(BUILD)/bin/mpi_ratios stopping
	$(BUILD)/bin/topology_bounds --benchmark_min_time=0.05
	$(BUILD)/bin/topology_choice
	$(BUILD)/bin/csv_rows
	$(BUILD)/bin/simulation
	$(BUILD)/bin/host_limits --benchmark_min_time=0.05

ifneq ($(filter nccl,$(BACKENDS)),)
$(BUILD)/bench/device_memory.o: private ALL_CXXFLAGS += $(NCCL_CXXFLAGS)
$(BUILD)/bin/device_memory: $(BUILD)/bench/device_memory.o $(CORE)
	@$(BENCH_LINK)
endif

.PHONY: gpu-bench
gpu-bench: $(if $(filter nccl,$(BACKENDS)),$(BUILD)/bin/device_memory) ## speed of filling and checking a GPU's memory against a copy
	$(if $(filter nccl,$(BACKENDS)),$(BUILD)/bin/device_memory,@echo 'gpu-bench: the nccl backend is not in this build')
