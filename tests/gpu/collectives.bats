#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Every collective over NCCL on the fake GPU machine: real data, every type and operation.
load backend

USUAL=(--backend nccl -n 2 -w 0 -T 60)

@test "every collective, type, operation and root is right on 2 ranks" {
  for_all 2 -b 4K -e 4K -d all -o all -r all
  [ "$(column backend "$DIR/a.csv" | sort -u)" = nccl ]
}
@test "every collective, type and operation is right on 3 ranks, which divide nothing" {
  for_all 3 -b 5000 -e 5000 -d all -o all
}
# bats test_tags=quick
@test "every collective is right on 1 rank" {
  for_all 1 -b 64 -e 1M -f 128 -d all
}
@test "unequal parts are right, and timed in place as nccl-tests does" {
  all_right 3 alltoallv -b 1000 -e 300K -f 17 -d all --placement out --skew sparse:0.4
  all_right 4 alltoallv --moe 64,32,2,8,zipf:1 -d half --placement out -G 2
  all_right 2 alltoallv -b 4K -e 4K
  [[ $(column in_place,wrong,flags "$DIR/a.csv" | tail -n 1) == "1||fake not-checked"* ]]
}
@test "odd sizes, unaligned buffers and more than one check are right" {
  all_right 3 allreduce -b 1000 -e 5000 -i 777 -c 3
  all_right 2 allreduce -b 1000 -e 5000 -i 777 -d int8 -u 3
  all_right 2 allgather -b 1000 -e 5000 -i 777 -d half -u 1
  [ "$(column flags "$DIR/a.csv" | grep -c unaligned)" -eq 12 ]
}
@test "types that the device has not are skipped rows with the reason" {
  machine 2 256MiB 8.0
  STATUSES="ok skipped" all_right 2 allreduce -b 4K -e 4K -d all
  [ "$(column type,reason "$DIR/a.csv" | grep -c '^f8e.*compute capability 9.0, this device has 8.0')" -eq 4 ]
}

# bats test_tags=quick
@test "what runs on the fake machine is labelled so in table and file" {
  run -0 timeout 60 mpirun -np 2 ./allreduce_perf "${QUICK[@]}" --csv "$DIR/a.csv"
  [[ $output == *"# fake: this is the "*" GPU machine"* ]]
  [[ $output == *"device  1 [0000:21:00] Fake GPU X9"* ]]
  [ "$(column flags "$DIR/a.csv" | grep -c '\bfake\b')" -eq 4 ]
  grep -q '^# rank_1: .* device 1 bus 0000:21:00.0 uuid [0-9a-f]\{32\} name Fake GPU' "$DIR/a.csv"
  [ "$(table | awk '{ print NF }' | sort -u)" = 13 ]
  grep -q '^# library: NCCL [0-9.]*, CUDA' "$DIR/a.csv"
}

@test "in place an all-to-all and a send-receive are timed as nccl-tests does, and not checked" {
  local collective
  for collective in alltoall sendrecv; do
    run -0 timeout 60 mpirun -np 2 "./${collective}_perf" "${QUICK[@]}" -b 4K -e 4K --csv "$DIR/$collective.csv"
    [ "$(table | awk '{ print NF, $9, ($10 > 0), $13 }')" = "13 0 1 N/A" ]
    [[ $(column in_place,status,wrong,flags "$DIR/$collective.csv" | tail -n 1) == "1|ok||fake not-checked "* ]]
  done
  run -0 timeout 60 mpirun -np 2 ./sendrecv_perf "${QUICK[@]}" --pairs all --csv "$DIR/a.csv"
  [ "$(column wrong "$DIR/a.csv" | sort -u)" = 0 ]
}

# bats test_tags=quick
@test "every ordered pair of ranks has a row of its own and a place in the square" {
  run -0 timeout 120 mpirun -np 5 ./sendrecv_perf "${QUICK[@]}" --pairs all --placement out --csv "$DIR/a.csv"
  [ "$(column sender,receiver,size_bytes "$DIR/a.csv" | sort -u | wc -l)" -eq 40 ]
  [ "$(column wrong "$DIR/a.csv" | sort -u)" = 0 ]
  [ "$(column ranks "$DIR/a.csv" | sort -u)" = 2 ]
  [ "$(grep -cE '^# +[0-4]( +[0-9.-]+){5}$' <<<"$output")" -eq 5 ]
  [ "$(grep -c '^# pair 4 -> 0$' <<<"$output")" -eq 2 ]
}

@test "a planted fault on one pair is told of that pair only" {
  run -1 timeout 120 mpirun -np 3 ./sendrecv_perf "${QUICK[@]}" --pairs all --placement out --inject-fault 2:7 --csv "$DIR/a.csv"
  [ "$(column receiver,status "$DIR/a.csv" | grep wrong | sort -u)" = "2|wrong" ]
  [ "$(column receiver,status "$DIR/a.csv" | grep -c '^[01]|ok')" -eq 8 ]
  [[ $output == *"wrong data: rank 2, element 7: expected "* ]]
}

@test "rounds of groups are right on GPUs, and a round that is there already is not connected" {
  local groups=(--placement out --groups '0,0,0-1;0,1,2-3;1,0,0-2;2,0,1 3' --csv "$DIR/a.csv")
  traced timeout 120 mpirun -np 4 ./alltoall_perf "${QUICK[@]}" "${groups[@]}" -M 1 --nccl-choice -R 1 -G 2
  [ "$(column round,group,ranks,wrong "$DIR/a.csv" | uniq | sort -u | xargs)" = "0|0|2|0 0|1|2|0 1|0|3|0 2|0|2|0" ]
  [ "$(grep -c '^comm ' "$DIR/trace")" -eq 9 ]
  [[ $(column flags "$DIR/a.csv") == *graph*registered* ]]
  [ "$(column device_set "$DIR/a.csv" | uniq | xargs)" = "0,1 2,3 0,1 2,3 0,1,2 1,3" ]
  [[ $output == *"# NCCL's log: NVLS "* ]]
  [[ $output == *"# GPU memory usage : Initialization "* ]]
  sed -i '/^# finished/d;$d' "$DIR/a.csv"
  sed -i '$d' "$DIR/a.csv"
  traced timeout 120 mpirun -np 4 ./alltoall_perf "${QUICK[@]}" "${groups[@]}" -M 1 --nccl-choice -R 1 -G 2 --resume
  [ "$(grep -c '^comm ' "$DIR/trace")" -eq 2 ]
  [ "$(rows "$DIR/a.csv" | wc -l)" -eq 8 ]
  [ "$(table | wc -l)" -eq 8 ]
}

@test "rows in visits are right with registration, graphs, rotating buffers and groups" {
  all_right 2 allreduce -b 4K -e 16K -n 8 --visits 4 -R 1 --cache rotate --nccl-choice
  [ "$(column visits,operations,interval_scope "$DIR/a.csv" | sort -u)" = '4|8|run' ]
  all_right 2 allgather -b 4K -e 16K -n auto --visits 4 -G 2 --time-budget 60 --ci-width 50
  [ "$(column visits "$DIR/a.csv" | sort -u)" = 4 ]
  NCCL_TESTS_SPLIT='MOD 2' all_right 4 broadcast -b 4K -e 16K -n 8 --visits 4 -r all
  [ "$(column group,visits "$DIR/a.csv" | sort -u | tr '\n' ' ')" = '0|4 1|4 ' ]
}
