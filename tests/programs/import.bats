#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=quick
# busbar import: a log becomes a CSV that busbar reads; refusals by file and line.
load ../common

COMMAND=(./busbar import)
log() {  # log FILE: one row of a test on two ranks
  cat > "$1" <<'LOG'
0: # Collective test starting: all_reduce_perf
0: # nThread 1 nGpus 2 minBytes 32M maxBytes 32M step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1
0: #  Rank  0 Group  0 Pid 11 on n1 device  0 [0000:1b:00] NVIDIA H100
0: #  Rank  1 Group  0 Pid 11 on n1 device  1 [0000:1c:00] NVIDIA H100
0: #       size  count  type  redop  root  time  algbw  busbw  #wrong  time  algbw  busbw  #wrong
0:     33554432  8388608  float  sum  -1  276.88  121.19  121.19  0  277.00  121.13  121.13  N/A
0: # Avg bus bandwidth    : 121.16
LOG
}

@test "import writes a CSV that says where it is from" {
  log "$DIR/a.log"
  run -0 --separate-stderr ./busbar import "$DIR/a.log" -o "$DIR/a.csv" --system "H100 box"
  [ -z "$output" ]
  [[ $stderr == *"wrote 2 rows of 1 log"* ]]
  grep -q "^# imported_from: $DIR/a.log$" "$DIR/a.csv"
  grep -q '^# system: H100 box$' "$DIR/a.csv"
  grep -q '^# devices: 2 x NVIDIA H100$' "$DIR/a.csv"
  [ "$(column time_median_us "$DIR/a.csv" | paste -sd,)" = 276.88,277 ]
  [ "$(column flags "$DIR/a.csv" | sort -u)" = "imported mean" ]
}
@test "import joins several logs that have no row twice, and compare reads what it wrote" {
  log "$DIR/a.log"
  log "$DIR/b.log"
  refused "$DIR/a.log and $DIR/b.log have 2 runs of the same rows: no own setting; give a folder for a CSV each, -o a/, or take one by --run N" \
    "$DIR/a.log" "$DIR/b.log" -o "$DIR/ab.csv"
  sed -i 's/float/int32/' "$DIR/b.log"
  ./busbar import "$DIR/a.log" "$DIR/b.log" -o "$DIR/ab.csv"
  [ "$(rows "$DIR/ab.csv" | wc -l)" -eq 4 ]
  run -0 --separate-stderr ./busbar compare "$DIR/ab.csv" "$DIR/ab.csv"
}
@test "import names what it cannot read among several logs, and reads the others" {
  log "$DIR/a.log"
  log "$DIR/c.log"
  echo text > "$DIR/b.log"
  run -3 --separate-stderr ./busbar import "$DIR"/?.log "$DIR/d.log" -o "$DIR/out/"
  [ "$(cd "$DIR/out" && echo *)" = "a.csv c.csv" ]
  [[ ${stderr_lines[0]} == *"$DIR/b.log: no row of a tool"* ]]
  [[ ${stderr_lines[1]} == *"cannot read $DIR/d.log" ]]
  run -2 --separate-stderr ./busbar import "$DIR/b.log" "$DIR/d.log" -o "$DIR/none/"
  [ "${#stderr_lines[@]}" -eq 2 ]
  [ ! -e "$DIR/none" ]
}
sweep() {  # sweep FILE: Ring twice and Tree, on two ranks
  log "$DIR/one.log"
  for algorithm in Ring Tree Ring; do
    echo "+ NCCL_ALGO=$algorithm srun ./all_reduce_perf -b 32M"
    sed "s/276.88 *121.19 *121.19/$(case $algorithm in Ring) echo 276.88  121.19  121.19;; *) echo 553.76 60.59 60.59;; esac)/" "$DIR/one.log"
  done > "$1"
}
@test "import writes a CSV for each run of a log that gives a row again" {
  sweep "$DIR/sweep.log"
  run -0 --separate-stderr ./busbar import "$DIR/sweep.log" -o "$DIR/runs/"
  [ "$(cd "$DIR/runs" && echo *)" = "sweep-NCCL_ALGO=Ring-2.csv sweep-NCCL_ALGO=Ring.csv sweep-NCCL_ALGO=Tree.csv" ]
  for file in "$DIR"/runs/*Ring*; do
    grep -q '^# label: sweep NCCL_ALGO=Ring$' "$file"
    grep -q '^# settings: NCCL_ALGO=Ring$' "$file"
    grep -q '^# command: + NCCL_ALGO=Ring srun ./all_reduce_perf -b 32M$' "$file"
  done
  run -0 --separate-stderr ./busbar plot "$DIR"/runs/*.csv -o "$DIR/plots" --figure busbw
  [ "$(grep -o 'title .sweep NCCL_ALGO=[A-Z][a-z]*' "$DIR/plots/busbw.gp" | sort -u | wc -l)" -eq 2 ]
  run -0 --separate-stderr ./busbar compare --before "$DIR"/runs/*Ring*.csv --after "$DIR"/runs/*Tree.csv
  [[ $output == *"settings differ: before NCCL_ALGO=Ring, after NCCL_ALGO=Tree"* ]]
  ./busbar import "H100=$DIR/sweep.log" -o "$DIR/labelled/"
  grep -q '^# label: H100 NCCL_ALGO=Tree$' "$DIR/labelled/H100-NCCL_ALGO=Tree.csv"
}
@test "import refuses runs of the same rows into one file, or takes one" {
  sweep "$DIR/sweep.log"
  refused "has 3 runs of the same rows: NCCL_ALGO=Ring, NCCL_ALGO=Tree; give a folder for a CSV each, -o sweep/, or take one by --run N" \
    "$DIR/sweep.log" -o "$DIR/sweep.csv"
  [ ! -e "$DIR/sweep.csv" ]
  ./busbar import "$DIR/sweep.log" -o "$DIR/sweep.csv" --run 2
  [ "$(column time_median_us "$DIR/sweep.csv" | head -1)" = 553.76 ]
  refused "--run 4: $DIR/sweep.log has 3 runs" "$DIR/sweep.log" -o "$DIR/x.csv" --run 4
  COMMAND=(./busbar accept judge dgx-h100)
  refused "has 3 runs of the same rows: NCCL_ALGO=Ring, NCCL_ALGO=Tree; a file is a launch" "$DIR/sweep.log"
}
@test "a file name that is no UTF-8 leaves a CSV that is" {
  log "$DIR/a"$'\xff'".log"
  ./busbar import "$DIR/a"$'\xff'".log" -o "$DIR/a.csv"
  iconv -f utf-8 -t utf-8 "$DIR/a.csv" > /dev/null
}
@test "import never replaces a file" {
  log "$DIR/a.log"
  echo precious > "$DIR/a.csv"
  refused "exists and is not empty" "$DIR/a.log" -o "$DIR/a.csv"
  [ "$(cat "$DIR/a.csv")" = precious ]
}
@test "import names the two collectives that are left, and takes one" {
  echo "33554432 1048576 float none -1 276.88 121.19 106.04 N/A 277.00 121.13 105.99 N/A" > "$DIR/two.txt"
  refused "fit allgather or alltoall; give --collective" "$DIR/two.txt" -o "$DIR/o.csv"
  [ ! -e "$DIR/o.csv" ]
  ./busbar import "$DIR/two.txt" -o "$DIR/o.csv" --collective all_gather --nodes 2
  [ "$(column collective "$DIR/o.csv" | sort -u)" = allgather ]
  [ "$(column nodes "$DIR/o.csv" | sort -u)" = 2 ]
}
@test "import names the option that mends what a log does not say" {
  echo "33554432 8388608 float none 0 276.88 121.19 121.19 0 277.00 121.13 121.13 0" > "$DIR/bare.txt"
  refused "give --ranks" "$DIR/bare.txt" -o "$DIR/o.csv"
  ./busbar import "$DIR/bare.txt" -o "$DIR/o.csv" --ranks 4
  [ "$(column collective "$DIR/o.csv" | sort -u)" = broadcast ]
  echo "2 33554432 8388608 float sum 276.88 121.19 121.19 1e-7" > "$DIR/odd.txt"
  refused "--columns" "$DIR/odd.txt" -o "$DIR/p.csv" --collective all_reduce
  ./busbar import "$DIR/odd.txt" -o "$DIR/p.csv" --collective all_reduce --columns "nodes size count type redop time algbw busbw error"
  [ "$(column nodes "$DIR/p.csv")" = 2 ]
  refused "--columns" "$DIR/odd.txt" -o "$DIR/q.csv" --columns "a b"
}
@test "import LABEL=LOG writes a CSV for each label into a folder" {
  log "$DIR/a.log"
  log "$DIR/b.log"
  ./busbar import "DGX A=$DIR/a.log" "B=$DIR/a.log" "B=$DIR/b.log" "$DIR/b.log" -o "$DIR/all/"
  [ "$(cd "$DIR/all" && echo *)" = "B-2.csv B.csv DGX-A.csv b.csv" ]
  grep -q '^# system: DGX A$' "$DIR/all/DGX-A.csv"
  [ "$(rows "$DIR/all/B-2.csv" | wc -l)" -eq 2 ]
  [ "$(grep -c '^# system' "$DIR/all/b.csv")" -eq 0 ]
  refused "$DIR/all/b.csv exists" "C=$DIR/a.log" "$DIR/b.log" -o "$DIR/all"
  [ ! -e "$DIR/all/C.csv" ]
  ./busbar import "One=$DIR/a.log" -o "$DIR/one.csv"
  grep -q '^# system: One$' "$DIR/one.csv"
  refused "-o FOLDER/" "A=$DIR/a.log" "B=$DIR/b.log" -o "$DIR/two.csv"
  refused "mutually exclusive" "A=$DIR/a.log" -o "$DIR/two.csv" --system X
  refused "LABEL=LOG" "A B=$DIR/a.log" "A-B=$DIR/b.log" -o "$DIR/all/"
}
@test "import makes pairs of a matrix, and plot draws them" {
  cat > "$DIR/p2p.txt" <<'LOG'
[P2P (Peer-to-Peer) GPU Bandwidth Latency Test]
Device: 0, NVIDIA L40S, pciBusID: 7, pciDeviceID: 0, pciDomainID:0
Device: 1, NVIDIA L40S, pciBusID: f, pciDeviceID: 0, pciDomainID:0
Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)
   D\D     0      1
     0 670.10  20.50
     1  21.50 670.20
Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)
   D\D     0      1
     0 670.10  25.50
     1  26.50 670.20
LOG
  run -0 --separate-stderr ./busbar import "$DIR/p2p.txt" -o "$DIR/p2p.csv"
  [[ $stderr == *"160000000 bytes"*"--size"* ]]
  grep -q '^# matrix: Unidirectional P2P=Enabled Bandwidth (P2P Writes)$' "$DIR/p2p.csv"
  [ "$(column sender,receiver,busbw_GBps "$DIR/p2p.csv" | paste -sd' ')" = "0|1|25.5 1|0|26.5" ]
  run -0 ./busbar plot "$DIR/p2p.csv" --figure pairs --terminal
  [[ $output == *25.5*26.5* ]]
  ./busbar import "$DIR/p2p.txt" -o "$DIR/off.csv" --matrix P2P=Disabled --size 64M
  [ "$(column size_bytes,busbw_GBps "$DIR/off.csv" | paste -sd' ')" = "67108864|20.5 67108864|21.5" ]
  refused "--matrix x" "$DIR/p2p.txt" -o "$DIR/x.csv" --matrix x
}
@test "import says which logs it no longer reads" {
  for key in '{"coll_perf": {}}' '{"test_info": {}}' ' size(B) count(elems)'; do
    echo "$key" > "$DIR/x.log"
    refused "NCCL Inspector and nccom-test and perftest's JSON are no longer read" "$DIR/x.log" -o "$DIR/x.csv"
  done
}
@test "import refuses a line that it cannot read by file and line, or skips it" {
  log "$DIR/a.log"
  sed -i '6a 0:     67108864  16777216  float  sum  -1  oops' "$DIR/a.log"
  refused "$DIR/a.log:7: " "$DIR/a.log" -o "$DIR/a.csv"
  run -0 --separate-stderr ./busbar import "$DIR/a.log" -o "$DIR/a.csv" --skip-bad-lines
  [[ $stderr == *"$DIR/a.log:7: "*"skipped"* ]]
  [ "$(rows "$DIR/a.csv" | wc -l)" -eq 2 ]
}
@test "import refuses bad usage in one line" {
  refused "missing log" -o "$DIR/a.csv"
  refused "-o FILE.csv" "$DIR/a.log"
  refused "unknown option --what" --what -o x
  echo "x| 33554432 8388608 float sum -1 276.88 121.19 121.19 0 277.00 121.13 121.13 0" > "$DIR/x.log"
  refused "line 1 looks like a row behind a prefix 'x|'" "$DIR/x.log" -o "$DIR/x.csv"
  refused "cannot read" /nowhere.log -o "$DIR/a.csv"
  refused "cannot read" "$DIR" -o "$DIR/a.csv"
}
