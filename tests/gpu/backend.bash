# SPDX-License-Identifier: BSD-3-Clause
# What the tests on the fake GPU machine share: of the very binaries that users run, and of the
# replaced libraries themselves.
load ../common

make_fake_gpu() {
  cd "$BATS_TEST_DIRNAME/../.." || return 1
  make --no-print-directory BUSBAR_NO_INSTALL=1 fake-gpu > /dev/null
}
setup_file() { make_fake_gpu; }

# use_fake_gpu: in the root or with PROGRAMS, with programs on GPUs of their own in $DIR.
use_fake_gpu() {
  ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  cd "$ROOT" || return 1
  FAKE=$ROOT/${BUILD:-build}/fake_gpu
  [ -z "${PROGRAMS:-}" ] || use_programs "$ROOT/$PROGRAMS"
  use_mpi
  endless_stdin
  export LD_LIBRARY_PATH=$FAKE TMPDIR=$DIR
}

setup() {
  DIR=$BATS_TEST_TMPDIR
  use_fake_gpu
  if [ ! -e "$FAKE/libnccl.so.2" ]; then skip "no CUDA toolkit with NCCL"; fi
  SELFTEST=$FAKE/selftest
  QUICK=(--backend nccl -b 4K -e 8K -n 3 -w 1 -T 60)
}

# machine COUNT MEMORY CAPABILITY: a machine of so many GPUs for the rest of the test.
machine() {
  local i
  for ((i = 0; i < $1; ++i)); do
    printf 'gpu pci=0000:%02x:00.0 memory=%s cc=%s name=Fake GPU T\n' $((i + 16)) "$2" "$3"
  done > "$DIR/machine"
  export FAKE_GPU_MACHINE=$DIR/machine
}

# machine_line KEYS: the default machine with a property of all its GPUs, for the rest of the test.
machine_line() {
  { echo "machine $1"; cat "$ROOT/tests/gpu/fake/machines/eight"; } > "$DIR/machine"
  export FAKE_GPU_MACHINE=$DIR/machine
}

# traced COMMAND...: must succeed, and leaves what NCCL was asked for in $DIR/trace.
traced() {
  rm -f "$DIR/trace"
  FAKE_NCCL_TRACE=$DIR/trace run -0 "$@"
}
trace_has() { grep -q -- "$1" "$DIR/trace" || { echo "no line: $1"; cat "$DIR/trace"; return 1; }; }
trace_lacks() { ! grep -- "$1" "$DIR/trace"; }
