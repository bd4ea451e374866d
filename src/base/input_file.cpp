// SPDX-License-Identifier: BSD-3-Clause
#include "base/input_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <glob.h>
#include <sys/stat.h>

namespace busbar {

std::ifstream open_input(const std::string& path) {
  constexpr std::array<std::string_view, 4> kOpen{"/dev/stdin", "/dev/fd/", "/proc/self/fd/",
                                                  "/dev/null"};
  struct stat status {};
  std::ifstream file;
  file.setstate(std::ios::failbit);
  if (stat(path.c_str(), &status) != 0) return file;
  const bool is_folder = S_ISDIR(status.st_mode);
  const bool is_open = std::ranges::any_of(
      kOpen, [&](std::string_view beginning) { return path.starts_with(beginning); });
  if (is_folder || (!is_open && !S_ISREG(status.st_mode))) {
    errno = is_folder ? EISDIR : EINVAL;
    return file;
  }
  file.clear();
  file.open(path, std::ios::binary);
  return file;
}

std::vector<std::string> paths_below(const std::string& root, std::string_view pattern) {
  std::string whole;
  for (const char letter : root) {
    if (std::string_view("*?[]{},\\").find(letter) != std::string_view::npos) whole += '\\';
    whole += letter;
  }
  whole.append("/").append(pattern);
  std::vector<std::string> paths;
  glob_t found{};
  if (glob(whole.c_str(), GLOB_BRACE, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  return paths;
}

}  // namespace busbar
