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
  export ROOT CLUSTER OWNER BUSBAR_CLUSTER UCX_TLS UCX_NET_DEVICES
  WHY_NOT=$("$CLUSTER" why-not)
  export WHY_NOT
  [ -n "$WHY_NOT" ] || "$CLUSTER" up 4
}

cluster_teardown_file() { "$CLUSTER" down; }

cluster_setup() {
  [ -z "$WHY_NOT" ] || skip "$WHY_NOT"
  cd "$ROOT" || return 1
  use_mpi
  DIR=$BATS_TEST_TMPDIR
  endless_stdin
  mapfile -t LAUNCHER < <("$CLUSTER" launcher)
}

setup_file() { cluster_setup_file; }
teardown_file() { cluster_teardown_file; }
setup() { cluster_setup; }

# All pairs of four hosts, whose links have a floor that a throttled one does not reach.
specification() {  # specification FILE [all_pairs_up_to LAUNCHES]
  cat > "$1" <<END
schema = 1
[system]
name = "four namespaces"
[run]
launches = ${3:-3}
min_launches = ${3:-3}
iterations = 8
warmup = 2
timeout_s = 20
reach_timeout_s = 6
parallel = false
[noise]
max_cv = 1.0
on_noisy = "warn"
[[device_set]]
id = "pairs"
kind = "pairwise"
ranks_per_node = 1
all_pairs_up_to = ${2:-32}
[[expect]]
id = "pair-floor"
collective = "allreduce"
device_set = "pairs"
size = "2MiB"
metric = "busbw"
statistic = "median"
compare = "absolute"
value = 0.06
fail_below = 1.0
END
}
states() {  # states DIR: "h0 good h1 failed ..."
  jq -r '[.nodes[] | .node + " " + .state] | join(" ")' "$1/verdicts.json"
}
suspects() { jq -r '[.suspects[].nodes | join("+")] | sort | join(" ")' "$1/verdicts.json"; }
repeats() { seq "${BUSBAR_REPEATS:-1}"; }
