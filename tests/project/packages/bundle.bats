#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The bundle without MPI: on clean distributions, on hosts with nothing but a C library, for arm64 under emulation.
load common

setup_file() {
  make -j"$(nproc)" bundle MPI=0 >&2
  make -j"$(nproc)" bundle MPI=0 ARCH=arm64 >&2
}
MAIN_JOB=(-b 1M -e 16M -n 5)
ARCHIVE=$DIST/busbar-$VERSION-linux-x86_64.tar.xz

# main_job ROOT NAME: from the archive to the first row, on one host of 16 ranks.
main_job() {
  local start
  start=$(date +%s%N)
  mkdir -p "$1/opt"
  tar -xf "$ARCHIVE" -C "$1/opt"
  in_root "$1" "/opt/busbar-$VERSION-linux-x86_64/allreduce_perf" -g 16 --launcher local "${MAIN_JOB[@]}" |
    while IFS= read -r line; do
      case $line in *" 1048576        262144 "*) report "$2: $((($(date +%s%N) - start) / 1000000)) ms from the archive ($(du -h "$ARCHIVE" | cut -f1)) to the first row" ;; esac
      echo "$line"
    done > "$BATS_TEST_TMPDIR/table"
  is_right "$BATS_TEST_TMPDIR/table" 5 16
}

@test "programs need glibc 2.31 or older, and no library beside it" {
  local program newest
  for program in build/portable-{amd64,arm64}/busbar-"$VERSION"-linux-*/{*_perf,busbar}; do
    readelf -d "$program" | grep NEEDED > "$BATS_TEST_TMPDIR/needed"
    run ! grep -vE '\[(libc|libm|libdl|libpthread|librt|ld-linux-[a-z0-9-]+)\.so\.[0-9]\]' "$BATS_TEST_TMPDIR/needed"
    newest=$(objdump -T "$program" | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1)
    [ "$(printf '%s\n' GLIBC_2.31 "$newest" | sort -V | tail -n 1)" = GLIBC_2.31 ]
  done
  report "newest symbol: $newest"
}
@test "each library has its licence in the bundle, and none is the GPL's" {
  cd build/portable-amd64/busbar-"$VERSION"-linux-x86_64
  run ! grep -E '(^|[^L])GPL' <(grep -v 'WITH GCC-exception' THIRD-PARTY)
  for name in hwloc pugixml libsodium fmt Gloo LEMON; do
    grep -q "^$name " THIRD-PARTY
    [ -s "licences/$name.txt" ]
  done
}
@test "the same sources make the same archive" {
  cp "$ARCHIVE" "$BATS_TEST_TMPDIR/first.tar.xz"
  make bundle MPI=0 > "$BATS_TEST_TMPDIR/made"
  cmp "$ARCHIVE" "$BATS_TEST_TMPDIR/first.tar.xz"
}
@test "the main job runs on Debian 11" { clean_root bullseye "$BATS_TEST_TMPDIR/root" && main_job "$BATS_TEST_TMPDIR/root" "Debian 11"; }
@test "the main job runs on Debian 12" { clean_root bookworm "$BATS_TEST_TMPDIR/root" && main_job "$BATS_TEST_TMPDIR/root" "Debian 12"; }
@test "the main job runs on Debian 13" { clean_root trixie "$BATS_TEST_TMPDIR/root" && main_job "$BATS_TEST_TMPDIR/root" "Debian 13"; }
@test "the main job runs on Ubuntu 22.04" { clean_root jammy "$BATS_TEST_TMPDIR/root" && main_job "$BATS_TEST_TMPDIR/root" "Ubuntu 22.04"; }
@test "the main job runs on Ubuntu 24.04" { clean_root noble "$BATS_TEST_TMPDIR/root" && main_job "$BATS_TEST_TMPDIR/root" "Ubuntu 24.04"; }

@test "two hosts with nothing but a C library join over TCP, and data are right" {
  [ "$(id -u)" = 0 ] || skip "needs root"
  local host rank ranks=4 pids=()
  ip link add busbar-left type veth peer name busbar-right
  for host in left right; do
    # A root with the loader, the C library and the bundle: not even a shell.
    mkdir -p "$BATS_TEST_TMPDIR/$host"/{lib64,opt}
    cp -a build/portable-amd64/root/lib "$BATS_TEST_TMPDIR/$host"
    ln -s ../lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 "$BATS_TEST_TMPDIR/$host/lib64"
    tar -xf "$ARCHIVE" -C "$BATS_TEST_TMPDIR/$host/opt"
    ip netns add "busbar-$host"
    ip link set "busbar-$host" netns "busbar-$host"
    ip -n "busbar-$host" link set lo up
    ip -n "busbar-$host" addr add "10.77.0.$([ $host = left ] && echo 1 || echo 2)/24" dev "busbar-$host"
    ip -n "busbar-$host" link set "busbar-$host" up
  done
  for ((rank = ranks - 1; rank >= 0; --rank)); do
    host=$([ $rank -lt 2 ] && echo left || echo right)
    # shellcheck disable=SC2016  # they are the inner shell's
    ip netns exec "busbar-$host" unshare --uts --mount bash -c '
      hostname "$1"
      root=$2
      shift 2
      mkdir -p "$root"/{proc,sys}
      mount -t proc proc "$root/proc"
      mount --rbind /sys "$root/sys"
      exec chroot "$root" "$@"' host "$host" "$BATS_TEST_TMPDIR/$host" "/opt/busbar-$VERSION-linux-x86_64/allreduce_perf" \
      --rendezvous 10.77.0.1:29500 --rank "$rank" --ranks "$ranks" -T 60 "${MAIN_JOB[@]}" > "$BATS_TEST_TMPDIR/table.$rank" 2>&1 &
    pids+=($!)
  done
  for host in "${pids[@]}"; do wait "$host" || { cat "$BATS_TEST_TMPDIR"/table.*; return 1; }; done
  is_right "$BATS_TEST_TMPDIR/table.0" 5 4
  grep -q "4 ranks on 2 nodes" "$BATS_TEST_TMPDIR/table.0"
}

# --- arm64 ---
ARM=build/portable-arm64/busbar-$VERSION-linux-aarch64
# Emulation starts no program of arm64 and reports otherwise how one ended; these headers and pairs are of the mpi backend; the
# last take a minute each, of arithmetic that others check.
NOT_EMULATED='RunCommand.DistinguishesAnAbsentProgram:ProbeNvidiaSmi.WarnsOnceWhereThereIs*:CommandLoopTest.LeavesNoProcess*'
NOT_EMULATED+=':EndProcessWithin.*:RunLaunches.FailWithoutTheProgram*:TcpBootstrap.EndsWithTheCode*'
NOT_EMULATED+=':RunHeader.*:CheckApplicable.RefusesPairs*:*Coverage.*:Pattern.HasAnotherResult*:CeilingOf.SystemIsTheBound*'
emulate() { qemu-aarch64-static -L build/portable-arm64/root "$@"; }

@test "arm64: the bundle's programs are of aarch64, and unit tests pass under emulation" {
  for program in "$ARM"/*_perf "$ARM/busbar"; do
    [[ $(file -bL "$program") == *"ARM aarch64"* ]]
  done
  make -j"$(nproc)" PORTABLE=arm64 build/portable-arm64/mpi-none/bin/unit_tests >&2
  emulate build/portable-arm64/mpi-none/bin/unit_tests --gtest_brief=1 --gtest_filter="-$NOT_EMULATED"
}
@test "arm64: the main job's data are right under emulation" {
  local rank pids=()
  for ((rank = 0; rank < 16; ++rank)); do
    emulate "$ARM/allreduce_perf" --rendezvous 127.0.0.1:29517 --rank "$rank" --ranks 16 -T 120 "${MAIN_JOB[@]}" \
      > "$BATS_TEST_TMPDIR/table.$rank" 2>&1 &
    pids+=($!)
  done
  for rank in "${pids[@]}"; do wait "$rank"; done
  is_right "$BATS_TEST_TMPDIR/table.0" 5 16
}

teardown() {
  for host in left right; do ip netns del "busbar-$host" 2> /dev/null || true; done
}
