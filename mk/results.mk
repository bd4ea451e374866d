# SPDX-License-Identifier: BSD-3-Clause
# Runs that leave something to look at: CSVs in results/, pictures in plots/.
NP := 16
STAMP := $(shell date +%Y%m%d-%H%M%S)
QUICKSTART_CSV = results/allreduce-np$(NP)-$(STAMP).csv

.PHONY: quickstart
quickstart: packages-build packages-plot ## install what is missing, build, run the main job (NP=16), draw it
	@$(MAKE) --no-print-directory -j$(shell nproc) executables
	mpirun -np $(NP) ./allreduce_perf -b 1M -e 1G --csv $(QUICKSTART_CSV)
	@$(MAKE) --no-print-directory $(patsubst results/%.csv,plots/%.svg,$(QUICKSTART_CSV))
	@echo "rows: $(QUICKSTART_CSV)   picture: $(patsubst results/%.csv,plots/%.svg,$(QUICKSTART_CSV))"

plots/%.svg: results/%.csv plots/busbw.gp
	@gnuplot -e "csv='$<'; out='$@'" plots/busbw.gp
plots/%.png: results/%.csv plots/busbw.gp
	@gnuplot -e "csv='$<'; out='$@'" plots/busbw.gp

.PHONY: plots
plots: packages-plot $(patsubst results/%.csv,plots/%.svg,$(wildcard results/*.csv)) ## draw every CSV of results/
