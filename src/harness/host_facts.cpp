// SPDX-License-Identifier: BSD-3-Clause
#include "harness/host_facts.hpp"

#include "harness/group_plan.hpp"

namespace busbar {
namespace {

std::string lines_text(const std::vector<machine::FactLine>& lines) {
  std::string text = csv_text(machine::fact_columns(), lines);
  return text.erase(0, text.find('\n') + 1);
}

}  // namespace

HostFacts::HostFacts(Bootstrap& world, const Options& options) : nvidia_smi_(options.nvidia_smi) {
  if (options.facts_path.empty()) return;
  const auto leads = [&](const HostRanks& host) { return host.ranks.front() == world.rank(); };
  const bool first = std::ranges::any_of(gather_hosts(world), leads);
  auto part = world.split(first ? 0 : 1);
  if (first) readers_ = std::move(part);
}

std::string HostFacts::read() {
  if (!readers_) return {};
  machine::HostReading reading = machine::read_host("", nvidia_smi_);
  const auto lines = machine::lines_of(reading, before_ ? &*before_ : nullptr);
  if (!before_) before_ = std::move(reading);
  return join(readers_->gather_texts(lines_text(lines)), "");
}

std::string own_facts(const Options& options) {
  return lines_text(machine::lines_of(machine::read_host("", options.nvidia_smi)));
}

}  // namespace busbar
