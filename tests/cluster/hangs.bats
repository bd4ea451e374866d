#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=soak
# A rank that is stopped in each phase of a run on four hosts is named with its host, under every way to start: `make soak`.
# shellcheck disable=SC2153 # common.bash sets START and PROGRAMS
load common

setup_file() {
  cluster_setup_file
  slurm_setup_file
  STOP_AT_LIBRARY=$BATS_FILE_TMPDIR/stop_at.so
  export STOP_AT_LIBRARY
  "${CC:-cc}" -shared -fPIC -o "$STOP_AT_LIBRARY" "$ROOT/tests/fixtures/stop_at.c"
}
setup() {
  cluster_setup
  # 41 operations a row: the second check is of one of its own.
  JOB_OPTIONS=(-b 64K -e 128K -w 20 -n 20 -c 2 --placement out --progress block -T 5)
}

# begun OPTIONS...: a job with $DIR/a.csv in the background.
begun() {
  local words=("${START[@]}")
  if [ "${words[0]}" != "$PROGRAMS/allreduce_perf" ]; then words+=("$PROGRAMS/allreduce_perf"); fi
  rm -f "$DIR/a.csv"
  "${words[@]}" "${JOB_OPTIONS[@]}" --csv "$DIR/a.csv" "$@" > "$DIR/out" 2> "$DIR/err" 3>&- &
  JOB=$!
}

# names RANK WHERE ROWS: the job ends by itself with 4, within a few seconds of the timeout; one line names the rank with its
# host and where the others wait; so many rows are kept, and nothing runs.
names() {
  local code=0 begin=$SECONDS line
  wait "$JOB" || code=$?
  echo "exit $code"
  cat "$DIR/err"
  [ $((SECONDS - begin)) -lt 60 ]
  [[ $code =~ ^(${EXITS:-4})$ ]]
  line=$(grep -o 'timeout: no progress for 5 s (-T): .*' "$DIR/err" | sort -u)
  [[ $line == *"(-T): rank $1 on ${HOST:-h$1} does not answer; "*" wait"*" in: $2"*"; finished rows are kept" ]]
  nothing_runs "--csv $DIR/a.csv"
  [ ! -e "$DIR/a.csv" ] || [ "$(rows "$DIR/a.csv" | wc -l)" -ge "$3" ]
  [ "$3" -eq 0 ] || [ -e "$DIR/a.csv" ]
}

# stopped RANK CALL NUMBER WHERE ROWS
stopped() {
  LD_PRELOAD=$STOP_AT_LIBRARY STOP_RANK=$1 STOP_CALL=$2 STOP_AT=$3 begun
  names "$1" "$4" "$5"
}

# The limits are measured where all ranks are on one host.
on_one_host() {  # on_one_host HOST COMMAND...
  START=("${@:2}")
  HOST=$1 stopped 2 nanosleep 3 "measuring the host's limits" 0
}

every_phase_of_mpi() {
  with "$1"
  stopped 2 MPI_Comm_dup 1 "connecting the ranks over mpi" 0
  stopped 3 MPI_Allreduce 51 "all-reduce 128 KiB out of place, warming up, in operation 10" 1
  stopped 1 MPI_Allreduce 71 "all-reduce 128 KiB out of place, timing, in operation 30" 1
  stopped 3 MPI_Allreduce 82 "all-reduce 128 KiB out of place, checking" 1
  stopped 0 pwrite 2 "all-reduce 128 KiB out of place, " 1
}
@test "Hydra: a rank that is stopped in any phase is named" {
  every_phase_of_mpi hydra
  on_one_host "$(uname -n)" env -u UCX_TLS -u UCX_NET_DEVICES mpirun -n 3
}
@test "srun --mpi=pmi2: a rank that is stopped in any phase is named" {
  local EXITS='4|137'  # srun's own of ranks that Slurm killed
  every_phase_of_mpi srun-pmi2
  on_one_host h0 srun --mpi=pmi2 -w h0 -N 1 -n 3
}

# Gloo calls nothing that tells an operation from another: it is stopped from outside, in a phase without end.
# stopped_in RANK WHERE OPTIONS...
stopped_in() {
  begun "${@:3}"
  eventually grep -q "^# *Rank *$1 " "$DIR/out"
  computes "$(process_of "$1")"
  kill -STOP "$(process_of "$1")"
  names "$1" "$2" 0
}
@test "a rendezvous: a rank that is stopped in any phase is named" {
  with rendezvous
  grep -qw gloo "$(dirname "$(readlink -f "$PROGRAMS/allreduce_perf")")/parts.list" || skip "this build has no Gloo"
  stopped 2 listen 1 "connecting the ranks over gloo" 0
  stopped_in 3 "all-reduce 64 KiB out of place, warming up, in operation " -w 1000000
  stopped_in 1 "all-reduce 64 KiB out of place, timing, in operation " -w 0 -n 1000000
  stopped_in 3 "all-reduce 4 MiB out of place, checking" -b 4M -e 4M -w 0 -n 1 -c 1000
  stopped 0 pwrite 2 "all-reduce 128 KiB out of place, " 1
  on_one_host "$(uname -n)" "$PROGRAMS/allreduce_perf" -g 3 --launcher local
}
