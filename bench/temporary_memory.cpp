// SPDX-License-Identifier: BSD-3-Clause
// What a library takes for itself beside the user's buffers, against what the memory plan counts
// on:
//   mpirun -np 4 temporary_memory [BACKEND [SIZE]]   mpi and 64M by default; a row per collective
// Growth of the resident set during one operation, the most of any rank over both placements, both
// ways of waiting, and the first two ranks as roots.
#include <algorithm>
#include <fstream>
#include <malloc.h>
#include <span>
#include <string>

#include <fmt/format.h>

#include "bootstrap/mpi/mpi_bootstrap.hpp"
#include "harness/rank_map.hpp"
#include "harness/row_buffers.hpp"
#include "model/backend.hpp"

namespace busbar {
namespace {

/// A field of /proc/self/status, such as "VmHWM:".
Bytes status_field(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != name) continue;
    Bytes kibibytes = 0;
    status >> kibibytes;
    return kibibytes * kKiB;
  }
  return 0;
}

void reset_peak() { std::ofstream("/proc/self/clear_refs") << '5'; }

Bytes growth_of(Bootstrap& bootstrap, Communicator& communicator, const Call& call) {
  malloc_trim(0);
  bootstrap.barrier();
  reset_peak();
  const Bytes before = status_field("VmRSS:");
  communicator.enqueue(call);
  communicator.wait();
  const Bytes peak = status_field("VmHWM:");
  bootstrap.barrier();
  return peak > before ? peak - before : 0;
}

struct Most {
  double measured = 0;  ///< bytes, of any rank
  double planned = 0;
};

Call call_of(const Collective& collective, const Bootstrap& bootstrap, int root) {
  Call call{.collective = &collective,
            .type = DataType::Float,
            .op = collective.reduces ? ReduceOp::Sum : ReduceOp::None,
            .root = collective.rooted ? root : 0};
  if (collective.peers != nullptr) {
    call.peers = collective.peers({.rank = bootstrap.rank(), .ranks = bootstrap.size()});
  }
  return call;
}

/// Both roots that the bench looks at, out of place and in place, as far as there are such calls.
void measure(Bootstrap& bootstrap, Communicator& communicator, const RowBuffers& buffers,
             const Collective& collective, Most& most) {
  for (const int root : {0, std::min(1, bootstrap.size() - 1)}) {
    for (const bool in_place : {false, true}) {
      Call like = call_of(collective, bootstrap, root);
      like.in_place = in_place;
      if (communicator.unsupported(like)) continue;
      const Call call = buffers.calls(like, in_place).front();
      const Bytes growth = growth_of(bootstrap, communicator, call);
      most.measured = std::max(most.measured, static_cast<double>(growth));
      most.planned = static_cast<double>(communicator.temporary_bytes(call));
    }
  }
}

void measure(Bootstrap& bootstrap, const Backend& backend, const Collective& collective, Bytes size,
             Most& most) {
  const Distribution distribution;  // of unequal parts
  const SizePlan plan{.wanted = size,
                      .footprint = collective.footprint({.wanted = size,
                                                         .element = sizeof(float),
                                                         .ranks = bootstrap.size(),
                                                         .distribution = &distribution})};
  for (const Progress progress : {Progress::Block, Progress::Yield}) {
    const auto communicator = backend.connect(bootstrap, {.progress = progress});
    const RowBuffers buffers(*communicator, plan, 0);
    measure(bootstrap, *communicator, buffers, collective, most);
  }
}

int run(const std::string& name, Bytes size) {
  const auto bootstrap = start_mpi();
  const BackendChoice backend = choose_backend(name);
  const RankMap rank_map = map_ranks(*bootstrap, Bind::Auto);
  bootstrap->set_progress(rank_map.oversubscribed ? Progress::Yield : Progress::Block);
  for (const Collective* collective : measured_collectives()) {
    Most most;
    measure(*bootstrap, *backend.backend, *collective, size, most);
    bootstrap->combine({&most.measured, 1}, Combine::Max);
    if (bootstrap->rank() != 0) continue;
    const auto whole = static_cast<double>(size);
    fmt::print("memory     np={} {} {:>7} {:<13} measured {:.3f} of the size, planned {:.3f}{}\n",
               bootstrap->size(), backend.backend->library(), format_bytes(size), collective->name,
               most.measured / whole, most.planned / whole,
               most.measured > most.planned + 2.0 * kMiB ? ": more than planned" : "");
    (void)std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace busbar

int main(int argc, char** argv) {
  const std::span<char*> words(argv, static_cast<std::size_t>(argc));
  return busbar::run(words.size() > 1 ? words[1] : "mpi",
                     words.size() > 2 ? busbar::parse_bytes("SIZE", words[2]) : 64 * busbar::kMiB);
}
