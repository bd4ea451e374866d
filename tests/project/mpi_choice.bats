#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Which MPI make builds with: tools/find-mpi and mk/mpi.mk, on fake installations.
load ../common

# fake_mpi FOLDER LAUNCHER_SAYS WRAPPER_SHOWS [SUFFIX]: an MPI in $DIR/FOLDER.
fake_mpi() {
  mkdir -p "$DIR/$1"
  printf '#!/bin/sh\necho "%s"\n' "$2" > "$DIR/$1/mpirun${4:-}"
  printf '#!/bin/sh\necho "%s"\n' "$3" > "$DIR/$1/mpicxx${4:-}"
  chmod +x "$DIR/$1"/*
}

found() { PATH=$DIR/a:$DIR/b:/usr/bin:/bin tools/find-mpi "$1" "$2" "$DIR/unpacked" | sed "s#$DIR/##g"; }

@test "make takes the MPI whose mpirun is the first in PATH, and the wrapper beside it" {
  fake_mpi a "mpirun (Open MPI) 4.1.7rc1" ""
  fake_mpi b "HYDRA build details:" "" .mpich
  [ "$(found '' '')" = "openmpi a/mpicxx a/mpirun openmpi" ]
  [ "$(found mpich '')" = "mpich mpicxx.mpich mpirun.mpich openmpi" ]
  fake_mpi a "HYDRA build details:" ""
  [ "$(found '' '')" = "mpich a/mpicxx a/mpirun mpich" ]
  fake_mpi a "Intel(R) MPI Library for Linux* OS, Version 2021.10" ""
  [ "$(found '' '')" = "mpi a/mpicxx a/mpirun mpi" ]
}

@test "Debian's names with a suffix go before plain ones" {
  fake_mpi a "mpirun.openmpi (OpenRTE) 4.1.4" ""
  fake_mpi a "mpirun.openmpi (OpenRTE) 4.1.4" "" .openmpi
  [ "$(found '' '')" = "openmpi a/mpicxx.openmpi a/mpirun.openmpi openmpi" ]
}

@test "a wrapper that was named decides, by its mpi.h" {
  fake_mpi a "HYDRA build details:" ""
  fake_mpi b "mpirun (Open MPI) 5.0.3" "#define OMPI_MAJOR_VERSION 5"
  run found '' "$DIR/b/mpicxx"
  [[ $output == "openmpi b/mpicxx "* ]]
}

@test "another MPI that is not there is never replaced by the machine's" {
  fake_mpi a "HYDRA build details:" ""
  [[ $(found openmpi '') == "openmpi unpacked/bin/mpicxx.openmpi "* ]] || command -v mpicxx.openmpi
}

@test "a wrapper's folders become include folders and run paths, those of the system do not" {
  fake_mpi a "mpirun (Open MPI) 4.1.7" "g++ -I$DIR/a/include -I/usr/include -pthread -L$DIR/a/lib -L/usr/lib -lmpi_cxx -lmpi"
  run -0 env PATH="$DIR/a:$PATH" make -n BUSBAR_NO_INSTALL=1 BUILD="$DIR/build" "$DIR/build/bin/gather_perf"
  compile=$(grep -e '-c -o .*/mpi-openmpi/joined/src/backends/mpi.o' <<<"$output")
  [[ $compile == *"-isystem $DIR/a/include"*"-DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX"* ]]
  [[ $compile != *"-isystem /usr/include "* ]]
  link=$(grep -e "-o $DIR/build/bin/gather_perf" <<<"$output")
  [[ $link == *"-L$DIR/a/lib"*"-lmpi "*"-Wl,-rpath,$DIR/a/lib"* ]]
  [[ $link != *-lmpi_cxx* && $link != *"-rpath,/usr/lib "* ]]
  [ "$(grep -c 'OMPI_SKIP_MPICXX.* -c -o .*/src/harness' <<<"$output")" -eq 0 ]
}
