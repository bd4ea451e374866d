// SPDX-License-Identifier: BSD-3-Clause
// Seconds that predictions of eleven sizes take, and what share that is of what they may take: 72
// GPUs of one NVLink domain in one second, 1,024 nodes of eight GPUs in ten.
#include <chrono>
#include <cstdio>
#include <exception>

#include <fmt/format.h>

#include "base/units.hpp"
#include "model/collective.hpp"
#include "topo/predict/predictor.hpp"

namespace busbar::topo {
namespace {

struct Case {
  std::string_view words;
  const char* system;
  int hosts;
  int ranks;
  double limit_s;
};

double seconds_of(const Case& one) {
  const auto start = Clock::now();
  EqualHosts machine = load_machine(one.system);
  machine.hosts = one.hosts;
  const Predictor predictor(machine, {.ranks = one.ranks});
  double total = 0;
  for (const char* name : {"allreduce", "alltoall"}) {
    const Collective& collective = *find_collective(name);
    for (Bytes size = kMiB; size <= kGiB; size *= 2) {
      total += predictor.predict(collective, static_cast<double>(size)).value().time_us;
    }
  }
  const Seconds taken = Clock::now() - start;
  return total > 0 ? taken.count() : one.limit_s;
}

int run() {
  bool slow = false;
  for (const Case& one : {Case{"72 GPUs of one NVLink domain", "gb200-nvl72", 18, 72, 1},
                          Case{"1,024 nodes of a cube mesh", "p3dn-x2", 1024, 8192, 10},
                          Case{"1,024 nodes of a DGX H100", "dgx-h100", 1024, 8192, 10}}) {
    const double seconds = seconds_of(one);
    slow = slow || seconds > one.limit_s;
    fmt::print("simulation: {}: {:.4f} s, {:.4f} of {:g} s\n", one.words, seconds,
               seconds / one.limit_s, one.limit_s);
  }
  return slow ? 1 : 0;
}

}  // namespace
}  // namespace busbar::topo

int main() {
  try {
    return busbar::topo::run();
  } catch (const std::exception& error) {
    std::fputs(error.what(), stderr);
    return 4;
  }
}
