#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Data that moves through NCCL's own code, from the call by its planner and its transports to its proxies.
load common

# bats test_tags=ci
@test "every collective is right on three ranks" {
  local collective
  for collective in allreduce reducescatter allgather broadcast reduce gather scatter; do
    verified 3 "$collective" -b 1K -e 1M -f 32
  done
  for collective in alltoall sendrecv; do verified 3 "$collective" -b 1K -e 1M -f 32 --placement out; done
}
@test "unequal parts are right" {
  verified 3 alltoallv -b 1K -e 300K -f 17 --placement out --skew sparse:0.4
}
@test "eight ranks all-reduce 8 bytes and 64 KiB, and two 16 MiB" {
  verified 8 allreduce -b 8 -e 64K -f 8192 -n 1 -w 0
  verified 2 allreduce -b 16M -e 16M -n 1
}
@test "two ranks are right on every machine, four on a mesh and a switch, and one is" {
  local kind
  verified 1 allreduce -b 4K -e 1M -f 256
  for kind in dgx-1v dgx-a100 dgx-h100 hgx-b200; do
    on "$kind"
    verified 2 allreduce -b 4K -e 1M -f 256
  done
  for kind in dgx-1v dgx-h100; do
    on "$kind"
    verified 4 allreduce -b 4K -e 1M -f 256
  done
}
@test "peers map each other's memory by CUDA's older way, too" {
  NCCL_CUMEM_ENABLE=0 verified 3 allreduce -b 1K -e 1M -f 32
}
@test "shared memory carries what peers do not map" {
  export NCCL_P2P_DISABLE=1
  verified 3 allreduce -b 1K -e 1M -f 32
  verified 3 alltoall -b 1K -e 1M -f 32 --placement out
}
# bats test_tags=ci
@test "sockets and NCCL's proxies carry what no memory is shared for" {
  export NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1
  verified 3 allreduce -b 1K -e 1M -f 32
  verified 3 alltoall -b 1K -e 1M -f 32 --placement out
}
# bats test_tags=ci
@test "graphs replay what NCCL launched while they were captured" {
  verified 3 allreduce -b 1K -e 1M -f 32 -G 2
  verified 3 alltoall -b 1K -e 1M -f 32 -G 2 --placement out
}
@test "operations in a group are right" {
  verified 3 allreduce -b 64K -e 64K -m 4
  verified 3 sendrecv -b 64K -e 64K -m 4 --placement out
}
@test "every type is added up, and every operator works on floats" {
  verified 3 allreduce -b 64K -e 64K -d all
  verified 3 allreduce -b 64K -e 64K -o all
}
