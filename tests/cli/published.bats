#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# busbar published: the rates of a file as CSV, for make figures.
load ../common

@test "published writes a row per rate, number of ranks and size, with a gap where there is no figure" {
  run -0 --separate-stderr ./busbar published results/reference/published.toml
  [ -z "$stderr" ]
  echo "$output" > "$DIR/p.csv"
  column system,collective,ranks,relation,busbw_GBps "$DIR/p.csv" > "$DIR/cells"
  [ "$(grep -c '^dgx-2|allreduce|' "$DIR/cells")" -eq 4 ]
  grep -qx 'dgx-1v|allreduce|4|about|80' "$DIR/cells"
  grep -qx 'dgx-1v|allreduce|8|above|120' "$DIR/cells"
  grep -qx 'dgx-1v|allreduce|2||' "$DIR/cells"
  grep -qx 'p3dn-x2|allreduce|16|about|1' "$DIR/cells"
  column system,instance,nodes,ranks,size_bytes,placement,busbw_GBps,time_us,evidence "$DIR/p.csv" > "$DIR/cells"
  grep -qx 'dgx-h100|p5.48xlarge|2|16|8589934592|out|479.28||measured' "$DIR/cells"
  grep -qx 'dgx-h100|p5.48xlarge|2|16|8|out||69.12|measured' "$DIR/cells"
  grep -qx 'dgx-h100|BM.GPU.H100.8|1|8|||440||floor' "$DIR/cells"
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
