#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# busbar workload: links, models, the inverse, forms of output, refusals.
load ../common

COMMAND=(./busbar workload)
workload() { run "-${EXIT:-0}" --separate-stderr "${COMMAND[@]}" "$@"; }
near() {  # near VALUE EXPECTED : within half a percent
  awk -v a="$1" -v b="$2" 'BEGIN { exit !(a >= b * 0.995 && a <= b * 1.005) }'
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

@test "workload tells the exchange of every model, and that throughputs are missing" {
  workload --busbw 120 --ranks 16
  [[ $output == *"link-time lower bound"* ]]
  [[ $output == *"the throughput is missing of alexnet"* ]]
  [ "$(awk '$1 == "alexnet" { print $6 }' <<<"$output")" = 3.819 ]
  [ "$(awk '$1 == "bert-squad" { print $6 }' <<<"$output")" = 6.844 ]
  # Steps are told of the one model whose throughput is known.
  [ "$(grep -c '^alexnet' <<<"$output")" -eq 1 ]
  [[ $output == *"resnet50  120-GBps     16     0.67"* ]]
}
@test "workload's text fits 100 columns" {
  local words
  for words in "--busbw dgx-2=120 --busbw p3dn-x2=1 --overlap 0,1/3,1/2,2/3,1" \
    "--busbw 120 --compute-ms 100 --model bert-squad --strong" "--share 0.8 --ranks 16 --busbw 120 --model resnet50 --overlap 0,1/3,1/2,2/3,1"; do
    # shellcheck disable=SC2086
    workload $words
    [ "$(awk 'length > 100' <<<"$output" | wc -l)" -eq 0 ]
  done
}
@test "workload writes rows as CSV, quoted, with gaps for what is not known" {
  workload --busbw 'a "b", c=120' --ranks 8,16 --model alexnet,resnet50 --overlap 0,1/2 --csv "$DIR/w.csv"
  [[ $output == *"link ms"* ]]
  [[ $(head -1 "$DIR/w.csv") == "# busbar: "* ]]
  [ "$(grep -c '^#.*: ' "$DIR/w.csv")" -eq "$(grep -c '^#' "$DIR/w.csv")" ]
  [ "$(column model "$DIR/w.csv" | sort | uniq -c | awk '{ print $1 $2 }' | paste -sd ' ')" = "4alexnet 4resnet50" ]
  [ "$(column system "$DIR/w.csv" | sort -u)" = 'a "b", c' ]
  [ "$(column ranks "$DIR/w.csv" | paste -sd ' ')" = "8 8 16 16 8 8 16 16" ]
  [ "$(column overlap "$DIR/w.csv" | paste -sd ' ')" = "0 0.5 0 0.5 0 0.5 0 0.5" ]
  [ "$(column gradient_bytes "$DIR/w.csv" | head -1)" = 244400000 ]
  near "$(column sync_ms "$DIR/w.csv" | sed -n 3p)" 3.819
  near "$(column needed_busbw_GBps "$DIR/w.csv" | sed -n 7p)" 2.399
  [ -z "$(column efficiency "$DIR/w.csv" | sed -n 3p)" ]
  [ -z "$(column compute_ms "$DIR/w.csv" | sed -n 3p)" ]
  workload --share 0.8 --ranks 16 --busbw dgx-2=120 --model alexnet --compute-ms 70.44 --csv "$DIR/i.csv"
  [ "$(grep -c '^alexnet' "$DIR/i.csv")" -eq 2 ]
  grep -q '^# reported: --share 0.8' "$DIR/i.csv"
}
@test "workload refuses an existing CSV before it reads anything, and leaves none behind" {
  echo kept > "$DIR/w.csv"
  refused "w.csv exists" --curve /absent.csv --csv "$DIR/w.csv"
  [ "$(cat "$DIR/w.csv")" = kept ]
  refused "/absent.csv" --curve /absent.csv --csv "$DIR/new.csv"
  [ ! -e "$DIR/new.csv" ]
  refused "same file" --busbw 1 --csv "$DIR/x" -o "$DIR/x"
}
@test "workload has a published throughput for one model in one type only" {
  workload --busbw 1 --ranks 16 --model resnet50 --json
  near "$(jq '.models[0].compute_ms' <<<"$output")" 719.1
  [[ $(jq -r '.models[0].compute_source' <<<"$output") == *NVIDIA* ]]
  workload --busbw 1 --ranks 16 --model resnet50 --dtype half --json
  [ "$(jq -c '[.models[0].gradient_bytes, .models[0].compute_ms, .rows[0].steps]' <<<"$output")" = '[51120000,null,[]]' ]
}
@test "workload says on stderr and in every output whose throughput it assumed" {
  workload --busbw 1 --ranks 16 --model resnet50 --json
  [[ $stderr == "busbar: assumed: resnet50 computes 719.1 ms"*"V100"*"--throughput resnet50=N"* ]]
  [ "$(jq .models[0].compute_assumed <<<"$output")" = true ]
  workload --busbw 1 --ranks 16 --model resnet50 --csv "$DIR/w.csv"
  [[ $output == *"# assumed: resnet50 "* ]]
  grep -q '^# assumed: resnet50 ' "$DIR/w.csv"
  for given in "--throughput 1450" "--compute-ms 100" "--dtype half"; do
    # shellcheck disable=SC2086
    workload --busbw 1 --ranks 16 --model resnet50 $given
    [ -z "$stderr" ]
    [[ $output != *assumed* ]]
  done
}
@test "workload takes throughput, time, batch, overlap, target and strong scaling" {
  workload --busbw 10 --ranks 4 --model alexnet --throughput 2560 --json
  near "$(jq '.models[0].compute_ms' <<<"$output")" 100
  workload --busbw 10 --ranks 4 --model alexnet,resnet50 --throughput alexnet=2560 --batch alexnet=512 --json
  near "$(jq '.models[0].compute_ms' <<<"$output")" 200
  workload --busbw 10 --ranks 4 --model alexnet --compute-ms 100 --overlap 1/4 --json
  [ "$(jq -c '[.rows[0].steps[].overlap]' <<<"$output")" = '[0.25]' ]
  near "$(jq '.rows[0].steps[0].exposed_ms' <<<"$output")" 11.66
  near "$(jq '.rows[0].steps[0].needed_GBps' <<<"$output")" 10.15
  workload --busbw 10 --ranks 4 --model alexnet --compute-ms 100 --overlap 1/4 --target 0.5 --json
  near "$(jq '.rows[0].steps[0].needed_GBps' <<<"$output")" 2.933
  workload --busbw 10 --ranks 4 --model alexnet --compute-ms 100 --strong --json
  near "$(jq '.rows[0].steps[0].efficiency' <<<"$output")" 0.4055
}
@test "workload reads curves, joins those of one system and ranks systems" {
  curve "$DIR/a.csv" box allreduce 4 10 20 40 80 80 80 80 80 80
  curve "$DIR/b.csv" box broadcast 4 50 50 50 50 50 50 50 50 50
  curve "$DIR/c.csv" box reduce 4 25 25 25 25 25 25 25 25 25
  curve "$DIR/d.csv" other allreduce 4 30 30 30 30 30 30 30 30 30
  workload --curve "$DIR/a.csv" --curve "$DIR/b.csv" --curve "$DIR/c.csv" --curve "$DIR/d.csv" --model resnet50 --json
  [ "$(jq -c '[.rows[] | [.system, .ranks, .outside_measured_sizes]]' <<<"$output")" = '[["box",4,false],["other",4,false]]' ]
  near "$(jq '.rows[0].sync_ms' <<<"$output")" 1.917
  near "$(jq '.rows[0].data_parallel_ms' <<<"$output")" 6.134
  [ "$(jq '.rows[1].data_parallel_ms' <<<"$output")" = null ]
  [ "$(jq -c '.rankings[0].systems' <<<"$output")" = '["box","other"]' ]
  workload --curve new="$DIR/a.csv" --model cifarnet
  [[ $output == *"outside: outside measured sizes"* ]]
  [[ $output == *" new "*" outside"* ]]
  workload --curve "$DIR/a.csv" --model resnet50 --bucket 1M --json
  [ "$(jq .bucket_bytes <<<"$output")" = 1048576 ]
  near "$(jq '.rows[0].sync_ms' <<<"$output")" 15.336
}
@test "workload says below which size a simulated curve is too fast" {
  ./allreduce_perf --backend sim --system dgx-h100 -b 1M -e 1G --csv "$DIR/s.csv" > "$DIR/out"
  workload --curve "$DIR/s.csv" --model resnet50 --bucket 25M
  [[ $(tr -d '
#' <<<"$output" | tr -s ' ') == *"(simulated): "*"too fast below 128 MiB: docs/simulation.md"* ]]
  curve "$DIR/a.csv" box allreduce 4 10 20
  workload --curve "$DIR/a.csv" --model resnet50
  [[ $output != *"too fast"* ]]
}
@test "workload tells which rate a reported share, efficiency or speed-up implies" {
  workload --share 0.8 --ranks 16 --busbw dgx-2=120 --model alexnet --compute-ms 70.44 --json
  near "$(jq '.implied[0].exposed_ms' <<<"$output")" 281.8
  near "$(jq '.implied[0].rates[0].busbw_GBps' <<<"$output")" 1.626
  near "$(jq '.implied[0].links[0].share_of_exposed' <<<"$output")" 0.01355
  workload --share 0.8 --ranks 16 --busbw dgx-2=120 --model alexnet --compute-ms 70.44
  [[ $output == *"stragglers"* ]]
  [[ $output == *"281.8     0.67         1.394"* ]]
  workload --efficiency 0.96 --ranks 16 --model resnet50 --json
  near "$(jq '.implied[0].rates[0].busbw_GBps' <<<"$output")" 6.40
  workload --speedup 29.43 --ranks 32 --model resnet50 --json
  near "$(jq .efficiency <<<"$output")" 0.9197
}
@test "workload knows more models from a file, and one by its parameters" {
  printf '[[model]]\nname = "mine"\nparameters_M = 1000\nsource = "me"\n' > "$DIR/m.toml"
  workload --models "$DIR/m.toml" --model mine --busbw 100 --ranks 2 --json
  near "$(jq '.rows[0].sync_ms' <<<"$output")" 40
  workload --parameters 60e6 --busbw 10 --ranks 8 --json
  near "$(jq '.rows[0].sync_ms' <<<"$output")" 42
}
@test "workload writes Markdown, and files that are new" {
  workload --busbw 120 --ranks 16 --markdown -o "$DIR/w.md"
  grep -q '^| alexnet | 244.4 |' "$DIR/w.md"
  refused "exists" --busbw 120 -o "$DIR/w.md"
}
@test "workload refuses what it does not understand, in one line" {
  refused "give --curve FILE.csv"
  refused "unknown option --frobnicate" --busbw 1 --frobnicate
  refused "unexpected argument" x.csv
  refused "did you mean resnet50" --busbw 1 --model resnet5
  refused "missing model" --busbw 1 --throughput 5
  refused "--target: 1" --busbw 1 --target 1
  refused "--share: 0" --busbw 1 --share 0 --ranks 2
  refused "--ranks N" --busbw 1 --share 0.5
  refused "linear or better" --speedup 8 --ranks 8
  refused "missing computing time" --share 0.5 --ranks 8 --model alexnet
  refused "--ranks: 1 is out of range" --busbw 1 --ranks 1
  refused "--dtype" --busbw 1 --dtype int8
  refused "--bucket" --busbw 1 --bucket 0
  refused "mutually exclusive" --busbw 1 --json --markdown
  refused "two systems" --busbw a=1 --busbw a=2
  curve "$DIR/a.csv" box allreduce 4 10
  refused "the curves have 4" --curve "$DIR/a.csv" --ranks 8
  curve "$DIR/b.csv" box broadcast 4 10
  refused "there is no all-reduce" --curve "$DIR/b.csv"
}
@test "rates are written as SimAI reads them, each group's of its own file" {
  curve "$DIR/tp.csv" box allreduce 8 100 200
  curve "$DIR/ep.csv" rack alltoall 16 30 40
  workload --curve TP="$DIR/tp.csv" --curve EP="$DIR/ep.csv" --busbw PP=47.5 --simai "$DIR/busbw.yaml"
  python3 -c 'import sys, yaml; y = yaml.safe_load(open(sys.argv[1])); print(y["TP"]["allreduce,"], y["EP"]["alltoall,"], y["PP"]["busbw"], y["DP"]["allreduce,"])' "$DIR/busbw.yaml" > "$DIR/read"
  [ "$(cat "$DIR/read")" = "200 40 47.5 None" ]
  refused "exists" --curve "$DIR/tp.csv" --simai "$DIR/busbw.yaml"
  refused "'box' is none of SimAI's groups" --curve "$DIR/tp.csv" --busbw TP=1 --simai "$DIR/x.yaml"
  refused "mutually exclusive" --curve "$DIR/tp.csv" --json --simai "$DIR/x.yaml"
  [ ! -e "$DIR/x.yaml" ]
}
