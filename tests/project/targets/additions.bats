#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What CONTRIBUTING.md says of adding a collective and an option is all that is needed: done here in a clone, by rows
# alone, and tried.
bats_require_minimum_version 1.5.0

setup() {
  load clone
  enter_root
}

# repeat_row NAME NEW FILE...: the row of the file's table that begins with a name, once more under another.
repeat_row() {
  local old=$1 new=$2 file
  shift 2
  for file; do
    awk -v old="\"$old\"" -v new="\"$new\"" '
      /^    \{|^\}/ { printf "%s", copy; copy = ""; copying = 0 }
      /^    \{/ && index($0, old) { copying = 1 }
      { print }
      copying { line = $0; gsub(/"all[-_]?gather"/, new, line); copy = copy line "\n" }
    ' "$file" > changed && cat changed > "$file" && rm changed
  done
}

# named SECTION: the files of sources and of `--help` that a section of CONTRIBUTING.md names.
named() {
  # shellcheck disable=SC2016 # the backquotes are the document's
  awk -v section="## $1" '/^## / { inside = $0 == section } inside' CONTRIBUTING.md |
    grep -oE '`(src/[^`]*|Makefile|docs/options.md)`' | tr -d '`' | sort -u | xargs -I{} sh -c 'test ! -e {} || echo {}'
}

@test "CONTRIBUTING.md names every file that a new collective and a new option need" {
  clone "$BATS_TEST_TMPDIR/clone"
  cd "$BATS_TEST_TMPDIR/clone"
  repeat_row allgather concat src/model/collective.cpp src/backends/{gloo,mpi,nccl}/routines.cpp
  sed -i '/^COLLECTIVES := /s/$/ concat/' Makefile
  diff <(named "Add a collective" | grep -v docs/) <(git diff --name-only | sort)
  git -c user.name=test -c user.email=test commit -qam collective

  sed -i '/ seed = 1;/a std::string note = "none";' src/harness/options.hpp
  sed -i '/"--seed"/i {{"--note", "TEXT", set::value<\&O::note>}, rows("note", shown<\&O::note>)},' src/harness/option_table.cpp
  sed -i '/^  --seed N/i \  --note TEXT               a word of the run' docs/options.md
  diff <(named "Add an option") <(git diff --name-only | sort)

  make -j2 concat_perf > ../said 2>&1 || { tail -n 40 ../said; return 1; }
  mpirun -np 3 ./concat_perf --backend mpi -b 3K -e 3K -n 2 --note first --csv one.csv > table
  grep -q "^# Out of bounds values : 0 OK" table
  grep -q "^# configuration: .*note=first" one.csv
  grep -q "^concat," one.csv
  [ "$(./concat_perf --help | grep -c -- "--note TEXT")" -eq 1 ]
  run -2 mpirun -np 3 ./concat_perf --backend mpi -b 3K -e 3K -n 2 --note second --resume --csv one.csv
  [[ $output == *note* ]]
  run -0 ./concat_perf --backend sim --system dgx-h100 -b 1M -e 1M
}
