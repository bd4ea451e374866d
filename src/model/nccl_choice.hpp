// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/units.hpp"
#include "model/communicator.hpp"

namespace busbar {

/// NCCL's number of its version as text: 22809 is 2.28.9, and until 2.8 2804 was 2.8.4.
[[nodiscard]] std::string nccl_version_text(int code);

/// Where a line of NCCL's own log (NCCL_DEBUG=INFO) has "NCCL INFO " or "NCCL WARN ", or npos.
[[nodiscard]] std::size_t nccl_mark(std::string_view line);

/// The text of a line of NCCL's own log behind host, process and device, or empty.
[[nodiscard]] std::string_view nccl_message(std::string_view line);

/// How NCCL runs one operation, by its own log.
struct NcclChoice {
  Bytes bytes = 0;  ///< of a rank's part, for some collectives
  LibraryChoice choice{};
};

/// The choice in a line of subsystem TUNING about an operation, in any version, or nothing.
[[nodiscard]] std::optional<NcclChoice> nccl_choice_in(std::string_view line);

}  // namespace busbar
