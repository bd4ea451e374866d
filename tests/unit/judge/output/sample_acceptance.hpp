// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "judge/verdict.hpp"

namespace busbar::judge {

/// "h0", "h1", ...
inline std::vector<std::string> sample_nodes(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("h{}", i));
  return names;
}

inline Specification sample_specification(std::size_t nodes) {
  Specification specification{.file = "accept.toml", .profile = "standard"};
  specification.system = {.name = "pod \"a\" <1>",
                          .fingerprint = {{"gpu", {"NVIDIA H200"}}, {"gpus_per_node", {"8"}}},
                          .nodes = sample_nodes(nodes)};
  specification.ceiling.system = "dgx-h100";
  specification.run = {
      .launches = 3, .min_launches = 3, .iterations = 100, .warmup = 20, .timeout_s = 120};
  specification.noise = {.max_cv = 0.02, .on_noisy = OnNoisy::Rerun, .max_reruns = 2};
  specification.device_sets = {{.id = "node8", .kind = SetKind::PerNode, .ranks_per_node = 8},
                               {.id = "pairs", .kind = SetKind::Pairwise, .ranks_per_node = 1},
                               {.id = "all", .kind = SetKind::Whole, .ranks_per_node = 8}};
  specification.rules = {
      {.id = "intra", .collectives = {"allreduce"}, .device_set = "node8", .sizes = {8 * kGiB}},
      {.id = "pair-floor", .collectives = {"alltoall"}, .device_set = "pairs", .sizes = {kGiB}},
      {.id = "latency",
       .collectives = {"allreduce"},
       .device_set = "all",
       .sizes = {8},
       .metric = Metric::Time}};
  return specification;
}

/// A verdict whose values scatter a little around one value.
inline CheckResult sample_verdict(const std::string& rule, const std::string& set,
                                  std::vector<std::string> nodes, double value, double reference,
                                  Outcome outcome) {
  return {.rule = rule,
          .device_set = set,
          .instance = join(nodes, "+"),
          .nodes = std::move(nodes),
          .collective = "allreduce",
          .type = "float",
          .size = 8 * kGiB,
          .values = {value * 0.995, value, value * 1.004},
          .value = value,
          .cv = 0.0045,
          .reference = reference,
          .reference_kind = "absolute",
          .ratio = value / reference,
          .bounds = {.fail_below = 0.9, .warn_below = 0.95, .fail_above = 1.05},
          .outcome = outcome,
          .reason = outcome == Outcome::Pass ? "" : "below 427.5 GB/s",
          .attempts = 3};
}

/// All pairs of nodes; those of h2 are low, and the pair of h0 with the last has no data.
inline void add_sample_pairs(Acceptance& acceptance, std::size_t nodes) {
  const std::vector<std::string> names = sample_nodes(nodes);
  for (std::size_t i = 0; i < nodes; ++i) {
    for (std::size_t j = i + 1; j < nodes; ++j) {
      const bool low = i == 2 || j == 2;
      const double value = low ? 3.1 : 11.9 + 0.05 * static_cast<double>((7 * i + 3 * j) % 9);
      CheckResult verdict = sample_verdict("pair-floor", "pairs", {names[i], names[j]}, value, 12.5,
                                           low ? Outcome::Fail : Outcome::Pass);
      verdict.collective = "alltoall";
      verdict.size = kGiB;
      verdict.reference_kind = "ceiling: 12.5 scale-out";
      if (low) verdict.reason = "below 11.25 GB/s";
      if (i == 0 && j + 1 == nodes) {
        verdict.values.clear();
        verdict.value = verdict.cv = verdict.ratio = std::nullopt;
        verdict.outcome = Outcome::Error;
        verdict.reason = "timeout after 120 s";
      }
      acceptance.pairs.push_back(verdict);
      acceptance.verdicts.push_back(verdict);
    }
  }
}

/// Every outcome, a node and a link to blame, all states of nodes; six nodes at least.
inline Acceptance sample_acceptance(std::size_t nodes) {
  const std::vector<std::string> names = sample_nodes(nodes);
  Acceptance acceptance;
  acceptance.head = {.version = "0.6.0",
                     .judged_at = "2026-11-21 12:30:00",
                     .judged_at_unix = 1795264200,
                     .seed = "42",
                     .notes = {"assumed: driver = 550 (--assume)"}};
  struct Row {
    double value;
    Outcome outcome;
    const char* reason;
  };
  for (const auto& [value, outcome, reason] :
       {Row{476.2, Outcome::Pass, ""}, Row{448, Outcome::Warn, "below 451.3 GB/s"},
        Row{301.5, Outcome::Fail, "below 427.5 GB/s"},
        Row{410, Outcome::Known, "2 leaf uplinks down, ticket 4711 (until 2026-12-01)"},
        Row{471, Outcome::Inconclusive, "noisy: cv 6.1 % of 3 launches, 2 % allowed"},
        Row{469.9, Outcome::Pass, ""}}) {
    acceptance.verdicts.push_back(
        sample_verdict("intra", "node8", {names[acceptance.verdicts.size()]}, value, 475, outcome));
    acceptance.verdicts.back().reason = reason;
  }
  acceptance.verdicts[4].values = {430, 471, 486};
  acceptance.verdicts[4].cv = 0.061;
  add_sample_pairs(acceptance, nodes);
  CheckResult slow = sample_verdict("latency", "all", names, 21.4, 14.2, Outcome::Fail);
  slow.instance = "all";
  slow.size = 8;
  slow.metric = Metric::Time;
  slow.statistic = Statistic::P99;
  slow.reference_kind = "baseline runs/october";
  slow.bounds = {.warn_above = 1.1, .fail_above = 1.25};
  slow.reason = "above 17.75 us";
  acceptance.verdicts.push_back(slow);
  CheckResult skipped = slow;
  skipped.rule = "one-rank";
  skipped.values.clear();
  skipped.value = skipped.cv = skipped.ratio = skipped.reference = std::nullopt;
  skipped.bounds = {};
  skipped.outcome = Outcome::Skip;
  skipped.reason = "one rank has no bus bandwidth";
  acceptance.verdicts.push_back(skipped);
  acceptance.suspects = {
      {.nodes = {"h2"},
       .rule = "pair-floor",
       .evidence = "5 of 5 pairs low, median 3.1 GB/s, 26 % of the fleet's"},
      {.nodes = {"h0", names.back()}, .rule = "pair-floor", .evidence = "no data of this pair"}};
  for (std::size_t i = 0; i < nodes; ++i) {
    acceptance.nodes.push_back({.node = names[i], .state = NodeState::Good});
  }
  acceptance.nodes[2] = {
      .node = "h2", .state = NodeState::Failed, .evidence = "pair-floor: 5 of 5"};
  acceptance.nodes[4] = {
      .node = "h4", .state = NodeState::Inconclusive, .evidence = "intra: noisy, cv 6.1 %"};
  return acceptance;
}

/// h3, h2, h5, h0 and a path are blamed, the first two by several rules; h1 does not answer.
inline Acceptance many_faults() {
  Acceptance acceptance = sample_acceptance(6);
  acceptance.suspects = {
      {.nodes = {"h3"}, .rule = "floor", .evidence = "1 byte", .defect = Defect::WrongData},
      {.nodes = {"h3"}, .rule = "outlier", .evidence = "1 byte", .defect = Defect::WrongData},
      {.nodes = {"h3"}, .rule = "floor", .evidence = "half"},
      {.nodes = {"h2"}, .rule = "floor", .evidence = "half"},
      {.nodes = {"h2"}, .rule = "outlier", .evidence = "half"},
      {.nodes = {"h5"}, .rule = "flaps", .evidence = "rose by 2", .defect = Defect::Fact},
      {.nodes = {"h0"}, .rule = "mtu", .evidence = "is 1400", .defect = Defect::Fact},
      {.path = "links h[0-2] - h[3-5]", .rule = "floor", .evidence = "7 of 9 links are low"}};
  for (const auto& [rule, fact, node] :
       {std::array{"flaps", "net.carrier_changes", "h5"}, {"mtu", "net.mtu", "h0"}}) {
    acceptance.verdicts.push_back({.rule = rule,
                                   .instance = node,
                                   .nodes = {node},
                                   .collective = fact,
                                   .metric = Metric::None,
                                   .outcome = Outcome::Fail,
                                   .reason = "not so"});
  }
  acceptance.verdicts[1].unreachable = "h1";
  acceptance.verdicts[1].reason = "h1 does not answer (nothing within 6 s)";
  acceptance.nodes[1].state = NodeState::NoData;
  return acceptance;
}

}  // namespace busbar::judge
