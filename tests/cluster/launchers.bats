#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Every launcher on four hosts: the main job's table, all pairs, and verdicts of busbar accept. BUSBAR_REPEATS=10 repeats
# each verdict (make soak-cluster). Slurm is a real one: tests/cluster/slurm.
load common

setup_file() {
  cluster_setup_file
  slurm_setup_file
}
teardown() {
  local host
  for host in h0 h1 h2 h3; do "$CLUSTER" unthrottle "$host" 2> /dev/null || true; done
}

# started COMMAND...: its output in $DIR/out. Beside busy processes a rank of Open MPI 4.1.4 crashed in one of 40 starts of srun, before our program
# had opened a file (open-mpi/ompi#11438 and #12495 are such crashes in MPI_Init): where the backtrace names another library
# than the C library's and UCX's handler of signals first, it is started again, once.
started() {
  local crashed
  timeout -k 5 30 "$@" > "$DIR/out" 2>&1 && return
  [ ! -e "$DIR/a.csv" ] && grep -q 'Segmentation fault' "$DIR/out" || return 1
  crashed=$(grep -oE '(\[ *[0-9]+\]|^ *[0-9]+) +/?[^ (]+[(]' "$DIR/out" | grep -vE '/lib(c|pthread|ucs)[.]so' | head -n 1)
  [[ $crashed == *.so* ]] || return 1
  echo "# started again: crashed in $crashed" >&3
  timeout -k 5 30 "$@" > "$DIR/out" 2>&1
}
# measured NODES COLLECTIVE OPTIONS...: on the four hosts, rows of so many nodes in $DIR/a.csv.
measured() {
  local nodes=$1 words=("${START[@]}")
  shift
  if [ "${words[0]}" = "$PROGRAMS/allreduce_perf" ]; then words[0]=$PROGRAMS/${1}_perf; else words+=("$PROGRAMS/${1}_perf"); fi
  rm -f "$DIR/a.csv"
  started "${words[@]}" "${@:2}" --csv "$DIR/a.csv" || {
    cat "$DIR/out"
    return 1
  }
  column nodes,status,wrong "$DIR/a.csv"
  [ "$(column nodes,status,wrong "$DIR/a.csv" | sort -u)" = "$nodes|ok|0" ]
}
table_and_pairs() {
  with "$1"
  measured 4 allreduce -b 64K -e 1M -f 4 -n 5 -w 1
  [ "$(rows "$DIR/a.csv" | wc -l)" -eq 6 ]
  measured 2 sendrecv --pairs all -b 64K -e 64K -n 3 -w 1 --placement out
  [ "$(column sender,receiver "$DIR/a.csv" | sort -u | wc -l)" -eq 12 ]
}
# bats test_tags=ci
@test "Hydra: the table and all pairs" { table_and_pairs hydra; }
# MPI_Finalize of MPICH over UCX hung in 3 of 40 of these on a busy machine.
@test "Hydra: several ranks on each host end, too" {
  local turn
  with hydra
  START=("${START[@]/#$COUNT/8}")
  START[-1]=2
  for turn in 1 2 3 4 5; do
    measured 4 allreduce -b 1K -e 1K -n 3 -w 1
    [ "$(column ranks "$DIR/a.csv" | sort -u)" = 8 ]
  done
}
# bats test_tags=ci
@test "Open MPI: the table and all pairs" { table_and_pairs openmpi; }
# bats test_tags=ci
@test "srun --mpi=pmi2: the table and all pairs" { table_and_pairs srun-pmi2; }
# bats test_tags=ci
@test "srun --mpi=pmix: the table and all pairs" { table_and_pairs srun-pmix; }
# bats test_tags=ci
@test "srun --mpi=none: the table and all pairs" { table_and_pairs srun-none; }
# bats test_tags=ci
@test "a rendezvous: the table and all pairs" { table_and_pairs rendezvous; }

accepted() {  # accepted STATUS FOLDER: a run of the specification
  specification "$DIR/spec.toml"
  run --separate-stderr "${ACCEPT[@]}" "$DIR/spec.toml" -o "$2" --programs "$PROGRAMS" "${OPTIONS[@]}" "${BEHIND[@]}"
  echo "$output"
  echo "$stderr"
  [ "$status" -eq "$1" ]
}
# Not of Open MPI: the tables above show that it starts, busbar accept's part is the same with all.
verdicts() {
  local turn
  with "$1"
  for turn in $(repeats); do
    accepted 0 "$DIR/healthy$turn"
    [ "$(states "$DIR/healthy$turn")" = "h0 good h1 good h2 good h3 good" ]
  done
  "$CLUSTER" throttle h2 200mbit
  for turn in $(repeats); do
    accepted 1 "$DIR/throttled$turn"
    [ "$(suspects "$DIR/throttled$turn")" = h2 ]
    [ "$(states "$DIR/throttled$turn")" = "h0 good h1 good h2 failed h3 good" ]
  done
}
@test "srun --mpi=pmi2: a healthy cluster passes, and a throttled host is named" { verdicts srun-pmi2; }
@test "a rendezvous: a healthy cluster passes, and a throttled host is named" { verdicts rendezvous; }
@test "another MPI's launcher is refused in one line, before anything is launched" {
  with openmpi
  programs_of mpich
  accepted 2 "$DIR/run"
  [ "${#stderr_lines[@]}" -eq 1 ]
  [[ $stderr == *"is Open MPI's mpirun, but $PROGRAMS/allreduce_perf is built with MPICH "*"--mpiexec PATH"* ]]
  [ ! -e "$DIR/run" ]
}

# lost WORDS FAULT...: a job without MPI, by words for each rank, that goes on until FAULT; one line has WORDS, and rows are kept.
lost() {
  with rendezvous
  "${START[@]}" -b 64K -e 64K -n 20 -w 1 -N 1000000 -T 5 --host-limits off --csv "$DIR/a.csv" > "$DIR/out" 2> "$DIR/err" 3>&- &
  local job=$! code=0
  wait_for_rows 2
  "${@:2}"
  wait "$job" || code=$?
  cat "$DIR/err"
  [ "$code" -eq 4 ]
  [ "$(grep -vc "^allreduce_perf: launcher: " "$DIR/err")" -eq 1 ]
  grep -qE "$1" "$DIR/err"
  nothing_runs "$DIR/a.csv"
  [ "$(rows "$DIR/a.csv" | wc -l)" -ge 2 ]
}
@test "a rendezvous: a host that is unplugged is named within the timeout" {
  lost 'timeout: no progress for 5 s .*rank 3 on h3 does not answer' "$CLUSTER" unplug h3
  "$CLUSTER" plug h3
}
kill_rank_of() {  # kill_rank_of HOST
  ip netns pids "$BUSBAR_CLUSTER$1" | xargs ps -o pid=,comm= -p | awk '$2 == "allreduce_perf" { print $1 }' | xargs kill -KILL
}
@test "a rendezvous: a rank that is killed on another host is named at once" {
  lost '^allreduce_perf: rank 2 (on h2 ended before the others|\(process [0-9]+\) was ended by signal 9)' kill_rank_of h2
}

# at_least GBPS: a specification that each pair of nodes, and each node by itself, must reach.
at_least() {
  specification "$DIR/spec.toml" 1
  sed -i "s/^value = .*/value = $1/" "$DIR/spec.toml"
  cat >> "$DIR/spec.toml" <<END
[[device_set]]
id = "node"
kind = "per_node"
ranks_per_node = 2
[[expect]]
id = "node-floor"
collective = "allreduce"
device_set = "node"
size = "64KiB"
metric = "busbw"
statistic = "median"
compare = "absolute"
value = $1
fail_below = 1.0
[profile.standard]
expect = ["pair-floor"]
[profile.quick]
expect = ["node-floor"]
END
}
node_states() { sinfo --noheader --Node --format='%N %T' | xargs; }
# batch SPEC: the example's batch script as a job of four nodes; its code in $status, its words in $output.
batch() {
  cd "$DIR" || return 1
  run sbatch --wait --parsable --nodes=4 --output="$DIR/job.log" "$ROOT/examples/slurm-acceptance.sbatch" "$1"
  JOB=${lines[0]}
  cat "$DIR/job.log"
}
@test "the example's batch script passes a good cluster, and lists and drains what fails" {
  with srun-pmi2
  PATH=$PROGRAMS:$PATH
  at_least 0.00001
  batch "$DIR/spec.toml"
  [ "$status" -eq 0 ]
  grep -q 'launcher: srun (in an allocation of Slurm)' "$DIR/job.log"
  [ ! -s "busbar-accept-$JOB/nodes-to-drain.txt" ]
  "$CLUSTER" throttle h2 200mbit
  at_least 0.06
  BUSBAR_DRAIN=yes batch "$DIR/spec.toml"
  [ "$status" -eq 1 ]
  [ "$(cat "busbar-accept-$JOB/nodes-to-drain.txt")" = h2 ]
  [[ $(node_states) == *"h2 drain"* ]]
  scontrol update nodename=h2 state=resume
}
@test "the example's batch script copies a bundle to the nodes, runs it there and takes it away" {
  with srun-pmi2
  [ "$BUSBAR_TEST_MPI" = mpich ] || skip "a bundle has MPICH's launcher"
  tools/make-bundle "$DIR/bundle" "$(readlink -f allreduce_perf)" "$(readlink -f busbar)"
  at_least 0.00001
  mkdir -p "$DIR/copy"
  PATH=/usr/bin:/bin:/usr/sbin BUSBAR_BUNDLE=$DIR/bundle BUSBAR_COPY=$DIR/copy/busbar batch "$DIR/spec.toml"
  [ "$status" -eq 0 ]
  grep -q "^# command: $DIR/copy/busbar/allreduce_perf " "busbar-accept-$JOB"/*.csv
  [ -z "$(ls "$DIR/copy")" ]
}
# prolog: the example's prolog of this cluster's nodes, with $DIR/spec.toml.
prolog() {
  cat > "$SLURM/prolog" <<END
#!/bin/bash
[ "\$SLURMD_NODENAME" = h1 ] || exit 0
export BUSBAR_PROGRAMS=$PROGRAMS BUSBAR_SPEC=$DIR/spec.toml BUSBAR_STATE=$DIR/state BUSBAR_TEXTFILES=$DIR/textfiles PATH=/usr/bin:/bin
mkdir -p $DIR/textfiles
exec $ROOT/examples/slurm-prolog.sh
END
}
@test "the example's prolog lets a job onto a good node, does not ask again soon, and drains a slow one" {
  needs_slurm
  programs_of "$BUSBAR_TEST_MPI"
  at_least 0.00001
  nothing_runs '^slurmstepd: ' > "$DIR/out"  # of the jobs before
  prolog
  run srun -w h1 -N 1 -n 1 hostname
  [ "$output" = h1 ]
  grep -q '^interconnect_overall{system="four namespaces",verdict="PASS"} 1$' "$DIR/textfiles/busbar.prom"
  srun -w h1 -N 1 -n 1 true
  [ "$(find "$DIR/state" -maxdepth 1 -type d -name 'run-*' | wc -l)" -eq 1 ]
  rm "$DIR/state/passed"
  at_least 1000000.0
  nothing_runs '^slurmstepd: ' > "$DIR/out"
  timeout 60 srun -w h1 -N 1 -n 1 hostname > "$DIR/out" 2>&1 &
  is_drained() { [[ $(node_states) == *"h1 drain"* ]]; }
  eventually is_drained
  kill $! || true
  run ! grep -q '^h1$' "$DIR/out"
  printf '#!/bin/sh\nexit 0\n' > "$SLURM/prolog"
  scontrol update nodename=h1 state=resume
}
