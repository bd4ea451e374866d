# SPDX-License-Identifier: BSD-3-Clause
# Host memory over MPI, which also joins the ranks of every backend: in the build unless MPI=0.
ifneq ($(MPI_NAME),none)
BACKENDS += mpi
endif
