// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "base/error.hpp"

namespace busbar {

/// Where launches are kept: -o, else a folder that goes away.
class LaunchFolder {
 public:
  explicit LaunchFolder(std::string named) : path_(std::move(named)), is_named_(!path_.empty()) {
    if (is_named_) return;
    std::error_code error;
    path_ = (std::filesystem::temp_directory_path(error) / "busbar-launches-XXXXXX").string();
    if (error || mkdtemp(path_.data()) == nullptr) {
      throw Error(Status::Runtime,
                  "cannot make a temporary folder; let TMPDIR name one, or name one with -o");
    }
  }
  LaunchFolder(const LaunchFolder&) = delete;
  LaunchFolder& operator=(const LaunchFolder&) = delete;
  ~LaunchFolder() {
    std::error_code ignored;
    if (!is_named_) std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool is_named_;
};

}  // namespace busbar
