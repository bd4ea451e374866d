// SPDX-License-Identifier: BSD-3-Clause
// Included first where tools/mutants compiles: which mutant is on, and which of them are reached.
#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/resource.h>
#include <type_traits>
#include <unistd.h>

namespace mutants {

constexpr int kMost = 1000;  ///< in one build

// GoogleTest's, where a program has it: the test that runs.
extern "C" const void* unit_test() __asm__("_ZN7testing8UnitTest11GetInstanceEv")
    __attribute__((weak));
extern "C" const void* current_test(const void*) __asm__(
    "_ZNK7testing8UnitTest17current_test_infoEv") __attribute__((weak));
extern "C" const void* current_suite(const void*) __asm__(
    "_ZNK7testing8UnitTest18current_test_suiteEv") __attribute__((weak));

/// Appends a number to the file of those that were reached, once for each test, even of a process
/// that is killed later.
inline void record(int mutant, const char* file) {
  static std::array<const void*, kMost> seen{};
  const void* test = &seen;
  if (unit_test != nullptr) {
    test = current_test(unit_test());
    if (test == nullptr) test = current_suite(unit_test());
  }
  const void*& last = seen.at(static_cast<unsigned>(mutant));
  if (last == test && test != nullptr) return;
  last = test;
  const char* const bats = std::getenv("BATS_SUITE_TEST_NUMBER");
  std::array<char, 64> line{};
  const int length = std::snprintf(line.data(), line.size(), "\nreached %d %s\n", mutant,
                                   bats == nullptr ? "" : bats);
  const int log = open(file, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (log < 0) return;
  rlimit of_test{};  // which may make files as short as on a full disk
  getrlimit(RLIMIT_FSIZE, &of_test);
  const rlimit none{.rlim_cur = of_test.rlim_max, .rlim_max = of_test.rlim_max};
  setrlimit(RLIMIT_FSIZE, &none);
  if (write(log, line.data(), static_cast<unsigned>(length)) < 0) std::abort();
  setrlimit(RLIMIT_FSIZE, &of_test);
  close(log);
}

inline bool reached(int mutant) {
  static const char* const on = std::getenv("MUTANT");
  static const int number = on == nullptr ? -1 : std::atoi(on);
  static const char* const file = std::getenv("MUTANTS_REACHED");
  if (file != nullptr) record(mutant, file);
  return mutant == number;
}

/// Also in what the compiler computes, where no mutant is on.
constexpr bool on(int mutant) { return !std::is_constant_evaluated() && reached(mutant); }

}  // namespace mutants
