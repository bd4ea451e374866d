#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# busbar topo: actions, sources, forms of output, refusals.
load ../common

topo() { run --separate-stderr ./busbar topo "$@"; }
refused() {  # refused WORDS OPTIONS... : exit 2 and one line with these words
  topo "${@:2}"
  echo "$stderr"
  [ "$status" -eq 2 ]
  [ -z "$output" ]
  [ "${#stderr_lines[@]}" -eq 1 ]
  [[ $stderr == *"$1"* ]]
}

@test "topo bound tells what a set carries and why, as text and as JSON" {
  topo bound --system dgx-1v --devices 0,1,2,3
  [ "$status" -eq 0 ]
  [[ $output == *"at most 100 GB/s over nvlink"* ]]
  topo bound --system dgx-1v --devices 0,1,2,3 --json
  [ "$(jq -c '[.system, .devices, .ring_GBps, .cut_GBps, .kind, .exact]' <<<"$output")" = '["dgx-1v",[0,1,2,3],100,100,"nvlink",true]' ]
  [ -n "$(jq -r .limit <<<"$output")" ]
  topo bound --system p3dn --devices 0-4 --json
  [ "$(jq .ring_GBps <<<"$output")" = 0 ]
  [ "$(jq '.bound_GBps > 0' <<<"$output")" = true ]
}
@test "topo bound takes NCCL's constants and a number of flows" {
  topo bound --system dgx-1v --constants nccl --json
  [ "$(jq .ring_GBps <<<"$output")" = 120 ]
  topo bound --system p3dn-x2 --flows 1 --json
  [ "$(jq .ring_GBps <<<"$output")" = 1.25 ]
  topo bound --system p3dn-x2 --json
  [ "$(jq .ring_GBps <<<"$output")" = 12.5 ]
}
@test "topo choose gives a set and its reason" {
  topo choose -k 2 --system exxact-ts4 --policy worst --json
  [ "$(jq -c '[.devices, .policy]' <<<"$output")" = '[[0,1],"worst"]' ]
  topo choose -k 4 --system dgx-1v
  [[ $output == "best of 70 sets: "* ]]
  topo choose -k 2 --partition --system dgx-1v --json
  [ "$(jq -c '[.partition[].ring_GBps]' <<<"$output")" = '[50,50,50,50]' ]
}
@test "topo classes counts all sets by what they carry" {
  topo classes -k 4 --system dgx-1v --json
  [ "$(jq -c '[.k, [.classes[] | [.ring_GBps, .count]]]' <<<"$output")" = '[4,[[100,2],[50,6],[0,62]]]' ]
  topo classes --system ac922
  [ "$(grep -c nvlink <<<"$output")" -eq 4 ]
}
@test "topo compare sets systems and sets against each other" {
  topo compare --system dgx-2 --system dgx-1v -k 8 --json
  [ "$(jq -c '[.[] | [.system, .ratio]]' <<<"$output")" = '[["dgx-2",1],["dgx-1v",1]]' ]
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
  topo show --system ac922 --json
  [ "$(jq -c '[(.gpus | length), .links[0], (.nics | length)]' <<<"$output")" = '[4,["X","NV3","SYS","SYS"],2]' ]
  [ "$(jq -c '.gpus[0] | [.index, .numa, (.name | length > 0), has("bus_id")]' <<<"$output")" = '[0,0,true,true]' ]
  topo show --system ac922 --dot
  dot -Tplain <<<"$output" > "$DIR/plain"
  topo show --system ac922 --svg "$DIR/a.svg"
  [ "$status" -eq 0 ]
  grep -q '</svg>' "$DIR/a.svg"
  refused "exists" show --system ac922 --svg "$DIR/a.svg"
}
@test "topo reads captures, joins them and warns in words" {
  printf '\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tPIX\t0-7\nGPU1\tPIX\t X \t0-7\n' > "$DIR/m.txt"
  printf ' \tGPU0\tGPU1\n GPU0\tX\tNS\n GPU1\tNS\tX\n' > "$DIR/p.txt"
  printf '0, GPU-0, NVIDIA GeForce RTX 2080 Ti, 00000000:01:00.0, 3, 16, [N/A]\n1, GPU-1, NVIDIA GeForce RTX 2080 Ti, 00000000:02:00.0, 3, 16, [N/A]\n' > "$DIR/q.txt"
  topo show --smi "$DIR/m.txt" --p2p "$DIR/p.txt" --query "$DIR/q.txt" --json
  [ "$status" -eq 0 ]
  [ "$(jq -c '[.gpus[].bus_id, .links[0][1]]' <<<"$output")" = '["0000:01:00.0","0000:02:00.0","PIX"]' ]
  [[ $(jq -r '.warnings[]' <<<"$output") == *"P2P reading is off"* ]]
  topo bound --smi "$DIR/m.txt" --p2p "$DIR/p.txt" --query "$DIR/q.txt" --json
  [ "$(jq -c '[.ring_GBps, .kind]' <<<"$output")" = '[7.875,"shared memory"]' ]
}
@test "topo save writes a system that reads back the same" {
  topo save --system summit -o "$DIR/mine.toml"
  [ "$status" -eq 0 ]
  topo classes --system summit --json
  first=$output
  topo classes --system "$DIR/mine.toml" --json
  [ "$output" = "$first" ]
  refused "exists" save --system summit -o "$DIR/mine.toml"
}
@test "topo looks at this machine, with or without a GPU" {
  topo show --nvidia-smi "$DIR/none" --json
  [ "$status" -eq 0 ]
  [ "$(jq '.gpus | length > 0' <<<"$output")" = true ]
  [[ $(jq -r '.warnings[]' <<<"$output") == *nvidia-smi* ]]
}
@test "topo refuses what it does not understand, in one line" {
  refused "did you mean choose?" chose -k 2
  refused "unknown option --frobnicate" show --frobnicate
  refused "dgx-1v" bound --system dgx-1w
  refused "give -k N" choose --system dgx-1v
  refused "--devices" bound --system dgx-1v --devices 0,8
  refused "twice" bound --system dgx-1v --devices 1,1
  refused "--dot belongs to" bound --system dgx-1v --dot
  refused "nominal, reported, nccl" bound --system dgx-1v --constants real
  printf '\tGPU0\tGPU1\nGPU0\t X \tNV1\n' > "$DIR/cut.txt"
  refused "$DIR/cut.txt:2:" show --smi "$DIR/cut.txt"
  refused "--smi" show --smi "$DIR/absent"
}
@test "topo -h teaches and lists the systems" {
  topo -h
  [ "$status" -eq 0 ]
  [[ $output == *"busbar topo choose -k 4"* ]]
  [[ $output == *"gb200-nvl72"* ]]
}
