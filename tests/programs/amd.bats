#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=quick
# GPUs of AMD: captures of their tools, RCCL's topology, logs of rccl-tests, and a machine from bound to verdict.
load ../common

COMMAND=(./busbar topo)
topo() { run "-${EXIT:-0}" --separate-stderr "${COMMAND[@]}" "$@"; }

# pairs TITLE OWN OTHER NAME...: a table of the tools, the same cell between any two GPUs.
pairs() {
  awk -v title="$1" -v own="$2" -v other="$3" -v names="${*:4}" 'BEGIN {
    n = split(names, name, " "); print title; printf "       "
    for (j = 1; j <= n; j++) printf "%-13s", name[j]
    for (i = 1; i <= n; i++) { printf "\n%s   ", name[i]; for (j = 1; j <= n; j++) printf "%-13s", i == j ? own : other }
    print "" }'
}
BUSES="0000:0c:00.0 0000:22:00.0 0000:38:00.0 0000:5c:00.0 0000:9f:00.0 0000:af:00.0 0000:bf:00.0 0000:df:00.0"
rocm_smi() {
  local gpus="GPU0 GPU1 GPU2 GPU3 GPU4 GPU5 GPU6 GPU7"
  echo "===== ROCm System Management Interface ====="
  pairs "== Weight between two GPUs ==" 0 15 "$gpus"
  pairs "== Hops between two GPUs ==" 0 1 "$gpus"
  pairs "== Link Type between two GPUs ==" 0 XGMI "$gpus"
  echo "== Numa Nodes =="
  for i in 0 1 2 3 4 5 6 7; do printf 'GPU[%d]\t\t: (Topology) Numa Node: %d\n' "$i" $((i / 4)); done
}
amd_smi() {
  pairs "ACCESS TABLE:" ENABLED ENABLED "$BUSES"
  pairs "WEIGHT TABLE:" 0 15 "$BUSES"
  pairs "HOPS TABLE:" 0 1 "$BUSES"
  pairs "LINK TYPE TABLE:" SELF XGMI "$BUSES"
  pairs "NUMA BW TABLE:" N/A 50000-50000 "$BUSES"
}
static() {
  local i=0
  for bus in $BUSES; do
    printf 'GPU: %d\n    ASIC:\n        MARKET_NAME: AMD Instinct MI300X\n    BUS:\n        BDF: %s\n' "$i" "$bus"
    printf '        MAX_PCIE_WIDTH: 16\n        PCIE_INTERFACE_VERSION: Gen 5\n    NUMA:\n        NODE: %d\n\n' $((i++ / 4))
  done
}
rccl_log() {  # rccl_log TIME_US: an all-reduce of 8 GiB on eight GPUs, in place and out of place
  echo "# nThread 1 nGpus 8 minBytes 8589934592 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1"
  echo "#"
  echo "rccl-tests: Version develop:ae3e635"
  echo "# Using devices"
  local i=0
  for bus in $BUSES; do echo "#   Rank  $((i)) Pid 806883 on node-1 device  $((i++)) [$bus] AMD Instinct MI300X"; done
  echo "RCCL version : 2.27.7-develop:29e1567"
  echo "HIP version  : 7.0.51831-a3e329ad8"
  echo "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong   "
  awk -v t="$1" 'BEGIN { a = 8589934592 / t / 1e3; b = a * 1.75
    printf "  8589934592    2147483648     float     sum      -1  %.0f  %.2f  %.2f      0  %.0f  %.2f  %.2f      0\n", t, a, b, t, a, b }'
  echo "# Avg bus bandwidth    : 313"
}

@test "topo reads amd-smi, whose GPUs are joined by xGMI" {
  amd_smi > "$DIR/amd.txt"
  static > "$DIR/static.txt"
  topo bound --smi "$DIR/amd.txt" --query "$DIR/static.txt"
  [[ $output == *"at most 448 GB/s over xgmi"*"limit      xGMI (MI300) of every GPU"* ]]
  topo show --smi "$DIR/amd.txt" --query "$DIR/static.txt" --json
  [ "$(jq -c '[.source, .links[0][1], .gpus[7].name, .gpus[7].bus_id, .gpus[7].numa, .edges[-1].kind]' <<<"$output")" = \
    '["amd-smi","XGMI","AMD Instinct MI300X","0000:df:00.0",1,"xgmi"]' ]
  static | sed 's/0000:df/0000:ef/' > "$DIR/other.txt"
  refused "GPU7 is at 0000:df:00.0 in --smi and at 0000:ef:00.0 in --query" show --smi "$DIR/amd.txt" --query "$DIR/other.txt"
}
@test "topo probes a machine with amd-smi or rocm-smi where nvidia-smi shows no GPU" {
  mkdir "$DIR/bin"
  amd_smi > "$DIR/topology.txt"
  static > "$DIR/static.txt"
  printf "#!/bin/sh\nexec cat %s/\$1.txt\n" "$DIR" > "$DIR/bin/amd-smi"
  chmod +x "$DIR/bin/amd-smi"
  PATH=$DIR/bin:$PATH json '[(.gpus | length), .gpus[0].name, .links[0][7]]' '[8,"AMD Instinct MI300X","XGMI"]' show --nvidia-smi "$DIR/none"
  [[ $stderr != *nvidia-smi* ]]
  rocm_smi > "$DIR/rocm.txt"
  rm "$DIR/bin/amd-smi"
  printf '#!/bin/sh\nexec cat %s\n' "$DIR/rocm.txt" > "$DIR/bin/rocm-smi"
  chmod +x "$DIR/bin/rocm-smi"
  PATH=$DIR/bin:$PATH json '[.kind, .ring_GBps]' '["xgmi",350]' bound --nvidia-smi "$DIR/none"
}
@test "a machine of AMD is shown, chosen from, simulated and judged by a log of rccl-tests" {
  topo show --system mi300x
  [[ $output == *"GPU0 ↔ GPU7 "*"xGMI (MI300), 64 GB/s each way"*"GPU0    X XGMI XGMI"* ]]
  json '[.devices, .ring_GBps, .kind]' '[[0,1,2,3],192,"xgmi"]' choose -k 4 --system mi300x
  run -0 --separate-stderr ./allreduce_perf --backend sim --system mi300x -b 8G -e 8G --csv "$DIR/sim.csv"
  [ "$(column bound_GBps,bound_kind "$DIR/sim.csv" | sort -u)" = "448|xgmi" ]
  ./busbar topo save --system mi300x -o "$DIR/box.toml"
  printf 'schema = 1\nbased_on = "mi300x"\n[run]\nmin_launches = 1\n[ceiling]\nsystem = "./box.toml"\n' > "$DIR/ready-made.toml"
  for case in "48000 0" "70000 1"; do
    read -r time verdict <<<"$case"
    rccl_log "$time" > "$DIR/$time.log"
    run -0 --separate-stderr ./busbar import "$DIR/$time.log" -o "$DIR/$time.csv"
    grep -q '^# library: RCCL 2.27.7-develop:29e1567$' "$DIR/$time.csv"
    grep -q '^# devices: 8 x AMD Instinct MI300X$' "$DIR/$time.csv"
    [ "$(column backend "$DIR/$time.csv" | sort -u)" = rccl ]
    run --separate-stderr ./busbar accept judge "$DIR/ready-made.toml" "$DIR/$time.csv" --rule node-allreduce
    [ "$status" -eq "$verdict" ]
  done
}
