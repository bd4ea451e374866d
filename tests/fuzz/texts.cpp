// SPDX-License-Identifier: BSD-3-Clause
// Readers of texts and files that need few words: each is a target of its own, by the name of the
// program, and gives a value or an Error.
#include <filesystem>

#include "format/timeline_text.hpp"
#include "harness/mix_spec.hpp"
#include "judge/fleet/fabric_file.hpp"
#include "study/plot/figures.hpp"
#include "tests/fuzz/check.hpp"

namespace {

using busbar::View;
using fuzz::MemoryFile;
using fuzz::require;

void read_fabric(View text) {
  busbar::Words notes;
  static_cast<void>(busbar::HostLevels(busbar::judge::fabric_csv(text, "fuzz", notes), "fuzz"));
}

void read_facts_file(View text) {
  const MemoryFile file(text);
  const auto windows = busbar::machine::read_facts(file.path());
  for (const auto& window : windows.all()) {
    require(!window.first.values.empty() &&
            window.last.values.size() >= window.first.values.size());
    static_cast<void>(busbar::machine::faults_of(window));
  }
  static_cast<void>(busbar::machine::read_host_faults(file.path()));
}

void read_matrix(View text) {
  const MemoryFile file(text);
  const auto skew = busbar::parse_skew("--skew", "matrix:" + file.path(), 1);
  static_cast<void>(busbar::traffic_of(skew, 0, 1, skew.matrix->ranks));
}

void read_mix(View text) {
  constexpr int kRanks = 8;
  for (const auto& group : busbar::parse_mix(text, "fuzz", kRanks)) {
    require(group.size > 0 && group.ranks().size() <= kRanks);
    for (const auto& set : group.sets) require(group.root < static_cast<int>(set.size()));
  }
}

void read_samples(View text) {
  for (const auto& set : busbar::study::read_samples(MemoryFile(text).path(), "x")) {
    require(!set.times_us.empty() || !set.times_by_rank_us.empty());
  }
}

void read_timeline(View text) {
  const auto file = busbar::read_timeline(MemoryFile(text).path());
  static_cast<void>(
      busbar::describe_events(file.timeline, busbar::stats::find_events(file.timeline)));
}

struct Target {
  View name;
  void (*read)(View text);
};
constexpr auto kTargets = std::to_array<Target>({
    {"fabric", read_fabric},
    {"facts_file", read_facts_file},
    {"matrix", read_matrix},
    {"mix", read_mix},
    {"samples", read_samples},
    {"timeline", read_timeline},
});
const Target* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** arguments) {
  const std::string name = std::filesystem::path(**arguments).filename();
  chosen = busbar::find_by(kTargets, name, &Target::name);
  require(chosen != nullptr);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    chosen->read(fuzz::text_of(data, size));
  } catch (const busbar::Error& error) {
    require(View(error.what()).find('\n') == View::npos);
  }
  return 0;
}
