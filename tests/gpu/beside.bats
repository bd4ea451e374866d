#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Kernels that run beside operations, on devices.
load backend

quick() { rm -f "$DIR/a.csv"; run -0 timeout 100 mpirun -np 2 ./allreduce_perf --backend nccl -T 60 --csv "$DIR/a.csv" "$@"; }
BESIDE=(-b 64K -e 64K -n 5 --placement out --time-budget 1)

@test "a kernel on a stream of its own runs during the operations" {
  local load
  for load in copy:4M spin:200; do
    quick "${BESIDE[@]}" --load "beside:$load"
    [ "$(column mix,status,wrong,operations "$DIR/a.csv" | head -n 1)" = "|ok|0|5" ]
    column mix,alone_time_us,busbw_GBps,slowdown,load_slowdown "$DIR/a.csv" | tail -n 1 |
      awk -F'|' '{ for (i = 2; i <= 5; ++i) if ($i <= 0) bad = 1 } END { exit bad || $1 != "beside load" }'
    [[ $output == *"# beside load  allreduce"* ]]
  done
  quick "${BESIDE[@]}" -G 2 --load beside:copy:1M
  [ -n "$(column load_slowdown "$DIR/a.csv" | tail -n 1)" ]
}

@test "a load that fails ends the run" {
  FAKE_GPU_FAULT='fail:cuLaunchKernel:400@1' run -4 timeout 100 mpirun -np 2 ./allreduce_perf --backend nccl "${BESIDE[@]}" -T 60 --load beside:spin:50
  [[ $output == *device_memory* ]]
  # Without the load the run has fewer launches.
  FAKE_GPU_FAULT='fail:cuLaunchKernel:400@1' run -0 timeout 100 mpirun -np 2 ./allreduce_perf --backend nccl "${BESIDE[@]}" -T 60
}
