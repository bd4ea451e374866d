#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# tools/mutants in a small project: one function, whose tests notice some slips and not others.
bats_require_minimum_version 1.5.0

setup() {
  ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  mkdir "$BATS_TEST_TMPDIR/project"
  cd "$BATS_TEST_TMPDIR/project" || return 1
  unset MAKEFLAGS MAKELEVEL MFLAGS
  mkdir -p src/stats tests/unit/stats tests/cli tools build/bin
  cat > src/stats/pass.cpp << 'END'
// Not a < b, nor "a < b".
bool passes(int score, int least, bool excused) {
  return score >= least || excused;
}
END
  # A program with the options of GoogleTest that matter; it passes when the function answers as it should.
  cat > tests/unit/stats/pass_test.cpp << 'END'
#include <cstdio>
bool passes(int score, int least, bool excused);
#define TEST(suite, name) static bool suite##name()
TEST(Pass, OfMoreThanTheLeast) { return passes(3, 2, false) && !passes(1, 2, false); }
int main() {
  if (PassOfMoreThanTheLeast()) return 0;
  std::puts("[  FAILED  ] Pass.OfMoreThanTheLeast");
  return 1;
}
END
  cat > Makefile << 'END'
build/bin/unit_tests: src/stats/pass.cpp tests/unit/stats/pass_test.cpp
	g++ -Wall -Wextra -Werror -o $@ $^
executables fake-gpu: ;
END
  printf '@test "%s" { :; }\n' "nothing" | tee tests/cli/output.bats > tests/cli/compare.bats
  printf '/build/\n/build-*/\n' > .gitignore
  git init -q
  make -s build/bin/unit_tests
}
mutants() { python3 "$ROOT/tools/mutants" "$@"; }

@test "a mutant is a change of code, not of a comment or a text" {
  run -0 --separate-stderr mutants --list src/stats/pass.cpp
  [[ $output == *"+ return score > least || excused;"* ]]
  [[ $output == *"+ return score >= least && excused;"* ]]
  [[ $output == *"+ return score >= least;"* ]]
  [[ $output == *"+ return excused;"* ]]
  [ "$(grep -c '^src/stats/pass.cpp:3 ' <<< "$output")" -eq 4 ]
  [ "$(grep -c '^src/' <<< "$output")" -eq 4 ]
}
@test "what no test notices survives, and what one notices is killed by its name" {
  run --separate-stderr mutants src/stats/pass.cpp:3
  echo "$output" "$stderr"
  [ "$status" -eq 1 ]
  [ "$(grep -c 'killed  .*unit: Pass.OfMoreThanTheLeast' <<< "$output")" -eq 1 ]  # && for ||
  [ "$(grep -c SURVIVED <<< "$output")" -eq 1 ]
  [[ $output == *"+ return score > least || excused;"* ]]
  [[ $output == *"| src/stats | 2 | 1 | 1 | 1 | 0 | 50 % |"* ]]  # -Werror refuses unused parameters
  # What was tried is not tried again, until a test has changed.
  run -1 --separate-stderr mutants src/stats/pass.cpp:3
  [ "$(wc -l < build-mutants/results.tsv)" -eq 4 ]
  sed -i 's/passes(3, 2, false)/passes(2, 2, false)/' tests/unit/stats/pass_test.cpp
  run -0 --separate-stderr mutants src/stats/pass.cpp:3
  [ "$(wc -l < build-mutants/results.tsv)" -eq 5 ]
}
@test "an equivalent mutant is listed with its reason and does not count" {
  printf '%s\n' 'file src/stats/pass.cpp' '- return score >= least || excused;' '+ return score > least || excused;' \
    'because no score is ever the least' > tools/mutants-equivalent.txt
  run -0 --separate-stderr mutants --no-bats src/stats/pass.cpp:3
  [[ $output == *"equivalent src/stats/pass.cpp:3"*"because no score is ever the least"* ]]
  [[ $output == *"| all | 2 | 1 | 1 | 0 | 1 | 100 % |"* ]]
  echo 'perhaps' > tools/mutants-equivalent.txt
  run -2 --separate-stderr mutants src/stats/pass.cpp:3
  [[ $stderr == *"mutants-equivalent.txt:1: expected"* ]]
}
@test "a bats test that notices is named, and one that fails anyway does not count" {
  # shellcheck disable=SC2016 # the test's own
  sed -i 's/{ :; }/{ [ "$(grep -c ">= least" src\/stats\/pass.cpp)" = 1 ]; }/' tests/cli/output.bats
  run --separate-stderr mutants src/stats/pass.cpp:3
  echo "$output" "$stderr"
  [ "$status" -eq 0 ]
  [[ $output == *"cli/output.bats: nothing"* ]]
  sed -i 's/{ .* }/{ false; }/' tests/cli/output.bats
  run --separate-stderr mutants src/stats/pass.cpp:3
  [ "$status" -eq 0 ]  # killed once, killed for good
  rm build-mutants/results.tsv
  run -1 --separate-stderr mutants src/stats/pass.cpp:3
  [[ $stderr == *"fails without any change too"* ]]
}
@test "a run that is ended records nothing of what was under way" {
  # With && for || the test never ends; it leaves a file where it runs.
  sed -i 's/if (Pass.*return 0;/while (!PassOfMoreThanTheLeast()) std::fclose(std::fopen("hangs", "w"));\n  return 0;/' \
    tests/unit/stats/pass_test.cpp
  python3 "$ROOT/tools/mutants" src/stats/pass.cpp:3 > out 2>&1 3>&- &
  local waited status=0
  for ((waited = 0; waited < 600; waited++)); do
    ! ls build-mutants/tree-*/hangs > /dev/null 2>&1 || break
    sleep 0.1
  done
  ls build-mutants/tree-*/hangs
  kill -TERM $!
  wait $! || status=$?
  [ "$status" -eq 130 ]
  run ! grep killed build-mutants/results.tsv
  rm build-mutants/tree-*/hangs
  sleep 0.2
  run ! ls build-mutants/tree-*/hangs  # what hung has ended, too
}
@test "only the lines that a change touches are tried" {
  git add -A
  git -c user.name=test -c user.email=test commit -q -m one
  run -0 --separate-stderr mutants --list --changed HEAD
  [ -z "$output" ]
  sed -i '3s/least/3/' src/stats/pass.cpp
  run --separate-stderr mutants --list --changed HEAD
  [[ $output == *"+ return score >= 4 || excused;"* ]]
  run -2 --separate-stderr mutants --list --changed nothing
  [[ $stderr == *"CHANGED=nothing"* ]]
  run -2 --separate-stderr mutants src/stats/absent.cpp:3
  [[ $stderr == *"absent.cpp:3"* ]]
}
