#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# busbar accept run on more nodes than this machine could start launchers for at the same time. The
# nodes are those of a stand-in for mpiexec (tests/fixtures/any-host).
# shellcheck disable=SC2016 # scripts that are written here expand it
load ../common

accept_run() {  # accept_run DIR HOSTS [OPTIONS...] : HOSTS are n1 to nHOSTS; ends with EXIT where that is given
  specification > "$DIR/spec.toml"
  seq -f n%g "$2" > "$DIR/hosts"
  run --separate-stderr ./busbar accept run "$DIR/spec.toml" -o "$1" --hostfile "$DIR/hosts" \
    --mpiexec "${MPIEXEC:-tests/fixtures/any-host}" --programs . "${@:3}"
  echo "$output" | tail -n 5
  echo "$stderr" | tail -n 5
  [ "${EXIT:-$status}" -eq "$status" ]
}
specification() {  # a floor for each node by itself, which half of the rate misses
  NOISE=$'max_cv = 0.05\non_noisy = "rerun"\nmax_reruns = 1' node_specification stand-ins '"1MiB"' 20 0.9 2 "${RUN:-}"
}
instances() {  # instances VERDICT DIR : "n3 n7"
  jq -r --arg verdict "$1" '[.verdicts[] | select(.verdict == $verdict).instance] | join(" ")' "$2/verdicts.json"
}
counts() { jq -r '[.counts.PASS, .counts.FAIL, .counts.ERROR] | join(" ")' "$1/verdicts.json"; }
most_at_once() { awk '{ now += $1; if (now > most) most = now } END { print most }' "$1"; }

@test "600 nodes with 512 descriptors have a verdict each, and the slow one is named" {
  export ANY_HOST_SLOW=n311 ANY_HOST_SECONDS=0.3
  ulimit -n 512
  EXIT=1 accept_run "$DIR/run" 600
  [ "$(counts "$DIR/run")" = "599 1 0" ]
  [ "$(instances FAIL "$DIR/run")" = n311 ]
  [ "$(jq '.nodes | length' "$DIR/run/verdicts.json")" -eq 600 ]
  [ "$(grep -c '^node,' "$DIR/run/launches.csv")" -eq 1200 ]
  [ "${#stderr_lines[@]}" -eq 1 ]
  [[ $stderr == "busbar: launches at the same time: "* ]]
}
@test "the number of launches at the same time is what descriptors allow, the hard limit of them" {
  export ANY_HOST_SECONDS=0.2 ANY_HOST_TRACE=$DIR/trace
  ulimit -Sn 40
  ulimit -Hn 80
  EXIT=0 accept_run "$DIR/run" 40
  [[ $stderr =~ ^"busbar: launches at the same time: "([0-9]+)" (80 open files (ulimit -n)); launcher: tests/fixtures/any-host (--mpiexec)"$ ]]
  [ "${BASH_REMATCH[1]}" -ge 5 ]
  [ "$(most_at_once "$DIR/trace")" -le "${BASH_REMATCH[1]}" ]
  [ "$(counts "$DIR/run")" = "40 0 0" ]
}
@test "--at-once and at_once of a specification bound the launches at the same time" {
  export ANY_HOST_SECONDS=0.1 ANY_HOST_TRACE=$DIR/trace
  EXIT=0 RUN="at_once = 6" accept_run "$DIR/six" 12
  [[ $stderr == "busbar: launches at the same time: 6 ([run] at_once); launcher: "* ]]
  [ "$(most_at_once "$DIR/trace")" -le 6 ]
  [ "$(most_at_once "$DIR/trace")" -ge 2 ]
  rm "$DIR/trace"
  RUN="at_once = 6" accept_run "$DIR/one" 4 --at-once 1
  [[ $stderr == "busbar: launches at the same time: 1 (--at-once); launcher: "* ]]
  [ "$(most_at_once "$DIR/trace")" -eq 1 ]
}
@test "one line names a number of launches that means nothing" {
  specification > "$DIR/spec.toml"
  COMMAND=(./busbar accept run "$DIR/spec.toml" -o "$DIR/run")
  for options in "--at-once 0" "--at-once -1" "--at-once 1.5" "--at-once all" "--at-once 9999999" "--serial --at-once 2"; do
    # shellcheck disable=SC2086 # two words
    refused --at-once $options
  done
  [ ! -e "$DIR/run" ]
}
@test "launches that crash on one node and on no other blame it" {
  export ANY_HOST_BROKEN=n7
  EXIT=1 accept_run "$DIR/run" 12
  [ "$(counts "$DIR/run")" = "11 1 0" ]
  [ "$(instances FAIL "$DIR/run")" = n7 ]
  [ "$(jq -r '.suspects[] | .nodes[0] + " " + .defect' "$DIR/run/verdicts.json")" = "n7 hung or crashed" ]
  grep -q 'failure.*2 of 2 launches hung or crashed: exit 4: allreduce_perf: n7: out of luck' "$DIR/run/junit.xml"
  [ "$(jq -r '[.nodes[] | select(.state != "good").node] | join(" ")' "$DIR/run/verdicts.json")" = n7 ]
}
@test "a launcher that cannot be started is an error of the run, and no verdict on a node" {
  printf '#!/no/such/shell\n' > "$DIR/mpiexec"
  chmod +x "$DIR/mpiexec"
  EXIT=4 MPIEXEC=$DIR/mpiexec accept_run "$DIR/run" 12
  [ -z "$output" ]
  [ "${#stderr_lines[@]}" -eq 2 ]  # the number of launches, and this
  [[ ${stderr_lines[1]} == *"cannot start $DIR/mpiexec: "*"nothing was judged"* ]]
  [ ! -e "$DIR/run/verdicts.json" ]
  run ! grep -q '^node,' "$DIR/run/launches.csv"
}
@test "a run whose folder goes away has failed while running" {
  executable "$DIR/mpiexec" <<< 'case "$*" in *--version*) ;; *) rm -r "${0%/*}/run" ;; esac; exec tests/fixtures/any-host "$@"'
  EXIT=4 MPIEXEC=$DIR/mpiexec accept_run "$DIR/run" 3
  [[ ${stderr_lines[1]} == *"cannot write $DIR/run/"* || ${stderr_lines[1]} == *"was deleted while it was written" ]]
}
@test "a run that is ended with many launches leaves none of them" {
  export ANY_HOST_SECONDS=600 ANY_HOST_TRACE=$DIR/trace
  specification > "$DIR/spec.toml"
  ./busbar accept run "$DIR/spec.toml" -o "$DIR/run" --hosts "$(seq -s , -f n%g 40)" --mpiexec tests/fixtures/any-host \
    --programs . --at-once 30 > "$DIR/out" 2> "$DIR/err" 3>&- &
  pid=$!
  eventually has_lines 30 . "$DIR/trace"
  started=$(pgrep -P "$pid" any-host | wc -l)  # beside its guard
  kill -TERM "$pid"
  code=0
  wait "$pid" || code=$?
  [ "$code" -eq 4 ]
  [ "$started" -eq 30 ]
  nothing_runs "^sleep 600$"
  [ "$(wc -l < "$DIR/trace")" -eq 30 ]  # no other began
  grep -q "interrupted: nothing was judged" "$DIR/err"
}
@test "a run that is killed leaves no launch, and --resume makes only what is missing" {
  export ANY_HOST_TRACE=$DIR/trace
  specification > "$DIR/spec.toml"
  executable "$DIR/mpiexec" <<'END'
case "$*" in
*--version*) ;;
*) echo >> "$0.calls" ; [ "$(wc -l < "$0.calls")" != 3 ] || export ANY_HOST_SECONDS=600 ;; # the third measurement hangs
esac
exec tests/fixtures/any-host "$@"
END
  ./busbar accept run "$DIR/spec.toml" -o "$DIR/run" --hosts n1,n2,n3 --mpiexec "$DIR/mpiexec" --programs . --serial \
    > "$DIR/out" 2>&1 3>&- &
  pid=$!
  eventually has_lines 3 '^1$' "$DIR/trace"
  kill -KILL "$pid"
  nothing_runs "^sleep 600$"
  before=$(cat "$DIR/run/launches.csv")
  seed=$(sed -n 's/^# seed: //p' "$DIR/run/launches.csv")
  [ "$(grep -c '^node,' "$DIR/run/launches.csv")" -eq 2 ]
  echo "allreduce,mpi,2" > "$DIR/run/099-node-n9-allreduce.csv"  # as if the kill had come before its line
  rm "$DIR/trace"
  EXIT=0 MPIEXEC=$DIR/mpiexec accept_run "$DIR/run" 3 --resume
  [ "$(counts "$DIR/run")" = "3 0 0" ]
  [[ $(cat "$DIR/run/launches.csv") == "$before"* ]]
  [ "$(grep -c '^node,' "$DIR/run/launches.csv")" -eq 6 ]
  [ "$(grep -c '^1$' "$DIR/trace")" -eq 4 ]
  [ "$(jq -r .seed "$DIR/run/verdicts.json")" = "$seed" ]
  run ./busbar accept judge "$DIR/spec.toml" "$DIR/run"
  [[ $output == *"$DIR/run/launches.csv does not list 1 CSV beside it (099-node-n9-allreduce.csv), which is not judged"* ]]
  EXIT=0 accept_run "$DIR/run" 3 --resume  # has nothing left to make
  [ "$(grep -c '^node,' "$DIR/run/launches.csv")" -eq 6 ]
  EXIT=2 accept_run "$DIR/run" 2 --resume
  [[ $stderr == *"--resume: $DIR/run holds a run with other nodes; give another folder"* ]]
}
@test "a host that no launcher may be given is refused before anything starts" {
  specification > "$DIR/spec.toml"
  COMMAND=(./busbar accept run "$DIR/spec.toml" -o "$DIR/run" --mpiexec tests/fixtures/any-host --programs .)
  refused "']0;x  [31mred' is not the name of a host" --hosts $'\e]0;x\a\e[31mred,b'
  refused "'a b' is not the name of a host" --hosts 'a b'
  refused "'-oProxyCommand=x' is not the name of a host" --hosts h1,-oProxyCommand=x
  COMMAND=(./allreduce_perf "${QUICK[@]}" -g 2 --launcher 'env H={host} {env} {program}')
  refused "'-x' is not the name of a host" --hosts a,-x
  [ ! -e "$DIR/run" ]
}
pairs() { specification | sed 's/"per_node"/"pairwise"'"${ENV:-}"'/; s/^ranks_per_node = 2/ranks_per_node = 1/; s/^value = 20/value = 0.000001/'; }
words_run() {  # words_run HOSTS WORDS [OPTIONS...] : ends with EXIT where that is given
  pairs > "$DIR/spec.toml"
  run --separate-stderr ./busbar accept run "$DIR/spec.toml" -o "$DIR/run" --hosts "$1" --launcher "$2" "${@:3}"
  echo "$stderr" | tail -n 5
  [ "${EXIT:-$status}" -eq "$status" ]
}
@test "what no launch could survive is refused before the first, in one line, and nothing is left" {
  needs_gloo
  EXIT=2 words_run no-such-host.invalid,no-other.invalid 'env NODE={host} {env} {program}'
  [[ ${stderr_lines[-1]} == "busbar: no launch can succeed on any of 2 nodes: allreduce_perf: no-"*".invalid: cannot be resolved on "* ]]
  EXIT=3 words_run h1,h2 'no-such-launcher {host} {env} {program}'
  [[ $stderr == "busbar: --launcher: PATH has no no-such-launcher to start ranks with"* ]]
  mkdir "$DIR/bin"
  executable "$DIR/bin/allreduce_perf" 'printf "busbar 1\\nMPI library: none\\nbackends: nccl, mpi\\n"'
  EXIT=2 RUN='backend = "gloo"' words_run h1,h2 'env NODE={host} {env} {program}' --programs "$DIR/bin"
  [[ $stderr == "busbar: [run] backend = \"gloo\": $DIR/bin/allreduce_perf is built without it; it has: nccl, mpi; install libgloo-dev"* ]]
  [ ! -e "$DIR/run" ]
}
@test "hosts of ssh whose names are unknown are refused before anything runs, unless ssh or another agent knows them" {
  specification > "$DIR/spec.toml"
  mkdir "$DIR/bin"
  executable "$DIR/bin/ssh" <<< '[ "$1" != -G ] || { echo "hostname ${2%.cfg}"; exit; }; exit 255'
  PATH=$DIR/bin:$PATH
  COMMAND=(./busbar accept run "$DIR/spec.toml" -o "$DIR/run")
  refused "no address is known for a.invalid,b.invalid, neither by name here nor by ssh's configuration" \
    --hosts localhost,a.invalid,127.0.0.1.cfg,b.invalid --launcher 'ssh {host} {env} {program}'
  refused "no address is known for a.invalid," --hosts a.invalid,localhost
  [ ! -e "$DIR/run" ]
}
@test "env of a device set reaches ranks that a remote shell starts" {
  needs_gloo
  executable "$DIR/remote" <<< 'shift; exec env -i PATH="$PATH" bash -c "$*"'
  ENV='\nenv = { NCCL_X = "a b" }'
  words_run localhost,127.0.0.1 "$DIR/remote {host} {env} {program}"
  [ "$(cat "$DIR"/run/0*.csv | grep '^# environment' | sort -u)" = "# environment: NCCL_X=a b" ]
}
@test "one host whose name is unknown costs its launches only, and the reason is in each line" {
  needs_gloo
  EXIT=4 words_run localhost,127.0.0.1,no-such-host.invalid 'env NODE={host} {env} {program}'
  [ "$(grep -c 'no-such-host.invalid does not answer (exit 2: allreduce_perf: no-such-host.invalid: cannot be resolved on' "$DIR/run/launches.csv")" -eq 1 ]
  [ "$(column failure "$DIR/run/launches.csv" | grep -vc .)" -ge 2 ]  # a noisy one runs again
}
@test "a host that greets on standard output is measured all the same, and its greeting is reported once" {
  needs_gloo
  executable "$DIR/greet" <<< '[ "$1" != 127.0.0.1 ] || echo "Welcome to n2!"; shift; exec "$@"'
  words_run localhost,127.0.0.1 "$DIR/greet {host} {env} {program}"
  [ "$(grep -c . "$DIR/run/launches.csv")" -ge 8 ]
  [ "$(column failure "$DIR/run/launches.csv" | grep -c .)" -eq 0 ]
  [[ $stderr == *"busbar: 127.0.0.1 prints 'Welcome to n2!' on standard output, which was skipped"* ]]
  [ "$(grep -c Welcome <<<"$stderr")" -eq 1 ]
  [ "$(head -c 9 "$DIR"/run/001-*.csv)" = "# busbar:" ]
}

@test "a run whose disk is full ends with one line, wherever it was, and goes on when there is room" {
  local size small=$DIR/small resume
  [ "$(id -u)" -eq 0 ] || skip "mounting a small disk needs root"
  fleet_specification > "$DIR/spec.toml"
  mkdir "$small" "$DIR/programs"
  cp tests/fixtures/any-fleet "$DIR/programs/allreduce_perf"
  COMMAND=(./busbar accept run "$DIR/spec.toml" -o "$small/run" --hosts "n1,n2,n3,n4" --programs "$DIR/programs"
    --launcher 'env H={host} {env} {program}')
  for size in 12k 28k 36k 40k; do
    mount -t tmpfs -o "size=$size" tmpfs "$small" 2> /dev/null || skip "cannot mount a tmpfs here"
    run "${COMMAND[@]}"
    mount -o remount,size=4m "$small"
    echo "$size: $output"
    [ "$status" -eq 4 ]
    [[ ${lines[-1]} == "busbar: cannot write $small/run/"*": No space left on device" ]]
    resume=(--resume)
    [ -e "$small/run/launches.csv" ] || { rm -rf "$small/run"; resume=(); }
    run -0 "${COMMAND[@]}" "${resume[@]}"
    [ "$(grep -c ^node "$small/run/launches.csv")" -eq 3 ]
    umount -l "$small"
  done
}

@test "in a job of Slurm the fabric is that of scontrol show topology, unless it is of other hosts" {
  local nodes
  for nodes in n a; do
    printf 'SwitchName=leaf1 Level=0 Nodes=%s[1-2]\nSwitchName=leaf2 Level=0 Nodes=%s[3-4]\nSwitchName=top Level=1 Switches=leaf[1-2]\n' "$nodes" "$nodes" > "$DIR/topology"
    executable "$DIR/scontrol" "cat $DIR/topology"
    SLURM_JOB_ID=7 PATH=$DIR:$PATH run_fleet "$DIR/$nodes" 4
  done
  cat "$DIR/n/levels.csv"
  grep -q '^n3,.*leaf2' "$DIR/n/levels.csv"
  [ ! -e "$DIR/a/levels.csv" ]
}
@test "hosts that Slurm cannot list are to be named" {
  fleet_specification > "$DIR/spec.toml"
  executable "$DIR/scontrol" 'echo gone >&2; exit 1'
  COMMAND=(env SLURM_JOB_ID=7 'SLURM_JOB_NODELIST=n[1-2]' "PATH=$DIR:$PATH" ./busbar accept run "$DIR/spec.toml" -o "$DIR/run")
  refused "scontrol cannot list the hosts of SLURM_JOB_NODELIST=n[1-2]: " --programs .
  [[ $stderr == *"gone; name them with --hosts"* ]]
}
