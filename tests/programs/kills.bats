#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=soak
# Runs that are interrupted or killed at random moments, and resumed until they are complete: no row is lost, doubled or torn, and
# nothing runs on. BUSBAR_REPEATS=12 does each so often (100 strikes): `make soak`.
load ../common

readonly KEYS=size_bytes,in_place,cycle,variant,round,group
RANKS=(-g 4 --launcher local --backend gloo -b 1K -e 64K --host-limits off --time-budget 0.05)

# struck SECONDS COMMAND...: ends within so many seconds by a signal of INT, TERM, HUP and KILL, to itself or to all of its group.
struck() {
  local pid whom signals=(INT TERM HUP KILL)
  setsid "${@:2}" > "$DIR/out" 2>&1 < /dev/null 3>&- &
  pid=$!
  whom=$pid
  [ $((RANDOM % 2)) -eq 0 ] || whom=-$pid
  sleep "$(awk -v part="$RANDOM" -v most="$1" 'BEGIN { print most * part / 32768 }')"
  kill "-${signals[RANDOM % 4]}" -- "$whom" 2> /dev/null || true
  wait "$pid" || true
  nothing_runs "$DIR/"
}

# keys FILE: of all rows; each is whole.
keys() { column "$KEYS,status,finished_at" "$1" | sed -nE 's/\|(ok|wrong|skipped)\|[0-9-]{10} [0-9:]{8}$//p' | sort; }

# goes_on SECONDS OPTIONS...: rows of a run that was struck twice are those of one that was not.
goes_on() {
  local turn whole=$DIR/whole.csv csv
  ./allreduce_perf "${RANKS[@]}" "${@:2}" --csv "$whole" > /dev/null
  [ "$(keys "$whole" | wc -l)" -eq "$(rows "$whole" | wc -l)" ]
  for turn in $(seq "${BUSBAR_REPEATS:-1}"); do
    csv=$DIR/$turn.csv
    local job=(./allreduce_perf "${RANKS[@]}" "${@:2}" --csv "$csv" -J "$DIR/$turn.json" --resume)
    struck "$1" "${job[@]}"
    struck "$1" "${job[@]}"
    [ ! -e "$DIR/$turn.json" ] || jq empty "$DIR/$turn.json"
    "${job[@]}" > /dev/null
    diff <(keys "$whole") <(keys "$csv")
    [ "$(jq '.rows | length' "$DIR/$turn.json")" -eq "$(rows "$whole" | wc -l)" ]
    [ ! -e "$csv.visits" ]
  done
}
@test "visits" { goes_on 3 --visits 4; }
@test "cycles" { goes_on 3 -N 4; }
@test "groups" { goes_on 4 --groups '0,0,0-1;0,1,2-3;1,0,0-3' --visits 4; }
@test "settings that take turns" { goes_on 4 --vary cadence=isolated,streaming --visits 4; }

# Without --resume: nothing runs on, and lines are whole but the last of one that was killed.
leaves_nothing() {
  local turn
  for turn in $(seq "${BUSBAR_REPEATS:-1}"); do
    rm -rf "$DIR/one"*
    struck 3 "$@"
    [ ! -e "$DIR/one.json" ] || jq empty "$DIR/one.json"
  done
}
@test "a mix" { leaves_nothing ./allreduce_perf -g 4 --launcher local --backend gloo -b 64K --mix incast --csv "$DIR/one.csv" -J "$DIR/one.json"; }
@test "a duration" { leaves_nothing ./allreduce_perf "${RANKS[@]}" -e 1K --duration 5s --csv "$DIR/one.csv" --timeline "$DIR/one.timeline"; }
@test "a sweep" {
  leaves_nothing ./busbar sweep --vary UCX_RNDV_THRESH=1k,2k --launches 3 -o "$DIR/one" -- ./allreduce_perf "${RANKS[@]}"
}

specification() {
  node_specification "one host" '"64KiB"' 0.000001 1.0 4 'same_machine = true'
  printf '[soak]\nsize = "16KiB"\nturn_s = 2\nrecover_s_max = 30\n'
}
# accepted KIND OPTIONS...: each launch stands once in launches.csv.
accepted() {
  local turn code
  specification > "$DIR/spec.toml"
  for turn in $(seq "${BUSBAR_REPEATS:-1}"); do
    local job=(./busbar accept "$1" "$DIR/spec.toml" -o "$DIR/run$turn" --hosts localhost --launcher local "${@:2}" --resume)
    struck 3 "${job[@]}"
    struck 3 "${job[@]}"
    code=0
    "${job[@]}" > "$DIR/out" 2>&1 || code=$?
    cat "$DIR/out"
    [[ $code == [03] ]]
    column launch,exit_code "$DIR/run$turn/launches.csv" | sed -n 's/|0$//p' | sort > "$DIR/launches"
    [ -z "$(uniq -d "$DIR/launches")" ]
    [ "$1" = soak ] || [ "$(wc -l < "$DIR/launches")" -eq 4 ]
    jq empty "$DIR/run$turn/verdicts.json"
  done
}
@test "accept run" { accepted run; }
@test "accept soak" { accepted soak --for 6s; }
