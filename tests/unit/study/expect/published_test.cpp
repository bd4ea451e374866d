// SPDX-License-Identifier: BSD-3-Clause
#include <numeric>

#include "base/toml_fields.hpp"
#include "judge/spec/ceiling.hpp"
#include "study/expect/expect.hpp"
#include "topo/predict/predictor.hpp"

namespace busbar::study {
namespace {

/// What is not a collective: from GPU to GPU, between host and GPU, between network ports.
const std::vector<std::string> kCopies{"copy", "host-to-device", "device-to-host", "rdma-write"};

/// Training throughput of a system over another's with as many GPUs, which no program reads.
struct Ratio {
  std::string group{};            ///< the source's, over which it averages
  std::vector<double> percent{};  ///< per number of ranks
};

std::vector<Ratio> kept_ratios() {
  const toml::table file = parse_toml(read_file(std::string(kPublishedFile)).value_or(""), "file");
  const TomlFields fields(file, "file", "the file");
  return mapped(fields.list("ratio"), [](const toml::node* node) {
    const TomlFields one(*node, "file", "[[ratio]]");
    one.allow_only({"model", "group", "system", "over", "ranks", "percent", "source"});
    const auto numbers = one.list("percent");
    return Ratio{one.text("group"),
                 mapped(numbers, [](const auto* each) { return *each->template value<double>(); })};
  });
}

std::string refusal(const std::string& text) {
  return test::refusal_of([&] { (void)parse_published(text, "p.toml"); });
}

const std::string kSource = "[source]\nme = \"My paper\"\n";
const std::string kRate =
    "[[rate]]\nsystem = \"dgx-2\"\ncollective = \"allreduce\"\ntheoretical_GBps = 150\n"
    "condition = \"large\"\nsource = \"me\"\n";

TEST(Published, EveryFigureIsOfAKnownSystemAndCollectiveAndANodeOfTwoRacksIsARack) {
  for (const PublishedRate& rate : kept_published()) {
    SCOPED_TRACE(rate.system + " " + rate.collective + " " + rate.source);
    EXPECT_EQ(topo::load_machine(rate.system).host.name, rate.system) << "not its alias";
    const Collective* collective = find_collective(rate.collective);
    EXPECT_TRUE(contains(kCopies, rate.collective) ||
                (collective != nullptr && collective->name == rate.collective));
    EXPECT_EQ(rate.ranks % rate.nodes, 0);
    EXPECT_TRUE(rate.nodes == 2 || !rate.system.ends_with("-nvl72-x2"));
  }
}

std::optional<double> bound_of(const PublishedRate& rate) {
  const Collective* collective = find_collective(rate.collective);
  if (collective == nullptr) return std::nullopt;
  // Sets of two racks are too large for an exact bound; this one is that of busbar expect.
  if (rate.system.ends_with("-nvl72-x2")) {
    topo::EqualHosts machine = topo::load_machine(rate.system);
    std::vector<int> on_each(static_cast<std::size_t>(rate.ranks / rate.nodes));
    std::iota(on_each.begin(), on_each.end(), 0);
    machine.host = topo::keep_devices(machine.host, on_each);
    return topo::Predictor(machine, {.ranks = rate.ranks}).bound_GBps(*collective);
  }
  const judge::CeilingRule rule{.in_network_reduction = true, .system = rate.system};
  const auto ceiling =
      judge::ceilings_of(rule)(rate.collective, {.ranks = rate.ranks, .nodes = rate.nodes});
  if (!ceiling) return std::nullopt;
  return ceiling->GBps;
}

TEST(LongPublished, NoFigureIsMoreThanTheLinksAllow) {
  std::size_t compared = 0;
  for (const PublishedRate& rate : kept_published()) {
    if (!rate.busbw_GBps) continue;
    std::optional<double> allowed = rate.theoretical_GBps;
    if (allowed) {
      EXPECT_GE(*rate.busbw_GBps / *allowed, 0.74) << rate.system << " " << rate.condition;
    } else {
      allowed = bound_of(rate);
    }
    if (!allowed) continue;
    EXPECT_LE(*rate.busbw_GBps, *allowed)
        << rate.system << " " << rate.collective << " " << rate.ranks << " " << rate.condition;
    ++compared;
  }
  EXPECT_GT(compared, 100U);
}

/// "dgx-h100 1x8 allreduce 8 GiB in 478.9 GB/s (measured)" of the first that fits.
std::string described(const PublishedRate& rate) {
  const std::string place = rate.in_place ? (*rate.in_place ? " in" : " out") : "";
  const std::string figure = rate.busbw_GBps ? fmt::format("{:g} GB/s", *rate.busbw_GBps)
                                             : fmt::format("{:g} us", rate.time_us.value_or(0));
  return fmt::format("{} {}x{} {} {}{} {} ({})", rate.system, rate.nodes, rate.ranks / rate.nodes,
                     rate.collective, rate.size ? format_bytes(*rate.size) : "-", place, figure,
                     name(rate.evidence));
}

TEST(LongPublished, NoMeasuredFigureExceedsTheBoundByMoreThanRounding) {
  constexpr double kRounding = 1.005;
  std::size_t between_hosts = 0;
  for (const PublishedRate& rate : kept_published()) {
    const Collective* collective = find_collective(rate.collective);
    if (!rate.busbw_GBps || rate.evidence != RateEvidence::Measured || collective == nullptr)
      continue;
    topo::EqualHosts machine = topo::load_machine(rate.system);
    const auto each = static_cast<int>(topo::device_count(machine.host));
    const bool one_rack = rate.nodes <= 18;  // several racks: the figures of gb200-nvl72-x2
    if (rate.nodes < 2 || !one_rack || rate.ranks / rate.nodes > each) continue;
    // Hosts are filled one after the other, so fewer GPUs of each are a smaller machine.
    machine.host.devices.resize(topo::to_size(std::max(1, rate.ranks / rate.nodes)));
    machine.host.p2p.clear();
    machine.hosts = rate.nodes;
    const topo::Predictor predictor(machine, {.ranks = rate.ranks});
    const auto bound = predictor.bound_GBps(*collective);
    if (!bound) continue;
    EXPECT_LE(*rate.busbw_GBps, *bound * kRounding) << described(rate);
    ++between_hosts;
  }
  EXPECT_GT(between_hosts, 30U);
}

TEST(Published, FiguresOfOtherPathsThanTheSystemsOwnAreNoReference) {
  std::map<std::string, bool> usual;
  for (const PublishedRate& rate : kept_published()) usual[described(rate)] = rate.usual;
  for (const char* line : {
           // Suspect; over the network though NVLink joins the trays; without the NVLink bridges.
           "gb300-nvl72-x2 2x64 alltoall 8 GiB out 47.3 GB/s (measured)",
           "gb300-nvl72 2x4 allgather 8 GiB out 357.7 GB/s (measured)",
           "gb300-nvl72 2x4 allgather 8 GiB in 375 GB/s (measured)",
           "gb300-nvl72 2x4 allgather 4 KiB out 28.5 us (measured)",
           "gb300-nvl72 2x4 allreduce - 44 GB/s (user)",
           "h100-nvl-pair 1x2 allreduce 1 GiB out 50 GB/s (measured)",
       }) {
    ASSERT_TRUE(usual.contains(line)) << line;
    EXPECT_FALSE(usual.at(line)) << line;
  }
  EXPECT_TRUE(usual.at("h100-nvl-pair 1x2 allreduce 1 GiB out 211 GB/s (measured)"));
}

TEST(Published, AveragesAreThePrintedOnes) {  // W19
  const std::map<std::string, std::vector<double>> cases{
      {"high throughput", {73.22, 64.94, 60.26, 54.83}},
      {"low throughput", {65.82, 58.37, 58.51, 57.27}},
      {"", {68.99, 61.19, 59.26, 56.22}}};
  for (const auto& [group, printed] : cases) {
    std::vector<double> sums(4);
    double count = 0;
    for (const Ratio& ratio : kept_ratios()) {
      if (!group.empty() && ratio.group != group) continue;
      ASSERT_EQ(ratio.percent.size(), 4U) << group;
      for (std::size_t i = 0; i < 4; ++i) sums[i] += ratio.percent[i];
      ++count;
    }
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(sums[i] / count, printed[i], 0.01) << group;
  }
}

TEST(Published, AListOfFiguresIsOfSizesOrOfRanks) {
  const auto lines_of = [](const std::string& keys) {
    return mapped(parse_published(kSource + kRate + keys, "p.toml"), described);
  };
  EXPECT_THAT(lines_of("ranks = [8]\nsizes = [\"1M\", \"1G\"]\nbusbw_GBps = [36, 360.5]\n"),
              ElementsAre("dgx-2 1x8 allreduce 1 MiB 36 GB/s (measured)",
                          "dgx-2 1x8 allreduce 1 GiB 360.5 GB/s (measured)"));
  EXPECT_THAT(lines_of("ranks = [4, 8]\nsize = \"1G\"\nnodes = 2\nbusbw_GBps = [36, 72]\n"
                       "placement = \"in\"\nevidence = \"user\"\n"),
              ElementsAre("dgx-2 2x2 allreduce 1 GiB in 36 GB/s (user)",
                          "dgx-2 2x4 allreduce 1 GiB in 72 GB/s (user)"));
  EXPECT_THAT(lines_of("ranks = [4, 8]\nsizes = [\"8\", \"64\"]\ntime_us = 9\n"
                       "placement = \"out\"\n"),
              ElementsAre("dgx-2 1x4 allreduce 8 B out 9 us (measured)",
                          "dgx-2 1x4 allreduce 64 B out 9 us (measured)",
                          "dgx-2 1x8 allreduce 8 B out 9 us (measured)",
                          "dgx-2 1x8 allreduce 64 B out 9 us (measured)"));
}

TEST(Published, FaultsAreReportedWithTheirPlace) {
  EXPECT_EQ(parse_published(kSource + kRate + "ranks = [2]\n", "p.toml").front().source,
            "My paper");
  for (const auto& [text, token] : std::vector<std::pair<std::string, const char*>>{
           {"[[rate", "results/reference/README.md"},
           {kSource + kRate, "p.toml:3:1: [[rate]] needs the key \"ranks\""},
           {kRate + "ranks = [2]\n", "unknown source \"me\""},
           {kSource +
                "[[rate]]\nsystem = \"a\"\ncollective = \"copy\"\nranks = [2]\nsource = \"me\"\n",
            "needs busbw_GBps, time_us or theoretical_GBps"}}) {
    EXPECT_THAT(refusal(text), HasSubstr(token));
  }
  for (const auto& [keys, token] :
       {std::pair{"ranks = [4, 2]\n", "p.toml:9:13: ranks must"},
        {"ranks = [2]\nbusbw_GBps = 0\n", "above 0"},
        {"ranks = [2]\nsize = \"1 apple\"\n", "p.toml:10:8: size"},
        {"ranks = [2]\nsizes = []\n", "sizes must be a list that is not empty"},
        {"ranks = [2]\nsize = \"1G\"\nsizes = [\"1G\"]\n", "in place of size"},
        {"ranks = [2]\nsizes = [\"1M\", \"1G\"]\nbusbw_GBps = [1]\n",
         "busbw_GBps has 1 numbers, and sizes has 2"},
        {"ranks = [2, 4]\ntime_us = [1, 2, 3]\n", "time_us has 3 numbers, and ranks has 2"},
        {"ranks = [2]\ntime_us = [\"1\"]\n", "time_us must be numbers above 0"},
        {"ranks = [2]\nevidence = \"rumour\"\n", "unknown evidence \"rumour\""},
        {"ranks = [2]\nplacement = \"both\"\n", "unknown placement \"both\""},
        {"ranks = [2]\nnodes = 0\n", "nodes must be a whole number"}}) {
    EXPECT_THAT(refusal(kSource + kRate + keys), HasSubstr(token));
  }
}

}  // namespace
}  // namespace busbar::study
