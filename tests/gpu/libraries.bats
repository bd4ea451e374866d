#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What NCCL and CUDA do, lack and refuse in their versions, 2.14 to 2.31, and programs have to cope with.
load backend

# perf RANKS COLLECTIVE OPTIONS...: a short run with its rows in $DIR/a.csv; output and stderr apart.
perf() {
  rm -f "$DIR/a.csv"
  run --separate-stderr timeout 120 mpirun -np "$1" "./${2}_perf" "${QUICK[@]}" --csv "$DIR/a.csv" "${@:3}"
  echo "$output"
  echo "$stderr"
}
right() {  # right RANKS COLLECTIVE OPTIONS...: all rows are ok
  perf "$@"
  [ "$status" -eq 0 ]
  [ "$(column status,wrong "$DIR/a.csv" | sort -u)" = "ok|0" ]
}
flags() { column flags "$DIR/a.csv" | grep -cw -- "$1"; }
trace_to() { export FAKE_NCCL_TRACE=$DIR/trace; rm -f "$DIR/trace"; }
beside_nccl_2_14() { export LD_LIBRARY_PATH=$FAKE/nccl-2.14:$FAKE; }

# It takes 20 seconds until a device that is never given back is given up: that job runs beside the other tests.
setup_file() {
  make_fake_gpu
  DIR=$BATS_FILE_TMPDIR
  use_fake_gpu
  [ -e "$FAKE/libnccl.so.2" ] || return 0
  {
    FAKE_GPU_FAULT=lost:ncclCommDestroy:1@1 timeout 120 mpirun -np 2 ./allreduce_perf --backend nccl -b 4K -e 8K \
      -n 3 -w 1 --csv "$DIR/a.csv" > "$DIR/out" 2> "$DIR/err" && echo 0 > "$DIR/code" || echo $? > "$DIR/code"
    mv "$DIR/code" "$DIR/status"
  } 3>&- &
}

# without LIBRARY...: hides them, wherever this machine has them: what is found first cannot be opened.
without() {
  local library
  mkdir "$DIR/hidden"
  for library in "$@"; do touch "$DIR/hidden/$library"; done
  export LD_LIBRARY_PATH=$DIR/hidden:$FAKE
}

@test "no operation starts a thread inside NCCL" {
  trace_to
  right 2 allreduce
  trace_has "^comm rank=0 ranks=2 blocking=1 "
  trace_has "^group rank=1 thread=0"
  trace_lacks "thread=1"
}
@test "a user who sets NCCL_COMM_BLOCKING=0 gets threads, and right results" {
  trace_to
  NCCL_COMM_BLOCKING=0 right 2 allreduce
  trace_has "^group rank=1 thread=1"
  NCCL_COMM_BLOCKING=0 right 2 sendrecv --placement out -m 4
}

@test "symmetric windows are registered with every NCCL that has them" {
  local version
  for version in 22809 22807 22707 22902 23007; do
    FAKE_NCCL_VERSION=$version right 2 allreduce -R 2
    [ "$(flags symmetric)" -eq 4 ]
  done
  right 3 gather -R 2
  NCCL_COMM_BLOCKING=0 right 2 allreduce -R 2
}

@test "the time that NCCL takes to connect is no row's time" {
  machine_line connect=2
  QUICK=(--backend nccl -b 4K -e 4K -T 60)
  right 2 allreduce
  [ "$(column samples "$DIR/a.csv" | awk '$1 > 2' | wc -l)" -eq 2 ]
  [ "$(column time_max_us "$DIR/a.csv" | awk '$1 < 1.5e6' | wc -l)" -eq 2 ]
}
@test "a slow first operation is not taken for the next ones" {
  export FAKE_GPU_FAULT="slow=2:ncclAllReduce:1@*"
  QUICK=(--backend nccl -b 4K -e 4K -T 60)
  right 2 allreduce --placement out
  [ "$(column time_max_us "$DIR/a.csv" | awk '$1 < 1.5e6' | wc -l)" -eq 1 ]
}

@test "an fp8 average on one rank is a skipped row, and the rest is measured" {
  perf 1 allreduce -d f8e4m3 -o all
  [ "$status" -eq 0 ]
  [ "$(column op,status "$DIR/a.csv" | grep -c '^avg|skipped')" -eq 4 ]
  [ "$(column op,status "$DIR/a.csv" | grep -v '^avg' | sort -u | cut -d '|' -f 2 | sort -u)" = ok ]
  perf 1 reducescatter -d f8e5m2 -o avg
  [ "$status" -eq 77 ]
  [ "$(column status "$DIR/a.csv" | sort -u)" = skipped ]
}

@test "graphs never write to memory that another row has had" {
  trace_to
  QUICK=(--backend nccl -b 4K -e 4K -n 3 -w 1 -G 1)
  right 2 allreduce -d all
  trace_has "capturing=1"
  trace_lacks "stale=1"
  # Here nothing but the graph writes to some of the buffers.
  QUICK=(--backend nccl -b 4K -e 4K -n 3 -w 0 -G 1)
  right 2 allreduce -d all --cache rotate
  trace_lacks "stale=1"
  QUICK=(--backend nccl -b 1000 -e 4000 -i 500 -n 3 -w 1 -G 1 -R 1)
  right 2 allreduce
  trace_lacks "stale=1"
}

@test "NVLink-centric scheduling is asked for as nccl-tests does, and variables win" {
  trace_to
  right 2 allreduce
  trace_has "nvlink_centric_sched=1 max_p2p_peers=-$"
  [[ $output == *nvlinkCentricSched* ]]
  grep -q '^# configuration: .*nvlinkCentricSched' "$DIR/a.csv"
  trace_to
  NCCL_NVLINK_UTIL_CENTRIC_SCHED_ENABLE=0 right 2 allreduce
  trace_has "nvlink_centric_sched=0"
  trace_to
  FAKE_NCCL_VERSION=22707 right 2 allreduce
  trace_has "nvlink_centric_sched=0"
  grep -q '^# configuration:' "$DIR/a.csv"
  run ! grep -q '^# configuration: .*nvlinkCentricSched' "$DIR/a.csv"
}
@test "sendrecv asks for two peers from NCCL 2.30 on, and variables win" {
  trace_to
  FAKE_NCCL_VERSION=23007 right 3 sendrecv --placement out
  trace_has "max_p2p_peers=2$"
  grep -q '^# configuration: .*maxP2pPeers' "$DIR/a.csv"
  trace_to
  FAKE_NCCL_VERSION=23007 NCCL_P2P_MAX_PEERS=1 right 3 sendrecv --placement out
  trace_has "max_p2p_peers=1$"
  trace_to
  FAKE_NCCL_VERSION=23007 right 3 allreduce
  trace_has "max_p2p_peers=-$"
}

@test "a program names neither CUDA nor NCCL, and runs over MPI without them" {
  run -0 ldd ./allreduce_perf
  [[ $output != *libnccl* && $output != *libcuda* ]]
  without libcudart.so{,.13,.12,.11.0} libcuda.so.1 libnccl.so{,.2}
  run -0 timeout 60 mpirun -np 2 ./allreduce_perf -b 4K -e 4K -n 1 -w 0
  [[ $output == *"mpi backend (auto"* ]]
  COMMAND=(mpirun -np 2 ./allreduce_perf "${QUICK[@]}")
  EXIT=3 refused libcudart
}
@test "a CUDA without NCCL beside it is a sentence" {
  without libnccl.so{,.2}
  COMMAND=(mpirun -np 2 ./allreduce_perf "${QUICK[@]}")
  EXIT=3 refused libnccl.so
}
@test "every collective is right beside NCCL 2.14, which lacks all that came later" {
  beside_nccl_2_14
  trace_to
  local collective
  for collective in allreduce reducescatter allgather broadcast reduce gather scatter; do
    right 3 "$collective"
    grep -q '^# library: NCCL 2.14.3' "$DIR/a.csv"
  done
  for collective in alltoall sendrecv; do right 3 "$collective" --placement out; done
  trace_has ncclSend
}
@test "gather, scatter and all-to-all are NCCL's own from 2.28 on" {
  trace_to
  right 3 gather
  right 3 scatter
  right 3 alltoall --placement out
  trace_has "ncclGather "
  trace_has "ncclScatter "
  trace_has "ncclAlltoAll "
}
@test "types, registration and policies that NCCL 2.14 lacks are reasons, not errors" {
  beside_nccl_2_14
  perf 2 allreduce -d all
  [ "$status" -eq 0 ]
  [ "$(column type,status "$DIR/a.csv" | grep -c '^f8e.*|skipped')" -eq 8 ]
  [ "$(column type,status "$DIR/a.csv" | grep -v '^f8e' | cut -d '|' -f 2 | sort -u)" = ok ]
  local option
  for option in "-R 1" "-R 2"; do
    # shellcheck disable=SC2086
    perf 2 allreduce $option
    # Either is said before or of each row; 77: nothing was measured.
    if [ "$status" -eq 77 ]; then
      [ "$(column status "$DIR/a.csv" | sort -u)" = skipped ]
      [ "$(column reason "$DIR/a.csv" | grep -c "2.14")" -eq 4 ]
    else
      [ "$status" -eq 2 ]
      [[ $stderr == *2.14* ]]
    fi
  done
  COMMAND=(mpirun -np 2 ./allreduce_perf "${QUICK[@]}")
  refused 2.14 -x 0
  [[ $stderr == *-x* ]]
}

@test "buffers that NCCL did not register are not called registered" {
  right 2 allreduce -R 1
  [ "$(column flags "$DIR/a.csv" | grep -cw registered)" -eq 4 ]
  run ! flags not-registered
  NCCL_LOCAL_REGISTER=0 right 2 allreduce -R 1
  [ "$(flags not-registered)" -eq 4 ]
  FAKE_NCCL_VERSION=22902 NCCL_WIN_ENABLE=0 right 2 allreduce -R 2
  [ "$(flags not-registered)" -eq 4 ]
  run ! flags symmetric
  # Over several nodes NCCL before 2.29 gives a handle that means nothing.
  if [ "$BUSBAR_TEST_MPI" = mpich ]; then
    MPIR_CVAR_ODD_EVEN_CLIQUES=1 FAKE_NCCL_VERSION=22809 right 2 allreduce -R 2
    [ "$(column nodes,flags "$DIR/a.csv" | grep -cw '^2|.*not-registered')" -eq 4 ]
  fi
  machine_line symmetric=no
  FAKE_NCCL_VERSION=22902 right 2 allreduce -R 2
  [ "$(flags not-registered)" -eq 4 ]
}

@test "a lost device is reported though nothing can be freed, and the job ends by itself" {
  local fault
  QUICK=(--backend nccl -b 4K -e 8K -n 3 -w 1)
  for fault in lost:ncclAllReduce:5@1 lost:ncclMemAlloc:1@1 lost:cudaEventRecord:3@1; do
    export FAKE_GPU_FAULT=$fault
    perf 2 allreduce
    [ "$status" -ne 0 ]
    [ "$status" -ne 124 ]
    [[ $stderr == *"rank 1: "*[Cc][Uu][Dd][Aa]* ]]
    nothing_runs "$DIR/a.csv"
  done
}

@test "a device that is lost when all is measured ends the job, and the rows are there" {
  eventually test -e "$BATS_FILE_TMPDIR/status"
  status=$(cat "$BATS_FILE_TMPDIR/status")
  [ "$status" -ne 0 ]
  [ "$status" -ne 124 ]
  grep -q 'timeout.*giving the devices back' "$BATS_FILE_TMPDIR/err"
  [ "$(column status "$BATS_FILE_TMPDIR/a.csv" | sort | uniq -c | xargs)" = "4 ok" ]
  nothing_runs "$BATS_FILE_TMPDIR/a.csv"
}

@test "what NCCL takes at its first operation is no reason to end the run" {
  machine_line nccl=500MiB
  QUICK=(--backend nccl -b 4K -e 512M -f 131072 -n 1 -w 0 -T 60)
  perf 2 allreduce
  [ "$status" -eq 0 ]
  [ "$(column size_bytes,status "$DIR/a.csv" | grep -c '^4096|ok')" -eq 2 ]
  [ "$(column status "$DIR/a.csv" | grep -c skipped)" -ge 1 ]
}

@test "two instances of one GPU are measured, though NCCL takes them for one" {
  printf 'gpu pci=0000:11:00.0 memory=512MiB cc=9.0 mig=%d name=Fake GPU MIG\n' 0 1 > "$DIR/machine"
  export FAKE_GPU_MACHINE=$DIR/machine
  local own=(./allreduce_perf "${QUICK[@]}" --csv "$DIR/a.csv") version
  for version in 22809 23007; do
    rm -f "$DIR/a.csv"
    FAKE_NCCL_VERSION=$version run timeout 60 mpirun -np 1 env CUDA_VISIBLE_DEVICES=0 "${own[@]}" : -np 1 env CUDA_VISIBLE_DEVICES=1 "${own[@]}"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(column status,wrong "$DIR/a.csv" | sort -u)" = "ok|0" ]
  done
}
@test "a CTA policy that the library does not know is refused in one line" {
  COMMAND=(mpirun -np 2 ./allreduce_perf "${QUICK[@]}")
  FAKE_NCCL_VERSION=22707 refused -x -x 2
  FAKE_NCCL_VERSION=22707 right 2 allreduce -x 1
  FAKE_NCCL_VERSION=22602 refused -x -x 1
  right 2 allreduce -x 2
}
@test "devices are found by UUID and its beginning" {
  local uuid
  uuid=$("$FAKE/nvidia-smi" --query-gpu=index | awk -F', ' '$1 == 4 { print $2 }')
  CUDA_VISIBLE_DEVICES=${uuid:0:9},$uuid right 1 allreduce
  [[ $output == *"device  0 [0000:51:00]"* ]]
}

