# SPDX-License-Identifier: BSD-3-Clause
# The Debian 12 packages of each stage. `make` installs nothing and names what is missing; `make deps`, `make quickstart`,
# `make test` and the other targets that need more install it, unless BUSBAR_NO_INSTALL=1.

MPICH_PACKAGES := mpich libmpich-dev
MPI_PACKAGES = $(if $(filter mpich,$(MPI_NAME)),$(MPICH_PACKAGES))
BUILD_PACKAGES := g++ make pkg-config libhwloc-dev libfccp-dev \
  libfmt-dev libtomlplusplus-dev nlohmann-json3-dev libpugixml-dev libsodium-dev liblemon-dev
# With collectives without MPI: the gloo backend joins the build where its library is.
TEST_PACKAGES := libgtest-dev libgmock-dev bats jq procps gnuplot-nox libgloo-dev
CHECK_PACKAGES := iproute2 libxml2-utils python3-yaml python3-pandas patchelf zsh man-db mandoc
# A real Slurm for tests/cluster, which skip without it.
SLURM_PACKAGES := slurmctld slurmd slurm-client libpmix-dev
# Without it the tests of pages skip: a large package, which not every distribution has under this name.
BROWSER_PACKAGE := chromium
BENCH_PACKAGES := libbenchmark-dev
PLOT_PACKAGES := gnuplot-nox
LINT_PACKAGES := clang-format-14 clang-tidy-14 cppcheck shellcheck pyflakes3 git

.PHONY: deps
deps: packages-build packages-check packages-pages packages-slurm packages-bench packages-lint ## install what is missing to build, test, benchmark and lint

.PHONY: packages-build packages-test packages-check packages-pages packages-slurm packages-bench packages-plot packages-lint openmpi
packages-build: $(filter openmpi,$(MPI_NAME))
	@tools/install-packages $(BUILD_PACKAGES) $(MPI_PACKAGES)
packages-test: ; @tools/install-packages $(TEST_PACKAGES) $(MPICH_PACKAGES)
packages-check: ; @tools/install-packages $(TEST_PACKAGES) $(CHECK_PACKAGES) $(MPICH_PACKAGES)
packages-pages: ; @tools/install-packages --optional $(BROWSER_PACKAGE)
packages-slurm: ; @tools/install-packages --optional $(SLURM_PACKAGES)
# Benchmarks are run with both, and so are some hosts of the cluster.
packages-bench packages-slurm: openmpi
packages-bench: ; @tools/install-packages $(BENCH_PACKAGES)
packages-plot: ; @tools/install-packages $(PLOT_PACKAGES)
packages-lint: ; @tools/install-packages $(LINT_PACKAGES)
openmpi: ## fetch Debian's Open MPI into build/ (its packages would switch the machine's mpirun)
	@BUSBAR_NO_INSTALL=$(BUSBAR_NO_INSTALL) tools/fetch-openmpi build/openmpi
