#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Ranks that find each other without MPI: by busbar itself (-g --launcher local), by an address, by torchrun's variables;
# and what is reported when one does not come, dies, stops or is a stranger.
load ../common

setup() {
  common_setup
  # A port below those that the kernel gives away, which tests at the same time hardly share.
  PORT=$((20000 + (BASHPID * 7 + BATS_TEST_NUMBER * 131) % 9000))
  while [ -n "$(ss -Hltn "sport = :$PORT")" ]; do PORT=$((PORT + 1)); done
  QUICK+=(--placement out)
  needs_gloo
}
# rank N [OPTIONS...]: rank N of three at $PORT, in the background; its words in $DIR/N.out and $DIR/N.err, its exit code in $DIR/N.code.
rank() {
  {
    code=0
    ./allreduce_perf --rendezvous "127.0.0.1:$PORT" --rank "$1" "${QUICK[@]}" --ranks 3 "${@:2}" > "$DIR/$1.out" 2> "$DIR/$1.err" || code=$?
    echo "$code" > "$DIR/$1.code"
  } 3>&- &
}
codes() { cat "$DIR"/[0-9]*.code | xargs; }
# job OPTIONS...: three ranks that go on until something breaks, in the background; returns when there is a row.
job() {
  ./allreduce_perf -g 3 --launcher local -b 1M -e 1M -n 20 -w 1 -N 1000000 --host-limits off --csv "$DIR/a.csv" "$@" \
    > "$DIR/out" 2> "$DIR/err" 3>&- &
  JOB=$!
  wait_for_rows 2
}
# connected N: N connections to rank 0 are open.
connected() { [ "$(ss -Htn state established "sport = :$PORT" | wc -l)" -ge "$1" ]; }
# hold_port: listens at a port of the kernel's choice, now $PORT, until the test ends; its process is in HOLDER.
hold_port() {
  python3 -c "import socket, sys; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True); sys.stdin.read()" \
    < "$DIR/stdin" > "$DIR/port" 3>&- &
  HOLDER=$!
  eventually test -s "$DIR/port"
  read -r PORT < "$DIR/port"
}
# ends CODE WORDS: the job of job() ends with this code and one line with these words; its rows are kept.
ends() {
  local code=0
  wait "$JOB" || code=$?
  cat "$DIR/err"
  [ "$code" -eq "$1" ]
  [ "$(wc -l < "$DIR/err")" -eq 1 ]
  grep -qE "$2" "$DIR/err"
  nothing_runs "$DIR/a.csv"
  [ "$(rows "$DIR/a.csv" | wc -l)" -ge 2 ]
}

@test "-g with --launcher local needs no MPI: the header names what joined the ranks, and what they measure by" {
  run -0 ./allreduce_perf -g 3 --launcher local "${QUICK[@]}" --csv "$DIR/a.csv"
  [[ $output == *"all-reduce over Gloo "* ]]
  [[ $output == *"ranks are connected by TCP"* ]]
  grep -q '^# bootstrap: TCP' "$DIR/a.csv"
  [ "$(column backend,ranks,nodes,status,wrong "$DIR/a.csv" | sort -u)" = "gloo|3|1|ok|0" ]
  [[ $(grep environment "$DIR/a.csv") != *TOKEN* ]]
}
# bats test_tags=quick
@test "every collective is right over Gloo" {
  local collective placement
  for collective in $ALL; do
    placement=out
    [ "$collective" != reducescatter ] || placement=in
    ./"${collective}_perf" -g 3 --launcher local "${QUICK[@]}" --placement "$placement" --csv "$DIR/$collective.csv"
    [ "$(column status,wrong "$DIR/$collective.csv" | sort -u)" = "ok|0" ]
  done
}
@test "unequal parts are right over Gloo" {
  ./alltoallv_perf -g 3 --launcher local "${QUICK[@]}" --placement out --skew sparse:0.4 --csv "$DIR/a.csv"
  [ "$(column status,wrong "$DIR/a.csv" | sort -u)" = "ok|0" ]
}
# bats test_tags=quick
@test "ranks meet at an address, in any order, with a token" {
  export BUSBAR_TOKEN=opensesame
  rank 2
  rank 1
  rank 0
  wait
  [ "$(codes)" = "0 0 0" ]
  grep -q 'TCP (--rendezvous)' "$DIR/0.out"
  run ! grep -rq opensesame "$DIR"
}
@test "torchrun's variables are enough, beside the port that its agent holds" {
  local rank
  hold_port
  export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=2 TORCHELASTIC_USE_AGENT_STORE=True
  for rank in 0 1; do RANK=$rank ./allreduce_perf "${QUICK[@]}" > "$DIR/$rank.out" 3>&- & done
  wait %2 %3
  kill "$HOLDER"
  grep -q 'TCP (torchrun)' "$DIR/0.out"
}
# descriptors PID: how many it has, and threads.
descriptors() { echo $(($(find "/proc/$1/fd" -mindepth 1 | wc -l) + $(find "/proc/$1/task" -mindepth 1 -maxdepth 1 | wc -l))); }
@test "groups connect among themselves, and give everything back after their round" {
  local ranks=('0 1' '1-2') i rounds=""
  for ((i = 0; i < 60; ++i)); do rounds+="${rounds:+;}$i,0,${ranks[i % 2]}"; done
  ./allreduce_perf -g 3 --launcher local -b 256K -e 256K -n 100 -w 1 --placement out --host-limits off \
    --groups "$rounds" --csv "$DIR/a.csv" > "$DIR/out" 3>&- &
  JOB=$!
  wait_for_rows 4
  local first last
  first=$(descriptors "$(process_of 1)")
  wait_for_rows 50
  last=$(descriptors "$(process_of 1)")
  wait "$JOB"
  echo "$first $last"
  [ "$last" -le $((first + 5)) ]  # a round may be about to begin
  [ "$(column status,wrong "$DIR/a.csv" | sort -u)" = "ok|0" ]
  [ "$(column round "$DIR/a.csv" | sort -u | wc -l)" -eq 60 ]
}
@test "containers of one host with names of their own are nodes of their own" {
  unshare --uts true 2> /dev/null || skip "UTS namespaces cannot be made"
  local meet=(./allreduce_perf --rendezvous "127.0.0.1:$PORT" --ranks 2 "${QUICK[@]}")
  # shellcheck disable=SC2016 # the shell inside expands it
  unshare --uts sh -c 'hostname n2 && exec "$0" "$@"' "${meet[@]}" --rank 1 3>&- &
  run -0 "${meet[@]}" --rank 0
  [[ $output == *"2 ranks on 2 nodes"* ]]
}
@test "a rank that fails by itself is reported by it alone" {
  rank 0
  rank 1
  GLOO_SOCKET_IFNAME=nope0 rank 2
  wait
  [ "$(codes)" = "4 4 4" ]
  grep -q nope0 "$DIR/2.err"
  [ "$(cat "$DIR"/?.err | wc -l)" -eq 1 ]
}
# bats test_tags=quick
@test "a rank that is killed is named in one line" {
  job
  kill -KILL "$(process_of 1)"
  ends 4 '^allreduce_perf: rank 1 \(process [0-9]+\) was ended by signal 9'
}
@test "a rank that stops is named after the timeout, rank 0 or another" {
  job -T 2
  kill -STOP "$(process_of 2)"
  ends 4 'timeout: no progress for 2 s \(-T\): rank 2 on .* does not answer; 2 others wait in: all-reduce 1 MiB '
  rm "$DIR/a.csv"
  job -T 2
  kill -STOP "$(process_of 0)"
  ends 4 'timeout: no progress for 2 s \(-T\): rank 0 on .* does not answer; rank 1 on .* waits in: all-reduce 1 MiB '
}
@test "Ctrl-C ends all ranks, and the rows are kept" {
  job
  kill -TERM "$JOB"
  wait "$JOB" || true
  [ ! -s "$DIR/err" ]
  nothing_runs "$DIR/a.csv"
  [ "$(rows "$DIR/a.csv" | wc -l)" -ge 2 ]
}
@test "a rank that is there already, and one of another number of ranks, are refused, and the job goes on" {
  rank 0
  rank 1
  eventually connected 2  # its second connection comes once the first has joined
  COMMAND=(./allreduce_perf --rendezvous "127.0.0.1:$PORT")
  refused ": rank 1 has already joined (" --rank 1 --ranks 3
  refused "it was started as one of 4 ranks, but rank 0 as one of 3 ranks" --rank 2 --ranks 4
  rank 2
  wait
  [ "$(codes)" = "0 0 0" ]
}
@test "visits, values of a setting, a row that goes on, groups and all pairs are measured over Gloo, too" {
  local GLOO=(./allreduce_perf -g 2 --launcher local "${QUICK[@]}" -b 1K -e 1K -n 8 --csv)
  "${GLOO[@]}" "$DIR/v.csv" --visits 4
  [ "$(column visits,status,wrong "$DIR/v.csv")" = "4|ok|0" ]
  "${GLOO[@]}" "$DIR/w.csv" --vary agg_iters=1,2 --visits 4
  [ "$(column variant,status,wrong "$DIR/w.csv" | xargs)" = "agg_iters=1|ok|0 agg_iters=2|ok|0" ]
  ./allreduce_perf -g 2 --launcher local -b 1K -e 1K --placement out --host-limits off --duration 1s --csv "$DIR/d.csv"
  [ "$(column stop_reason,status,wrong "$DIR/d.csv")" = "duration|ok|0" ]
  NCCL_TESTS_SPLIT=%2 ./allreduce_perf -g 4 --launcher local "${QUICK[@]}" --csv "$DIR/s.csv"
  [ "$(column ranks,status,wrong "$DIR/s.csv" | sort -u)" = "2|ok|0" ]
  ./sendrecv_perf -g 3 --launcher local "${QUICK[@]}" --pairs all --csv "$DIR/p.csv"
  [ "$(column sender,receiver "$DIR/p.csv" | sort -u | wc -l)" -eq 6 ]
}
@test "a rank that comes when all are there is refused" {
  rank 0 -b 1M -e 1M -n 20 -N 100000 -T 30 --csv "$DIR/a.csv"
  rank 1 -b 1M -e 1M -n 20 -N 100000 -T 30
  rank 2 -b 1M -e 1M -n 20 -N 100000 -T 30
  eventually test -e "$DIR/a.csv"
  COMMAND=(./allreduce_perf --rendezvous "127.0.0.1:$PORT" --rank 2 --ranks 3)
  refused "the job has begun with all of its ranks"
  sed -nE 's/^# +Rank .* Pid +([0-9]+) .*/\1/p' "$DIR/0.out" | xargs kill -KILL
  wait
}
@test "one line names each mistake" {
  COMMAND=(./allreduce_perf "${QUICK[@]}")
  refused "there is no rank 2 of 2 ranks" --rendezvous h1:9 --rank 2 --ranks 2
  refused "--rendezvous needs --ranks N or BUSBAR_RANKS" --rendezvous h1:9 --rank 1
  refused "invalid value 'sruun' for --launcher" -g 2 --launcher sruun
  refused "did you mean srun?" -g 2 --launcher sruun
  refused "--launcher local starts ranks on this host only" -g 2 --launcher local --hosts a,b
  refused "-g 3: not the same number of ranks on each of 2 hosts; give a multiple of 2" -g 3 --hosts a,b --launcher 'ssh {host} {env} {program}'
  refused "--hosts: cannot read /nowhere" -g 2 --hosts @/nowhere
  EXIT=3 refused "the ranks are not joined by MPI" -g 2 --launcher local --backend mpi
}
@test "a rank with another command line is named in one line, and all ranks end with exit 2" {
  rank 0
  rank 1
  rank 2 -o max -n 9
  wait
  [ "$(codes)" = "2 2 2" ]
  [ "$(cat "$DIR"/?.err)" = \
    "allreduce_perf: rank 2 was started with -o max, -n 9 and rank 0 with -o sum, -n 3; every rank needs the same command line" ]
}
# remote: $DIR/remote HOST WORDS... does what ssh does: a shell reads the words, with an environment of its own.
# shellcheck disable=SC2016 # the script expands it
remote() { executable "$DIR/remote" 'shift; exec env -i PATH="$PATH" bash -c "$*"'; }
# shellcheck disable=SC2016 # nothing is to be expanded
@test "what a shell on the way could read arrives as it is, and --env sets variables of ranks that have none of the starter's" {
  remote
  mkdir "$DIR/a b"
  local csv="$DIR/a b/'\$(touch x)*.csv"
  COMMAND=(./allreduce_perf "${QUICK[@]}" --backend gloo -g 2 --launcher "$DIR/remote {host} {env} {program}")
  run -0 --separate-stderr "${COMMAND[@]}" --hosts localhost --csv "$csv" --groups '0,0,0 1;1,0,0 1' --env 'NCCL_X=a  b;$c' --env NCCL_Y=
  grep -Fqx '# environment: NCCL_X=a  b;$c NCCL_Y=' "$csv"
  grep -Fq -- "--csv $csv --groups 0,0,0 1;1,0,0 1" "$csv"
  refused "is not the name of a host" --hosts 'localhost$(touch${IFS}x)'
  [ ! -e x ]
}
@test "a rank that words started and that cannot join names the host and the reason, and the launch ends" {
  COMMAND=(./allreduce_perf "${QUICK[@]}" --backend gloo)
  EXIT=4 refused "allreduce_perf: rank 1: no-such-host.invalid: cannot be resolved on " -T 120 -g 4 --hosts no-such-host.invalid,n2 \
    --launcher 'env NODE={host} {env} {program}'
  # shellcheck disable=SC2016 # the script expands it
  printf '#!/bin/bash\n[ "$1" = 0 ] || set -- "${@/#BUSBAR_RENDEZVOUS=*/BUSBAR_RENDEZVOUS=127.0.0.1:1}"\nexec "${@:2}"\n' > "$DIR/elsewhere"
  chmod +x "$DIR/elsewhere"
  EXIT=4 refused "rank 1 could not join at 127.0.0.1:1 within 5 s (Connection refused)" -T 5 -g 3 --hosts localhost \
    --launcher "env NODE={host} $DIR/elsewhere {rank} {env} {program}"
  EXIT=3 refused "PATH has no no-such-launcher" -g 2 --hosts localhost --launcher 'no-such-launcher {host} {env} {program}'
}
