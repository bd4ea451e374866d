#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=quick
# busbar compare: verdicts, groups of launches, exit codes, refusals.
load ../common

COMMAND=(./busbar compare)
compare() { run "-${EXIT:-0}" --separate-stderr "${COMMAND[@]}" "$@"; }
launch() {  # launch FILE TIME [LIBRARY]: a CSV of one row
  printf '# library: %s\ncollective,backend,ranks,type,op,in_place,size_bytes,status,time_median_us\n' "${3:-MPICH 4.0.2}" > "$1"
  printf 'allreduce,mpi,4,float,sum,0,1048576,ok,%s\n' "$2" >> "$1"
}
four() {  # four NAME TIME: four launches about a time
  local i
  for i in 0 1 2 3; do launch "$DIR/$1$i.csv" "$(($2 + i))"; done
}

@test "compare calls 20 percent slower over four launches slower" {
  four a 1000
  four b 1200
  compare --before "$DIR"/a?.csv --after "$DIR"/b?.csv
  [[ $output == *"1.200"*"0.029  slower"* ]]
  [[ $output == *$'\n size  place  before us  after us  before GB/s  after GB/s  ratio      interval      p  verdict\n1 MiB  out '* ]]
  [[ $output == *"# 1 row: 0 faster, 1 slower, 0 same, 0 cannot tell"* ]]
  json '[.rows[0].verdict, .summary.faster, .rows[0].interval_of]' '["faster",1,"over launch medians"]' --after "$DIR"/a?.csv --before "$DIR"/b?.csv
}
@test "compare --threshold tells an effect that matters" {
  four a 1000
  four b 1020
  compare --before "$DIR"/a?.csv --after "$DIR"/b?.csv
  [[ $output == *"  same"* ]]
  compare --before "$DIR"/a?.csv --after "$DIR"/b?.csv --threshold 1
  [[ $output == *"  slower"* ]]
}
@test "compare --fail-on-slower leaves with 1, and only then" {
  four a 1000
  four b 1200
  EXIT=1 compare --before "$DIR"/a?.csv --after "$DIR"/b?.csv --fail-on-slower 10
  [[ $stderr == *"slower by more than 10 %"* ]]
  compare --before "$DIR"/a?.csv --after "$DIR"/b?.csv --fail-on-slower 25
}
@test "compare --fail-on-slower leaves with 3 where the launches are too few to tell" {
  four a 1000
  four b 2000
  EXIT=3 compare "$DIR/a0.csv" "$DIR/b0.csv" --fail-on-slower 0
  [[ $stderr == *"at least 4 of each"* ]]
  EXIT=3 compare --before "$DIR"/a[012].csv --after "$DIR"/b[012].csv --fail-on-slower 0
}
@test "compare warns of a file that was cut and of rows that contradict themselves" {
  launch "$DIR/a.csv" 1000
  launch "$DIR/b.csv" 1000
  sed -i 's/reduce,mpi,4,float/reduce,mpi,4,double/; s/,status,/,status,flags,/; s/,ok,/,ok,bandwidth-differs,/' "$DIR/b.csv"
  tail -1 "$DIR/a.csv" | sed 's/,ok,/,ok,,/' >> "$DIR/b.csv"
  printf 'allreduce,mpi' >> "$DIR/a.csv"
  compare "$DIR/a.csv" "$DIR/b.csv" --json
  [ "${#stderr_lines[@]}" -eq 2 ]
  [[ $stderr == *"busbar: warning: a.csv: cut off"* ]]
  [[ $stderr == *"busbar: warning: b.csv: left out"* ]]
  [ "$(jq '.rows | length' <<<"$output")" = 1 ]
  [ "$(jq '[.warnings[] | select(test("cut off|left out"))] | length' <<<"$output")" = 2 ]
}
@test "compare refuses bad usage in one line" {
  launch "$DIR/a.csv" 1000
  refused "two CSV files" "$DIR/a.csv"
  refused "--before FILE... --after FILE..." "$DIR/a.csv" "$DIR/a.csv" "$DIR/a.csv"
  refused "unknown option --what" "$DIR/a.csv" "$DIR/a.csv" --what
  refused "--threshold" "$DIR/a.csv" "$DIR/a.csv" --threshold many
  refused "cannot read" "$DIR/a.csv" /nowhere.csv
  sed 's/allreduce/broadcast/' "$DIR/a.csv" > "$DIR/b.csv"
  refused "no row is in both" "$DIR/a.csv" "$DIR/b.csv"
}
@test "compare counts a file that is given four times, or under four names, as one launch" {
  launch "$DIR/a.csv" 1000
  launch "$DIR/b.csv" 1200
  for i in 1 2 3; do cp "$DIR/b.csv" "$DIR/b$i.csv"; done
  EXIT=3 compare --before "$DIR"/a.csv "$DIR"/a.csv "$DIR"/a.csv "$DIR"/a.csv --after "$DIR"/b*.csv --fail-on-slower 5
  [[ $output == *"/a.csv is given 4 times: counted once"* ]]
  [[ $output == *"/b2.csv and $DIR/b3.csv are the same file: counted once"* ]]
  [[ $output == *"one launch each"*"cannot tell"* ]]
}
