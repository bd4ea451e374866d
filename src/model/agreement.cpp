// SPDX-License-Identifier: BSD-3-Clause
#include "model/agreement.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace busbar {
namespace {

/// The text of the first rank whose value is not `none`, and that rank; its value becomes `mine`.
template <class Value>
std::optional<int> first_other(Bootstrap& world, Value& mine, Value none, std::string& text) {
  const std::vector<Value> all = world.gather(mine);
  const auto first = std::ranges::find_if(all, [&](Value each) { return each != none; });
  if (first == all.end()) return std::nullopt;
  const auto rank = static_cast<int>(first - all.begin());
  mine = *first;
  world.broadcast_text(text, rank);
  return rank;
}

}  // namespace

void agree_on_error(Bootstrap& world, const std::optional<Error>& mine) {
  Status status = mine ? mine->status() : Status::Ok;
  std::string text = mine ? mine->what() : "";
  const auto rank = first_other(world, status, Status::Ok, text);
  if (rank) throw AgreedError{status, *rank == 0 ? text : fmt::format("rank {}: {}", *rank, text)};
}

std::string first_text(Bootstrap& world, const std::string& mine) {
  char has_one = mine.empty() ? '\0' : '\1';
  std::string text = mine;
  return first_other(world, has_one, '\0', text) ? text : std::string();
}

}  // namespace busbar
