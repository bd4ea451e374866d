#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What the programs say of themselves, and that their documents say the same.
load ../fixtures/support

options_in_help() { grep -oE '(^|[ ,])--?[A-Za-z][A-Za-z_-]*' "$root/docs/options.md" | tr -d ' ,' | sort -u; }

@test "-h and --help print docs/options.md" {
  for option in -h --help; do
    run --separate-stderr perf allreduce "$option"
    expect_status 0
    expect_equal "$output" "$(<"$root/docs/options.md")"
    expect_equal "$stderr" ""
  done
}

@test "help is printed once under a launcher" {
  run --separate-stderr mpi 3 broadcast --help
  expect_status 0
  expect_equal "$(grep -c '^usage:' <<<"$output")" 1
}

@test "--version prints the version of the file VERSION" {
  run --separate-stderr perf broadcast --version
  expect_status 0
  expect_equal "$output" "busbar $(<"$root/VERSION")"
  run --separate-stderr "$root/busbar" version
  expect_equal "$output" "busbar $(<"$root/VERSION")"
}

@test "every executable has the same help" {
  for collective in allreduce broadcast reducescatter allgather; do
    run --separate-stderr perf "$collective" -h
    expect_status 0
    expect_equal "$output" "$(<"$root/docs/options.md")"
  done
}

@test "every option in the help is known to the program" {
  [[ $(options_in_help | wc -l) -gt 40 ]]
  for option in $(options_in_help); do
    run --separate-stderr perf allreduce "$option" --version
    expect_not_in "$stderr" "unknown option"
  done
}

@test "every option that the program knows is in the help" {
  # What the program would suggest is what it knows.
  for option in $(grep -oE '\{"-[^"]*"' "$root/src/harness/option_values.cpp" | tr -d '{"' | tr ',' ' '); do
    grep -qE -- "(^| )${option}[ ,]" "$root/docs/options.md" || fail "$option is not in docs/options.md"
  done
}

@test "every option in the help has a test that begins with its name" {
  for option in $(grep -oE '^  (-[A-Za-z], )?--[a-z_-]+' "$root/docs/options.md" | grep -oE -- '--.*'); do
    grep -qhE -- "^@test \"([^\"]* )?$option[ ,]" "$root"/tests/cli/*.bats "$root"/tests/mpi/*.bats ||
      fail "no test is named after $option"
  done
}

@test "busbar lists its commands" {
  for option in -h --help help; do
    run --separate-stderr "$root/busbar" "$option"
    expect_status 0
    expect_in "$output" "usage: busbar COMMAND"
  done
}

@test "busbar refuses what is no command" {
  for words in "" "polt" "schema now"; do
    # shellcheck disable=SC2086  # words
    run --separate-stderr "$root/busbar" $words
    expect_refused "is no command"
  done
}

@test "busbar schema is docs/csv.md" {
  run --separate-stderr "$root/busbar" schema
  expect_status 0
  expect_equal "$output" "$(<"$root/docs/csv.md")"
}
