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
$(BUILD)/system_files.o: $(BUILD)/system_files.cpp
	@$(CXX) $(ALL_CXXFLAGS) -c -o $@ $<

# src/study/models.toml likewise: what `busbar workload` knows without a file beside it.
SYSTEM_OBJECTS += $(BUILD)/workload_models.o
$(BUILD)/workload_models.cpp: src/study/models.toml mk/systems.mk
	@mkdir -p $(@D)
	@{ echo '#include "study/workload_model.hpp"'; echo 'namespace busbar {'; \
	   printf 'std::string_view workload_models_text() { return R"MODELS('; cat $<; echo ')MODELS"; }'; \
	   echo '}  // namespace busbar'; } > $@
$(BUILD)/workload_models.o: $(BUILD)/workload_models.cpp
	@$(CXX) $(ALL_CXXFLAGS) -c -o $@ $<
