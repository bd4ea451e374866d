#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
load ../common

refused() {  # refused WORDS... : under mpirun, one line on stderr, nothing on stdout, exit 2
  run --separate-stderr mpirun -np 2 ./allreduce_perf "$@"
  [ "$status" -eq 2 ] || { echo "'$*' exits $status"; return 1; }
  [ -z "$output" ] || { echo "'$*' prints $output"; return 1; }
  [ "${#stderr_lines[@]}" -eq 1 ] || { echo "'$*' complains with $stderr"; return 1; }
}

@test "help is docs/options.md, once under mpirun, exit 0" {
  run --separate-stderr mpirun -np 2 ./allreduce_perf -h
  [ "$status" -eq 0 ]
  [ "$output" = "$(cat docs/options.md)" ]
  [ -z "$stderr" ]
}

@test "the version is that of VERSION, with the MPI library" {
  for program in "./allreduce_perf --version" "./sendrecv_perf --version" "./busbar version" "./busbar --version"; do
    run $program
    [ "${lines[0]}" = "busbar $(cat VERSION)" ]
    [[ ${lines[1]} =~ ^"MPI library: $(mpi_title) "[0-9]+\.[0-9]+ ]]
  done
}

@test "sizes that nccl-tests swallows are refused" {
  for size in nan inf -1 1,000 0 4GB 8x "" 1.3 2^20 0x10; do
    refused -b "$size"
    [[ $stderr == *"-b:"* ]]
  done
}

@test "other values that nccl-tests swallows are refused, naming the option" {
  refused -i 0; [[ $stderr == *"-i:"* ]]
  refused -f 1.5; [[ $stderr == *"-f:"* ]]
  refused -f 0; [[ $stderr == *"-f:"* ]]
  refused -n 0; [[ $stderr == *"-n:"* ]]
  refused -n x; [[ $stderr == *"-n:"* ]]
  refused -d float16; [[ $stderr == *"-d:"* ]]
  refused -o add; [[ $stderr == *"-o:"* ]]
  refused -a 4; [[ $stderr == *"-a:"* ]]
  refused -z 4; [[ $stderr == *"-z:"* ]]
  refused -c -1; [[ $stderr == *"-c:"* ]]
  refused -r 2; [[ $stderr == *"-r 2"* ]]
  refused -T soon; [[ $stderr == *"-T:"* ]]
  refused -J out.txt; [[ $stderr == *"-J:"* ]]
  refused -e nan; [[ $stderr == *"-e:"* ]]
  refused -w -1; [[ $stderr == *"-w:"* ]]
  refused -m 0; [[ $stderr == *"-m:"* ]]
  refused -N -1; [[ $stderr == *"-N:"* ]]
  refused -S 2; [[ $stderr == *"-S:"* ]]
  refused -g 0; [[ $stderr == *"-g:"* ]]
  refused --ci-width 0; [[ $stderr == *"--ci-width:"* ]]
  refused --time-budget inf; [[ $stderr == *"--time-budget:"* ]]
  refused --memory-limit lots; [[ $stderr == *"--memory-limit:"* ]]
  refused --seed -1; [[ $stderr == *"--seed:"* ]]
  refused --cadence fast; [[ $stderr == *"--cadence:"*"streaming, isolated"* ]]
  refused --pages 2M; [[ $stderr == *"--pages:"*"huge, small"* ]]
  refused --cache cold; [[ $stderr == *"--cache:"*"warm, rotate"* ]]
  refused --bind socket; [[ $stderr == *"--bind:"*"auto, none, core, numa"* ]]
  refused --placement under; [[ $stderr == *"--placement:"*"both, in, out"* ]]
  refused --progress spin; [[ $stderr == *"--progress:"* ]]
  refused --inject-fault 1; [[ $stderr == *"--inject-fault:"* ]]
  refused --inject-fault 2:0; [[ $stderr == *"--inject-fault:"* ]]
}

@test "unknown options and stray words are refused, near ones are suggested" {
  refused --cvs x; [[ $stderr == *"--csv?"* ]]
  refused --wibble; [[ $stderr == *"--wibble"* ]]
  refused 16; [[ $stderr == *"'16'"* ]]
  refused -b; [[ $stderr == *"-b needs a value"* ]]
  refused -t 4; [[ $stderr == *"nccl-tests"* ]]
}

@test "contradictions are refused" {
  refused -b 2M -e 1M; [[ $stderr == *"-e"* ]]
  refused --resume; [[ $stderr == *"--csv"* ]]
  refused -b 8 -e 1G -i 8; [[ $stderr == *"-i"* ]]
  refused --csv "$DIR/a" --samples "$DIR/a"; [[ $stderr == *"--samples"* ]]
  refused --csv "$DIR/a.json" -J "$DIR/a.json"; [[ $stderr == *"-J"* ]]
}

@test "a file that cannot be written or has something in it is refused before anything is measured" {
  refused --csv /nonexistent/x.csv; [[ $stderr == *"/nonexistent/x.csv"* ]]
  echo precious > "$DIR/kept.csv"
  refused --csv "$DIR/kept.csv"; [[ $stderr == *"--resume"* ]]
  [ "$(cat "$DIR/kept.csv")" = precious ]
  echo '{}' > "$DIR/kept.json"
  refused -J "$DIR/kept.json"
  [ "$(cat "$DIR/kept.json")" = '{}' ]
  refused --samples "$DIR/kept.csv"; [[ $stderr == *"--samples:"* ]]
  refused --csv "$DIR"; [[ $stderr == *"--csv:"* ]]
}

@test "a backend that does not exist is bad usage, one that cannot be had here exit 3" {
  refused --backend quantum
  [[ $stderr == *"--backend: 'quantum' is not one of auto, nccl, mpi, sim"* ]]
  run --separate-stderr env CUDA_VISIBLE_DEVICES= ./allreduce_perf --backend nccl
  [ "$status" -eq 3 ]
  [[ $stderr == *"--backend nccl: "* ]]
}

@test "-g starts the ranks itself, and under a launcher says what to type instead" {
  run ./allreduce_perf -g 3 "${QUICK[@]}"
  [ "$status" -eq 0 ]
  [[ $output == *"Rank  2"* ]]
  refused -g 3; [[ $stderr == *"mpirun -np 3"* ]]
}

@test "a launcher of another MPI is noticed" {
  run --separate-stderr env OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=0 ./allreduce_perf
  [ "$status" -eq 2 ]
  [[ $stderr == *"4 processes"* ]]
  run --separate-stderr env OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=1 ./allreduce_perf
  [ "$status" -eq 2 ]
  [ -z "$stderr" ]
}

@test "every option of docs/options.md is known, and every known option is documented" {
  documented=$(grep -oE '^  (-[A-Za-z], )?--[a-z_-]+' docs/options.md | grep -oE -- '--[a-z_-]+' | sort)
  known=$(grep -oE '^ *\{?"(-[A-Za-z],)?--[a-z_-]+"' src/harness/option_values.cpp | grep -oE -- '--[a-z_-]+' | sort)
  [ "$(printf '%s\n--help\n--version\n' "$known" | sort)" = "$documented" ]
}

@test "nccl-tests' names are there" {
  for name in all_reduce reduce_scatter all_gather broadcast; do
    run "./${name}_perf" "${QUICK[@]}"
    [ "$status" -eq 0 ]
    [[ $output == *"# Collective test starting: ${name}_perf"* ]]
  done
}

@test "the CSV's description is the one that the program generates" {
  [ "$(./busbar schema)" = "$(cat docs/csv.md)" ]
}

@test "busbar lists its commands and refuses others" {
  run --separate-stderr ./busbar --help
  [ "$status" -eq 0 ]
  [[ $output == "usage: busbar COMMAND"*schema* ]]
  run --separate-stderr ./busbar
  [ "$status" -eq 2 ]
  [[ $stderr == "busbar: no command; there are topo, "* ]]
  for words in "" wibble "schema now"; do
    # shellcheck disable=SC2086  # words
    run --separate-stderr ./busbar $words
    [ "$status" -eq 2 ]
    [ -z "$output" ]
    [ "${#stderr_lines[@]}" -eq 1 ]
  done
}
