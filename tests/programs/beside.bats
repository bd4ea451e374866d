#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=mpi
# A load that runs during the operations: --load beside. Both wait for one processor, so that each takes about twice as
# long; limits are far from that.
load ../common

BESIDE=(-b 256K -e 256K --placement out --host-limits off --time-budget 2)
EFFECT=slowdown,slowdown_p99,load_slowdown

@test "operations and a load beside them slow each other, in a row behind the one that is measured without" {
  timeout 100 mpirun -np 2 ./allreduce_perf "${BESIDE[@]}" --bind core --load beside:spin:100 --csv "$DIR/a.csv" > "$DIR/out"
  cat "$DIR/out"
  [ "$(column mix,status,load_us "$DIR/a.csv")" = "|ok|
beside load|ok|" ]
  [ "$(column "$EFFECT" "$DIR/a.csv" | head -n 1)" = "||" ]
  # Each well above one, with its interval.
  column slowdown,slowdown_low,slowdown_high,load_slowdown,load_slowdown_low,load_slowdown_high "$DIR/a.csv" | tail -n 1 |
    awk -F'|' '{ exit !($1 > 1.1 && $2 <= $1 && $1 <= $3 && $4 > 1.1 && $5 <= $4 && $4 <= $6) }'
  run ! grep -qw loaded <(column flags "$DIR/a.csv")
  grep -q "^# beside load  allreduce  256 KiB .*$(column load_slowdown "$DIR/a.csv" | tail -n 1 | cut -c1-3)" "$DIR/out"
}

@test "a copy beside leaves the data right, and goes with counts, visits, pairs and groups" {
  local options more
  for options in '-n 5 --placement in' '--visits 4' '--groups mod:2' '--cadence isolated --pages small' '-m 3 --cache rotate'; do
    rm -f "$DIR/a.csv"
    read -ra more <<< "$options"
    timeout 100 mpirun -np 4 ./allreduce_perf "${BESIDE[@]}" --time-budget 0.3 --load beside:copy:4M "${more[@]}" --csv "$DIR/a.csv" > "$DIR/out"
    [ "$(column status,wrong "$DIR/a.csv" | sort -u)" = "ok|0" ]
    column "mix,$EFFECT" "$DIR/a.csv" | grep ^beside |
      awk -F'|' '{ for (i = 2; i <= 4; ++i) if ($i <= 0) bad = 1 } END { exit bad || NR == 0 }'
  done
  timeout 100 mpirun -np 2 ./sendrecv_perf "${BESIDE[@]}" --time-budget 0.3 --load beside:copy:4M --pairs all --csv "$DIR/b.csv" > "$DIR/out"
  [ "$(column load_slowdown "$DIR/b.csv" | awk '$1 > 0' | wc -l)" -eq 2 ]
}
