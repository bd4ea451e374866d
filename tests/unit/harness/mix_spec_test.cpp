// SPDX-License-Identifier: BSD-3-Clause
#include "harness/mix_spec.hpp"

#include "harness/options.hpp"
#include "tests/unit/support/fake_bootstrap.hpp"

namespace busbar {
namespace {

/// "tp allreduce 1048576 0-1 2-3": a line for each group.
std::string text_of(const std::vector<MixGroup>& groups) {
  return join_each(groups, "\n", [](const MixGroup& group) {
    return fmt::format(
        "{} {} {} {}", group.name, group.collective->name, group.size,
        join_each(group.sets, " ", [](const std::vector<int>& set) { return format_ranges(set); }));
  });
}

std::string file_of(std::string_view lines, std::string_view collective = "allreduce",
                    std::string_view size = "64", std::string_view name = "a") {
  return fmt::format("[[group]]\nname = \"{}\"\ncollective = \"{}\"\nsize = {}\n{}", name,
                     collective, size, lines);
}

TEST(MixSpec, HasRanksInThreeSpellings) {
  const auto ranks = [](const char* text) {
    return text_of(parse_mix(file_of(fmt::format("ranks = {}", text)), "m.toml", 8));
  };
  EXPECT_EQ(ranks("\"7,0-2\""), "a allreduce 64 0-2,7");
  EXPECT_EQ(ranks("[5, 3]"), "a allreduce 64 3,5");
  EXPECT_EQ(ranks("[\"0-1\", \"4,6\"]"), "a allreduce 64 0-1 4,6");
}

TEST(MixSpec, HasRanksInSeveralGroupsAndAllFigures) {
  const auto groups = parse_mix(file_of("ranks = \"0-3\"\nroot = 3\ngap_us = 50\nstart_us = 7\n",
                                        "broadcast", "\"2M\"", "x") +
                                    file_of("ranks = [3, 4]"),
                                "m.toml", 5);
  EXPECT_EQ(text_of(groups), "x broadcast 2097152 0-3\na allreduce 64 3-4");
  EXPECT_EQ(groups[0].root, 3);
  EXPECT_EQ(groups[0].gap_us, 50);
  EXPECT_EQ(groups[0].start_us, 7);
  EXPECT_EQ(groups[1].set_of(2), nullptr);
  EXPECT_EQ(*groups[1].set_of(4), (std::vector{3, 4}));
}

TEST(MixSpec, IsRefusedWithThePlaceOfTheMistake) {
  const std::string two = "ranks = [0, 1]\n";
  const std::vector<std::pair<std::string, const char*>> mistakes{
      {"", "no [[group]]"},
      {"group = 3", "must be a list"},
      {"[group]\nname = \"a\"", "must be a list"},
      {"x = 1", "x"},
      {file_of(""), "ranks"},
      {file_of("ranks = []"), "two ranks"},
      {file_of("ranks = [1]"), "two ranks"},
      {file_of("ranks = [\"0-1\", \"2\"]"), "two ranks"},
      {file_of("ranks = \"0-4\""), "no rank 4; give 0 to 3"},
      {file_of("ranks = [-3, 1]"), "no rank"},
      {file_of("ranks = [4294967296, 1]"), "no rank"},
      {file_of("ranks = [\"0-1\", \"1-2\"]"), "rank 1 twice"},
      {file_of("ranks = [1, \"2-3\"]"), "not both"},
      {file_of("ranks = [1.5, 2]"), "expected numbers"},
      {file_of("ranks = \"all\""), "not a list of ranks"},
      {file_of("ranks = \"0,2147483647\""), "no rank 2147483647; give 0 to 3"},
      {file_of("ranks = 3"), "must be a list"},
      {file_of(two + "gap_us = -1"), "gap_us"},
      {file_of(two + "gap_us = \"1\""), "gap_us"},
      {file_of(two + "root = 0"), "has no root"},
      {file_of(two + "gap = 1"), "gap_us"},
      {file_of(two + file_of(two)), "already"},
      {file_of(two, "reduce", "1", "a b"), "one word"},
      {file_of(two, "allredcue"), "allreduce"},
      {file_of(two, "alltoallv"), "alltoall"},
      {file_of(two, "reduce", "\"x\""), "size"},
      {file_of(two, "reduce", "0"), "expected bytes"},
      {file_of(two + "root = 2", "reduce"), "root"}};
  for (const auto& [file, words] : mistakes) {
    const auto failure =
        test::failure_of([&, &text = file] { (void)parse_mix(text, "m.toml", 4); });
    EXPECT_EQ(failure.status, Status::Usage) << file;
    EXPECT_TRUE(failure.says("m.toml:") && failure.says(words)) << words << failure.message;
  }
}

TEST(ReadMix, RefusesGapsInWhichRanksSeemToHang) {
  const test::TemporaryFolder folder;
  test::FakeBootstrap world(0, 2);
  Options options;
  options.timeout = Seconds{8};
  options.mix = folder.path("m.toml");
  folder.write("m.toml", file_of("ranks = [0, 1]\ngap_us = 700000\nstart_us = 400000"));
  EXPECT_EQ(read_mix(world, options).size(), 1U);
  folder.write("m.toml", file_of("ranks = [0, 1]\ngap_us = 10000000"));
  test::expect_failure(Status::Usage, {"m.toml: group a: ", "are 50 s", "give less, or -T 200"},
                       [&] { (void)read_mix(world, options); });
  options.timeout = Seconds{600};
  EXPECT_EQ(read_mix(world, options).size(), 1U);
}

const std::vector<HostRanks> kOneHost{{"h", {0, 1, 2, 3, 4, 5}}};

TEST(MixPreset, DividesTheRanks) {
  EXPECT_EQ(text_of(preset_mix("tp+dp", {{"g", {0, 2}}, {"h", {1, 3}}}, 4, 64)),
            "tp allreduce 64 0,2 1,3\ndp allreduce 64 0-1 2-3");
  EXPECT_EQ(text_of(preset_mix("tp+dp", kOneHost, 6, 64)),
            "tp allreduce 64 0-1 2-3 4-5\ndp allreduce 64 0,2,4 1,3,5");
  EXPECT_EQ(text_of(preset_mix("incast:3", kOneHost, 6, 64)),
            "sender1 broadcast 64 0-1\nsender2 broadcast 64 0,2\nsender3 broadcast 64 0,3\n"
            "victim broadcast 64 4-5");
  EXPECT_EQ(text_of(preset_mix("incast:2", kOneHost, 3, 64)),
            "sender1 broadcast 64 0-1\nsender2 broadcast 64 0,2");
  EXPECT_EQ(text_of(preset_mix("aggressor", kOneHost, 6, 64)),
            "victim allreduce 64 0,2,4\naggressor alltoall 64 1,3,5");
}

TEST(MixPreset, NeedsEnoughRanks) {
  const std::vector<HostRanks> hosts{{"g", {0, 1}}, {"h", {2}}};
  for (const char* preset : {"tp+dp", "incast:3", "incast:0", "incast:x", "aggressor"}) {
    const auto failure = test::failure_of([&] { (void)preset_mix(preset, hosts, 3, 64); });
    EXPECT_EQ(failure.status, Status::Usage) << preset;
  }
  EXPECT_FALSE(is_mix_preset("tp+dp.toml"));
  EXPECT_TRUE(is_mix_preset("incast:x"));
}

}  // namespace
}  // namespace busbar
