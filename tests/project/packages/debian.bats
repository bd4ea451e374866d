#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Debian's packages: built in a clean root of Debian 12, checked by lintian, installed, run and removed in another one.
load common

setup_file() {
  [ "$(id -u)" = 0 ] || return 0
  make dist >&2
  local root=$BATS_FILE_TMPDIR/build
  clean_root bookworm "$root" --include="build-essential,debhelper,$(needed | paste -sd,)"
  build_packages "$root" amd64
}
# needed [ARCH]: the packages that the build needs, those of ARCH where each architecture has its own.
needed() {
  sed -n '/^Build-Depends/,/^$/p' debian/control | grep -oE '^ +[a-z0-9+-]+' | tr -d ' ' | grep -v debhelper |
    sed -E "/^(g\\+\\+|libfccp-dev|nlohmann-json3-dev)$/!s/$/${1:+:$1}/"
}
# build_packages ROOT ARCH [OPTION...]: from `make dist`, into build/dist. Where the machine has CUDA the packages have NCCL.
build_packages() {
  local root=$1 arch=$2
  tar -xzf "$DIST/busbar-$VERSION.tar.gz" -C "$root/root"
  mkdir -p "$root/usr/local/cuda"
  in_root "$root" bash -c "cd /root/busbar-$VERSION && DEB_BUILD_OPTIONS=parallel=$(nproc) dpkg-buildpackage -a$arch -us -uc ${*:3}" > "$BATS_FILE_TMPDIR/$arch.log" 2>&1 ||
    { tail -n 40 "$BATS_FILE_TMPDIR/$arch.log" >&2; return 1; }
  find "$root/root" -maxdepth 1 -type f -name 'busbar*' -exec cp -t "$DIST" {} +
}

@test "lintian finds nothing" {
  [ "$(id -u)" = 0 ] || skip "needs root"
  run -0 lintian --allow-root --fail-on error,warning "$DIST/busbar_${VERSION}_amd64.changes"
  [ -z "$output" ]
}

# installed ROOT KIND PACKAGES: apt installs the packages of a kind, with the time and what they weigh.
installed() {
  local start=$SECONDS
  cp "$DIST/busbar_${VERSION}_amd64.deb" "$DIST/busbar-perf-$2_${VERSION}_amd64.deb" "$1/root"
  in_root "$1" bash -c "apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends \
    /root/busbar_*.deb /root/busbar-perf-$2_*.deb $3" > "$BATS_TEST_TMPDIR/apt" 2>&1 || { tail "$BATS_TEST_TMPDIR/apt"; return 1; }
  report "$2: installed in $((SECONDS - start)) s; packages $(du -ch "$1"/root/busbar*.deb | tail -n 1 | cut -f1)"
}
# tried KIND PACKAGES: the kind's own test of autopkgtest in a clean root, from nothing; then it is removed.
tried() {
  local root=$BATS_TEST_TMPDIR/root start
  clean_root bookworm "$root"
  installed "$root" "$1" "$2"
  cp -r debian/tests "$root/root/tests"
  start=$(date +%s%N)
  in_root "$root" "/root/tests/main-job-$1"
  report "$1: main job of 16 ranks in $((($(date +%s%N) - start) / 1000000)) ms"
  [ "$(in_root "$root" readlink -f /usr/bin/allreduce_perf)" = "/usr/lib/busbar/$1/allreduce_perf" ]
  in_root "$root" apt-get -qq purge -y busbar "busbar-perf-$1" > "$BATS_TEST_TMPDIR/purge" 2>&1
  [ -z "$(find "$root" -xdev \( -name '*_perf*' -o -name '*busbar*' \) -not -path "$root/root/*" -not -path "$root/var/*")" ]
}
@test "MPICH's package is installed, runs the main job and is removed" { tried mpich mpich; }
@test "Open MPI's package is installed, runs the main job and is removed" { tried openmpi openmpi-bin; }
@test "the package without MPI is installed, runs the main job and is removed" { tried nompi ""; }
@test "packages for two MPIs stand side by side, and alternatives choose" {
  local root=$BATS_TEST_TMPDIR/root
  clean_root bookworm "$root"
  installed "$root" mpich mpich
  installed "$root" nompi ""
  [ "$(in_root "$root" readlink -f /usr/bin/all_reduce_perf)" = /usr/lib/busbar/mpich/allreduce_perf ]
  in_root "$root" update-alternatives --set allreduce_perf /usr/lib/busbar/nompi/allreduce_perf
  [ "$(in_root "$root" readlink -f /usr/bin/all_reduce_perf)" = /usr/lib/busbar/nompi/allreduce_perf ]
  in_root "$root" allreduce_perf --version | grep -q "built with MPI=0"
}
@test "autopkgtest passes with all of the packages side by side" {
  [ "$(id -u)" = 0 ] || skip "needs root"
  local root=$BATS_TEST_TMPDIR/root
  clean_root bookworm "$root"
  mkdir "$BATS_TEST_TMPDIR/source"
  cp -r debian "$BATS_TEST_TMPDIR/source"
  run beside_root "$root" sh -c "mount -t proc proc /proc && autopkgtest -U --no-built-binaries $DIST/busbar*_${VERSION}_amd64.deb $BATS_TEST_TMPDIR/source/ -- chroot $root"
  echo "$output" | grep -a -E "PASS|FAIL|perf:"
  [ "$status" -eq 0 ]
}
@test "arm64: the packages are cross-built, and the main job's data are right under emulation" {
  [ "$(id -u)" = 0 ] || skip "needs root"
  local root=$BATS_TEST_TMPDIR/root kind programs=/usr/lib/busbar
  # MPI's headers come with compilers of arm64, which are not for this machine.
  # shellcheck disable=SC2016  # it is the inner shell's
  clean_root bookworm "$root" --architectures=amd64,arm64 \
    --include="build-essential,debhelper,crossbuild-essential-arm64,qemu-user-static,mpich,$(needed arm64 | sed 's/mpich-dev/mpich12/; s/openmpi-dev/openmpi3/' | paste -sd,)" \
    --customize-hook='chroot "$1" sh -c "cd /root && apt-get -qq download libmpich-dev:arm64 libopenmpi-dev:arm64 && dpkg --force-depends -i *.deb && rm *.deb"'
  build_packages "$root" arm64 -d
  for kind in mpich openmpi nompi; do
    dpkg-deb -x "$DIST/busbar-perf-${kind}_${VERSION}_arm64.deb" "$root"
  done
  [[ $(file -bL "$root/usr/lib/busbar/mpich/allreduce_perf") == *"ARM aarch64"* ]]
  in_root "$root" mpirun.mpich -np 16 qemu-aarch64-static "$programs/mpich/allreduce_perf" -b 1M -e 16M -n 5 > "$BATS_TEST_TMPDIR/table"
  is_right "$BATS_TEST_TMPDIR/table" 5 16
  # Open MPI's launcher and arm64's library are not installed side by side; emulation starts no ranks.
  in_root "$root" qemu-aarch64-static "$programs/openmpi/allreduce_perf" --version | grep -q "Open MPI 4"
  in_root "$root" qemu-aarch64-static "$programs/nompi/allreduce_perf" --version | grep -q "built with MPI=0"
}
