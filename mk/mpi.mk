# SPDX-License-Identifier: BSD-3-Clause
# Where MPI is: flags of the wrapper's own choosing. Expanded late, after packages were installed.
MPICXX := mpicxx
MPI_CXXFLAGS = $(patsubst -I%,-isystem %,$(filter -I%,$(shell $(MPICXX) -show 2>/dev/null)))
MPI_LDLIBS = $(filter -L% -l%,$(filter-out -lmpichcxx -lmpi_cxx,$(shell $(MPICXX) -show 2>/dev/null)))
