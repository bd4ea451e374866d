# SPDX-License-Identifier: BSD-3-Clause
# Programs with the libraries that they are linked to, for machines without the packages.
BUNDLE := $(BUILD)/bundle
.PHONY: bundle
bundle: packages-build ## programs and the libraries they are linked to, in one folder to copy: BUNDLE=build/bundle
	@tools/install-packages patchelf
	@$(MAKE) --no-print-directory executables $(if $(filter nccl,$(BACKENDS)),$(BIN)/device_memory)
	@tools/make-bundle $(BUNDLE) $(PERF:%=$(BIN)/%) $(BIN)/busbar $(if $(filter nccl,$(BACKENDS)),$(BIN)/device_memory)
