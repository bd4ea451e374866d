#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Kernels that run beside operations, and the preset of small operations, on devices.
load backend

quick() { run --separate-stderr timeout 100 mpirun -np 2 ./allreduce_perf --backend nccl -T 60 --csv "$DIR/a.csv" "$@"; echo "$output$stderr"; [ "$status" -eq 0 ]; }
BESIDE=(-b 64K -e 64K -n 5 --placement out --time-budget 1)

@test "a kernel on a stream of its own runs during the operations" {
  local load
  for load in copy:4M spin:200; do
    rm -f "$DIR/a.csv"
    quick "${BESIDE[@]}" --load "beside:$load"
    [ "$(column status,wrong,operations "$DIR/a.csv")" = "ok|0|5" ]
    column loaded_time_us,loaded_busbw_GBps,operation_slowdown,load_slowdown "$DIR/a.csv" |
      awk -F'|' '{ for (i = 1; i <= 4; ++i) if ($i <= 0) bad = 1 } END { exit bad || NR != 1 }'
    [[ $output == *"# Beside the load"* ]]
  done
  rm -f "$DIR/a.csv"
  quick "${BESIDE[@]}" -G 2 --load beside:copy:1M
  [ -n "$(column load_slowdown "$DIR/a.csv")" ]
}

@test "a load that fails ends the run" {
  FAKE_GPU_FAULT='fail:cuLaunchKernel:400@1' run -4 timeout 100 mpirun -np 2 ./allreduce_perf --backend nccl "${BESIDE[@]}" -T 60 --load beside:spin:50
  [[ $output == *device_load* ]]
  # Without the load the run has fewer launches.
  FAKE_GPU_FAULT='fail:cuLaunchKernel:400@1' run -0 timeout 100 mpirun -np 2 ./allreduce_perf --backend nccl "${BESIDE[@]}" -T 60
}

@test "small operations are graphs, as long as -G does not say otherwise, with the model's time" {
  machine 2 1GiB 9.0
  printf 'X NV4\nNV4 X\n' > "$DIR/links"
  export FAKE_GPU_LINKS=$DIR/links
  quick --preset decode -b 1K -e 4K -n 16 --nvidia-smi "$FAKE/nvidia-smi"
  [ "$(column samples,batch,cadence "$DIR/a.csv" | sort -u)" = "16|1|isolated" ]
  [ "$(column flags "$DIR/a.csv" | grep -c '\bgraph\b')" -eq 3 ]
  [ "$(column period_us "$DIR/a.csv" | awk '$1 > 0' | wc -l)" -eq 3 ]
  column predicted_us,time_median_us,period_us "$DIR/a.csv"
  column predicted_us "$DIR/a.csv" | awk '$1 <= last { bad = 1 } { last = $1 } END { exit bad || NR != 3 }'
  rm "$DIR/a.csv"
  quick -G 0 --preset decode -b 1K -e 1K -n 16
  [ -z "$(column predicted_us "$DIR/a.csv")" ]
  [ "$(column flags "$DIR/a.csv" | grep -c '\bgraph\b')" -eq 0 ]
  rm "$DIR/a.csv"
  quick --preset decode -z 1 -b 1K -e 1K -n 16
  [ "$(column flags "$DIR/a.csv" | grep -c '\bgraph\b')" -eq 0 ]
}
