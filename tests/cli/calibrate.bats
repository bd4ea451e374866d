#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# busbar calibrate: the figures of predictions from a machine's own logs.
load ../common

setup_file() {
  cd "$BATS_TEST_DIRNAME/../.." || return 1
  export TRUTH="$BATS_FILE_TMPDIR"
  { cat topo/systems/dgx-a100.toml
    printf '\n[protocol]\nefficiency = 0.7\nsource = "made up"\n'
    printf '[protocol.ring_low_latency]\nlaunch_us = 28\n[protocol.tree_low_latency]\nlaunch_us = 28\n'
  } >"$TRUTH/truth.toml"
  for program in allreduce allgather; do
    "./${program}_perf" --backend sim --system "$TRUTH/truth.toml" --ranks 8 -b 1K -e 8G -f 2 --placement out \
      --csv "$TRUTH/$program.csv" >/dev/null
  done
}
calibrate() { run "-${EXIT:-0}" --separate-stderr ./busbar calibrate "$@"; }

@test "a machine's figures are found from its rows, and only what they determine is written" {
  calibrate "$TRUTH"/*.csv --system dgx-a100 -o "$DIR/my.toml"
  [[ $output == before*after* ]]
  awk '/^all / { median[++count] = $3 } END { exit !(median[1] > 8 && median[2] < 3) }' <<<"$output"
  grep -q "^efficiency = 0.7" "$DIR/my.toml"
  grep -q "^source = .busbar calibrate: fitted to 48 rows of allgather" "$DIR/my.toml"
  run -1 grep -q "^.protocol.direct" "$DIR/my.toml"
  ./allreduce_perf --backend sim --system "$DIR/my.toml" --ranks 8 -b 1K -e 8G -f 2 --placement out --csv "$DIR/mine.csv" >/dev/null
  paste -d ' ' <(column time_median_us "$TRUTH/allreduce.csv") <(column time_median_us "$DIR/mine.csv") |
    awk '{ if ($1 / $2 > 1.1 || $2 / $1 > 1.1) bad++ } END { exit NR != 24 || bad > 0 }'
}
@test "the time to issue is found where a process has several GPUs" {
  calibrate "$TRUTH/allreduce.csv" --system dgx-a100 --gpus-per-process 8 -o "$DIR/eight.toml"
  grep -q "^issue_us" "$DIR/eight.toml"
}
@test "too little data and what is missing are refused in one line" {
  COMMAND=(./busbar calibrate)
  sed '/^allreduce/{/,1073741824,/!d}' "$TRUTH/allreduce.csv" >"$DIR/one.csv"
  refused "too little" "$DIR/one.csv" --system dgx-a100 -o "$DIR/x.toml"
  refused "--system" "$TRUTH/allreduce.csv" -o "$DIR/x.toml"
  refused "-o" "$TRUTH/allreduce.csv" --system dgx-a100
  refused "missing log" --system dgx-a100 -o "$DIR/x.toml"
  refused "no such system" "$TRUTH/allreduce.csv" --system dgx-a1000 -o "$DIR/x.toml"
  [ ! -e "$DIR/x.toml" ]
}
@test "a log's collective and ranks can be given" {
  log="# nThread 1 nGpus 8 minBytes 1048576"
  for size in 1048576 4194304 16777216 67108864 268435456 536870912 1073741824 2147483648; do
    time=$(awk "BEGIN { print 40 + $size / 200e3 }")
    rates=$(awk "BEGIN { printf \"%.2f %.2f\", $size / $time / 1e3, $size / $time / 1e3 * 7 / 8 }")
    log+=$'\n'"$size $((size / 32)) float none -1 $time $rates N/A $time $rates N/A"
  done
  cat >"$DIR/a.log" <<<"$log"
  calibrate "$DIR/a.log" --system dgx-a100 -o "$DIR/x.toml" --collective alltoall --ranks 8
  echo "$stderr"
  [[ $output == *"a alltoall 8"* ]]
}
@test "GPUs of a process are those of the log" {
  [ -d ../shared/data/nccl_tests_logs ] || skip "no ../shared/data here"
  log=../shared/data/nccl_tests_logs/nda100v4_a100-40gb_broadcast_8gpu_superbench.txt
  calibrate "$log" --system dgx-a100 -o "$DIR/eight.toml"
  before=$(grep -m1 "broadcast 8" <<<"$output")
  calibrate "$log" --system dgx-a100 -o "$DIR/same.toml" --gpus-per-process 8
  [ "$(grep -m1 "broadcast 8" <<<"$output")" = "$before" ]
  calibrate "$log" --system dgx-a100 -o "$DIR/one.toml" --gpus-per-process 1
  [ "$(grep -m1 "broadcast 8" <<<"$output")" != "$before" ]
}
