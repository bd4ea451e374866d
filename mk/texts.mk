# SPDX-License-Identifier: BSD-3-Clause
# Files that every program carries, so that it needs none beside it: help, version, systems, models,
# expectations. src/base/embedded_text.hpp finds them by their paths.
TEXTS := $(sort VERSION $(wildcard docs/options.md docs/*-options.md topo/systems/*.toml src/study/models.toml \
  results/expect/*.toml results/expect/shared/*.toml))
TEXT_OBJECTS := $(BUILD)/embedded_texts.o

# A file that was taken away is a change, too.
$(BUILD)/texts.list: FORCE
	@mkdir -p $(@D)
	@echo '$(TEXTS)' | cmp -s - $@ || echo '$(TEXTS)' > $@

$(BUILD)/embedded_texts.cpp: $(BUILD)/texts.list $(TEXTS) tools/embed-texts
	@mkdir -p $(@D)
	@tools/embed-texts $(TEXTS) > $@
$(TEXT_OBJECTS): $(BUILD)/embedded_texts.cpp
	@$(CXX) $(ALL_CXXFLAGS) -c -o $@ $<
