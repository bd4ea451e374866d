// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/log_table.hpp"

#include <algorithm>

namespace busbar::study {

std::optional<int> stated_ranks(const LogTable& table) {
  if (table.ranks && *table.ranks > 0) return table.ranks;
  int last = -1;
  for (const LogDevice& device : table.devices) last = std::max(last, device.rank);
  if (last >= 0) return last + 1;
  return std::nullopt;
}

std::optional<int> listed_ranks(const LogTable& table) {
  const auto stated = stated_ranks(table);
  const bool whole =
      stated && (table.ranks || table.devices.size() >= static_cast<std::size_t>(*stated));
  return whole ? stated : std::nullopt;
}

}  // namespace busbar::study
