#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=soak
# A rank that is late by little, or has to share, is named in ten launches of ten on four hosts, and nobody else is.
load common

setup_file() { cluster_setup_file; }
teardown_file() { cluster_teardown_file; }
setup() {
  cluster_setup
  needs_mpich "ranks are started by Hydra"
}

# Rank 1 of two has a process beside it on its processor. With eight ranks on two processors all would have one.
beside_rank_1() {  # beside_rank_1 COMMAND...
  cat > "$DIR/rank" <<END
#!/bin/sh
[ "\$PMI_RANK" != 1 ] || setpriv --pdeathsig KILL taskset -c 1 $* > /dev/null 2>&1 &
exec "\$@"
END
  chmod +x "$DIR/rank"
  JOB=(-hosts "h0,h1" -np 2 -ppn 1 "$DIR/rank")
}

EIGHT=(-hosts "h0,h1,h2,h3" -np 8 -ppn 2)

# ten_launches OPTIONS... : ten launches of JOB; of each its number and the last rank and host, or "|".
ten_launches() {
  local launch
  for launch in {1..10}; do
    timeout 60 mpiexec "${LAUNCHER[@]}" "${JOB[@]}" ./allreduce_perf -b 8K -e 8K --placement out --time-budget 3 \
      --host-limits off "$@" --csv "$DIR/$launch.csv" > "$DIR/out" 2>&1 || grep -q '^# finished: ' "$DIR/$launch.csv"
    echo "$launch $(column last_rank,last_host "$DIR/$launch.csv")"
    column last_share,late_by_us,time_median_us,load_us,samples "$DIR/$launch.csv" >&2
    rm "$DIR/$launch.csv"
  done
}

named_in_ten() { [ "$(cat "$1")" = "$(for n in {1..10}; do echo "$n $2"; done)" ]; }  # named_in_ten FILE WHO

@test "a rank that is 200 us late before each operation is named" {
  JOB=("${EIGHT[@]}")
  ten_launches --inject-delay 5:200 > "$DIR/named"
  cat "$DIR/named"
  named_in_ten "$DIR/named" "5|h2"
}

@test "a rank that shares its processor is named" {
  beside_rank_1 sh -c "'while :; do :; done'"
  ten_launches --load spin:10000 > "$DIR/named"
  cat "$DIR/named"
  named_in_ten "$DIR/named" "1|h1"
}

@test "a rank beside which memory is copied is named" {
  beside_rank_1 dd if=/dev/zero of=/dev/null bs=64M
  ten_launches --load copy:128M > "$DIR/named"
  cat "$DIR/named"
  named_in_ten "$DIR/named" "1|h1"
}

@test "where no rank is late nobody is named" {
  JOB=("${EIGHT[@]}")
  ten_launches > "$DIR/named"
  cat "$DIR/named"
  named_in_ten "$DIR/named" "|"
  JOB=(-hosts "h0,h1" -np 2 -ppn 1)
  for load in spin:10000 copy:128M; do
    ten_launches --load "$load" > "$DIR/named"
    echo "$load:"; cat "$DIR/named"
    named_in_ten "$DIR/named" "|"
  done
}
