// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

namespace busbar::test {

/// The object with these members changed: with(row, &Record::root, 2, &Record::op, "max").
template <class Object>
[[nodiscard]] Object with(Object object) {
  return object;
}
template <class Object, class Member, class Value, class... More>
[[nodiscard]] Object with(Object object, Member Object::*member, Value value, More... more) {
  object.*member = std::move(value);
  return with(std::move(object), std::move(more)...);
}

}  // namespace busbar::test
