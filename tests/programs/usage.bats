#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=quick
load ../common

COMMAND=(mpirun -np 2 ./allreduce_perf)

@test "help is docs/options.md, once under mpirun, exit 0" {
  run -0 --separate-stderr mpirun -np 2 ./allreduce_perf -h
  [ "$output" = "$(cat docs/options.md)" ]
  [ -z "$stderr" ]
}

@test "the help of each command is its document; topo also lists what it knows" {
  local document rest
  for document in docs/*-options.md; do
    [ "$document" != docs/busbar-options.md ] || continue  # of no command: its list of them
    run -0 --separate-stderr ./busbar "$(basename "${document%-options.md}")" -h
    rest=${output#"$(cat "$document")"}
    [ "$rest" != "$output" ]
    case $document in
      */topo-*) [[ $rest == *gb200-nvl72* ]] ;;
      *) [ -z "$rest" ] ;;
    esac
  done
}

@test "the version is that of VERSION, with the MPI library" {
  for program in "./allreduce_perf --version" "./sendrecv_perf --version" "./busbar version" "./busbar --version"; do
    run $program
    [ "${lines[0]}" = "busbar $(cat VERSION)" ]
    [[ ${lines[1]} =~ ^"MPI library: $(mpi_title) "[0-9]+\.[0-9]+ ]]
  done
}

@test "values that only the job's size refutes are refused" {
  refused "-r 2" -r 2
  refused "--inject-fault" --inject-fault 2:0
}

@test "a file that cannot be written or has something in it is refused before anything is measured" {
  COMMAND=(./allreduce_perf)
  refused /nonexistent/x.csv --csv /nonexistent/x.csv
  echo precious > "$DIR/kept.csv"
  refused "--resume" --csv "$DIR/kept.csv"
  refused "--samples:" --samples "$DIR/kept.csv"
  [ "$(cat "$DIR/kept.csv")" = precious ]
  echo '{}' > "$DIR/kept.json"
  refused "$DIR/kept.json" -J "$DIR/kept.json"
  [ "$(cat "$DIR/kept.json")" = '{}' ]
  refused "--csv:" --csv "$DIR"
}

@test "a backend that does not exist is bad usage, one that cannot be had here exit 3" {
  COMMAND=(./allreduce_perf)
  refused "'quantum' for --backend" --backend quantum
  CUDA_VISIBLE_DEVICES='' EXIT=3 refused "--backend nccl: " --backend nccl
}

@test "-g under a launcher prints the command to use instead" {
  refused "mpirun -np 3" -g 3
}

@test "a launcher of another MPI is noticed" {
  run -2 --separate-stderr env OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=0 ./allreduce_perf
  [[ $stderr == *"4 processes"* ]]
  run -2 --separate-stderr env OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=1 ./allreduce_perf
  [ -z "$stderr" ]
}

@test "--json prints JSON in place of the text, --json=FILE writes it beside the text" {
  local command text words commands=(schema "topo bound --system dgx-1v" "topo show --system dgx-1v" "expect allreduce --system dgx-h100"
    "workload --busbw 10 --ranks 4 --model alexnet" "accept rehearse knl-aries --nodes 16")
  for command in "${commands[@]}"; do
    read -ra words <<< "$command"
    text=$(./busbar "${words[@]}")
    [ "$(./busbar "${words[@]}" --json="$DIR/x.json")" = "$text" ]
    [ "$(./busbar "${words[@]}" --json)" = "$(cat "$DIR/x.json")" ]
    rm "$DIR/x.json"
  done
}

@test "help fits 80 columns" {
  run ! grep -nE '.{81}' docs/options.md docs/*-options.md
}

@test "nccl-tests' names are there" {
  for name in all_reduce reduce_scatter all_gather broadcast; do
    run -0 "./${name}_perf" "${QUICK[@]}"
    [[ $output == *"# Collective test starting: ${name}_perf"* ]]
  done
}

@test "the CSV's description is the one that the program generates" {
  [ "$(./busbar schema)" = "$(cat docs/csv.md)" ]
}

@test "busbar lists its commands and refuses others" {
  run -0 --separate-stderr ./busbar --help
  [[ $output == "usage: busbar COMMAND"*schema* ]]
  COMMAND=(./busbar)
  refused "busbar: missing command; expected topo, "
  refused "" wibble
  refused "" schema now
}
