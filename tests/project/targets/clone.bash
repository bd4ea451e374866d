# SPDX-License-Identifier: BSD-3-Clause
# For tests that change or build the project: in a clone, with what was built here.

# enter_root: the root of the project, as a shell of its own would have it.
enter_root() {
  ROOT=$(cd "$BATS_TEST_DIRNAME/../../.." && pwd)
  cd "$ROOT" || return 1
  unset MAKEFLAGS MAKELEVEL MFLAGS
  export BUSBAR_NO_INSTALL=1
  mkfifo "$BATS_TEST_TMPDIR/stdin"  # mpirun dies of a stdin that ends, now and then
  exec 0<> "$BATS_TEST_TMPDIR/stdin"
}

# clone FOLDER: the sources as they are here, committed, and what was built of them but tests. Skips the test where
# there is neither.
clone() {
  local entry
  git rev-parse --show-toplevel > /dev/null 2>&1 || skip "no git checkout"
  [ -x build/bin/busbar ] || skip "nothing was built in build/"
  git clone -q --no-hardlinks . "$1"
  git diff HEAD --binary | git -C "$1" apply --allow-empty --whitespace=nowarn
  git ls-files --others --exclude-standard -z | xargs -0 -r cp --parents -t "$1"
  git -C "$1" add -A
  git -C "$1" -c user.name=test -c user.email=test commit -q --allow-empty -m test
  mkdir -p "$1/build/tests"
  for entry in build/*; do
    case ${entry#build/} in tests | lint | bundle | fuzz) ;; *) cp -a "$entry" "$1/build" ;; esac
  done
  [ ! -d build/tests/gpu/fake ] || cp -a build/tests/gpu/fake "$1/build/tests"
  rm -f "$1/build/bin/unit_tests"
  # Older than what was built of them: a clone's files are new.
  git -C "$1" ls-files -z | (cd "$1" && xargs -0 touch -h -d 2000-01-01)
}
