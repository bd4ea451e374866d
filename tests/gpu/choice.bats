#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What NCCL chose, from a log in the form of NCCL 2.28: the fake's choice changes at 16 KiB, 64 KiB and 1 MiB.
load backend

# chosen RANKS PROGRAM OPTIONS... : runs with --nccl-choice into $DIR/a.csv.
chosen() {
  rm -f "$DIR/a.csv"
  run --separate-stderr timeout 60 mpirun -np "$1" "./$2" --backend nccl -n 2 -w 0 -T 60 --nccl-choice --csv "$DIR/a.csv" "${@:3}"
  echo "$output$stderr"
  [ "$status" -eq 0 ]
}
fact() { sed -n "s/^# $1: //p" "$DIR/a.csv"; }

# bats test_tags=quick
@test "--nccl-choice adds algorithm, protocol and channels to each row, and connections to the header" {
  chosen 2 allreduce_perf -b 8K -e 1M -f 8 --placement out
  [ "$(column size_bytes,algorithm,protocol,channels "$DIR/a.csv" | xargs)" = \
    "8192|Ring|LL|2 65536|Ring|LL128|8 524288|Ring|LL128|8" ]
  [ "$(fact nccl_nvls)" = yes ]
  [ "$(fact nccl_gpudirect_rdma)" = no ]
  [ "$(fact nccl_links)" = P2P/CUMEM ]
  [ "$(fact nccl_channels)" = "16 coll, 8 nvls, 32 p2p" ]
  [ "$(fact nccl_init)" = "2.50 on rank 1 (kernels 1.25, rest 0.25)" ]
  [[ $(fact connect_s) =~ ^[0-9]+\.[0-9][0-9]$ ]]
  [[ $output == *"# NCCL's log: NVLS yes, GPUDirect RDMA no, links: P2P/CUMEM"* ]]
  [[ $output != *"names no algorithm"* ]]
  [[ $(fact environment) != *NCCL_DEBUG* ]]
  [ -z "$stderr" ]
}
@test "the choice is that of both placements, of graphs and of groups" {
  for options in "" "-G 1" "-m 3"; do
    # shellcheck disable=SC2086
    chosen 2 allreduce_perf -b 16K -e 16K $options
    [ "$(column in_place,algorithm,protocol,wrong "$DIR/a.csv" | xargs)" = "0|Tree|LL128|0 1|Tree|LL128|0" ]
  done
}
@test "no operation that is timed or checked is logged" {
  export FAKE_NCCL_TRACE=$DIR/trace
  chosen 2 allreduce_perf -b 8K -e 32K
  [ "$(grep -c logged=1 "$DIR/trace")" -eq 7 ] # one of an element at the start, and one for each of six rows
  [ "$(column operations "$DIR/a.csv" | sort -u)" = 2 ]
  [ "$(grep -c logged=0 "$DIR/trace")" -ge 12 ]
  rm "$DIR/trace"
  run -0 timeout 60 mpirun -np 2 ./allreduce_perf "${QUICK[@]}"
  run ! grep -q logged=1 "$DIR/trace"
}
@test "GPUDirect RDMA is in the header, of whichever rank has it" {
  export FAKE_NCCL_VIA=NET/Socket/0
  rm -f "$DIR/a.csv"
  run -0 timeout 60 mpirun -np 1 env FAKE_NCCL_VIA='NET/IB/3/GDRDMA(PCI)' ./allreduce_perf "${QUICK[@]}" --nccl-choice --csv "$DIR/a.csv" : \
    -np 1 ./allreduce_perf "${QUICK[@]}" --nccl-choice --csv "$DIR/a.csv"
  [ "$(fact nccl_gpudirect_rdma)" = yes ]
  [ "$(fact nccl_links)" = "NET/IB, NET/Socket" ]
}
@test "groups have a choice each" {
  NCCL_TESTS_SPLIT="MOD 2" chosen 4 allreduce_perf -b 16K -e 16K --placement out
  [ "$(column group,algorithm,channels "$DIR/a.csv" | xargs)" = "0|Tree|8 1|Tree|8" ]
}
@test "a row of which the log says nothing has empty cells, and one note counts them" {
  FAKE_NCCL_CHOICE=silent chosen 2 allreduce_perf -b 8K -e 16K
  [ "$(column algorithm,protocol,channels "$DIR/a.csv" | sort -u)" = "||" ]
  [ "$(grep -c "names no algorithm for 4 of 4 measurements" <<< "$output")" -eq 1 ]
  [ "$(fact nccl_links)" = P2P/CUMEM ]
  chosen 2 sendrecv_perf -b 8K -e 8K
  [ "$(column algorithm,protocol,channels "$DIR/a.csv" | sort -u)" = "||" ]
  [[ $output == *"names no algorithm for 2 of 2 measurements"* ]]
}
@test "a log that the user has is not taken away, and a lower level goes on" {
  COMMAND=(mpirun -np 2 ./allreduce_perf "${QUICK[@]}")
  NCCL_DEBUG=INFO refused "unset NCCL_DEBUG" --nccl-choice
  NCCL_DEBUG=trace refused "unset NCCL_DEBUG" --nccl-choice
  NCCL_DEBUG=WARN chosen 2 allreduce_perf -b 8K -e 8K
  [ "$(column algorithm "$DIR/a.csv" | sort -u)" = Ring ]
  [[ $(fact environment) == *NCCL_DEBUG=WARN* ]]
  NCCL_DEBUG=INFO run -0 timeout 60 mpirun -np 2 ./allreduce_perf "${QUICK[@]}"
  [[ $output == *"NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM"* ]]
}
@test "an NCCL whose log cannot be switched off has its connections in the header and no choice" {
  LD_LIBRARY_PATH=$FAKE/nccl-2.14:$FAKE FAKE_NCCL_TRACE=$DIR/trace chosen 2 allreduce_perf -b 8K -e 16K
  [ "$(fact nccl_links)" = P2P/CUMEM ]
  [ "$(column algorithm,protocol,channels "$DIR/a.csv" | sort -u)" = "||" ]
  [ "$(grep -c "cannot switch its log" <<< "$output")" -eq 1 ]
  [[ $output != *"names no algorithm"* ]]
  run ! grep -q logged=1 "$DIR/trace"
}
