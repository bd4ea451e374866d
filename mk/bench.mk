# SPDX-License-Identifier: BSD-3-Clause
# Benchmarks of our own hot paths, each a ratio within one run; and what host memory can do.
# BRIEF=1: as little of each as shows that it runs; what it prints is no result then, nor is slowness a failure.
BRIEF :=
RECORDED :=
BENCH_TIME := --benchmark_min_time=$(if $(BRIEF),0.001,0.05)
MAY_BE_SLOW := $(if $(BRIEF),|| [ $$? -eq 1 ])
BENCH_LINK = mkdir -p $(@D) && echo "  LINK  $(@F)" && $(CXX) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LDLIBS)

$(BIN)/mpi_ratios: $(MPI_BUILD)/bench/mpi_ratios.o $(CORE)
	@$(BENCH_LINK)
$(BIN)/temporary_memory: $(MPI_BUILD)/bench/temporary_memory.o $(CORE)
	@$(BENCH_LINK)
$(BIN)/verification: $(BUILD)/bench/verification.o $(CORE)
	@$(BENCH_LINK) -lbenchmark
$(BIN)/topology_bounds: $(BUILD)/bench/topology_bounds.o $(CORE)
	@$(BENCH_LINK) -lbenchmark
$(BIN)/topology_choice: $(BUILD)/bench/topology_choice.o $(CORE)
	@$(BENCH_LINK)
$(BIN)/host_limits: $(BUILD)/bench/host_limits.o $(CORE)
	@$(BENCH_LINK) -lbenchmark

$(BIN)/simulation: $(BUILD)/bench/simulation.o $(CORE)
	@$(BENCH_LINK)

$(BIN)/simulated_ratios: $(BUILD)/bench/simulated_ratios.o $(BUILD)/bench/fit.o $(CORE)
	@$(BENCH_LINK)

$(BIN)/compare_rates: $(BUILD)/bench/compare_rates.o $(CORE)
	@$(BENCH_LINK)

$(BIN)/recorded_series: $(BUILD)/bench/recorded_series.o $(CORE)
	@$(BENCH_LINK)

$(BIN)/csv_rows: $(BUILD)/bench/csv_rows.o $(CORE)
	@$(BENCH_LINK)

# What MPI has a part in is run with MPICH and with Open MPI.
.PHONY: bench bench-mpi
ifneq ($(MPI_SHOW),)
bench-mpi: $(BIN)/mpi_ratios $(BIN)/temporary_memory ## overhead, progress and temporary memory with one MPI
	$(MPI_RUN) -np 2 $(BIN)/mpi_ratios overhead $(BRIEF:1=brief)
	$(MPI_RUN) -np 16 $(BIN)/mpi_ratios progress $(BRIEF:1=brief)
	$(MPI_RUN) -np 2 $(BIN)/mpi_ratios pages $(BRIEF:1=brief)
	$(MPI_RUN) -np 4 $(BIN)/temporary_memory mpi $(BRIEF:1=1M)
else
bench-mpi: ; @echo "bench-mpi: no $(MPI_NAME) here; skipped" >&2
endif

ifneq ($(filter gloo,$(BACKENDS)),)
$(BIN)/gloo_overhead: $(BUILD)/bench/gloo_overhead.o $(CORE)
	@$(BENCH_LINK)
GLOO_BENCH := gloo_overhead
endif

BENCHES := $(GLOO_BENCH) mpi_ratios temporary_memory verification topology_bounds topology_choice csv_rows compare_rates simulation host_limits recorded_series
bench: packages-build packages-bench ## ratios of our own speed: overhead, progress, verification, stopping, bounds and choice of devices; verdicts of compare; statistics on recorded times (RECORDED=FOLDER with MANIFEST.csv); speed of host memory: BRIEF=1 to see them run
	@$(MAKE) --no-print-directory -j$(shell nproc) $(BENCHES:%=$(BIN)/%)
	@$(MAKE) --no-print-directory bench-mpi
	@$(MAKE) --no-print-directory -j$(shell nproc) MPI=$(OTHER_MPI) MPICXX= bench-mpi
	$(if $(GLOO_BENCH),$(BIN)/gloo_overhead $(BRIEF:1=brief))
	$(if $(GLOO_BENCH),$(MPI_RUN) -np 4 $(BIN)/temporary_memory gloo $(BRIEF:1=1M))
	$(BIN)/verification $(if $(BRIEF),$(BENCH_TIME))
	$(MPI_RUN) -np 2 $(BIN)/mpi_ratios stopping $(BRIEF:1=brief)
	$(BIN)/topology_bounds $(BENCH_TIME)
	$(BIN)/topology_choice
	$(BIN)/csv_rows $(BRIEF:1=10000) $(MAY_BE_SLOW)
	$(BIN)/compare_rates
	$(if $(RECORDED),for visits in 1 4 6 12; do $(BIN)/recorded_series $(RECORDED) --visits $$visits; done; $(BIN)/recorded_series $(RECORDED) --verdicts)
	$(BIN)/simulation $(MAY_BE_SLOW)
	$(BIN)/host_limits $(BENCH_TIME)

.PHONY: rehearsal
rehearsal: busbar $(if $(RECORDED),$(BIN)/recorded_series) ## what random pairs of 4 to 1,024 nodes find, as a table, ten minutes (RECORDED=FOLDER: also at recorded noise); BRIEF=1 to see it run
	$(if $(RECORDED),$(BIN)/recorded_series $(RECORDED) --factors > $(BUILD)/factors.txt)
	bench/rehearsal $(if $(BRIEF),20 10,1000 200) $(if $(RECORDED),$(BUILD)/factors.txt)
	bench/small-fleets $(if $(BRIEF),10,200) $(if $(RECORDED),$(BUILD)/factors.txt)

ifneq ($(filter nccl,$(BACKENDS)),)
$(BUILD)/bench/device_memory.o: private ALL_CXXFLAGS += $(NCCL_CXXFLAGS)
$(BIN)/device_memory: $(BUILD)/bench/device_memory.o $(CORE)
	@$(BENCH_LINK)
endif

.PHONY: gpu-bench
gpu-bench: $(if $(filter nccl,$(BACKENDS)),$(BIN)/device_memory) ## speed of filling and checking a GPU's memory against a copy
	$(if $(filter nccl,$(BACKENDS)),$(BIN)/device_memory,@echo 'gpu-bench: the nccl backend is not in this build')
