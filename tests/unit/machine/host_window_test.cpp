// SPDX-License-Identifier: BSD-3-Clause
#include "machine/host_window.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/unit/support/temporary_folder.hpp"

namespace busbar::machine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Texts = std::map<FactKey, std::string>;

HostReading reading(const std::string& at, const Texts& texts) {
  HostReading made{.host = "h1", .at = at};
  for (const auto& [key, text] : texts) made.values[key].text = text;
  return made;
}
HostWindow window(const Texts& before, const Texts& after) {
  return {reading("1", before), reading("2", after)};
}
const FactKey kBoot{"kernel.boot", ""};
const FactKey kCarrier{"net.carrier_changes", "eth0"};

TEST(LinesOf, AreAllOfTheFirstReadingAndThenWhatDiffers) {
  const HostReading first = reading("1", {{kCarrier, "1"}, {{"net.mtu", "eth0"}, "1500"}});
  EXPECT_EQ(lines_of(first).size(), 2U);
  const auto later = lines_of(reading("2", {{kCarrier, "3"}}), &first);
  ASSERT_EQ(later.size(), 2U);
  EXPECT_EQ(later[0].value.text, "3");
  EXPECT_EQ(later[1].value.reason, "gone");
}

TEST(HostWindows, KeepFirstAndLastOfAnyNumberOfReadings) {
  HostWindows windows;
  EXPECT_TRUE(windows.add_cells({"1", "h1", "net.carrier_changes", "eth0", "1", ""}));
  EXPECT_TRUE(windows.add_cells({"2", "h1", "net.carrier_changes", "eth0", "3", ""}));
  EXPECT_TRUE(windows.add_cells({"2", "h2", "net.carrier_changes", "eth0", "0", ""}));
  EXPECT_TRUE(windows.add_cells({"3", "h1", "net.carrier_changes", "eth0", "5", ""}));
  EXPECT_FALSE(windows.add_cells({"3", "h1", "no.such_fact", "", "5", ""}));
  EXPECT_FALSE(windows.add_cells({"3", "h1"}));
  ASSERT_EQ(windows.all().size(), 2U);
  EXPECT_EQ(rise_of(*windows.find("h1"), kCarrier), 4);
  EXPECT_EQ(windows.find("h3"), nullptr);
}

TEST(HostWindows, CountNoRiseBetweenRuns) {
  const FactKey errors{"net.receive_errors", "eth0"};
  const FactKey event{"kernel.log", "5"};
  const auto run = [](const Texts& before, const Texts& after) {
    HostWindows windows;
    const HostWindow one = window(before, after);
    for (const FactLine& line : lines_of(one.first)) windows.add(line);
    for (const FactLine& line : lines_of(one.last, &one.first)) windows.add(line);
    return windows;
  };
  // It starts again between the runs, has errors there, and a new port.
  HostWindows both;
  both.add_run(run({{kBoot, "a"}, {kCarrier, "7"}}, {{kBoot, "a"}, {kCarrier, "8"}}));
  both.add_run(run({{kBoot, "b"}, {kCarrier, "3"}, {errors, "6"}, {event, "GPU has fallen off"}},
                   {{kBoot, "b"}, {kCarrier, "5"}, {errors, "6"}}));
  ASSERT_EQ(both.all().size(), 1U);
  EXPECT_EQ(rise_of(both.all()[0], kCarrier), 3);
  EXPECT_EQ(rise_of(both.all()[0], errors), 0);
  EXPECT_THAT(faults_of(both.all()[0]), ElementsAre("eth0: carrier changes +3"));
  both.add_run(run({{kBoot, "b"}, {kCarrier, "9"}}, {{kBoot, "c"}, {kCarrier, "9"}}));
  EXPECT_FALSE(rise_of(both.all()[0], kCarrier));  // reset within a run
}

TEST(RiseOf, IsUnknownWhereTheCounterWasReset) {
  EXPECT_EQ(rise_of(window({{kCarrier, "1"}}, {{kCarrier, "3"}}), kCarrier), 2);
  EXPECT_FALSE(rise_of(window({{kCarrier, "5"}}, {{kCarrier, "3"}}), kCarrier));
  EXPECT_FALSE(
      rise_of(window({{kBoot, "a"}, {kCarrier, "1"}}, {{kBoot, "b"}, {kCarrier, "3"}}), kCarrier));
  EXPECT_FALSE(rise_of(window({}, {{kCarrier, "3"}}), kCarrier));
}

TEST(ChangesOf, LeavesOutWhatVariesByItself) {
  const HostReading before = reading("1", {{{"gpu.clock", "gpu0"}, "1980"}, {kCarrier, "1"}});
  const HostReading after = reading("2", {{{"gpu.clock", "gpu0"}, "1500"}, {kCarrier, "2"}});
  ASSERT_EQ(changes_of(before, after).size(), 1U);
  EXPECT_EQ(changes_of(before, after)[0].rise, 1);
  EXPECT_EQ(changes_of(before, after, true).size(), 2U);
}

TEST(FaultsOf, AreErrorsThatRoseStatesThatChangedAndWhatIsLessThanWhole) {
  const HostWindow one = window(
      {{kCarrier, "1"}, {{"ib.rate", "mlx5_0:1"}, "400 Gb/sec"}, {{"net.sent_bytes", "eth0"}, "1"}},
      {{kCarrier, "1234568"},
       {{"net.mtu", "eth1"}, "9000"},
       {{"ib.rate", "mlx5_0:1"}, "200 Gb/sec"},
       {{"net.sent_bytes", "eth0"}, "9"},
       {{"pcie.width", "0000:17:00.0"}, "8 of 16"},
       {{"pcie.width", "0000:18:00.0"}, "16 of 16"},
       {{"gpu.hw_slowdown", "gpu3"}, "Active"},
       {{"kernel.log", "17"}, "NVRM: Xid 79"}});
  EXPECT_THAT(faults_of(one),
              ElementsAre("mlx5_0:1: rate of a port changed from 400 Gb/sec to 200 Gb/sec",
                          "eth1: MTU 9000 is new", "eth0: carrier changes +1234567",
                          "kernel log: NVRM: Xid 79", "gpu3: slowed by its hardware: heat or power",
                          "0000:17:00.0: PCIe lanes 8 of 16"));
}

TEST(FaultsOf, HasNoneOfWhatAReadingThatWasCutDidNotComeTo) {
  const Texts cut{{kBoot, "a"}, {{"net.mtu", "eth0"}, "9000"}};
  const Texts whole{{kBoot, "a"}, {{"net.mtu", "eth0"}, "9000"}, {{"net.state", "eth0"}, "up"}};
  EXPECT_THAT(faults_of(window(cut, whole)), IsEmpty());
}

TEST(FaultsOf, HasNoneWhereNothingIsWrong) {
  const Texts texts{{kCarrier, "7"}, {{"nvlink.links", "gpu0"}, "18 of 18"}};
  EXPECT_THAT(faults_of(window(texts, texts)), IsEmpty());
}

TEST(ReadFacts, ReadsWhatWasWrittenAndNamesThePlaceOfWhatIsNot) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() + "/facts.csv";
  std::string text = csv_text(fact_columns(), lines_of(reading("1", {{kCarrier, "1"}})));
  folder.write("facts.csv", text);
  EXPECT_EQ(read_facts(path).find("h1")->last.text(kCarrier), "1");
  folder.write("facts.csv", text + "1,h1,what.is_this,,1,\n");
  EXPECT_THAT([&] { (void)read_facts(path); },
              ::testing::ThrowsMessage<Error>(HasSubstr("facts.csv:3: no fact")));
  folder.write("facts.csv", text + "1,h1,kernel.boot,a,\n");
  EXPECT_THAT([&] { (void)read_facts(path); },
              ::testing::ThrowsMessage<Error>(HasSubstr("facts.csv:3: 5 cells")));
  folder.write("facts.csv", "size_bytes,collective\n");
  EXPECT_THAT([&] { (void)read_facts(path); },
              ::testing::ThrowsMessage<Error>(HasSubstr("not a file of facts")));
}

}  // namespace
}  // namespace busbar::machine
