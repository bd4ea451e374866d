# SPDX-License-Identifier: BSD-3-Clause
# A cluster of its own for every file: four hosts, which go away with the file's process, also when
# that is killed. Without namespaces every test skips and says why.
bats_require_minimum_version 1.5.0
# shellcheck source=tests/common.bash
. "$BATS_TEST_DIRNAME/../common.bash"

setup_file() {
  ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  CLUSTER=$ROOT/tests/cluster/cluster
  OWNER=$$
  BUSBAR_CLUSTER=bb$$
  UCX_TLS=tcp,self
  UCX_NET_DEVICES=e0
  export ROOT CLUSTER OWNER BUSBAR_CLUSTER UCX_TLS UCX_NET_DEVICES
  WHY_NOT=$("$CLUSTER" why-not)
  export WHY_NOT
  [ -n "$WHY_NOT" ] || "$CLUSTER" up 4
}

teardown_file() { "$CLUSTER" down; }

setup() {
  [ -z "$WHY_NOT" ] || skip "$WHY_NOT"
  cd "$ROOT" || return 1
  use_mpi
  needs_mpich "busbar accept run starts MPICH's mpiexec"
  DIR=$BATS_TEST_TMPDIR
  endless_stdin
  mapfile -t LAUNCHER < <("$CLUSTER" launcher)
}
