#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Groups of ranks with NCCL communicators of their own on the same GPUs.
load backend

mixed() {  # mixed RANKS FILE|PRESET OPTIONS...
  rm -f "$DIR/a.csv"
  run -0 timeout 120 ./busbar mix "$2" -- mpirun -np "$1" ./allreduce_perf --backend nccl -b 16K --visits 6 --time-budget 0.1 -T 60 --csv "$DIR/a.csv" "${@:3}"
}

@test "GPUs in several groups at once have right results" {
  mixed 4 tp+dp
  [ "$(column mix,backend,status,wrong "$DIR/a.csv")" = "tp|nccl|ok|0
dp|nccl|ok|0" ]
  [[ $(column flags "$DIR/a.csv") == *fake* ]]
  mixed 5 incast:2 -d half
  [ "$(column mix,wrong "$DIR/a.csv" | grep -c '|0$')" -eq 3 ]
}
@test "all ranks issue operations of their communicators in one order" {
  printf '[[group]]\nname = "%s"\nranks = "0-2"\ncollective = "allreduce"\nsize = %d\n' a 4096 b 65536 > "$DIR/mix.toml"
  # shellcheck disable=SC2016 # each rank's own shell expands these
  executable "$DIR/traced_perf" 'FAKE_NCCL_TRACE=${0%/*}/trace.${PMI_RANK:-$OMPI_COMM_WORLD_RANK} exec ./allreduce_perf "$@"'
  run -0 timeout 120 ./busbar mix "$DIR/mix.toml" -- mpirun -np 3 "$DIR/traced_perf" --backend nccl --visits 6 --time-budget 0.1 -T 60
  order() { sed -n 's/^op rank=[0-9]* //p' "$DIR/trace.$1" | grep -oE 'count=[0-9]+'; }
  # Both groups take turns.
  [ "$(order 0 | uniq | wc -l)" -gt 20 ]
  [ "$(order 0)" = "$(order 1)" ]
  [ "$(order 0)" = "$(order 2)" ]
}
