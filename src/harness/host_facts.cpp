// SPDX-License-Identifier: BSD-3-Clause
#include "harness/host_facts.hpp"

#include "harness/group_plan.hpp"

namespace busbar {
namespace {

std::string lines_text(const std::vector<machine::FactLine>& lines) {
  std::string text = csv_text(machine::fact_columns(), lines);
  return text.erase(0, text.find('\n') + 1);
}

machine::FactSources sources_of(const Options& options) {
  return {.root = {}, .nvidia_smi = options.nvidia_smi};
}

}  // namespace

HostFacts::HostFacts(Bootstrap& world, const Options& options) : sources_(sources_of(options)) {
  if (options.facts_path.empty()) return;
  const auto leads = [&](const HostRanks& host) { return host.ranks.front() == world.rank(); };
  const bool first = std::ranges::any_of(gather_hosts(world), leads);
  auto part = world.split(first ? 0 : 1);
  if (first) readers_ = std::move(part);
}

std::string HostFacts::read() {
  if (!readers_) return {};
  machine::HostReading reading = machine::read_host(sources_);
  const auto lines = machine::lines_of(reading, before_ ? &*before_ : nullptr);
  if (!before_) before_ = std::move(reading);
  return join(readers_->gather_texts(lines_text(lines)), "");
}

std::string own_facts(const Options& options) {
  return lines_text(machine::lines_of(machine::read_host(sources_of(options))));
}

}  // namespace busbar
