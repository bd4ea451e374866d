// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/known_collective.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace busbar::study {
namespace {

double kept_part(int ranks) { return (ranks - 1.0) / ranks; }
double twice_kept_part(int ranks) { return 2 * kept_part(ranks); }
double one(int ranks) { return ranks > 1 ? 1 : 0; }

constexpr bool kReduces = true;
constexpr bool kRooted = true;
constexpr bool kParts = true;
constexpr bool kChecked = true;  // in place

constexpr std::array<KnownCollective, 10> kKnown{{
    {"allreduce", kReduces, !kRooted, !kParts, kChecked, false, twice_kept_part},
    {"allgather", !kReduces, !kRooted, kParts, kChecked, true, kept_part},
    {"reducescatter", kReduces, !kRooted, kParts, kChecked, false, kept_part},
    {"broadcast", !kReduces, kRooted, !kParts, kChecked, false, one},
    {"reduce", kReduces, kRooted, !kParts, kChecked, false, one},
    {"alltoall", !kReduces, !kRooted, kParts, !kChecked, true, kept_part},
    {"alltoallv", !kReduces, !kRooted, !kParts, !kChecked, true, kept_part},
    {"gather", !kReduces, kRooted, kParts, kChecked, true, kept_part},
    {"scatter", !kReduces, kRooted, kParts, kChecked, true, kept_part},
    {"sendrecv", !kReduces, !kRooted, !kParts, !kChecked, false, one},
}};

/// Letters in lower case; what is no letter only separates.
std::string plain(std::string_view word) {
  std::string letters;
  for (const char character : word) {
    const auto code = static_cast<unsigned char>(character);
    if (std::isalpha(code) != 0) letters += static_cast<char>(std::tolower(code));
  }
  return letters;
}

}  // namespace

const KnownCollective* find_collective(std::string_view word) {
  const std::size_t slash = word.rfind('/');
  if (slash != std::string_view::npos) word.remove_prefix(slash + 1);
  if (word.starts_with("osu_")) word.remove_prefix(4);
  const std::size_t perf = word.find("_perf");
  if (perf != std::string_view::npos) word = word.substr(0, perf);
  std::string name = plain(word);
  if (name == "bcast") name = "broadcast";
  if (name == "alltoallpersonalizedexchange") name = "alltoall";
  const auto* found = std::find_if(kKnown.begin(), kKnown.end(), [&](const KnownCollective& known) {
    return known.name == name;
  });
  return found == kKnown.end() ? nullptr : found;
}

std::span<const KnownCollective> known_collectives() { return kKnown; }

std::vector<std::string> collective_names() {
  std::vector<std::string> names;
  for (const KnownCollective& known : kKnown) names.emplace_back(known.name);
  return names;
}

}  // namespace busbar::study
