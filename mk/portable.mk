# SPDX-License-Identifier: BSD-3-Clause
# Programs that need nothing but a C library of glibc 2.31 or later: without MPI, all else linked statically.
# PORTABLE=amd64 or PORTABLE=arm64 builds them in a folder of its own, on a machine of either kind.
PORTABLE :=
PORTABLE_PACKAGES = g++ make cmake curl dpkg-dev patchelf python3 xz-utils $(if $(filter arm64,$(ARCH)),g++-aarch64-linux-gnu qemu-user-static)
ifneq ($(PORTABLE),)
override MPI := 0
BUILD := build/portable-$(PORTABLE)
PORTABLE_ROOT := $(BUILD)/root
CXX := $(PORTABLE_ROOT)/cxx
GLOO_HOME := $(PORTABLE_ROOT)/usr
# A program of the other kind runs under emulation.
EMULATOR := $(if $(filter arm64,$(PORTABLE)),$(if $(filter-out aarch64,$(shell uname -m)),qemu-aarch64-static -L $(PORTABLE_ROOT)))
BUSBAR_RUN = $(EMULATOR) $(BIN)/busbar
# Before a backend looks for its headers there; anew where the script has changed.
PORTABLE_STALE := $(shell find tools/make-portable-root -newer $(CXX) 2>&1)
PORTABLE_FAILED := $(if $(PORTABLE_STALE),$(shell tools/make-portable-root $(PORTABLE) $(PORTABLE_ROOT) >&2 || echo yes))
$(if $(PORTABLE_FAILED),$(error $(PORTABLE_ROOT) could not be made))
endif
