#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Every JSON is as its schema of docs/schemas says, by ajv; and each schema notices members that are added, renamed,
# removed, or of another type, but for those that are listed here.
load ../common

setup() {
  common_setup
  export NODE_PATH=$ROOT/build/node/node_modules
  [ -d "$NODE_PATH/ajv" ] || skip "no ajv (make node-packages)"
}

# written NAME COMMAND... : its standard output is $DIR/NAME.json, whatever its exit code.
written() { "${@:2}" > "$DIR/$1.json" 2> "$DIR/stderr" || [ -s "$DIR/$1.json" ] || { cat "$DIR/stderr"; return 1; }; }
# valid SCHEMA FILE... : by docs/schemas; standard input has the changes that may go unnoticed.
valid() {
  run -0 node tests/fixtures/check-json.js "$@"
  diff <(LC_ALL=C sort) <(grep -v '^$' <<<"$output" | LC_ALL=C sort)
}
# free NAME MEMBER... : the changes that go unnoticed where a text of any name may be a member.
free() {
  local member
  for member in "${@:2}"; do printf '%s\n' "$1.$member removed" "$1.$member renamed"; done
}
specification() { node_specification "this machine" '["64KiB"]' "$1" 1.0 1; }

@test "the common schema is the one that the program generates" {
  diff <(./busbar schema --json) docs/schemas/common.schema.json
}

@test "the JSON of a run, whole or cut off, skipped or wrong, simulated or in groups" {
  mpirun -np 2 ./reducescatter_perf "${QUICK[@]}" -J "$DIR/a.json"
  mpirun -np 2 ./allreduce_perf "${QUICK[@]}" -d all -o avg --backend mpi -J "$DIR/b.json" || [ "$?" -eq 77 ]
  mpirun -np 2 ./allreduce_perf "${QUICK[@]}" --inject-fault 1:3 -J "$DIR/c.json" || [ "$?" -eq 1 ]
  mpirun -np 4 ./sendrecv_perf "${QUICK[@]}" --groups mod:2 -J "$DIR/d.json"
  ./allreduce_perf --backend sim --system dgx-h100 -b 1M -e 2M -J "$DIR/e.json"
  jq 'del(.summary)' "$DIR/a.json" > "$DIR/f.json"  # as after a crash
  [ "$(jq -s '[.[].rows[].status] | unique | length' "$DIR"/?.json)" -ge 3 ]
  run -0 node tests/fixtures/check-json.js run.schema.json "$DIR"/?.json
  [ "$(grep -v '^\.context\.[a-z0-9_]* removed$' <<<"$output")" = ".summary removed" ]
}

@test "the JSON of a run in nccl-tests' style" {
  local style=(-J "$DIR/a.json" --json-style nccl-tests) member
  mpirun -np 2 ./allreduce_perf "${QUICK[@]}" "${style[@]}" -I 1
  mpirun -np 3 ./sendrecv_perf "${QUICK[@]}" "${style[@]/a.json/b.json}" --pairs all --placement out -C 1 -f 1 -i 1K
  valid nccl-tests.schema.json "$DIR"/{a,b}.json < <(
    printf '.%s removed\n' out_of_bounds average_bus_bandwidth errors end_time
    for member in out_of_place in_place; do printf '.results[].%s removed\n' "${member}_per_iter" "${member}_per_iter.per_process_max_times_us"; done)
}

@test "verdicts.json that pass and fail, with facts, suspects and paths, and rehearsals" {
  specification 0.000001 > "$DIR/pass.toml"
  printf '[[expect_fact]]\nfact = "kernel.release"\nequals = "none"\nsource = "me"\n' >> "$DIR/pass.toml"
  specification 100000 | sed 's/^\[system\]/&\nfingerprint = { driver = "550" }/' > "$DIR/fail.toml"
  ./busbar accept run "$DIR/pass.toml" -o "$DIR/run" > "$DIR/out" || true
  ./busbar accept judge "$DIR/fail.toml" "$DIR/run" --assume driver=550 --json "$DIR/fail.json" > "$DIR/out" || true
  { echo host,leaf; for ((i = 0; i < 64; ++i)); do echo "n$((i + 1)),leaf$((i / 8))"; done; } > "$DIR/levels.csv"
  ANY_FLEET_SLOW="n3 n20" ANY_FLEET_DEAD=n9 ANY_FLEET_BEHIND="$(seq -s ' ' -f n%g 33 40)" \
    run_fleet "$DIR/fleet" 64 --levels "$DIR/levels.csv" --json "$DIR/fleet.json" > "$DIR/out" || true
  [ "$(jq -s -c '[.[].verdicts[].verdict] | unique' "$DIR"/{run/verdicts,fail,fleet}.json)" = '["ERROR","FAIL","PASS"]' ]
  [ "$(jq -c '[.suspects[] | .nodes[0] // .path] | sort' "$DIR/fleet.json")" = '["n20","n3","uplink leaf4"]' ]
  [ "$(jq -r '.nodes[] | select(.state == "no data").node' "$DIR/fleet.json")" = n9 ]
  valid verdicts.schema.json "$DIR"/{run/verdicts,fail,fleet}.json < <(free .contract.fingerprint driver)
  ./busbar accept rehearse "$DIR/fleet.toml" --nodes 64 --json "$DIR/one.json"
  ./busbar accept rehearse "$DIR/fleet.toml" --nodes 32 --fleets 2 --json "$DIR/list.json"
  ./busbar accept rehearse "$DIR/fleet.toml" --nodes 8 --power --json - > "$DIR/power.json"
  valid rehearsal.schema.json "$DIR"/{one,list,power}.json < /dev/null
}

@test "dumps of specifications, with every table, and of all that are built in" {
  specification 1 | sed 's/^\[noise\]/same_machine = true\n&/; s/^kind = "per_node"/&\nenv = { NCCL_ALGO = "Ring" }/' > "$DIR/all.toml"
  cat >> "$DIR/all.toml" <<'TOML'
known_issue = { reason = "a cable", until = "2030-01-01" }
[[expect_fact]]
fact = "kernel.release"
same = "fleet"
[soak]
size = "1MiB"
dips_max = 3
[baseline]
run = "before"
TOML
  local name
  for name in "$DIR/all.toml" $(./busbar accept list | awk 'NR > 1 { print $1 }'); do
    written "specification-$(basename "$name")" ./busbar accept lint "$name" --dump-spec
  done
  valid specification.schema.json "$DIR"/specification-*.json < <(
    free '.device_set[].env' NCCL_ALGO
    free .system.fingerprint gpu gpus_per_node processor)
}

@test "compare, expect, doctor and facts" {
  local i name
  for i in 1 2 3 4; do
    for name in a b; do
      mpirun -np 2 ./allreduce_perf "${QUICK[@]}" --csv "$DIR/$name$i.csv" > "$DIR/out"
    done
    sed -i '/,4096,/d' "$DIR/a$i.csv"
  done
  written compare-4 ./busbar compare --before "$DIR"/a?.csv --after "$DIR"/b?.csv --json
  written compare-1 ./busbar compare "$DIR/b1.csv" "$DIR/a1.csv" --json
  valid compare.schema.json "$DIR"/compare-?.json < /dev/null

  written expect-1 ./busbar expect allreduce --system dgx-h100 --nodes 2 --measured 45 --json
  written expect-2 ./busbar expect allgather --system dgx-1v --gpus 2 --json
  jq '[., . + {setting: "NCCL_ALGO=Ring"}]' "$DIR/expect-1.json" > "$DIR/expect-3.json"
  valid expect.schema.json "$DIR"/expect-?.json <<< "[].setting removed"

  mkdir -p "$DIR/tree/sys/class/net/eth7"
  echo 4 > "$DIR/tree/sys/class/net/eth7/carrier_changes"
  ./busbar facts --sysroot "$DIR/tree" -o "$DIR/1.facts"
  echo 6 > "$DIR/tree/sys/class/net/eth7/carrier_changes"
  ./busbar facts --sysroot "$DIR/tree" -o "$DIR/2.facts"
  written facts-1 ./busbar facts --json
  written facts-2 ./busbar facts "$DIR/1.facts" "$DIR/2.facts" --json
  [ "$(jq '.hosts[0].changes[0].rise' "$DIR/facts-2.json")" -eq 2 ]
  valid facts.schema.json "$DIR"/facts-?.json < /dev/null
  written doctor-1 ./busbar doctor --json
  written doctor-2 ./busbar doctor "$DIR/1.facts" "$DIR/2.facts" --json
  valid doctor.schema.json "$DIR"/doctor-?.json < /dev/null
}

@test "sweep, with failures, rules and what is held out" {
  cat > "$DIR/program" <<'SH'
#!/bin/bash
[ "${OMPI_MCA_coll_tuned_allreduce_algorithm:-}" != 2 ] || exit 4
echo collective,ranks,size_bytes,status,time_median_us,busbw_GBps
echo "allreduce,4,1024,ok,${OMPI_MCA_coll_tuned_allreduce_algorithm:-9}5.$RANDOM,1"
SH
  chmod +x "$DIR/program"
  run -3 ./busbar sweep --vary OMPI_MCA_coll_tuned_allreduce_algorithm=default,2,1 --write "$DIR/rules" --held-out 2 --json "$DIR/a.json" -- "$DIR/program"
  [ "$(jq '.held_out.turns' "$DIR/a.json")" -eq 2 ]
  valid sweep.schema.json "$DIR/a.json" < /dev/null
}

@test "every action of topo" {
  local name action
  for name in $(cd topo/systems && printf '%s\n' *.toml | sed 's/\.toml$//'); do
    written "show-$name" ./busbar topo show --system "$name" --json
  done
  written show-here ./busbar topo --json
  for name in dgx-1v dgx-h100 gb200-tray; do
    written "bound-$name" ./busbar topo bound --system "$name" --hosts 2 --json
    written "choose-$name" ./busbar topo choose -k 2 --system "$name" --json
    for action in classes summary recognize; do
      written "$action-$name" ./busbar topo $action --system "$name" --json
    done
    written "compare-$name" ./busbar topo compare --system "$name" --devices 0,1 --devices 1,2 --json
  done
  written classes-one ./busbar topo classes -k 2 --system dgx-1v --json
  for action in bound choose classes compare recognize show summary; do
    run node tests/fixtures/check-json.js "topo.schema.json#/\$defs/$action" "$DIR/$action"-*.json
    echo "$action: $output"
    [ "$status" -eq 0 ]
    run ! grep -vE '(tree|in_switch|alltoall)_GBps removed$|fallback removed$|^$' <<<"$output"
    run -0 node tests/fixtures/check-json.js topo.schema.json "$DIR/$action"-*.json
  done
}

@test "workload" {
  ./allreduce_perf --backend sim --system dgx-h100 -b 1M -e 1G --csv "$DIR/curve.csv" > "$DIR/out"
  written workload-1 ./busbar workload --busbw 120 --ranks 8,16 --json
  written workload-2 ./busbar workload --curve "$DIR/curve.csv" --model resnet50 --bucket 1M --throughput 356 --json
  valid workload.schema.json "$DIR"/workload-?.json < /dev/null
}
