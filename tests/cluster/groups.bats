#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Rounds of groups of hosts inside one launch, over links of their own.
load common

# slow_hosts: the hosts of the rows below a quarter of the fastest, by how many rows each is in.
slow_hosts() {
  column busbw_GBps,hosts "$DIR/a.csv" | awk -F'|' '{ rate[NR] = $1; hosts[NR] = $2; if ($1 > most) most = $1 }
    END { for (i = 1; i <= NR; ++i) if (rate[i] < most / 4) print hosts[i] }' | tr ' ' '\n' | sort | uniq -c | sort -rn | xargs
}

# bats test_tags=ci
@test "random pairs of hosts in one launch show a throttled host in all of its rounds" {
  with rendezvous
  "$CLUSTER" throttle h2 50mbit
  "${START[@]}" -b 1M -e 1M -n 5 -w 1 --placement out --groups random-pairs:3 --csv "$DIR/a.csv" > "$DIR/out"
  "$CLUSTER" unthrottle h2
  cat "$DIR/out"
  [ "$(column round,status,wrong,ranks,nodes,groups_seed "$DIR/a.csv" | uniq -c | xargs)" = \
    "2 0|ok|0|2|2|1 2 1|ok|0|2|2|1 2 2|ok|0|2|2|1" ]
  [ "$(column hosts "$DIR/a.csv" | sort -u | wc -l)" -eq 6 ]
  [[ $(slow_hosts) == "3 h2 "* ]]
}

@test "groups of hosts connect by MPI, too" {
  with hydra
  timeout 60 "${START[@]}" ./allreduce_perf -b 64K -e 64K -n 3 -w 1 --placement out --groups pairs --csv "$DIR/a.csv" > "$DIR/out"
  [ "$(column status,wrong,nodes "$DIR/a.csv" | sort -u)" = "ok|0|2" ]
  [ "$(column hosts "$DIR/a.csv" | sort -u | wc -l)" -eq 6 ]
}
