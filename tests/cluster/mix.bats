#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Groups of ranks that share a link of a known rate, and groups that do not. h0 and h1 are on one bridge, h2 and h3
# behind an uplink on another.
load common

setup_file() { HOSTS_UP="4 2" cluster_setup_file; }
setup() {
  cluster_setup
  with hydra
}
teardown() {
  local link
  for link in uplink1 h0 h1 h3; do "$CLUSTER" unthrottle "$link" 2> /dev/null || true; done
}

group() {  # group NAME RANKS: the first sends to the second
  printf '[[group]]\nname = "%s"\nranks = "%s"\ncollective = "broadcast"\nsize = "1M"\n' "$1" "$2"
}

# mixed FILE|PRESET: slowdown, its interval and wrong elements of each group are in $DIR/factors.
mixed() {
  ./busbar mix "$1" -- "${START[@]}" "$PROGRAMS/allreduce_perf" -b 1M --visits 8 --time-budget 2 --host-limits off -T 60 --csv "$DIR/a.csv"
  column slowdown,slowdown_low,slowdown_high,wrong "$DIR/a.csv" | grep -v '^|' | tee "$DIR/factors"
}
# all_within LOW HIGH
all_within() { awk -F'|' -v low="$1" -v high="$2" '!(low < $1 && $1 < high && $4 == 0) { exit bad = 1 } END { exit bad || NR == 0 }' "$DIR/factors"; }

# bats test_tags=ci
@test "two groups through one link get half of it each" {
  "$CLUSTER" throttle uplink1 200mbit
  { group a 0,2; group b 1,3; } > "$DIR/mix.toml"
  mixed "$DIR/mix.toml"
  all_within 1.5 2.6
  # And that is shown, not by chance.
  awk -F'|' '!($2 > 1) { exit bad = 1 } END { exit bad }' "$DIR/factors"
}
@test "two groups over links of their own do not slow each other down" {
  "$CLUSTER" throttle h1 200mbit
  "$CLUSTER" throttle h3 200mbit
  { group a 0-1; group b 2-3; } > "$DIR/mix.toml"
  mixed "$DIR/mix.toml"
  all_within 0.74 1.35
}
@test "each of three that send to one takes three times as long" {
  "$CLUSTER" throttle h0 200mbit
  mixed incast:3
  all_within 2.2 4
}
