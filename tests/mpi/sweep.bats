#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Rules that a sweep writes are what the MPI library reads.
load ../common

@test "MPICH reads the rules of a planted winner in launches that are held out" {
  needs_mpich "its rules"
  # Its times are planted, so that no verdict is by the machine's.
  cat > "$DIR/program" <<'SH'
#!/bin/bash
mpirun -np 2 ./allreduce_perf "$@" > "$OUT" || exit
[ "$MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM" = nb ] || exec cat "$OUT"
awk -F, -v OFS=, '/^collective/ { for (i = 1; i <= NF; ++i) if ($i == "time_median_us") at = i }
  /^allreduce/ { $at /= 100000 } { print }' "$OUT"
SH
  chmod +x "$DIR/program"
  OUT=$DIR/out run --separate-stderr ./busbar sweep --per-launch --vary MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=default,nb,recursive_doubling --launches 8 \
    --write "$DIR/rules.json" --held-out 2 --json "$DIR/a.json" -- "$DIR/program" "${QUICK[@]}" --progress block
  echo "$output"
  [ "$status" -eq 3 ]  # two launches held out can have no verdict
  [[ $output == *"held out: 0 faster, 0 slower, 0 same, 6 cannot tell"* ]]
  [[ $stderr == *"2 launches can never show a difference in 6 comparisons"*"--held-out 6"* ]]
  [ "$(jq -c '[.rows[] | select(.winner) | .variant] | unique' "$DIR/a.json")" = '["MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=nb"]' ]
  [ "$(jq '.held_out | .turns, (.failures | length), (.rows | length)' "$DIR/a.json" | xargs)" = "2 0 6" ]
  [ "$(jq -c '.["collective=allreduce"]["comm_type=intra"]["comm_size<=2"]["avg_msg_size<=4096"]["is_op_built_in=yes"]' "$DIR/rules.json")" = '{"algorithm=MPIR_Allreduce_allcomm_nb":{}}' ]
  # MPICH ends where it does not know a word of the file: it is this file that it reads.
  sed -i 's/comm_size<=1"/unknown<=1"/' "$DIR/rules.json"
  run env MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE="$DIR/rules.json" mpirun -np 2 ./allreduce_perf -b 1K -e 1K -n 1
  [ "$status" -ne 0 ]
}

@test "a setting of blocking collectives is not measured with ranks that yield" {
  needs_mpich "its variable"
  local command=(./busbar sweep --per-launch --launches 2 --vary "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=default,nb" -- mpirun -np 2 ./allreduce_perf "${QUICK[@]}")
  run --separate-stderr "${command[@]}" --progress yield
  [[ $stderr == *"--progress block"* ]]
  run --separate-stderr "${command[@]}" --progress block
  [[ $stderr != *"--progress block"* ]]
}
