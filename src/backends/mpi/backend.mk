# SPDX-License-Identifier: BSD-3-Clause
# Host memory over MPI. MPI is also the bootstrap of every backend, so it is always in the build.
BACKENDS += mpi
