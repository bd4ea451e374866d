# SPDX-License-Identifier: BSD-3-Clause
# Files that are compiled in, so that a program needs none beside it; src/base/embedded_text.hpp finds them by
# their paths. Measuring programs have their help, version and systems; all others have all.
texts_measure := $(sort VERSION docs/options.md $(wildcard topo/systems/*.toml))
texts_all := $(sort $(texts_measure) $(wildcard docs/*-options.md src/format/document.css src/apps/completion.bash src/study/workload/models.toml \
  results/expect/*.toml results/expect/shared/*.toml \
  results/reference/published.toml bench/field.toml))
MEASURE_TEXTS := $(BUILD)/texts/measure.o
ALL_TEXTS := $(BUILD)/texts/all.o

# A file that was taken away is a change, too.
$(MEASURE_TEXTS:.o=.list) $(ALL_TEXTS:.o=.list): $(BUILD)/texts/%.list: FORCE
	@mkdir -p $(@D)
	@echo '$(texts_$*)' | cmp -s - $@ || echo '$(texts_$*)' > $@

.SECONDEXPANSION:
$(MEASURE_TEXTS:.o=.cpp) $(ALL_TEXTS:.o=.cpp): $(BUILD)/texts/%.cpp: $(BUILD)/texts/%.list tools/embed-texts $$(texts_$$*)
	@tools/embed-texts $(texts_$*) > $@
$(MEASURE_TEXTS) $(ALL_TEXTS): %.o: %.cpp
	@$(CXX) $(ALL_CXXFLAGS) -c -o $@ $<
