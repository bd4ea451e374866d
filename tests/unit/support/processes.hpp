// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <fstream>
#include <string>
#include <sys/types.h>
#include <thread>

namespace busbar::test {

/// Whether this process runs. Init reaps an orphan in its own time; until then it is a zombie.
[[nodiscard]] inline bool is_running(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string stat;
  std::getline(file, stat);
  const std::size_t name_end = stat.rfind(") ");
  return name_end != std::string::npos && stat.compare(name_end + 2, 1, "Z") != 0;
}

/// Whether this process ends: a signal takes effect some time after it was sent.
[[nodiscard]] inline bool ends(pid_t process) {
  using std::chrono::steady_clock;
  constexpr std::chrono::seconds kPatience{30};
  const auto begin = steady_clock::now();
  while (is_running(process)) {
    if (steady_clock::now() - begin > kPatience) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace busbar::test
