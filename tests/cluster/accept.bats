#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# busbar accept on four hosts: who is slow or gone is named, and nobody else. Two ranks at a time, one a
# host, so that they fit on two processors. BUSBAR_REPEATS=10 repeats each verdict (make soak).
load common
setup() {
  cluster_setup
  needs_mpich "the tests of other launchers are in launchers.bats"
}

accept_run() {  # accept_run DIR [OPTIONS...] : SPEC is $DIR/spec.toml
  local folder=$1
  shift
  run --separate-stderr ./busbar accept run "$DIR/spec.toml" -o "$folder" --hosts h0,h1,h2,h3 "$@" -- "${LAUNCHER[@]}"
  echo "$output"
  echo "$stderr"
}
teardown() {
  local host
  for host in h0 h1 h2 h3; do "$CLUSTER" unthrottle "$host" 2> /dev/null || true; done
}

# On any host, after twenty seconds at most: what a host without a cable sent waits for TCP's next try.
nothing_runs() {
  local host
  for host in h0 h1 h2 h3; do
    for _ in {1..200}; do
      [ -n "$(ip netns pids "$BUSBAR_CLUSTER$host")" ] || continue 2
      sleep 0.1
    done
    ps -o etimes,args -p "$(ip netns pids "$BUSBAR_CLUSTER$host" | paste -sd,)" || continue
    return 1
  done
}

blames_h2_alone() {  # blames_h2_alone RUN
  accept_run "$1"
  [ "$status" -eq 1 ] && [ "$(suspects "$1")" = h2 ] && [ "$(states "$1")" = "h0 good h1 good h2 failed h3 good" ]
}

# bats test_tags=ci
@test "a healthy cluster passes, and every node is good" {
  specification "$DIR/spec.toml"
  for turn in $(repeats); do
    accept_run "$DIR/run$turn"
    [ "$status" -eq 0 ]
    [ "$(states "$DIR/run$turn")" = "h0 good h1 good h2 good h3 good" ]
    [ "$(grep -c ^pairs "$DIR/run$turn/launches.csv")" -eq 3 ]
  done
}
# bats test_tags=ci
@test "one throttled host fails, and no other is named" {
  specification "$DIR/spec.toml"
  "$CLUSTER" throttle h2 200mbit
  for turn in $(repeats); do
    blames_h2_alone "$DIR/run$turn"
  done
}
@test "one throttled host of four fails by the fleet, and no link" {
  specification "$DIR/spec.toml"
  sed -i 's/^size = .*/size = "1MiB"/; s/^compare = .*/compare = "fleet"/; /^value = /d; s/^fail_below = .*/fail_below = 0.6/' "$DIR/spec.toml"
  "$CLUSTER" throttle h2 200mbit
  for turn in $(repeats); do
    blames_h2_alone "$DIR/run$turn"
    [[ $stderr == *"low: h2; measured again beside good ones in "*" launches, about "* ]]
  done
}
@test "Ctrl-C ends the launches, keeps the journal and judges nothing" {
  specification "$DIR/spec.toml" 60
  ./busbar accept run "$DIR/spec.toml" -o "$DIR/run" --hosts h0,h1,h2,h3 -- "${LAUNCHER[@]}" > "$DIR/out" 2> "$DIR/err" 3>&- &
  pid=$!
  eventually has_lines 2 ^pairs "$DIR/run/launches.csv"
  kill -TERM "$pid"
  code=0
  wait "$pid" || code=$?
  [ "$code" -eq 4 ]
  [ ! -s "$DIR/out" ]
  grep -q "interrupted: nothing was judged; .*launches.csv keeps .*: go on with --resume, or judge what is there with busbar accept judge" "$DIR/err"
  nothing_runs
}
# bats test_tags=ci
@test "a host that cannot be reached is an error by name, without a hang" {
  specification "$DIR/spec.toml"
  "$CLUSTER" unplug h3
  accept_run "$DIR/run"
  "$CLUSTER" plug h3
  [ "$status" -eq 4 ]
  [[ $output == *"h3 does not answer"* ]]
  [ "$(states "$DIR/run")" = "h0 good h1 good h2 good h3 no data" ]
  [ "$(grep -c 'h3 does not answer' "$DIR/run/launches.csv")" -eq 1 ]  # by one contact
  [ "$(grep -c '^pairs,3 nodes,h0 h1 h2,' "$DIR/run/launches.csv")" -eq 3 ]
}
@test "a host that answers its second contact only is measured, and a note of the run and of a later judge says so" {
  specification "$DIR/spec.toml"
  "$CLUSTER" unplug h3
  {
    eventually test -e "$DIR/run/launches.csv"
    sleep 7  # after the first contact's 6 s, and before the second
    "$CLUSTER" plug h3
  } 3>&- &
  accept_run "$DIR/run"
  wait
  [ "$(states "$DIR/run")" = "h0 good h1 good h2 good h3 good" ]
  [[ $stderr == *"busbar: h3 answered only at the "*" contact (h3 before: nothing within 6 s"* ]]
  [[ $output == *"note: h3 answered only at the "* ]]
  run ./busbar accept judge "$DIR/spec.toml" "$DIR/run"
  [[ $output == *"note: h3 answered only at the "* ]]
}
# bats test_tags=ci
@test "a host that is lost while it is measured is blamed, and nothing of it keeps running" {
  specification "$DIR/spec.toml"
  sed -i 's/^iterations = 8/iterations = 100/; s/^timeout_s = 20/timeout_s = 16/' "$DIR/spec.toml"
  ./busbar accept run "$DIR/spec.toml" -o "$DIR/run" --hosts h0,h1,h2,h3 -- "${LAUNCHER[@]}" > "$DIR/out" 2> "$DIR/err" 3>&- &
  pid=$!
  code=0
  second_begins() {
    grep -qs ^pairs "$DIR/run/launches.csv" && ip netns pids "${BUSBAR_CLUSTER}h2" | xargs -r ps -o comm= -p | grep -q allreduce_perf
  }
  eventually second_begins
  "$CLUSTER" unplug h2
  lost=$SECONDS
  wait "$pid" || code=$?
  "$CLUSTER" plug h2
  cat "$DIR/out" "$DIR/err" "$DIR/run/launches.csv"
  [ $((SECONDS - lost)) -lt 120 ]
  [ "$code" -eq 1 ]
  [ "$(suspects "$DIR/run")" = h2 ]
  [ "$(states "$DIR/run")" = "h0 good h1 good h2 failed h3 good" ]
  grep -q "node h2  pair-floor: allreduce: 1 of 2 launches with it hung or crashed.*, and then it did not answer; 2 without it went well" "$DIR/out"
  [ "$(grep -c ^pairs,3 "$DIR/run/launches.csv")" -eq 2 ]  # the second once more, and the third
  nothing_runs
}
