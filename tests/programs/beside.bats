#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=mpi
# A load that runs during the operations: --load beside. Both wait for one processor, so that each takes about twice as
# long; limits are far from that.
load ../common

BESIDE=(-b 256K -e 256K --placement out --host-limits off --time-budget 2)
EFFECT=loaded_time_us,loaded_busbw_GBps,operation_slowdown,load_slowdown

# slower COLUMN FILE: it is well above one, and that of every row.
slower() { column "$1" "$2" | awk '$1 == "" || $1 < 1.1 { bad = 1 } END { exit bad || NR == 0 }'; }

@test "operations and a load beside them slow each other, and the row itself is measured without" {
  timeout 100 mpirun -np 2 ./allreduce_perf "${BESIDE[@]}" --bind core --load beside:spin:100 --csv "$DIR/a.csv" > "$DIR/out"
  cat "$DIR/out"
  column "time_median_us,$EFFECT" "$DIR/a.csv"
  slower operation_slowdown "$DIR/a.csv"
  slower load_slowdown "$DIR/a.csv"
  [ "$(column status,load_us "$DIR/a.csv")" = "ok|" ]
  run ! grep -qw loaded <(column flags "$DIR/a.csv")
  column size_bytes,loaded_time_us,loaded_busbw_GBps "$DIR/a.csv" |
    awk -F'|' '{ r = $3 / ($1 / $2 / 1e3); exit !(r > 0.99 && r < 1.01) }'
  grep -A2 '^# Beside the load' "$DIR/out" | grep -q "^# *262144 *out .*$(column load_slowdown "$DIR/a.csv" | cut -c1-3)"
  timeout 100 mpirun -np 2 ./allreduce_perf "${BESIDE[@]}" -n 5 --csv "$DIR/b.csv" > "$DIR/out"
  [ "$(column "$EFFECT" "$DIR/b.csv")" = "|||" ]
}

@test "a copy beside leaves the data right, and goes with counts, visits, pairs and groups" {
  local options more
  for options in '-n 5 --placement in' '--visits 4' '--groups mod:2' '--cadence isolated --pages small' '-m 3 --cache rotate'; do
    rm -f "$DIR/a.csv"
    read -ra more <<< "$options"
    timeout 100 mpirun -np 4 ./allreduce_perf "${BESIDE[@]}" --time-budget 0.3 --load beside:copy:4M "${more[@]}" --csv "$DIR/a.csv" > "$DIR/out"
    [ "$(column status,wrong "$DIR/a.csv" | sort -u)" = "ok|0" ]
    column "$EFFECT" "$DIR/a.csv" | awk -F'|' '{ for (i = 1; i <= 4; ++i) if ($i <= 0) bad = 1 } END { exit bad || NR == 0 }'
  done
  timeout 100 mpirun -np 2 ./sendrecv_perf "${BESIDE[@]}" --time-budget 0.3 --load beside:copy:4M --pairs all --csv "$DIR/b.csv" > "$DIR/out"
  [ "$(column load_slowdown "$DIR/b.csv" | awk '$1 > 0' | wc -l)" -eq 2 ]
}
