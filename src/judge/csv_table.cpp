// SPDX-License-Identifier: BSD-3-Clause
#include "judge/csv_table.hpp"

#include "report/csv_reader.hpp"

namespace busbar::judge {

CsvTable read_csv_table(const std::string& path) {
  CsvReader reader(path);
  CsvTable table{.facts = facts_of(reader.head()),
                 .columns_place = reader.columns().empty() ? "" : reader.place(),
                 .columns = reader.columns()};
  while (reader.next()) table.rows.push_back({.place = reader.place(), .cells = reader.cells()});
  table.cut = reader.cut_place();
  return table;
}

}  // namespace busbar::judge
