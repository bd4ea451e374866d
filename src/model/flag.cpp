// SPDX-License-Identifier: BSD-3-Clause
#include "model/flag.hpp"

namespace busbar {

void add_flag(Record& record, Flag flag) {
  if (!record.flags.empty()) record.flags += ' ';
  record.flags += name(flag);
}

bool has_flag(const Record& record, Flag flag) {
  const std::string_view wanted = name(flag);
  std::string_view flags = record.flags;
  while (!flags.empty()) {
    const std::size_t end = std::min(flags.find(' '), flags.size());
    if (flags.substr(0, end) == wanted) return true;
    flags.remove_prefix(std::min(end + 1, flags.size()));
  }
  return false;
}

}  // namespace busbar
