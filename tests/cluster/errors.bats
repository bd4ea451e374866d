#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Bad usage that ranks on four hosts see together, or that one of them sees alone: the job ends with one line and the
# error's code, under every way to start. BUSBAR_REPEATS=4 repeats it (make soak-cluster).
# shellcheck disable=SC2153 # common.bash sets START and PROGRAMS
load common

setup_file() {
  cluster_setup_file
  slurm_setup_file
}

# fails CODE MESSAGE OPTIONS...: one line of ours, within a few seconds, and nothing that runs.
fails() {
  local code=0 words=("${START[@]}")
  [ "${words[0]}" = "$PROGRAMS/allreduce_perf" ] || words+=("$PROGRAMS/allreduce_perf")
  timeout -s KILL 20 "${words[@]}" -b 1K -e 1K "${@:3}" < /dev/null > "$DIR/out" 2> "$DIR/err" || code=$?
  if [ "$code" -ne "$1" ] || [ "$(grep -c '^allreduce_perf: ' "$DIR/err")" -ne 1 ] || ! grep -q -- "$2" "$DIR/err"; then
    echo "${*:3}: exit $code"
    cat "$DIR/err"
    return 1
  fi
}

bad_usage() {
  local turn
  with "$1"
  echo "not a CSV" > "$DIR/there.csv"
  for turn in $(repeats); do
    fails 2 'there is no rank 9; give 0 to 3' --groups 0,0,0-9
    fails 2 'there.csv' --csv "$DIR/there.csv"
    fails 2 '-r 9: there are 4 ranks; give 0 to 3' -r 9
    fails 2 '--nonsense' --nonsense
    CUDA_VISIBLE_DEVICES='' fails 3 '--backend nccl' --backend nccl
    fails 2 'no row has such an element' --inject-fault 0:999999999 -n 1
  done
}
@test "Hydra: bad usage ends the job with one line" { bad_usage hydra; }
@test "srun --mpi=pmi2: bad usage ends the job with one line" { bad_usage srun-pmi2; }
@test "a rendezvous: bad usage ends the job with one line" { bad_usage rendezvous; }
