#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# A rank that is late by little, or has to share, is named in ten launches of ten on four hosts, and nobody else is.
load ../cluster/common

setup_file() { cluster_setup_file; }
teardown_file() { cluster_teardown_file; }
setup() {
  cluster_setup
  needs_mpich "ranks are started by Hydra"
}

# Rank 5 has a process beside it in its session, between which the kernel shares a rank's time.
beside_rank_5() {  # beside_rank_5 COMMAND...
  cat > "$DIR/rank" <<END
#!/bin/sh
[ "\$PMI_RANK" != 5 ] || setpriv --pdeathsig KILL $* > /dev/null 2>&1 &
exec "\$@"
END
  chmod +x "$DIR/rank"
}

# ten_launches OPTIONS... : eight ranks on four hosts, ten times; every row's last rank, or "nobody".
ten_launches() {
  local launch
  for launch in {1..10}; do
    timeout 60 mpiexec "${LAUNCHER[@]}" -hosts h0,h1,h2,h3 -np 8 -ppn 2 "${RANK[@]}" ./allreduce_perf -b 8K -e 32K \
      --placement out --time-budget 2 --host-limits off "$@" --csv "$DIR/$launch.csv" > "$DIR/out" ||
      grep -q '^# finished: ' "$DIR/$launch.csv"
    column last_rank,last_host,late_by_us,time_median_us,load_us "$DIR/$launch.csv" | xargs >&2
    column last_rank,last_host "$DIR/$launch.csv" | sort | uniq -c | sort -rn | awk -v n="$launch" '{ print n, $2, $1 }'
    rm "$DIR/$launch.csv"
  done
}

# Of each launch the rank that most rows name; nobody else is named in any.
named_in_ten() { [ "$(awk '$2 != "|" { print $1, $2 }' "$1" | sort -un)" = "$(for n in {1..10}; do echo "$n $2"; done)" ]; }

@test "a rank that is 200 us late before each operation is named" {
  RANK=()
  ten_launches --inject-delay 5:200 > "$DIR/named"
  cat "$DIR/named"
  named_in_ten "$DIR/named" "5|h2"
}

@test "a rank that shares its processor is named" {
  beside_rank_5 sh -c "'while :; do :; done'"
  RANK=("$DIR/rank")
  ten_launches --load spin:200 > "$DIR/named"
  cat "$DIR/named"
  named_in_ten "$DIR/named" "5|h2"
}

@test "a rank beside which memory is copied is named" {
  beside_rank_5 dd if=/dev/zero of=/dev/null bs=64M
  RANK=("$DIR/rank")
  ten_launches --load copy:4M > "$DIR/named"
  cat "$DIR/named"
  named_in_ten "$DIR/named" "5|h2"
}

@test "where no rank is late nobody is named" {
  RANK=()
  for load in "" "--load spin:200" "--load copy:4M"; do
    # shellcheck disable=SC2086  # an option and its value
    ten_launches $load > "$DIR/named"
    echo "${load:-no load}:"; cat "$DIR/named"
    [ "$(awk '$2 != "|"' "$DIR/named" | wc -l)" -eq 0 ]
  done
}
