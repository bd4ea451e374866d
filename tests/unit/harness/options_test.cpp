// SPDX-License-Identifier: BSD-3-Clause
#include "harness/options.hpp"

#include <set>

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace busbar {
namespace {

TEST(Options, HaveTheDocumentedDefaults) {
  const Options options;
  EXPECT_EQ(options.sweep.first, 1048576U);
  EXPECT_EQ(options.sweep.last, 1073741824U);
  EXPECT_EQ(options.sweep.factor, 2U);
  EXPECT_FALSE(options.operations.has_value());
  EXPECT_FALSE(options.warmup_operations.has_value());
  EXPECT_DOUBLE_EQ(options.ci_width, 0.02);
  EXPECT_DOUBLE_EQ(options.time_budget.count(), 3);
  EXPECT_EQ(options.aggregation, Aggregation::Max);
  EXPECT_EQ(options.checks, 1U);
  EXPECT_EQ(options.root, 0);
  EXPECT_FALSE(options.timeout.has_value());
  EXPECT_EQ(options.seed, 1U);
  EXPECT_EQ(options.graph_launches, 0U);
  EXPECT_EQ(options.registration, Registration::None);
  EXPECT_FALSE(options.cta_policy.has_value());
  EXPECT_EQ(options.unalign, 0U);
  EXPECT_EQ(options.pairs, Pairs::Off);
  EXPECT_FALSE(options.split.has_value());
}

TEST(OptionNames, AreThoseOfTheCommandLine) {
  EXPECT_EQ(name(Cadence::Streaming), "streaming");
  EXPECT_EQ(name(Cadence::Isolated), "isolated");
  EXPECT_EQ(name(Aggregation::Rank0), "rank0");
  EXPECT_EQ(name(Aggregation::Mean), "mean");
  EXPECT_EQ(name(Aggregation::Min), "min");
  EXPECT_EQ(name(Aggregation::Max), "max");
  EXPECT_EQ(name(Cache::Warm), "warm");
  EXPECT_EQ(name(Cache::Rotate), "rotate");
  EXPECT_EQ(name(Pages::Huge), "huge");
  EXPECT_EQ(name(Pages::Small), "small");
  EXPECT_EQ(name(Placement::Both), "both");
  EXPECT_EQ(name(Placement::In), "in");
  EXPECT_EQ(name(Placement::Out), "out");
}

TEST(ConfigurationWords, AreTheDefaultsInAFixedOrder) {
  EXPECT_EQ(
      join(configuration_words(Options{}), " "),
      "sizes=1048576-1073741824x2 types=float ops=sum root=0 placement=both operations=auto "
      "warmup=auto "
      "aggregated=1 cycles=1 aggregation=max checks=1 blocking=0 cadence=streaming ci-width=0.02 "
      "time-budget=3 progress=auto cache=warm pages=huge bind=auto devices=free seed=1 graph=0 "
      "registration=0 "
      "cta-policy=auto "
      "unalign=0 pairs=off split=none");
}

TEST(ConfigurationWords, DifferForEverythingThatMakesRowsIncomparable) {
  std::vector<Options> variants(30);
  variants[1].sweep.first = 8;
  variants[2].sweep.last = 8;
  variants[3].sweep.factor = 1;
  variants[4].types = {DataType::Float, DataType::Double};
  variants[5].ops = {ReduceOp::Max};
  variants[6].root = std::nullopt;
  variants[7].placement = Placement::In;
  variants[8].operations = 20;
  variants[9].warmup_operations = 0;
  variants[10].aggregated = 2;
  variants[11].aggregation = Aggregation::Mean;
  variants[12].checks = 0;
  variants[13].blocking = Blocking::Wait;
  variants[14].cadence = Cadence::Isolated;
  variants[15].ci_width = 0.05;
  variants[16].time_budget = Seconds{1};
  variants[17].progress = ProgressChoice::Yield;
  variants[18].cache = Cache::Rotate;
  variants[19].seed = 7;
  variants[20].graph_launches = 1;
  variants[21].registration = Registration::Local;
  variants[22].registration = Registration::Symmetric;
  variants[23].cta_policy = 0;
  variants[24].unalign = 1;
  variants[25].pairs = Pairs::All;
  variants[26].split = Split{.rule = Split::Rule::Mod, .operand = 2};
  variants[27].split = Split{.rule = Split::Rule::Div, .operand = 2};
  variants[28].split = Split{.rule = Split::Rule::Mod, .operand = 3};
  variants[29].pages = Pages::Small;
  std::set<std::string> words;
  for (const Options& options : variants) words.insert(join(configuration_words(options), " "));
  EXPECT_EQ(words.size(), variants.size());
}

TEST(ConfigurationWords, AreTheSameWhereverTheOutputsGo) {
  Options options;
  options.csv_path = "x.csv";
  options.json_path = "x.json";
  options.samples_path = "s.csv";
  options.resume = true;
  options.timestamps = true;
  options.timeout = Seconds{5};
  options.enqueue_times = true;
  options.per_operation = true;
  options.skipped_samples = 2;
  options.memory_use = true;
  EXPECT_EQ(configuration_words(options), configuration_words(Options{}));
}

}  // namespace
}  // namespace busbar
