#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# busbar accept: what is refused before anything is launched, runs on this machine, outputs, exit codes.
# shellcheck disable=SC2016 # scripts that are written here expand it
load ../common

COMMAND=(./busbar accept)
accept() {  # accept OPTIONS... : ends with EXIT where that is given
  run --separate-stderr "${COMMAND[@]}" "$@"
  [ "${EXIT:-$status}" -eq "$status" ]
}
specification() {  # specification [VALUE [KIND]] > FILE: all-reduce of two ranks on every node
  node_specification "this machine" '["64KiB", "1MiB"]' "${1:-0.001}" 1.0 2 | sed "s/\"per_node\"/\"${2:-per_node}\"/"
}

# bats test_tags=quick
@test "accept run launches, keeps and judges, and accept judge says the same of its folder" {
  [ "$(nproc)" -ge 2 ] || skip "two ranks would share a processor, and that never passes"
  specification > "$DIR/spec.toml"
  EXIT=0 accept run "$DIR/spec.toml" -o "$DIR/run" --seed 5
  [ "$(ls "$DIR/run")" = "$(printf '%s\n' 001-node-localhost-allreduce.csv 002-node-localhost-allreduce.csv facts.csv \
    launches.csv metrics.prom report.html junit.xml spec.toml verdicts.csv verdicts.json verdicts.md \
    good.txt bad.txt unknown.txt | sort)" ]
  [ "$(tail -n 1 <<< "$output")" = "Overall: PASS (exit 0); $DIR/run/report.html" ]
  [ "$(cat "$DIR/run/good.txt")" = localhost ] && [ ! -s "$DIR/run/bad.txt" ] && [ ! -s "$DIR/run/unknown.txt" ]
  grep -q '^# seed: 5$' "$DIR/run/launches.csv"
  cmp "$DIR/spec.toml" "$DIR/run/spec.toml"
  [ "$(column size_bytes "$DIR/run/001-node-localhost-allreduce.csv" | xargs)" = "65536 1048576" ]
  EXIT=0 accept judge "$DIR/spec.toml" "$DIR/run" --json "$DIR/again.json"
  [ "$(jq -c .verdicts "$DIR/again.json")" = "$(jq -c .verdicts "$DIR/run/verdicts.json")" ]
  EXIT=0 accept judge "$DIR/spec.toml" "$DIR/run" --json
  [ "$(jq -c .verdicts <<<"$output")" = "$(jq -c .verdicts "$DIR/run/verdicts.json")" ]
  refused "--json: $DIR/again.json exists" judge "$DIR/spec.toml" "$DIR/run/launches.csv" --json "$DIR/again.json"
}

@test "a specification that is based on another is dumped and kept whole" {
  specification > "$DIR/base.toml"
  printf 'schema = 1\nbased_on = "base.toml"\n[system]\nname = "derived"\n[run]\nlaunches = 1\nmin_launches = 1\n' > "$DIR/spec.toml"
  accept lint "$DIR/spec.toml" --dump-spec
  [ "$(jq -c '[.system.name, .run.launches, .run.iterations, .expect[0].id]' <<<"$output")" = '["derived",1,5,"floor"]' ]
  accept run "$DIR/spec.toml" -o "$DIR/run"
  [ "$status" -ne 2 ]
  run ! grep based_on "$DIR/run/spec.toml"
  accept lint "$DIR/run/spec.toml"
  [[ $output == *"1 rule, 1 device set"* ]]
}
@test "a browser opens the verdicts' page without a complaint, and no wider than a phone" {
  specification 1000000 > "$DIR/spec.toml"
  EXIT=1 accept run "$DIR/spec.toml" -o "$DIR/run"
  grep -q '<h1><span class="verdict">FAIL</span> Interconnect acceptance of this machine</h1>' "$DIR/run/report.html"
  grep -q '<p class="answer">localhost is slow: its all-reduce of ' "$DIR/run/report.html"
  browse "$DIR/run/report.html"
}
@test "a floor that is missed is exit 1, and more ranks than processors never pass" {
  specification 100000 > "$DIR/spec.toml"
  EXIT=1 accept run "$DIR/spec.toml" -o "$DIR/run"
  specification | sed "s/ranks_per_node = 2/ranks_per_node = $((2 * $(nproc) + 1))/" > "$DIR/many.toml"
  EXIT=3 accept run "$DIR/many.toml" -o "$DIR/many"
  [[ $output == *oversubscribed* ]]
}
# bats test_tags=quick
@test "a launch that fails is an error, with its words in the journal" {
  mkdir "$DIR/bin"
  executable "$DIR/bin/allreduce_perf" '[ "$1" = --version ] || { echo "allreduce_perf: no luck" >&2; exit 4; }'
  specification > "$DIR/spec.toml"
  EXIT=4 accept run "$DIR/spec.toml" -o "$DIR/run" --programs "$DIR/bin"
  grep -q 'exit 4: allreduce_perf: no luck' "$DIR/run/launches.csv"
  grep -q 'no luck' "$DIR"/run/001-*.log
}
@test "what follows -- goes to mpiexec as it is, and --mpiexec and --programs are heard" {
  executable "$DIR/mpiexec" "echo \"\$@\" >> $DIR/said; exit 9"
  specification > "$DIR/spec.toml"
  EXIT=4 accept run "$DIR/spec.toml" -o "$DIR/run" --mpiexec "$DIR/mpiexec" --hosts a,b -- -iface "ib 0" -x
  grep -q -- "^-iface ib 0 -x -f $DIR/run/hosts/0001 -n 1 -ppn 1 .*allreduce_perf --version --facts -$" "$DIR/said"
  [ "$(cat "$DIR/run/hosts/0001" "$DIR/run/hosts/0002" | xargs)" = "a b" ]
  [ "$(grep -vcx -- --version "$DIR/said")" -eq 6 ]  # both do not answer at three contacts, and nothing else is tried
  [[ $output == *"a does not answer"*"b does not answer"* ]]
}
@test "a file of hosts, and Slurm's list where nothing else names them" {
  specification > "$DIR/spec.toml"
  printf '# rack 1\nlocalhost slots=8\n\n127.0.0.1:4\n' > "$DIR/hosts"
  executable "$DIR/mpiexec" 'exit 9'
  executable "$DIR/scontrol" <<< '[ "$*" = "show hostnames n[1-2]" ] && printf "n1\nn2\n"'
  accept run "$DIR/spec.toml" -o "$DIR/file" --mpiexec "$DIR/mpiexec" --hostfile "$DIR/hosts"
  grep -q '^# nodes: localhost 127.0.0.1$' "$DIR/file/launches.csv"
  PATH=$DIR:$PATH SLURM_JOB_NODELIST='n[1-2]' run ./busbar accept run "$DIR/spec.toml" -o "$DIR/slurm" --mpiexec "$DIR/mpiexec"
  grep -q '^# nodes: n1 n2$' "$DIR/slurm/launches.csv"
}
@test "-v tells every launch on stderr, and the source of every rule; otherwise nothing is said there" {
  specification | sed '$a source = "a guide"' > "$DIR/spec.toml"
  accept run "$DIR/spec.toml" -o "$DIR/run" -v
  [[ $output == *"floor (absolute 0.001 GB/s): a guide"* ]]
  [ "$(grep -c '^[12]/2 node localhost allreduce, launch [12]: ' <<<"$stderr")" -eq 2 ]
  accept run "$DIR/spec.toml" -o "$DIR/quiet"
  [ -z "$stderr" ]
}
@test "the specification as it was understood, and its complaints" {
  specification > "$DIR/spec.toml"
  accept lint "$DIR/spec.toml" --dump-spec
  [ "$(jq -c '[.run.launches, .device_set[0].kind, .expect[0].size, .expect[0].warn_below]' <<<"$output")" = '[2,"per_node",[65536,1048576],null]' ]
  EXIT=0 accept lint "$DIR/spec.toml"
  specification | sed 's/^\[run\]/[ceiling]\nsystem = "dgx-1v"\n[run]/; s/^value = .*/value = 500.0/' > "$DIR/high.toml"
  refused refused run "$DIR/high.toml" -o "$DIR/run"
  [ ! -e "$DIR/run" ]
}
@test "an earlier run is the baseline of a later one" {
  [ "$(nproc)" -ge 2 ] || skip "two ranks would share a processor, and that is no baseline"
  # Enough operations for a median that a busy machine leaves steady: a noisy row is no reference.
  specification | sed 's/^iterations = 5/iterations = 200/' > "$DIR/spec.toml"
  accept run "$DIR/spec.toml" -o "$DIR/run"
  { sed 's/"absolute"/"baseline"/; /^value = /d; s/^fail_below = .*/fail_below = 0.01/' "$DIR/spec.toml"
    printf '[baseline]\nrun = "run"\n'; } > "$DIR/later.toml"
  accept judge "$DIR/later.toml" "$DIR/run" --json
  [ "$(jq -c '[.verdicts[] | [.reference_kind, .ratio == 1]] | unique' <<<"$output")" = "[[\"baseline $DIR/run\",true]]" ]
  sed -i 's/^run = "run"/run = "none"/' "$DIR/later.toml"
  refused "none is not the folder of an accept run" judge "$DIR/later.toml" "$DIR/run"
  sed -i 's/^run = "none"/file = "b.csv"/' "$DIR/later.toml"
  refused "[baseline] file was removed: run \`busbar accept run SPEC -o FOLDER\`" judge "$DIR/later.toml" "$DIR/run"
  refused "busbar accept baseline was removed" baseline "$DIR/spec.toml" "$DIR/run"
}
# bats test_tags=quick
@test "the ready-made specifications are listed, and are found by their names" {
  EXIT=0 accept list
  [ "${#lines[@]}" -ge 2 ]
  name=$(awk 'NR == 2 { print $1 }' <<<"$output")
  EXIT=0 accept lint "$name"
}
# bats test_tags=quick
@test "accept list NAME has each rule's figure and where it is from" {
  EXIT=0 accept list dgx-h100
  [[ $output == *"node-allreduce "*"absolute 478.9 GB/s"*"fails below 0.96"* ]]
  [[ $output == *"node-allreduce: 478.9 GB/s in place at 8 GiB: Azure"* ]]
  run ! grep -q -e '^all-ring-ops ' -e 'all-ring-ops:' <<<"$output"
  accept list dgx-h100
  accept list dgx-h100 --profile full
  [[ $output == *"all-ring-ops: 324.3"* ]]
  [[ $output == *"Profiles (--profile NAME)"*"quick: node-allreduce"*"full: "*"all-ring-ops"* ]]
  refused "ready-made specification" list no-such-machine
}
# bats test_tags=quick
@test "auto judges a run by its machine, and no log, which is one launch" {
  ./allreduce_perf --backend sim --system a3-megagpu-8g --hosts 2 -b 8G -e 8G --csv "$DIR/two.csv" > "$DIR/out"
  EXIT=4 accept judge auto "$DIR/two.csv" --assume gpu="NVIDIA H100 80GB HBM3" --assume gpus_per_node=8 \
    --assume machine=a3-megagpu-8g
  [[ $stderr == *"auto: a3-megagpu-8g, by the product name that was given"* ]]
  logs=../shared/data/nccl_tests_logs
  [ -d "$logs" ] || skip "no ../shared/data here"
  log=$logs/polaris_a100-40gb_all_reduce_8gpu-2node_alcf.txt
  refused "a log is one launch; busbar expect allreduce --measured $log answers for it" judge auto "$log"
  ./busbar import "$log" -o "$DIR/polaris.csv"
  accept judge hgx-a100-x4 "$DIR/polaris.csv"
  [[ $output == *"note: a log is one launch; busbar expect allreduce --measured $DIR/polaris.csv answers for it"* ]]
  [[ $output == *"note: "*"in place takes 271 us at 128 KiB and 119 at 256 KiB (2.29 times)"* ]]
}
@test "--rule measures, judges and lints single rules, and judge knows which were measured" {
  specification > "$DIR/spec.toml"
  specification | sed -n '/^\[\[expect/,$p' | sed 's/"floor"/"other"/; s/"allreduce"/"allgather"/' >> "$DIR/spec.toml"
  accept run "$DIR/spec.toml" -o "$DIR/run" --rule floor
  [ "$(jq -r '[.verdicts[].rule] | unique | join(" ")' "$DIR/run/verdicts.json")" = floor ]
  [ "$(grep -c '^node,' "$DIR/run/launches.csv")" -eq 2 ]
  [[ $output == *"judged by these rules only (--rule): floor"* ]]
  accept judge "$DIR/spec.toml" "$DIR/run" --json "$DIR/again.json"
  [ "$(jq -r '[.verdicts[].rule] | unique | join(" ")' "$DIR/again.json")" = floor ]
  EXIT=4 accept judge "$DIR/spec.toml" "$DIR/run" --rule floor --rule other
  [[ $output == *"no data of allgather: there is allreduce"* ]]
  accept lint "$DIR/spec.toml" --rule other
  [[ $output == *": 1 rule, "* ]]
  refused "there are floor, other; did you mean floor?" judge "$DIR/spec.toml" "$DIR/run" --rule flor
  refused "there are floor, other" run "$DIR/spec.toml" -o "$DIR/none" --rule x
  [ ! -e "$DIR/none" ]
}
@test "copies of a CSV are one launch, and so are a run and its CSVs" {
  specification > "$DIR/spec.toml"
  accept run "$DIR/spec.toml" -o "$DIR/run"
  csv=$DIR/run/001-node-localhost-allreduce.csv
  cp "$csv" "$DIR/copy.csv"
  EXIT=3 accept judge "$DIR/spec.toml" "$csv" "$DIR/copy.csv"
  [[ $output == *"1 launch where 2 are needed"*"/copy.csv and $csv are the same file: counted once"* ]]
  accept judge "$DIR/spec.toml" "$DIR/run" "$DIR/copy.csv" --json
  [ "$(jq '[.verdicts[].n_launches] | max' <<<"$output")" -eq 2 ]
}
@test "pairs of one machine pass only where that is permitted" {
  specification 0.000001 pairwise | sed 's/^ranks_per_node = 2/ranks_per_node = 1/' > "$DIR/spec.toml"
  EXIT=3 accept run "$DIR/spec.toml" -o "$DIR/run" --hosts n1,n2,n3 -- -launcher fork
  [[ $output == *"one machine: its nodes are names of one host"*"never pass ([run] same_machine = true"* ]]
  EXIT=0 accept judge "$DIR/spec.toml" "$DIR/run" --same-machine
  [[ $output == *"nodes n1 n2 n3 ran on one host"*"which same_machine permits"* ]]
}
# bats test_tags=quick
@test "accept lint reports every fault of a specification, a line each" {
  specification 0 | sed 's/^launches = 2/launches = 0/; s/allreduce/allreduse/; s/^on_noisy/on_nosy/; s/^timeout_s = 20/timeout_s = "x"/' > "$DIR/spec.toml"
  EXIT=2 accept lint "$DIR/spec.toml"
  [ "$(grep -c "^busbar: $DIR/spec.toml:[0-9]*:[0-9]*: " <<<"$stderr")" -ge 5 ]
  refused "more errors: busbar accept lint $DIR/spec.toml" run "$DIR/spec.toml" -o "$DIR/none"
}
@test "a fingerprint that a run cannot have ends it before its launches, or after the first" {
  specification | sed 's/^name = .*/&\nfingerprint = { gpu = "NVIDIA H200" }/' > "$DIR/auto.toml"
  sed 's/^timeout_s/backend = "mpi"\n&/' "$DIR/auto.toml" > "$DIR/mpi.toml"
  EXIT=0 accept lint "$DIR/mpi.toml"
  [[ $output == *"which a run over MPI does not report"* ]]
  refused "which a run over MPI does not report" run "$DIR/mpi.toml" -o "$DIR/run"
  [ ! -e "$DIR/run" ]
  EXIT=4 accept run "$DIR/auto.toml" -o "$DIR/run"
  [ "$(grep -c '^node,' "$DIR/run/launches.csv")" -eq 1 ]
  [[ $stderr == *"nothing more was launched"*"does not report gpu"* ]]
  [ "$(grep -o "does not report gpu" <<<"$output" | wc -l)" -eq 1 ]
  accept run "$DIR/mpi.toml" -o "$DIR/known" --assume gpu="NVIDIA H200"
  [ "$(grep -c '^node,' "$DIR/known/launches.csv")" -eq 2 ]
}
# bats test_tags=quick
@test "one line names each mistake, and nothing is launched or written" {
  specification > "$DIR/spec.toml"
  mkdir "$DIR/full"
  touch "$DIR/full/x"
  spec=$DIR/spec.toml
  refused "missing command"
  refused "did you mean judge?" juge
  refused "missing specification" run -o "$DIR/run"
  refused "missing output" run "$spec"
  refused "no such file" run nobody.toml -o "$DIR/run"
  refused "is not empty" run "$spec" -o "$DIR/full"
  refused "unknown option --lunch" run "$spec" -o "$DIR/run" --lunch
  refused "--seed is only for" judge "$spec" "$DIR/full" --seed 3
  refused "follow --" run "$spec" "$spec" -o "$DIR/run"
  refused "empty name" run "$spec" -o "$DIR/run" --hosts a,,b
  refused "a is given twice" run "$spec" -o "$DIR/run" --hosts a,b,a
  refused "mutually exclusive" run "$spec" -o "$DIR/run" --hosts a --hostfile "$spec"
  refused "'mpirun' after --" run "$spec" -o "$DIR/run" -- mpirun -iface e0
  refused "cannot read" run "$spec" -o "$DIR/run" --hostfile "$DIR/none"
  refused "--seed" run "$spec" -o "$DIR/run" --seed many
  refused "no such program" run "$spec" -o "$DIR/run" --mpiexec "$DIR/none"
  refused "--programs DIR" run "$spec" -o "$DIR/run" --programs "$DIR"
  refused "KEY=VALUE" run "$spec" -o "$DIR/run" --assume gpu
  refused "missing files" judge "$spec"
  refused "[soak]" soak "$spec" -o "$DIR/run" --for 5s
  refused "--for" soak "$spec" -o "$DIR/run"
  refused "cannot read" judge "$spec" "$DIR/none.csv"
  refused "has no launches.csv" judge "$spec" "$DIR/full"
  refused "another output" judge "$spec" "$DIR/full" --json "$DIR/a" --junit "$DIR/a"
  refused "cannot read -x" judge "$spec" -- -x
  refused "profile" run "$spec" -o "$DIR/run" --profile hasty
  specification 1 pairwise > "$DIR/pairs.toml"
  refused "needs two nodes" run "$DIR/pairs.toml" -o "$DIR/run"
  [ ! -e "$DIR/run" ]
}

@test "accept rehearse simulates a fleet, and lint says what would be found" {
  specification 1 pairwise | sed 's/^launches = 2/launches = 3/; s/^compare = .*/compare = "fleet"/; /^value = /d
    s/^fail_below = .*/fail_below = 0.97/; s/^size = .*/size = "1MiB"/' > "$DIR/spec.toml"
  EXIT=0 accept rehearse "$DIR/spec.toml" --nodes 64 --levels 8 --plant slow-node:2:0.7,uplink:1:0.5,dead:1,hang:1 --json "$DIR/r.json"
  [[ $output == *"simulated, nothing is measured"*"missed: none"*"falsely blamed: none"* ]]
  [ "$(jq -c '[.simulated, (.found | length), .missed, .falsely_blamed, .launches]' "$DIR/r.json")" = '[true,5,[],[],8]' ]
  EXIT=1 accept rehearse "$DIR/spec.toml" --nodes 64 --plant slow-node:1:0.99
  EXIT=0 accept rehearse "$DIR/spec.toml" --nodes 64 --fleets 20
  [[ $output == *"anything was falsely blamed in 0, all was right in 20" ]]
  accept lint "$DIR/spec.toml" --nodes 64
  [[ $output == *"Rehearsed at 3 % noise, 6 partners in each of 3 launches on 64 nodes: a node that loses "*" % of its bandwidth is found in 99 of 100 runs. No false alarms in 50 healthy fleets. A run takes about "* ]]
  refused --levels rehearse "$DIR/spec.toml" --nodes 64 --plant uplink:1
  refused "" rehearse "$DIR/spec.toml" --nodes 64 --plant broken:1
  printf 'SwitchName=s%d Nodes=n[%d-%d]\n' 1 1 8 2 11 18 3 21 28 4 31 38 > "$DIR/topology.conf"
  EXIT=0 accept rehearse "$DIR/spec.toml" --levels "$DIR/topology.conf" --plant uplink:1:0.5
  [[ $output == *"32 nodes"*"found: uplink s"* ]]
  refused absent rehearse "$DIR/spec.toml" --levels "$DIR/absent"
  specification > "$DIR/nodes.toml"
  refused 'compare = "fleet"' rehearse "$DIR/nodes.toml" --nodes 64
}
@test "a rehearsal of a machine with a fingerprint names the rules that it leaves out" {
  EXIT=0 accept rehearse knl-aries --nodes 16
  [[ $output == *"not rehearsed: pair-sendrecv (absolute)"* ]]
  EXIT=1 accept rehearse knl-aries --nodes 16 --plant slow-node:1:0.9,slow-node:1:0.5
  [ "$(grep -c "^slow-node:1:0.9 is not to be found: .* allows a loss of 10 % (fail_below)" <<<"$output")" -eq 1 ]
  EXIT=0 accept rehearse knl-aries --nodes 16 --power --json
  [ "$(jq -c '[.simulated, .least_loss > 0, .alarms, .fleets, .noise, .noise_file, .not_rehearsed]' <<<"$output")" = \
    '[true,true,0,100,0.03,null,["pair-sendrecv (absolute)"]]' ]
}
@test "accept lint says what so few nodes cannot show, and where their number means nothing" {
  accept lint knl-aries --nodes 3
  [[ $output == *"rule pair-outlier: a fleet comparison of pairs needs 4 nodes: on 3 this rule is always INCONCLUSIVE; leave it out"* ]]
  [[ $output != *Rehearsed* ]]
  accept lint knl-aries --hosts a,b
  [[ $output == *"which end of a slow pair is at fault"* ]]
  accept lint dgx-h100 --nodes 1000
  [[ $output == *"--nodes: no rule here compares pairs of nodes with each other; --profile full has one" ]]
  refused "--profile full has one" rehearse dgx-h100
}
