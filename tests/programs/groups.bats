#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=mpi
# --groups: groups of ranks that measure by themselves, round by round. Hosts are names of their own on this one.
load ../common

setup() {
  common_setup
  QUICK+=(--placement out)
  executable "$DIR/host" <<'END'
# Two ranks on a host.
rank=${PMI_RANK:-$OMPI_COMM_WORLD_RANK}
exec unshare --uts sh -c 'hostname "$0" && exec "$@"' "h$((rank / 2))" "$@"
END
}

# grouped RANKS SPEC OPTIONS...: a run on hosts of two ranks, whose rows are right.
grouped() {
  unshare --uts true 2> /dev/null || skip "UTS namespaces cannot be made"
  rm -f "$DIR/a.csv"
  run -0 timeout 120 mpirun -np "$1" "$DIR/host" ./allreduce_perf "${QUICK[@]}" -e 1K --groups "$2" "${@:3}" --csv "$DIR/a.csv"
  [ "$(column status,wrong "$DIR/a.csv" | sort -u)" = "ok|0" ]
}
groups() { column "${1:-round,group,hosts,ranks}" "$DIR/a.csv" | tr '\n' ';'; }

# bats test_tags=quick
@test "hosts, rails, halves and rules of ranks are one round" {
  grouped 6 hosts
  [ "$(groups)" = "0|0|h0|2;0|1|h1|2;0|2|h2|2;" ]
  [[ $output == *"# group 1: ranks 2 3; all groups at the same time, a row each"* ]]
  grouped 6 rails
  [ "$(groups)" = "0|0|h0 h1 h2|3;0|1|h0 h1 h2|3;" ]
  grouped 6 halves
  [ "$(groups)" = "0|0|h0|2;0|1|h1 h2|4;" ]
  grouped 6 div:4
  [ "$(groups)" = "0|0|h0 h1|4;0|1|h2|2;" ]
}

@test "pairs of hosts meet round by round, all of them, at random by a seed or level by level" {
  grouped 8 pairs
  [ "$(column hosts "$DIR/a.csv" | sort -u | wc -l)" -eq 6 ]
  [ "$(column round,ranks "$DIR/a.csv" | uniq -c | xargs)" = "2 0|4 2 1|4 2 2|4" ]
  [[ $output == *"# groups: 6 groups in 3 rounds (pairs); "* ]]
  [[ $output == *"# round 2 group 1"* ]]
  grouped 8 random-pairs:2 --seed 7
  [ "$(column round,groups_seed "$DIR/a.csv" | uniq -c | xargs)" = "2 0|7 2 1|7" ]
  [ "$(column hosts "$DIR/a.csv" | sort -u | wc -l)" -eq 4 ]
  printf 'host,pod\nh0,a\nh1,b\nh2.example.org,a\nh3,b\n' > "$DIR/levels.csv"
  grouped 8 levels:2 --levels "$DIR/levels.csv"
  [ "$(groups round,hosts | cut -d';' -f 1,2)" = "0|h0 h2;0|h1 h3" ]
  sed -i 's/^h3/h7/' "$DIR/levels.csv"
  COMMAND=(mpirun -np 8 "$DIR/host" ./allreduce_perf "${QUICK[@]}" --csv "$DIR/b.csv")
  refused "levels.csv: it lacks host h3" --groups levels:2 --levels "$DIR/levels.csv"
  refused "--levels: cannot read $DIR/none" --groups levels:2 --levels "$DIR/none"
  [ ! -e "$DIR/b.csv" ]
}

ROUNDS='0,0,0-1;0,1,2-3;1,0,0 3;7,5,1-2'

@test "a CSV of rounds may leave ranks out, whoever they are" {
  tr ';' '\n' <<<"round,group,ranks;$ROUNDS;8,0,0-2" > "$DIR/rounds.csv"
  mpirun -np 4 ./allreduce_perf "${QUICK[@]}" -e 1K --groups "$DIR/rounds.csv" --csv "$DIR/a.csv"
  [ "$(groups round,group,ranks,wrong)" = "0|0|2|0;0|1|2|0;1|0|2|0;7|5|2|0;8|0|3|0;" ]
  awk -v s="$(column connect_s "$DIR/a.csv" | head -n 1)" 'BEGIN { exit !(s > 0) }'
}

@test "bad rounds are refused in one line before anything is measured" {
  COMMAND=(mpirun -np 4 ./allreduce_perf "${QUICK[@]}" --csv "$DIR/a.csv")
  refused "--groups:1: there is no rank 4; give 0 to 3" --groups '0,0,0-4'
  refused "-r 2: there are 2 ranks in a group" --groups mod:2 -r 2
  [ ! -e "$DIR/a.csv" ]
}

@test "every collective is right in groups, also where ranks wait, and a rooted one from every root" {
  local collective
  for collective in $ALL; do
    mpirun -np 4 "./${collective}_perf" "${QUICK[@]}" -e 1K --groups "$ROUNDS" -r all --csv "$DIR/$collective.csv" > "$DIR/out"
    [ "$(column status,wrong "$DIR/$collective.csv" | sort -u)" = "ok|0" ]
    [ "$(column round,group "$DIR/$collective.csv" | sort -u | xargs)" = "0|0 0|1 1|0 7|5" ]
  done
  [ "$(column root "$DIR/broadcast.csv" | sort -u | xargs)" = "0 1" ]
}

@test "a planted fault stands in the rows of its rank's groups alone" {
  run -1 mpirun -np 4 ./allreduce_perf "${QUICK[@]}" -e 1K --groups "$ROUNDS" --inject-fault 2:7 --csv "$DIR/a.csv"
  [ "$(groups round,group,status)" = "0|0|ok;0|1|wrong;1|0|ok;7|5|wrong;" ]
  [[ $(column reason "$DIR/a.csv") == *"rank 2, element 7: expected "* ]]
}

@test "--per-rank, --samples and the last rank are of the group" {
  mpirun -np 4 ./allreduce_perf "${QUICK[@]}" -b 64K -e 64K -n 60 --groups "$ROUNDS" --inject-delay 3:20000 \
    --csv "$DIR/a.csv" --samples "$DIR/s.csv" --per-rank "$DIR/p.csv" > "$DIR/out"
  [ "$(groups round,group,last_rank)" = "0|0|;0|1|3;1|0|3;7|5|;" ]
  [ "$(column round,group,rank "$DIR/p.csv" | sort -u | xargs)" = "0|0|0 0|0|1 0|1|2 0|1|3 1|0|0 1|0|3 7|5|1 7|5|2" ]
  [ "$(column round,group "$DIR/s.csv" | sort | uniq -c | xargs)" = "60 0|0 60 0|1 60 1|0 60 7|5" ]
}

@test "a killed run keeps the rounds that are done, and --resume makes only what is missing" {
  local long=(-b 1M -e 1M --placement out --host-limits off -w 1 --csv "$DIR/a.csv" --groups "$ROUNDS")
  mpirun -np 4 ./allreduce_perf "${long[@]}" -n 3000 > "$DIR/out" 2> "$DIR/err" 3>&- &
  LAUNCHER=$!
  wait_for_rows 3
  kill -9 "$(process_of 2)"
  wait "$LAUNCHER" || true
  kept=$(rows "$DIR/a.csv")
  [[ $(groups round,group) == "0|0;0|1;1|0;"* ]]
  run -0 mpirun -np 4 ./allreduce_perf "${long[@]}" -n 3000 --resume
  [ "$(groups round,group)" = "0|0;0|1;1|0;7|5;" ]
  [ "$(rows "$DIR/a.csv" | head -n 3)" = "$(head -n 3 <<<"$kept")" ]
  [ "$(table | wc -l)" -eq 4 ]
  COMMAND=(mpirun -np 4 ./allreduce_perf "${long[@]}" -n 3000 --resume --groups mod:2)
  refused "it has groups=0,0,0-1;0,1,2-3;1,0,0_3;7,5,1-2, this run groups=mod:2"
}

@test "a rank that stops is named with its round and group" {
  mpirun -np 4 ./allreduce_perf -b 1M -e 1M --placement out --host-limits off -n 1000000 -T 2 --groups "1,0,0-1;1,3,2-3" \
    --csv "$DIR/a.csv" > "$DIR/out" 2> "$DIR/err" 3>&- &
  LAUNCHER=$!
  eventually grep -q '^# .* busbw' "$DIR/out"
  stopped=$(process_of 2)
  computes "$stopped"
  kill -STOP "$stopped"
  wait "$LAUNCHER" || true
  kill -KILL "$stopped" 2> /dev/null || true
  cat "$DIR/err"
  grep -qE 'rank 2 on .* does not answer; .* wait in: round 1, group 0 \(.*\): all-reduce 1 MiB ' "$DIR/err"
}
