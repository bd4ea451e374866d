#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Buffers that NCCL registers with its peers: never those of a row before, and all are given back. Its kernels do
# nothing here; what is looked at is what NCCL and the driver agree on.
load common

# kept RANKS COLLECTIVE OPTIONS...: on every rank no buffer was used again by what another was registered as, and at the
# end the driver has everything back.
kept() {
  export FAKE_GPU_TRACE=1 NCCL_DEBUG_SUBSYS=INIT,REG
  nothing_moves
  export NCCL_ALGO=Ring NCCL_PROTO=Simple  # small sizes are registered, too
  log_of "$@" -c 0
  [ "$(column status "$DIR/a.csv" | sort -u)" = ok ]
  for log in "$DIR"/log.*; do
    awk -f "$BATS_TEST_DIRNAME/stale.awk" "$log" > "$DIR/stale"
    if [ -s "$DIR/stale" ]; then
      head -n 3 "$DIR/stale"
      return 1
    fi
    grep -qx 'fake left handles=0 mapped=0' "$log"
  done
}
registered() { grep -q "IPC $1 buffer" "$DIR"/log.*; }

# bats test_tags=ci
@test "-R 1 registers each buffer and takes it back" {
  kept 2 allreduce -b 64K -e 64K -d all -R 1
  registered registering
  [ "$(column flags "$DIR/a.csv" | grep -cw registered)" -eq 24 ]
}
# bats test_tags=ci
@test "-R 2 makes windows and takes them back" {
  kept 2 allreduce -b 64K -e 64K -d all -R 2
  [ "$(column flags "$DIR/a.csv" | grep -cw symmetric)" -eq 24 ]
}
@test "graphs never use a buffer by what another was registered as" {
  kept 2 allreduce -b 64K -e 64K -d all -G 2
  registered registering
  registered reuse
}
@test "nor do graphs of registered buffers, in repeated cycles" {
  kept 2 allreduce -b 64K -e 64K -d all -G 2 -R 1
  kept 4 allreduce -b 64K -e 64K -G 2 -N 3
  registered reuse
  kept 2 allreduce -b 64K -e 64K -R 1 -N 3
  kept 2 allreduce -b 64K -e 64K -G 2 -R 2 -N 3
}
