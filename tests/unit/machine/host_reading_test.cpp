// SPDX-License-Identifier: BSD-3-Clause
#include "machine/host_reading.hpp"

#include "machine/host_window.hpp"

namespace busbar::machine {
namespace {

using ::testing::Pair;

using Files = std::map<std::string, std::string>;

struct Tree {
  test::TemporaryFolder folder{};

  void add(const std::string& where, const Files& files) const {
    for (const auto& [file, text] : files) folder.write(where + "/" + file, text + "\n");
  }
  void port(const std::string& device, const Files& files) const {
    add("sys/class/infiniband/" + device + "/ports/1", files);
  }
  void device(const std::string& bus, const Files& files) const {
    add("sys/bus/pci/devices/" + bus, files);
  }
  [[nodiscard]] HostReading read() const { return read_host(folder.path(), ""); }
  [[nodiscard]] std::string text(const std::string& fact, const std::string& instance = "") const {
    return read().text({fact, instance});
  }
};

TEST(ReadHost, ReadsPortsOfInfiniBandWhoseDataAreInWordsOfFourBytes) {
  Tree tree;
  tree.port("mlx5_0", {{"state", "4: ACTIVE"},
                       {"rate", "400 Gb/sec (4X NDR)"},
                       {"link_layer", "InfiniBand"},
                       {"counters/port_xmit_data", "1000"},
                       {"counters/symbol_error", "3"},
                       {"hw_counters/out_of_sequence", "7"},
                       {"hw_counters/local_ack_timeout_err", "2"}});
  tree.folder.write("sys/class/infiniband/mlx5_0/fw_ver", "28.39.1002\n");
  const HostReading reading = tree.read();
  EXPECT_EQ(reading.text({"ib.state", "mlx5_0:1"}), "4: ACTIVE");
  EXPECT_EQ(reading.text({"ib.rate", "mlx5_0:1"}), "400 Gb/sec (4X NDR)");
  EXPECT_EQ(reading.text({"ib.sent_bytes", "mlx5_0:1"}), "4000");
  EXPECT_EQ(reading.text({"ib.symbol_errors", "mlx5_0:1"}), "3");
  EXPECT_EQ(reading.text({"ib.firmware", "mlx5_0"}), "28.39.1002");
  EXPECT_EQ(reading.text({"ib.hw", "mlx5_0:1:out_of_sequence"}), "7");
  EXPECT_EQ(reading.text({"ib.hw_errors", "mlx5_0:1:local_ack_timeout_err"}), "2");
  // What errors are is not listed twice.
  EXPECT_FALSE(reading.values.contains({"ib.hw", "mlx5_0:1:local_ack_timeout_err"}));
}

TEST(ReadHost, ReadsRoceWithItsInterfaceAndGids) {
  Tree tree;
  tree.port("mlx5_bond_0", {{"link_layer", "Ethernet"}, {"gid_attrs/types/3", "RoCE v2"}});
  tree.add("sys/class/net/eth2",
           {{"carrier_changes", "2"}, {"mtu", "9000"}, {"statistics/tx_bytes", "123456789012"}});
  EXPECT_EQ(tree.text("ib.gid_type", "mlx5_bond_0:1:3"), "RoCE v2");
  EXPECT_EQ(tree.text("net.carrier_changes", "eth2"), "2");
  EXPECT_EQ(tree.text("net.mtu", "eth2"), "9000");
  EXPECT_EQ(tree.text("net.sent_bytes", "eth2"), "123456789012");
}

TEST(ReadHost, ReadsEfaWhoseCountersAreAllOfTheAdapter) {
  Tree tree;
  tree.port(
      "rdmap16s27",
      {{"state", "4: ACTIVE"}, {"hw_counters/tx_bytes", "5000"}, {"hw_counters/rx_drops", "1"}});
  tree.folder.write("sys/module/efa/version", "2.13.0\n");
  EXPECT_EQ(tree.text("ib.hw", "rdmap16s27:1:tx_bytes"), "5000");
  EXPECT_EQ(tree.text("ib.hw_errors", "rdmap16s27:1:rx_drops"), "1");
  EXPECT_EQ(tree.text("kernel.module", "efa"), "2.13.0");
  EXPECT_FALSE(tree.read().values.contains({"ib.sent_bytes", "rdmap16s27:1"}));
}

TEST(ReadHost, ReadsATreeOfAnyNameAndNumber) {
  Tree tree;
  const std::string port = "g[1]{a,b}*/sys/class/infiniband/mlx5_0/ports/1/counters/";
  tree.folder.write(port + "port_xmit_data", "9223372036854775807\n");
  tree.folder.write(port + "port_rcv_data", "7\n");
  const HostReading reading = read_host(tree.folder.path("g[1]{a,b}*"), "");
  EXPECT_EQ(reading.text({"ib.received_bytes", "mlx5_0:1"}), "28");
  EXPECT_EQ(reading.values.at({"ib.sent_bytes", "mlx5_0:1"}).reason,
            "no number of 63 bits: '9223372036854775807'");
}

TEST(ReadHost, ReadsPcieOfAdaptersAndGpusOnly) {
  Tree tree;
  const std::map<std::string, std::string> link{{"current_link_width", "8"},
                                                {"max_link_width", "16\a\x1b"}};
  tree.device("0000:17:00.0", link);
  tree.device("0000:17:00.0", {{"class", "0x020700"}});
  tree.device("0000:18:00.0", {{"class", "0x030200"},
                               {"aer_dev_correctable", "RxErr 4\nBadTLP 0\nTOTAL_ERR_COR 4"}});
  tree.device("0000:01:00.0", link);
  tree.device("0000:01:00.0", {{"class", "0x010802"}});  // NVMe
  EXPECT_EQ(tree.text("pcie.width", "0000:17:00.0"), "8 of 16");
  EXPECT_EQ(tree.text("pcie.corrected_errors", "0000:18:00.0"), "4");
  EXPECT_FALSE(tree.read().values.contains({"pcie.width", "0000:01:00.0"}));
}

TEST(ReadHost, JoinsWhatAllProcessorsHave) {
  Tree tree;
  tree.add("sys/devices/system/cpu", {{"cpu0/cpufreq/scaling_governor", "powersave"},
                                      {"cpu1/cpufreq/scaling_governor", "powersave"},
                                      {"cpu2/cpufreq/scaling_governor", "performance"},
                                      {"cpu0/thermal_throttle/core_throttle_count", "3"},
                                      {"cpu1/thermal_throttle/core_throttle_count", "3"}});
  tree.folder.write("sys/fs/cgroup/cpu.stat", "usage_usec 1\nnr_throttled 12\n");
  tree.add("dev/nvidia-caps-imex-channels", {{"channel0", ""}, {"channel1", ""}});
  EXPECT_EQ(tree.text("cpu.governor"), "powersave, performance");
  EXPECT_EQ(tree.text("cpu.throttled"), "6");
  EXPECT_EQ(tree.text("cpu.quota_throttled"), "12");
  EXPECT_EQ(tree.text("imex.channels"), "2");
}

TEST(ReadHost, ReadsWhatStandsBehindKeys) {
  Tree tree;
  tree.folder.write("proc/cpuinfo", "model\t: 49\nmodel name\t: AMD EPYC 7742 64-Core\n");
  tree.folder.write("proc/self/limits",
                    "Max open files            1024                 4096       files\n"
                    "Max locked memory         65536                65536      bytes\n");
  tree.folder.write("proc/self/status", "CapEff:\t00000000a80425fb\n");
  EXPECT_EQ(tree.text("cpu.model"), "AMD EPYC 7742 64-Core");
  EXPECT_EQ(tree.text("limit.open_files"), "1024");
  EXPECT_EQ(tree.text("limit.locked_memory"), "65536");
  tree.folder.write("proc/self/status", "CapEff:\t000001ffffffffff\n");
  EXPECT_EQ(tree.text("limit.locked_memory"), "unlimited");
}

TEST(ReadHost, LeavesOutGidsThatAreEmpty) {
  Tree tree;
  tree.port("mlx5_0", {{"gids/0", "fe80:0000:0000:0000:0000:0000:0000:0001"},
                       {"gids/1", "0000:0000:0000:0000:0000:0000:0000:0000"}});
  EXPECT_THAT(tree.text("ib.gid", "mlx5_0:1:0"), HasSubstr("fe80"));
  EXPECT_FALSE(tree.read().values.contains({"ib.gid", "mlx5_0:1:1"}));
}

/// The configuration space of a bridge from bus 0x3a to buses 0x3b to 0x3f.
std::string bridge(char kind, char acs) {
  std::string bytes(4096, '\0');
  bytes[0x0e] = 1;
  bytes.replace(0x18, 3, ":;?");
  bytes[0x34] = 0x40;
  bytes[0x40] = 0x01;  // power management, and then express
  bytes[0x41] = 0x50;
  bytes[0x50] = 0x10;
  bytes[0x52] = static_cast<char>(kind << 4);
  bytes[0x100] = 0x01;  // AER, and then ACS at 0x148
  bytes.replace(0x102, 2, "\x81\x14");
  bytes[0x148] = 0x0d;
  bytes[0x14e] = acs;
  return bytes;
}

TEST(ReadHost, ReadsWhatIsInTheWayOfGpus) {
  Tree tree;
  const auto config = [&](const std::string& bytes) {
    tree.folder.write("sys/bus/pci/devices/0000:3a:04.0/config", bytes);
  };
  tree.device("0000:3a:04.0", {{"class", "0x060400"}});
  config(bridge(6, 0x1d));
  EXPECT_THAT(tree.read().values, IsEmpty());  // no GPU
  tree.device("0001:3c:00.0", {{"class", "0x030200"}, {"vendor", "0x10de"}});
  EXPECT_EQ(tree.text("pcie.acs"), "off");  // of another domain
  tree.device("0000:3c:00.0",
              {{"class", "0x030200"}, {"vendor", "0x10de"}, {"iommu_group/type", "DMA-FQ"}});
  EXPECT_EQ(tree.text("pcie.gpus"), "2");
  EXPECT_EQ(tree.text("pcie.iommu", "0000:3c:00.0"), "DMA-FQ");
  EXPECT_EQ(tree.text("pcie.acs", "0000:3a:04.0"), "switch port");
  EXPECT_EQ(tree.text("pcie.acs"), "on");
  config(bridge(4, 0x1d));
  EXPECT_EQ(tree.text("pcie.acs", "0000:3a:04.0"), "root port");
  config(bridge(6, 0x01));  // it checks sources, and redirects nothing
  EXPECT_EQ(tree.text("pcie.acs"), "off");
  config(bridge(6, 0x1d).substr(0, 64));
  EXPECT_THAT(tree.read().values.at({"pcie.acs", ""}).reason, HasSubstr("root"));
}

TEST(ReadHost, NamesWhatItCannotRead) {
  Tree tree;
  tree.port("mlx5_0", {{"counters/port_xmit_data", "nonsense"}});
  std::filesystem::create_directories(tree.folder.path() + "/sys/class/net/eth0/mtu");
  const HostReading reading = tree.read();
  EXPECT_THAT(reading.values.at({"ib.sent_bytes", "mlx5_0:1"}).reason, HasSubstr("nonsense"));
  EXPECT_THAT(reading.values.at({"net.mtu", "eth0"}).reason, HasSubstr("directory"));
}

TEST(ReadHost, LeavesOutInterfacesOfContainers) {
  Tree tree;
  for (const char* name : {"veth1a", "br-2b", "ifb0", "docker0", "br0", "eth0"}) {
    tree.folder.write(fmt::format("sys/class/net/{}/statistics/tx_bytes", name), "1\n");
  }
  EXPECT_THAT(tree.read().values, SizeIs(2));
}

TEST(ReadHost, TakesTheNameOfATreeFromIt) {
  Tree tree;
  EXPECT_EQ(tree.read().host, tree.folder.path());
  tree.folder.write("proc/sys/kernel/hostname", "node99\n");
  EXPECT_EQ(tree.read().host, "node99");
}

TEST(ReadHost, HasNothingOfAnEmptyTree) { EXPECT_THAT(Tree{}.read().values, IsEmpty()); }

TEST(AddSmiQuery, LeavesOutWhatTheGpuDoesNotHave) {
  HostReading reading;
  add_smi_query("0, 535.104.05, Active\n1, 535.104.05, [N/A]\nbroken\n",
                {"driver_version", "clocks_throttle_reasons.hw_slowdown"}, reading);
  EXPECT_EQ(reading.text({"gpu.driver", "gpu0"}), "535.104.05");
  EXPECT_EQ(reading.text({"gpu.hw_slowdown", "gpu0"}), "Active");
  EXPECT_EQ(reading.values.at({"gpu.hw_slowdown", "gpu1"}).reason, "[N/A]");
}

TEST(AddNvlinkErrors, SumsTheLinksOfAGpu) {
  HostReading reading;
  add_nvlink_errors(
      "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n\t Link 0: Replay Errors: 2\n"
      "\t Link 1: Replay Errors: 3\n\t Link 1: CRC Errors: 1\nGPU 1: NVIDIA H100 (UUID: GPU-2)\n"
      "\t Link 0: Replay Errors: <unknown>\n",
      reading);
  EXPECT_THAT(
      reading.values,
      AllOf(Contains(Pair(FactKey{"nvlink.errors", "gpu0:replay_errors"}, FactValue{.text = "5"})),
            SizeIs(2)));
}

TEST(AddNvlinkStatus, CountsActiveLinksAndTheirSpeeds) {
  HostReading reading;
  add_nvlink_status(
      "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n\t Link 0: 26.562 GB/s\n\t Link 1: <inactive>\n",
      reading);
  EXPECT_EQ(reading.text({"nvlink.links", "gpu0"}), "1 of 2");
  EXPECT_EQ(reading.text({"nvlink.speed", "gpu0"}), "26562");
  EXPECT_THROW(add_nvlink_status("GPU 0: NVIDIA H100 (UUID: GPU-1)\n\t Link 0: 26.5", reading),
               Error);
}

TEST(AddKernelLog, KeepsLinesAboutDevices) {
  HostReading reading;
  add_kernel_log(
      "4,1001,5000,-;NVRM: Xid (PCI:0000:17:00): 79, GPU has fallen off the bus.\n"
      " SUBSYSTEM=pci\n6,1002,6000,-;systemd: started\n"
      "6,1003,7000,-;mlx5_core 0000:18:00.0 eth2: Link down\nnot a line\n",
      reading);
  EXPECT_THAT(reading.text({"kernel.log", "1001"}), HasSubstr("Xid"));
  EXPECT_THAT(reading.text({"kernel.log", "1003"}), HasSubstr("Link down"));
  EXPECT_EQ(reading.values.size(), 2U);
}

TEST(MachineFacts, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const MachineFact& fact : machine_facts()) EXPECT_TRUE(names.insert(fact.name).second);
  EXPECT_GE(names.size(), 40U);
}

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
  const std::string name = "net.carrier_changes";
  for (const auto& [at, host, count] :
       {std::array{"1", "h1", "1"}, {"2", "h1", "3"}, {"2", "h2", "0"}, {"3", "h1", "5"}}) {
    EXPECT_TRUE(windows.add_cells({at, host, name, "eth0", count, ""}));
  }
  EXPECT_FALSE(windows.add_cells({"3", "h1", "no.such_fact", "", "5", ""}));
  EXPECT_FALSE(windows.add_cells({"3", "h1"}));
  EXPECT_THAT(windows.all(), SizeIs(2));
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

TEST(FaultsOf, HasNoneWhereNothingIsWrongAndOfWhatAReadingThatWasCutDidNotComeTo) {
  const Texts whole{{kBoot, "a"}, {kCarrier, "7"}, {{"nvlink.links", "gpu0"}, "18 of 18"}};
  EXPECT_THAT(faults_of(window(whole, whole)), IsEmpty());
  const Texts cut{{kBoot, "a"}, {{"net.mtu", "eth0"}, "9000"}};
  Texts rest = cut;
  rest[{"net.state", "eth0"}] = "up";
  EXPECT_THAT(faults_of(window(cut, rest)), IsEmpty());
}

TEST(ReadFacts, ReadsWhatWasWrittenAndNamesThePlaceOfWhatIsNot) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() + "/facts.csv";
  std::string text = csv_text(fact_columns(), lines_of(reading("1", {{kCarrier, "1"}})));
  folder.write("facts.csv", text);
  EXPECT_EQ(read_facts(path).find("h1")->last.text(kCarrier), "1");
  for (const auto& [damaged, token] :
       {std::pair{text + "1,h1,what.is_this,,1,\n", "facts.csv:3: no fact"},
        {text + "1,h1,kernel.boot,a,\n", "facts.csv:3: 5 cells"},
        {"size_bytes,collective\n", "not a file of facts"}}) {
    folder.write("facts.csv", damaged);
    EXPECT_TRUE(test::failure_of([&] { (void)read_facts(path); }).says(token)) << damaged;
  }
}

}  // namespace
}  // namespace busbar::machine
