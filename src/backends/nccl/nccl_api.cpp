// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/nccl_api.hpp"

#include <fmt/format.h>

namespace busbar {

const NcclApi& nccl() {
  static const auto* const kApi = new NcclApi;  // destructors at exit may still call NCCL
  return *kApi;
}

int nccl_version() {
  int code = 0;
  if (nccl().get_version) (void)nccl().get_version(&code);
  return code;
}

std::string nccl_version_text(int code) {
  return fmt::format("{}.{}.{}", code / 10000, code % 10000 / 100, code % 100);
}

std::string nccl_problem() {
  const int version = nccl_version();
  if (version > 0 && version < kNcclFirst) {
    return fmt::format("libnccl.so.2 is version {}; {} or later is needed",
                       nccl_version_text(version), nccl_version_text(kNcclFirst));
  }
  return nccl().library.problem();
}

}  // namespace busbar
