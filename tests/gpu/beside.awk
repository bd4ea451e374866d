# SPDX-License-Identifier: BSD-3-Clause
# Times of nccl-tests' table (first file) beside the column of a Busbar CSV (second file), out of place.
function numbers(line) { return line ~ /^ *[0-9]/ }
FNR == NR { if (numbers($0)) theirs[$1] = $6; next }
/^#/ { next }
!names { names = split($0, name, ","); for (i = 1; i <= names; ++i) at[name[i]] = i
         print "size_bytes nccl_tests_us busbar_us ratio"; next }
{ n = split($0, cell, ",")
  size = cell[at["size_bytes"]]
  if (cell[at["in_place"]] == 0 && size in theirs && theirs[size] > 0 && cell[at[column]] > 0)
    printf "%s %s %s %.2f\n", size, theirs[size], cell[at[column]], cell[at[column]] / theirs[size] }
