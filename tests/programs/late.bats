#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=mpi
# Who is last to arrive. Delays are of 20 ms, since the machine that runs this may be busy; tests/cluster/late.bats has small ones.
load ../common

LATE=(-b 64K -e 64K --placement out --host-limits off --time-budget 2)

# bats test_tags=quick
@test "a rank that is delayed is named in its row, below the table and in the report" {
  mpirun -np 4 ./allreduce_perf "${LATE[@]}" --inject-delay 2:20000 --csv "$DIR/a.csv" > "$DIR/out"
  cat "$DIR/out"
  [ "$(column last_rank,last_host "$DIR/a.csv")" = "2|$(hostname)" ]
  [[ $(column flags "$DIR/a.csv") == *delay-injected* ]]
  awk -v late="$(column late_by_us "$DIR/a.csv")" 'BEGIN { exit !(late > 10000) }'
  awk -v load="$(column load_us "$DIR/a.csv")" 'BEGIN { exit !(load >= 20000) }'
  grep -q "^# last to arrive: rank 2 on .* in 1 of 1 measurements, late by up to " "$DIR/out"
  ./busbar report "$DIR/a.csv" -o "$DIR/report.md" > "$DIR/out"
  grep -q "last to arrive: rank 2 on " "$DIR/report.md"
}

@test "an operation that has no common end names nobody" {
  mpirun -np 4 ./broadcast_perf "${LATE[@]}" --inject-delay 2:20000 --csv "$DIR/a.csv" > "$DIR/out"
  [ "$(column last_rank,last_host,last_share,late_by_us "$DIR/a.csv")" = "|||" ]
}

@test "--per-rank has every rank's time of every sample, and its figure a point of each" {
  for load in copy:1M spin:500; do
    rm -f "$DIR"/*.csv
    mpirun -np 4 ./allreduce_perf "${LATE[@]}" -n 30 --load "$load" --csv "$DIR/a.csv" --per-rank "$DIR/p.csv" > "$DIR/out"
    [[ $(column flags "$DIR/a.csv") == *loaded* ]]
    [ "$(column samples "$DIR/a.csv")" -eq 30 ]
    awk -v load="$(column load_us "$DIR/a.csv")" 'BEGIN { exit !(load > 10) }'
    [ "$(column sample,rank "$DIR/p.csv" | sort -u | wc -l)" -eq 120 ]
    [ "$(column host "$DIR/p.csv" | sort -u)" = "$(hostname)" ]
  done
  ./busbar plot "$DIR/p.csv" -o "$DIR/plots" --format svg
  [ "$(ls "$DIR/plots")" = "$(printf 'ranks.gp\nranks.svg')" ]
}

@test "a run in visits and one of groups name the rank of the job" {
  mpirun -np 4 ./allreduce_perf "${LATE[@]}" --visits 4 --inject-delay 3:20000 --csv "$DIR/a.csv" > "$DIR/out"
  [[ $(column last_rank "$DIR/a.csv") == 3 ]]
  NCCL_TESTS_SPLIT='MOD 2' mpirun -np 4 ./allreduce_perf "${LATE[@]}" --inject-delay 3:20000 --csv "$DIR/b.csv" > "$DIR/out"
  [ "$(column group,last_rank "$DIR/b.csv" | xargs)" = "0| 1|3" ]
}

@test "a delay or a load that cannot be is refused" {
  COMMAND=(./allreduce_perf "${LATE[@]}")
  refused "there is no rank 2; give 0" --inject-delay 2:100
  refused "--load copy: needs 1800 TiB of each rank" --load copy:900T
}
