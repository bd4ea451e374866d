// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace busbar::topo {

/// One line of `nvidia-smi nvlink -s`.
struct NvlinkLink {
  int number = 0;
  double GBps = 0;  ///< raw, per direction; 0 where inactive
  [[nodiscard]] bool active() const { return GBps > 0; }
};

/// One GPU's part of `nvidia-smi nvlink -s`.
struct NvlinkGpu {
  int index = 0;
  std::string name{};
  std::string uuid{};               ///< empty with old drivers
  std::vector<NvlinkLink> links{};  ///< empty where it has none, or none is active
  std::string error{};              ///< "NVML: Unable to retrieve ...", as printed
};

/// What `nvidia-smi nvlink -s` prints; no GPUs where none has NVLink (the text is empty).
struct NvlinkStatus {
  std::vector<NvlinkGpu> gpus{};
};

/// One line of `nvidia-smi nvlink -R`. It numbers the active links in turn: the number is not that
/// of `-s`.
struct NvlinkRemote {
  int number = 0;
  std::string bus_id{};              ///< of the other end (GPU, switch or processor), normal_bus_id
  std::optional<int> remote_link{};  ///< the number of the link there
};

/// One GPU's part of `nvidia-smi nvlink -R`.
struct NvlinkRemoteGpu {
  int index = 0;
  std::string name{};
  std::string uuid{};
  std::vector<NvlinkRemote> links{};
  std::string error{};
};

/// What `nvidia-smi nvlink -R` prints.
struct NvlinkRemotes {
  std::vector<NvlinkRemoteGpu> gpus{};
};

/// Reads `nvidia-smi nvlink -s`. Throws Error (Usage) "ORIGIN:LINE:COLUMN: what; how to mend" for a
/// line cut short or unknown, a GPU or link twice, and for the text of -c or -R.
[[nodiscard]] NvlinkStatus parse_nvlink_status(std::string_view text, std::string_view origin);

/// Reads `nvidia-smi nvlink -R`; errors as parse_nvlink_status.
[[nodiscard]] NvlinkRemotes parse_nvlink_remotes(std::string_view text, std::string_view origin);

}  // namespace busbar::topo
