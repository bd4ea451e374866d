#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Where make finds CUDA and NCCL, on trees of empty files in the layouts that they are shipped in.
load ../common

setup() {
  ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  cd "$ROOT" || return 1
  T=$BATS_TEST_TMPDIR
  KIND=targets/$(uname -m)-linux
  if [ "$(uname -m)" = aarch64 ]; then KIND=targets/sbsa-linux; fi
  unset CUDA_HOME CUDA_PATH NCCL_HOME CONDA_PREFIX NVHPC_ROOT
}
# files NAME...: empty ones; those in bin are programs that list an architecture.
files() {
  local file
  for file in "$@"; do
    mkdir -p "$(dirname "$T/$file")"
    : > "$T/$file"
    if [[ $file == */bin/* ]]; then
      executable "$T/$file" 'echo compute_90'
    fi
  done
}
toolkit() { files "$1/bin/nvcc" "$1/include/cuda_runtime_api.h" "$1/lib64/libcudart.so"; }
# flags VARIABLE WORDS...: a variable of the makefile.
flags() { make -pn BUSBAR_NO_INSTALL=1 "${@:2}" FORCE 2>/dev/null | sed -n "s/^$1 :*= //p" | tail -n 1; }

@test "headers and libraries of NCCL_HOME go before those of CUDA_HOME" {
  toolkit cuda
  files cuda/include/nccl.h cuda/lib64/libnccl.so.2 a-nccl/include/nccl.h a-nccl/lib/libnccl.so.2 z-nccl/include/nccl.h z-nccl/lib/libnccl.so.2
  for nccl in a-nccl z-nccl; do
    run flags NCCL_CXXFLAGS CUDA_HOME="$T/cuda" NCCL_HOME="$T/$nccl"
    [ "$output" = "-isystem $T/$nccl/include -isystem $T/cuda/include" ]
    run flags BACKEND_LDLIBS CUDA_HOME="$T/cuda" NCCL_HOME="$T/$nccl"
    [[ $output == *"-rpath,$T/$nccl/lib -Wl,-rpath,$T/cuda/lib64"* ]]
  done
}
@test "nothing is linked, and the compiler's own folders are never named" {
  run make -n -B BUSBAR_NO_INSTALL=1 NCCL_HOME=/usr HAVE_NCCL= allreduce_perf
  [[ $output != *"-isystem /usr/include "* ]]
  [[ $output != *"rpath,/usr/lib"* ]]
  toolkit cuda
  files cuda/include/nccl.h
  run flags BACKEND_LDLIBS CUDA_HOME="$T/cuda"
  [[ $output != *-lnccl* && $output != *-lcudart* ]]
}
@test "conda's folder of this machine's kind is found" {
  files "conda/$KIND/include/cuda_runtime_api.h" "conda/$KIND/lib/libcudart.so" conda/bin/nvcc conda/include/nccl.h conda/lib/libnccl.so.2
  CONDA_PREFIX=$T/conda run flags NCCL_CXXFLAGS
  [ "$output" = "-isystem $T/conda/include -isystem $T/conda/$KIND/include" ]
  CONDA_PREFIX=$T/conda run flags NVCC
  [ "$output" = "$T/conda/bin/nvcc" ]
}
@test "a toolkit is found by the nvcc in PATH, through links" {
  toolkit opt/cuda-12
  files opt/cuda-12/include/nccl.h
  mkdir "$T/path"
  ln -s "$T/opt/cuda-12/bin/nvcc" "$T/path/nvcc"
  PATH=$T/path:$PATH run flags NVCC
  [ "$output" = "$T/opt/cuda-12/bin/nvcc" ]
}
@test "a CUDA_HOME or NCCL_HOME that is none ends the build with what is missing" {
  run -2 make -n BUSBAR_NO_INSTALL=1 CUDA_HOME="$T/nowhere" allreduce_perf
  [[ $output == *"CUDA_HOME=$T/nowhere"*"HAVE_NCCL=0 leaves it out"* ]]
  toolkit cuda
  run -2 make -n BUSBAR_NO_INSTALL=1 CUDA_HOME="$T/cuda" NCCL_HOME="$T/nowhere" allreduce_perf
  [[ $output == *nccl.h* ]]
}
@test "nvcc takes another host compiler, and code for every GPU" {
  toolkit cuda
  files cuda/include/nccl.h
  run make -n BUSBAR_NO_INSTALL=1 BUILD="$T/build" CUDA_HOME="$T/cuda" NVCC_CCBIN=g++-11 "$T/build/src/backends/nccl/kernels.fatbin"
  [[ $output == *"-gencode=arch=compute_90,code=sm_90 -gencode=arch=compute_90,code=compute_90 -ccbin g++-11 "* ]]
}
@test "a package that may be missing is named, and does not end make test" {
  mkdir "$T/bin"
  ln -s "$(command -v bash)" "$(command -v id)" "$(command -v env)" "$T/bin"
  PATH=$T/bin run -0 tools/install-packages --optional some-browser
  [[ $output == *"missing: some-browser"*"going on without"* ]]
  PATH=$T/bin run -1 tools/install-packages some-browser
  [[ $output == *"BUSBAR_NO_INSTALL=1"* ]]
}
@test "a bundle starts where none of the libraries is installed" {
  tools/make-bundle "$T/bundle" "${BUILD:-build}/bin/allreduce_perf"
  # The C library's own files are the machine's, all others the bundle's.
  run -0 env LD_LIBRARY_PATH= ldd "$T/bundle/allreduce_perf"
  [ "$(awk '$3 ~ "^/"' <<< "$output" | grep -cv "$T/bundle/")" -le 3 ]
  run -0 env LD_LIBRARY_PATH= "$T/bundle/allreduce_perf" -b 8 -e 8 -n 2 --backend mpi
}
@test "a library that is not on the list, and the GPL, are refused" {
  cp -r tools "$T"
  sed -i '/^hwloc/d; s/^fmt | MIT/fmt | GPL-3.0-only/' "$T/tools/third-party.txt"
  run -1 --separate-stderr "$T/tools/third-party" "${BUILD:-build}/bin/allreduce_perf"
  [[ $stderr == *"libhwloc.so.15 (linked) is not in "*"fmt is under GPL-3.0-only"* || $stderr == *"fmt is under GPL-3.0-only"*"libhwloc.so.15 (linked) is not in "* ]]
  sed '/^MPICH/d' THIRD-PARTY > "$T/earlier"
  [ "$BUSBAR_TEST_MPI" = mpich ] || return 0
  run -1 --separate-stderr tools/third-party --against "$T/earlier" "${BUILD:-build}/bin/allreduce_perf"
  [[ $stderr == *"lacks MPICH (mpich2)"* ]]
}
@test "the archive of the sources is the same twice, and has its SHA-256 beside it" {
  [ -e .git ] || skip "no git checkout"
  make dist DIST="$T/one" && make dist DIST="$T/two"
  cmp "$T"/one/busbar-*.tar.gz "$T"/two/busbar-*.tar.gz
  (cd "$T/one" && sha256sum --check busbar-*.sha256)
  [ "$(tar -xOf "$T"/one/busbar-*.tar.gz "busbar-$(cat VERSION)/VERSION")" = "$(git show HEAD:VERSION)" ]
}
