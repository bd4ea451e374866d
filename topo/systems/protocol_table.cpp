// SPDX-License-Identifier: BSD-3-Clause
#include "topo/systems/protocol_table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar::topo {
namespace {

constexpr int kMostFlows = 1 << 16;

struct StepKey {
  std::string_view key;
  double StepTimes::*member;
};
constexpr std::array<StepKey, 5> kStepKeys{{{"launch_us", &StepTimes::launch_us},
                                            {"nvlink_us", &StepTimes::nvlink_us},
                                            {"pcie_us", &StepTimes::pcie_us},
                                            {"smp_us", &StepTimes::smp_us},
                                            {"network_us", &StepTimes::network_us}}};

StepTimes read_steps(const TomlFields& fields) {
  std::vector<std::string> keys{"share"};
  for (const StepKey& step : kStepKeys) keys.emplace_back(step.key);
  fields.allow_only(keys);
  StepTimes times{.share = read_share(fields, "share")};
  for (const StepKey& step : kStepKeys) times.*step.member = fields.positive(step.key, 0);
  return times;
}

std::vector<Algorithm> read_algorithms(const TomlFields& fields) {
  std::vector<std::string> known;
  for (const Algorithm algorithm : kAlgorithms) known.emplace_back(name(algorithm));
  std::vector<Algorithm> algorithms;
  for (const std::string& word : fields.words("algorithms")) {
    const auto found = std::find(known.begin(), known.end(), word);
    if (found == known.end()) {
      throw fields.fault("algorithms", unknown_word("algorithm", word, known));
    }
    algorithms.push_back(static_cast<Algorithm>(found - known.begin()));
  }
  return algorithms;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    const auto byte = static_cast<unsigned char>(c);
    result += byte < ' ' || byte == 0x7f ? ' ' : c;
  }
  return result + '"';
}

std::string steps_table(Sending sending, const StepTimes& times) {
  std::string text = fmt::format("\n[protocol.{}]\n", name(sending));
  if (times.share > 0) text += fmt::format("share = {}\n", times.share);
  for (const StepKey& step : kStepKeys) {
    if (times.*step.member > 0) text += fmt::format("{} = {}\n", step.key, times.*step.member);
  }
  return text;
}

}  // namespace

double read_share(const TomlFields& fields, std::string_view key) {
  const double share = fields.positive(key, 0);
  if (share > 1) throw fields.fault(key, fmt::format("{} is a share: above 0, at most 1", key));
  return share;
}

Protocol read_protocol(const TomlFields& file) {
  if (!file.has("protocol")) return {};
  const TomlFields fields(file.required("protocol"), file.origin(), "[protocol]");
  std::vector<std::string> keys{"efficiency", "in_switch_efficiency", "flows", "algorithms",
                                "source"};
  for (const Sending sending : kSendings) keys.emplace_back(name(sending));
  fields.allow_only(keys);
  Protocol protocol{.efficiency = read_share(fields, "efficiency"),
                    .in_switch_efficiency = read_share(fields, "in_switch_efficiency"),
                    .flows = fields.integer("flows", 1, kMostFlows, 0),
                    .algorithms = read_algorithms(fields),
                    .source = fields.required_text("source")};
  for (const Sending sending : kSendings) {
    if (!fields.has(name(sending))) continue;
    protocol.steps.at(static_cast<std::size_t>(sending)) =
        read_steps({fields.required(name(sending)), file.origin(),
                    fmt::format("[protocol.{}]", name(sending))});
  }
  return protocol;
}

std::string protocol_table(const Protocol& protocol) {
  if (protocol == Protocol{}) return {};
  std::string text = "\n[protocol]\n";
  const auto add = [&](std::string_view key, double value) {
    if (value > 0) text += fmt::format("{} = {}\n", key, value);
  };
  add("efficiency", protocol.efficiency);
  add("in_switch_efficiency", protocol.in_switch_efficiency);
  if (protocol.flows > 0) text += fmt::format("flows = {}\n", protocol.flows);
  std::vector<std::string> words;
  for (const Algorithm algorithm : protocol.algorithms) {
    words.push_back(fmt::format("\"{}\"", name(algorithm)));
  }
  if (!words.empty()) text += fmt::format("algorithms = [{}]\n", join(words, ", "));
  text += fmt::format("source = {}\n", quoted(protocol.source));
  for (const Sending sending : kSendings) {
    const StepTimes& times = protocol.steps.at(static_cast<std::size_t>(sending));
    if (!(times == StepTimes{})) text += steps_table(sending, times);
  }
  return text;
}

}  // namespace busbar::topo
