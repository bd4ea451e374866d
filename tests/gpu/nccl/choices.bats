#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What NCCL finds and decides by itself on known machines, and how our options reach it. Its kernels do nothing here.
load common

# says RANK WORDS: rank's log has these words.
says() { grep -qF -- "$2" "$DIR/log.$1" || { echo "rank $1 does not say: $2"; return 1; }; }

# bats test_tags=ci
@test "NCCL finds the rings and channels of each machine that it has there" {
  nothing_moves
  local kind channels nvls ring
  while read -r kind channels nvls ring; do
    on "$kind"
    log_of 8 allreduce -b 1M -e 1M -c 0
    says 0 "$channels coll channels, $channels collnet channels, $nvls nvls channels"
    says 0 "Channel 00/$channels : $ring"
    says 0 "nranks 8"
    measured
  done <<'END'
dgx-1v    12  0 0 3 2 1 5 6 7 4
dgx-a100  24  0 0 1 2 3 4 5 6 7
dgx-h100  24 16 0 1 2 3 4 5 6 7
hgx-b200  32 24 0 1 2 3 4 5 6 7
END
}
@test "all types and operators are right on one rank, but for NCCL's lack of an fp8 average" {
  perf 1 allreduce -b 64K -e 64K -d all -o all -c 1
  [ "$status" -eq 0 ]
  [ "$(column type,op,status "$DIR/a.csv" | grep '|skipped' | sort -u | xargs)" = "f8e4m3|avg|skipped f8e5m2|avg|skipped" ]
  [ "$(column type,op,status,wrong "$DIR/a.csv" | grep -cx '.*|ok|0')" -eq $((2 * (12 * 5 - 2))) ]
}
# bats test_tags=ci
@test "no operation starts a thread" {
  nothing_moves
  local count=() operations
  for operations in 10 60; do
    run timeout 120 mpirun -np 2 strace -f -qq -e trace=clone,clone3 -o "$DIR/clones" ./allreduce_perf --backend nccl \
      -b 8 -e 8 -c 0 -w 1 -n "$operations" -T 60
    [ "$status" -eq 0 ]
    count+=("$(grep -c clone "$DIR/clones")")
  done
  echo "threads: ${count[*]}"
  [ "${count[0]}" -ge 5 ]  # NCCL's own
  [ $((count[1] - count[0])) -lt 10 ]
}
@test "the parts of NCCL's own start are in the header" {
  nothing_moves
  perf 2 allreduce -b 64K -e 64K -c 0 --nccl-choice
  measured
  [[ $(sed -n 's/^# nccl_init: //p' "$DIR/a.csv") =~ ^[0-9.]+" on rank "[01]" (kernels "[0-9.]+", alloc ".*", rest "-?[0-9.]+\)$ ]]
}
@test "a run that goes over sockets says so in its header, with NCCL's network" {
  nothing_moves
  NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1 perf 2 allreduce -b 64K -e 64K -c 0 --nccl-choice
  measured
  [ "$(sed -n 's/^# nccl_links: //p' "$DIR/a.csv")" = NET/Socket ]
  [[ $(sed -n 's/^# nccl_network: //p' "$DIR/a.csv") =~ ^Socket,\ [0-9]+\ adapter ]]
}
@test "values of --vary reach NCCL, each in a communicator of its own" {
  nothing_moves
  perf 2 allreduce -b 16M -e 16M -c 0 -n 10 --placement out --nccl-choice --vary max_ctas=default,1
  measured
  [[ $(column variant,channels "$DIR/a.csv" | xargs) =~ ^max_ctas=default\|([0-9]+)\ max_ctas=1\|1$ ]]
  [ "${BASH_REMATCH[1]}" -gt 1 ]
}
@test "results are right in each communicator of --vary, and in split ones" {
  verified 3 allreduce -b 64K -e 64K -n 10 --vary max_ctas=default,1
  NCCL_TESTS_SPLIT=%2 verified 4 allreduce -b 64K -e 64K
}
@test "ranks that share a GPU are of different hosts for NCCL, and without that it refuses them" {
  local own=(./allreduce_perf --backend nccl -b 64K -e 64K -n 3 -w 1 -T 60 -c 1 --csv "$DIR/a.csv")
  export CUDA_VISIBLE_DEVICES=0
  run -0 timeout 60 mpirun -np 2 "${own[@]}" --share-gpus
  [ "$(column status,wrong "$DIR/a.csv" | sort -u)" = "ok|0" ]
  [[ $(column flags "$DIR/a.csv") == *shared-gpu* ]]
  run timeout 60 mpirun -np 2 "$SELFTEST" one_gpu
  echo "$output"
  [[ $output == *"Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 1b000"* ]]
  SELFTEST_HOSTS_APART=1 run timeout 60 mpirun -np 2 "$SELFTEST" one_gpu
  [[ $output == *"rank 1: shares"* ]]
}
@test "NVIDIA's NCCL does what our fake of it is tested for" {
  local case
  for case in window plain_window; do
    echo "$case"
    run -0 timeout 60 mpirun -np 2 "$SELFTEST" "$case"
  done
}
# bats test_tags=ci
@test "gather, scatter and all-to-all are sent in pieces where NCCL lacks them" {
  local collective
  export LD_LIBRARY_PATH=$NCCL_BUILT/lib/older:$LD_LIBRARY_PATH
  perf 2 gather -b 64K -e 64K
  [[ $output == *"library: $NCCL_BUILT/lib/older/libnccl.so.2"* ]]
  for collective in allreduce gather scatter; do verified 3 "$collective" -b 1K -e 64K -f 64; done
  verified 3 alltoall -b 1K -e 64K -f 64 --placement out
}
