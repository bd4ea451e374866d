// SPDX-License-Identifier: BSD-3-Clause
#include "model/fact.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.hpp"

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
                                     kGpu};
  return kFacts;
}

std::string fact_key(std::string_view text) {
  if (text == "nccl") return key(fact::kLibrary);
  if (text == "transport") return key(fact::kLinks);
  std::string name(text);
  std::ranges::replace(name, '-', '_');
  return name;
}

namespace {

std::string or_dash(int number) { return number < 0 ? "-" : fmt::format("{}", number); }

}  // namespace

std::string rank_fact_text(const RankFact& fact) {
  std::string text =
      fmt::format("host {} node {} numa {} core {} processors {}", fact.host, fact.node,
                  or_dash(fact.numa), or_dash(fact.core), fact.processors);
  if (fact.group) text += fmt::format(" group {}", *fact.group);
  if (!fact.gpu) return text;
  return text + fmt::format(" device {} bus {} uuid {} name {}", fact.gpu->index, fact.gpu->bus,
                            fact.gpu->uuid, fact.gpu->name);
}

RankFact parse_rank_fact(std::string_view text) {
  const std::size_t name = text.find(" name ");  // the rest of the line: names have blanks
  const std::vector<std::string> words = split(text.substr(0, name), ' ');
  const auto after = [&](std::string_view key) {
    for (std::size_t i = 0; i + 1 < words.size(); i += 2) {  // keys and values in turn
      if (words[i] == key) return words[i + 1];
    }
    return std::string();
  };
  const auto number = [&](std::string_view key, int otherwise) {
    return to_number<int>(after(key)).value_or(otherwise);
  };
  RankFact fact{.host = after("host"),
                .node = number("node", 0),
                .numa = number("numa", -1),
                .core = number("core", -1),
                .processors = number("processors", 0),
                .group = to_number<int>(after("group"))};
  if (name == std::string_view::npos || after("device").empty()) return fact;
  constexpr std::size_t kLength = 6;  // of " name "
  fact.gpu = RankGpu{.index = number("device", 0),
                     .bus = after("bus"),
                     .uuid = after("uuid"),
                     .name = std::string(text.substr(name + kLength))};
  return fact;
}

}  // namespace busbar
