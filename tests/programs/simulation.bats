#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# --backend sim: rows predicted from a system file, by one process without a launcher.
load ../common

sim() { run "-${EXIT:-0}" --separate-stderr ./allreduce_perf --backend sim "$@"; }
near() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > 0.8 * b && a < 1.2 * b) }'; }

@test "the tables of what is simulated over what was measured are those of the logs" {
  [ -d ../shared/data/nccl_tests_logs ] || skip "no ../shared/data here"
  run -0 bench/simulated-ratios
  for half in fitted "held back" table; do
    [ "$(grep "| $half |" <<<"$output")" = "$(grep "| $half |" results/reference/simulated-ratios.md)" ]
  done
  tables=$output
  run -0 bench/simulated-ratios --fit
  [ "${output#*| logs |}" = "${tables#*| logs |}" ] || { diff <(echo "$output") <(echo "$tables"); false; }
  run -0 bench/simulated-ratios "$DIR/absent"
  [[ $output == *skipped* ]]
  run -2 "${BUILD:-build}/bin/simulated_ratios" <(printf '[[curve]]\nname = "a"\ncollective = "b"\nsystem = "dgx-2"\nsource = "c"\n') .
  [[ $output == *"no such collective"* ]]
}
# bats test_tags=quick
@test "a simulation makes nccl-tests' table, a CSV and JSON, and says so in each" {
  sim --system dgx-2 --ranks 16 -b 1M -e 1G --csv "$DIR/x.csv" -J "$DIR/x.json"
  [ "$(table | wc -l)" -eq 11 ]
  [ "$(table | awk '{print NF}' | sort -u)" = 13 ]
  grep -q "^# .*simulated" <<<"$output"
  [ "$(rows "$DIR/x.csv" | wc -l)" -eq 22 ]
  grep -q "^# simulated: yes" "$DIR/x.csv"
  grep -q "^# system: dgx-2" "$DIR/x.csv"
  [ "$(column backend "$DIR/x.csv" | sort -u)" = sim ]
  [ "$(column flags "$DIR/x.csv" | grep -vc simulated)" -eq 0 ]
  [ -z "$(column samples "$DIR/x.csv" | tr -d '\n')" ]
  [ -z "$(column time_ci_low_us "$DIR/x.csv" | tr -d '\n')" ]
  [ "$(column bound_GBps "$DIR/x.csv" | sort -u)" = 150 ]
  near "$(column busbw_GBps "$DIR/x.csv" | tail -1)" 120
  jq -e '.context.simulated == "yes" or (.. | .simulated? == "yes")' "$DIR/x.json" >/dev/null
}
@test "more ranks than a host has are on several hosts, by either spelling" {
  sim --system dgx-h100 --ranks 16 -b 1G -e 1G --placement out
  several=$(table | awk '{print $8}')
  [ "$(grep -c '^# *Rank' <<<"$output")" -eq 16 ]
  for option in --hosts --nodes; do
    sim --system dgx-h100 $option 2 -b 1G -e 1G --placement out
    [ "$(table | awk '{print $8}')" = "$several" ]
  done
  run -0 ./busbar expect allreduce --system dgx-h100 --hosts 2
  [[ $output == *"16 GPUs of 2 nodes"* ]]
  run -0 ./busbar topo bound --system dgx-h100 --nodes 2
  [[ $output == *network* ]]
  sim --system dgx-h100 --ranks 72 -b 1G -e 1G
  [ "$(grep -c '^# *Rank' <<<"$output")" -eq 2 ]
  [[ $output == *"... 70 ranks more"*"Rank 71 "*simulated-host8* ]]
  EXIT=2 sim --system rtx-pro-6000-x8 --ranks 16 -b 1G -e 1G
  [[ $stderr == *"--nic"* ]]
}
@test "every executable simulates, on one host and on several" {
  for program in ./*_perf; do
    for system in dgx-1v p3dn-x2; do
      run --separate-stderr "$program" --backend sim --system "$system" -b 1M -e 1M --placement out
      [ "$status" -eq 0 ] || { echo "$program $system: $status $stderr"; false; }
      [ "$(table | wc -l)" -eq 1 ]
    done
  done
}
@test "devices, flows and algorithm change the prediction" {
  sim --system dgx-1v --ranks 2 --devices best -b 1G -e 1G
  near "$(table | awk '{print $8}')" 40
  sim --system dgx-1v --devices 0,1 -b 1G -e 1G
  near "$(table | awk '{print $8}')" 20
  sim --system p3dn-x2 --flows 8 -b 1G -e 1G
  near "$(table | awk '{print $8}')" 8
  sim --system p3dn-x2 --algorithm tree -b 1G -e 1G
  near "$(table | awk '{print $8}')" 1.72
}
@test "the configuration of a simulation has what its rows depend on" {
  run ./reduce_perf --backend sim --system dgx-2 -b 1M -e 4M -f 4 -d double -o max -r 3 --placement in --csv "$DIR/x.csv"
  grep -q '^# configuration: .* sizes=1048576-4194304x4 types=double ops=max root=3 placement=in distribution=none$' "$DIR/x.csv"
}
@test "a file of a machine is simulated, with 1,024 hosts too" {
  sed '0,/^name = .*/s//name = "many"/; s/^hosts = .*/hosts = 1024/; /^aliases/d' topo/systems/p3dn-x2.toml >"$DIR/many.toml"
  sim --system "$DIR/many.toml" --ranks 8192 -b 1G -e 1G --csv "$DIR/many.csv"
  [ "$(column nodes "$DIR/many.csv" | sort -u)" = 1024 ]
  ./busbar topo save --system ac922 -o "$DIR/saved.toml"
  sim --system "$DIR/saved.toml" --ranks 2 -b 1G -e 1G
  near "$(table | awk '{print $8}')" 70
}
# bats test_tags=quick
@test "what a simulation has nothing for is refused" {
  COMMAND=(./allreduce_perf --csv "$DIR/refused.csv")
  refused "no such system" --backend sim --system dgx2000
  refused "--ranks 17" --backend sim --system dgx-2 --ranks 17 --hosts 1
  refused "--algorithm nvls" --backend sim --system dgx-2 --algorithm nvls
  refused "auto, ring, tree" --backend sim --system dgx-2 --algorithm star
  [ ! -e "$DIR/refused.csv" ]
}
@test "one rank has no row; under a launcher with several it is refused, auto never takes it" {
  EXIT=77 sim --system dgx-2 --ranks 1 -b 1M -e 1M
  [[ $output == *"one rank"* ]]
  COMMAND=(./allreduce_perf)
  PMI_RANK=0 PMI_SIZE=2 refused "one process" --backend sim --system dgx-2
  run ./allreduce_perf "${QUICK[@]}"
  [[ $output != *simulated* ]]
}
