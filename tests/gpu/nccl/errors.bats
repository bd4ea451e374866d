#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Whatever breaks below NCCL: every rank ends within the timeout, in NCCL's words where it has some, and rows are kept.
load common

setup() {
  common_nccl_setup
  # Ranks are joined by sockets, with NCCL's proxies between.
  export NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1
  placed 3
}
# start: three ranks that go on until something breaks; when there is a row.
start() {
  # The launcher knows the shells only: that a rank has died is NCCL's to notice.
  # shellcheck disable=SC2016 # each rank's shell expands it
  mpirun -np 3 bash -c '"$@" || sleep 60' x ./allreduce_perf --backend nccl "${place[@]}" -b 4M -e 4M -w 1 -n 20 \
    -N 1000000 -c 0 -T 6 --csv "$DIR/a.csv" > "$DIR/out" 2> "$DIR/err" 3>&- &
  JOB=$!
  wait_for_rows 2
  RANK1=$(process_of 1)
  BEGIN=$SECONDS
}
# ends WORDS: within the timeout and what it takes to give up, nothing runs, and stderr has the words.
ends() {
  STATUS=0
  wait "$JOB" || STATUS=$?
  cat "$DIR/err"
  [ $((SECONDS - BEGIN)) -lt 30 ]
  nothing_runs "$DIR/a.csv"
  [ "$STATUS" -ne 0 ]
  grep -q -- "$1" "$DIR/err"
  [ "$(column status "$DIR/a.csv" | sort | uniq -c | sort -n | tail -n 1 | awk '{ print $2 }')" = ok ]
}

# bats test_tags=ci
@test "a rank that is killed is told as a lost connection, or by the timeout where ranks waited for it between operations" {
  start
  kill -KILL "$RANK1"
  ends 'NCCL: remote process exited or there was a network error\|timeout: no progress for 6 s'
}
@test "a connection that breaks is told in NCCL's words" {
  start
  "$BATS_TEST_DIRNAME/shut_sockets" "$RANK1" > "$DIR/shut"
  [ "$(cat "$DIR/shut")" -ge 1 ]
  ends 'rank [0-9]: NCCL: remote process exited or there was a network error: .*Connection closed'
}
@test "a rank that stops makes the others wait, until the timeout ends all and names ncclras: kernels that wait are aborted" {
  start
  kill -STOP "$RANK1"
  ends 'timeout: no progress for 6 s (-T): rank 1 on .* does not answer; .*: all-reduce 4 MiB.*: ncclras -v'
}
@test "a call of CUDA's that fails inside NCCL is told in NCCL's words" {
  local fault
  for fault in fail:cudaMemcpyAsync:3@1 oom:cudaHostAlloc:5@1 fail:cuLaunchKernelEx:1@1; do
    FAKE_GPU_FAULT=$fault run timeout 60 mpirun -np 3 ./allreduce_perf --backend nccl "${place[@]}" -b 64K -e 64K \
      -T 6 --csv "$DIR/a.csv"
    echo "$fault: $output"
    [ "$status" -ne 0 ]
    [ "$status" -ne 124 ]
    [[ $output == *"rank 1: NCCL: "* ]]
  done
  nothing_runs "$DIR/a.csv"
}
