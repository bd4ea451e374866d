// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "topo/probes/smi_text.hpp"

namespace busbar::topo {

/// A line "Link N: ..." of `nvidia-smi nvlink`.
struct LinkLine {
  int number = 0;
  std::vector<Word> words{};   ///< behind the colon
  std::size_t line = 1;        ///< for messages
  std::size_t end_column = 1;  ///< one past the last byte
};

/// One GPU's lines, of -s and of -R.
struct NvlinkSection {
  int index = 0;
  std::string name{};
  std::string uuid{};   ///< empty with old drivers
  std::string error{};  ///< what NVML says instead of links
  std::vector<LinkLine> links{};
  std::size_t line = 1;
};

/// Whether the driver says that a link is not in use.
[[nodiscard]] bool is_inactive(const LinkLine& line);

/// Error (Usage) at a link's line.
[[nodiscard]] Error link_error(std::string_view origin, std::string_view command,
                               const LinkLine& line, const std::string& what);

/// The GPUs' parts of `command` ("nvidia-smi nvlink -s"); none of an empty text. A prompt ends
/// them. Throws Error (Usage) with line and column.
[[nodiscard]] std::vector<NvlinkSection> read_nvlink_sections(std::string_view text,
                                                              std::string_view origin,
                                                              std::string_view command);

}  // namespace busbar::topo
