// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <numeric>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

namespace busbar {

/// What `get`, a function or a member, has for each of the items; as `Element` where one is given.
template <class Element = void, class Items, class Get>
[[nodiscard]] auto mapped(const Items& items, Get get) {
  using Got = std::invoke_result_t<Get&, decltype(*std::begin(items))>;
  using Listed = std::conditional_t<std::is_void_v<Element>, std::remove_cvref_t<Got>, Element>;
  std::vector<Listed> list;
  for (const auto& item : items) list.emplace_back(std::invoke(get, item));
  return list;
}

/// The items for which `keep`, a function or a member, holds.
template <class Items, class Keep>
[[nodiscard]] auto filtered(const Items& items, Keep keep) {
  std::vector<std::decay_t<decltype(*std::begin(items))>> list;
  std::ranges::copy_if(items, std::back_inserter(list), keep);
  return list;
}

/// The numbers from 0 to below `count`.
template <class Number = int>
[[nodiscard]] std::vector<Number> first_numbers(std::size_t count) {
  std::vector<Number> numbers(count);
  std::iota(numbers.begin(), numbers.end(), Number{0});
  return numbers;
}

/// What `get`, a function or a member, has for the items, each once.
template <class Items, class Get>
[[nodiscard]] auto set_of(const Items& items, Get get) {
  const auto all = mapped(items, get);
  return std::set(all.begin(), all.end());
}

/// How many of the items `is`, a function or a member, holds for.
template <class Items, class Is>
[[nodiscard]] std::size_t count_of(const Items& items, Is is) {
  return static_cast<std::size_t>(std::ranges::count_if(items, is));
}

/// The first item whose member has this value, or null.
template <class Items, class Value, class Member>
[[nodiscard]] auto* find_by(Items& items, const Value& value, Member member) {
  const auto found = std::ranges::find(items, value, member);
  return found == std::ranges::end(items) ? nullptr : &*found;
}

/// Whether the member of an item has this value.
template <class Items, class Value, class Member>
[[nodiscard]] bool any_has(const Items& items, const Value& value, Member member) {
  return find_by(items, value, member) != nullptr;
}

/// The first item for which `is` holds; else `item`, which is added.
template <class Item, class Is>
[[nodiscard]] Item& find_or_add(std::vector<Item>& items, Is is, Item item) {
  const auto found = std::ranges::find_if(items, is);
  return found == items.end() ? items.emplace_back(std::move(item)) : *found;
}

/// Adds all of `more`, which may be `{one, other}`.
template <class Item, class More = std::vector<Item>>
void append(std::vector<Item>& list, const More& more) {
  std::ranges::copy(more, std::back_inserter(list));
}

}  // namespace busbar
