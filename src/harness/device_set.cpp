// SPDX-License-Identifier: BSD-3-Clause
#include "harness/device_set.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "topo/locality.hpp"

namespace busbar {
namespace {

using Places = std::vector<const RankPlace*>;

std::string numbered(std::string_view what, const std::set<int>& numbers) {
  return fmt::format("{} {}", what, format_ranges({numbers.begin(), numbers.end()}));
}

/// The processors that the ranks of one host were allowed before anything was bound.
std::set<int> processors_of(const Places& places) {
  constexpr int kBits = 64;
  std::set<int> numbers;
  for (const RankPlace* place : places) {
    for (std::size_t word = 0; word < place->processor_mask.size(); ++word) {
      for (int bit = 0; bit < kBits; ++bit) {
        const bool allowed =
            (place->processor_mask.at(word) >> static_cast<unsigned>(bit) & 1U) != 0;
        if (allowed) numbers.insert(static_cast<int>(word) * kBits + bit);
      }
    }
  }
  return numbers;
}

std::string host_words(const Places& places) {
  std::set<int> cores;
  std::set<int> numas;
  for (const RankPlace* place : places) {
    cores.insert(place->core);
    numas.insert(place->numa);
  }
  if (*cores.begin() >= 0) return numbered("cores", cores);
  // A machine of one NUMA node holds every rank in it, bound or not.
  const bool bound = std::any_of(places.begin(), places.end(),
                                 [](const RankPlace* place) { return place->bound_by_us != 0; });
  if (*numas.begin() >= 0 && (bound || numas.size() > 1)) return numbered("numa", numas);
  return numbered("processors", processors_of(places));
}

std::string gpu_words(const std::set<int>& indices) {
  std::vector<std::string> words;
  for (const int index : indices) words.push_back(fmt::format("{}", index));
  return join(words, ",");
}

}  // namespace

std::string device_set(const Placements& placements, const std::vector<Device>& devices,
                       std::span<const int> ranks) {
  struct Host {
    std::array<char, 40> boot_id{};
    Places places{};
    std::set<int> gpus{};
  };
  std::vector<Host> hosts;  // by their first rank
  for (const int rank : ranks) {
    const auto index = static_cast<std::size_t>(rank);
    const RankPlace& place = placements.ranks.at(index);
    auto host = std::find_if(hosts.begin(), hosts.end(),
                             [&](const Host& known) { return known.boot_id == place.boot_id; });
    if (host == hosts.end()) host = hosts.insert(host, Host{.boot_id = place.boot_id});
    host->places.push_back(&place);
    if (!devices.empty()) host->gpus.insert(devices.at(index).index);
  }
  std::vector<std::string> words;
  for (const Host& host : hosts) {
    words.push_back(devices.empty() ? host_words(host.places) : gpu_words(host.gpus));
  }
  const bool equal =
      std::adjacent_find(words.begin(), words.end(), std::not_equal_to<>()) == words.end();
  if (equal && !words.empty()) words.resize(1);
  return join(words, ";");
}

}  // namespace busbar
