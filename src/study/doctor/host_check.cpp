// SPDX-License-Identifier: BSD-3-Clause
#include "study/doctor/host_check.hpp"

#include <algorithm>
#include <fnmatch.h>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "bootstrap/launcher.hpp"

namespace busbar::study {
namespace {

using enum Severity;

std::string fact(const HostView& view, View name) {
  return view.facts.text({std::string(name), ""});
}

/// How many numbers a range such as "0-7" has.
std::size_t count_in(const std::string& ranges) {
  return parse_ranges(ranges).value_or(std::vector<int>{}).size();
}

HostFindings check_launcher(const HostView& view) {
  if (!view.launcher) return not_looked("not this host, or built without MPI");
  const auto& [library, plain, version, own] = *view.launcher;
  if (plain.empty() && (!own.empty() || is_in_path("srun"))) return {};
  const bool is_open = library.family == MpiFamily::OpenMpi;
  if (plain.empty()) {
    return {{Problem, "PATH has no launcher of the MPI of the programs, " + library.name,
             is_open ? "sudo apt-get install openmpi-bin" : "sudo apt-get install mpich"}};
  }
  const Launcher* found = launcher_of_version(version);
  const MpiFamily other = found == nullptr ? MpiFamily::Other : found->family;
  const bool known = other != MpiFamily::Other && library.family != MpiFamily::Other;
  if (!known || other == library.family) return {};
  const bool has_own = own.find('.') != std::string::npos;  // a plain one may be the other's, too
  return {{Problem,
           fmt::format("{} is {}, and the programs are built with {}: every process would be alone",
                       plain, found->title, library.name),
           has_own ? own + " -n 2 ./allreduce_perf" : "make  # builds for the MPI of mpirun"}};
}

/// GPUs on PCIe meet each other and adapters in the processor, which is faster with four NUMA nodes
/// per socket: nccl-tests #293, nccl #841, #1285.
HostFindings check_nps(const HostView& view) {
  const std::size_t nodes = count_in(fact(view, "cpu.numa_nodes"));
  const bool is_epyc = fact(view, "cpu.model").find("EPYC") != std::string::npos;
  if (nodes == 0 || !is_epyc) return not_looked("no EPYC, or its NUMA nodes are not known");
  const bool is_one = nodes == split(fact(view, "cpu.sockets"), ',').size();
  if (!is_one || !instances_of(view, "nvlink.links").empty()) return {};
  return {{Hint, "EPYC with one NUMA node per socket (NPS1), and GPUs without NVLink",
           "sudo systemctl reboot --firmware-setup  # NUMA nodes per socket: NPS4; then measure"}};
}

HostFindings check_quota(const HostView& view) {
  const auto processors = static_cast<double>(count_in(fact(view, "cpu.online")));
  if (processors == 0) return not_looked("no cpu.online");
  if (!view.processors || *view.processors >= processors) return {};
  return {{Hint,
           fmt::format("the cgroup grants {:g} of {:g} processors, and throttles more ranks",
                       *view.processors, processors),
           "docker update --cpus 0 CONTAINER  # or start fewer ranks"}};
}

HostFindings check_locked_memory(const HostView& view) {
  const std::string limit = fact(view, machine::kLockedMemory);
  if (limit.empty()) return not_looked("no " + std::string(machine::kLockedMemory));
  const auto bytes = to_number<Bytes>(limit);
  if (!bytes || *bytes >= kGiB) return {};
  return {
      {Problem, "adapters cannot register buffers of more than " + format_bytes(*bytes),
       "echo '* - memlock unlimited' | sudo tee /etc/security/limits.d/memlock.conf  # then log "
       "in; docker run --ulimit memlock=-1"}};
}

/// Ranks that one host may have: one per core.
std::size_t most_ranks(const HostView& view) {
  const std::size_t threads = count_in(fact(view, "cpu.online"));
  return fact(view, "cpu.smt") == "1" ? threads / 2 : threads;
}

/// Hydra needs 4 files per rank and 13 (measured).
HostFindings check_open_files(const HostView& view) {
  const auto files = to_number<std::size_t>(fact(view, "limit.open_files"));
  const std::size_t ranks = most_ranks(view);
  if (!files || ranks == 0) return not_looked("no limit.open_files or cpu.online");
  const std::size_t needed = 4 * ranks + 13;
  if (*files >= needed) return {};
  return {{Problem,
           fmt::format("{} open files are allowed, and mpiexec needs {} for {}", *files, needed,
                       counted(ranks, "rank")),
           fmt::format("ulimit -n {}", std::max<std::size_t>(needed, 4096))}};
}

/// MPICH takes 4.2 MB per rank (measured); NVIDIA advises 1 GB for NCCL.
HostFindings check_shared_memory(const HostView& view) {
  if (!view.shared_memory) return not_looked("not this host");
  const Bytes needed =
      gpu_count(view.facts) > 1 ? kGiB : std::min(kGiB, 8 * kMiB * most_ranks(view));
  if (*view.shared_memory >= needed) return {};
  return {{Problem,
           fmt::format("/dev/shm has {}, and ranks need up to {}",
                       format_bytes(*view.shared_memory), format_bytes(needed)),
           fmt::format("sudo mount -o remount,size={0}m /dev/shm  # docker run --shm-size={0}m",
                       needed / kMiB)}};
}

HostFindings check_driver(const HostView& view) {
  const std::string loaded = fact(view, "kernel.nvidia_driver");
  const auto asked = view.facts.values.find({"gpu.driver", ""});
  if (loaded.empty() && fact(view, "pcie.gpus").empty()) return not_looked("no GPU on PCIe");
  if (loaded.empty()) {
    return {{Hint, "there is an NVIDIA GPU, and its driver is not loaded", "sudo modprobe nvidia"}};
  }
  // A container sees the driver of GPUs that it may not have.
  if (fact(view, "gpu.devices").empty()) return not_looked("no device of a GPU");
  std::string wrong = asked == view.facts.values.end() ? "" : asked->second.reason;
  const std::string module = view.facts.text({"kernel.module", "nvidia"});
  const auto shown = instances_of(view, "gpu.driver");
  if (!shown.empty() && !module.empty() && shown.begin()->second != module) {
    wrong = fmt::format("mismatch: module {}, libraries {}", module, shown.begin()->second);
  }
  if (wrong.empty()) return {};
  const bool is_mixed = wrong.find("mismatch") != std::string::npos;
  return {{Problem, wrong,
           is_mixed ? "sudo reboot  # loads the module of the installed driver"
                    : "sudo dmesg | grep -iE 'nvrm|xid'"}};
}

/// As NCCL decides: a domain other than 0 reaches over hosts.
HostFindings check_imex(const HostView& view) {
  const auto domains = instances_of(view, machine::kFabricDomain);
  const bool spans = std::ranges::any_of(domains, [](const auto& domain) {
    return domain.second.find_first_not_of("0-") != std::string::npos;
  });
  if (!spans) return not_looked("no GPU of an NVLink domain over hosts");
  if (!fact(view, "imex.channels").empty()) return {};
  return {{Problem, "no IMEX channel: GPUs of other hosts cannot be reached over NVLink",
           "sudo mkdir -p /dev/nvidia-caps-imex-channels && sudo mknod -m 666 "
           "/dev/nvidia-caps-imex-channels/channel0 c $(awk '/imex-channels/ {print $1}' "
           "/proc/devices) 0  # nvidia-imex must run; on Kubernetes: a ComputeDomain"}};
}

/// What busbar facts marks. A slot with fewer lanes than its card is a hint, unless it had more.
HostFindings check_hardware(const HostView& view) {
  if (view.facts.values.empty()) return not_looked("no facts");
  machine::HostWindow window{view.before.value_or(view.facts), view.facts};
  std::vector<std::string> slots = machine::faults_of(window);
  std::erase_if(window.last.values, [&](const auto& value) {
    return value.first.first == "pcie.width" && window.first.text(value.first) == value.second.text;
  });
  const std::vector<std::string> faults = machine::faults_of(window);
  std::erase_if(slots, [&](const std::string& one) { return contains(faults, one); });
  HostFindings findings;
  if (!faults.empty()) {
    findings.push_back({Problem, some_of(faults),
                        "sudo dmesg -T | grep -iE 'link|aer|mce|xid'  # for the cause; of GPUs: "
                        "nvidia-smi -q -d PERFORMANCE,ROW_REMAPPER"});
  }
  if (!slots.empty()) {
    findings.push_back({Hint, some_of(slots),
                        "sudo lspci -vv | grep -E '^[0-9a-f]|LnkSta:'  # a slot with fewer lanes "
                        "than the card, or a card to reseat"});
  }
  return findings;
}

/// What NCCL's diagnostics print behind "HOST:PID NCCL DIAG ". Their marks are [OK] and [INFO],
/// which faults have as well as what could not be read.
HostFindings diagnostics_of(const std::string& out) {
  constexpr View kMark = " NCCL DIAG ";
  constexpr std::array<View, 8> kFaults{
      "mismatch", "failed",         "verified",           "differ",
      "inactive", "errors on rank", "errors at or above", "buffer unavailable"};
  HostFindings findings;
  for (const std::string& line : split(out, '\n')) {
    const std::size_t at = line.find(kMark);
    if (at == std::string::npos) continue;
    const std::string text = line.substr(at + kMark.size());
    const bool is_fault =
        text.starts_with("[INFO]") && std::ranges::any_of(kFaults, [&](View word) {
          return text.find(word) != std::string::npos;
        });
    findings.push_back({.severity = is_fault ? Problem : Note, .text = "NCCL: " + one_line(text)});
    if (is_fault) findings.back().cure = "sudo dmesg | grep -iE 'xid|iommu|nvlink'";
  }
  return findings;
}

HostFindings check_run(const HostView& view) {
  if (!view.run_result) return not_looked("nothing was run");
  const CommandResult& result = *view.run_result;
  const std::string why = one_line(split(trim(result.err), '\n').front());
  const bool has_no_nccl = why.find("not in this build") != std::string::npos;
  const bool is_refused = result.exit_status == exit_code(Status::Usage);  // under a launcher
  if (has_no_nccl || is_refused || result.exit_status == kNoProgram) return not_looked(why);
  if (result.exit_status != 0) {
    return {{Problem,
             result.timed_out
                 ? "an all-reduce over all GPUs hangs"
                 : fmt::format("an all-reduce over all GPUs ends with exit code {}: {}",
                               result.exit_status, why),
             why.find("libnccl") != std::string::npos ? "sudo apt-get install libnccl2"
                                                      : "NCCL_DEBUG=WARN " + view.run_command}};
  }
  HostFindings findings = diagnostics_of(result.out);
  if (!findings.empty()) return findings;
  return not_looked("all-reduce works; NCCL's own diagnostics come with NCCL 2.31");
}

/// Without what it is about, a check is not made.
enum class Needs {
  Nothing,
  Gpus,
  PeerToPeer,
  Adapters,
  GpusAndAdapters,
  GpusAndIb  ///< GPUs, and adapters that NCCL itself drives
};

struct HostCheck {
  std::string_view name;
  Needs needs = Needs::Nothing;
  HostFindings (*look)(const HostView& view) = nullptr;  ///< null: a fact has wrong values
  std::string_view fact{};
  std::string_view wrong{};  ///< a pattern as fnmatch(3) has them, with FNM_EXTMATCH
  std::string_view text{};
  std::string_view cure{};  ///< with {} for the instances
  Severity severity = Problem;
};

constexpr HostCheck of_fact(View name, Needs needs, View fact, View wrong, View text, View cure,
                            Severity severity = Problem) {
  return {name, needs, nullptr, fact, wrong, text, cure, severity};
}

constexpr auto kNothing = Needs::Nothing;
constexpr View kAcsOff =
    "for p in {}; do sudo setpci -s $p ECAP_ACS+6.w=0; done  # after each boot";
constexpr auto kChecks = std::to_array<HostCheck>({
    {"mpi-launcher", kNothing, check_launcher},
    of_fact("huge-pages", kNothing, "kernel.huge_pages", "*[[]never]*",
            "no transparent huge pages: a 1 MiB all-reduce on host memory takes 1.3 times as long",
            "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"),
    of_fact("cpu-governor", kNothing, "cpu.governor", "!(performance)",
            "the frequency governor makes small messages wait for clocks",
            "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"),
    of_fact("numa-balancing", kNothing, "kernel.numa_balancing", "!(0)",
            "NUMA balancing moves pages while ranks use them",
            "sudo sysctl -w kernel.numa_balancing=0"),
    of_fact("autogroup", kNothing, "kernel.autogroup", "!(0)",
            "ranks started in separate sessions can starve each other",
            "sudo sysctl -w kernel.sched_autogroup_enabled=0  # or run with --bind core", Hint),
    {"nps", Needs::Gpus, check_nps},
    {"cpu-quota", kNothing, check_quota},
    {"locked-memory", Needs::Adapters, check_locked_memory},
    {"open-files", kNothing, check_open_files},
    {"shared-memory", kNothing, check_shared_memory},
    {"gpu-driver", kNothing, check_driver},
    of_fact("persistence-mode", Needs::Gpus, "gpu.persistence", "Disabled",
            "persistence mode is off, and every program waits for the driver",
            "sudo nvidia-smi -pm 1"),
    of_fact("nvlink-fabric", Needs::Gpus, "gpu.fabric_state", "@(Not Started|In Progress)",
            "not registered with the NVLink fabric",
            "sudo systemctl restart nvidia-fabricmanager  # of a rack: on its switch trays"),
    {"imex", Needs::Gpus, check_imex},
    of_fact(
        "iommu", Needs::PeerToPeer, "pcie.iommu", "DMA*",
        "the IOMMU translates for GPUs: peer-to-peer is slow, wrong or hangs",
        "sudo sed -i 's/^GRUB_CMDLINE_LINUX=\"/&iommu=pt /' /etc/default/grub && sudo update-grub "
        "&& sudo reboot  # on arm64: iommu.passthrough=1"),
    of_fact("acs", Needs::PeerToPeer, "pcie.acs", "switch port",
            "ACS of a switch routes traffic between GPUs through the processor", kAcsOff),
    of_fact("acs-root", Needs::PeerToPeer, "pcie.acs", "root port",
            "ACS of root ports, with which NCCL hangs on some machines (nccl #2079)", kAcsOff,
            Hint),
    {"hardware", kNothing, check_hardware},
    of_fact("port-state", kNothing, "ib.state", "*INIT*", "linked, and no subnet manager answers",
            "sudo systemctl enable --now opensm  # on one host, or on a switch"),
    {"gid", Needs::Adapters, check_gids},
    of_fact("nccl-ib-disable", Needs::GpusAndIb, "NCCL_IB_DISABLE", "!(0)",
            "NCCL uses sockets, though a port of InfiniBand or RoCE is active",
            "unset NCCL_IB_DISABLE  # see also nccl.conf"),
    of_fact("nccl-net", Needs::GpusAndIb, "NCCL_NET", "[Ss]ocket",
            "NCCL uses sockets, though a port of InfiniBand or RoCE is active",
            "unset NCCL_NET  # see also nccl.conf"),
    // Its default is 0 since NCCL 2.20, and 1 is faster on some networks: nccl #1401.
    of_fact("nccl-split-data", Needs::GpusAndIb, "NCCL_IB_SPLIT_DATA_ON_QPS", "!(0)",
            "each message is split over the queue pairs of NCCL_IB_QPS_PER_CONNECTION, which is "
            "not the default (0 since NCCL 2.20), and is faster on some networks only",
            "busbar sweep --vary NCCL_IB_SPLIT_DATA_ON_QPS=0,1 -- mpirun ...", Hint),
    of_fact("nccl-chunk-size", Needs::Gpus, "NCCL_CHUNK_SIZE", "!(0)",
            "NCCL does not choose the size of chunks; 1 MiB, and a size other than "
            "NCCL_P2P_NET_CHUNKSIZE, gave wrong data (nccl #1496, #2408)",
            "unset NCCL_CHUNK_SIZE  # see also nccl.conf", Hint),
    {"gpudirect-rdma", Needs::GpusAndAdapters, check_gpudirect},
    {"network-plugin", Needs::GpusAndAdapters, check_network_plugin},
    {"nccl-interface", Needs::Gpus, check_interfaces},
    {"nccl-run", Needs::Gpus, check_run},
});

/// Why a check is not made here, or nothing.
std::string missing(Needs needs, const HostView& view) {
  const std::size_t gpus = gpu_count(view.facts);
  const bool adapters = !active_ports(view).empty();
  const bool wants_gpus = needs != Needs::Nothing && needs != Needs::Adapters;
  const bool wants_adapters = needs == Needs::Adapters || needs == Needs::GpusAndAdapters;
  const bool has_ib = std::ranges::any_of(active_ports(view), [&](const std::string& port) {
    const std::string layer = view.facts.text({"ib.link_layer", port});
    return layer == "InfiniBand" || layer == "Ethernet";
  });
  if (wants_gpus && gpus == 0) return "no GPU";
  if (wants_adapters && !adapters) return "no active port of InfiniBand, RoCE or EFA";
  if (needs == Needs::GpusAndIb && !has_ib) return "no active port of InfiniBand or RoCE";
  return needs == Needs::PeerToPeer && gpus < 2 && !adapters ? "one GPU, and no adapter" : "";
}

HostFindings look_at_fact(const HostCheck& check, const HostView& view) {
  const auto values = instances_of(view, check.fact);
  const auto unread = view.facts.values.find({std::string(check.fact), ""});
  if (unread != view.facts.values.end() && !unread->second.reason.empty()) {
    return not_looked(fmt::format("{}: {}", check.fact, unread->second.reason));
  }
  if (values.empty()) return not_looked(fmt::format("no {}", check.fact));
  const std::string pattern(check.wrong);
  std::vector<std::string> wrong;
  for (const auto& [instance, value] : values) {
    if (fnmatch(pattern.c_str(), value.c_str(), FNM_EXTMATCH) != 0) continue;
    wrong.push_back(instance.empty() ? fmt::format("{} is {}", check.fact, value) : instance);
  }
  if (wrong.empty()) return {};
  return {{check.severity, fmt::format("{}: {}", check.text, some_of(wrong)),
           fmt::format(fmt::runtime(check.cure), join(wrong, " "))}};
}

/// What hosts of one job have in common: each instance of a fact, or all as one.
struct SameFact {
  std::string_view name;
  bool each;
  Severity severity;
  /// With {0}: hosts that differ, {1}: the instance, {2}: the value of most hosts, {3}: one of them
  std::string_view cure = "pdsh -w {0} INSTALL  # {2}, as on {3}";
};
constexpr auto kSame = std::to_array<SameFact>(
    {{"net.mtu", true, Problem, "pdsh -w {0} sudo ip link set {1} mtu {2}  # as on {3}"},
     {"gpu.driver", false, Problem},
     {"kernel.module", true, Problem},
     {"kernel.release", false, Hint},
     {"gpu.vbios", false, Hint},
     {"ib.firmware", false, Hint}});

using HostsByValue = std::map<std::string, std::vector<std::string>>;

/// The hosts that have each value, by instances; values of all instances are one. What an interface
/// that is down has does not matter.
std::map<std::string, HostsByValue> hosts_by_value(const std::vector<machine::HostWindow>& hosts,
                                                   const SameFact& same) {
  std::map<std::string, HostsByValue> all;
  for (const machine::HostWindow& host : hosts) {
    std::map<std::string, std::set<std::string>> values;
    for (const auto& [instance, value] : instances_of({.facts = host.last}, same.name)) {
      if (host.last.text({"net.state", instance}) == "down") continue;
      values[same.each ? instance : ""].insert(value);
    }
    for (const auto& [instance, texts] : values) {
      all[instance][join_all(texts, ", ")].push_back(host.last.host);
    }
  }
  return all;
}

HostFinding difference(const SameFact& same, const std::string& instance,
                       const HostsByValue& by_value) {
  const auto share = [](const auto& value) { return std::pair(value.second.size(), value.first); };
  const auto most = std::ranges::max_element(by_value, {}, share);
  std::vector<std::string> others;
  for (const auto& [value, names] : by_value) {
    if (value != most->first) append(others, names);
  }
  const std::string texts = join_each(by_value, "; ", [](const auto& value) {
    return fmt::format("{} on {}", value.first, some_of(value.second));
  });
  const std::string what = machine::describe(*machine::find_fact(same.name), instance);
  return {same.severity, fmt::format("{} differs: {}", what, texts),
          fmt::format(fmt::runtime(same.cure), join(others, ","), instance, most->first,
                      most->second.front()),
          "same"};
}

}  // namespace

HostFindings check_host(const HostView& view) {
  HostFindings all;
  for (const HostCheck& check : kChecks) {
    const std::string lacks = missing(check.needs, view);
    HostFindings found = !lacks.empty()          ? not_looked(lacks)
                         : check.look != nullptr ? check.look(view)
                                                 : look_at_fact(check, view);
    if (found.empty()) found.emplace_back();
    for (HostFinding& finding : found) finding.check = check.name;
    append(all, found);
  }
  return all;
}

HostFindings check_same(const std::vector<machine::HostWindow>& hosts) {
  HostFindings findings;
  for (const SameFact& same : kSame) {
    for (const auto& [instance, by_value] : hosts_by_value(hosts, same)) {
      if (by_value.size() > 1) findings.push_back(difference(same, instance, by_value));
    }
  }
  return findings;
}

}  // namespace busbar::study
