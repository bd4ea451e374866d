# SPDX-License-Identifier: BSD-3-Clause
# What the tests of the programs share. Sizes are small and times short: no test decides on speed.
bats_require_minimum_version 1.5.0

# Hydra dies of a broken pipe now and then where it tells the end of its stdin to ranks that have ended
# before: the tests' stdin has no end, and nothing is written to it.
endless_stdin() {
  mkfifo "$DIR/stdin"
  exec 0<> "$DIR/stdin"
}

# use_mpi: `mpirun` and `mpiexec` are those of the MPI that the programs are linked with, whatever the
# machine's are.
use_mpi() {
  local programs launcher
  PATH=${PATH#"$ROOT/tests/launchers:"}  # where it was called before
  programs=$(dirname "$(readlink -f "$PWD/allreduce_perf")")
  BUSBAR_TEST_MPI=$(awk '{ print $NF }' "$programs/parts.list")
  read -r _ _ launcher _ <<<"${MPI_FOUND:-$("$ROOT/tools/find-mpi" "$BUSBAR_TEST_MPI" '' "$ROOT/build/openmpi")}"
  BUSBAR_TEST_LAUNCHER=$(realpath --no-symlinks "$(command -v "$launcher")")
  export BUSBAR_TEST_MPI BUSBAR_TEST_LAUNCHER
  PATH=$ROOT/tests/launchers:$PATH
  [ ! -d "$ROOT/build/openmpi" ] ||  # an Open MPI that was unpacked there needs its place
    export OPAL_BINDIR=$ROOT/build/openmpi/usr/bin OPAL_SYSCONFDIR=$ROOT/build/openmpi/etc/openmpi
}

# mpi_title: how the MPI library calls itself.
mpi_title() { if [ "$BUSBAR_TEST_MPI" = openmpi ]; then echo 'Open MPI'; else echo MPICH; fi; }

# needs_mpich WHY: skips the test where the programs have another MPI.
needs_mpich() { [ "$BUSBAR_TEST_MPI" = mpich ] || skip "with MPICH only: $1"; }

# needs_gloo: skips the test where the programs are built without it.
needs_gloo() { grep -qw gloo "$(dirname "$(readlink -f allreduce_perf)")/parts.list" || skip "this build has no Gloo"; }

# use_programs FOLDER: the working folder is the root with the programs of FOLDER instead of its own.
use_programs() {
  mkdir "$BATS_TEST_TMPDIR/root"
  ln -s "$ROOT"/* "$BATS_TEST_TMPDIR/root"
  ln -sf "$1"/*_perf "$1/busbar" "$BATS_TEST_TMPDIR/root"
  cd "$BATS_TEST_TMPDIR/root" || return 1
}

common_setup() {
  ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  cd "$ROOT" || return 1
  [ -z "${PROGRAMS:-}" ] || use_programs "$ROOT/$PROGRAMS"
  DIR=$BATS_TEST_TMPDIR
  use_mpi
  endless_stdin
  QUICK=(-b 1K -e 4K -n 3 -w 1 --host-limits off)
}

setup() { common_setup; }

# refused WORDS OPTIONS... : COMMAND with OPTIONS is bad usage: exit 2 (or EXIT), nothing on stdout, and one line on
# stderr with WORDS.
refused() {
  run --separate-stderr "${COMMAND[@]}" "${@:2}"
  echo "$stderr"
  [ "$status" -eq "${EXIT:-2}" ]
  [ -z "$output" ]
  [ "${#stderr_lines[@]}" -eq 1 ]
  [[ $stderr == *"$1"* ]]
}

# rows FILE: the records of a CSV, without context and column names.
rows() { grep -v -e '^#' -e '^collective,' "$1"; }

# column NAME FILE: a column's cells by name.
column() { awk -v columns="$1" -f "$ROOT/tests/fixtures/csv.awk" "$2"; }

ALL="allreduce broadcast reducescatter allgather reduce alltoall sendrecv gather scatter"

# all_right RANKS COLLECTIVE OPTIONS... : with the options in USUAL there are rows, and none is wrong; all are ok, or have
# the statuses in STATUSES.
all_right() {
  local ranks=$1 collective=$2 statuses=${STATUSES:-ok}
  shift 2
  rm -f "$DIR/a.csv"
  timeout 600 mpirun -np "$ranks" "./${collective}_perf" "${USUAL[@]}" --csv "$DIR/a.csv" "$@" > "$DIR/out" 2>&1 ||
    { cat "$DIR/out"; return 1; }
  [ "$(column wrong "$DIR/a.csv" | grep -c '^0$')" -gt 0 ] || return 1
  [ "$(column status "$DIR/a.csv" | sort -u | xargs)" = "$statuses" ] ||
    { column status,type,op,in_place,reason "$DIR/a.csv"; return 1; }
}

for_all() {  # for_all RANKS OPTIONS... : of every collective, or of those in COLLECTIVES
  local collective
  for collective in ${COLLECTIVES:-$ALL}; do
    all_right "$1" "$collective" "${@:2}" || { echo "$collective on $1 ranks"; return 1; }
  done
}

# table: the data rows of a run's standard output.
table() { grep -E '^ +[0-9]' <<<"$output"; }

# eventually COMMAND...: until it succeeds, two minutes at most.
eventually() {
  local i
  for ((i = 0; i < 1200; ++i)); do
    ! "$@" || return 0
    sleep 0.1
  done
  return 1
}
# has_lines N PATTERN FILE: so many or more match, if the file is there.
has_lines() { [ "$({ grep -cs -- "$2" "$3" || echo 0; } | head -n 1)" -ge "$1" ]; }

# executable FILE < TEXT, or executable FILE TEXT: a program of sh.
executable() {
  { echo '#!/bin/sh'; if [ $# -gt 1 ]; then echo "$2"; else cat; fi; } > "$1"
  chmod +x "$1"
}

# json FILTER WANTED OPTIONS...: COMMAND with OPTIONS and --json ends with EXIT and has these members.
json() {
  run "-${EXIT:-0}" --separate-stderr "${COMMAND[@]}" "${@:3}" --json
  echo "$output$stderr"
  [ "$(jq -c "$1" <<<"$output")" = "$2" ]
}

# process_of RANK: its process, by the list in $DIR/out.
process_of() { sed -nE "s/^# +Rank +$1 .* Pid +([0-9]+) .*/\1/p" "$DIR/out"; }

ticks_of() { cut -d' ' -f14 "/proc/$1/stat"; }
# computes PROCESS: returns when it has computed for a while from now on.
computes() {
  local begin
  begin=$(ticks_of "$1")
  has_computed() { [ $(($(ticks_of "$1") - begin)) -ge 20 ]; }
  eventually has_computed "$1"
}

# node_specification NAME SIZE VALUE FAIL_BELOW LAUNCHES [LINE...]: an acceptance specification of one rule, "floor":
# all-reduce of two ranks on every node, with more lines of [run]; NOISE is the rest of [noise].
node_specification() {
  local noise=$'max_cv = 1.0\non_noisy = "warn"'
  cat <<END
schema = 1
[system]
name = "$1"
[run]
launches = $5
min_launches = $5
iterations = 5
warmup = 1
timeout_s = 20
$(printf '%s\n' "${@:6}")
[noise]
${NOISE:-$noise}
[[device_set]]
id = "node"
kind = "per_node"
ranks_per_node = 2
[[expect]]
id = "floor"
collective = "allreduce"
device_set = "node"
size = $2
metric = "busbw"
statistic = "median"
compare = "absolute"
value = $3
fail_below = $4
END
}

# fleet_specification: of pairs that are held against their fleet, in three launches; its name is "fleet".
fleet_specification() {
  node_specification fleet '"64KiB"' 1 0.97 3 |
    sed 's/"per_node"/"pairwise"/; s/"absolute"/"fleet"/; s/^min_launches = 3/min_launches = 1/; /^value = /d'
}

# run_fleet FOLDER NODES [OPTIONS...]: FOLDER has a run of FOLDER.toml on n1 to nNODES, which tests/fixtures/any-fleet stands
# in for; ends with its exit code.
run_fleet() {
  fleet_specification > "$1.toml"
  mkdir "$1-programs"
  cp tests/fixtures/any-fleet "$1-programs/allreduce_perf"
  ./busbar accept run "$1.toml" -o "$1" --hosts "$(seq -s , -f n%g "$2")" --seed 1 --programs "$1-programs" \
    --launcher 'env H={host} {env} {program}' "${@:3}"
}

# has_rows N: $DIR/a.csv has as many.
has_rows() { [ -s "$DIR/a.csv" ] && [ "$(rows "$DIR/a.csv" | wc -l)" -ge "$1" ]; }
wait_for_rows() { eventually has_rows "$1"; }

# nothing_runs TEXT: no process has TEXT in its command line, within what the kernel takes to end one.
nothing_runs() {
  is_gone() { ! pgrep -f -- "$1" > /dev/null; }
  eventually is_gone "$1" || { pgrep -af -- "$1"; return 1; }
}

# browse PAGE: chromium shows the page in a frame of 390 pixels without a line on its console, such as of a request that
# the page's policy blocks, and the page does not scroll sideways there.
browse() {
  local browser
  browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "no chromium here"
  cat > "$DIR/frame.html" <<END
<body><iframe src="file://$1" width="390" height="3000" style="border:0"></iframe><p id="out"></p><script>
onload = () => { const page = document.querySelector("iframe").contentDocument.documentElement;
  document.getElementById("out").textContent = page.scrollWidth > page.clientWidth ? "too wide" : "fits"; };
</script></body>
END
  timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$DIR/profile" --enable-logging=stderr --v=0 \
    --allow-file-access-from-files --dump-dom "file://$DIR/frame.html" > "$DIR/dom" 2> "$DIR/log" ||
    skip "chromium does not run here"
  run ! grep -q CONSOLE "$DIR/log"
  grep -q '<p id="out">fits</p>' "$DIR/dom"
}
