#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# --devices on a fake DGX-1V: which GPUs are taken, and what the set is said to carry.
load backend

# A machine of eight GPUs with the links of a hybrid cube mesh.
cube_mesh() {
  machine 8 1GiB 7.0
  cat > "$DIR/links" <<'LINKS'
X NV1 NV1 NV2 NV2 SYS SYS SYS
NV1 X NV2 NV1 SYS NV2 SYS SYS
NV1 NV2 X NV2 SYS SYS NV1 SYS
NV2 NV1 NV2 X SYS SYS SYS NV1
NV2 SYS SYS SYS X NV1 NV1 NV2
SYS NV2 SYS SYS NV1 X NV2 NV1
SYS SYS NV1 SYS NV1 NV2 X NV2
SYS SYS SYS NV1 NV2 NV1 NV2 X
LINKS
  export FAKE_GPU_LINKS=$DIR/links
}
on_mesh() {  # on_mesh RANKS OPTIONS... : the run's words in $output, its rows in a.csv
  cube_mesh
  rm -f "$DIR/a.csv"
  run "-${EXIT:-0}" timeout 60 ./allreduce_perf "${QUICK[@]}" --nvidia-smi "$FAKE/nvidia-smi" --csv "$DIR/a.csv" -g "$@"
}
set_of_rows() { column device_set,bound_GBps,bound_kind "$DIR/a.csv" | sort -u; }

# bats test_tags=quick
@test "the best four GPUs of a DGX-1V are one of its quads" {
  on_mesh 4 --devices best
  [ "$(set_of_rows)" = "0,1,2,3|100|nvlink" ]
  [[ $output == *"GPUs 0,1,2,3 (best of 70 sets: "*"all-reduce at most 100 GB/s over nvlink"* ]]
}
@test "the head tells all GPUs of the host, also those that are not used" {
  on_mesh 2
  grep -qx '# gpus_per_node: 8' "$DIR/a.csv"
  grep -qx '# nics_per_node: [0-9]*' "$DIR/a.csv"
}
@test "a list is taken as given, and efficiency is the rate over the bound" {
  on_mesh 2 --devices 4,0
  [ "$(set_of_rows)" = "4,0|50|nvlink" ]
  column busbw_GBps,bound_GBps,efficiency "$DIR/a.csv" | awk -F'|' '{ d = $3 - $1 / $2; if (d < 0) d = -d; if (d > 1e-4 + 0.01 * $3) exit 1 }'
}
@test "without --devices the first GPUs are taken and bounded all the same" {
  on_mesh 5
  [[ $(set_of_rows) == "0,1,2,3,4|"* ]]
  [[ $output == *"shared memory"* || $output == *pcie* ]]
}
@test "GPUs that CUDA_VISIBLE_DEVICES hides are not chosen" {
  export CUDA_VISIBLE_DEVICES=1,5,2,3
  on_mesh 2 --devices best
  [ "$(set_of_rows)" = "1,2|50|nvlink" ]
  EXIT=2 on_mesh 2 --devices 0,1
  [[ $output == *"--devices: GPU 0 is hidden by CUDA_VISIBLE_DEVICES"* ]]
}
@test "a choice among GPUs of which nothing is known is one line and exit code 2" {
  cube_mesh
  run -2 timeout 60 ./allreduce_perf "${QUICK[@]}" --nvidia-smi "$DIR/none" -g 2 --devices best
  [[ $output == *"--devices: nothing is known of the GPUs"* ]]
}
@test "a machine whose nvidia-smi fails is measured without a bound, and the head says why" {
  cube_mesh
  executable "$DIR/smi" 'echo "NVIDIA-SMI has failed because it could not communicate" >&2; exit 9'
  run -0 timeout 60 ./allreduce_perf "${QUICK[@]}" --nvidia-smi "$DIR/smi" --csv "$DIR/a.csv" -g 2
  [[ $output == *"no bound: "* ]]
  [ "$(set_of_rows)" = "0,1||" ]
}
