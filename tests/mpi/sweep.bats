#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Sweeps of settings of the MPI library.
load ../common

@test "a setting of blocking collectives is not measured with ranks that yield" {
  needs_mpich "its variable"
  local command=(./busbar sweep --per-launch --launches 2 --vary "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=default,nb" -- mpirun -np 2 ./allreduce_perf "${QUICK[@]}")
  run --separate-stderr "${command[@]}" --progress yield
  [[ $stderr == *"--progress block"* ]]
  run --separate-stderr "${command[@]}" --progress block
  [[ $stderr != *"--progress block"* ]]
}
