#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Rules that a sweep writes are what the MPI library reads.
load ../common

@test "MPICH reads the rules that a sweep of its algorithms wrote, and they are held out" {
  needs_mpich "its rules"
  # Recursive doubling sends all of 1 MiB where the default sends half, and more at once: it is slower by far.
  local algorithm=MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM
  run --separate-stderr ./busbar sweep --vary $algorithm=default,recursive_doubling,reduce_scatter_allgather,nb --per-launch --launches 8 \
    --write "$DIR/rules.json" --held-out 2 --json "$DIR/a.json" -- mpirun -np 2 ./allreduce_perf -b 1K -e 1M -f 1024 -n 300 --placement in --host-limits off
  echo "$output"
  [ "$status" -le 1 ]  # by time alone
  [ "$(jq '.failures | length' "$DIR/a.json")" -eq 0 ]
  [ "$(jq -c '[.rows[] | select(.variant | endswith("recursive_doubling")) | select(.size_bytes == 1048576) | .verdict]' "$DIR/a.json")" = '["slower"]' ]
  [ -e "$DIR/rules.json" ] || skip "no winner on this machine"
  [ "$(jq '.held_out | .turns, (.failures | length), (.rows | length)' "$DIR/a.json" | xargs)" = "2 0 2" ]
  # MPICH ends where it does not know a word of the file: it does read it.
  sed -i 's/comm_size<=1/unknown<=1/' "$DIR/rules.json"
  run env MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE="$DIR/rules.json" mpirun -np 2 ./allreduce_perf -b 1K -e 1K -n 1
  [ "$status" -ne 0 ]
}
