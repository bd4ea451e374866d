#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Options of devices, how ranks come to theirs, and memory.
load backend

quick() { run --separate-stderr timeout 60 mpirun -np 2 ./allreduce_perf "${QUICK[@]}" "$@"; echo "$output$stderr"; [ "$status" -eq 0 ]; }
flags() { column flags "$DIR/a.csv" | grep -c "\b$1\b"; }

# bats test_tags=quick
@test "a graph of the operations is one sample, launched as often as asked" {
  quick -G 3 --csv "$DIR/a.csv"
  [ "$(flags graph)" -eq 4 ]
  [ "$(column samples,operations,batch,wrong "$DIR/a.csv" | sort -u)" = "1|9|3|0" ]
  [[ $output == *" graph: 3 "* ]]
  quick -G 1 -n auto --time-budget 0.2 --csv "$DIR/b.csv"
  # More where the fake's events, which threads record, cost more than a hundredth of it.
  [ "$(column batch "$DIR/b.csv" | awk '$1 >= 20' | wc -l)" -eq 4 ]
}
@test "a registration that fails ends the run" {
  FAKE_GPU_FAULT='fail:ncclCommRegister:1@1' run -4 timeout 60 mpirun -np 2 ./allreduce_perf "${QUICK[@]}" -R 1
  FAKE_GPU_FAULT='fail:ncclCommWindowRegister:1@1' run -4 timeout 60 mpirun -np 2 ./allreduce_perf "${QUICK[@]}" -R 2
}
@test "operations are grouped, timed as one and counted" {
  FAKE_GPU_FAULT='fail:ncclGroupEnd:2@0' run -4 timeout 60 mpirun -np 2 ./allreduce_perf "${QUICK[@]}" -m 4
  quick -m 4 --csv "$DIR/a.csv"
  [ "$(column operations,wrong "$DIR/a.csv" | sort -u)" = "12|0" ]
  [ "$(column batch "$DIR/a.csv" | awk '$1 >= 4' | wc -l)" -eq 4 ]
}
@test "-I adds four words to each half, -C reports the host's time" {
  quick -I 1 -K 1
  [ "$(table | awk '{ print NF }' | sort -u)" = 21 ]
  [[ $output == *"out-of-place (+ per-iteration)"* ]]
  quick -C 1 --csv "$DIR/a.csv"
  # The table's two decimals and the file's three are roundings of one time.
  paste <(table | awk '{ print $6 }') <(column enqueue_time_us,in_place "$DIR/a.csv" | sed -n 's/|0$//p') |
    awk '{ d = $1 - $2; if (d * d > 1e-4 * $2 * $2) bad = 1 } END { exit bad || NR != 2 }'
}
# bats test_tags=quick
@test "-M tells where the memory went" {
  quick -M 1
  [[ $output =~ \#\ GPU\ memory\ usage\ :\ Initialization\ .*User-Allocated\ 2\ MiB.*Total ]]
}
@test "waiting, barriers, cadences and policies go with streams" {
  for blocking in 1 2 3; do quick -z "$blocking"; done
  quick --cadence isolated --cache rotate -x 2 -p 1
}

@test "a load is copied on the device or done by the host, and a delayed rank is named" {
  quick --load copy:64K -n 12 --csv "$DIR/a.csv" --per-rank "$DIR/p.csv"
  [ "$(flags loaded)" -eq 4 ]
  [ "$(column samples,wrong "$DIR/a.csv" | sort -u)" = "12|0" ]
  [ "$(column load_us "$DIR/a.csv" | awk '$1 > 0' | wc -l)" -eq 4 ]
  [ "$(column rank "$DIR/p.csv" | sort | uniq -c | xargs)" = "48 0 48 1" ]
  quick --inject-delay 1:20000 -n 40 --csv "$DIR/b.csv"
  [ "$(column last_rank "$DIR/b.csv" | sort -u)" = 1 ]
}

@test "more ranks than GPUs are refused, or share them and say so" {
  machine 2 256MiB 9.0
  COMMAND=(mpirun -np 4 ./allreduce_perf "${QUICK[@]}")
  refused "rank 2 has no GPU of its own: 4 ranks on its host, which shows it 2 GPUs; start 2 ranks"
  [[ $stderr == *"--share-gpus"* ]]
  run -0 timeout 60 mpirun -np 4 ./allreduce_perf "${QUICK[@]}" --share-gpus --csv "$DIR/a.csv"
  [ "$(flags shared-gpu)" -eq 4 ]
  [[ $output == *"up to 2 ranks share a GPU"* ]]
  [[ $output == *" for 2 ranks on the fullest GPU"* ]]
  [ "$(column wrong "$DIR/a.csv" | sort -u)" = 0 ]
}
@test "from NCCL 2.30 on ranks share a GPU by its own variable" {
  machine 1 256MiB 9.0
  run -0 env FAKE_NCCL_VERSION=23001 timeout 60 mpirun -np 2 ./allreduce_perf "${QUICK[@]}" --share-gpus
}
@test "an NCCL older than the headers is used, and one before 2.14 is refused" {
  FAKE_NCCL_VERSION=21805 quick
  COMMAND=(mpirun -np 2 ./allreduce_perf "${QUICK[@]}")
  FAKE_NCCL_VERSION=21304 EXIT=3 refused 2.13.4
}
@test "ranks take their own GPU whatever CUDA_VISIBLE_DEVICES shows to each" {
  local own=(./allreduce_perf --backend nccl -b 4K -e 4K -n 1 -w 0)
  run -0 timeout 60 mpirun -np 1 env CUDA_VISIBLE_DEVICES=5 "${own[@]}" : -np 1 env CUDA_VISIBLE_DEVICES=2 "${own[@]}"
  [[ $output == *"device  0 [0000:61:00]"*"device  0 [0000:31:00]"* ]]
  run env CUDA_VISIBLE_DEVICES=3,1 timeout 60 mpirun -np 2 "${own[@]}"
  [[ $output == *"device  0 [0000:41:00]"*"device  1 [0000:21:00]"* ]]
  run env NCCL_TESTS_DEVICE=4 timeout 60 mpirun -np 2 "${own[@]}"
  [[ $output == *"device  4 [0000:51:00]"*"device  5 [0000:61:00]"* ]]
  run -3 env CUDA_VISIBLE_DEVICES= timeout 60 mpirun -np 2 "${own[@]}"
}
@test "a rank with a GPU and one processor is flagged, and none is bound to one by itself" {
  [ "$(nproc)" -gt 1 ] || skip "one processor"
  quick --csv "$DIR/a.csv"
  [ "$(flags one-processor)" -eq 0 ]
  grep -q '^# rank_0: .* processors [2-9]' "$DIR/a.csv"
  rm "$DIR/a.csv"
  run -0 taskset -c 0 timeout 60 mpirun -np 2 ./allreduce_perf "${QUICK[@]}" --csv "$DIR/a.csv"
  [ "$(flags one-processor)" -eq 4 ]
  [[ $output == *"one-processor: rank 0 on "*"--cpus-per-task"* ]]
}
@test "-g starts the ranks itself, a GPU each" {
  run -0 timeout 60 ./allreduce_perf -g 8 -b 4K -e 4K -n 1 -w 0
  [[ $output == *"nccl backend (auto: best available of nccl, mpi"*"), 8 ranks"* ]]
  [ "$(grep -cE '^#  Rank +[0-7] Group' <<<"$output")" -eq 8 ]
}
@test "memory is planned from what is free on the fullest GPU, and every size has its row" {
  machine 2 256MiB 9.0
  run -0 timeout 60 mpirun -np 2 ./allreduce_perf --backend nccl -b 32M -e 512M -f 4 -n 1 -w 0 --csv "$DIR/a.csv"
  [ "$(column status "$DIR/a.csv" | xargs)" = "ok ok skipped ok skipped skipped" ]
  [[ $output == *"available, of which 95 % may be used, for 1 rank on the fullest GPU"* ]]
  [[ $output == *"needs "*" for 1 rank of a GPU, "*" may be used"* ]]
}
