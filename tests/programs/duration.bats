#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=mpi
# A row that goes on for a time: --duration, --interval, --timeline.
load ../common

SOAK=(-b 64K -e 64K --host-limits off -w 1 --duration 2s --interval 500ms)

# intervals FILE: the lines of a timeline.
intervals() { grep -v -e '^#' -e '^at_s,' "$1"; }
# going_on OPTIONS...: a row without end in the background, once it has two intervals.
going_on() {
  mpirun -np 2 ./allreduce_perf "${SOAK[@]}" --duration 10m --timeline "$DIR/t.csv" "$@" > "$DIR/out" 2> "$DIR/err" 3>&- &
  JOB=$!
  eventually has_lines 2 '^[0-9]' "$DIR/t.csv"
}

@test "a row goes on until its time is over, with a line per interval and what was found" {
  mpirun -np 2 ./allreduce_perf "${SOAK[@]}" --csv "$DIR/a.csv" --timeline "$DIR/t.csv" > "$DIR/out"
  cat "$DIR/out" "$DIR/t.csv"
  [ "$(column stop_reason,status,in_place,interval_scope "$DIR/a.csv" | cut -d'|' -f1-3)" = "duration|ok|0" ]
  awk -v n="$(column operations "$DIR/a.csv")" -v samples="$(column samples "$DIR/a.csv")" \
    'BEGIN { exit !(n >= samples && samples > 100) }'
  grep -q '^# command: ' "$DIR/t.csv"
  grep -q '^# configuration: .*duration=2s' "$DIR/t.csv"
  [ "$(intervals "$DIR/t.csv" | wc -l)" -ge 3 ]
  [ "$(intervals "$DIR/t.csv" | awk -F, '{ n += $3 } END { print n }')" = "$(column operations "$DIR/a.csv")" ]
  intervals "$DIR/t.csv" | awk -F, '$4 <= 0 || $5 < $4 || $10 != 131072 || $11 != 0 { bad = 1 } END { exit bad }'
  for line in '# level: not judged' '# drift: not judged' ' checked, none wrong: fewer than ' '# p99.9: '; do
    grep -q -- "$line" "$DIR/out"
    grep -q -- "$line" "$DIR/t.csv"
  done
  [[ $(tail -1 "$DIR/t.csv") == "# finished: "* ]]
}

@test "in place, without checks, or with a fault the timeline says so" {
  mpirun -np 2 ./allreduce_perf "${SOAK[@]}" --placement in --csv "$DIR/a.csv" > "$DIR/out"
  [ "$(column status,in_place,wrong "$DIR/a.csv")" = "ok|1|0" ]
  mpirun -np 2 ./allreduce_perf "${SOAK[@]}" -c 0 --timeline "$DIR/t.csv" > "$DIR/out"
  grep -q '# no data checked' "$DIR/out"
  run -1 mpirun -np 2 ./allreduce_perf "${SOAK[@]}" --inject-fault 1:7 --timeline "$DIR/u.csv"
  [[ $output == *"checked, 1 element wrong"* ]]
  [[ $output == *"at 00:00:0"?": rank 1, element 7"* ]]
  [ "$(intervals "$DIR/u.csv" | awk -F, '{ n += $11 } END { print n }')" = 1 ]
}

@test "a signal ends it in order" {
  going_on --csv "$DIR/a.csv"
  kill -TERM "$(process_of 0)" "$(process_of 1)"
  wait "$JOB"
  [ "$(column stop_reason,status "$DIR/a.csv")" = "interrupted|ok" ]
  [[ $(tail -1 "$DIR/t.csv") == "# finished: "* ]]
}

@test "a rank that stops in a row that goes on is named, and the timeline is kept as far as it went" {
  local code=0
  going_on -T 2
  kill -STOP "$(process_of 1)"
  wait "$JOB" || code=$?
  cat "$DIR/err"
  [ "$code" -eq 4 ]
  grep -q "timeout: no progress for 2 s (-T): rank 1 on $(uname -n) does not answer" "$DIR/err"
  [ "$(intervals "$DIR/t.csv" | wc -l)" -ge 2 ]
  run ! grep -q '^# finished: ' "$DIR/t.csv"
}

@test "a timeline is not written over a file that is there" {
  COMMAND=(./allreduce_perf)
  echo precious > "$DIR/t.csv"
  refused "--timeline: " "${SOAK[@]}" --timeline "$DIR/t.csv"
}
