#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Debian's packages: built in a clean root of Debian 12, checked by lintian, installed, run and removed in another one.
load common

setup_file() {
  [ "$(id -u)" = 0 ] || return 0
  build_packages amd64
}
# build_packages ARCH: from `make dist`, into build/dist. Where the machine has CUDA the packages have NCCL.
build_packages() {
  local arch=$1 root=$BATS_FILE_TMPDIR/build-$1 needed
  make dist >&2
  needed=$(sed -n '/^Build-Depends/,/^$/p' debian/control | grep -oE '^ +[a-z0-9+-]+' | grep -v debhelper | paste -sd,)
  if [ "$arch" = amd64 ]; then
    clean_root bookworm "$root" --include="build-essential,debhelper,$needed"
  else
    clean_root bookworm "$root" --architectures="amd64,$arch" \
      --include="build-essential,debhelper,crossbuild-essential-$arch,${needed//,/:$arch,}:$arch"
  fi
  tar -xzf "$DIST/busbar-$VERSION.tar.gz" -C "$root/root"
  cp "$DIST/busbar-$VERSION.tar.gz" "$root/root/busbar_$VERSION.orig.tar.gz"
  mkdir "$root/usr/local/cuda"
  in_root "$root" bash -c "cd /root/busbar-$VERSION && DEB_BUILD_OPTIONS=parallel=$(nproc) dpkg-buildpackage -a$arch -us -uc" > "$BATS_FILE_TMPDIR/$arch.log" 2>&1 ||
    { tail -n 40 "$BATS_FILE_TMPDIR/$arch.log" >&2; return 1; }
  cp "$root"/root/busbar*{.deb,.dsc,.changes} "$DIST"
}

@test "lintian finds nothing" {
  [ "$(id -u)" = 0 ] || skip "needs root"
  run lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$DIST/busbar_$VERSION-1_amd64.changes"
  echo "$output"
  [ "$status" -eq 0 ]
  [ -z "$output" ]
}

# installed ROOT KIND PACKAGES: apt installs the packages of a kind, with the time and what they weigh.
installed() {
  local start=$SECONDS
  cp "$DIST/busbar_$VERSION-1_amd64.deb" "$DIST/busbar-perf-$2_$VERSION-1_amd64.deb" "$1/root"
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
