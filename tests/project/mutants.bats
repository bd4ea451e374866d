#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# tools/mutants in a small project: one function, whose tests notice some slips and not others.
bats_require_minimum_version 1.5.0

setup() {
  ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  mkdir "$BATS_TEST_TMPDIR/project"
  cd "$BATS_TEST_TMPDIR/project" || return 1
  unset MAKEFLAGS MAKELEVEL MFLAGS MUTANT MUTANTS_REACHED
  mkdir -p src/stats src/model tests/unit/stats tests/programs tools build
  cat > src/stats/pass.cpp << 'END'
// Not a < b, nor "a < b".
constexpr bool passes_at(int score, int least, bool excused) {
  return score >= least || excused;
}
static_assert(passes_at(2, 2, false));
bool passes(int score, int least, bool excused) { return passes_at(score, least, excused); }
END
  # A program with the options and the output of GoogleTest that matter.
  cat > tests/unit/stats/pass_test.cpp << 'END'
#include <cstdio>
#include <cstring>
bool passes(int score, int least, bool excused);
#define TEST(suite, name) bool suite##name()
TEST(Pass, OfMoreThanTheLeast) { return passes(3, 2, false) && !passes(1, 2, false); }
static int failures = 0;
static void run(const char* name, bool (*test)(), const char* filter) {
  if (filter != nullptr && std::strstr(filter, name) == nullptr) return;
  std::printf("[ RUN      ] %s\n", name);
  std::fflush(stdout);
  const bool passed = test();
  std::printf("[  %s ] %s (0 ms)\n", passed ? "     OK" : "FAILED ", name);
  failures += !passed;
}
int main(int argc, char** argv) {
  const char* filter = argc > 1 ? argv[argc - 1] : nullptr;
  run("Pass.OfMoreThanTheLeast", PassOfMoreThanTheLeast, filter);
  return failures;
}
END
  cat > Makefile << 'END'
BUILD := build
FOLDERS := stats
$(BUILD)/bin/%: tests/%.cpp $(FOLDERS:%=$(BUILD)/joined/src/%.o)
	mkdir -p $(@D) && $(CXX) -std=c++20 -o $@ $^
tests/unit_tests.cpp: tests/unit/stats/pass_test.cpp ; cp $< $@
$(BUILD)/joined/%.o:
	mkdir -p $(@D) && echo '#include "$(wildcard $*/*.cpp)"' > $(@:.o=.cpp)
	$(CXX) -std=c++20 -Wall -Wextra -Werror -I. -c -o $@ $(@:.o=.cpp)
programs: $(BUILD)/bin/passes
fake-gpu: ;
END
  printf '%s\n' 'bool passes(int score, int least, bool excused);' \
    'int main(int count, char**) { return passes(count, 2, false) ? 0 : 1; }' > tests/passes.cpp
  printf '/%s\n' build/ 'build-*/' tests/unit_tests.cpp > .gitignore
  git init -q
}
mutants() { python3 -B "$ROOT/tools/mutants" "$@"; }

@test "a mutant is a change of code, not of a comment, a text or a message; calls and guards are dropped whole" {
  run -0 --separate-stderr mutants --list src/stats/pass.cpp
  [[ $output == *"+ return score > least || excused;"* ]]
  [[ $output == *"+ return score >= least && excused;"* ]]
  [[ $output == *"+ return score >= least;"* ]]
  [[ $output == *"+ return excused;"* ]]
  [ "$(grep -c '^src/stats/pass.cpp:3 ' <<< "$output")" -eq 4 ]
  run ! grep -E '^src/stats/pass.cpp:[15] ' <<< "$output"
  printf '%s\n' 'void run(int* x) {' '  if (x == nullptr) {' '    throw 1;' '  }' '  fmt::print("{}", x);' '  clear(' '      x, 1);' \
    '  if (*x) fill(x);' '}' > src/model/calls.cpp
  run -0 --separate-stderr mutants --list src/model/calls.cpp
  [ "$(grep -A 1 'dropped call\|dropped guard' <<< "$output" | grep '^    -' | sort)" = "    - clear( x, 1);
    - if (*x) fill(x);
    - if (x == nullptr) { throw 1; }" ]
}
@test "what no test notices survives, and what one notices is killed by its name" {
  run -1 --separate-stderr mutants src/stats/pass.cpp:3
  [ "$(grep -c 'killed  .*unit: Pass.OfMoreThanTheLeast' <<< "$output")" -eq 2 ]  # excused alone, and && for ||
  [ "$(grep -c SURVIVED <<< "$output")" -eq 2 ]
  [[ $output == *"+ return score > least || excused;"* ]]
  [[ $output == *"| src/stats | 4 | 2 | 2 | 2 | 0 | 50 % |"* ]]
  # What was tried is not tried again, until a test has changed.
  run -1 --separate-stderr mutants src/stats/pass.cpp:3
  [ "$(wc -l < build-mutants/results.tsv)" -eq 4 ]
  sed -i 's/passes(3, 2, false)/passes(2, 2, false) \&\& passes(1, 2, true)/' tests/unit/stats/pass_test.cpp
  run -0 --separate-stderr mutants src/stats/pass.cpp:3
  [ "$(wc -l < build-mutants/results.tsv)" -eq 6 ]
}
@test "an equivalent mutant is listed with its reason and does not count" {
  printf '%s\n' 'file src/stats/pass.cpp' '- return score >= least || excused;' '+ return score > least || excused;' \
    'because no score is ever the least' '+ return score >= least;' 'because none is excused' > tools/mutants-equivalent.txt
  run -0 --separate-stderr mutants src/stats/pass.cpp:3
  [[ $output == *"equivalent src/stats/pass.cpp:3"*"because no score is ever the least"* ]]
  [[ $output == *"| all | 4 | 2 | 2 | 0 | 2 | 100 % |"* ]]
}
@test "a bats test that notices is named, and one that fails anyway does not count" {
  # shellcheck disable=SC2016 # the test's own
  printf '@test "%s" { %s; }\n' 'two (of two) pass' '"$PROGRAMS/passes" 2' nothing '"$PROGRAMS/passes"; false' > tests/programs/output.bats
  run -1 --separate-stderr mutants --bats src/stats/pass.cpp:3
  echo "$output" "$stderr"
  [[ $output == *"programs/output.bats: two (of two) pass"* ]]
  [ "$(grep -c SURVIVED <<< "$output")" -eq 1 ]
  [[ $stderr == *"fails without any change"*"nothing"* ]]
}
@test "a matrix has each test that notices a mutant, and names those that none needs" {
  run -1 --separate-stderr mutants --matrix src/stats/pass.cpp:3
  grep -q $'Pass.OfMoreThanTheLeast$' build-mutants/matrix.tsv
  [[ $output == *"unit: 1 tests"* && $output == *SURVIVED* ]]
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
