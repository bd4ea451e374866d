// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "study/import/log_reader.hpp"
#include "tests/unit/support/failure.hpp"

namespace busbar::study {

inline ImportedRows import(const std::string& text, const LogReading& reading = {}) {
  const std::vector<LogFile> logs{read_log(text, "x.log", reading)};
  return records_of(logs, reading);
}
inline std::string refusal(const std::string& text, const LogReading& reading = {}) {
  return test::refusal_of([&] { (void)import(text, reading); });
}
inline std::string replaced(std::string text, const std::string& old, const std::string& by) {
  return text.replace(text.find(old), old.size(), by);
}

}  // namespace busbar::study
