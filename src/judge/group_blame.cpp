// SPDX-License-Identifier: BSD-3-Clause
#include "judge/group_blame.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

#include "judge/suspects.hpp"

namespace busbar::judge {
namespace {

using Names = std::vector<std::string>;

bool is_good(const JudgedRow& row) {
  const Word word = row.verdict.word;
  return word == Word::Pass || word == Word::Warn || word == Word::Known;
}

Names not_good(const JudgedRow& row, const std::set<std::string>& good) {
  Names names;
  for (const std::string& node : row.verdict.nodes) {
    if (!good.contains(node)) names.push_back(node);
  }
  return names;
}

bool has_any(const Names& names, const std::set<std::string>& bad) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& node) { return bad.contains(node); });
}

Suspect suspect(const Names& names, const JudgedRow& row) {
  const std::string kind = names.size() == 1 ? "the one of its group that is not known to be good"
                                             : "a low group that could not be divided";
  return {.nodes = names,
          .rule = row.verdict.rule,
          .evidence = fmt::format("{}: {}: {}", row.verdict.instance, kind, row.verdict.reason)};
}

std::set<std::string> good_nodes(const std::vector<const JudgedRow*>& rows) {
  std::set<std::string> good;
  for (const JudgedRow* row : rows) {
    if (is_good(*row)) good.insert(row->verdict.nodes.begin(), row->verdict.nodes.end());
  }
  return good;
}

}  // namespace

std::vector<Suspect> group_suspects(const std::vector<const JudgedRow*>& rows) {
  const std::set<std::string> good = good_nodes(rows);
  std::vector<Suspect> suspects;
  std::set<std::string> bad;
  for (const JudgedRow* row : rows) {
    const Names names = not_good(*row, good);
    if (!is_low(*row) || names.size() != 1 || bad.contains(names.front())) continue;
    bad.insert(names.front());
    suspects.push_back(suspect(names, *row));
  }
  std::vector<const JudgedRow*> open;
  for (const JudgedRow* row : rows) {
    if (is_low(*row) && !has_any(row->verdict.nodes, bad)) open.push_back(row);
  }
  // The smallest first: a group that has one of them in it is explained by it.
  std::stable_sort(open.begin(), open.end(), [](const JudgedRow* left, const JudgedRow* right) {
    return left->verdict.nodes.size() < right->verdict.nodes.size();
  });
  for (const JudgedRow* row : open) {
    Names names = not_good(*row, good);
    if (names.empty()) names = row->verdict.nodes;  // all are good elsewhere: their links, or noise
    if (has_any(names, bad)) continue;
    bad.insert(names.begin(), names.end());
    suspects.push_back(suspect(names, *row));
  }
  return suspects;
}

}  // namespace busbar::judge
