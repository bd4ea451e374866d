#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Facts of four hosts: what changed while they were measured is named, and whose it is.
load common
setup() {
  cluster_setup
  needs_mpich "the launchers have tests of their own"
  specification "$DIR/spec.toml"
  in_h2 ip link add e1 type veth peer name x1
  in_h2 ip link set x1 up
  in_h2 ip link set e1 up
}
teardown() {
  in_h2 ip link del e1 2> /dev/null || true
  "$CLUSTER" unthrottle h2 2> /dev/null || true
}
expect_facts() { cat >> "$DIR/spec.toml"; }
accept_run() { # accept_run FOLDER
  ./busbar accept run "$DIR/spec.toml" -o "$1" --hosts h0,h1,h2,h3 -- "${LAUNCHER[@]}"
}
fact_verdicts() { # fact_verdicts FOLDER RULE: "h0 PASS h1 FAIL ..."
  jq -r --arg rule "$2" '[.verdicts[] | select(.rule == $rule) | .instance + " " + .verdict] | join(" ")' "$1/verdicts.json"
}
# A second cable of h2, which carries nothing: a launch that is connecting over one that goes down fails.
in_h2() { ip netns exec "${BUSBAR_CLUSTER}h2" "$@"; }
flap_after() { # flap_after FOLDER: when it has a launch
  eventually grep -qs '^pairs' "$1/launches.csv"
  in_h2 ip link set x1 down
  sleep 0.2
  in_h2 ip link set x1 up
}

@test "a link that goes down once while a run lasts fails its node's rule of facts, and no other" {
  expect_facts <<'END'
[[expect_fact]]
fact = "net.carrier_changes"
instance = "e*"
delta_max = 0
source = "A link that flaps is no link."
END
  flap_after "$DIR/run" &
  run --separate-stderr accept_run "$DIR/run"
  wait
  echo "$output"
  [ "$status" -eq 1 ]
  [ "$(fact_verdicts "$DIR/run" net.carrier_changes)" = "h0 PASS h1 PASS h2 FAIL h3 PASS" ]
  [ "$(suspects "$DIR/run")" = h2 ]
  [[ $output == *"e1 rose by 2"* ]]
  ./busbar facts "$DIR/run/facts.csv" | grep -A 3 '^h2' | grep 'net.carrier_changes *e1 .* 2$'
  # The folder judges the same again.
  run -1 ./busbar accept judge "$DIR/spec.toml" "$DIR/run"
  [[ $output == *"e1 rose by 2"* ]]
}
# bats test_tags=ci
@test "a slow node's evidence has what its facts report" {
  "$CLUSTER" throttle h2 200mbit
  flap_after "$DIR/run" &
  run --separate-stderr accept_run "$DIR/run"
  wait
  echo "$output"
  [ "$status" -eq 1 ]
  [ "$(suspects "$DIR/run")" = h2 ]
  [[ $output == *"facts of h2: e1: carrier changes +2"* ]]
}
@test "the bytes of a run are in the counters of the port over which they went" {
  run --separate-stderr mpirun "${LAUNCHER[@]}" -f "$DIR/hosts" -n 4 -ppn 1 ./allreduce_perf -b 4M -e 4M -n 10 -w 0 -c 0 \
    --placement out --host-limits off --facts "$DIR/facts.csv"
  [ "$status" -eq 0 ]
  # A ring of four sends 2 x 3/4 of 4 MiB ten times; a tree sends less from some hosts. TCP adds its part.
  run ./busbar facts --json "$DIR/facts.csv"
  echo "$output" | jq -e '[.hosts[] | .host] == ["h0", "h1", "h2", "h3"]'
  echo "$output" | jq -e 'all(.hosts[] | [.changes[] | select(.fact == "net.sent_bytes" and .instance == "e0") | .rise] | add; . > 20e6 and . < 200e6)'
  echo "$output" | jq -e 'all(.hosts[] | [.changes[] | select(.fact == "net.sent_bytes" and .instance == "lo") | .rise] | add; . == null or . < 1e6)'
}
