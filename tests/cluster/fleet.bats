#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# busbar accept on 16 hosts, eight on each of two bridges that a cable joins: a slow uplink is named, or a slow
# host, and no other. 16 ranks share this machine's processors. BUSBAR_REPEATS=10 repeats each verdict
# (make soak-cluster).
load common
setup_file() {
  export HOSTS_UP="16 8"
  cluster_setup_file
}
setup() {
  cluster_setup
  seq -f h%g 0 15 > "$DIR/hosts"
  needs_mpich "launchers.bats has other MPIs"
  with hydra
}
teardown() {
  local what
  for what in uplink1 h3 h9; do "$CLUSTER" unthrottle "$what" 2> /dev/null || true; done
}

only_repeated() { [ -n "${BUSBAR_REPEATS:-}" ] || skip "a minute: make soak-cluster runs it"; }

fleet_specification() {  # fleet_specification FILE: pairs over TCP, and before them each node with itself
  specification "$1"
  sed -i 's/^size = .*/size = "512KiB"/; s/^value = .*/value = 0.015/; s/^iterations = 8/iterations = 3/; s/^warmup = 2/warmup = 1/' "$1"
  cat >> "$1" <<END
[[device_set]]
id = "alone"
kind = "per_node"
ranks_per_node = 2
[[expect]]
id = "own-interface"
collective = "allreduce"
device_set = "alone"
size = "512KiB"
compare = "absolute"
value = 0.015
fail_below = 1.0
END
}
# verdict STATUS SUSPECTS [OPTIONS...]: what `busbar accept run` says, each time; leaves of eight hosts.
verdict() {
  local turn
  fleet_specification "$DIR/spec.toml"
  for turn in $(repeats); do
    run --separate-stderr "${ACCEPT[@]}" "$DIR/spec.toml" -o "$DIR/run$turn" "${OPTIONS[@]}" --levels 8 "${@:3}" "${BEHIND[@]}"
    echo "$output"
    echo "$stderr"
    [ "$status" -eq "$1" ]
    [ "$(jq -r '[.suspects[] | .path // (.nodes | join("+"))] | sort | join(" ")' "$DIR/run$turn/verdicts.json")" = "$2" ]
    [ "$(jq '[.nodes[] | select(.state == "good")] | length' "$DIR/run$turn/verdicts.json")" -eq "$((16 - $(wc -w <<< "${2//leaf0-leaf1/}")))" ]
  done
}

@test "16 hosts: a healthy fleet passes" {
  only_repeated
  verdict 0 ""
  [ "$(cat "$DIR/run1/good.txt")" = "h[0-15]" ]
  [ "$(grep -c ^pairs "$DIR/run1/launches.csv")" -eq 3 ]
}
# bats test_tags=ci
@test "16 hosts: a throttled host is named" {
  only_repeated
  "$CLUSTER" throttle h3 50mbit
  verdict 1 h3 --rule pair-floor
  [ "$(cat "$DIR/run1/bad.txt")" = h3 ]
}
@test "16 hosts: a throttled cable and a throttled host are both named" {
  "$CLUSTER" throttle uplink1 400mbit
  "$CLUSTER" throttle h3 50mbit
  verdict 1 "h3 leaf0-leaf1" --rule pair-floor
}
@test "16 hosts: a host whose own interface is slow is named before it meets others" {
  "$CLUSTER" slow-self h9 50mbit
  verdict 1 h9 --rule own-interface
  "$CLUSTER" slow-self h9 100gbit
}
@test "16 hosts: a host that is killed while pairs are measured costs one launch, and is named" {
  fleet_specification "$DIR/spec.toml"
  sed -i 's/^iterations = 3/iterations = 50/' "$DIR/spec.toml"
  ./busbar accept run "$DIR/spec.toml" --rule pair-floor -o "$DIR/run" --hostfile "$DIR/hosts" --levels 8 -- "${LAUNCHER[@]}" \
    > "$DIR/out" 2> "$DIR/err" 3>&- &
  pid=$!
  rank_on_h5() { pid_of_h5=$(ip netns pids "${BUSBAR_CLUSTER}h5" | xargs -r ps -o pid=,args= -p | awk '/[0-9] [^ ]*allreduce_perf.*--groups/ { print $1; exit }') && [ -n "$pid_of_h5" ]; }
  eventually rank_on_h5
  computes "$pid_of_h5"
  "$CLUSTER" remove h5
  code=0
  wait "$pid" || code=$?
  cat "$DIR/out" "$DIR/err"
  cut -d, -f1-12 "$DIR/run/launches.csv"
  [ "$code" -eq 1 ]
  [ "$(suspects "$DIR/run")" = h5 ]
  [ "$(cat "$DIR/run/good.txt")" = "h[0-4,6-15]" ]
  [ "$(grep -c '^pairs,16 nodes' "$DIR/run/launches.csv")" -eq 1 ]
  [ "$(grep -c '^pairs,15 nodes' "$DIR/run/launches.csv")" -eq 3 ]
}
