# SPDX-License-Identifier: BSD-3-Clause
# plots/*.gp, compiled in: busbar plot works wherever gnuplot is.
PLOT_SCRIPTS := $(sort $(wildcard plots/*.gp))
PLOT_OBJECTS := $(BUILD)/plot_scripts.o

# A file that was taken away is a change, too.
$(BUILD)/plots.list: FORCE
	@mkdir -p $(@D)
	@echo '$(PLOT_SCRIPTS)' | cmp -s - $@ || echo '$(PLOT_SCRIPTS)' > $@

$(BUILD)/plot_scripts.cpp: $(BUILD)/plots.list $(PLOT_SCRIPTS) mk/plots.mk
	@mkdir -p $(@D)
	@{ echo '#include "study/plot_gnuplot.hpp"'; echo 'namespace busbar {'; \
	   echo 'std::vector<PlotScript> plot_scripts() {'; echo '  return {'; \
	   for file in $(PLOT_SCRIPTS); do \
	     printf '    {"%s", R"SCRIPT(' "$${file##*/}"; cat "$$file"; echo ')SCRIPT"},'; \
	   done; \
	   echo '  };'; echo '}'; echo '}  // namespace busbar'; } > $@
$(PLOT_OBJECTS): $(BUILD)/plot_scripts.cpp
	@$(CXX) $(ALL_CXXFLAGS) -c -o $@ $<

.PHONY: plot-bench
plot-bench: packages-build packages-plot ## seconds of one picture
	@$(MAKE) --no-print-directory busbar
	bench/plot-time
bench: plot-bench
