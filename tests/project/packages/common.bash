# SPDX-License-Identifier: BSD-3-Clause
# Clean roots of distributions, and hosts that have nothing but a C library. All of it needs root and mmdebstrap.
# DEBIAN_MIRROR, UBUNTU_MIRROR: where from; without the second Ubuntu is skipped.
bats_require_minimum_version 1.5.0
ROOT=$(cd "$BATS_TEST_DIRNAME/../../.." && pwd)
VERSION=$(cat "$ROOT/VERSION")
DIST=$ROOT/build/dist
cd "$ROOT" || exit 1

# report TEXT: on the terminal, whatever becomes of the test.
report() { echo "# $*" >&3; }

mirror_of() {
  case $1 in
    bullseye | bookworm | trixie) echo "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" ;;
    *) echo "${UBUNTU_MIRROR:-}" ;;
  esac
}
# clean_root SUITE FOLDER [OPTION...] [PACKAGE,...]: unpacks it; what was made once is kept in BUSBAR_CACHE.
clean_root() {
  local suite=$1 folder=$2 kept=${BUSBAR_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/busbar}/roots mirror
  shift 2
  mirror=$(mirror_of "$suite")
  [ -n "$mirror" ] || skip "no UBUNTU_MIRROR is given"
  [ "$(id -u)" = 0 ] || skip "needs root"
  kept=$kept/$suite-$(echo "$mirror $*" | sha256sum | cut -c 1-12).tar
  if [ ! -e "$kept" ]; then
    mkdir -p "$(dirname "$kept")"
    mmdebstrap --quiet --variant=minbase "$@" "$suite" "${kept%.tar}-new.tar" "deb $mirror $suite main" || { rm -f "${kept%.tar}-new.tar"; return 1; }
    mv "${kept%.tar}-new.tar" "$kept"
  fi
  mkdir -p "$folder"
  tar -xf "$kept" -C "$folder"
}
# beside_root FOLDER COMMAND...: with processes of its own, and mounts for who goes into the folder: the machine's devices and
# network, and its CUDA where the root has a folder for it.
beside_root() {
  # shellcheck disable=SC2016  # they are the inner shell's
  unshare --mount --pid --fork --kill-child bash -c '
    root=$1
    shift
    mount --make-rprivate /
    mkdir -p "$root"/{proc,sys,dev,tmp,etc}
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    [ ! -d "$root/usr/local/cuda" ] || [ ! -d /usr/local/cuda ] || mount --bind /usr/local/cuda "$root/usr/local/cuda"
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    exec "$@"' beside_root "$@"
}
in_root() { beside_root "$1" chroot "$@"; }
# is_right FILE ROWS RANKS: of the table of a main job.
is_right() {
  grep -q "^# Out of bounds values : 0 OK" "$1"
  [ "$(grep -cE '^ +[0-9]+ +[0-9]+ +float' "$1")" = "$2" ]
  [ "$(grep -cE '^# +Rank +[0-9]+ Group' "$1")" = "$3" ]
}
