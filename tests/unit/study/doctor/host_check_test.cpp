// SPDX-License-Identifier: BSD-3-Clause
#include "study/doctor/host_check.hpp"

namespace busbar::study {
namespace {

using Texts = std::map<machine::FactKey, std::string>;

HostView view_of(const Texts& texts) {
  HostView view;
  for (const auto& [key, text] : texts) view.facts.values[key].text = text;
  return view;
}
/// The only finding of a check.
HostFinding found(const HostView& view, const std::string& check) {
  std::vector<HostFinding> all = check_host(view);
  std::erase_if(all, [&](const HostFinding& finding) { return finding.check != check; });
  EXPECT_EQ(all.size(), 1U);
  return all.front();
}
Severity severity(const HostView& view, const std::string& check) {
  return found(view, check).severity;
}
const Texts kGpus{{{"gpu.driver", "gpu0"}, "550"}, {{"gpu.driver", "gpu1"}, "550"}};

TEST(CheckHost, WantsSharedMemoryForARankPerCoreAndMoreForGpus) {
  HostView view = view_of({{{"cpu.online", ""}, "0-7"}});
  view.shared_memory = 64 * kMiB;
  EXPECT_EQ(severity(view, "shared-memory"), Severity::Note);
  view.shared_memory = 63 * kMiB;
  EXPECT_THAT(found(view, "shared-memory").cure, HasSubstr("size=64m"));
  view.facts.values[{"cpu.smt", ""}].text = "1";
  EXPECT_EQ(severity(view, "shared-memory"), Severity::Note);
  view = view_of(kGpus);
  view.shared_memory = 64 * kMiB;
  EXPECT_THAT(found(view, "shared-memory").cure, HasSubstr("--shm-size=1024m"));
}

TEST(CheckHost, HintsAtProcessorsThatTheCgroupDoesNotGrant) {
  HostView view = view_of({{{"cpu.online", ""}, "0-7"}});
  EXPECT_EQ(severity(view, "cpu-quota"), Severity::Note);
  view.processors = 2.5;
  EXPECT_EQ(severity(view, "cpu-quota"), Severity::Hint);
  EXPECT_THAT(found(view, "cpu-quota").text, HasSubstr("2.5 of 8"));
}

TEST(CheckHost, ComparesTheMpiOfTheProgramsWithTheLauncher) {
  HostView view;
  view.launcher = LauncherView{.library = {"MPICH 4.0.2", MpiFamily::Mpich},
                               .plain = "mpirun",
                               .plain_version = "mpirun (Open MPI) 4.1.4\n",
                               .own = "mpiexec.mpich"};
  EXPECT_EQ(found(view, "mpi-launcher").cure, "mpiexec.mpich -n 2 ./allreduce_perf");
  view.launcher->own = "mpiexec";  // Open MPI's
  EXPECT_THAT(found(view, "mpi-launcher").cure, HasSubstr("make"));
  view.launcher->library = {"Intel MPI", MpiFamily::Other};
  EXPECT_EQ(severity(view, "mpi-launcher"), Severity::Note);
}

TEST(CheckHost, KnowsTheInterfaceThatNcclTakes) {
  HostView view = view_of(kGpus);
  view.nccl.emplace();
  const auto of = [&](const std::vector<InterfaceAddress>& interfaces) {
    view.interfaces = interfaces;
    return found(view, "nccl-interface");
  };
  const InterfaceAddress bridge{"br-1", "172.18.0.1", true};
  const InterfaceAddress ethernet{"eth0", "10.0.0.4", true};
  EXPECT_EQ(of({{"docker0", "172.17.0.1", true}, ethernet, bridge}).severity, Severity::Note);
  EXPECT_EQ(of({bridge, ethernet}).cure, "export NCCL_SOCKET_IFNAME==eth0");
  EXPECT_EQ(of({bridge}).severity, Severity::Note);  // there is no other
  EXPECT_EQ(of({{"br-1", "172.18.0.1", false}, ethernet}).severity, Severity::Note);
  EXPECT_EQ(of({bridge, ethernet, {"ib0", "10.1.0.4", true}}).severity, Severity::Note);
  EXPECT_EQ(of({{"ib0", "169.254.7.7", true}, ethernet}).severity, Severity::Problem);
  // An interface is known by its first address.
  EXPECT_EQ(of({ethernet, bridge, {"eth0", "fe80::1%eth0", true}}).severity, Severity::Note);
}

TEST(CheckHost, ReportsWhatFactsMarkAndSlotsAsHints) {
  const machine::FactKey slot{"pcie.width", "0000:17:00.0"};
  HostView view = view_of({{{"net.carrier_changes", "e0"}, "3"}, {slot, "8 of 16"}});
  EXPECT_EQ(severity(view, "hardware"), Severity::Hint);
  view.before = view_of({{{"net.carrier_changes", "e0"}, "1"}, {slot, "16 of 16"}}).facts;
  EXPECT_EQ(severity(view, "hardware"), Severity::Problem);
  EXPECT_EQ(found(view, "hardware").text,
            "e0: carrier changes +2, 0000:17:00.0: PCIe lanes 8 of 16");
}

TEST(CheckHost, ReportsWhatNcclsVariablesTurnOff) {
  HostView view = view_of(kGpus);
  view.facts.values[{"ib.state", "mlx5_0:1"}].text = "4: ACTIVE";
  for (const auto& [variable, value, check, expected] :
       {std::tuple{"NCCL_IB_DISABLE", "1", "nccl-ib-disable", Severity::Problem},
        {"NCCL_IB_DISABLE", "0", "nccl-ib-disable", Severity::Note},
        {"NCCL_NET", "Socket", "nccl-net", Severity::Problem},
        {"NCCL_IB_SPLIT_DATA_ON_QPS", "1", "nccl-split-data", Severity::Hint},
        {"NCCL_CHUNK_SIZE", "1048576", "nccl-chunk-size", Severity::Hint}}) {
    view.nccl.emplace()[variable] = value;
    view.facts.values[{"ib.link_layer", "mlx5_0:1"}].text = "InfiniBand";
    EXPECT_EQ(severity(view, check), expected) << variable;
    view.facts.values[{"ib.link_layer", "mlx5_0:1"}].text = "Unspecified";  // EFA
    EXPECT_NE(severity(view, check), Severity::Problem) << variable;
  }
}

TEST(CheckHost, ReportsARunThatHangs) {
  HostView view = view_of(kGpus);
  view.run_result = CommandResult{.exit_status = 137, .timed_out = true};
  EXPECT_THAT(found(view, "nccl-run").text, HasSubstr("hangs"));
  view.run_result = CommandResult{.exit_status = 3, .err = "nccl is not in this build: why\n"};
  EXPECT_EQ(severity(view, "nccl-run"), Severity::NotLooked);
  view.run_result = CommandResult{.exit_status = 2, .err = "-g 2: mpiexec has started the ranks\n"};
  EXPECT_EQ(severity(view, "nccl-run"), Severity::NotLooked);
}

TEST(CheckSame, NamesWhoDiffersFromMost) {
  const auto host = [](const std::string& name, const Texts& texts) {
    machine::HostReading reading = view_of(texts).facts;
    reading.host = name;
    return machine::HostWindow{reading, reading};
  };
  const auto mtu = [&](const std::string& name, const std::string& bytes, const char* state) {
    return host(name, {{{"net.mtu", "e0"}, bytes}, {{"net.state", "e0"}, state}});
  };
  const auto of_mtu =
      check_same({mtu("h1", "9000", "up"), mtu("h2", "1500", "up"), mtu("h3", "1400", "down"),
                  host("h4", {{{"net.mtu", "e1"}, "7"}})});
  ASSERT_EQ(of_mtu.size(), 1U);
  EXPECT_EQ(of_mtu[0].text, "e0: MTU differs: 1500 on h2; 9000 on h1");
  EXPECT_THAT(of_mtu[0].cure, HasSubstr("-w h2 sudo ip link set e0 mtu 9000"));
}

}  // namespace
}  // namespace busbar::study
