# SPDX-License-Identifier: BSD-3-Clause
# How long busbar plot draws.
.PHONY: plot-bench
plot-bench: packages-build packages-plot ## seconds of one picture
	@$(MAKE) --no-print-directory busbar
	bench/plot-time ./busbar $(if $(BRIEF),1,11)
bench: plot-bench
