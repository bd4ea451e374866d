// SPDX-License-Identifier: BSD-3-Clause
#include "study/published.hpp"

#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "study/workload_model.hpp"
#include "tests/unit/support/failure.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Published kept() { return read_published(std::string(kPublishedFile)); }

std::string refusal(const std::string& text) {
  const auto failure = test::failure_of([&] { (void)parse_published(text, "p.toml"); });
  EXPECT_EQ(failure.status, Status::Usage);
  return failure.message;
}

const std::string kSource = "[source]\nme = \"My paper\"\n";
const std::string kRate =
    "[[rate]]\nsystem = \"dgx-2\"\ncollective = \"allreduce\"\ntheoretical_GBps = 150\n"
    "condition = \"large\"\nsource = \"me\"\n";

TEST(Published, RatesAreThoseOfThePapers) {
  struct Case {
    const char* system;
    const char* collective;
    int ranks;
    double GBps;
  };
  for (const Case& c :
       {Case{"dgx-2", "allreduce", 2, 120}, Case{"dgx-2", "allreduce", 4, 120},
        Case{"dgx-2", "allreduce", 8, 120}, Case{"dgx-2", "allreduce", 16, 120},
        Case{"dgx-1v", "allreduce", 4, 80}, Case{"dgx-1v", "allreduce", 8, 120},
        Case{"ac922", "allreduce", 2, 70}, Case{"ac922", "allreduce", 4, 30},
        Case{"p3dn-x2", "allreduce", 16, 1}, Case{"knl-omnipath", "sendrecv", 2, 10},
        Case{"knl-aries", "sendrecv", 2, 7}}) {
    const auto rates = published_rates(kept(), c.system, c.collective, c.ranks);
    ASSERT_EQ(rates.size(), 1U) << c.system << " " << c.ranks;
    EXPECT_EQ(rates.front().busbw_GBps, c.GBps) << c.system << " " << c.ranks;
  }
  EXPECT_EQ(published_rates(kept(), "", "allreduce", 4).size(), 3U);
}

TEST(Published, WhatTheTextLeavesOpenIsAGap) {
  EXPECT_TRUE(published_rates(kept(), "dgx-1v", "allreduce", 2).empty());
  EXPECT_TRUE(published_rates(kept(), "ac922-x4", "allreduce", 16).empty());
  EXPECT_TRUE(published_rates(kept(), "dgx-1v", "broadcast", 8).empty());
  EXPECT_EQ(published_rates(kept(), "dgx-1v", "allreduce", 8).front().relation, Relation::Above);
  EXPECT_EQ(published_rates(kept(), "ac922", "allreduce", 4).front().relation, Relation::About);
}

TEST(Published, EveryFigureIsOfAKnownSystemAndNoMoreThanTheLinks) {
  const Published published = kept();
  EXPECT_EQ(published.rates.size(), 14U);
  for (const PublishedRate& rate : published.rates) {
    EXPECT_NO_THROW(static_cast<void>(topo::load_system(rate.system))) << rate.system;
    if (!rate.busbw_GBps) continue;
    const double share = *rate.busbw_GBps / rate.theoretical_GBps;
    EXPECT_GE(share, 0.75) << rate.system << " " << rate.condition;
    EXPECT_LE(share, 1.0) << rate.system << " " << rate.condition;
  }
  const auto models = built_in_workload_models();
  for (const PublishedRatio& ratio : published.ratios) {
    EXPECT_EQ(find_workload_model(models, "model", ratio.model).name, ratio.model);
  }
}

TEST(Published, SlowLinksScaleWorse) {  // W18
  const Published published = kept();
  const std::map<std::string, std::vector<double>> cases{{"alexnet", {1, .8059, .6831, .6132}},
                                                         {"resnet50", {1, .9220, .9264, .9085}},
                                                         {"bert-squad", {1, .8325, .8316, .8062}}};
  for (const auto& [model, relative] : cases) {
    const auto ratio = std::find_if(published.ratios.begin(), published.ratios.end(),
                                    [&](const auto& one) { return one.model == model; });
    ASSERT_NE(ratio, published.ratios.end()) << model;
    const std::vector<double> found = relative_scaling(*ratio);
    ASSERT_EQ(found.size(), 4U) << model;
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_NEAR(found[i], relative[i], 1e-3 * relative[i]) << model << " " << i;
    }
  }
}

TEST(Published, AveragesAreThePrintedOnes) {  // W19
  constexpr double kPrinted = 0.01;
  const Published published = kept();
  const auto expect = [&](std::string_view group, const std::vector<double>& printed) {
    const std::vector<double> means = mean_percent(published.ratios, group);
    ASSERT_EQ(means.size(), printed.size());
    for (std::size_t i = 0; i < means.size(); ++i) {
      EXPECT_NEAR(means[i], printed[i], kPrinted) << group << " " << i;
    }
  };
  expect("high throughput", {73.22, 64.94, 60.26, 54.83});
  expect("low throughput", {65.82, 58.37, 58.51, 57.27});
  expect("", {68.99, 61.19, 59.26, 56.22});
}

TEST(Published, FaultsAreReportedWithTheirPlace) {
  EXPECT_EQ(parse_published(kSource + kRate + "ranks = [2]\n", "p.toml").rates.front().source,
            "My paper");
  EXPECT_THAT(refusal("[[rate"), HasSubstr("docs/published.md"));
  EXPECT_THAT(refusal(kSource + kRate), HasSubstr("p.toml:3:1: [[rate]] needs the key \"ranks\""));
  EXPECT_THAT(refusal(kRate + "ranks = [2]\n"), HasSubstr("unknown source \"me\""));
  EXPECT_THAT(refusal(kSource + kRate + "ranks = [4, 2]\n"), HasSubstr("p.toml:9:13: ranks must"));
  EXPECT_THAT(refusal(kSource + kRate + "ranks = [2]\nbusbw_GBps = 0\n"), HasSubstr("above 0"));
  EXPECT_THAT(refusal(kSource + kRate + "ranks = [2]\nrelation = \"below\"\n"), HasSubstr("about"));
  const std::string ratio =
      "[[ratio]]\nmodel = \"m\"\nsystem = \"a\"\nover = \"b\"\nranks = [1, 2]\nsource = \"me\"\n";
  EXPECT_THAT(refusal(kSource + ratio + "percent = [90]\n"),
              HasSubstr("1 numbers, and ranks has 2"));
  EXPECT_THROW(static_cast<void>(read_published("/nowhere/published.toml")), Error);
}

TEST(Published, MeansAreOfEqualRanksOnly) {
  const std::vector<PublishedRatio> ratios{{.model = "a", .ranks = {1, 2}, .percent = {50, 40}},
                                           {.model = "b", .ranks = {1, 4}, .percent = {50, 40}}};
  EXPECT_THROW(static_cast<void>(mean_percent(ratios, "")), Error);
  EXPECT_THAT(mean_percent(std::span(ratios).first(1), ""), ElementsAre(50, 40));
  EXPECT_TRUE(mean_percent(ratios, "none").empty());
}

}  // namespace
}  // namespace busbar
