#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=quick
# busbar topo: actions, sources, forms of output, refusals.
load ../common

COMMAND=(./busbar topo)
topo() { run "-${EXIT:-0}" --separate-stderr "${COMMAND[@]}" "$@"; }

@test "topo bound tells what a set carries and why, as text and as JSON" {
  topo bound --system dgx-1v --devices 0,1,2,3
  [[ $output == *"at most 100 GB/s over nvlink"* ]]
  json '[.system, .devices, .ring_GBps, .cut_GBps, .kind, .exact]' '["dgx-1v",[0,1,2,3],100,100,"nvlink",true]' bound --system dgx-1v --devices 0,1,2,3
  [ -n "$(jq -r .limit <<<"$output")" ]
}
@test "topo bound takes NCCL's constants and a number of flows" {
  json .ring_GBps 120 bound --system dgx-1v --constants nccl
  json .ring_GBps 1.25 bound --system p3dn-x2 --flows 1
  json .ring_GBps 12.5 bound --system p3dn-x2
}
@test "topo choose gives a set and its reason" {
  json '[.devices, .policy]' '[[0,1],"worst"]' choose -k 2 --system exxact-ts4 --policy worst
  topo choose -k 4 --system dgx-1v
  [[ $output == "best of 70 sets: "* ]]
}
@test "topo classes counts all sets by what they carry" {
  json '[.k, [.classes[] | [.ring_GBps, .count]]]' '[4,[[100,2],[50,6],[0,62]]]' classes -k 4 --system dgx-1v
  topo classes --system ac922
  [ "$(grep -c nvlink <<<"$output")" -eq 4 ]
}
@test "topo compare sets systems and sets against each other" {
  json '[.[] | [.system, .ratio]]' '[["dgx-2",1],["dgx-1v",1]]' compare --system dgx-2 --system dgx-1v -k 8
  topo compare --system dgx-2 --system ac922 -k 4
  [ "${lines[0]}" = "system  devices  GB/s  ratio  over        limit" ]
  [[ ${lines[2]} == "ac922   0,1,2,3    32   0.21  nvlink+smp  X-Bus "* ]]
  topo compare --system dgx-1v --devices 0,3 --devices 0,1
  [[ $output == *"0.50"* ]]
}
@test "topo show draws a machine, tells it as JSON and as a picture" {
  topo show --system ac922
  [[ $output == *"X-Bus"* ]]
  [[ $output == *"NV3"* ]]
  json '[(.gpus | length), .links[0], (.nics | length)]' '[4,["X","NV3","SYS","SYS"],2]' show --system ac922
  [ "$(jq -c '.gpus[0] | [.index, .numa, (.name | length > 0), has("bus_id")]' <<<"$output")" = '[0,0,true,true]' ]
  topo show --system ac922 --svg "$DIR/a.svg"
  grep -q '^<svg xmlns=.*ac922' "$DIR/a.svg"
  grep -q '</svg>' "$DIR/a.svg"
  refused "exists" show --system ac922 --svg "$DIR/a.svg"
}
@test "topo reads captures, joins them and warns in words" {
  printf '\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tPIX\t0-7\nGPU1\tPIX\t X \t0-7\n' > "$DIR/m.txt"
  printf ' \tGPU0\tGPU1\n GPU0\tX\tNS\n GPU1\tNS\tX\n' > "$DIR/p.txt"
  printf '0, GPU-0, NVIDIA GeForce RTX 2080 Ti, 00000000:01:00.0, 3, 16, [N/A]\n1, GPU-1, NVIDIA GeForce RTX 2080 Ti, 00000000:02:00.0, 3, 16, [N/A]\n' > "$DIR/q.txt"
  json '[.gpus[].bus_id, .links[0][1]]' '["0000:01:00.0","0000:02:00.0","PIX"]' show --smi "$DIR/m.txt" --p2p "$DIR/p.txt" --query "$DIR/q.txt"
  [[ $(jq -r '.warnings[]' <<<"$output") == *"P2P is off"* ]]
  json '[.ring_GBps, .kind]' '[7.875,"shared memory"]' bound --smi "$DIR/m.txt" --p2p "$DIR/p.txt" --query "$DIR/q.txt"
}
@test "topo save writes a system that reads back the same" {
  topo save --system summit -o "$DIR/mine.toml"
  topo classes --system summit --json
  first=$output
  topo classes --system "$DIR/mine.toml" --json
  [ "$output" = "$first" ]
  refused "exists" save --system summit -o "$DIR/mine.toml"
}
@test "topo looks at this machine, with or without a GPU" {
  json '.gpus | length > 0' true show --nvidia-smi "$DIR/none"
  [[ $(jq -r '.warnings[]' <<<"$output") == *nvidia-smi* ]]
}
@test "topo refuses what it does not understand, in one line" {
  refused "did you mean choose?" chose -k 2
  refused "unknown option --frobnicate" show --frobnicate
  refused "give -k N" choose --system dgx-1v
  refused "--devices" bound --system dgx-1v --devices 0,8
  refused "--svg is only for" bound --system dgx-1v --svg "$DIR/no.svg"
  refused "busbar topo --dot was removed" show --system dgx-1v --dot
  refused "nominal, reported or nccl" bound --system dgx-1v --constants real
  printf '\tGPU0\tGPU1\nGPU0\t X \tNV1\n' > "$DIR/cut.txt"
  refused "$DIR/cut.txt:2:" show --smi "$DIR/cut.txt"
  refused "--smi: cannot read $DIR/absent: No such file" show --smi "$DIR/absent"
}
# Eight GPUs, NVLinks between pairs of them; lines of --query for the first N.
eight() {
  awk 'BEGIN { for (j = 0; j < 8; j++) printf "\tGPU%d", j; print "\tCPU Affinity"
    for (i = 0; i < 8; i++) { printf "GPU%d", i
      for (j = 0; j < 8; j++) printf "\t%s", i == j ? "X" : int(i / 2) == int(j / 2) ? "NV12" : "SYS"
      print "\t0-7" } }'
}
query() {
  for i in $(seq 0 $(($1 - 1))); do
    echo "$i, GPU-$i, NVIDIA A100-PCIE-40GB, 00000000:0$((i + 1)):00.0, 4, 16, Disabled"
  done
}
@test "topo refuses sources that contradict each other" {
  eight > "$DIR/m.txt"
  query 4 > "$DIR/q4.csv"
  query 8 > "$DIR/q8.csv"
  for action in show bound "choose -k 2" classes summary; do
    # shellcheck disable=SC2086
    refused "--smi shows 8 GPUs and --query 4" $action --smi "$DIR/m.txt" --query "$DIR/q4.csv"
  done
  topo bound --smi "$DIR/m.txt" --query "$DIR/q8.csv"
  printf 'GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-0)\n\t Link 0: 26.562 GB/s\n' > "$DIR/n.txt"
  refused "--nvlink" bound --smi "$DIR/m.txt" --query "$DIR/q8.csv" --nvlink "$DIR/n.txt"
}
@test "topo says about, and what it assumed, where no source has a rate" {
  eight > "$DIR/m.txt"
  query 8 > "$DIR/q.csv"
  for action in bound "choose -k 4" classes summary; do
    # shellcheck disable=SC2086
    topo $action --smi "$DIR/m.txt"
    [[ $output == *"assumed"*"--query"* ]]
    [[ $output == *about* ]]
    [[ $output != *"at most"* ]]
  done
  topo classes --smi "$DIR/m.txt" -k 2 --json
  [[ $(jq -r '.. | .assumptions? // empty | .[]' <<<"$output") == *"PCIe 3.0 x16"* ]]
  topo bound --smi "$DIR/m.txt" --query "$DIR/q.csv" --devices 0,1
  [[ $output == *"at most 300 GB/s"* ]]
  [[ $output != *assumed* ]]
}
@test "topo prints warnings on stderr, whatever the action" {
  eight | sed 's/NV12/SYS/g' > "$DIR/m.txt"
  query 8 | sed 's/A100-PCIE/A100-SXM4/' > "$DIR/q.csv"
  for action in show bound "choose -k 4" classes summary save; do
    # shellcheck disable=SC2086
    topo $action --smi "$DIR/m.txt" --query "$DIR/q.csv"
    [[ $stderr == *"busbar: warning: "*"fabric manager"* ]]
  done
  topo bound --smi "$DIR/m.txt" --query "$DIR/q.csv" --json
  [[ $(jq -r '.warnings[]' <<<"$output") == *"fabric manager"* ]]
}
@test "topo never prints a bound of 0 where a source is missing" {
  for gpu in 0 1 2 3; do
    echo "GPU $gpu: NVIDIA GB200 (UUID: GPU-$gpu)"
    printf '\t Link %d: 53.125 GB/s\n' $(seq 0 17)
  done > "$DIR/n.txt"
  query 4 > "$DIR/q.csv"
  for action in show bound summary choose classes compare; do
    topo "$action" -k 2 --nvlink "$DIR/n.txt"
    [[ $output$stderr != *"0 GB/s over none"* && $output != *" ~0 "* && $stderr != *fabric* ]]
    [[ $output == *"no source shows where it leads; give --smi"* ]]
  done
  topo bound --nvlink "$DIR/n.txt"
  [[ ${lines[0]} == *"about 900 GB/s over nvswitch" ]]
  topo bound --query "$DIR/q.csv"
  [[ ${lines[0]} == *"about 31.5 GB/s over pcie" ]]
}
@test "topo summary has the best and the worst sets" {
  topo summary --system dgx-1v
  [ "$(awk '{print $1, $2}' <<<"$output" | tail -n +4 | head -5 | xargs)" = "all 8 best 4 worst 4 best 2 worst 2" ]
  json 'map([.set, .bound_GBps])' '[["all 8",150],["best 4",100],["worst 4",15.75],["best 2",50],["worst 2",15.75]]' summary --system dgx-1v
}
@test "topo compare takes captures of several machines" {
  eight > "$DIR/a.txt"
  eight | sed 's/NV12/NV4/g' > "$DIR/b.txt"
  query 8 > "$DIR/q.csv"
  json 'map([.system, .bound_GBps, .ratio])' '[["a",300,1],["b",100,0.333333]]' compare --smi "$DIR/a.txt" --query "$DIR/q.csv" --smi "$DIR/b.txt" --query "$DIR/q.csv" -k 2
  mkdir "$DIR/other"
  cp "$DIR/b.txt" "$DIR/other/a.txt"
  json 'map(.system)' '["a","a (2)","dgx-1v"]' compare --smi "$DIR/a.txt" --smi "$DIR/other/a.txt" --system dgx-1v -k 2
  json 'map([.system, .bound_GBps])' '[["a",300],["dgx-1v",50],["b",100]]' compare "$DIR/a.txt" dgx-1v "$DIR/b.txt" -k 2
  refused "unexpected argument" show "$DIR/a.txt"
  refused "nowhere.txt" compare "$DIR/a.txt" nowhere.txt
  refused "topo compare" bound --smi "$DIR/a.txt" --smi "$DIR/b.txt"
  refused "--system is a whole machine" bound --smi "$DIR/a.txt" --system dgx-1v
  refused "--smi needs a value" show --smi ""
}
@test "topo save makes several hosts of one, which are simulated" {
  eight > "$DIR/m.txt"
  query 8 > "$DIR/q.csv"
  topo save --smi "$DIR/m.txt" --query "$DIR/q.csv" --hosts 8 --nic 4x1 -o "$DIR/pod.toml"
  run -0 --separate-stderr ./allreduce_perf --backend sim --system "$DIR/pod.toml" --ranks 64 -b 1G -e 1G
  [[ $output == *"64 ranks on 8 nodes"* ]]
  [[ $output == *"rings about 4 GB/s"* ]]
  [[ $output == *"assumed: 4 network adapters"* ]]
  topo save --system dgx-h100 --hosts 2 -o "$DIR/two.toml"
  refused "--nic 8x50" save --smi "$DIR/m.txt" --hosts 2
  refused "--hosts" save --smi "$DIR/m.txt" --nic 50
  COMMAND=(./allreduce_perf)
  refused "--hosts N --nic" --backend sim --system dgx-1v --hosts 1 --ranks 64
}
@test "--hosts and --nic join copies of a machine for bounds and simulations, without a file" {
  json '[(.devices | length), .ring_GBps]' '[16,400]' bound --system dgx-h100 --hosts 2
  json .ring_GBps 100 bound --system dgx-h100 --hosts 2 --nic 4x25
  json '.devices | length' 4 choose --system dgx-h100 --hosts 2 --nic 25 -k 4
  run -0 --separate-stderr ./allreduce_perf --backend sim --system dgx-h100 --hosts 4 --nic 8x12.5 -b 1G -e 1G
  [[ $output == *"32 ranks on 4 nodes"* ]]
  [[ $output == *"rings at most 100 GB/s"* ]]
  refused "more than 128 devices" bound --system dgx-h100 --hosts 100
  refused "--hosts" bound --system dgx-h100 --nic 50
  refused "several hosts already" bound --system p3dn-x2 --hosts 2
  refused "at most 18" bound --system gb200-tray --hosts 19
  COMMAND=(./allreduce_perf)
  refused "--hosts" --backend sim --system dgx-h100 --hosts many
  refused "--nic needs --backend sim" --nic 50
}
@test "recognize names the built-in system that a machine is, or what differs from the nearest" {
  eight > "$DIR/m.txt"
  query 8 > "$DIR/q.csv"
  topo recognize --system dgx-h100
  [ "${lines[0]}" = dgx-h100 ]
  [[ ${lines[2]} == "it may also be p5, "* ]]
  EXIT=3 refused "no built-in system is this machine" recognize --smi "$DIR/m.txt" --query "$DIR/q.csv"
  eight | sed 's/SYS/NV12/g' > "$DIR/full.txt"
  EXIT=3 topo recognize --smi "$DIR/full.txt"
  [[ ${lines[0]} == *"may be dgx-a100"* && ${lines[1]} == *"--gpu NAME"* ]]
  topo recognize --smi "$DIR/full.txt" --gpu 'NVIDIA A100-SXM4-80GB'
  [ "${lines[0]}" = dgx-a100 ]
  refused "--gpu" bound --system dgx-1v --gpu 'NVIDIA A40'
  query 8 | sed 's/A100-PCIE-40GB/H100 80GB HBM3/' > "$DIR/h100.csv"
  topo recognize --query "$DIR/h100.csv"
  [ "${lines[0]}" = dgx-h100 ]
  [ "${lines[1]}" = "by its GPUs: 8 NVIDIA H100 80GB HBM3" ]
  json '[.system, .reason, (.gpus | length), .others[0].system]' '["p5","by the product name that was given",8,"dgx-h100"]' recognize --query "$DIR/h100.csv" --instance p5.48xlarge
  EXIT=3 json '[.system, .reason, (.others[0].differences | length > 0)]' '[null,null,true]' recognize --smi "$DIR/m.txt" --query "$DIR/h100.csv"
  EXIT=3 refused "auto: no GPU is visible on this host" bound --system auto --nvidia-smi /nonexistent
  COMMAND=(./busbar accept)
  EXIT=3 refused "auto: no GPU is visible on this host" run auto -o "$DIR/run"
}
@test "recorded machines have the bounds and assumptions of tests/captures.md" {
  [ -d ../shared/data/nvidia_smi_topo_m ] || skip "no ../shared/data here"
  diff <(tests/captures-table ../shared/data) tests/captures.md
}
