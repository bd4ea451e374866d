#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# A run in visits that is killed again and again ends with the rows of one that is not, and loses no visit.
load ../common

setup() { common_setup; }

visits_on_disk() { grep -cs $'\x1e' "$DIR/a.csv.visits" || true; }

@test "ten kills at random times lose no visit and double no row" {
  local run=(mpirun -np 16 ./allreduce_perf -b 1M -e 16M --visits 4 --csv "$DIR/a.csv" --time-budget 8 --host-limits off)
  local kills=0 before=0 now
  RANDOM=1
  "${run[@]}" > "$DIR/out" 3>&- &
  while [ "$kills" -lt 10 ]; do
    sleep "$((RANDOM % 5 + 3)).$((RANDOM % 10))"
    pkill -9 -f -- "--csv $DIR/a.csv" || break  # it has ended
    wait || true
    kills=$((kills + 1))
    now=$(visits_on_disk)
    echo "kill $kills: $now visits on disk"
    [ "$now" -ge "$before" ]
    before=$now
    "${run[@]}" --resume > "$DIR/out" 3>&- &
  done
  wait
  [ "$kills" -eq 10 ]
  [ ! -e "$DIR/a.csv.visits" ]
  [ "$(rows "$DIR/a.csv" | wc -l)" -eq 10 ]
  [ "$(column size_bytes,in_place "$DIR/a.csv" | sort -u | wc -l)" -eq 10 ]
  [ "$(column status "$DIR/a.csv" | sort -u)" = ok ]
  # Every visit that was on disk is in the rows.
  [ "$(column visits "$DIR/a.csv" | awk '{ sum += $1 } END { print sum }')" -ge "$before" ]
}
