#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=mpi
# Values of a setting that take turns within a launch (--vary).
load ../common

vary() {  # vary RANKS NAME=a,b OPTIONS...
  rm -f "$DIR/a.csv"
  timeout 300 mpirun -np "$1" ./allreduce_perf -b 1K -e 1K --time-budget 0.1 --host-limits off --csv "$DIR/a.csv" \
    --vary "$2" "${@:3}" > "$DIR/out" 2>&1 || { cat "$DIR/out"; return 1; }
}

@test "a planted best value is found, and rows are right with each" {
  vary 2 inject-delay=0:20000,0:0.1
  [ "$(column variant,in_place,wrong,visits "$DIR/a.csv")" = "\
inject-delay=0:20000|0|0|10
inject-delay=0:20000|1|0|10
inject-delay=0:0.1|0|0|10
inject-delay=0:0.1|1|0|10" ]
  grep -q '^# 0:0.1: faster than 0:20000, ' "$DIR/out"
  grep -q '^# 0:0.1 in place: faster than 0:20000, ' "$DIR/out"
  grep -q '^# inject-delay=0:0.1$' "$DIR/out"
}

# bats test_tags=quick
@test "an option of the program varies, and its column with it" {
  vary 2 cadence=streaming,isolated --placement out --visits 6
  [ "$(column variant,cadence,visits "$DIR/a.csv")" = "\
cadence=streaming|streaming|6
cadence=isolated|isolated|6" ]
  grep -qE '^# isolated: (faster than|slower than|same as|cannot tell from) streaming, ' "$DIR/out"
}

@test "an algorithm of MPICH is set for each row, by its name" {
  needs_mpich "Open MPI reads its parameters when it starts"
  # With names of the library's own description.
  vary 4 MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=default,recursive_doubling,reduce_scatter_allgather \
    --progress block --placement out --visits 4 --bind none
  [ "$(column variant,wrong "$DIR/a.csv" | cut -d= -f2)" = $'default|0\nrecursive_doubling|0\nreduce_scatter_allgather|0' ]
  # A name is the value that the library itself reads from the environment under it.
  local name
  COMMAND=(mpirun -np 1 ./allreduce_perf)
  for name in nb smp recursive_doubling reduce_scatter_allgather; do
    MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=$name \
      refused "default and $name are the same" --vary "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=default,$name"
  done
}

@test "what cannot vary is one line before anything is measured" {
  COMMAND=(./allreduce_perf --csv "$DIR/a.csv")
  refused "invalid value 'slow'" --vary cadence=streaming,slow
  refused "cannot vary it within a launch" --vary colour=red,blue
  refused "has no effect on the mpi backend" --vary cudagraph=default,1
  [ ! -s "$DIR/a.csv" ]
  [ "$BUSBAR_TEST_MPI" != mpich ] || {
    refused "default and auto are the same" --vary MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=default,auto
    refused "it has default, auto, nb, smp" --vary MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=default,fast
    refused "'many' is not a whole number" --vary MPIR_CVAR_BCAST_MIN_PROCS=8,many
  }
  COMMAND=(./allreduce_perf --backend sim --system dgx-2)
  refused "--vary" --vary cadence=streaming,isolated
}
