#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The fake GPU machine itself: that it is as strict as a GPU, without which tests of the nccl backend would pass by
# chance. What those tests see themselves is not tested here.
load backend

# on_ranks "N..." CASE...: every case on every number of ranks.
on_ranks() {
  local ranks case
  for ranks in $1; do
    for case in "${@:2}"; do
      echo "$case on $ranks ranks"
      run -0 timeout 120 mpirun -np "$ranks" "$SELFTEST" "$case"
    done
  done
}
on_two() { run -0 timeout 60 mpirun -np 2 "$SELFTEST" "$1"; }

says() { grep -qxF -- "$1" <<<"$output" || { echo "no line: $1"; echo "$output"; return 1; }; }

@test "a program that touches device memory crashes" {
  ASAN_OPTIONS=${ASAN_OPTIONS:-}:handle_segv=0 run -139 "$SELFTEST" touch
}

@test "device memory costs what it does on a GPU, and is refused as there" {
  run -0 timeout 60 "$SELFTEST" memory
}

@test "two ranks on one GPU are refused unless their hosts are called apart" {
  on_two one_gpu
  says "rank 1: 5 Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 11000"
  SELFTEST_HOSTS_APART=1 on_two one_gpu
  says "rank 1: shares"
  NCCL_MULTI_RANK_GPU_ENABLE=1 on_two one_gpu
  says "rank 0: 5 Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 11000"
  NCCL_MULTI_RANK_GPU_ENABLE=1 FAKE_NCCL_VERSION=23000 on_two one_gpu
  says "rank 0: shares"
}

@test "a window is made by all ranks together, of memory that can be shared" {
  on_ranks "2 3" window plain_window
  NCCL_COMM_BLOCKING=0 FAKE_NCCL_VERSION=22707 run ! timeout 60 mpirun -np 2 "$SELFTEST" window
  [[ $output == *"NCCL operation in progress"* ]]
}

@test "a fault that is malformed, or can never strike, ends the program with one line" {
  local fault
  for fault in fail:cudaNothing:1@0 fail:cudaGetLastError:1@0 fail:cudaMalloc:0@0 burn:cudaMalloc:1@0 fail=2:cudaMalloc:1@0 oom:cudaMemset:1@0 wrong:cudaMalloc:1@0; do
    FAKE_GPU_FAULT=$fault run -134 "$SELFTEST" memory
    [[ ${lines[0]} == "fake GPU: FAKE_GPU_FAULT"* ]]
  done
}
