#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=mpi
# All-to-alls of unequal parts over MPI: every element, nccl-tests' variables, what the columns say.
load ../common

USUAL=(--host-limits off --placement out -n 2 -w 0)
SKEWS="uniform distance distance:0.3 zipf:1.2 hot:1 hot:1:1 sparse:0.4"

# bats test_tags=ci
@test "every distribution and type is right on three ranks" {
  local skew
  for skew in $SKEWS; do
    STATUSES="ok skipped" all_right 3 alltoallv -b 1000 -e 300K -f 17 -d all -c 2 --skew "$skew"
    [ "$(column distribution "$DIR/a.csv" | sort -u)" = "$skew" ]
  done
  all_right 1 alltoallv -b 1000 -e 300K -f 17
}
@test "tokens of experts and parts of 16 ranks are right" {
  all_right 4 alltoallv --moe 64,32,2,8,zipf:1 -d double
  all_right 16 alltoallv -b 64K -e 64K --skew zipf:1 --progress yield
  all_right 16 alltoallv -b 64K -e 64K --skew sparse:0.2 --seed 3
  all_right 2 alltoallv -b 1M -e 1M -n 70 --cache rotate --cadence isolated
}
@test "a fault in the part of one sender is found" {
  run -1 mpirun -np 3 ./alltoallv_perf "${USUAL[@]}" -b 64K -e 64K --inject-fault 1:8000
  [[ $output == *"rank 1, element 8000: expected"* ]]
}
@test "nccl-tests' matrix, scale, spread and summary are read" {
  printf '0 64 32\n100000 0 160\n48 48 48\n' > "$DIR/traffic.txt"
  export NCCL_TESTS_ALLTOALLV_MATRIX_FILE=$DIR/traffic.txt NCCL_TESTS_ALLTOALLV_MATRIX_SCALE=2
  all_right 3 alltoallv
  # Rank 1 sends 200,000 and 320 bytes; the mean of the three ports is a third of all but what rank 2 keeps.
  [[ $(column size_bytes,distribution,imbalance "$DIR/a.csv") == "200320|matrix:traffic.txt@"????????"|2.99"* ]]
  NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY=1 run -0 mpirun -np 3 ./alltoallv_perf "${USUAL[@]}" -b 1M -e 1M
  [ "$(grep -c '^# *rank=[012] send_bytes=[0-9]* recv_bytes=[0-9]* alg_bw=' <<<"$output")" -eq 3 ]
  [[ $output == *"rank=1 send_bytes=200320 recv_bytes=224 "* ]]
  COMMAND=(mpirun -np 3 ./alltoallv_perf "${USUAL[@]}")
  refused "has a size of its own, 195.62 KiB for 3 ranks; leave -b and -e out" -b 64K -e 64K
  refused "--skew uniform and NCCL_TESTS_ALLTOALLV_*" --skew uniform
  COMMAND=(mpirun -np 4 ./alltoallv_perf "${USUAL[@]}")
  refused "it is of 3 ranks, and there are 4"
  unset NCCL_TESTS_ALLTOALLV_MATRIX_FILE
  NCCL_TESTS_ALLTOALLV_SPREAD=0.5 all_right 2 alltoallv -b 64K -e 64K
  [ "$(column distribution "$DIR/a.csv")" = distance:0.5 ]
}
@test "in place is skipped with the reason" {
  run -0 mpirun -np 2 ./alltoallv_perf -b 64K -e 64K --csv "$DIR/a.csv"
  [[ $(column status,reason "$DIR/a.csv") == *"skipped|MPI can exchange parts in place only if both directions have the same length"* ]]
}
@test "what does not fit is refused in one line" {
  COMMAND=(./alltoallv_perf)
  refused "mutually exclusive" --moe 1,2,1,4 --skew uniform
  COMMAND=(./alltoall_perf)
  refused "--skew: all-to-all has equal parts; use alltoallv_perf" --skew uniform
}
@test "groups have a distribution of their own size, also beside ranks that wait" {
  COMMAND=(mpirun -np 5 ./alltoallv_perf "${USUAL[@]}" -b 64K -e 64K)
  refused "there are 2 ranks; give fewer than that" --groups '0,0,0-1;0,1,2-4' --skew hot:2
  printf '%s\n' '0 1024 2048' '3072 0 4096' '5120 6144 0' > "$DIR/matrix"
  mpirun -np 4 ./alltoallv_perf "${USUAL[@]}" --groups 0,0,0-2 --skew "matrix:$DIR/matrix" --csv "$DIR/a.csv"
  [ "$(column ranks,status,wrong "$DIR/a.csv" | sort -u)" = "3|ok|0" ]
  NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY=1 mpirun -np 3 ./alltoallv_perf "${USUAL[@]}" --groups 0,0,0-1 -b 1K -e 1K
}
@test "a prediction has the fullest port and the bound of it" {
  run -0 ./alltoallv_perf --backend sim --system dgx-h100 --skew hot:1:1 -b 1M -e 1G -f 1024 --csv "$DIR/a.csv"
  [ "$(column distribution,imbalance,bound_GBps "$DIR/a.csv" | sort -u)" = "hot:1:1|8|450" ]
  # All bytes but a rank's own pass one port of 450 GB/s.
  column time_median_us "$DIR/a.csv" | awk 'END { exit !($1 > 1073.741824e6 * 7 / 8 / 450e3) }'
}
