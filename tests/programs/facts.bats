#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=quick
# busbar facts and --facts: what a machine reports, of a captured tree, and what has changed.
load ../common

setup() {
  DIR=$BATS_TEST_TMPDIR
  TREE=$DIR/tree
  ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  put sys/class/net/eth7/carrier_changes 4
  put sys/class/net/eth7/mtu 9000
  put sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data 100
  put sys/bus/pci/devices/0000:17:00.0/class 0x020700
  put sys/bus/pci/devices/0000:17:00.0/current_link_width 8
  put sys/bus/pci/devices/0000:17:00.0/max_link_width 16
}
put() { # put FILE TEXT
  mkdir -p "$TREE/$(dirname "$1")"
  echo "$2" > "$TREE/$1"
}
fact() { jq -r --arg fact "$1" '.facts[] | select(.fact == $fact) | .instance + " " + .value'; }

@test "facts of a tree are a table for each kind of thing, with what looks wrong below, and JSON" {
  run -0 --separate-stderr ./busbar facts --sysroot "$TREE"
  [[ $output == *"eth7  9000                4"* ]]
  [[ $output == *"! 0000:17:00.0: PCIe lanes 8 of 16"* ]]
  [[ $output != *"gpu"* ]]  # of a tree, nvidia-smi is only asked where it is named
  run --separate-stderr ./busbar facts --sysroot "$TREE" --json
  [ "$(fact net.mtu <<< "$output")" = "eth7 9000" ]
  [ "$(fact ib.sent_bytes <<< "$output")" = "mlx5_0:1 400" ]
  [ "$(jq -r '.faults[0]' <<< "$output")" = "0000:17:00.0: PCIe lanes 8 of 16" ]
}
@test "two files show what has changed, and a counter that was reset has no rise" {
  ./busbar facts --sysroot "$TREE" -o "$DIR/a.csv"
  run -0 ./busbar facts "$DIR/a.csv"  # one reading: what it has
  [[ $output == *"eth7  9000                4"*"! 0000:17:00.0: PCIe lanes 8 of 16"* ]]
  put sys/class/net/eth7/carrier_changes 40049560
  put sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data 7
  ./busbar facts --sysroot "$TREE" -o "$DIR/b.csv"
  run -0 --separate-stderr ./busbar facts "$DIR/a.csv" "$DIR/b.csv"
  [[ $(tr -s ' ' <<< "$output") == *"net.carrier_changes eth7 4 40049560 40049556"$'\n'* ]]
  [[ $(tr -s ' ' <<< "$output") == *"ib.sent_bytes mlx5_0:1 400 28 -"* ]]
  [[ $output == *"! eth7: carrier changes +40049556"* ]]
  run --separate-stderr ./busbar facts --json "$DIR/a.csv" "$DIR/a.csv"
  [ "$(jq -r '.hosts[0].changes | length' <<< "$output")" = 0 ]
}
@test "nvidia-smi is asked again without a column that it does not know" {
  cat > "$DIR/smi" <<'END'
#!/bin/sh
case "$*" in
  *fabric.state*) echo 'Field "fabric.state" is not a valid field to query.'; exit 2 ;;
  *fabric.status*) echo 'Field "fabric.status" is not a valid field to query.'; exit 2 ;;
  --query-gpu=*) echo "$1" | sed 's/--query-gpu=index//; s/,[^,]*/, Active/g; s/^/0/' ;;
  "nvlink -s") printf 'GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n\t Link 0: 26.562 GB/s\n' ;;
  "nvlink -e") printf 'GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n\t Link 0: Replay Errors: 5\n' ;;
esac
END
  chmod +x "$DIR/smi"
  run --separate-stderr ./busbar facts --sysroot "$TREE" --nvidia-smi "$DIR/smi" --json
  [ "$(fact nvlink.links <<< "$output")" = "gpu0 1 of 1" ]
  [ "$(fact nvlink.errors <<< "$output")" = "gpu0:replay_errors 5" ]
  [ "$(fact gpu.hw_slowdown <<< "$output")" = "gpu0 Active" ]
  [[ $(jq -r '.facts[] | select(.fact == "gpu.fabric_state") | .reason' <<< "$output") == *"does not know"* ]]
  [[ $(jq -r '.faults | join(" ")' <<< "$output") == *"gpu0: slowed by its hardware"* ]]
}
@test "the list of facts has their meaning, and --all shows readings too" {
  run ./busbar facts --list
  [[ $output == *"net.carrier_changes"*"errors"*"carrier changes"* ]]
  put sys/bus/pci/devices/0000:17:00.0/current_link_speed "8.0 GT/s PCIe"
  ./busbar facts --sysroot "$TREE" -o "$DIR/a.csv"
  put sys/bus/pci/devices/0000:17:00.0/current_link_speed "32.0 GT/s PCIe"
  ./busbar facts --sysroot "$TREE" -o "$DIR/b.csv"
  run ./busbar facts "$DIR/a.csv" "$DIR/b.csv"
  [[ $output != *pcie.speed* ]]
  run ./busbar facts --all "$DIR/a.csv" "$DIR/b.csv"
  [[ $output == *pcie.speed* ]]
}
@test "bad input of facts is one line and exit code 2" {
  echo "a,b" > "$DIR/other.csv"
  mkdir "$DIR/empty"
  COMMAND=(./busbar facts)
  for words in "--sysroot $DIR/none" "$DIR/none.csv" "$DIR/other.csv" "--all" "-o x.csv $DIR/other.csv" "a b c"; do
    # shellcheck disable=SC2086 # words of a command line
    refused "" $words
  done
  EXIT=3 refused "no facts" --sysroot "$DIR/empty"
}
@test "--facts writes what each host reports before a run and what has changed after it" {
  run -0 ./allreduce_perf -b 1M -e 1M -n 1 -w 0 --host-limits off --facts "$DIR/facts.csv"
  [ "$(head -n 1 "$DIR/facts.csv")" = at,host,fact,instance,value,reason ]
  [ "$(column fact "$DIR/facts.csv" | grep -c kernel.release)" -eq 1 ]  # not again: it is the same
  ./busbar facts "$DIR/facts.csv" | grep "^$(hostname), "
  COMMAND=(./allreduce_perf)
  refused --facts --facts "$DIR/facts.csv"
}
@test "on standard output facts are comments, so that the CSV stays one" {
  run -0 --separate-stderr ./allreduce_perf -b 1M -e 1M -n 1 -w 0 --host-limits off --csv - --facts -
  [[ $output == *"# fact: "*",kernel.release,,"* ]]
  echo "$output" > "$DIR/run.csv"
  [ "$(column size_bytes "$DIR/run.csv" | sort -u)" = 1048576 ]
  run ./allreduce_perf --version --facts -
  [[ $output == "busbar "*"# fact: "* ]]
}
