// SPDX-License-Identifier: BSD-3-Clause
#include "harness/transports.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar {
namespace {

std::string joined(const std::set<std::string>& words, std::string_view separator) {
  return join(std::vector<std::string>(words.begin(), words.end()), separator);
}

std::string yes_or_no(const TransportSummary& transports, bool value) {
  if (!transports.known) return "unknown";
  return value ? "yes" : "no";
}

}  // namespace

std::optional<TransportSummary> gather_transports(Bootstrap& everyone,
                                                  const Communicator& communicator) {
  const auto mine = communicator.transports();
  if (!everyone.agree(mine.has_value())) return std::nullopt;
  TransportSummary all{.known = true, .switchable = true, .nvls = true};
  for (const LibraryTransports& one : everyone.gather(*mine)) {
    all.known = all.known && one.known;
    all.switchable = all.switchable && one.switchable;
    all.nvls = all.nvls && one.nvls;
    all.gpudirect = all.gpudirect || one.gpudirect;
    for (const std::string& link : split(one.links.data(), ',')) {
      if (!trim(link).empty()) all.links.emplace(trim(link));
    }
    if (one.channels.front() != '\0') all.channels.emplace(one.channels.data());
  }
  return all;
}

void add_facts(const TransportSummary& transports,
               std::vector<std::pair<std::string, std::string>>& facts) {
  facts.emplace_back("nccl-nvls", yes_or_no(transports, transports.nvls));
  facts.emplace_back("nccl-gpudirect-rdma", yes_or_no(transports, transports.gpudirect));
  facts.emplace_back("nccl-links", joined(transports.links, ", "));
  facts.emplace_back("nccl-channels", joined(transports.channels, "; "));
}

std::string note_of(const TransportSummary& transports) {
  std::string note = "NCCL's log does not report its connections";
  if (transports.known) {
    note = fmt::format("NCCL's log: NVLS {}, GPUDirect RDMA {}, links: {}",
                       yes_or_no(transports, transports.nvls),
                       yes_or_no(transports, transports.gpudirect),
                       transports.links.empty() ? "none" : joined(transports.links, ", "));
  }
  if (transports.switchable) return note;
  return note +
         "; no algorithm, protocol and channels of rows: this NCCL cannot switch its log while it "
         "runs (2.24 and later can)";
}

}  // namespace busbar
