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
    clean_root bookworm "$root" --include="dpkg-dev,debhelper,fakeroot,make,$needed"
  else
    clean_root bookworm "$root" --architectures="amd64,$arch" \
      --include="dpkg-dev,debhelper,fakeroot,make,crossbuild-essential-$arch,${needed//,/:$arch,}:$arch"
  fi
  tar -xzf "$DIST/busbar-$VERSION.tar.gz" -C "$root/root"
  cp "$DIST/busbar-$VERSION.tar.gz" "$root/root/busbar_$VERSION.orig.tar.gz"
  if [ -d /usr/local/cuda ]; then cp -aL /usr/local/cuda "$root/usr/local/cuda"; fi
  in_root "$root" bash -c "cd /root/busbar-$VERSION && DEB_BUILD_OPTIONS=parallel=$(nproc) dpkg-buildpackage -a$arch -us -uc" > "$BATS_FILE_TMPDIR/$arch.log" 2>&1 ||
    { tail -n 40 "$BATS_FILE_TMPDIR/$arch.log" >&2; return 1; }
  cp "$root"/root/busbar*{.deb,.dsc,.changes} "$DIST"
}

@test "lintian finds nothing" {
  run -0 lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$DIST/busbar_$VERSION-1_amd64.changes"
  echo "$output"
  [ -z "$output" ]
}
