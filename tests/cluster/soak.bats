#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# busbar accept soak on four hosts: what happens meanwhile is found, and whose it is.
load common
setup() {
  cluster_setup
  needs_mpich "the launchers have tests of their own"
  specification "$DIR/spec.toml"
}
teardown() {
  "$CLUSTER" plug h2 2> /dev/null || true
  "$CLUSTER" unthrottle h2 2> /dev/null || true
}
limits() { # limits TURN_S LINES: of [soak]
  printf '[soak]\nsize = "16KiB"\nturn_s = %s\n%b\n' "$1" "$2" >> "$DIR/spec.toml"
  sed -i 's/pairwise/whole/' "$DIR/spec.toml"
}
soak() { # soak FOLDER TIME [OPTIONS...]
  local folder=$1 time=$2
  shift 2
  ./busbar accept soak "$DIR/spec.toml" -o "$folder" --for "$time" --hosts h0,h1 "$@" -- "${LAUNCHER[@]}"
}
verdict() { jq -r --arg rule "$2" '.verdicts[] | select(.rule == $rule) | .verdict' "$1/verdicts.json"; }
turns() { find "$1/timelines" -name '*.csv' 2> /dev/null | wc -l; }
intervals() { cat "$1"/timelines/*.csv 2> /dev/null | grep -c '^[0-9]'; }

@test "a soak of a healthy pair passes what it limits, and says what its checks prove" {
  limits 4 'recover_s_max = 30'
  # A slowdown of a busy machine may be the last thing that is seen: not decided.
  run --separate-stderr soak "$DIR/run" 8s
  echo "$output" "$stderr"
  [[ $status == [03] ]]
  [ "$(verdict "$DIR/run" soak-wrong)" = PASS ]
  [ "$(verdict "$DIR/run" soak-launches)" = PASS ]
  [[ $(verdict "$DIR/run" soak-recover) == @(PASS|INCONCLUSIVE) ]]
  [ "$(turns "$DIR/run")" -ge 2 ]
  [[ $output == *"checked, none wrong: fewer than "*" errors per byte (95 %)"* ]]
  [[ $output == *"2 of 2 nodes accounted for: "*"h0 h1"* ]]
  # The folder is judged again, and goes on.
  run -"$status" ./busbar accept judge "$DIR/spec.toml" "$DIR/run"
  rm "$DIR"/run/verdicts.* "$DIR/run/junit.xml" "$DIR/run/report.html"
  before=$(intervals "$DIR/run")
  run --separate-stderr soak "$DIR/run" 12s --resume
  echo "$output" "$stderr"
  [[ $status == [03] ]]
  [ "$(intervals "$DIR/run")" -gt "$before" ]
}
@test "a cable that is out for a second fails the limit of recovery, with its second, and its carrier is the evidence" {
  limits 12 'recover_s_max = 0.2'
  for _ in 1 2 3; do  # again where the machine was too noisy for an outage to be seen
    rm -rf "$DIR/run"
    { eventually test -e "$DIR/run/launches.csv"; sleep 6; "$CLUSTER" unplug h1; sleep 1; "$CLUSTER" plug h1; } 3>&- &
    run --separate-stderr soak "$DIR/run" 12s
    wait
    echo "$output" "$stderr"
    [[ $output == *"slowdowns: too noisy"* ]] || break
  done
  [ "$status" -eq 1 ]
  [ "$(verdict "$DIR/run" soak-recover)" = FAIL ]
  # Where the machine has other work, the rate may not be quite what it was until the end.
  [[ $output == *"s to recover at 00:00:"* || $output == *"not recovered at 00:00:"* ]]
  [[ $output == *"facts of h1: e0: carrier changes +2"* ]]
}
# bats test_tags=ci
@test "a soak that is ended by SIGTERM judges what there is, and too little is not judged" {
  limits 2 'level_max = 0.05'
  soak "$DIR/run" 10m > "$DIR/out" 2>&1 &
  local job=$!
  has_two() { [ "$(turns "$DIR/run")" -ge 2 ]; }
  eventually has_two
  [ -s "$DIR/run/metrics.prom" ]  # before the end
  pkill -TERM -P "$job" busbar || kill -TERM "$job"
  wait "$job" || status=$?
  cat "$DIR/out"
  [ "$status" -eq 3 ]
  [ "$(verdict "$DIR/run" soak-level)" = INCONCLUSIVE ]
  [ "$(verdict "$DIR/run" soak-wrong)" = PASS ]
  grep -q 'not judged: .* needed' "$DIR/out"
}
@test "a turn that Ctrl-C ends is judged, with the wrong data in it, and a resumed soak keeps it" {
  limits 60 ''
  mkdir "$DIR/programs"
  printf '#!/bin/sh\nexec "%s/allreduce_perf" "$@" --inject-fault 1:7\n' "$PWD" > "$DIR/programs/allreduce_perf"
  chmod +x "$DIR/programs/allreduce_perf"
  # In the background of a shell without jobs a command ignores SIGINT.
  { eventually test -e "$DIR/run/launches.csv"; sleep 8; pkill -INT -f "accept soak $DIR/spec.toml"; } &
  run --separate-stderr soak "$DIR/run" 10m --programs "$DIR/programs"
  wait
  echo "$output" "$stderr"
  [ "$status" -eq 1 ]
  [ "$(verdict "$DIR/run" soak-launches)" = PASS ]
  [ "$(verdict "$DIR/run" soak-wrong)" = FAIL ]
  # The interval in progress and the row are there.
  grep -q '^# finished:' "$DIR"/run/001-*.csv
  grep -q '^# .* checked, 1 element wrong' "$DIR"/run/timelines/001-*.csv
  grep -q ',interrupted,' "$DIR/run/launches.csv"
  rm "$DIR"/run/verdicts.* "$DIR/run/junit.xml" "$DIR/run/report.html"
  run -1 --separate-stderr soak "$DIR/run" 12s --resume
  [ "$(turns "$DIR/run")" -eq 2 ]
  [[ $output == *"allreduce, 2 turns, "*" s in total: "* ]]
}
