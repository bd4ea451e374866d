#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=quick
# Files of public threads that 0.2.0 answered wrongly, and what is right; the facts of each are in unit tests, too.
load ../common

J=../shared/data/journey3
setup() {
  common_setup
  [ -d "$J" ] || skip "no $J here"
}
# right STATUS TEXT COMMAND...: busbar COMMAND ends with STATUS and says TEXT, a pattern.
right() {
  run ./busbar "${@:3}"
  echo "$output"
  # shellcheck disable=SC2053
  [ "$status" -eq "$1" ] && [[ $output == *$2* ]]
}

@test "H01: a driver's short name is a system's GPU where the user names the system" {
  right 0 "324*0.9[89]*as expected" expect allreduce --system hgx-h100-x4 --measured $J/h100_short_name_4.log
}
@test "H02: a log of one rank has no bus bandwidth, which expect and import say" {
  right 2 "one rank" expect allreduce --system hgx-h100-x4 --measured $J/one_rank.log
  right 0 "one rank" import $J/one_rank.log -o "$DIR/x.csv"
}
@test "H05: half of the NICs, and half of their rate, fit what half of the NICs carried" {
  right 1 "half of the NICs" expect allreduce --system hgx-h200 --nodes 2 --nic 4x50 --measured $J/guest_half_nics.log
  [[ $output != *"another bandwidth"*"half of the NICs"* ]]
}
@test "H10: the column hosts names the hosts of pairs" {
  right 1 "no02gn644" accept judge $J/pairs.toml $J/pairs.csv
  [[ $output != *"pairs 2"* ]]
}
@test "H11: rocm-smi's GPUs are no system of NVIDIA" {
  run ./busbar topo recognize --smi $J/rocm_one_gpu.txt
  [[ $output != *dgx-spark* ]]
}
@test "H12: the rate of a link is that of the GPU that is named" {
  right 0 384 topo bound --smi $J/rocm_mi300a_4.txt --gpu "AMD Instinct MI300A"
}
@test "H14: GPUs behind switches are no system without one" {
  right 3 "rtx-pro-6000-x8 has 0 pairs of GPUs behind one PCIe switch, here 4" \
    topo recognize --smi $J/rtxpro6000_switches_8.txt --gpu "NVIDIA RTX PRO 6000 Blackwell Server Edition"
}
@test "H15: NVLinks of POWER8 that end at processors are no NVSwitch" {
  right 0 "smp" topo bound --hwloc $J/hwloc2_minsky.xml --devices 0,2
  [[ $output != *nvswitch* ]]
}
@test "H16, H17, H18: a fabric file loses no host without a word" {
  right 0 "24 nodes" accept rehearse $J/fleet.toml --levels $J/ibnetdiscover_two_racks.out
  [[ $output == *unplaced* ]]
  right 0 "87 nodes" accept rehearse $J/fleet.toml --levels $J/scontrol_one_line.txt
  run ./busbar accept rehearse $J/fleet.toml --levels $J/scontrol_missing_leaves.txt
  [[ $output == *170* ]]
}
@test "H20: ACS is among the first causes of a quarter of a NIC" {
  right 1 "ACS" expect sendrecv --system dgx-h100 --gpus 1 --nodes 2 --nic 1x50 --measured 13.1
}
