# SPDX-License-Identifier: BSD-3-Clause
# A cluster of its own for every file: four hosts, which go away with the file's process, also when
# that is killed. Without namespaces every test skips and says why.
bats_require_minimum_version 1.5.0
# shellcheck source=tests/common.bash
. "$BATS_TEST_DIRNAME/../common.bash"

cluster_setup_file() {
  ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  CLUSTER=$ROOT/tests/cluster/cluster
  OWNER=$$
  BUSBAR_CLUSTER=bb$$
  UCX_TLS=tcp,self
  UCX_NET_DEVICES=e0
  COUNT=${HOSTS_UP:-4}
  COUNT=${COUNT%% *}
  export COUNT ROOT CLUSTER OWNER BUSBAR_CLUSTER UCX_TLS UCX_NET_DEVICES
  WHY_NOT=$("$CLUSTER" why-not)
  export WHY_NOT
  # shellcheck disable=SC2086 # several words
  [ -n "$WHY_NOT" ] || "$CLUSTER" up ${HOSTS_UP:-4}
}

# A Slurm on the cluster's hosts, or why there is none.
slurm_setup_file() {
  SLURM=$BATS_FILE_TMPDIR/slurm
  export SLURM SLURM_CONF=$SLURM/slurm.conf
  WHY_NO_SLURM=${WHY_NOT:-$("$ROOT/tests/cluster/slurm" why-not)}
  if [ -z "$WHY_NO_SLURM" ] && ! "$ROOT/tests/cluster/slurm" up "$SLURM" "$COUNT" > "$BATS_FILE_TMPDIR/slurm.out" 2>&1; then
    WHY_NO_SLURM="Slurm does not start here: $(tail -n 1 "$BATS_FILE_TMPDIR/slurm.out")"
  fi
  export WHY_NO_SLURM
}

cluster_teardown_file() {
  [ -z "${SLURM:-}" ] || "$ROOT/tests/cluster/slurm" down "$SLURM"
  "$CLUSTER" down
}

cluster_setup() {
  [ -z "$WHY_NOT" ] || skip "$WHY_NOT"
  cd "$ROOT" || return 1
  use_mpi
  DIR=$BATS_TEST_TMPDIR
  endless_stdin
  printf '%s\n' h0 h1 h2 h3 > "$DIR/hosts"
  mapfile -t LAUNCHER < <("$CLUSTER" launcher)
}

setup_file() { cluster_setup_file; }
teardown_file() { cluster_teardown_file; }
setup() { cluster_setup; }

# All pairs of four hosts, whose links have a floor that a throttled one does not reach. The hosts
# share the processors of one machine.
specification() {  # specification FILE [LAUNCHES]
  node_specification "four namespaces" '"2MiB"' 0.06 1.0 "${2:-3}" "reach_timeout_s = 6" "at_once = 1" "same_machine = true" |
    sed 's/^iterations = .*/iterations = 8/; s/^warmup = .*/warmup = 2/; s/"node"/"pairs"/; s/"per_node"/"pairwise"/
      s/^ranks_per_node = .*/ranks_per_node = 1/; s/"floor"/"pair-floor"/' > "$1"
}
states() {  # states DIR: "h0 good h1 failed ..."
  jq -r '[.nodes[] | .node + " " + .state] | join(" ")' "$1/verdicts.json"
}
suspects() { jq -r '[.suspects[].nodes | join("+")] | sort | join(" ")' "$1/verdicts.json"; }
repeats() { seq "${BUSBAR_REPEATS:-1}"; }

# programs_of MPI: the folder with programs of this MPI.
programs_of() {
  PROGRAMS=$ROOT
  [ "$BUSBAR_TEST_MPI" = "$1" ] || PROGRAMS=$ROOT/${BUILD:-build}/mpi-$1/bin
  [ -x "$PROGRAMS/allreduce_perf" ] || skip "no programs with $1: make MPI=$1"
}
needs_slurm() { [ -z "$WHY_NO_SLURM" ] || skip "$WHY_NO_SLURM"; }

# with LAUNCHER: START starts a program on all hosts, ACCEPT runs `busbar accept run` with its options, BEHIND follows.
with() {
  local mpirun
  BEHIND=()
  ACCEPT=(./busbar accept run)
  case $1 in
    hydra)
      programs_of mpich
      mpirun=$(command -v mpiexec.mpich || command -v mpiexec.hydra) || skip "no mpiexec of MPICH"
      BEHIND=(-- "${LAUNCHER[@]}")
      START=("$mpirun" "${LAUNCHER[@]}" -f "$DIR/hosts" -n "$COUNT" -ppn 1)
      OPTIONS=(--launcher hydra --hostfile "$DIR/hosts")
      ;;
    openmpi)
      programs_of openmpi
      mpirun=$ROOT/build/openmpi/bin/mpirun.openmpi
      [ -x "$mpirun" ] || mpirun=$(command -v mpirun.openmpi) || skip "no mpirun of Open MPI"
      BEHIND=(--mca plm rsh --mca plm_rsh_agent "$ROOT/tests/cluster/launcher" --mca btl "tcp,self"
        --mca btl_tcp_if_include e0 --mca oob_tcp_if_include "$BUSBAR_CLUSTER,e0")
      START=("$mpirun" --allow-run-as-root "${BEHIND[@]}" --hostfile "$DIR/hosts" --map-by ppr:1:node --bind-to none)
      BEHIND=(-- "${BEHIND[@]}")
      OPTIONS=(--mpiexec "$mpirun" --hostfile "$DIR/hosts")
      ;;
    srun-pmi2 | srun-pmix)
      needs_slurm
      programs_of "$([ "$1" = srun-pmi2 ] && echo mpich || echo openmpi)"
      START=(srun "--mpi=${1#srun-}" -N "$COUNT" -n "$COUNT")
      # In an allocation busbar finds srun and the hosts by itself.
      ACCEPT=(salloc --quiet -N "$COUNT" "${ACCEPT[@]}")
      OPTIONS=()
      ;;
    srun-none)
      needs_slurm
      programs_of "$BUSBAR_TEST_MPI"
      START=(srun --mpi=none -N "$COUNT" -n "$COUNT")
      ACCEPT=(salloc --quiet -N "$COUNT" "${ACCEPT[@]}")
      OPTIONS=(--launcher 'srun --mpi=none -N {nodes} -n {np} -w {hostfile} --overlap {env} {program}')
      ;;
    rendezvous)
      programs_of "$BUSBAR_TEST_MPI"
      START=("$PROGRAMS/allreduce_perf" -g "$COUNT" --hosts "@$DIR/hosts" --launcher "$ROOT/tests/cluster/launcher {host} {env} {program}")
      OPTIONS=(--launcher "$ROOT/tests/cluster/launcher {host} {env} {program}" --hostfile "$DIR/hosts")
      ;;
  esac
}
