// SPDX-License-Identifier: BSD-3-Clause
// Our median over a plain loop of gloo::allreduce on the same buffers, two ranks, within one run;
// `brief`: one round of small sizes. See `make bench`.
#include <filesystem>
#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <string_view>

#include "bench/overhead.hpp"
#include "bootstrap/rendezvous.hpp"
#include "bootstrap/starter.hpp"
#include "bootstrap/tcp_bootstrap.hpp"
#include "model/backend.hpp"

namespace busbar {
namespace {

int run(const std::string& program, bool brief) {
  const auto print = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  const auto rendezvous = find_rendezvous({}, own_environment);
  if (!rendezvous) {
    return start_ranks({.ranks = 2, .program = {program, brief ? "brief" : ""}, .notice = print});
  }
  const auto world = join_by_tcp(*rendezvous, Seconds{30}, {.notice = print, .lost = print});
  const Backend& gloo = *choose_backend("gloo").backend;
  const auto communicator = gloo.connect(*world, {});
  // Over the same connections: two sets of them differ by more than any overhead.
  report_overhead(*world, *communicator, gloo.library(), {.brief = brief},
                  [&](const Call& call) { communicator->enqueue(call); });
  world->barrier();
  return 0;
}

}  // namespace
}  // namespace busbar

int main(int argc, char** argv) {
  return busbar::run(std::filesystem::read_symlink("/proc/self/exe").string(),
                     argc > 1 && std::string_view(argv[1]) == "brief");
}
