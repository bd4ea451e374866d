#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=mpi
load ../common

setup() {
  common_setup
  LONG=(-b 1K -e 1M --host-limits off --csv "$DIR/a.csv" --time-budget 0.1 --ci-width 0.01)
}

# A small disk, also where a rank still ends on it.
teardown() { [ ! -d "$DIR/small" ] || umount -l "$DIR/small" 2> /dev/null || true; }

# start OPTIONS... : a long run of three ranks in the background, with $DIR/a.csv.
start() {
  mpirun -np 3 ./allreduce_perf "${LONG[@]}" "$@" \
    > "$DIR/out" 2> "$DIR/err" 3>&- &
  LAUNCHER=$!
}

has_ended() { ! kill -0 "$LAUNCHER" 2> /dev/null; }
ends() {  # the exit status is in ENDED
  eventually has_ended
  wait "$LAUNCHER" && ENDED=0 || ENDED=$?
}

# Open MPI's launcher takes its time to end the other ranks: they may repeat the line, and a rank that it
# wakes before it kills it may make the library complain.
one_message() {
  cat "$DIR/err"
  [ "$(grep '^allreduce_perf: ' "$DIR/err" | sort -u | wc -l)" -eq 1 ]
  [ "$BUSBAR_TEST_MPI" != mpich ] || [ "$(wc -l < "$DIR/err")" -eq 1 ]
}

# bats test_tags=quick,ci
@test "a killed rank ends the job, rows are kept, and --resume completes them" {
  start
  wait_for_rows 3
  kill -9 "$(process_of 1)"
  ends
  [ "$ENDED" -ne 0 ]
  nothing_runs "$DIR/a.csv"
  kept=$(rows "$DIR/a.csv")
  printf 'allreduce,mpi,3,1,flo' >> "$DIR/a.csv"  # as if the kill had struck in the middle of a line
  run -0 mpirun -np 3 ./allreduce_perf "${LONG[@]}" --resume -J "$DIR/a.json"
  [ "$(rows "$DIR/a.csv" | wc -l)" -eq 22 ]
  [ "$(rows "$DIR/a.csv" | head -n "$(wc -l <<<"$kept")")" = "$kept" ]
  [ "$(table | wc -l)" -eq 11 ]
  [ "$(jq '.rows | length' "$DIR/a.json")" -eq 22 ]
  [ "$(paste -d' ' <(column size_bytes "$DIR/a.csv") <(column in_place "$DIR/a.csv") | sort -u | wc -l)" -eq 22 ]
}

@test "a run in visits that is killed loses no visit, and --resume makes only what is missing" {
  start --visits 4 -n 400
  eventually has_lines 12 . "$DIR/a.csv.visits"  # with a line of the head
  kill -9 "$(process_of 0)"
  ends
  cp "$DIR/a.csv.visits" "$DIR/before"
  run -0 mpirun -np 3 ./allreduce_perf "${LONG[@]}" --visits 4 -n 400 --resume
  [ ! -e "$DIR/a.csv.visits" ]
  [ "$(paste -d' ' <(column size_bytes "$DIR/a.csv") <(column in_place "$DIR/a.csv") | sort -u | wc -l)" -eq 22 ]
  [ "$(rows "$DIR/a.csv" | wc -l)" -eq 22 ]
  [ "$(column visits "$DIR/a.csv" | sort -u)" = 4 ]
  [ "$(column operations "$DIR/a.csv" | sort -u)" = 400 ]
  [ "$(wc -l < "$DIR/before")" -ge 12 ]
}

@test "rank 0 killed leaves whole documents" {
  start -N 0 -J "$DIR/a.json" --samples "$DIR/s.csv"
  wait_for_rows 3
  kill -9 "$(process_of 0)"
  ends
  [ "$ENDED" -ne 0 ]
  [ "$(jq '.rows | length' "$DIR/a.json")" -ge 2 ]
  [ "$(column finished_at "$DIR/a.csv" | grep -vcE '^20[0-9-]{8} [0-9:]{8}$')" -eq 0 ]
  nothing_runs "$DIR/a.csv"
}

# bats test_tags=ci
@test "an interrupted run has its rows on disk and can go on" {
  start -N 2
  wait_for_rows 2
  kill -INT "$LAUNCHER"
  ends
  nothing_runs "$DIR/a.csv"
  kept=$(rows "$DIR/a.csv" | wc -l)
  [ "$kept" -lt 44 ]
  run -0 mpirun -np 3 ./allreduce_perf "${LONG[@]}" -N 2 --resume
  [ "$(column cycle,size_bytes,in_place "$DIR/a.csv" | sort -u | wc -l)" -eq 44 ]
}

@test "--resume refuses rows of another configuration and names the difference" {
  run mpirun -np 2 ./allreduce_perf "${QUICK[@]}" --csv "$DIR/a.csv" -J "$DIR/a.json"
  cat "$DIR/a.csv" "$DIR/a.json" > "$DIR/before"
  local resumed=(./allreduce_perf "${QUICK[@]}" --csv "$DIR/a.csv" -J "$DIR/a.json" --resume)
  COMMAND=(mpirun -np)
  refused "aggregation=max, this run aggregation=mean" 2 "${resumed[@]}" -a 1
  refused "ranks=2, this run ranks=3" 3 "${resumed[@]}"
  NCCL_ALGO=Ring refused "NCCL_ALGO=Ring" 2 "${resumed[@]}"
  cat "$DIR/a.csv" "$DIR/a.json" | cmp - "$DIR/before"
}

# bats test_tags=quick
@test "--resume of a finished file measures nothing" {
  run mpirun -np 2 ./allreduce_perf "${QUICK[@]}" --csv "$DIR/a.csv"
  before=$(rows "$DIR/a.csv")
  run -0 mpirun -np 2 ./allreduce_perf "${QUICK[@]}" --csv "$DIR/a.csv" --resume
  [ "$(rows "$DIR/a.csv")" = "$before" ]
  [ "$(table | wc -l)" -eq 3 ]
}

stopped() {  # stopped RANK WORDS: the job ends with 4 and one line with the words; rows are kept
  start -T 2
  wait_for_rows 2
  kill -STOP "$(process_of "$1")"
  ends
  [ "$ENDED" -eq 4 ]
  one_message
  nothing_runs "$DIR/a.csv"
  grep -q "timeout: no progress for 2 s (-T): rank $1 on $(uname -n) does not answer; $2 in: all-reduce " "$DIR/err"
  has_rows 2
}
# bats test_tags=quick,ci
@test "a rank that stops is a timeout: one line, exit 4, rows are kept" { stopped 1 "2 others wait"; }
@test "a stopped rank 0 is a timeout that another rank tells" { stopped 0 "rank 1 on $(uname -n) waits"; }

@test "a job that is suspended and continued goes on" {
  start -T 3
  wait_for_rows 2
  pids=$(process_of 0; process_of 1; process_of 2)
  # shellcheck disable=SC2086 # three numbers
  kill -STOP $pids
  sleep 4  # longer than the timeout
  # shellcheck disable=SC2086
  kill -CONT $pids
  ends
  [ "$ENDED" -eq 0 ]
  [ ! -s "$DIR/err" ]
  [ "$(rows "$DIR/a.csv" | wc -l)" -eq 22 ]
}

@test "a rank that lives and hangs is named with its operation, and who waits for it is not" {
  needs_mpich "Open MPI's root waits in the same broadcast"
  "${CC:-cc}" -shared -fPIC -o "$DIR/stop_at.so" tests/fixtures/stop_at.c
  run -4 --separate-stderr env LD_PRELOAD="$DIR/stop_at.so" STOP_RANK=2 STOP_CALL=MPI_Bcast STOP_AT=7 STOP_HOW=hang \
    mpirun -np 3 ./broadcast_perf -b 1K -e 1K -w 0 -n 20 --placement in --progress block --host-limits off -T 3
  echo "$stderr"
  [[ $stderr == *"(-T): rank 2 on $(uname -n) is behind, broadcast 1 KiB in place, timing, in operation 7 for "*" s; 2 others wait after operation 20; finished rows are kept" ]]
}

@test "-T 0 opens no channel beside MPI" {
  local listening
  start -T 0 -N 100
  wait_for_rows 1
  listening=$(ss -Htnp state established | grep -c "pid=$(process_of 0),") || true
  kill "$LAUNCHER"
  ends
  rm "$DIR/a.csv"
  start -N 100
  wait_for_rows 1
  [ "$(ss -Htnp state established | grep -c "pid=$(process_of 0),")" -eq $((listening + 2)) ]
  kill "$LAUNCHER"
  ends
}

@test "memory that a rank does not get is a skipped row with the reason, not the end" {
  run -0 --separate-stderr bash -c "ulimit -v 6000000 && exec mpirun -np 2 ./allreduce_perf -b 8K -e 8G -f 1048576 \
    -n 1 -w 0 --memory-limit 1T --csv '$DIR/a.csv'"
  [ "$(column status "$DIR/a.csv" | xargs)" = "ok ok skipped skipped" ]
  [ "$(column reason "$DIR/a.csv" | grep -c 'could not allocate')" -eq 2 ]
}

@test "what one rank alone cannot do ends the job with its line" {
  local job=(./allreduce_perf -b 1K -e 1K -n 3 --host-limits off --load)
  for load in copy:400M beside:copy:400M; do
    # shellcheck disable=SC2016 # of the shell that it starts
    run -3 --separate-stderr timeout 20 mpirun -np 1 "${job[@]}" "$load" : \
      -np 1 bash -c 'ulimit -v 1000000; exec "$@"' - "${job[@]}" "$load"
    [[ $stderr == *"allreduce_perf: rank 1: no memory for a buffer of 400 MiB"* ]]
  done
}

@test "a disk that fills up keeps the rows that were written" {
  [ "$(id -u)" -eq 0 ] || skip "mounting a small disk needs root"
  mkdir "$DIR/small"
  mount -t tmpfs -o size=12k tmpfs "$DIR/small" 2> /dev/null || skip "cannot mount a tmpfs here"
  run --separate-stderr mpirun -np 2 ./allreduce_perf -b 8 -e 1M -n 2 -w 0 -N 3 --csv "$DIR/small/a.csv"
  whole=$(column finished_at "$DIR/small/a.csv" | grep -cE '^[0-9-]{10} [0-9:]{8}$' || true)
  [ "$status" -eq 4 ]
  [ "${#stderr_lines[@]}" -eq 1 ]
  [ "$whole" -ge 5 ]
}

@test "ranks of one job with another type, program or a mistake are named in one line, and nothing is measured" {
  local usual=(-np 2 ./allreduce_perf "${QUICK[@]}")
  COMMAND=(mpirun "${usual[@]}" : -np 1)
  refused "rank 2 was started with -d double and rank 0 with -d float" ./allreduce_perf "${QUICK[@]}" -d double
  refused "rank 2 runs broadcast_perf and rank 0 allreduce_perf" ./broadcast_perf "${QUICK[@]}"
  refused "rank 2: -b: '1,000' is not a size" ./allreduce_perf -b 1,000
  refused "rank 2: --backend sim: one process predicts all ranks" ./allreduce_perf --backend sim --system dgx-2
  COMMAND=(mpirun -np 1)
  refused "rank 0: -b: '1,000' is not a size" ./allreduce_perf -b 1,000 : "${usual[@]}"
}
