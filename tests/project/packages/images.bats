#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The images of packaging/Containerfile, built and run without a container engine's daemon, on a base made of Debian's
# packages. After bundle.bats and debian.bats, which make what goes into them.
load common

STORE=(--root "$BATS_FILE_TMPDIR/store" --runroot "$BATS_FILE_TMPDIR/run" --storage-driver vfs)
build() { buildah "${STORE[@]}" "$@"; }
# as_user IMAGE COMMAND...: in a container, as the image's user.
as_user() {
  local container
  container=$(build from "$1")
  build run --isolation chroot "$container" -- "${@:2}"
}

setup_file() {
  local base
  clean_root bookworm "$BATS_FILE_TMPDIR/base"
  base=$(build from scratch)
  build add "$base" "$BATS_FILE_TMPDIR/base" / > /dev/null
  build commit "$base" localhost/base > /dev/null 2>&1
  for target in small mpi; do
    build bud --isolation chroot --build-arg BASE=localhost/base --build-arg VERSION="$VERSION" --target $target \
      -f packaging/Containerfile -t "localhost/busbar-$target" "$DIST" >&2
    report "image $target: $(build images --format '{{.Size}}' "localhost/busbar-$target"), on a base of $(build images --format '{{.Size}}' localhost/base)"
  done
}

@test "the small image runs the main job, and not as root" {
  as_user localhost/busbar-small allreduce_perf -g 16 --launcher local -b 1M -e 16M -n 5 > "$BATS_TEST_TMPDIR/table"
  is_right "$BATS_TEST_TMPDIR/table" 5 16
  [ "$(as_user localhost/busbar-small id -u)" = 1000 ]
}
@test "the image with Open MPI runs the main job, and its SSH server lets the launcher in" {
  # shellcheck disable=SC2016  # they are the inner shell's
  as_user localhost/busbar-mpi bash -c '
    set -e
    [ "$(id -u)" = 1000 ]
    mkdir -m 700 -p ~/.ssh && ssh-keygen -q -t rsa -N "" -f ~/.ssh/id_rsa && cp ~/.ssh/id_rsa.pub ~/.ssh/authorized_keys
    /usr/sbin/sshd -De -f ~/.sshd_config 2> ~/sshd.log & server=$!
    for try in 1 2 3 4 5 6 7 8 9 10; do ssh 127.0.0.1 true && break; sleep 1; done
    ssh 127.0.0.1 allreduce_perf --version
    cd && mpirun --oversubscribe -np 16 allreduce_perf -b 1M -e 16M -n 5
    kill $server' > "$BATS_TEST_TMPDIR/table"
  is_right "$BATS_TEST_TMPDIR/table" 5 16
  grep -q "Open MPI" "$BATS_TEST_TMPDIR/table"
}
