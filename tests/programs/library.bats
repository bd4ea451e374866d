#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=mpi
# What belongs to the MPI library: its name, its launcher, the launcher of another one.
load ../common

# other_launcher: another MPI's mpirun that starts ranks; nothing where there is none.
other_launcher() {
  local other=openmpi launcher
  [ "$BUSBAR_TEST_MPI" = mpich ] || other=mpich
  read -r _ _ launcher _ < <(tools/find-mpi "$other" '' build/openmpi)
  if [ "$other" = openmpi ]; then echo "$launcher --quiet --oversubscribe --allow-run-as-root"; else echo "$launcher"; fi
}

# bats test_tags=quick,ci
@test "the head of a run and of its file is whole and names the MPI library" {
  run -0 mpirun -np 2 ./allreduce_perf "${QUICK[@]}" --csv "$DIR/a.csv" -J "$DIR/a.json"
  library=$(./allreduce_perf --version | sed -n 's/^MPI library: //p')
  [[ $library =~ ^"$(mpi_title) "[0-9]+\.[0-9.a-z]+$ ]]
  [[ $output == *"all-reduce over $library, mpi backend"* ]]
  [[ $output == *"# Using devices"* ]]
  [ "$(sed -n 's/^# library: //p' "$DIR/a.csv")" = "$library" ]
  [ "$(sed -n 's/^# mpi: //p' "$DIR/a.csv")" = "$library" ]
  [ "$(jq -r .context.mpi "$DIR/a.json")" = "$library" ]
  [ "$(LC_ALL=C grep -c '[[:cntrl:]]' "$DIR/a.csv")" -eq 0 ]
  [ "$(grep -v '^#' "$DIR/a.csv" | head -n 1 | cut -d, -f1-3)" = collective,backend,ranks ]
  [ "$(rows "$DIR/a.csv" | wc -l)" -eq 6 ]
}

# bats test_tags=ci
@test "the file's head has what was set for the library, and no names of the launcher's session" {
  export UCX_TLS=self,sysv OMPI_MCA_btl=self,vader
  run -0 mpirun -np 2 ./allreduce_perf "${QUICK[@]}" --csv "$DIR/a.csv"
  environment=$(grep '^# environment: ' "$DIR/a.csv")
  [[ $environment == *"OMPI_MCA_btl=self,vader"*"UCX_TLS=self,sysv"* ]]
  [[ $environment != *orte_* && $environment != *ess* && $environment != *"$PWD"* ]]
}

# bats test_tags=ci
@test "-g starts the ranks by the library's own launcher" {
  PATH=${PATH#"$ROOT/tests/launchers:"}
  if [ "$BUSBAR_TEST_MPI" = openmpi ]; then PATH=$(dirname "$BUSBAR_TEST_LAUNCHER"):$PATH; fi
  run -0 timeout 60 ./allreduce_perf -g 5 "${QUICK[@]}" --csv "$DIR/a.csv"
  [ "$(column ranks,wrong "$DIR/a.csv" | sort -u)" = "5|0" ]
  run -3 --separate-stderr env PATH="$DIR" ./allreduce_perf -g 5 "${QUICK[@]}"
  [ "${#stderr_lines[@]}" -eq 1 ]
  [[ $stderr == *"-g 5"*"mpiexec"*"$(mpi_title)"* ]]
}

# bats test_tags=ci
@test "the launcher of another MPI is refused in one line" {
  read -ra launcher < <(other_launcher)
  command -v "${launcher[0]}" > /dev/null || skip "there is no other MPI"
  # Two processes of Open MPI that are started alone make this folder at once, and then one may fail (session_dir.c).
  mkdir -p "$DIR/ompi.$(uname -n).$(id -u)/kept"
  export OMPI_MCA_orte_tmpdir_base=$DIR
  run -2 --separate-stderr timeout 60 "${launcher[@]}" -np 2 ./allreduce_perf "${QUICK[@]}" --csv "$DIR/a.csv"
  [ "${#stderr_lines[@]}" -eq 1 ]
  [[ $stderr == *"started 2 processes, but MPI_COMM_WORLD has 1"*"uses $(mpi_title) "* ]]
  [ ! -e "$DIR/a.csv" ]
}

# bats test_tags=ci
@test "the launcher's exit code is that of all ranks, with one line of ours" {
  ends_with() {  # ends_with CODE LINES OPTIONS... : the same of each rank, where the launcher prints them
    local codes=(./allreduce_perf --host-limits off -n 1 -w 0 "${@:3}")
    run --separate-stderr mpirun -np 3 "${codes[@]}"
    echo "$stderr"
    [ "$status" -eq "$1" ]
    [ "${#stderr_lines[@]}" -eq "$2" ]
    if [ "$BUSBAR_TEST_MPI" != mpich ] || [ "$1" -eq 4 ]; then return; fi
    run mpirun -print-all-exitcodes -np 3 "${codes[@]}"
    [[ $output == *"Exit codes: "*"] $((256 * $1)),$((256 * $1)),$((256 * $1))"* ]]
  }
  ends_with 0 0 -b 1K -e 1K
  ends_with 1 0 -b 1K -e 1K --inject-fault 2:0  # wrong data, which the table names
  [[ $output == *"FAILED"*"concluded"* ]]
  ends_with 2 1 -b 0                            # usage
  ends_with 2 1 -r 7                            # usage that is known with MPI up
  ends_with 2 1 --csv /nonexistent/x            # what only rank 0 can know
  CUDA_VISIBLE_DEVICES='' ends_with 3 1 --backend nccl          # not available
  ends_with 4 1 -b 1K -e 1K --csv /dev/full     # a failure of one rank, which ends the others
  ends_with 77 0 -b 1K -e 1K -d half            # all skipped
}
