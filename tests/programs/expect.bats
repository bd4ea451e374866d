#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# busbar expect: what a machine should reach, and whether a number is right.
load ../common

COMMAND=(./busbar expect)
expect() { run "-${EXIT:-0}" --separate-stderr "${COMMAND[@]}" "$@"; }

# bats test_tags=quick
@test "expect prints the bound, the prediction and what others published, each with its source" {
  expect allreduce --system dgx-h100
  [[ $output == *"all-reduce of 8 GiB on 8 GPUs of dgx-h100"* ]]
  [[ $output =~ bound\ +700\  ]]
  [[ $output =~ measured\ +478.9\ +Azure ]]
  [[ $output == *"operator's floor"* ]]
  [[ $output != *"yours"* ]]
  expect allreduce --system mi300x
  [[ $output == *"not RCCL's"* ]]
}
@test "a number is judged, and causes that fit it are named with what confirms them" {
  expect allreduce --system dgx-h100 --measured 470
  [[ $output == *"as expected"* ]]
  [[ $output != *"cause"* ]]
  EXIT=1 expect allreduce --system dgx-h100 --measured 360
  [[ $output == *"too low"* ]]
  [[ $output == *"NVLS is not used"*"--nccl-choice"* ]]
  [[ $output == *"not an acceptance test"* ]]
  EXIT=1 json '[.ranks, .nodes, .outcome]' '[16,2,"too low"]' allreduce --system dgx-h100 --nodes 2 --measured 45
  jq -e '.causes[] | select(.id == "one-rail" and .fits)' <<<"$output"
}
@test "sizes, GPUs, nodes and adapters change what is expected" {
  bound() { json "(.bound_GBps * 10 | round) / 10" "$1" allgather --system "${@:2}"; }
  bound 450 dgx-h100
  bound 50 dgx-1v --gpus 2
  bound 100 dgx-h100 --nodes 2 --nic 8x12.5
  bound 900 gb200-tray --nodes 2
  bound 200 gb200-tray --nodes 2 --nic 4x50
  json '.size_bytes == 1048576 and .predicted_GBps < 100' true allreduce --system dgx-h100 --size 1M
}
# bats test_tags=quick
@test "a CSV or a log is judged by its own rows, on the machine it names" {
  ./allreduce_perf --backend sim --system dgx-h100 -b 1G -e 8G --csv "$DIR/s.csv" > "$DIR/out"
  expect allreduce --measured "$DIR/s.csv" --json  # a simulation names its system
  [ "$(jq -c '[.size_bytes, .ranks, .outcome]' <<<"$output")" = '[8589934592,8,"as expected"]' ]
  json .size_bytes 1073741824 allreduce --system dgx-h100 --size 1G --measured "$DIR/s.csv"
  refused "no row of broadcast" broadcast --system dgx-h100 --measured "$DIR/s.csv"
  refused "no row of 3 MiB" allreduce --system dgx-h100 --measured "$DIR/s.csv" --size 3M
}
@test "a file of another set or machine is refused, and its nodes are found" {
  log() { echo "../shared/data/nccl_tests_logs/$1.txt"; }
  [ -f "$(log h100sxm_all_reduce_8gpu_xxrjun)" ] || skip "no ../shared/data here"
  refused "8 ranks on 1 node, which is not 4 GPUs" allreduce --system dgx-h100 --gpus 4 \
    --measured "$(log h100sxm_all_reduce_8gpu_xxrjun)"
  refused "measured on NVIDIA H100 80GB HBM3, but 'hgx-b200' has NVIDIA B200" allreduce \
    --system hgx-b200 --measured "$(log h100sxm_all_reduce_8gpu_xxrjun)"
  refused "no row of 4 nodes" allreduce --system a3-megagpu-8g --nodes 4 \
    --measured "$(log a3mega_h100_allreduce_16gpu-2node_lessizzmore)"
  json '[.ranks, .nodes, .outcome]' '[16,2,"as expected"]' allreduce --system p5 --measured "$(log p5_h100_allreduce_16gpu-2node_awsome)"
}
@test "an import's label names no system" {
  { echo "# nThread 1 nGpus 4 minBytes 8 maxBytes 8"
    for rank in 0 1 2 3; do echo "#  Rank  $rank Group  0 Pid  1 on  h1 device  $rank [0000:1b:00] NVIDIA H100 80GB HBM3"; done
    echo "# size count type redop root time algbw busbw #wrong"
    echo "134217728 33554432 float sum -1 621.4 215.99 323.99 0"
  } > "$DIR/long.log"
  ./busbar import "DGX A100=$DIR/long.log" -o "$DIR/labelled.csv"
  expect allreduce --measured "$DIR/labelled.csv"
  [[ $output == *"4 GPUs of hgx-h100-x4"* ]]
}
@test "a log with a generic name of its GPUs is of the system that is named" {
  { echo "# nThread 1 nGpus 1 minBytes 1024 maxBytes 1024 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0"
    echo "# Using devices"
    for rank in 0 1 2 3 4 5 6 7; do
      echo "#  Rank  $rank Group  0 Pid  1 on  h1 device  $rank [0000:0$rank:00] AMD Radeon Graphics"
    done
    echo "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong"
    echo "  8589934592    2147483648     float     sum      -1  38000.0  226.05  395.59      0  38000.0  226.05  395.59      0"
  } > "$DIR/amd.log"
  expect allreduce --system mi355x --measured "$DIR/amd.log"
  [ "$status" -ne 2 ]
  [[ $output == *"yours"*"395.6"* ]]
  [[ $stderr == *"'AMD Radeon Graphics' is what drivers call a GPU that they do not know: taken for AMD Instinct MI355X"* ]]
  EXIT=3 expect allreduce --measured "$DIR/amd.log"
  [[ $stderr == *"AMD Radeon Graphics"*"mi355x"*"--system NAME"* ]]
  ./busbar import "$DIR/amd.log" -o "$DIR/amd.csv"
  run --separate-stderr ./busbar accept judge mi355x "$DIR/amd.csv" --profile full
  [[ $output != *fingerprint* ]]
  [[ $output == *"taken for AMD Instinct MI355X"* ]]
}
@test "one GPU of each node is over the network; a system of several nodes is taken whole" {
  json '[.ranks, .nodes]' '[72,18]' allreduce --system gb200-nvl72
  json '[.ranks, .nodes, .bound_GBps]' '[2,2,50]' allgather --system dgx-h100 --nodes 2 --gpus 1
}
# bats test_tags=quick
@test "more than the bound fails, unless the bound is assumed" {
  EXIT=1 expect allreduce --system dgx-h100 --measured 3800
  [[ $output == *"above the bound"*"if 3800 is in Gb/s, the bus bandwidth is 475"* ]]
  sed '0,/^name = .*/s//name = "box"\nassumptions = [{ kind = "nvlink", text = "links are guessed" }]/' \
    topo/systems/dgx-h100.toml | sed '/^aliases/d' > "$DIR/box.toml"
  expect allreduce --system "$DIR/box.toml" --measured 800
  [[ $output =~ bound\ +~700 ]]
  [[ $output == *"links are guessed"* ]]
}
@test "the questions of users in public threads have the answers that are written here" {
  local thread command answer
  while IFS='|' read -r thread command answer; do
    # shellcheck disable=SC2086 # words of a command line
    run --separate-stderr "${COMMAND[@]}" $command --json
    causes=$(jq -r '[.causes[] | select(.fits) | .id] | if . == [] then "" else ": " + join(", ") end' <<<"$output")
    written=$(jq -r .outcome <<<"$output")
    # shellcheck disable=SC2086
    run --separate-stderr "${COMMAND[@]}" $command
    [[ $output =~ if\ ([0-9.]+)\ is\ algbw ]] && written+="; if ${BASH_REMATCH[1]} is algbw: as expected; else"
    written+=$causes
    [ "$answer" = "$written" ] || { echo "$thread: $command: $written, written: $answer"; return 1; }
  done <<'QUESTIONS'
NVIDIA/nccl-tests#212|allreduce --system dgx-h100 --size 256M --measured 250|too low; if 250 is algbw: as expected; else: half-gpu-links
NVIDIA/nccl-tests#149|allreduce --system dgx-a100 --size 1G --measured 200|low
NVIDIA/nccl#495|allreduce --system dgx-a100 --nodes 2 --nic 8x12.5 --measured 75|too low; if 75 is algbw: as expected; else: gdr-off, acs, half-nics, half-network, tcp, one-qp, half-gpu-links
NVIDIA/nccl-tests#119|allreduce --system dgx-a100 --nodes 3 --nic 4x25 --size 128M --measured 96|as expected
NVIDIA/nccl#412|allreduce --system dgx-a100 --nodes 12 --nic 1x25 --measured 15.3|low: gdr-off, one-qp
NVIDIA/nccl-tests#112|allreduce --system dgx-a100 --nodes 2 --nic 1x25 --measured 9.84|too low: acs, half-network, tcp, one-qp
NVIDIA/nccl-tests#309|allreduce --system dgx-h100 --nodes 2 --measured 250|too low; if 250 is algbw: as expected; else: nvls-off, gdr-off, acs, half-nics, half-network, one-qp, one-numa-nics, half-pcie, half-gpu-links
NVIDIA/nccl-tests#169|allreduce --system dgx-a100 --nodes 6 --nic 8x12.5 --measured 40|too low; if 40 is algbw: as expected; else: gdr-off, acs, half-nics, half-network, tcp, one-qp
NVIDIA/nccl-tests#331|sendrecv --system hgx-a100-x4 --gpus 2 --measured 72|as expected
NVIDIA/nccl-tests#272|allreduce --system hgx-h200 --size 4G --measured 475|as expected
NVIDIA/nccl-tests#189|allreduce --system dgx-a100 --measured 235|as expected
QUESTIONS
}
@test "a curve that falls fails, and what is published decides where no log checks the prediction" {
  [ -d ../shared/data/journey2 ] || skip "no ../shared/data here"
  sed 's/NVIDIA Graphics Device/NVIDIA RTX PRO 6000 Blackwell Server Edition/' ../shared/data/journey2/a2a_p2poff.log > "$DIR/a.log"
  EXIT=1 expect alltoall --system rtx-pro-6000-x8 --nic 8x50 --measured "$DIR/a.log"
  [[ $output == *"the curve out of place falls from 30.2 GB/s at 8 MiB to 0.788 at 64 MiB (1/38.4): slow from 16 MiB to 2 GiB"* ]]
  EXIT=1 expect alltoall --system rtx-pro-6000-x8 --nic 8x50 --measured "$DIR/a.log" --json
  [ "$(jq '.curve_findings | length' <<<"$output")" -eq 3 ]
  expect allreduce --measured ../shared/data/journey2/h200nvl.log
  [[ $output == *"as published (68.7)"*"never checked for this kind of machine"* ]]
  [[ $output != *"median error"* ]]
}
# bats test_tags=quick
@test "what is asked wrongly is one line" {
  refused "missing collective"
  refused "unknown collective" allredjuice --system dgx-h100
  refused "one GPU exchanges nothing" allreduce --system dgx-h100 --gpus 1
  refused "--gpus 9" allreduce --system dgx-h100 --gpus 9
  refused "--nodes 19" allreduce --system gb200-nvl72 --nodes 19
  refused "neither a number" allreduce --system dgx-h100 --measured nothing.csv
  refused "above 0" allreduce --system dgx-h100 --measured 0
  EXIT=3 refused "no GPU is visible" allreduce
}
@test "each setting of a log's runs is answered by itself" {
  for algorithm in Ring Tree; do
    echo "+ NCCL_ALGO=$algorithm ./all_reduce_perf -g 8"
    for device in 0 1 2 3 4 5 6 7; do
      echo "#  Rank  $device Group  0 Pid 1 on n1 device  $device [0000:1b:00] NVIDIA H100 80GB HBM3"
    done
    echo "# size count type redop root time algbw busbw #wrong"
    [ $algorithm = Ring ] && printf '8589934592 2147483648 float sum -1 %s 0\n' "32002 268.43 469.75" "32036 268.14 469.25"
    [ $algorithm = Tree ] && echo "8589934592 2147483648 float sum -1 64012 134.19 234.84 0"
    echo "# Avg bus bandwidth : 1"
  done > "$DIR/sweep.log"
  EXIT=1 expect allreduce --system dgx-h100 --measured "$DIR/sweep.log"
  [[ $output == *"NCCL_ALGO=Ring:"*"as expected"*"NCCL_ALGO=Tree:"*"too low"* ]]
  EXIT=1 json '[.[] | [.setting, .outcome, (.measured_GBps * 10 | round)]]' '[["NCCL_ALGO=Ring","as expected",4695],["NCCL_ALGO=Tree","too low",2348]]' allreduce --system dgx-h100 --measured "$DIR/sweep.log"
}
