# SPDX-License-Identifier: BSD-3-Clause
# topo/systems/*.toml, compiled in: every program knows these machines without a file beside it.
SYSTEM_FILES := $(sort $(wildcard topo/systems/*.toml))
SYSTEM_OBJECTS := $(BUILD)/system_files.o
# The library's own build of toml++: its header alone would end the program on "[[[" by an assertion.
TOML_CXXFLAGS := -DTOML_HEADER_ONLY=0 -DTOML_SHARED_LIB=1
TOML_LDLIBS := -ltomlplusplus

# A file that was taken away is a change, too.
$(BUILD)/systems.list: FORCE
	@mkdir -p $(@D)
	@echo '$(SYSTEM_FILES)' | cmp -s - $@ || echo '$(SYSTEM_FILES)' > $@

$(BUILD)/system_files.cpp: $(BUILD)/systems.list $(SYSTEM_FILES) mk/systems.mk
	@mkdir -p $(@D)
	@{ echo '#include "topo/systems/system_texts.hpp"'; echo 'namespace busbar::topo {'; \
	   echo 'std::vector<SystemText> system_texts() {'; echo '  return {'; \
	   for file in $(SYSTEM_FILES); do \
	     printf '    {"%s", R"SYSTEM(' "$$file"; cat "$$file"; echo ')SYSTEM"},'; \
	   done; \
	   echo '  };'; echo '}'; echo '}  // namespace busbar::topo'; } > $@
$(SYSTEM_OBJECTS): $(BUILD)/system_files.cpp
	@$(CXX) $(ALL_CXXFLAGS) -c -o $@ $<
