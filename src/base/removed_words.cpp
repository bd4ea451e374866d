// SPDX-License-Identifier: BSD-3-Clause
#include "base/removed_words.hpp"

#include <array>

#include <fmt/format.h>

namespace busbar {
namespace {

struct RemovedWord {
  std::string_view where;
  std::string_view word;
  std::string_view instead;
};

/// Commands, options and keys of 0.2.0 that are gone, each with what does its work now.
constexpr auto kRemovedWords = std::to_array<RemovedWord>({
    {"busbar", "published", "results/reference has the published figures as tables"},
});

}  // namespace

std::string removed_word(std::string_view where, std::string_view word) {
  for (const RemovedWord& removed : kRemovedWords) {
    if (removed.where != where || removed.word != word) continue;
    return fmt::format("{} {} was removed: {}", where, word, removed.instead);
  }
  return {};
}

}  // namespace busbar
