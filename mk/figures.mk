# SPDX-License-Identifier: BSD-3-Clause
# Figures of papers, drawn again from the simulation.
FIGURE2 := plots/paper-figure2
# system of the figure:built-in system:ranks
FIGURE2_CASES := dgx-2:dgx-2:2 dgx-2:dgx-2:4 dgx-2:dgx-2:8 dgx-2:dgx-2:16 p3:dgx-1v:2 p3:dgx-1v:4 p3:dgx-1v:8 p3:p3dn-x2:16 \
  ac922:ac922:2 ac922:ac922:4 ac922:ac922-x4:8 ac922:ac922-x4:16 rtx:exxact-ts4:2 rtx:exxact-ts4:4 rtx:exxact-ts4:8

.PHONY: figures
figures: packages-build packages-plot ## draw figure 2 of the first paper from the simulation, with what it published as points: plots/paper-figure2.svg
	@$(MAKE) --no-print-directory allreduce_perf broadcast_perf
	@rm -rf $(FIGURE2); mkdir -p $(FIGURE2)
	@for collective in allreduce broadcast; do for case in $(FIGURE2_CASES); do IFS=: read -r key system ranks <<< $$case; \
	  ./$${collective}_perf --backend sim --system $$system --ranks $$ranks --devices prefix -b 1M -e 1G --placement out \
	    --csv $(FIGURE2)/$$collective-$$ranks-$$key.csv > /dev/null || exit; done; done
	@tools/published-rates results/reference/published.toml ren > $(FIGURE2)/published.csv
	@for kind in svg png; do gnuplot -e "folder='$(FIGURE2)'; published='$(FIGURE2)/published.csv'; out='$(FIGURE2).$$kind'" \
	  plots/paper-figure2.gp || exit; done
	@echo "figures: $(FIGURE2).svg $(FIGURE2).png   rows: $(FIGURE2)/*.csv"
