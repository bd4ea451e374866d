#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=mpi
# What is measured here is whether data are right: the limits of the host are not (bounds.bats).
load ../common

USUAL=(--host-limits off)

@test "every type, operation and root is right on 1 rank and on 2" {
  STATUSES="ok skipped" for_all 1 -b 64 -e 4K -f 8 -d all -o all -r all -n 2 -w 0 -c 2
  STATUSES="ok skipped" for_all 2 -b 64 -e 256K -f 64 -d all -o all -r all -n 2 -w 0 -c 2
}
@test "16 ranks are right" {
  for_all 16 -b 4K -e 4K -d double -r 5 -n 1 -w 0
}
# bats test_tags=quick,ci
@test "every type, operation and root is right on 3 ranks" {
  STATUSES="ok skipped" for_all 3 -b 64 -e 256K -f 4096 -d all -o all -r all -n 1 -w 0
}
# bats test_tags=quick
@test "sizes that ranks do not divide are right" {
  for_all 3 -b 1000 -e 5000 -i 777 -r 2 -n 2 -w 0 -c 3
}
@test "yielding, barrier, isolated and rotating modes are right" {
  for_all 2 -b 64 -e 1M -f 128 -n 5 --progress yield -z 1
  all_right 3 allreduce -b 1M -e 1M -n 3 --progress block -z 3
  COLLECTIVES="allreduce alltoall gather" for_all 2 -b 1M -e 1M -n 70 --cache rotate --progress block -z 3
  for_all 2 -b 64 -e 1M -f 128 -n 5 --cadence isolated
}
# bats test_tags=ci
@test "segments are right" {
  STATUSES="ok skipped" all_right 2 allreduce -b 70000004 -e 70000004 -n 1 -w 0 --memory-limit 240M
  [ "$(column flags "$DIR/a.csv" | grep -c segmented)" -ge 1 ]
}

# bats test_tags=ci
@test "one way between two of several ranks only the receiver gets data" {
  unit_tests=$(dirname "$(readlink allreduce_perf)")/unit_tests
  # A file for each rank: MPICH's mpiexec loses output now and then.
  # shellcheck disable=SC2016 # the shell of each rank expands it
  run -0 mpirun -np 3 bash -c '"$@" > "$0.$$"' "$DIR/one-way" "$unit_tests" --gtest_filter='MpiOneWay.*'
  [ "$(cat "$DIR"/one-way.* | grep -c 'PASSED.* 1 test')" -eq 3 ]
}

@test "a send-receive in place sends from a copy, and is checked" {
  local progress
  for progress in block yield; do
    run -0 mpirun -np 3 ./sendrecv_perf -b 1M -e 1M -n 2 -w 0 --progress "$progress"
    [ "$(table | awk '{ print NF, ($6 > 0), $9, ($10 > 0), $13 }')" = "13 1 0 1 0" ]
  done
}

@test "a planted fault is found, named and exit 1, in every collective and placement" {
  for collective in $ALL; do
    rm -f "$DIR/a.csv"
    run -1 --separate-stderr mpirun -np 2 "./${collective}_perf" --host-limits off -b 1M -e 1M -n 2 -w 0 -r 1 --inject-fault 1:12345 --csv "$DIR/a.csv"
    [ "$(grep -cE 'wrong data: rank 1, element 12345: expected [0-9]+, got [0-9]+' <<<"$output")" -eq 2 ]
    [ "$(column status "$DIR/a.csv" | grep -c wrong)" -eq 2 ]
    [ "$(rows "$DIR/a.csv" | grep -c '"rank 1, element 12345: expected')" -eq 2 ]
    [ "$(column flags "$DIR/a.csv" | grep -c fault-injected)" -eq 2 ]
    [[ $output == *"# Out of bounds values : 2 FAILED"* ]]
  done
}

@test "a fault that no result has is told as bad usage, and no row is flagged" {
  run -2 --separate-stderr mpirun -np 2 ./reduce_perf --host-limits off -b 1M -e 1M -n 2 -w 0 --inject-fault 1:0 --csv "$DIR/a.csv"
  [ "${#stderr_lines[@]}" -eq 1 ]
  [[ $stderr == *"--inject-fault 1:0: no row has such an element in this rank's result"* ]]
  [ "$(column status,wrong "$DIR/a.csv" | sort -u)" = "ok|0" ]
  [ "$(column flags "$DIR/a.csv" | grep -c fault-injected)" -eq 0 ]
  run -2 --separate-stderr mpirun -np 2 ./reduce_perf --host-limits off -b 1K -e 1K -n 2 -w 0 -c 0 --inject-fault 0:0
  [[ $stderr == *"results are not checked with -c 0"* ]]
}

@test "only rows whose result has the fault's element are wrong" {
  run -1 mpirun -np 2 ./allreduce_perf --host-limits off -b 1K -e 1M -f 1024 -n 2 -w 0 --inject-fault 1:12345 --csv "$DIR/a.csv"
  [ "$(column status "$DIR/a.csv" | xargs)" = "ok ok wrong wrong" ]
  [ "$(column flags "$DIR/a.csv" | grep -n fault-injected | cut -d: -f1 | xargs)" = "3 4" ]
}

@test "ranks yield where they are more than the processors, and not where they are told" {
  local many=$((2 * $(nproc))) once=(-b 1K -e 1K -n 3 --host-limits off)
  run mpirun -np "$many" ./allreduce_perf "${once[@]}" --csv "$DIR/a.csv"
  [ "$(column progress "$DIR/a.csv" | sort -u)" = yield ]
  [ "$(column flags "$DIR/a.csv" | grep -c oversubscribed)" -eq 2 ]
  run mpirun -np "$many" ./allreduce_perf "${once[@]}" --progress block --csv "$DIR/b.csv"
  [ "$(column progress "$DIR/b.csv" | sort -u)" = block ]
  run mpirun -np 2 ./allreduce_perf "${once[@]}" --csv "$DIR/c.csv"
  [ "$(nproc)" -lt 2 ] || [ "$(column progress "$DIR/c.csv" | sort -u)" = block ]
}

@test "ranks yield where a launcher or an administrator left them one processor" {
  [ "$BUSBAR_TEST_MPI" = mpich ] || set -- --bind-to none  # Open MPI's binds beyond what it was given
  run -0 taskset -c 0 mpirun "$@" -np 2 ./allreduce_perf -b 1K -e 1K -n 3 -w 0 --csv "$DIR/a.csv"
  [ "$(column progress,flags "$DIR/a.csv" | grep -c '^yield|.*oversubscribed')" -eq 2 ]
  [[ $output == *"oversubscribed, 2 ranks on 1 processor of host"* ]]
}

@test "ranks that cannot share memory are on different nodes" {
  needs_mpich "MPIR_CVAR_ODD_EVEN_CLIQUES"
  run env MPIR_CVAR_ODD_EVEN_CLIQUES=1 mpirun -np 4 ./allgather_perf -b 1K -e 1K -n 1 -w 0 --csv "$DIR/a.csv"
  [ "$(column nodes,wrong "$DIR/a.csv" | sort -u)" = "2|0" ]
  [ "$(sed -n 's/^# rank_[0-9]*: host [^ ]* node \([0-9]\).*/\1/p' "$DIR/a.csv" | xargs)" = "0 1 0 1" ]
}

@test "four fake nodes are four nodes in the rows" {
  needs_mpich "-launcher fork"
  run -0 mpirun -hosts a,b,c,d -launcher fork -ppn 4 -np 16 ./allreduce_perf -b 1M -e 1M -n 2 -w 0 --csv "$DIR/a.csv"
  [ "$(column nodes "$DIR/a.csv" | sort -u)" = 4 ]
  [ "$(column wrong "$DIR/a.csv" | sort -u)" = 0 ]
  [ "$(grep -c '^# rank_[0-9]*: .* node 3 ' "$DIR/a.csv")" -eq 4 ]
  [[ $output == *"for 16 ranks on the fullest host"* ]]  # one kernel: memory is planned for all
}

@test "the memory plan drops out of place, then segments, then the size, and says so" {
  run -0 mpirun -np 2 ./allreduce_perf -b 16M -e 256M -f 4 -n 1 -w 0 --memory-limit 320M --csv "$DIR/a.csv"
  [ "$(column status "$DIR/a.csv" | xargs)" = "ok ok skipped ok skipped skipped" ]
  [[ $output == *"# memory plan: 64 MiB: in place only (out of place needs"* ]]
  [[ $output == *"# size 268435456 type float redop sum skipped: needs "*" may be used"* ]]
  [ "$(table | tail -n 1 | awk '{ print NF, $6, ($10 > 0) }')" = "13 N/A 1" ]
}
