# SPDX-License-Identifier: BSD-3-Clause
# What the tests of the programs share. Sizes are small and times short: no test decides on speed.
bats_require_minimum_version 1.5.0

# Hydra dies of a broken pipe now and then where it tells the end of its stdin to ranks that have ended
# before: the tests' stdin has no end, and nothing is written to it.
endless_stdin() {
  mkfifo "$BATS_TEST_TMPDIR/stdin"
  exec 0<> "$BATS_TEST_TMPDIR/stdin"
}

setup() {
  ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  cd "$ROOT" || return 1
  endless_stdin
  DIR=$BATS_TEST_TMPDIR
  QUICK=(-b 1K -e 4K -n 3 -w 1)
}

# rows FILE: the records of a CSV, without context and column names.
rows() { grep -v -e '^#' -e '^collective,' "$1"; }

# column NAME FILE: a column's cells by name.
column() { awk -v columns="$1" -f "$ROOT/tests/fixtures/csv.awk" "$2"; }

# table: the data rows of a run's standard output.
table() { grep -E '^ +[0-9]' <<<"$output"; }

# nothing_runs TEXT: no process has TEXT in its command line, within what the kernel takes to end one.
nothing_runs() {
  local i
  for ((i = 0; i < 50; ++i)); do
    pgrep -f -- "$1" > /dev/null || return 0
    sleep 0.1
  done
  pgrep -af -- "$1"
  return 1
}
