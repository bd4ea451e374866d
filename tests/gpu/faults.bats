#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Whatever fails, on whatever rank: every rank ends in time, one line says why, finished rows are kept.
load backend

# faulty FAULT OPTIONS... : three ranks; the exit status is in STATUS, words in $DIR/err.
faulty() {
  local fault=$1
  shift
  STATUS=0
  FAKE_GPU_FAULT=$fault timeout 60 mpirun -np 3 ./allreduce_perf --backend nccl -b 1K -e 8K -n 2 -w 1 --csv "$DIR/a.csv" \
    -T 3 "$@" > "$DIR/out" 2> "$DIR/err" || STATUS=$?
  cat "$DIR/err"
  nothing_runs "$DIR/a.csv"
}

# reports STATUS PATTERN: exactly one line on stderr, with the pattern.
reports() { [ "$STATUS" -eq "$1" ] && [ "$(wc -l < "$DIR/err")" -eq 1 ] && grep -q -- "$2" "$DIR/err"; }

# 1 KiB is done (2 rows: the priming operation, 1 + 2, and in place 1 for the check) when the twelfth operation comes.
kept() { [ "$(column status "$DIR/a.csv" | xargs)" = "ok ok" ]; }

told() { faulty "$1" && reports "$2" "$3"; }  # told FAULT STATUS PATTERN

# bats test_tags=quick
@test "a failing NCCL call is told in NCCL's words by its rank, and rows are kept" {
  told fail:ncclAllReduce:12@1 4 'rank 1: NCCL: unhandled system error.*ncclAllReduce fails as planted'
  kept
}
@test "an asynchronous error, a device that is gone and an operation that never ends are told, and rows are kept" {
  told async:ncclAllReduce:12@1 4 'rank 1: NCCL: remote process exited or there was a network error'
  kept
  rm "$DIR/a.csv"
  told gone:ncclAllReduce:12@2 4 'rank 2: NCCL: unhandled cuda error.*device is lost'
  kept
  rm "$DIR/a.csv"
  told hang:ncclAllReduce:12@1 4 'timeout: no progress for 3 s (-T): .*: all-reduce 2 KiB out of place, .*; finished rows are kept;.*: ncclras -v'
  kept
}
@test "a failing call on rank 0 leaves the row in flight as failed" {
  told fail:ncclAllReduce:12@0 4 'rank 0: NCCL: '
  [ "$(column status "$DIR/a.csv" | xargs)" = "ok ok failed" ]
}
# bats test_tags=quick
@test "a wrong result is found, named and exit 1" {
  faulty wrong:ncclAllReduce:5@1
  [ "$STATUS" -eq 1 ]
  grep -q 'wrong data: rank 1, element 0: expected [0-9]*, got [0-9]*' "$DIR/out"
  [ "$(column status "$DIR/a.csv" | xargs)" = "wrong ok ok ok ok ok ok ok" ]
}
@test "a wrong element is reported with what it should be, wherever the rank's part begins" {
  run -1 timeout 60 mpirun -np 3 ./reducescatter_perf --backend nccl -b 12K -e 12K -d int32 -n 2 -w 1 --inject-fault 1:5
  [[ $output =~ rank\ 1,\ element\ 5:\ expected\ ([0-9-]+),\ got\ ([0-9-]+) ]]
  [ $((BASH_REMATCH[1] ^ BASH_REMATCH[2])) -eq 1 ]
}
@test "the first failure of a group of sends is reported, not what comes of it" {
  LD_LIBRARY_PATH=$FAKE/nccl-2.14:$FAKE FAKE_GPU_FAULT=fail:ncclGroupStart:2@1 run -4 \
    timeout 60 mpirun -np 2 ./alltoall_perf --backend nccl -b 4K -e 4K -n 2 -w 1 -T 60 --placement out
  [[ $output == *"rank 1: NCCL: unhandled system error"* ]]
}
@test "memory that a rank does not get is a skipped row, not the end" {
  # For the operation before all rows and for the first row: a block, and the smaller one that is tried then.
  faulty oom:ncclMemAlloc:1@1,oom:ncclMemAlloc:2@1,oom:ncclMemAlloc:3@1,oom:ncclMemAlloc:4@1
  [ "$STATUS" -eq 0 ]
  [ "$(column status "$DIR/a.csv" | grep -c skipped)" -eq 1 ]
  [ "$(column reason "$DIR/a.csv" | grep -c 'could not allocate')" -eq 1 ]
}
@test "a rank that cannot connect, or never does, is told, and the others do not wait for it" {
  told fail:ncclCommInitRankConfig:1@1 4 'rank 1: NCCL: '
  told fail:ncclGetUniqueId:1@0 4 'rank 0: NCCL: '
  told hang:ncclCommInitRankConfig:1@1 4 'timeout: no progress for 3 s (-T): .*: connecting the ranks over nccl'
}
@test "a device that one rank cannot use makes nccl unavailable for all" {
  told fail:cudaGetDeviceCount:1@1 3 '--backend nccl: rank 1: no CUDA device: '
}
@test "a failing CUDA call is told in CUDA's words, though giving memory back blocks for ever" {
  faulty fail:cudaEventRecord:108@2,hang:ncclMemFree:1@2 -T 0
  reports 4 'rank 2: CUDA: unknown error (cudaErrorUnknown)'
}
