#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=soak
# Runs of minutes on a pair of hosts whose link limits them: what is done to the link is found, at its second, and nothing else.
# It wants a machine that does nothing else: on two processors ranks that spin lose slices of 40 ms to any command that is
# run. What falls into a second in which the hypervisor took the processors (steal of /proc/stat) was so.
load common

setup_file() { cluster_setup_file; }
teardown_file() { cluster_teardown_file; }
setup() {
  cluster_setup
  needs_mpich "ranks are started by Hydra"
  link 0 100mbit
  link 1 100mbit
}
teardown() {
  [ -n "$WHY_NOT" ] || "$CLUSTER" plug h1
}

# link HOST RATE: of what goes to it. With a smaller bucket the kernel loses tokens whenever its timer is 1 ms late, so
# that operations are slower for no reason to be seen.
link() { tc qdisc replace dev "${BUSBAR_CLUSTER}v$1" root tbf rate "$2" burst 64kb latency 200ms; }
now() { date +%s.%N; }

# steals: the times of half seconds in which 40 ms of any processors were taken, until the test ends.
steals() {
  local before steal
  read -r _ _ _ _ _ _ _ _ before _ < /proc/stat
  while sleep 0.5; do
    read -r _ _ _ _ _ _ _ _ steal _ < /proc/stat
    [ $((steal - before)) -lt 4 ] || now
    before=$steal
  done
}

# begin TIME OPTIONS... : a run in the background; BEGIN is when its timing began.
begin() {
  steals > "$DIR/steals" 3>&- &
  local watcher=$!
  {
    timeout -k 5 400 mpiexec "${LAUNCHER[@]}" -hosts h0,h1 -np 2 -ppn 1 ./allreduce_perf -b 128K -e 128K --placement out \
      --progress yield --host-limits off --duration "$1" --timeline "$DIR/t.csv" "${@:2}" > "$DIR/out" 2>&1
    kill "$watcher"
  } 3>&- &
  local first
  until first=$(grep -m 1 '^[0-9]' "$DIR/t.csv" 2> /dev/null); do sleep 0.02; done
  BEGIN=$(awk -v now="$(now)" -v at="${first%%,*}" 'BEGIN { printf "%.3f", now - at }')
}
until_s() { sleep "$(awk -v begin="$BEGIN" -v now="$(now)" -v at="$1" 'BEGIN { print begin + at - now }')"; } # until_s SECONDS

# finish: waits, and prints what was found.
finish() {
  wait
  grep -E '^# (level|drift|slowdown)' "$DIR/t.csv" || cat "$DIR/out"
}
# slowdowns: when each of the deepest five began, in seconds.
slowdowns() { sed -nE 's/^# slowdown at ([0-9]+):([0-9]+):([0-9.]+): .*/\1 \2 \3/p' "$DIR/t.csv" | awk '{ print $1 * 3600 + $2 * 60 + $3 }'; }
# near SECONDS... : those and no others, each at most 1 s away, but for what was stolen. More than five are counted.
near() {
  local count
  count=$(sed -nE 's/^# slowdowns: ([0-9]+) \(.*/\1/p' "$DIR/t.csv")
  [ "${count:-0}" -le $(($# + $(wc -l < "$DIR/steals"))) ] || return 1
  slowdowns | awk -v wanted="$*" -v begin="$BEGIN" -v steals="$(paste -s "$DIR/steals")" '
    { at = $1; known = 0
      for (i = 1; i <= n; ++i) if ((at - want[i]) ^ 2 <= 1) { found[i] = 1; known = 1 }
      for (i = 1; i <= m; ++i) if ((at + begin - steal[i]) ^ 2 <= 1) known = 1
      if (!known) { print at " s: nothing was done"; bad = 1 } }
    BEGIN { n = split(wanted, want); m = split(steals, steal) }
    END { for (i = 1; i <= n; ++i) if (!found[i]) { print want[i] " s: not found"; bad = 1 }
      exit bad }'
}

@test "a cable that is out for half a second in five minutes is a slowdown at its second with a time to recover, and counted by its carrier" {
  begin 300s --facts "$DIR/facts.csv"
  until_s 150
  "$CLUSTER" unplug h1
  sleep 0.5
  "$CLUSTER" plug h1
  finish
  near 150
  grep -q '^# slowdown at .* recovered after' "$DIR/t.csv"
  ./busbar facts "$DIR/facts.csv" | grep -A 3 '^h1' | grep 'net.carrier_changes *e0 .* 2$'
}
@test "five throttles of 200 ms in five minutes are five dips at their seconds, and there is no other slowdown" {
  begin 300s
  local at times=(40 87 151 200 262)
  for at in "${times[@]}"; do
    until_s "$at"
    link 1 5mbit
    sleep 0.2
    link 1 100mbit
  done
  finish
  near "${times[@]}"
}
@test "a link that is 5 % slower after 50 s is a change of level within 5 s of it, in nine runs of ten" {
  local found=0 runs=${BUSBAR_REPEATS:-10}
  for ((run = 0; run < runs; ++run)); do
    link 1 100mbit
    begin 100s --interval 0.5s
    until_s 50
    link 1 95mbit
    finish
    ! grep -qE '^# level: median time [0-9.]+ % longer from 00:00:(4[5-9]|5[0-5]) to the end' "$DIR/t.csv" || found=$((found + 1))
    rm "$DIR/t.csv"
  done
  echo "found in $found of $runs"
  [ $((10 * found)) -ge $((9 * runs)) ]
}
