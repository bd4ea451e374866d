#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=quick
# Settings in turns, of a program whose times depend on variables.
load ../common

setup() {
  common_setup
  cat > "$DIR/program" <<'SH'
#!/bin/bash
# A *_perf program of two sizes; the larger one's time is by SPEED, or by the variants of --vary.
echo "${SPEED:-unset}" >> "$LOG"
[ -z "${SLEEP_AT:-}" ] || [ "$(wc -l < "$LOG")" -lt "$SLEEP_AT" ] || { touch "$LOG.asleep"; sleep 60; }
times() { case $1 in fast) echo 80 ;; faster) echo 60 ;; wrong) echo 10 ;; *) echo 100 ;; esac; }
[ "${SPEED:-}" != broken ] || { echo "program_perf: no speed of that name" >&2; exit 4; }
[ "${SPEED:-}" != shaky ] || [ $(($(wc -l < "$LOG") % 4)) -ne 1 ] || exit 4
vary=()
while [ $# -gt 0 ]; do [ "$1" != --vary ] || IFS=, read -ra vary <<<"${2#*=}"; shift; done
[ "${#vary[@]}" -gt 0 ] || vary=("${SPEED:-unset}")
echo "# busbar: 0"
echo "collective,ranks,type,op,in_place,size_bytes,count,status,time_median_us,busbw_GBps,variant"
for value in "${vary[@]}"; do
  status=ok
  [ "$value" != wrong ] || status=wrong
  echo "allreduce,4,float,sum,0,1024,1,ok,50.$((RANDOM % 90 + 10)),1,speed=$value"
  echo "allreduce,4,float,sum,0,4096,1,$status,$(times "$value").$((RANDOM % 90 + 10)),1,speed=$value"
done
echo "# finished: now"
SH
  chmod +x "$DIR/program"
  export LOG=$DIR/log
}
sweep() { ./busbar sweep --seed 5 "$@"; }
winners() { jq -c '[.rows[] | select(.winner) | [.size_bytes, .variant]]' "$1"; }

@test "the planted best setting wins where it is faster, and nowhere else" {
  run -0 --separate-stderr sweep --vary SPEED=default,fast,faster,slow --json "$DIR/a.json" -o "$DIR/kept" -- "$DIR/program" -b 1K
  [ "$(winners "$DIR/a.json")" = '[[4096,"SPEED=faster"]]' ]
  [[ $output == *"2 rows: 1 with a winner, 1 without"* ]]
  [[ $output =~ 4\ KiB\ .*faster\ +10\ .*\ 0\.[0-9]+\.\.0\.[0-9]+\ .*faster\ +winner ]]
  [ "$(find "$DIR/kept" -name '*.csv' | wc -l)" -eq 40 ]
  # Each turn has each variant once, and turns differ in their order.
  for turn in 0 1 9; do
    [ "$(sed -n "$((turn * 4 + 1)),$((turn * 4 + 4))p" "$LOG" | sort | xargs)" = "fast faster slow unset" ]
  done
  [ "$(xargs -n 4 < "$LOG" | sort -u | wc -l)" -gt 3 ]
  cp "$LOG" "$DIR/first"
  : > "$LOG"
  sweep --vary SPEED=default,fast,faster,slow -- "$DIR/program" > "$DIR/out"
  diff "$DIR/first" "$LOG"  # the order is the seed's
}

@test "settings that the program varies are compared within launches" {
  run -0 --separate-stderr sweep --vary speed=default,fast,faster --launches 9 --json "$DIR/a.json" -- "$DIR/program"
  [ "$(winners "$DIR/a.json")" = '[[4096,"speed=faster"]]' ]
  [ "$(jq -c '[.in_launch, .turns]' "$DIR/a.json")" = '[true,9]' ]
  [ "$(wc -l < "$LOG")" -eq 9 ]
  COMMAND=(./busbar sweep)
  refused "--per-launch" --vary speed=a,b --per-launch -- "$DIR/program"
  refused "speed" --vary speed=a,b --vary SPEED=a,b -- "$DIR/program"
}

@test "variants that fail or are wrong are named and never win" {
  run -0 --separate-stderr sweep --vary SPEED=default,broken,shaky,wrong,fast --launches 9 --json "$DIR/a.json" -- "$DIR/program"
  [ "$(winners "$DIR/a.json")" = '[[4096,"SPEED=fast"]]' ]
  [[ $stderr == *"SPEED=broken: turn 1: exit 4: program_perf: no speed of that name"* ]]
  [[ $stderr == *"SPEED=wrong: 1 row with wrong data"* ]]
  [ "$(jq '[.failures[] | select(.variant == "SPEED=broken")] | length' "$DIR/a.json")" -eq 2 ]  # then it is given up
  run -4 --separate-stderr sweep --vary SPEED=broken,fast -- "$DIR/program"
  [[ $stderr == *"no speed of that name"* ]]
  [ -z "$output" ]
}

@test "too few launches are noticed after the first turn, once" {
  run -0 --separate-stderr sweep --vary SPEED=default,fast --launches 3 -- "$DIR/program"
  [ "${#stderr_lines[@]}" -eq 1 ]
  [[ $stderr == *"3 launches can never show a difference in 2 comparisons, "*"--launches 5"* ]]
  [[ $output == *"2 rows: 0 with a winner"* ]]
  run --separate-stderr sweep --vary SPEED=default,fast --launches 5 -- "$DIR/program"
  [ -z "$stderr" ]
}

@test "an interrupted sweep judges its complete turns" {
  SLEEP_AT=12 ./busbar sweep --seed 5 --vary SPEED=default,fast --launches 30 --json "$DIR/a.json" -- "$DIR/program" > "$DIR/out" 2> "$DIR/err" 3>&- &
  local sweep=$! rc=0
  eventually test -e "$LOG.asleep"
  kill -INT "$sweep"
  wait "$sweep" || rc=$?
  [ "$rc" -eq 3 ]
  [ "$(winners "$DIR/a.json")" = '[[4096,"SPEED=fast"]]' ]
  [ "$(jq .turns "$DIR/a.json")" -eq 5 ]
  grep -q "interrupted after 5 of 30 turns" "$DIR/out"
}

@test "a library is preloaded in turns" {
  local library
  library=$(ldd /bin/ls | awk '/libc\.so/ { print $3 }')
  executable "$DIR/preloaded" "[ -z \"\${LD_PRELOAD+x}\" ] || export SPEED=fast; exec $DIR/program"
  run -0 sweep --library "default,$library" --json "$DIR/a.json" -- "$DIR/preloaded"
  [ "$(winners "$DIR/a.json")" = "[[4096,\"LD_PRELOAD=$library\"]]" ]
}

@test "variables reach ranks whose launcher passes none on" {
  # shellcheck disable=SC2016 # the script expands it
  executable "$DIR/remote" 'exec env -i PATH="$PATH" bash -c "$*"'
  run -0 sweep --vary NCCL_X=a,b --launches 2 -o "$DIR/kept" -- "$DIR/remote" "$PWD/allreduce_perf" --host-limits off -b 1K -e 1K -n 3
  [ "$(cat "$DIR"/kept/*.csv | grep '^# environment' | sort | xargs)" = "# environment: NCCL_X=a # environment: NCCL_X=a # environment: NCCL_X=b # environment: NCCL_X=b" ]
}

@test "a file of rules that the library cannot have, and other bad input, is refused before anything is measured" {
  COMMAND=(./busbar sweep)
  refused "no file of rules can have SPEED" --vary SPEED=default,b --write "$DIR/r" -- "$DIR/program"
  refused "NCCL_TUNER_PLUGIN" --vary NCCL_ALGO=default,Ring --vary NCCL_PROTO=default,LL --write "$DIR/r" --held-out 4 -- "$DIR/program"
  refused "--write FILE" --vary SPEED=a,b --held-out 4 -- "$DIR/program"
  refused "put -- before" --vary SPEED=a,b "$DIR/program"
  refused "no command" --vary SPEED=a,b
  refused "--vary NAME=A,B" -- "$DIR/program"
  refused "varied already" --vary SPEED=a,b --vary SPEED=c,d -- "$DIR/program"
  refused "no file" --library a.so,b.so -- "$DIR/program"
  refused "-o DIR" --vary SPEED=a,b -- "$DIR/program" --csv x.csv
  echo x > "$DIR/x"
  refused "not empty" --vary SPEED=a,b -o "$DIR" -- "$DIR/program"
  refused "$DIR/x" --vary SPEED=a,b --json "$DIR/x" -- "$DIR/program"
  refused "--launches" --vary SPEED=a,b --launches 1 -- "$DIR/program"
  EXIT=4 COMMAND=(env TMPDIR="$DIR/none" ./busbar sweep)
  refused "TMPDIR" --vary SPEED=a,b -- "$DIR/program"
  [ ! -e "$LOG" ]
}

@test "NCCL's tuner file has the winner, for its ranks and sizes" {
  executable "$DIR/nccl" "env | grep -qx NCCL_ALGO=Tree && export SPEED=fast; exec $DIR/program"
  run -0 --separate-stderr sweep --vary NCCL_ALGO=default,Ring,Tree --vary NCCL_PROTO=default,LL --write "$DIR/tuner.csv" -- "$DIR/nccl"
  [ "$(grep -v '^#' "$DIR/tuner.csv")" = "allreduce,2049,4096,tree,ll,-1,-1,4,-1,-1" ]
  [ "$(wc -l < "$LOG")" -eq 30 ]  # no half of a rule was measured
  run -0 --separate-stderr sweep --vary NCCL_ALGO=default,Ring --vary NCCL_PROTO=default,LL --write "$DIR/none.csv" -- "$DIR/nccl"
  [ ! -e "$DIR/none.csv" ]
  [[ $stderr == *"nothing is written"* ]]
}

@test "a setting of blocking collectives is not measured with ranks that yield" {
  needs_mpich "its variable"
  local command=(./busbar sweep --per-launch --launches 2 --vary "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=default,nb" -- mpirun -np 2 ./allreduce_perf "${QUICK[@]}")
  run --separate-stderr "${command[@]}" --progress yield
  [[ $stderr == *"--progress block"* ]]
  run --separate-stderr "${command[@]}" --progress block
  [[ $stderr != *"--progress block"* ]]
}

@test "a launch that takes longer than --timeout has failed" {
  export SLEEP_AT=1
  run -4 --separate-stderr sweep --vary SPEED=a,b --timeout 1 -- "$DIR/program"
  [[ $stderr == *"timeout after 1 s"* ]]
}
