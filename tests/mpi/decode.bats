#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=any-mpi
# Small operations with their tail, drained and back to back: --preset decode.
load ../common

setup() { common_setup; }

decode() { timeout 200 mpirun -np 2 ./allreduce_perf --host-limits off --csv "$DIR/a.csv" "$@" > "$DIR/out"; cat "$DIR/out"; }

@test "a preset's sizes, cadence and visits, with the period of each size" {
  decode --preset decode -n 8
  [ "$(column size_bytes "$DIR/a.csv" | xargs)" = "$(for i in {10..20}; do echo $((1 << i)); done | xargs)" ]
  [ "$(column cadence,visits,samples,in_place,predicted_us,time_p999_us "$DIR/a.csv" | sort -u)" = "isolated|8|8|0||" ]
  [ "$(column period_us "$DIR/a.csv" | awk '$1 > 0' | wc -l)" -eq 11 ]
  grep -q '^# configuration: .* preset=decode ' "$DIR/a.csv"
  [ "$(sed -n '/^# Drained, back to back/,/^#$/p' "$DIR/out" | grep -c '^# *[0-9]* *out .* - .* -$')" -eq 11 ]
  [ "$(grep -c bandwidth "$DIR/out")" -eq 1 ]
}

@test "the tail is of all visits' samples, and a tail of few samples is none" {
  decode --preset decode -b 1K -e 2K --time-budget 4
  column samples,time_median_us,time_p99_us,time_p999_us,time_max_us "$DIR/a.csv"
  column samples,time_median_us,time_p99_us,time_p999_us,time_max_us "$DIR/a.csv" |
    awk -F'|' '$1 > 500 && $1 < 1000 && $4 != "" || $1 >= 1000 && ($4 < $3 || $4 > $5) || $1 <= 500 { bad = 1 }
               END { exit bad || NR != 2 }'
  rm "$DIR/a.csv"
  decode -b 1K -e 1K -n 1000 --placement out --cadence isolated
  [ -n "$(column time_p999_us "$DIR/a.csv")" ]
  [ -z "$(column period_us "$DIR/a.csv")" ]
  rm "$DIR/a.csv"
  decode -b 1K -e 1K -n 999 --placement out --cadence isolated
  [ -z "$(column time_p999_us "$DIR/a.csv")" ]
}

@test "what is given goes before the preset, wherever it stands" {
  decode -e 2K --cadence streaming --preset decode -n 20 --visits 4 --placement in
  [ "$(column size_bytes,cadence,visits,operations,in_place "$DIR/a.csv" | xargs)" = "1024|streaming|4|20|1 2048|streaming|4|20|1" ]
  grep -q '^# *1024 *in ' "$DIR/out"
}

@test "a preset that cannot be is refused" {
  COMMAND=(mpirun -np 2 ./allreduce_perf)
  refused "expected none or decode" --preset train
  refused "--duration and --preset are mutually exclusive" --preset decode --duration 5s -b 1K -e 1K
  COMMAND=(./allreduce_perf)
  refused "--preset has no effect with --backend sim" --backend sim --system dgx-2 --preset decode
}
