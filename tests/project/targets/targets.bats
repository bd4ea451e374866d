#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Every target that `make help` or the README names, in a short form, in a clone with what was built here: each
# ends well and leaves the tree clean. `make check-targets` runs it alone.
bats_require_minimum_version 1.5.0

# short TARGET: the words after `make` that run it as briefly as it can be; nothing for one that is not run.
short() {
  case $1 in
    all | bundle | dist | docs | executables | fake-gpu | figures | example-report | help | man | openmpi | plots | promtool) echo "$1" ;;
    bench | rehearsal) echo "$1 BRIEF=1" ;;  # and with it bench-mpi and plot-bench
    fuzz) echo "$1 FUZZ_SECONDS=1 FUZZ_OPTIMIZE=-O0 FUZZ_CHECKS= FUZZ_TIMEOUT=100" ;;
    install | uninstall) echo "$1 DESTDIR=build/installed" ;;
    quickstart) echo "$1 NP=2 SIZES=-b1K\ -e4K" ;;
    clean) echo "$1" ;;
  esac
}
# Those before others that need what they leave; the rest in the order of `make help`.
readonly FIRST="all quickstart"

# why_not TARGET: why it has no short form.
why_not() {
  case $1 in
    test | check | check-all | check-unit | check-bats | check-other-mpi | check-targets | test-cluster | test-nccl) echo "these tests are a part of it" ;;
    bench-mpi | plot-bench) echo "a part of bench" ;;
    lint | format | tidy | tidy-tests | mutants) echo "minutes of their own; .ci/run runs lint" ;;
    soak | soak-cluster | check-repeated | test-packages) echo "hours, or half an hour" ;;
    third-party) echo "make lint compares what it writes" ;;
    gpu-bench) echo "needs a GPU" ;;
    deps) echo "installs packages" ;;
    docs-pictures) echo "needs root and chromium, and changes docs/" ;;
  esac
}

# documented: the targets of `make help`, and those that the documents name.
documented() {
  {
    make -s help | sed -n 's/^  \([a-z-]*\) .*/\1/p'
    # shellcheck disable=SC2016 # the backquote is the documents'
    grep -ohE '(^|`)make( [A-Z_]+=[^ `]*)* [a-z][a-z-]+' README.md CONTRIBUTING.md docs/*.md docs/dev/*.md examples/README.md | grep -oE '[a-z-]+$'
  } | sort -u
}

setup() {
  load clone
  enter_root
}

@test "every documented target has a short form or a reason why it has none" {
  local target
  for target in $(documented); do
    [ -n "$(short "$target")$(why_not "$target")" ] || { echo "make $target has neither"; return 1; }
    [ -z "$(short "$target")" ] || [ -z "$(why_not "$target")" ]
  done
  [ "$(documented | wc -l)" -ge 25 ]
}
@test "every documented target runs in a clone and leaves the tree clean" {
  local target words
  clone "$BATS_TEST_TMPDIR/clone"
  cd "$BATS_TEST_TMPDIR/clone"
  for target in $FIRST $(documented | grep -vxE "${FIRST// /|}|clean") clean; do
    eval "words=($(short "$target"))"
    [ "${#words[@]}" -gt 0 ] || continue
    local start=$SECONDS
    timeout 900 make "${words[@]}" > ../said 2>&1 || { echo "make ${words[*]} exits $?"; tail -n 40 ../said; return 1; }
    echo "make ${words[*]}: $((SECONDS - start)) s"
    [ -z "$(git status --porcelain)" ] || { echo "make ${words[*]} leaves:"; git status --porcelain; return 1; }
  done
}
