# SPDX-License-Identifier: BSD-3-Clause
# Runs that leave something to look at: CSVs in results/, pictures in plots/.
NP := 16
SIZES := -b 1M -e 1G
STAMP := $(shell date +%Y%m%d-%H%M%S)
QUICKSTART_NAME = allreduce-np$(NP)-$(STAMP)
QUICKSTART_CSV = results/$(QUICKSTART_NAME).csv

.PHONY: quickstart
quickstart: packages-build packages-plot ## install what is missing, build, run the main job (NP=16 SIZES='-b 1M -e 1G'), draw it
	@$(MAKE) --no-print-directory -j$(shell nproc) executables
	$(MPI_RUN) -np $(NP) ./allreduce_perf $(SIZES) --csv $(QUICKSTART_CSV)
	@./busbar plot $(QUICKSTART_CSV) -o plots/$(QUICKSTART_NAME) > /dev/null
	@echo "rows: $(QUICKSTART_CSV)   pictures: plots/$(QUICKSTART_NAME)/*.svg"

# Every file by itself in plots/NAME, and all of them together in plots.
.PHONY: plots
plots: packages-build packages-plot ## draw all of results/: each CSV into plots/NAME, all together into plots/
	@$(MAKE) --no-print-directory busbar
	@set -e; files=($(sort $(wildcard results/*.csv))); \
	if [ $${#files[@]} -eq 0 ]; then echo 'plots: results/ has no CSV; measure with --csv results/NAME.csv'; exit 0; fi; \
	for file in "$${files[@]}"; do name=$${file##*/}; ./busbar plot "$$file" -o "plots/$${name%.csv}" || [ $$? -eq 2 ]; done; \
	if [ $${#files[@]} -gt 1 ]; then ./busbar plot "$${files[@]}" -o plots; fi
