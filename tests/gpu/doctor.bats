#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# busbar doctor runs the users' allreduce_perf over all GPUs, here over the fake ones.
load backend

doctor() { # doctor OPTIONS... : on a tree with device files of two GPUs
  mkdir -p "$DIR/tree/dev"
  touch "$DIR/tree/dev/nvidia0" "$DIR/tree/dev/nvidia1"
  run --separate-stderr ./busbar doctor --sysroot "$DIR/tree" --programs . "$@"
}
@test "an all-reduce over all GPUs is run, and what NCCL's diagnostics print is shown" {
  doctor --all
  [ "$status" -eq 0 ]
  [[ $output == *"nccl-run: not looked at: all-reduce works"*"NCCL 2.31"* ]]
  FAKE_NCCL_DIAGNOSTICS='[INFO] p2p: 1/2 directed GPU P2P edges verified' doctor
  [ "$status" -eq 1 ]
  [ "${lines[0]}" = "nccl-run: problem: NCCL: [INFO] p2p: 1/2 directed GPU P2P edges verified" ]
}
@test "an all-reduce that fails or has too few GPUs is a problem, with the program's own words" {
  FAKE_GPU_FAULT=fail:ncclAllReduce:1@0 doctor
  [ "$status" -eq 1 ]
  [[ ${lines[0]} == "nccl-run: problem: an all-reduce over all GPUs ends with exit code 4: "*ncclAllReduce* ]]
  [[ ${lines[1]} == "    NCCL_DEBUG=WARN "*"/allreduce_perf --backend nccl -g 2 "* ]]
  CUDA_VISIBLE_DEVICES=0 doctor --all
  [ "$status" -eq 0 ]
}
