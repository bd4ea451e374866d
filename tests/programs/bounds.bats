#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=mpi
load ../common

MEASURED=(-b 1K -e 4K -n 3 -w 1)  # with the limits of the host

@test "a row tells its set, what that can carry, and how much of it the row came to" {
  run -0 mpirun -np 2 ./sendrecv_perf -b 16M -e 16M -n 3 -w 1 --csv "$DIR/a.csv" -J "$DIR/a.json"
  jq -e '.rows[0] | .bound_kind == "host-memory" and (.device_set | test("^(cores|numa|processors) [0-9]"))
    and .bound_GBps > 0 and .efficiency > 0 and .efficiency < 1.5
    and (.efficiency * .bound_GBps / .busbw_GBps - 1 | fabs) < 0.001' "$DIR/a.json"
  jq -e '.rows[1] | .in_place == 1 and .bound_GBps > 0 and .efficiency > 0' "$DIR/a.json"
  [ "$(column device_set "$DIR/a.csv" | sort -u | wc -l)" -eq 1 ]
}

@test "the header tells the host, its limits and the bound, and the files' heads too" {
  run mpirun -np 2 ./allreduce_perf "${MEASURED[@]}" --csv "$DIR/a.csv"
  line=$(grep '^# Host: ' <<<"$output")
  [[ $line =~ ^"# Host: 2 ranks on "[a-z]+" "[0-9,-]+": copy "[0-9.]+" GB/s and reduce "[0-9.]+" GB/s per rank (memory)" ]]
  [[ $line == *"; all-reduce at most "*" GB/s (memory)" ]]
  [[ $line != *bandwidth* ]]
  grep -q '^# bound_kind: host-memory$' "$DIR/a.csv"
  grep -q '^# bound_limit: copy and reduce, GB/s of each of 2 ranks at once' "$DIR/a.csv"
  [ "$(sed -n 's/^# device_set: //p' "$DIR/a.csv")" = "$(column device_set "$DIR/a.csv" | sort -u)" ]
}

@test "more than twice the ranks have a smaller bound each, on the same processors" {
  [ "$(nproc)" -le 4 ] || skip "this machine has more than 4 processors"
  bound() { mpirun -np "$1" ./sendrecv_perf -b 64M -e 64M -n 1 -w 0 -c 0 -J "$DIR/$1.json" > /dev/null; jq '.rows[0].bound_GBps' "$DIR/$1.json"; }
  awk -v two="$(bound 2)" -v many="$(bound $((4 * $(nproc))))" 'BEGIN { exit !(many > 0 && many < two) }'
}

no_bound() {  # no_bound WHY COMMAND... : the rows tell their set and no bound, and the header says why
  rm -f "$DIR/a.csv"
  run -0 "${@:2}" "${MEASURED[@]}" --csv "$DIR/a.csv"
  [ "$(column bound_GBps,bound_kind,efficiency "$DIR/a.csv" | sort -u)" = "||" ]
  [ "$(column device_set "$DIR/a.csv" | grep -c '^$')" -eq 0 ]
  [ -z "$1" ] || grep -q "^# Host: .*: no bound: $1" <<<"$output"
}

@test "there is no bound where none was measured or none holds" {
  no_bound "not measured (--host-limits off)" mpirun -np 2 ./allreduce_perf --host-limits off
  [ "$BUSBAR_TEST_MPI" != mpich ] ||
    no_bound "2 nodes, and what joins them is not known" env MPIR_CVAR_ODD_EVEN_CLIQUES=1 mpirun -np 4 ./allgather_perf
  no_bound "rows are not of all ranks" env NCCL_TESTS_SPLIT="MOD 2" mpirun -np 4 ./allreduce_perf
  no_bound "" ./allreduce_perf
  [[ $output != *"# Host:"* ]]
}

@test "a pair's row tells the cores of its two ranks" {
  run -0 mpirun -np 3 ./sendrecv_perf --pairs all --bind core "${MEASURED[@]}" --csv "$DIR/a.csv"
  [ "$(column device_set "$DIR/a.csv" | grep -vc '^cores ')" -eq 0 ]
  [ "$(nproc)" -lt 2 ] || [ "$(column device_set "$DIR/a.csv" | sort -u | wc -l)" -gt 1 ]
}
