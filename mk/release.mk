# SPDX-License-Identifier: BSD-3-Clause
# What others get: an archive of the sources, and programs for machines without the packages, with the libraries of the
# machine's MPI, or with MPI=0 the portable ones (mk/portable.mk), whose archive is the default download.
VERSION := $(file <VERSION)
DIST := build/dist
MACHINE := $(if $(filter arm64,$(PORTABLE)),aarch64,x86_64)
RELEASE := $(if $(PORTABLE),busbar-$(VERSION)-linux-$(MACHINE))
BUNDLE := $(if $(PORTABLE),$(BUILD)/$(RELEASE),$(BUILD)/bundle)
BUNDLED = $(PERF:%=$(BIN)/%) $(BIN)/busbar $(if $(PORTABLE),,$(if $(filter nccl,$(BACKENDS)),$(BIN)/device_memory))
ARCH := $(if $(filter aarch64,$(shell uname -m)),arm64,amd64)

# Files in one order with one time and owner, so that the same sources make the same bytes.
SOURCE_DATE_EPOCH ?= $(shell [ -e .git ] && git log -1 --format=%ct || stat -c %Y VERSION)
ARCHIVE = LC_ALL=C tar --sort=name --mtime=@$(SOURCE_DATE_EPOCH) --owner=0 --group=0 --numeric-owner
BUNDLE_TEXTS = mkdir -p $(BUNDLE)/man/man1 $(BUNDLE)/completion && \
  cp $(MAN_PAGES) $(BUNDLE)/man/man1 && cp $(COMPLETIONS) $(BUNDLE)/completion && cp -r docs/schemas $(BUNDLE)

.PHONY: bundle
ifneq ($(PORTABLE),)
bundle: $(BUNDLED) $(MAN_PAGES) $(COMPLETIONS)
	@STRIP=$(MACHINE)-linux-gnu-strip tools/make-bundle --root $(PORTABLE_ROOT) $(BUNDLE) $(BUNDLED)
	@$(BUNDLE_TEXTS)
	@mkdir -p $(DIST)
	@$(ARCHIVE) -C $(dir $(BUNDLE)) -c $(notdir $(BUNDLE)) | xz -9 -T1 > $(DIST)/$(RELEASE).tar.xz
	@cd $(DIST) && sha256sum $(RELEASE).tar.xz | tee $(RELEASE).tar.xz.sha256
else ifeq ($(MPI),0)
bundle:
	@tools/install-packages $(PORTABLE_PACKAGES)
	@$(MAKE) --no-print-directory PORTABLE=$(ARCH) bundle
else
bundle: packages-build ## programs to copy, in one folder; MPI=0 [ARCH=arm64]: an archive that runs on any Linux
	@tools/install-packages patchelf python3
	@$(MAKE) --no-print-directory executables $(BUNDLED) $(MAN_PAGES) $(COMPLETIONS)
	@tools/make-bundle $(BUNDLE) $(BUNDLED)
	@$(BUNDLE_TEXTS)
endif

.PHONY: third-party
third-party: executables ## list the libraries of the programs with their licences: THIRD-PARTY
	@$(MAKE) --no-print-directory MPI=$(OTHER_MPI) MPICXX= $(BUILD)/mpi-$(OTHER_MPI)/bin/allreduce_perf
	@{ echo "Other projects' code that Busbar's programs are linked to or open, on Debian 12, with either MPI; made by make third-party."; \
	  echo "A bundle has a list of its own, with the licences' texts."; echo; \
	  tools/third-party $(BIN)/busbar $(BIN)/allreduce_perf $(BUILD)/mpi-$(OTHER_MPI)/bin/allreduce_perf; } > THIRD-PARTY
	@cat THIRD-PARTY

.PHONY: dist
dist: ## archive of the committed sources, with its SHA-256: build/dist
	@[ -e .git ] || { echo "dist: this is no git checkout" >&2; exit 2; }
	@mkdir -p $(DIST)
	@git archive --format=tar --prefix=busbar-$(VERSION)/ HEAD | gzip -9 -n > $(DIST)/busbar-$(VERSION).tar.gz
	@cd $(DIST) && sha256sum busbar-$(VERSION).tar.gz | tee busbar-$(VERSION).tar.gz.sha256

PACKAGE_TEST_PACKAGES := mmdebstrap lintian autopkgtest bats iproute2 file qemu-user-static buildah git
.PHONY: test-packages
test-packages: ## build bundles, packages and images, and try them in clean roots (half an hour; needs root)
	@tools/install-packages $(PACKAGE_TEST_PACKAGES) $(PORTABLE_PACKAGES) g++-aarch64-linux-gnu
	bats tests/project/packages
