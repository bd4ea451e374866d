#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The cluster of namespaces itself: names, links, faults, and that nothing of it stays.
load common
setup() {
  cluster_setup
  needs_mpich "pairs are started by Hydra"
}

GBps() { awk -v columns=busbw_GBps -f "$ROOT/tests/fixtures/csv.awk" "$1"; }
pair() {  # pair FILE: bus bandwidth between h0 and h1
  timeout 20 mpiexec "${LAUNCHER[@]}" -hosts h0,h1 -np 2 -ppn 1 ./allreduce_perf -b 1M -e 1M -n 5 -w 1 \
    --placement out --csv "$1" > "$1.txt"
  GBps "$1"
}

# bats test_tags=ci
@test "every host has its own name, and ranks on two hosts are two nodes" {
  run mpiexec "${LAUNCHER[@]}" -hosts h0,h1,h2,h3 -np 4 -ppn 1 hostname
  [ "$(sort <<<"$output" | xargs)" = "h0 h1 h2 h3" ]
  pair "$DIR/a.csv"
  grep -q '^allreduce,mpi,2,2,' "$DIR/a.csv"
}
# bats test_tags=ci
@test "a throttled link is far slower, and as fast as before when it is not throttled any more" {
  healthy=$(pair "$DIR/a.csv")
  "$CLUSTER" throttle h1 200mbit
  throttled=$(pair "$DIR/b.csv")
  "$CLUSTER" unthrottle h1
  again=$(pair "$DIR/c.csv")
  echo "$healthy $throttled $again"
  awk -v h="$healthy" -v t="$throttled" -v a="$again" 'BEGIN { exit !(t < 0.05 && h > 3 * t && a > 3 * t) }'
}
# bats test_tags=ci
@test "a host that is gone is 255 and one line" {
  run -255 --separate-stderr tests/cluster/launcher -x h7 true
  [ "$stderr" = "launcher: h7: no such host" ]
}
# bats test_tags=ci
@test "a cluster goes away with its owner, also when that was killed" {
  sleep 60 3>&- &
  owner=$!
  OWNER=$owner BUSBAR_CLUSTER=bb$owner "$CLUSTER" up 2
  ip netns list | grep -q "^bb${owner}h1"
  BUSBAR_CLUSTER=bb$owner tests/cluster/launcher h1 sleep 60 3>&- 4>&- &
  kill -KILL "$owner"
  is_away() { ! { ip netns list; ip -o link; } | grep -q "bb$owner"; }
  eventually is_away
}
# bats test_tags=ci
@test "what a killed run has left is removed by the next one" {
  gone=$(bash -c 'echo $$')
  ip netns add "bb${gone}h0"
  ip link add "bb$gone" type bridge
  sleep 60 3>&- &
  owner=$!
  OWNER=$owner BUSBAR_CLUSTER=bb$owner "$CLUSTER" up 1
  kill "$owner"
  run bash -c 'ip netns list; ip -o link'
  [[ $output != *"bb${gone}"* ]]
  [[ $output == *"${BUSBAR_CLUSTER}h3"* ]]
}
