// SPDX-License-Identifier: BSD-3-Clause
#include "model/fact.hpp"

#include <algorithm>
#include <array>

namespace busbar {

std::span<const Fact> fact_table() {
  using namespace fact;  // NOLINT(google-build-using-namespace): all of it
  static constexpr std::array kFacts{kBusbar,
                                     kConfiguration,
                                     kStarted,
                                     kCommand,
                                     kHosts,
                                     kMachine,
                                     kProcessor,
                                     kKernel,
                                     kLibrary,
                                     kLibraryFiles,
                                     kMpi,
                                     kBootstrap,
                                     kCompiler,
                                     kLibraryEnvironment,
                                     kTimerCost,
                                     kConnectTime,
                                     kDeviceSet,
                                     kBoundKind,
                                     kBoundLimit,
                                     kGpusPerNode,
                                     kNicsPerNode,
                                     kDriver,
                                     kNvls,
                                     kGpudirectRdma,
                                     kLinks,
                                     kChannels,
                                     kNetwork,
                                     kNcclInit,
                                     kSimulated,
                                     kSystem,
                                     kSystemTitle,
                                     kSystemSource,
                                     kAlgorithm,
                                     kFlows,
                                     kProtocolSource,
                                     kLabel,
                                     kImportedFrom,
                                     kTool,
                                     kDevices,
                                     kSettings,
                                     kMatrix,
                                     kCollectiveFrom,
                                     kGpu,
                                     kRanksPerNode};
  return kFacts;
}

std::string fact_key(std::string_view text) {
  if (text == "nccl") return key(fact::kLibrary);
  if (text == "transport") return key(fact::kLinks);
  if (text == "ngpus") return key(fact::kRanksPerNode);
  std::string name(text);
  std::ranges::replace(name, '-', '_');
  return name;
}

}  // namespace busbar
