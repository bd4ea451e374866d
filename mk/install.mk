# SPDX-License-Identifier: BSD-3-Clause
# `make install` and `make uninstall` work by the same lists: the files and the links (NAME:FILE) of each folder. What is
# made for them, manual pages and the completion of shells, lies in $(BUILD).
PREFIX := /usr/local
DESTDIR :=
# Runs busbar on this machine, for its completion script: another busbar, or an emulator before it, where this one cannot.
BUSBAR_RUN ?= $(BIN)/busbar

# The page of each help document; all measuring programs are one page.
COMMAND_LIST := docs/busbar-options.md
MAN_COMMANDS := $(filter-out busbar,$(patsubst docs/%-options.md,%,$(wildcard docs/*-options.md)))
MAN_PAGES := $(addprefix $(BUILD)/man/,busbar.1 allreduce_perf.1 $(MAN_COMMANDS:%=busbar-%.1))
COMPLETIONS := $(BUILD)/completion/busbar $(BUILD)/completion/_busbar

BASH_FOLDER := share/bash-completion/completions
INSTALL_FOLDERS := bin share/doc/busbar share/busbar/schemas share/man/man1 $(BASH_FOLDER) share/zsh/site-functions
files_in = $(files_in_$(notdir $1))
files_in_bin := $(PERF:%=$(BIN)/%) $(BIN)/busbar
files_in_busbar := README.md CHANGELOG.md LICENSE THIRD-PARTY $(wildcard docs/*.md)
files_in_schemas := $(wildcard docs/schemas/*.json)
files_in_man1 := $(MAN_PAGES)
files_in_completions := $(BUILD)/completion/busbar
files_in_site-functions := $(BUILD)/completion/_busbar
links_in = $(links_in_$(notdir $1))
links_in_bin := all_reduce_perf:allreduce_perf reduce_scatter_perf:reducescatter_perf all_gather_perf:allgather_perf
links_in_man1 := $(patsubst %,%.1:allreduce_perf.1,$(filter-out allreduce_perf,$(PERF)) $(LINKS))
links_in_completions := $(patsubst %,%:busbar,$(PERF) $(LINKS))

installed = '$(DESTDIR)$(PREFIX)/$1'
name_of = $(firstword $(subst :, ,$1))
define install_folder
	install -d $(call installed,$1)
	install -m $(if $(filter bin,$1),755,644) $(call files_in,$1) $(call installed,$1)
	@$(foreach link,$(links_in),ln -sf $(lastword $(subst :, ,$(link))) $(call installed,$1/$(call name_of,$(link)));)

endef
define uninstall_folder
	rm -f $(foreach file,$(notdir $(call files_in,$1)) $(links_in),$(call installed,$1/$(call name_of,$(file))))

endef

.PHONY: install uninstall man
install: executables $(MAN_PAGES) $(COMPLETIONS) ## install executables, documents, man pages, completion: PREFIX=/usr/local, DESTDIR=
	$(foreach folder,$(INSTALL_FOLDERS),$(call install_folder,$(folder)))
uninstall: ## remove what `make install` with the same PREFIX and DESTDIR wrote
	$(foreach folder,$(INSTALL_FOLDERS),$(call uninstall_folder,$(folder)))
	@$(foreach folder,share/doc/busbar share/busbar/schemas share/busbar,\
	  [ ! -d $(call installed,$(folder)) ] || rmdir --ignore-fail-on-non-empty $(call installed,$(folder));)

man: $(MAN_PAGES) ## write the manual pages: build/man/*.1
$(BUILD)/man/allreduce_perf.1: docs/options.md
$(BUILD)/man/allreduce_perf.1: private NAMES := $(PERF) $(LINKS)
$(MAN_COMMANDS:%=$(BUILD)/man/busbar-%.1): $(BUILD)/man/busbar-%.1: docs/%-options.md
$(MAN_PAGES): $(COMMAND_LIST) tools/make-man VERSION
	@mkdir -p $(@D)
	@tools/make-man $(lastword $(COMMAND_LIST) $(filter-out $(COMMAND_LIST),$(filter %options.md,$^))) $(or $(NAMES),$(basename $(@F))) > $@
$(COMPLETIONS): $(BIN)/busbar
	@mkdir -p $(@D)
	@$(BUSBAR_RUN) completion $(if $(findstring _,$(@F)),zsh,bash) > $@
