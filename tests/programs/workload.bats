#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=quick
# busbar workload: links, models, computing times, refusals.
load ../common

COMMAND=(./busbar workload)
workload() { run "-${EXIT:-0}" --separate-stderr "${COMMAND[@]}" "$@"; }
near() {  # near FILTER VALUE OPTIONS... : within half a percent
  json "$1 | . >= $2 * 0.995 and . <= $2 * 1.005" true "${@:3}"
}
# curve FILE SYSTEM COLLECTIVE RANKS RATE... : rows of 1 MiB, 2 MiB, 4 MiB, ... out of place
curve() {
  local size=1048576 rate
  printf '# busbar: 0.1.0\n# system: %s\n' "$2" > "$1"
  printf 'collective,backend,ranks,nodes,type,op,root,in_place,size_bytes,count,status,time_median_us,busbw_GBps\n' >> "$1"
  for rate in "${@:5}"; do
    printf '%s,nccl,%s,1,float,sum,,0,%s,%s,ok,1,%s\n' "$3" "$4" "$size" "$((size / 4))" "$rate" >> "$1"
    size=$((size * 2))
  done
}

@test "workload prints the exchange of every model, and steps where the computing time is known" {
  workload --busbw 120 --ranks 16
  [[ $output == *"link-time lower bound"* ]]
  [ "$(awk '$1 == "alexnet" { print $2, $3, $7, $8, $10 }' <<<"$output")" = "244.4 - 3.819 0 -" ]
  [ "$(awk '$1 == "bert-squad" { print $7 }' <<<"$output")" = 6.844 ]
  [ "$(grep -c '^cifarnet' <<<"$output")" -eq 1 ]
  [ "$(awk 'length > 100' <<<"$output" | wc -l)" -eq 0 ]
  workload --busbw 120 --busbw 1 --model alexnet --compute-ms 125.1
  [ "$(awk '$1 == "alexnet" { print $4, $5 }' <<<"$output" | uniq | paste -sd ';')" = "120-GBps 2;120-GBps 4;120-GBps 8;120-GBps 16;1-GBps 2;1-GBps 4;1-GBps 8;1-GBps 16" ]
  [ "$(awk '$4 == "1-GBps" && $5 == 16 { print $7, $8, $9, $10 }' <<<"$output" | tail -1)" = "458.2 0.67 75.0 25.0" ]
}
@test "workload takes throughput, time, batch, type, overlap and target" {
  near '.rows[0].compute_ms' 100 --busbw 10 --ranks 4 --model alexnet --throughput 2560
  near '.rows[0].compute_ms' 200 --busbw 10 --ranks 4 --model alexnet --throughput 2560 --batch 512
  json '.rows[0] | [.gradient_bytes, .compute_ms, .exposed_share]' '[122200000,null,null]' --busbw 10 --ranks 4 --model alexnet --dtype half
  local overlaps=(--busbw 10 --ranks 4 --model alexnet --compute-ms 100 --overlap 0.25 --overlap 1)
  json '[.rows[].overlap]' '[0.25,1]' "${overlaps[@]}"
  near '.rows[0].exposed_ms' 11.66 "${overlaps[@]}"
  near '.rows[0].needed_busbw_GBps' 10.15 "${overlaps[@]}"
  near '.rows[0].needed_busbw_GBps' 1.626 --busbw 120 --ranks 16 --model alexnet --compute-ms 70.44 --target 0.2
}
@test "workload reads curves of several systems and numbers of ranks" {
  curve "$DIR/a.csv" box allreduce 4 10 20 40 80 80 80 80 80 80
  curve "$DIR/b.csv" box allreduce 8 50 50 50 50 50 50 50 50 50
  curve "$DIR/c.csv" other allreduce 4 30 30 30 30 30 30 30 30 30
  local curves=(--curve "$DIR/a.csv" --curve "$DIR/b.csv" --curve "$DIR/c.csv" --model resnet50)
  json '[.rows[] | [.system, .ranks, .outside_measured_sizes]]' '[["box",4,false],["box",8,false],["other",4,false]]' "${curves[@]}"
  near '.rows[0].sync_ms' 1.917 "${curves[@]}"
  workload --curve "$DIR/a.csv" --curve "$DIR/b.csv" --ranks 8 --model cifarnet
  [ "$(grep -c '^cifarnet.* 8 .* outside$' <<<"$output")" -eq 1 ]
  json .bucket_bytes 1048576 --curve "$DIR/a.csv" --model resnet50 --bucket 1M
  near '.rows[0].sync_ms' 15.336 --curve "$DIR/a.csv" --model resnet50 --bucket 1M
  ./allreduce_perf --backend sim --system dgx-h100 -b 1M -e 1G --csv "$DIR/s.csv" > "$DIR/out"
  workload --curve "$DIR/s.csv" --model resnet50
  [[ $output == *"(simulated)"* ]]
}
@test "workload reads rows of one setting, which --setting chooses" {
  curve "$DIR/a.csv" box allreduce 4 10
  awk -F, -v OFS=, '/^#/ { print; next } /^collective/ { print $0, "variant"; next }
    { print $0, "Ring"; $NF = 20; print $0, "Tree" }' "$DIR/a.csv" > "$DIR/two.csv"
  refused "--setting" --curve "$DIR/two.csv" --model resnet50
  json '.rows[0].busbw_GBps' 20 --curve "$DIR/two.csv" --model resnet50 --setting Tree
}
@test "workload has more models from a file, and one by its parameters" {
  printf '[[model]]\nname = "mine"\nparameters_M = 1000\nsource = "me"\n' > "$DIR/m.toml"
  near '.rows[0].sync_ms' 40 --models "$DIR/m.toml" --model mine --busbw 100 --ranks 2
  near '.rows[0].sync_ms' 42 --parameters 60e6 --busbw 10 --ranks 8
}
@test "workload refuses what it does not understand, in one line" {
  refused "give --curve FILE.csv"
  refused "unknown option --frobnicate" --busbw 1 --frobnicate
  refused "unexpected argument" x.csv
  refused "'resnet5' for --model" --busbw 1 --model resnet5
  refused "/absent.toml" --busbw 1 --models /absent.toml
  refused "of one model" --busbw 1 --throughput 5
  refused "--batch N" --busbw 1 --parameters 5 --throughput 5
  refused "mutually exclusive" --busbw 1 --model resnet50 --throughput 5 --compute-ms 5
  refused "--target: 1" --busbw 1 --target 1
  refused "--overlap: 2" --busbw 1 --overlap 2
  refused "--ranks: 1 is out of range" --busbw 1 --ranks 1
  refused "--dtype" --busbw 1 --dtype int8
  refused "--bucket" --busbw 1 --bucket 0
  refused "--target E" --busbw 1 --share 0.8
  curve "$DIR/a.csv" box allreduce 4 10
  refused "there are 4" --curve "$DIR/a.csv" --ranks 8
  curve "$DIR/b.csv" box broadcast 4 10
  refused "no allreduce" --curve "$DIR/b.csv"
}
