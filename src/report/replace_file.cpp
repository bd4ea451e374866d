// SPDX-License-Identifier: BSD-3-Clause
#include "report/replace_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"

namespace busbar {
namespace {

/// A file of ours next to the wanted one; it is gone when this is, unless it was renamed.
class AsideFile {
 public:
  AsideFile(const std::string& path, std::string_view option)
      : path_(path + ".XXXXXX"), descriptor_(mkstemp(path_.data())) {
    if (descriptor_ < 0) throw refusal(path, option);
  }
  AsideFile(const AsideFile&) = delete;
  AsideFile& operator=(const AsideFile&) = delete;
  ~AsideFile() {
    if (descriptor_ >= 0) close(descriptor_);
    if (!path_.empty()) unlink(path_.c_str());
  }

  void write_all(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) throw system_failure(fmt::format("cannot write {}", path_), errno);
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  void rename_to(const std::string& path, std::string_view option) {
    constexpr mode_t kPermissions = 0644;  // who collects is another user
    if (fchmod(descriptor_, kPermissions) != 0 || fsync(descriptor_) != 0) {
      throw system_failure(fmt::format("cannot write {}", path_), errno);
    }
    if (std::rename(path_.c_str(), path.c_str()) != 0) throw refusal(path, option);
    path_.clear();
  }

 private:
  [[nodiscard]] static Error refusal(const std::string& path, std::string_view option) {
    return usage_error(fmt::format("{}: cannot write {}: {}", option, path,
                                   std::generic_category().message(errno)));
  }

  std::string path_;
  int descriptor_;
};

}  // namespace

void replace_file(const std::string& path, std::string_view text, std::string_view option) {
  AsideFile aside(path, option);
  aside.write_all(text);
  aside.rename_to(path, option);
}

}  // namespace busbar
