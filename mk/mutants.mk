# SPDX-License-Identifier: BSD-3-Clause
# `make mutants`: would the tests notice a small slip? tools/mutants explains; docs/dev/mutants.md has the score.
# SAMPLE=N of the order that SEED=N gives; MUTANTS=FILE[:LINE] ... or CHANGED=REVISION: all of those lines.
SAMPLE := $(if $(MUTANTS)$(CHANGED),0,300)
SEED := 1
MUTANTS :=
CHANGED :=
BATS :=
MATRIX :=

.PHONY: mutants
mutants: packages-build packages-check ## change one term at a time and see which no test notices: SAMPLE=300 SEED=1, MUTANTS=FILE[:LINE] or CHANGED=REVISION; BATS=1; MATRIX=1
	@tools/install-packages python3
	@tools/install-packages --optional lld
	@$(MAKE) --no-print-directory -j$(shell nproc) $(if $(BATS),executables fake-gpu) $(BIN)/unit_tests
	@$(UNPACKED_MPI) MPI_FOUND='$(MPI_FOUND)' ABSENT_BACKENDS='$(ABSENT_BACKENDS)' CXX='$(CXX)' \
	  MAKEFLAGS= MAKELEVEL= MFLAGS= tools/mutants --sample $(SAMPLE) --seed $(SEED) --jobs $(shell nproc) \
	  $(if $(BATS),--bats) $(if $(MATRIX),--matrix) $(CHANGED:%=--changed %) $(MUTANTS)
