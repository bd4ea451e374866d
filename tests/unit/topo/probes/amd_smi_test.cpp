// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/amd_smi.hpp"

#include "tests/unit/topo/probes/tree_text.hpp"

namespace busbar::topo {
namespace {

using Names = std::vector<std::string>;
using Cell = std::function<std::string(int, int)>;

/// A table as the tools print them, under a title.
std::string table(const std::string& title, const Names& gpus, const Cell& cell) {
  std::string text = fmt::format("{}\n       {}\n", title, fmt::join(gpus, "         "));
  for (int i = 0; i < static_cast<int>(gpus.size()); ++i) {
    text += gpus[static_cast<std::size_t>(i)];
    for (int j = 0; j < static_cast<int>(gpus.size()); ++j) text += "   " + cell(i, j);
    text += "\n";
  }
  return text + "\n";
}

Cell all(const std::string& own, const std::string& other) {
  return [=](int i, int j) { return i == j ? own : other; };
}

/// rocm-smi --showtopo of two pairs with xGMI, one on each NUMA node.
std::string rocm_text() {
  const Names gpus{"GPU0", "GPU1", "GPU2", "GPU3"};
  const auto cells = [](const char* own, const char* near, const char* far) -> Cell {
    return [=](int i, int j) { return i == j ? own : i / 2 == j / 2 ? near : far; };
  };
  std::string text = "===== ROCm System Management Interface =====\n";
  text += "WARNING: AMD GPU device(s) is/are in a low-power state.\n\n";
  text += table("=== Weight between two GPUs ===", gpus, cells("0", "15", "72"));
  text += table("=== Hops between two GPUs ===", gpus, cells("0", "1", "3"));
  text += table("=== Link Type between two GPUs ===", gpus, cells("0", "XGMI", "PCIE"));
  text += "=== Numa Nodes ===\n";
  for (int i = 0; i < 4; ++i) {
    text += fmt::format(
        "GPU[{0}]\t\t: (Topology) Numa Node: {1}\n"
        "GPU[{0}]\t\t: (Topology) Numa Affinity: {1}\n",
        i, i / 2);
  }
  return text + "===== End of ROCm SMI Log =====\n";
}

const Names kBuses{"0000:c1:00.0", "0000:c6:00.0", "0000:c9:00.0"};

/// amd-smi topology of three GPUs: four links, one link, and none between the last two.
std::string amd_text(const std::string& access = "ENABLED") {
  const Cell weight = [](int i, int j) { return i == j ? "0" : i + j == 3 ? "30" : "15"; };
  const Cell bandwidth = [](int i, int j) {
    return i == j ? "N/A" : i + j == 1 ? "50000-200000" : "50000-50000";
  };
  return table("ACCESS TABLE:", kBuses, all("ENABLED", access)) +
         table("WEIGHT TABLE:", kBuses, weight) + table("HOPS TABLE:", kBuses, all("0", "1")) +
         table("LINK TYPE TABLE:", kBuses, all("SELF", "XGMI")) +
         table("NUMA BW TABLE:", kBuses, bandwidth) +
         table("CACHE COHERANCY TABLE:", kBuses, all("SELF", "C")) +
         table("ATOMICS TABLE:", kBuses, all("SELF", "64,32")) +
         "Legend:\n  SELF = Current GPU\n  ENABLED / DISABLED = Link is enabled or disabled\n";
}

std::string what(const std::string& text) {
  return test::failure_of([&] { (void)parse_amd_topology(text, "f"); }).message;
}

TEST(ParseAmdTopology, ReadsRocmSmi) {
  const SmiProbe topology = parse_amd_topology(rocm_text(), "f");
  EXPECT_EQ(topology.tool, "rocm-smi");
  EXPECT_THAT(topology.matrix->gpus, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(topology.matrix->cells[0], ElementsAre("X", "XGMI", "SYS", "SYS"));
  EXPECT_THAT(topology.matrix->cells[3], ElementsAre("SYS", "SYS", "XGMI", "X"));
  EXPECT_THAT(topology.matrix->numa_affinity, ElementsAre("0", "0", "1", "1"));
  EXPECT_FALSE(topology.p2p);
}

TEST(ParseAmdTopology, ReadsAmdSmiWithLinksSideBySide) {
  const SmiProbe topology = parse_amd_topology(amd_text(), "f");
  EXPECT_EQ(topology.tool, "amd-smi");
  EXPECT_EQ(topology.matrix->bus_ids, kBuses);
  EXPECT_THAT(topology.matrix->cells[0], ElementsAre("X", "XGMI4", "XGMI"));
  EXPECT_THAT(topology.matrix->cells[1], ElementsAre("XGMI4", "X", "SYS")) << "through another GPU";
  ASSERT_TRUE(topology.p2p);
  EXPECT_EQ(topology.p2p->cells[0][1], "OK");
  EXPECT_EQ(parse_amd_topology(amd_text("DISABLED"), "f").p2p->cells[0][1], "NS");
}

// As of an MI355X whose driver reports weights and bandwidths of 0.
TEST(ParseAmdTopology, TakesEveryXgmiForALinkWhereTheDriverHasNoWeights) {
  const SmiProbe topology =
      parse_amd_topology(table("WEIGHT TABLE:", kBuses, all("0", "0")) +
                             table("LINK TYPE TABLE:", kBuses, all("SELF", "XGMI")) +
                             table("NUMA BW TABLE:", kBuses, all("N/A", "0-0")),
                         "f");
  EXPECT_THAT(topology.matrix->cells[1], ElementsAre("XGMI", "X", "XGMI"));
  EXPECT_FALSE(topology.matrix->shows_host);
}

TEST(ParseAmdTopology, ReadsBothFormsOfJsonOfAmdSmi) {
  const std::string links = R"([
    {"gpu": 0, "bdf": "0000:08:00.0", "links": [
      {"gpu": 0, "bdf": "0000:08:00.0", "weight": 0, "link_status": "ENABLED",
       "link_type": "SELF", "num_hops": 0, "bandwidth": "N/A"},
      {"gpu": 1, "bdf": "0000:44:00.0", "weight": 15, "link_status": "ENABLED",
       "link_type": "XGMI", "num_hops": 1, "bandwidth": "50000-100000"}]},
    {"gpu": 1, "bdf": "0000:44:00.0", "links": [
      {"gpu": 1, "bdf": "0000:44:00.0", "weight": 0, "link_status": "ENABLED",
       "link_type": "SELF", "num_hops": 0, "bandwidth": "N/A"},
      {"gpu": 0, "bdf": "0000:08:00.0", "weight": 15, "link_status": "ENABLED",
       "link_type": "XGMI", "num_hops": 1, "bandwidth": "50000-100000"}]}])";
  const std::string rows = R"([
    {"gpu": 0, "link_accessibility": {"gpu_0": "ENABLED", "gpu_1": "DISABLED"},
     "weight": {"gpu_0": 0, "gpu_1": 40}, "hops": {"gpu_0": 0, "gpu_1": 2},
     "link_type": {"gpu_0": "SELF", "gpu_1": "PCIE"},
     "numa_bandwidth": {"gpu_0": "N/A", "gpu_1": "N/A"}},
    {"gpu": 1, "link_accessibility": {"gpu_0": "DISABLED", "gpu_1": "ENABLED"},
     "weight": {"gpu_0": 40, "gpu_1": 0}, "hops": {"gpu_0": 2, "gpu_1": 0},
     "link_type": {"gpu_0": "PCIE", "gpu_1": "SELF"},
     "numa_bandwidth": {"gpu_0": "N/A", "gpu_1": "N/A"}}])";
  const SmiProbe now = parse_amd_topology(links, "f");
  EXPECT_EQ(now.matrix->cells[0][1], "XGMI2");
  EXPECT_EQ(now.matrix->bus_ids[1], "0000:44:00.0");
  EXPECT_EQ(now.p2p->cells[1][0], "OK");
  const SmiProbe before = parse_amd_topology(rows, "f");
  EXPECT_EQ(before.matrix->cells[0][1], "NODE");
  EXPECT_EQ(before.p2p->cells[0][1], "NS");
}

TEST(ParseAmdTopology, ReadsTheJsonOfRocmSmiBelowItsWarning) {
  const SmiProbe topology = parse_amd_topology(
      "WARNING: AMD GPU device(s) is/are in a low-power state.\n"
      R"({"card0": {"(Topology) Numa Node": "0", "(Topology) Numa Affinity": "0"},
          "card1": {"(Topology) Numa Node": "1", "(Topology) Numa Affinity": "1"},
          "system": {"(Topology) Weight between DRM devices 0 and 1": "15",
                     "(Topology) Hops between DRM devices 0 and 1": "1",
                     "(Topology) Link type between DRM devices 0 and 1": "XGMI"}})",
      "f");
  EXPECT_EQ(topology.tool, "rocm-smi");
  EXPECT_EQ(topology.matrix->cells[1][0], "XGMI");
  EXPECT_THAT(topology.matrix->numa_affinity, ElementsAre("0", "1"));
}

TEST(ParseAmdTopology, RefusesATextThatIsCutShortOrReadsTheSameLinks) {
  for (const std::string& text : {rocm_text(), amd_text()}) {
    const auto whole = parse_amd_topology(text, "f").matrix->cells;
    for (std::size_t length = 0; length < text.size(); ++length) {
      SmiMatrix matrix;
      const std::string part = text.substr(0, length);
      const test::Failure failure =
          test::failure_of([&] { matrix = parse_amd_topology(part, "f").matrix.value(); });
      EXPECT_TRUE(failure.is_one_line());
      if (failure.status != Status::Ok) continue;
      EXPECT_EQ(matrix.cells.size(), whole.size()) << part;
    }
  }
}

TEST(ParseAmdTopology, NamesThePlaceOfADamage) {
  std::string text = rocm_text();
  const auto damaged = [&](const std::string& from, const std::string& to) {
    std::string other = text;
    other.replace(other.find(from), from.size(), to);
    return what(other);
  };
  EXPECT_THAT(damaged("15", ""), HasSubstr("f:6: 3 of 4 cells"));
  EXPECT_THAT(damaged("XGMI", "XGM"), HasSubstr("'XGM' between GPUs 0 and 1"));
  EXPECT_THAT(damaged("XGMI", "PCIE"), HasSubstr("GPUs 0 and 1 disagree"));
  EXPECT_THAT(what(text.substr(0, text.find("=== Link"))), HasSubstr("no table of link types"));
  EXPECT_THAT(what("WEIGHT TABLE:\n" + amd_text()), HasSubstr("the table of weight has 0 of 0"));
  EXPECT_THAT(what("[{\"gpu\": 0"), HasSubstr("not valid JSON"));
  EXPECT_THAT(what("[1]"), HasSubstr("not an object"));
  EXPECT_THAT(what(R"([{"gpu": 0, "links": "1"}])"), HasSubstr("not a list"));
  EXPECT_THAT(what("{}"), HasSubstr("not a topology"));
}

TEST(ParseAmdGpus, ReadsStaticAndListAsTextAndJson) {
  const std::string text =
      "CPU: 0\n    SMU:\n        FW_VERSION: 85.90.0\nGPU: 0\n    ASIC:\n"
      "        MARKET_NAME: AMD Instinct MI300X\n        OAM_ID: 0\n    BUS:\n"
      "        BDF: 0000:05:00.0\n        MAX_PCIE_WIDTH: 16\n        MAX_PCIE_SPEED: 32 GT/s\n"
      "        PCIE_INTERFACE_VERSION: Gen 5\n    BOARD:\n        PRODUCT_NAME: N/A\n    NUMA:\n"
      "        NODE: 1\n        AFFINITY: 0\n        CPU AFFINITY:\n            0xffff\n";
  const std::string json =
      R"({"gpu_data": [{"gpu": 0, "asic": {"market_name": "AMD Instinct MI300X"},
          "bus": {"bdf": "0000:05:00.0", "max_pcie_width": 16,
                  "max_pcie_speed": {"value": 32, "unit": "GT/s"},
                  "pcie_interface_version": "Gen 5"}, "numa": {"node": 1, "affinity": 0}}]})";
  for (const std::string& form : {text, json}) {
    ASSERT_TRUE(is_amd_gpus(form));
    EXPECT_THAT(sample::lines_of(parse_amd_gpus(form, "f")),
                ElementsAre("0  AMD Instinct MI300X at 0000:05:00.0 PCIe 5 x16 node 1"));
  }
  const std::string list =
      "GPU: 0\n    BDF: 0000:05:00.0\n    UUID: 12ff74a1-0000-1000-8000-000000000001\n    NODE_ID: "
      "2\n\nGPU: 1\n    BDF: 0000:26:00.0\n    UUID: 12ff74a1-0000-1000-8000-000000000002\n"
      "    NODE_ID: 3\n";
  EXPECT_THAT(sample::lines_of(parse_amd_gpus(list, "f")),
              ElementsAre("0 12ff74a1-0000-1000-8000-000000000001  at 0000:05:00.0",
                          "1 12ff74a1-0000-1000-8000-000000000002  at 0000:26:00.0"));
  const std::string after =
      "GPU: 0\n    ASIC:\n        MARKET_NAME: X\n    BDF: 0000:05:00.0\n";  // ASIC's end
  EXPECT_EQ(parse_amd_gpus(after, "f").at(0).bus_id, "0000:05:00.0");
}

TEST(ParseAmdGpus, RefusesWhatIsCutShort) {
  for (const auto& [text, token] :
       {std::pair{"GPU: 0\n    BDF: 0000:05:00.0\n    UUID: a\nGPU: 1\n    BDF: 0000:26:00.0\n",
                  "f: GPU 1: fewer lines than GPU 0: cut short"},
        {"GPU: 0\n    BDF: 0000:05:00\n", "'0000:05:00'"},
        {"GPU: 1\n    BDF: 0000:05:00.0\n", "'1' is not its number"},
        {"GPU: 0\n", "no name and no PCI address"},
        {"BDF: x\n", "f: no line `GPU: 0`"}}) {
    test::expect_failure(Status::Usage, token,
                         [input = text] { (void)parse_amd_gpus(input, "f"); });
  }
}

}  // namespace
}  // namespace busbar::topo
