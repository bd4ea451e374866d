// SPDX-License-Identifier: BSD-3-Clause
#include "judge/spec/lint.hpp"
#include "judge/spec/reader.hpp"
#include "tests/unit/judge/spec/specification_text.hpp"

namespace busbar::judge {
namespace {

/// A base in a folder of its own, and specifications beside that folder.
class BasedOn : public testing::Test {
 protected:
  BasedOn() {
    folder_.write("base.toml", kHead + kSet + kPairs + kRule +
                                   "[ceiling]\nsystem = 'dgx-1v'\n[baseline]\n"
                                   "run = 'base'\n[profile.quick]\nlaunches = 3\n");
  }

  Specification derived(const std::string& text, const std::string& profile = {}) {
    return parse_specification(head() + text, path(), profile);
  }
  std::string refused(const std::string& text) {
    return test::refusal_of([&] { static_cast<void>(derived(text)); });
  }
  [[nodiscard]] std::string path() const { return folder_.path("pod.toml"); }
  [[nodiscard]] static std::string head() { return "schema = 1\nbased_on = 'base.toml'\n"; }

  test::TemporaryFolder folder_;
};

TEST_F(BasedOn, KeysOfTablesAndProfilesAreReplacedOneByOne) {
  const std::string own =
      "[system]\nfingerprint = { gpu = 'A' }\n[run]\ntimeout_s = 9\n[profile.quick]\n"
      "max_cv = 0.5\n[profile.full]\nlaunches = 7\n";
  const Specification quick = derived(own, "quick");
  EXPECT_EQ(quick.system.name, "pod");
  EXPECT_TRUE(quick.system.fingerprint.contains("gpu"));
  EXPECT_EQ(std::pair(quick.run.timeout_s, quick.run.launches), std::pair(9.0, 3));
  EXPECT_EQ(quick.noise.max_cv, 0.5);
  EXPECT_EQ(derived(own, "full").run.launches, 7);
}

TEST_F(BasedOn, AListNamesItsEntriesWhichTakeTheirKeysFromTheSameId) {
  const Specification spec = derived(
      "[[device_set]]\nid = 'pairs'\nranks_per_node = 2\n[[device_set]]\nid = 'node'\n"
      "[[expect]]\nid = 'two'\ncollective = 'allgather'\ndevice_set = 'pairs'\n"
      "size = '1MiB'\ncompare = 'absolute'\nvalue = 1\nwarn_below = 1\n"
      "[[expect]]\nid = 'one'\nvalue = 300\n");
  ASSERT_EQ(spec.device_sets.size(), 2U);
  EXPECT_EQ(spec.device_sets[0].id, "pairs");
  EXPECT_EQ(spec.device_sets[0].kind, SetKind::Pairwise);
  EXPECT_EQ(spec.device_sets[0].ranks_per_node, 2);
  ASSERT_EQ(spec.rules.size(), 2U);
  EXPECT_EQ(spec.rules[1].id, "one");
  EXPECT_EQ(spec.rules[1].value, 300);
  EXPECT_EQ(spec.rules[1].bounds.fail_below, 0.9);
  EXPECT_EQ(derived("device_set = [{ id = 'node' }]\n").device_sets.size(), 1U);
}

TEST_F(BasedOn, CeilingAndBaselineAreReplacedWhole) {
  EXPECT_THAT(refused("[ceiling]\nmodel = 'ring'\n"), HasSubstr("needs the key \"system\""));
}

TEST_F(BasedOn, PathsAreRelativeToTheFileThatTheyStandIn) {
  folder_.write("site/pod.toml", "schema = 1\nbased_on = '../base.toml'\n");
  EXPECT_EQ(load(folder_.path("site/pod.toml")).baseline->run, folder_.path("site/../base"));
}

TEST_F(BasedOn, FaultsAndFindingsNameTheFileThatTheyStandIn) {
  EXPECT_THAT(refused("[noise]\nmax_reruns = 2\n"), StartsWith(path() + ":4:14: max_reruns"));
  EXPECT_THAT(refused("[[expect]]\nid = 'one'\nwarn_below = 0.8\n"),
              StartsWith(path() + ":5:14: warn_below = 0.8 must be at least fail_below = 0.9"));
  EXPECT_THAT(refused("device_set = [{ id = 'pairs' }]\n"),
              StartsWith(folder_.path("base.toml") + ":22:14: unknown device_set \"node\""));
  const Specification spec = derived("[[expect]]\nid = 'one'\n");
  EXPECT_THAT(lint_text("pod.toml", lint(spec, "2026-11-21")),
              HasSubstr(folder_.path("base.toml") + ":15:1: warning: no rule is for device_set"));
}

TEST_F(BasedOn, ABaseMayHaveABaseButNotItself) {
  folder_.write("pod.toml", head());
  folder_.write("rack.toml", "schema = 1\nbased_on = 'pod.toml'\n");
  EXPECT_EQ(load(folder_.path("rack.toml")).system.name, "pod");
  folder_.write("base.toml", "schema = 1\nbased_on = 'pod.toml'\n");
  EXPECT_THAT(refused(""), HasSubstr("based_on is more than 8 files deep"));
}

TEST_F(BasedOn, ABaseThatCannotBeReadIsRefusedWhereItIsNamed) {
  const auto message = [&](const std::string& name) {
    const std::string text = "schema = 1\nbased_on = " + name + "\n";
    return test::refusal_of([&] { static_cast<void>(complete_table(text, path())); });
  };
  EXPECT_THAT(message("'no-such'"), StartsWith(path() + ":2:12: no-such: there is no such file"));
  EXPECT_THAT(message("3"), HasSubstr("based_on must be a text in quotes"));
  folder_.write("base.toml", "schema = 2\n");
  EXPECT_THAT(message("'base.toml'"), StartsWith(folder_.path("base.toml") + ":1:10: schema"));
}

}  // namespace
}  // namespace busbar::judge
