#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The fake GPU machine itself: what tests of the nccl backend rely on.
load backend

# on_ranks "N..." CASE...: every case on every number of ranks.
on_ranks() {
  local ranks case
  for ranks in $1; do
    for case in "${@:2}"; do
      echo "$case on $ranks ranks"
      run -0 timeout 120 mpirun -np "$ranks" "$SELFTEST" "$case"
    done
  done
}
on_two() { run -0 timeout 60 mpirun -np 2 "$SELFTEST" "$1"; }
alone() { run -0 timeout 60 "$SELFTEST" "$1"; }

says() { grep -qxF -- "$1" <<<"$output" || { echo "no line: $1"; echo "$output"; return 1; }; }

@test "a machine is read from a file, and CUDA_VISIBLE_DEVICES chooses of it" {
  FAKE_GPU_MACHINE=$ROOT/tests/fake_gpu/machines/two alone device
  [ "$output" = "0000:3B:00.0 Fake GPU X8 8.0 512 MiB
0000:AF:00.0 Fake GPU X8 8.0 512 MiB" ]
  CUDA_VISIBLE_DEVICES=3,1 alone device
  [ "$output" = "0000:41:00.0 Fake GPU X9 9.0 1024 MiB
0000:21:00.0 Fake GPU X9 9.0 1024 MiB" ]
  alone device
  built_in=$output
  [ "${#lines[@]}" -eq 8 ]
  FAKE_GPU_MACHINE=$ROOT/tests/fake_gpu/machines/eight alone device
  [ "$output" = "$built_in" ]
}

@test "CUDA_VISIBLE_DEVICES takes no beginning of two UUIDs, and none that there is not" {
  CUDA_VISIBLE_DEVICES=GPU- alone no_device
  CUDA_VISIBLE_DEVICES=GPU-nothing,1 alone no_device
}

@test "a process sees one MIG instance, which has a UUID of its own and its GPU's address" {
  printf 'gpu pci=0000:11:00.0 memory=512MiB cc=9.0 mig=%d name=Fake GPU MIG\n' 0 1 > "$DIR/mig"
  export FAKE_GPU_MACHINE=$DIR/mig
  alone device
  [ "$output" = "0000:11:00.0 Fake GPU MIG 9.0 512 MiB" ]
  CUDA_VISIBLE_DEVICES=1 run -0 mpirun -np 1 "$SELFTEST" uuid
  second=$output
  CUDA_VISIBLE_DEVICES=$second alone device
  [ "${#lines[@]}" -eq 1 ]
  run -0 mpirun -np 1 env CUDA_VISIBLE_DEVICES=0 "$SELFTEST" one_gpu : -np 1 env CUDA_VISIBLE_DEVICES="$second" "$SELFTEST" one_gpu
  says "rank 1: 5 Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 11000"
}

@test "no GPU is an error, of a machine and of CUDA_VISIBLE_DEVICES" {
  CUDA_VISIBLE_DEVICES='' alone no_device
  touch "$DIR/none"
  FAKE_GPU_MACHINE=$DIR/none alone no_device
}

@test "a machine that cannot be read ends the program with one line" {
  echo 'gpu pci=0000:11:00.0 memory=1GiB cc=9.0 name=H100' > "$DIR/real"
  FAKE_GPU_MACHINE=$DIR/real run -134 "$SELFTEST" device
  [[ ${lines[0]} == "fake GPU: $DIR/real: "* ]]
  FAKE_GPU_MACHINE=$DIR/nowhere run -134 "$SELFTEST" device
  [[ ${lines[0]} == *"cannot read $DIR/nowhere"* ]]
  echo 'machine connect=soon' > "$DIR/soon"
  FAKE_GPU_MACHINE=$DIR/soon run -134 "$SELFTEST" device
}

@test "a program that touches device memory crashes" {
  ASAN_OPTIONS=${ASAN_OPTIONS:-}:handle_segv=0 run -139 "$SELFTEST" touch
}

@test "what a killed process held is free again" {
  # One before it and none after it, so that nobody takes its place in the account.
  "$SELFTEST" hold > "$DIR/hold" 3>&- &
  local i holder=$!
  for ((i = 0; i < 100; ++i)); do [ -s "$DIR/hold" ] && break || sleep 0.05; done
  run -137 "$SELFTEST" take_and_die
  kill -9 "$holder"
  wait "$holder" || true
  alone memory
}

@test "one process has memory, streams, graphs, kernels, gates and a launch queue as on a GPU" {
  local case
  for case in memory order default_stream capture driver gate launch_queue addresses kernels; do
    echo "$case"
    alone "$case"
  done
}

@test "ranks share memory rightly, and nonsense is refused" {
  on_ranks "2 5" non_blocking refusals mismatch shared_memory
}

@test "two ranks on one GPU are refused unless their hosts are called apart" {
  on_two one_gpu
  says "rank 1: 5 Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 11000"
  SELFTEST_HOSTS_APART=1 on_two one_gpu
  says "rank 1: shares"
  NCCL_MULTI_RANK_GPU_ENABLE=1 on_two one_gpu
  says "rank 0: 5 Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 11000"
  NCCL_MULTI_RANK_GPU_ENABLE=1 FAKE_NCCL_VERSION=23000 on_two one_gpu
  says "rank 0: shares"
}

@test "while a group's thread runs, the communicator takes no call" {
  machine_line connect=1
  on_two group_thread
}

@test "the first operation of a kind is slow on a machine that connects slowly, or by a fault" {
  FAKE_GPU_FAULT=slow=2:ncclAllReduce:1@0 on_two first_is_slow
  machine_line connect=2
  on_two first_is_slow
}

@test "NCCL's own memory is taken at the first operation, which fails where it does not fit" {
  machine_line "context=500MiB nccl=600MiB"
  on_two late_memory
  says "1 Cuda failure 2 'out of memory'"
}

@test "a window is made by all ranks together, of memory that can be shared" {
  on_ranks "2 3" window plain_window
  NCCL_COMM_BLOCKING=0 FAKE_NCCL_VERSION=22707 run ! timeout 60 mpirun -np 2 "$SELFTEST" window
  [[ $output == *"NCCL operation in progress"* ]]
}

@test "what a graph registered goes on to name the memory that was there, until the eleventh group" {
  on_ranks "2 3" stale_graph stale_user
  NCCL_GRAPH_REGISTER=0 run ! timeout 60 mpirun -np 2 "$SELFTEST" stale_graph
}

@test "a fault that is malformed, or can never strike, ends the program with one line" {
  local fault
  for fault in fail:cudaNothing:1@0 fail:cudaGetLastError:1@0 fail:cudaMalloc:0@0 burn:cudaMalloc:1@0 fail:cudaMalloc:1 fail=2:cudaMalloc:1@0 slow=now:cudaMalloc:1@0 fail:cuNothing:1@0 \
    "fail:cudaMalloc:1@0," async:cudaMalloc:1@0 oom:cudaMemset:1@0 wrong:cudaMalloc:1@0; do
    FAKE_GPU_FAULT=$fault run -134 "$SELFTEST" memory
    [[ ${lines[0]} == "fake GPU: FAKE_GPU_FAULT"* ]]
  done
}

@test "a killed rank leaves nothing behind, and the others can end" {
  local rank pids=()
  for rank in 0 1 2; do
    SELFTEST_RANK=$rank SELFTEST_ID=$DIR/id timeout 60 "$SELFTEST" killed 3>&- &
    pids+=($!)
  done
  local killed=0
  wait "${pids[0]}" || killed=$?
  [ "$killed" -eq 137 ]
  wait "${pids[1]}"
  wait "${pids[2]}"
  run ! compgen -G "/dev/shm/busbar-fake-nccl-*"
}
