// SPDX-License-Identifier: BSD-3-Clause
// What the papers say, or lets be derived from them, of the systems that they measured (T-1 to T-19
// of the notes on the sources).
#include <gtest/gtest.h>

#include "tests/unit/topo/systems/sets.hpp"
#include "topo/bounds/bound.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::topo {
namespace {

using Set = std::vector<int>;

Bound bound_in(const std::string& system, const Set& set, int flows = 0) {
  return bound_of(load_system(system), set, {.flows = flows});
}

double bound(const std::string& system, const Set& set, int flows = 0) {
  return bound_in(system, set, flows).bound_GBps;
}

double ring(const std::string& system, const Set& set) { return bound_in(system, set).ring_GBps; }

TEST(PaperTable, Dgx2) {  // T-1
  for (int k = 2; k <= 16; ++k) EXPECT_NEAR(ring("dgx-2", prefix(k)), 150, 1e-6) << k;
}

TEST(PaperTable, Dgx1vPairs) {  // T-2 to T-4
  EXPECT_NEAR(ring("p3dn", {0, 1}), 25, 1e-6);
  EXPECT_NEAR(ring("p3dn", {0, 3}), 50, 1e-6);
  EXPECT_NEAR(ring("p3dn", {0, 4}), 50, 1e-6);
  const Bound apart = bound_in("p3dn", {0, 5});
  EXPECT_EQ(apart.ring_GBps, 0);
  EXPECT_GT(apart.bound_GBps, 0);
  EXPECT_EQ(apart.kind.find("nvlink"), std::string::npos) << apart.kind;
}

TEST(PaperTable, Dgx1vQuads) {  // T-5 and T-6; the counts are in SystemTable
  EXPECT_NEAR(ring("p3dn", {0, 1, 2, 3}), 100, 1e-6);
  EXPECT_NEAR(ring("p3dn", {4, 5, 6, 7}), 100, 1e-6);
  for (const Set& set : {Set{0, 3, 4, 7}, Set{0, 1, 4, 5}, Set{0, 2, 4, 6}})
    EXPECT_NEAR(ring("p3dn", set), 50, 1e-6) << testing::PrintToString(set);
  EXPECT_EQ(ring("p3dn", {0, 1, 6, 7}), 0);
}

TEST(PaperTable, Dgx1vOddAndWholeSets) {  // T-7 and T-8
  EXPECT_NEAR(ring("p3dn", prefix(3)), 50, 1e-6);
  EXPECT_EQ(ring("p3dn", prefix(5)), 0);
  EXPECT_NEAR(ring("p3dn", prefix(6)), 50, 1e-6);
  EXPECT_NEAR(ring("p3dn", {0, 1, 2, 4, 5, 6}), 100, 1e-6);
  EXPECT_NEAR(ring("p3dn", prefix(7)), 100, 1e-6);
  EXPECT_NEAR(ring("p3dn", prefix(8)), 150, 1e-6);
}

TEST(PaperTable, Ac922) {  // T-9 and T-10
  EXPECT_NEAR(bound("ac922", {0, 1}), 75, 1e-6);
  EXPECT_NEAR(bound("ac922", {0, 2}), 32, 1e-6);
  const Bound all = bound_in("ac922", prefix(4));
  EXPECT_NEAR(all.bound_GBps, 32, 1e-6);
  EXPECT_NE(all.limit.find("X-Bus"), std::string::npos) << all.limit;
}

TEST(PaperTable, FourAc922) {  // T-11
  EXPECT_NEAR(bound("ac922-x4", prefix(8)), 24, 1e-6);
  EXPECT_NEAR(bound("ac922-x4", prefix(16)), 24, 1e-6);
}

TEST(PaperTable, TwoP3dn) {  // T-12
  EXPECT_NEAR(bound("p3dn-x2", prefix(16), 1), 1.25, 1e-6);
  EXPECT_NEAR(bound("p3dn-x2", prefix(16)), 12.5, 1e-6);
  EXPECT_NEAR(bound("p3dn-x2", prefix(16), 4), 5, 1e-6);
  EXPECT_NE(bound_in("p3dn-x2", prefix(16)).limit.find("Ethernet"), std::string::npos);
}

TEST(PaperTable, Dgx1p) {  // T-13
  EXPECT_NEAR(ring("dgx-1p", {0, 1}), 20, 1e-6);
  EXPECT_NEAR(ring("dgx-1p", prefix(4)), 60, 1e-6);
  EXPECT_NEAR(ring("dgx-1p", prefix(8)), 80, 1e-6);
}

TEST(PaperTable, QuadsWithSxm2) {  // T-14 and T-15
  EXPECT_NEAR(ring("c4140-sxm2", prefix(2)), 50, 1e-6);
  EXPECT_NEAR(ring("c4140-sxm2", prefix(3)), 100, 1e-6);
  EXPECT_NEAR(ring("c4140-sxm2", prefix(4)), 150, 1e-6);
  EXPECT_NEAR(ring("p100-sxm2-x4", {0, 1}), 20, 1e-6);
  EXPECT_NEAR(ring("p100-sxm2-x4", {0, 3}), 40, 1e-6);
  EXPECT_NEAR(ring("p100-sxm2-x4", prefix(4)), 80, 1e-6);
}

TEST(PaperTable, NvlinkAgainstPcieInTheC4140) {  // T-16; the paper rounds 15.75 to 16
  const double pcie = bound("c4140-pcie", prefix(4));
  EXPECT_NEAR(pcie, 16, 0.3);
  EXPECT_NEAR(ring("c4140-sxm2", prefix(4)) / pcie, 9.375, 0.2);
  EXPECT_NEAR(4 * ring("c4140-sxm2", prefix(4)) / (2 * pcie), 18.75, 0.4);
}

TEST(PaperTable, SeveralC4140) {  // T-17
  for (const int k : {8, 12, 16, 32}) {
    const Bound found = bound_in("c4140-pcie-x8", prefix(k));
    EXPECT_NEAR(found.bound_GBps, 12.5, 1e-6) << k;
    EXPECT_NE(found.limit.find("EDR"), std::string::npos) << found.limit;
  }
}

TEST(PaperTable, WhatATreeMayReachOverACut) {  // T-17b: 2(n-1)/n of the cut
  const auto tree = [](const Bound& found, int n) { return found.cut_GBps * 2 * (n - 1) / n; };
  EXPECT_NEAR(tree(bound_in("p3dn-x2", prefix(16), 1), 16), 2.34, 0.005);
  EXPECT_NEAR(tree(bound_in("ac922", prefix(4)), 4), 48, 1e-6);
}

TEST(PaperTable, KnightsLanding) {  // T-18
  for (int k = 2; k <= 8; ++k) {
    EXPECT_NEAR(bound("knl-omnipath", prefix(k)), 12.5, 1e-6) << k;
    EXPECT_NEAR(bound("knl-aries", prefix(k)), 8, 1e-6) << k;
  }
}

TEST(PaperTable, Rtx2080Ti) {  // T-19
  for (int k = 2; k <= 8; ++k) {
    const Bound found = bound_in("exxact-ts4", prefix(k));
    EXPECT_EQ(found.kind.find("nvlink"), std::string::npos) << found.kind;
    EXPECT_NE(found.kind.find("shared memory"), std::string::npos) << found.kind;
  }
}

}  // namespace
}  // namespace busbar::topo
