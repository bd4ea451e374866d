#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=mpi
# Groups of ranks with operations of their own, alone and all together.
load ../common

USUAL=(-T 60 --host-limits off --visits 6 --time-budget 0.1 -b 16K)

# mixed RANKS FILE|PRESET OPTIONS...: runs it, and leaves $DIR/a.csv and $output.
mixed() {
  rm -f "$DIR/a.csv"
  run -0 timeout 120 ./busbar mix "$2" -- mpirun -np "$1" ./allreduce_perf "${USUAL[@]}" --csv "$DIR/a.csv" "${@:3}"
}

# bats test_tags=quick
@test "ranks in three groups have a row of each, and right results" {
  cat > "$DIR/job.toml" <<TOML
[[group]]
name = "tp"
ranks = ["0-1", "2-3"]
collective = "allreduce"
size = "32K"
[[group]]
name = "dp"
ranks = ["0,2", "1,3"]
collective = "reduce_scatter"
size = 65536
gap_us = 300
start_us = 500
[[group]]
name = "pp"
ranks = [3, 1]
collective = "broadcast"
size = "4K"
root = 1
TOML
  mixed 4 "$DIR/job.toml"
  [ "$(column mix,collective,ranks,status,wrong,size_bytes,root,group_ranks "$DIR/a.csv")" = "tp|allreduce|2|ok|0|32768||0-1 2-3
dp|reducescatter|2|ok|0|65536||0 2 1 3
pp|broadcast|2|ok|0|4096|1|1 3" ]
  [ "$(column visits,stop_reason,interval_scope "$DIR/a.csv" | sort -u)" = "6|visits|run" ]
  # A factor lies in its interval.
  column slowdown,slowdown_low,slowdown_high,slowdown_p99,slowdown_p99_low,slowdown_p99_high,alone_time_us,alone_p99_us "$DIR/a.csv" |
    awk -F'|' '{ bad += !($2 <= $1 && $1 <= $3 && $5 <= $4 && $4 <= $6 && $2 > 0 && 0 < $7 && 0 < $8) }
      END { exit NR != 3 || bad }'
  [ "$(grep -cE '^# (tp|dp|pp) +[a-z]+ +(32|64|4) KiB .*\[.*(slower|quicker|no difference shown)' <<<"$output")" -eq 3 ]
}
@test "presets run, of the size of -b" {
  mixed 4 tp+dp
  [ "$(column mix,collective,group_ranks,size_bytes "$DIR/a.csv")" = "tp|allreduce|0-1 2-3|16384
dp|allreduce|0 2 1 3|16384" ]
  mixed 5 incast:2 --progress yield
  [ "$(column mix,wrong "$DIR/a.csv" | grep -c '^\(sender[12]\|victim\)|0$')" -eq 3 ]
  mixed 4 aggressor -d int32 -o max
  [ "$(column mix,collective,op,type,wrong "$DIR/a.csv")" = "victim|allreduce|max|int32|0
aggressor|alltoall|none|int32|0" ]
}
@test "without checks nothing is called right, a rank in no group waits, and the JSON and facts have all rows" {
  printf '[[group]]\nname = "%s"\nranks = ["%s"]\ncollective = "%s"\nsize = "8K"\n' ring 0-1 sendrecv sums 1-2 allreduce > "$DIR/job.toml"
  mixed 4 "$DIR/job.toml" -c 0 -J "$DIR/a.json" --facts "$DIR/facts.csv"
  [ "$(column mix,status,wrong "$DIR/a.csv" | xargs)" = "ring|ok| sums|ok|" ]
  [ "$(jq -r '[.rows[].mix] | join(" ")' "$DIR/a.json")" = "ring sums" ]
  [ "$(grep -c . "$DIR/facts.csv")" -gt 2 ]
}
@test "a fault in a result is found in the groups of its rank" {
  run -1 timeout 120 ./busbar mix aggressor -- mpirun -np 4 ./allreduce_perf "${USUAL[@]}" --csv "$DIR/a.csv" --inject-fault 2:100
  [ "$(column mix,status,wrong "$DIR/a.csv")" = "victim|wrong|1
aggressor|ok|0" ]
  [[ $output == *"rank 2, element 100: expected"* ]]
}
@test "a group over Gloo, which blocks, waits for no other for ever" {
  ./allreduce_perf --version | grep -q gloo || skip "built without Gloo"
  mixed 4 tp+dp --backend gloo
  [ "$(column backend,wrong "$DIR/a.csv" | sort -u)" = "gloo|0" ]
}
@test "a rank that hangs in a mix ends it with the step" {
  timeout 120 mpirun -np 4 ./allreduce_perf "${USUAL[@]}" -b 4M -T 2 --time-budget 60 --mix aggressor > "$DIR/out" 2>&1 &
  local job=$! pid ended=0
  eventually grep -q '^#  Rank  3 ' "$DIR/out"
  pid=$(process_of 3)
  computes "$pid"
  kill -STOP "$pid"
  wait "$job" || ended=$?
  kill -KILL "$pid" || true
  cat "$DIR/out"
  [ "$ended" -eq 4 ]
  grep -q 'no progress for 2 s.*mix, ' "$DIR/out"
}
@test "what does not fit a mix is refused in one line" {
  COMMAND=(mpirun -np 2 ./allreduce_perf "${USUAL[@]}" --mix)
  refused "needs four ranks or more, there are 2" aggressor
  refused "cannot read nowhere.toml" nowhere.toml
  printf '[[group]]\nname = "a"\nranks = [0, 2]\ncollective = "allreduce"\nsize = 8\n' > "$DIR/a.toml"
  refused "a.toml:3:9: there is no rank 2; give 0 to 1" "$DIR/a.toml"
  sed -i 's/2\]/1]/; s/size = 8/size = "8T"/' "$DIR/a.toml"
  refused "group a: needs" "$DIR/a.toml"
  sed -i 's/size = "8T"/size = 2/' "$DIR/a.toml"
  refused "group a: 2 B is less than one element" "$DIR/a.toml"
  COMMAND=(./allreduce_perf --mix "$DIR/a.toml")
  refused "--mix needs a timeout" -T 0
  local options
  for options in "--groups hosts" "--pairs all" "--duration 5s" "-n 5" "--load spin:5" "-G 2" "-C 1" "--resume --csv $DIR/r.csv"; do
    # shellcheck disable=SC2086 # several words
    refused "--mix and ${options%% *} are mutually exclusive" $options
  done
  refused "give 6 or more" --visits 5
  refused "give one -d and one -o" -d all
  refused "no effect with --backend sim" --backend sim --system dgx-2
}
@test "busbar mix refuses what it cannot start, and passes on how the command ends" {
  COMMAND=(./busbar mix)
  refused "expected FILE|PRESET -- COMMAND" tp+dp
  refused "expected FILE|PRESET -- COMMAND" -- mpirun ./allreduce_perf
  refused "no *_perf program" tp+dp -- mpirun -np 4 true
  refused "cannot read nowhere" nowhere -- mpirun ./allreduce_perf
  EXIT=3 refused "cannot start no-such" tp+dp -- no-such ./allreduce_perf
  executable "$DIR/x_perf" <<< 'echo "$@"; exit 7'
  run -7 ./busbar mix tp+dp -- env "$DIR/x_perf" -b 8
  [ "$output" = "-b 8 --mix tp+dp" ]
}
