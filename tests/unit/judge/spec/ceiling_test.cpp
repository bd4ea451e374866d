// SPDX-License-Identifier: BSD-3-Clause
#include "judge/spec/ceiling.hpp"

namespace busbar::judge {
namespace {

CeilingRule system_of(const std::string& name, CeilingModel model = CeilingModel::Hierarchical) {
  return {.model = model, .system = name};
}

/// -1: there is none.
double ceiling(const CeilingRule& rule, const std::string& collective, const SetShape& shape) {
  const auto figure = ceilings_of(rule)(collective, shape);
  return figure ? figure->GBps : -1;
}
double ceiling(const CeilingRule& rule, const std::string& collective, int nodes, int gpus) {
  return ceiling(rule, collective, {.ranks = nodes * gpus, .nodes = nodes});
}

/// A published figure: what was measured, what the formula allows, and the share of it in percent.
struct Published {
  std::string what{};
  CeilingRule rule{};
  std::string collective{};
  int nodes = 0;
  int gpus = 0;
  double allowed = 0;
  double measured = 0;
  double share = 0;
};

TEST(CeilingOf, SystemIsWhatPublishedRunsStayBelow) {
  const CeilingRule hopper = system_of("dgx-h100");
  const std::vector<Published> table{
      {"2x8", hopper, "alltoall", 2, 8, 93.75, 91.94, 98},
      {"10x8", hopper, "alltoall", 10, 8, 54.86, 50.66, 92},
      {"2x4", hopper, "alltoall", 2, 4, 87.5, 83.7, 96},
      {"2x2", hopper, "alltoall", 2, 2, 75, 70.5, 94},
      {"2x1", hopper, "alltoall", 2, 1, 50, 39.8, 80},
      {"10x1", hopper, "allreduce", 10, 1, 50, 48.9, 98},
      {"10x2", hopper, "allreduce", 10, 2, 105.56, 98.3, 93},
      {"10x4", hopper, "allreduce", 10, 4, 216.67, 196.4, 91},
      {"10x8", hopper, "allreduce", 10, 8, 438.89, 364.1, 83},
      {"2x a3-mega", system_of("a3-megagpu-8g"), "allreduce", 2, 8, 375, 338.8, 90},
      {"4x p6-b200", system_of("p6-b200"), "allreduce", 4, 8, 516.67, 381.8, 74},
      {"H200", hopper, "allreduce", 1, 8, 450, 365.6, 81},
      {"A100", system_of("dgx-a100"), "allreduce", 1, 8, 300, 231.6, 77},
      {"P100", system_of("dgx-1p"), "allreduce", 1, 8, 80, 62.2, 78}};
  for (const Published& row : table) {
    const double allowed = ceiling(row.rule, row.collective, row.nodes, row.gpus);
    EXPECT_NEAR(allowed, row.allowed, 0.005) << row.what;
    EXPECT_NEAR(row.measured / allowed * 100, row.share, 0.55) << row.what;
  }
}

CeilingRule reducing(CeilingRule rule) {
  rule.in_network_reduction = true;
  return rule;
}

TEST(CeilingOf, OneRankUnevenNodesOrUnequalPartsIsNothing) {
  EXPECT_EQ(ceiling(system_of("dgx-h100"), "alltoallv", {.ranks = 16, .nodes = 2}), -1);
  EXPECT_EQ(ceiling(system_of("dgx-h100"), "allreduce", {.ranks = 1, .nodes = 1}), -1);
  EXPECT_EQ(ceiling(system_of("dgx-h100"), "allreduce", {.ranks = 9, .nodes = 2}), -1);
}

TEST(LongCeilingOf, SystemIsTheBoundOfItsGraphOnOneNodeOrSeveral) {
  struct Case {
    CeilingRule rule{};
    std::string collective{};
    int nodes = 0;
    int gpus = 0;
    double allowed = 0;
  };
  const CeilingRule ring = system_of("ac922-x4", CeilingModel::Ring);
  for (const Case& one : std::vector<Case>{
           {system_of("dgx-1v"), "allreduce", 1, 8, 150},
           {system_of("dgx-2"), "alltoall", 1, 16, 150},
           {system_of("dgx-1p"), "broadcast", 1, 8, 80},
           {system_of("dgx-1v"), "alltoall", 1, 8, -1},  // of a mesh it is not known
           {system_of("dgx-1v"), "alltoall", 1, 2, 25},
           {system_of("dgx-h100"), "allreduce", 1, 8, 450},
           {reducing(system_of("dgx-h100")), "allreduce", 1, 8, 700},
           {reducing(system_of("dgx-h100")), "allgather", 1, 8, 450},
           {reducing(system_of("gb200-nvl72")), "allgather", 18, 4, 900},
           {system_of("dgx-h100"), "allreduce", 2, 8, 450},
           {system_of("dgx-a100"), "alltoall", 2, 8, 46.875},
           {system_of("dgx-1v"), "alltoall", 2, 8, 11.71875},           // of its network it is
           {system_of("gb200-nvl72-x2"), "alltoall", 2, 64, 99.21875},  // 89.7 measured
           {system_of("gb200-tray"), "allgather", 18, 4, 900},
           {system_of("gb200-tray"), "allgather", 19, 4, -1},  // a domain ends at 18
           {system_of("ac922-x4"), "allgather", 4, 4, 30},
           {ring, "allreduce", 4, 4, 24},
           {system_of("knl-aries"), "sendrecv", 2, 1, 8},
           {system_of("knl-omnipath"), "allreduce", 8, 1, 12.5},
           {reducing(system_of("knl-omnipath")), "allreduce", 8, 1, 21.875},  // 12.5 x 2 x 7/8
           {system_of("knl-omnipath"), "allreduce", 1, 8, -1},
       }) {
    EXPECT_DOUBLE_EQ(ceiling(one.rule, one.collective, one.nodes, one.gpus), one.allowed)
        << one.rule.system << ' ' << one.collective << ' ' << one.nodes << 'x' << one.gpus;
  }
  EXPECT_NEAR(ceiling(reducing(system_of("gb200-nvl72")), "allreduce", 18, 4), 1750.68, 0.01);
}

TEST(CeilingOf, SystemTakesTheGpusOfTheSet) {
  const auto pair = [](const std::string& gpus) {
    return ceiling(system_of("dgx-1v"), "allreduce", {.ranks = 2, .nodes = 1, .gpus = gpus});
  };
  EXPECT_DOUBLE_EQ(pair("0-1"), 25);
  EXPECT_DOUBLE_EQ(pair("0,3"), 50);
  EXPECT_DOUBLE_EQ(pair("best"), 50);
}

TEST(CeilingOf, SystemWithTooFewDevicesIsRefused) {
  test::expect_failure(Status::Usage, "has 8 devices on a node",
                       [] { static_cast<void>(ceiling(system_of("dgx-1v"), "allreduce", 1, 16)); });
}

}  // namespace
}  // namespace busbar::judge
