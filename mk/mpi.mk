# SPDX-License-Identifier: BSD-3-Clause
# Which MPI is built with: that of the machine's mpirun. MPI=openmpi or MPI=mpich names another one,
# MPICXX=WRAPPER a compiler wrapper. What includes mpi.h is compiled, and programs are linked, for each MPI
# in a folder of its own: a second MPI costs a few objects. MPI=0 builds without any.
MPI :=
MPICXX :=
MPI_FOUND := $(if $(filter 0,$(MPI)),none,$(shell tools/find-mpi '$(MPI)' '$(MPICXX)' build/openmpi))
MPI_NAME := $(word 1,$(MPI_FOUND))
MPI_WRAPPER := $(word 2,$(MPI_FOUND))
MPI_LAUNCHER := $(word 3,$(MPI_FOUND))
# The programs of the machine's own MPI, and of a wrapper that was named, lie in $(BUILD)/bin.
MPI_BUILD := $(BUILD)/mpi-$(MPI_NAME)
BIN := $(if $(filter-out $(word 4,$(MPI_FOUND)),$(MPI)),$(MPI_BUILD)/bin,$(BUILD)/bin)
# How ranks are started here; Open MPI refuses more ranks than cores, and root, and adds a page to every error.
MPI_RUN := $(MPI_LAUNCHER) $(if $(filter openmpi,$(MPI_NAME)),--quiet --oversubscribe \
  $(if $(filter 0,$(shell id -u)),--allow-run-as-root))

# Where a process that no launcher starts finds what Open MPI installs in /usr.
UNPACKED_MPI := $(if $(wildcard build/openmpi/bin),OPAL_BINDIR=$(CURDIR)/build/openmpi/usr/bin \
  OPAL_SYSCONFDIR=$(CURDIR)/build/openmpi/etc/openmpi)

# Flags of the wrapper's own choosing, without MPI's withdrawn C++ bindings. Folders where the loader does
# not look by itself become run paths.
MPI_SHOW := $(if $(MPI_WRAPPER),$(shell $(MPI_WRAPPER) -show 2>/dev/null))
MPI_CXXFLAGS := $(patsubst -I%,-isystem %,$(filter-out -I/usr/include,$(filter -I%,$(MPI_SHOW)))) \
  -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX
LOADER_FOLDERS := /lib /lib64 /usr/lib /usr/lib64 $(wildcard /lib/*-linux-gnu /usr/lib/*-linux-gnu)
MPI_FOLDERS := $(patsubst -L%,%,$(filter -L%,$(MPI_SHOW)))
MPI_LDLIBS := $(filter -L% -l%,$(filter-out -lmpichcxx -lmpi_cxx -lmpicxx,$(MPI_SHOW))) \
  $(addprefix -Wl$(comma)-rpath$(comma),$(filter-out $(LOADER_FOLDERS),$(MPI_FOLDERS)))

# Who includes mpi.h, and $(call objects,SOURCES...): these for this MPI, all others once for all.
USES_MPI := src/bootstrap/mpi/% src/backends/mpi/% tests/unit/bootstrap/mpi/% tests/unit/backends/mpi/% \
  tests/gpu/fake/selftest/% bench/mpi_%
objects = $(patsubst %.cpp,$(MPI_BUILD)/%.o,$(filter $(USES_MPI),$(1))) \
  $(patsubst %.cpp,$(BUILD)/%.o,$(filter-out $(USES_MPI),$(1)))

# Another library of the same name is another build.
$(MPI_BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(MPI_CXXFLAGS) $(MPI_LDLIBS)' | cmp -s - $@ || echo '$(MPI_CXXFLAGS) $(MPI_LDLIBS)' > $@

$(MPI_BUILD)/%.o: %.cpp $(MPI_BUILD)/flags
	@$(MPI_COMPILE)
$(MPI_BUILD)/joined/%.o: $(BUILD)/joined/%.cpp $(MPI_BUILD)/flags
	@$(MPI_COMPILE)
MPI_COMPILE = mkdir -p $(@D) && echo "  CXX   $* ($(MPI_NAME))" && $(CXX) $(ALL_CXXFLAGS) $(MPI_CXXFLAGS) -c -o $@ $<
