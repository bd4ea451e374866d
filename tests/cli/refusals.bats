#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Whatever nccl-tests swallows is refused under a launcher on one line, printed once, with exit 2.
load ../fixtures/support

# refused MESSAGE OPTION...
refused() {
  local message=$1
  shift
  run --separate-stderr mpi 2 allreduce "$@"
  expect_refused "$message" || fail "for: $*"
}

@test "sizes that are none are refused" {
  for size in nan inf 1,000 -1 abc 1e6 0x10 1.5 2^20 ''; do
    refused "allreduce_perf: -b: '$size' is not a size" -b "$size"
  done
  refused "-e: 'nan' is not a size" -e nan
  refused "-i: 'inf' is not a size" -i inf
  refused "--memory-limit: 'lots' is not a size" --memory-limit lots
}

@test "suffixes that could be decimal are refused with the right ones" {
  refused "say G or GiB for binary" -b 4GB
}

@test "sizes that measure nothing or never end are refused" {
  refused "-b: a size of 0 measures nothing" -b 0
  refused "-e: a size of 0 measures nothing" -e 0
  refused "-i: a step of 0 never ends" -i 0
  refused "-b 16 is larger than -e 8" -b 16 -e 8
  refused "more than 100000 sizes" -b 1 -e 1G -i 8
}

@test "factors that are no whole number of at least 1 are refused" {
  refused "-f: '1.5' is not a whole number" -f 1.5
  refused "-f: 0 is out of range" -f 0
  refused "-f: -2 is out of range" -f -2
  refused "-f: 'nan' is not a whole number" -f nan
}

@test "counts that are no counts are refused" {
  refused "-n: 0 is out of range" -n 0
  refused "-n: 'twenty' is not a whole number" -n twenty
  refused "-w: -1 is out of range" -w -1
  refused "-m: 0 is out of range" -m 0
  refused "-N: -1 is out of range" -N -1
  refused "-c: -1 is out of range" -c -1
  refused "-a: 4 is out of range; give 0 to 3" -a 4
  refused "-z: 4 is out of range; give 0 to 3" -z 4
  refused "-S: 2 is out of range" -S 2
  refused "-g: 0 is out of range" -g 0
}

@test "an unknown type or operation is refused with the list of known ones" {
  refused "-d: unknown type 'f16'; give one of int8, uint8" -d f16
  refused "-o: unknown operation 'mulsum'; give one of sum, prod" -o mulsum
}

@test "an unknown option is refused with the nearest known one" {
  refused "unknown option --minbyte; did you mean --minbytes?" --minbyte 8
  refused "unknown option --cvs; did you mean --csv?" --cvs x
  refused "unknown option -q; see -h" -q
}

@test "an option of nccl-tests that is not ours is refused with the reason" {
  refused "-t is an option of nccl-tests, not of busbar" -t 2
  refused "-G is an option of nccl-tests, not of busbar" -G 1
}

@test "stray words are refused" {
  refused "'stray' belongs to no option" -b 8 stray
  refused "'8' belongs to no option" 8
}

@test "an option without its value is refused" {
  refused "-b needs a value" -b
  refused "--csv needs a value" --csv
}

@test "words that are no choice are refused with the choices" {
  refused "--cadence: 'fast' is not one of streaming, isolated" --cadence fast
  refused "--progress: 'spin' is not one of auto, block, yield" --progress spin
  refused "--cache: 'cold' is not one of warm, rotate" --cache cold
  refused "--bind: 'socket' is not one of auto, none, core, numa" --bind socket
  refused "--placement: 'under' is not one of both, in, out" --placement under
}

@test "numbers that are not finite or out of range are refused" {
  refused "--time-budget: 'inf' is not a number" --time-budget inf
  refused "--time-budget: 0 is out of range" --time-budget 0
  refused "--ci-width: 'nan' is not a number" --ci-width nan
  refused "-T: -1 is out of range" -T -1
  refused "--seed: 'x' is not a whole number" --seed x
}

@test "a JSON file of another name is refused" {
  refused "-J: 'x.txt' does not end in .json" -J x.txt
  [[ ! -e x.txt ]]
}

@test "--resume without a CSV is refused" { refused "--resume: name the file to go on with" --resume; }

@test "faults that are no RANK:INDEX are refused" {
  refused "--inject-fault: '1' is not RANK:INDEX" --inject-fault 1
  refused "--inject-fault: 'a' is not a whole number" --inject-fault a:1
}

@test "ranks that are not there are refused once the ranks are known" {
  refused "-r 2: there are 2 ranks; give 0 to 1 or all" -r 2
  refused "--inject-fault: there is no rank 7; give 0 to 1" --inject-fault 7:0
}

@test "a backend that is not in the build is refused with those that are" {
  run --separate-stderr mpi 2 allreduce --backend gloo
  expect_status 3
  expect_one_line "--backend gloo: not in this build, which has: "
  expect_equal "$output" ""
}

@test "two outputs in one file are refused" {
  refused "" --csv x.json -J x.json
  refused "" --csv x.csv --samples x.csv
}
