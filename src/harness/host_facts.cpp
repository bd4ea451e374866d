// SPDX-License-Identifier: BSD-3-Clause
#include "harness/host_facts.hpp"

#include "base/host.hpp"

namespace busbar {
namespace {

/// A host of its own has its own name or its own kernel.
struct HostId {
  BootId kernel = boot_id();
  std::array<char, 128> name{};
  [[nodiscard]] bool operator==(const HostId&) const = default;
};

/// Whether this is the first rank of its host.
bool is_first_here(Bootstrap& world) {
  HostId mine;
  copy_text(host_name(), mine.name);
  const std::vector<HostId> all = world.gather(mine);
  return std::ranges::find(all, mine) - all.begin() == world.rank();
}

std::string lines_text(const std::vector<machine::FactLine>& lines) {
  std::string text = csv_text(machine::fact_columns(), lines);
  return text.erase(0, text.find('\n') + 1);
}

machine::FactSources sources_of(const Options& options) {
  return {.root = {}, .nvidia_smi = options.nvidia_smi};
}

}  // namespace

HostFacts::HostFacts(Bootstrap& world, const Options& options)
    : world_(world), wanted_(!options.facts_path.empty()), sources_(sources_of(options)) {
  if (!wanted_) return;
  const bool first = is_first_here(world);
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
