// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/matching.hpp"

namespace busbar {

/// The name of a list that is this host, also where one of both has a domain: "h1" and
/// "h1.example.org"; else the host itself.
[[nodiscard]] std::string known_host(const std::string& host,
                                     const std::vector<std::string>& known);

/// Where the hosts of a fleet are in its fabric.
class HostLevels {
 public:
  /// Reads a CSV with the columns host,WIDEST,...,NARROWEST, as in host,pod,leaf. Throws a usage
  /// error with `file` and the line.
  HostLevels(std::string_view text, std::string_view file);

  /// "pod", "leaf".
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// In the order of the file.
  [[nodiscard]] const std::vector<std::string>& hosts() const { return hosts_; }
  /// The paths of these hosts, in their order. Throws a usage error for one that the file lacks.
  [[nodiscard]] std::vector<NodePath> paths_of(const std::vector<std::string>& hosts) const;

 private:
  std::string file_;
  std::vector<std::string> names_{};
  std::vector<std::string> hosts_{};
  std::vector<NodePath> paths_{};
  std::map<std::string, std::size_t> places_{};  ///< of hosts_
};

}  // namespace busbar
