#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# busbar published: the rates of a file as CSV, for make figures.
load ../common

@test "published writes a row per rate and number of ranks, with a gap where there is no figure" {
  run -0 --separate-stderr ./busbar published results/reference/published.toml
  [ -z "$stderr" ]
  echo "$output" > "$DIR/p.csv"
  column system,collective,ranks,relation,busbw_GBps "$DIR/p.csv" > "$DIR/cells"
  [ "$(grep -c '^dgx-2|allreduce|' "$DIR/cells")" -eq 4 ]
  grep -qx 'dgx-1v|allreduce|4|about|80' "$DIR/cells"
  grep -qx 'dgx-1v|allreduce|8|above|120' "$DIR/cells"
  grep -qx 'dgx-1v|allreduce|2||' "$DIR/cells"
  grep -qx 'p3dn-x2|allreduce|16|about|1' "$DIR/cells"
}
@test "published refuses anything but one readable file, in one line" {
  local words
  printf '[[rate]]\nsystem = "a"\n' > "$DIR/bad.toml"
  for words in "" "a b" "--json" "absent.toml" "$DIR/bad.toml"; do
    # shellcheck disable=SC2086  # words
    run -2 --separate-stderr ./busbar published $words
    [ -z "$output" ]
    [ "${#stderr_lines[@]}" -eq 1 ]
  done
  [[ $stderr == *"bad.toml:1:"* ]]
}
@test "published -h teaches the columns" {
  run -0 --separate-stderr ./busbar published -h
  [[ $output == *"busbw_GBps"* ]]
}
