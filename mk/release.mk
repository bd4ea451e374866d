# SPDX-License-Identifier: BSD-3-Clause
# What others get: an archive of the sources, and programs for machines without the packages, with the libraries of the
# machine's MPI, or with MPI=0 the portable ones (mk/portable.mk), whose archive is the default download.
VERSION := $(file <VERSION)
MACHINE := $(if $(filter arm64,$(PORTABLE)),aarch64,x86_64)
RELEASE := $(if $(PORTABLE),busbar-$(VERSION)-linux-$(MACHINE))
BUNDLE := $(if $(PORTABLE),$(BUILD)/$(RELEASE),$(BUILD)/bundle)
BUNDLED = $(PERF:%=$(BIN)/%) $(BIN)/busbar $(if $(PORTABLE),,$(if $(filter nccl,$(BACKENDS)),$(BIN)/device_memory))
ARCH := $(if $(filter aarch64,$(shell uname -m)),arm64,amd64)

# Files in one order with one time and owner, so that the same sources make the same bytes.
SOURCE_DATE_EPOCH ?= $(shell [ -e .git ] && git log -1 --format=%ct || stat -c %Y VERSION)
ARCHIVE = LC_ALL=C tar --sort=name --mtime=@$(SOURCE_DATE_EPOCH) --owner=0 --group=0 --numeric-owner

.PHONY: bundle
ifneq ($(PORTABLE),)
bundle: $(BUNDLED)
	@STRIP=$(MACHINE)-linux-gnu-strip tools/make-bundle --root $(PORTABLE_ROOT) $(BUNDLE) $(BUNDLED)
	@mkdir -p build/dist
	@$(ARCHIVE) -C $(dir $(BUNDLE)) -c $(notdir $(BUNDLE)) | xz -9 -T1 > build/dist/$(RELEASE).tar.xz
	@cd build/dist && sha256sum $(RELEASE).tar.xz | tee $(RELEASE).tar.xz.sha256
else ifeq ($(MPI),0)
bundle:
	@tools/install-packages $(PORTABLE_PACKAGES)
	@$(MAKE) --no-print-directory PORTABLE=$(ARCH) bundle
else
bundle: packages-build ## programs to copy, in one folder; MPI=0 [ARCH=arm64]: an archive that runs on any Linux
	@tools/install-packages patchelf python3
	@$(MAKE) --no-print-directory executables $(BUNDLED)
	@tools/make-bundle $(BUNDLE) $(BUNDLED)
endif

.PHONY: third-party
third-party: executables ## list the libraries of the programs with their licences, in THIRD-PARTY
	@tools/third-party $(PERF:%=$(BIN)/%) $(BIN)/busbar > THIRD-PARTY
	@cat THIRD-PARTY

.PHONY: dist
dist: ## archive of the committed sources, with its SHA-256, in build/dist
	@[ -e .git ] || { echo "dist: this is no git checkout" >&2; exit 2; }
	@mkdir -p build/dist
	@git archive --format=tar --prefix=busbar-$(VERSION)/ HEAD | gzip -9 -n > build/dist/busbar-$(VERSION).tar.gz
	@cd build/dist && sha256sum busbar-$(VERSION).tar.gz | tee busbar-$(VERSION).tar.gz.sha256
