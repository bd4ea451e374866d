#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The 99.9th percentile of a row, of one visit or several.
load ../common

setup() { common_setup; }

isolated() {
  timeout 200 mpirun -np 2 ./allreduce_perf --host-limits off --placement out --cadence isolated --csv "$DIR/a.csv" "$@"
}

@test "the tail is of all visits' samples, and a tail of few samples is none" {
  isolated --visits 8 -b 1K -e 2K -n 1600
  column samples,time_median_us,time_p99_us,time_p999_us,time_max_us "$DIR/a.csv" |
    awk -F'|' '$1 != 1600 || $4 < $3 || $4 > $5 { bad = 1 }
               END { exit bad || NR != 2 }'
  rm "$DIR/a.csv"
  isolated -b 1K -e 1K -n 1000
  [ -n "$(column time_p999_us "$DIR/a.csv")" ]
  rm "$DIR/a.csv"
  isolated -b 1K -e 1K -n 999
  [ -z "$(column time_p999_us "$DIR/a.csv")" ]
}
