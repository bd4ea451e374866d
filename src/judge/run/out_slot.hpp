// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace busbar::judge {

/// One of the places of nodes that are out of service, for checks that many nodes start by
/// themselves: at most so many are out, to be checked or since they failed. A place is a file with
/// the host's name in a folder that all hosts see; whoever puts a node back removes its file.
class OutSlot {
 public:
  /// Takes a place, or its own from before. Throws Error (Usage) where the folder cannot be
  /// written.
  OutSlot(std::string folder, std::size_t most, const std::string& host);
  OutSlot(const OutSlot&) = delete;
  OutSlot& operator=(const OutSlot&) = delete;
  /// Gives the place back, unless it is kept.
  ~OutSlot();

  /// The others that are out where no place is left; empty: this host has one.
  [[nodiscard]] const std::vector<std::string>& others() const { return others_; }
  /// The node stays out, for this reason.
  void keep(const std::string& reason);

 private:
  std::string path_;
  std::vector<std::string> others_{};
  bool is_kept_ = false;
};

}  // namespace busbar::judge
