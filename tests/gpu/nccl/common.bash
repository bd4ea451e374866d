# SPDX-License-Identifier: BSD-3-Clause
# Our programs over NVIDIA's NCCL, built from its source, over the fake GPU machine: `make test-nccl` runs
# these with NCCL_BUILT and FAKE_NCCL_KERNELS.
load ../../common

common_nccl_setup() {
  DIR=$BATS_TEST_TMPDIR
  ROOT=$(cd "$BATS_TEST_DIRNAME/../../.." && pwd)
  cd "$ROOT" || return 1
  [ -n "${NCCL_BUILT:-}" ] || skip "make test-nccl runs these"
  use_mpi
  endless_stdin
  # An address that is there wherever the tests run, and one folder for the memory of this test's GPUs.
  export LD_LIBRARY_PATH=$NCCL_BUILT/lib:$ROOT/${BUILD:-build}/fake_gpu NCCL_SOCKET_IFNAME=lo TMPDIR=$DIR
  SELFTEST=$ROOT/${BUILD:-build}/fake_gpu/selftest
  data_moves
  on dgx-h100
}

setup() { common_nccl_setup; }

# on KIND: a node of eight such GPUs for the rest of the test.
on() {
  "$BATS_TEST_DIRNAME/machine" "$1" "$DIR"
  export FAKE_GPU_MACHINE=$DIR/$1.machine NCCL_TOPO_FILE=$DIR/$1.xml
}

# data_moves: NCCL's kernels are carried out, so far as they can be: Ring and Simple, unregistered buffers.
data_moves() {
  export NCCL_ALGO=Ring NCCL_PROTO=Simple NCCL_P2P_LL_THRESHOLD=0 NCCL_LOCAL_REGISTER=0 NCCL_GRAPH_REGISTER=0
}
# nothing_moves: every choice is NCCL's, and its kernels do nothing; results of several ranks cannot be checked.
nothing_moves() {
  unset NCCL_ALGO NCCL_PROTO NCCL_P2P_LL_THRESHOLD NCCL_LOCAL_REGISTER NCCL_GRAPH_REGISTER FAKE_NCCL_KERNELS
}

# placed RANKS: sets place to the options that more ranks than processors need. Where Linux schedules by sessions
# (sched_autogroup_enabled), unbound ranks starve each other: 3 of 13 runs of 1,200 rows stood still for 60 s.
placed() { place=(); [ "$1" -le "$(nproc)" ] || place=(--bind core); }

# perf RANKS COLLECTIVE OPTIONS...: a run with its rows in $DIR/a.csv; output and stderr apart.
perf() {
  rm -f "$DIR/a.csv"
  placed "$1"
  run --separate-stderr timeout 120 mpirun -np "$1" "./${2}_perf" --backend nccl "${place[@]}" -n 3 -w 1 -T 60 \
    --csv "$DIR/a.csv" "${@:3}"
  echo "$output"
  echo "$stderr"
}
# measured: the last perf() wrote at least one row, and all are right or, where results are not checked, ok.
measured() {
  [ "$status" -eq 0 ]
  [ "$(column status "$DIR/a.csv" | sort -u)" = ok ]
  [ "$(column flags "$DIR/a.csv" | grep -cvw fake)" -eq 0 ]
}
verified() {  # verified RANKS COLLECTIVE OPTIONS...
  perf "$@" -c 1
  measured
  [ "$(column wrong "$DIR/a.csv" | sort -u)" = 0 ]
}

# log_of RANKS COLLECTIVE OPTIONS...: NCCL's own words of every rank in $DIR/log.RANK.
log_of() {
  rm -f "$DIR"/log.* "$DIR/a.csv"
  placed "$1"
  # shellcheck disable=SC2016 # the shell of each rank expands it
  NCCL_DEBUG=${NCCL_DEBUG:-INFO} run timeout 120 mpirun -np "$1" bash -c 'exec "$@" > "$0.$PMI_RANK"' "$DIR/log" \
    "./${2}_perf" --backend nccl "${place[@]}" -n 3 -w 1 -T 60 --csv "$DIR/a.csv" "${@:3}"
  echo "$output"
  tail -n 20 "$DIR"/log.0
  [ "$status" -eq 0 ]
}
