// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "backends/nccl/api.hpp"
#include "backends/nccl/devices.hpp"
#include "backends/nccl/nccl_communicator.hpp"
#include "base/error.hpp"

namespace busbar {
namespace {

std::string version_text(int code) {
  const nccl::Version v = nccl::version_of(code);
  return fmt::format("{}.{}.{}", v.major, v.minor, v.patch);
}

int library_version() {
  int code = 0;
  (void)ncclGetVersion(&code);
  return code;
}

/// CUDA's 13020 is 13.2.
std::string cuda_version(int code) { return fmt::format("{}.{}", code / 1000, code % 1000 / 10); }

/// NCCL refuses two ranks of one host on one device: from 2.30 on it can be told, before that every
/// rank calls itself a host of its own and the ranks talk over the network. Read when it connects.
void let_ranks_share_devices(int rank) {
  if (library_version() >= nccl::kSharesDevices) {
    setenv("NCCL_MULTI_RANK_GPU_ENABLE", "1", 1);
  } else {
    setenv("NCCL_HOSTID", fmt::format("busbar-rank-{}", rank).c_str(), 1);
  }
}

class NcclBackend final : public Backend {
 public:
  [[nodiscard]] std::string_view name() const override { return "nccl"; }
  [[nodiscard]] int preference() const override { return 20; }
  [[nodiscard]] bool has_devices() const override { return true; }

  [[nodiscard]] std::optional<std::string> unavailable() const override {
    const nccl::Version library = nccl::version_of(library_version());
    const nccl::Version header = nccl::version_of(nccl::header_version());
    if (library.major < header.major ||
        (library.major == header.major && library.minor < header.minor)) {
      return fmt::format(
          "libnccl.so is version {}, this program was built for {}; put the newer "
          "one first in LD_LIBRARY_PATH",
          version_text(library_version()), version_text(nccl::header_version()));
    }
    return no_device();
  }

  [[nodiscard]] std::string library() const override {
    int runtime = 0;
    int driver = 0;
    (void)cudaRuntimeGetVersion(&runtime);
    (void)cudaDriverGetVersion(&driver);
    return fmt::format("NCCL {} (built for {}), CUDA {} (driver {})",
                       version_text(library_version()), version_text(nccl::header_version()),
                       cuda_version(runtime), cuda_version(driver));
  }

  [[nodiscard]] std::vector<Device> visible_devices() const override {
    return visible_cuda_devices();
  }

  [[nodiscard]] std::optional<Device> take_device(Bootstrap& everyone,
                                                  const DeviceWish& wish) const override {
    return take_cuda_device(everyone, wish);
  }

  [[nodiscard]] std::unique_ptr<Communicator> connect(
      Bootstrap& bootstrap, const ConnectOptions& options) const override {
    if (const auto reason = nccl::no_registration(options.registration)) {
      throw usage_error(fmt::format("-R: {}; this program was built for an older", *reason));
    }
    if (options.shares_devices) let_ranks_share_devices(options.world_rank);
    return std::make_unique<NcclCommunicator>(bootstrap, options);
  }
};

const NcclBackend kBackend;

}  // namespace
}  // namespace busbar
