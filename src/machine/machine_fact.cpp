// SPDX-License-Identifier: BSD-3-Clause
#include "machine/machine_fact.hpp"

namespace busbar::machine {

std::span<const MachineFact> machine_facts() {
  using enum Nature;
  using enum Reader;
  static constexpr auto kFacts = std::to_array<MachineFact>({
      // The kernel counts data of InfiniBand in words of 4 bytes.
      {"ib.state", State, "sys/class/infiniband/*/ports/*/state", "state of a port"},
      {"ib.physical_state", State, "sys/class/infiniband/*/ports/*/phys_state",
       "physical state of a port"},
      {"ib.rate", State, "sys/class/infiniband/*/ports/*/rate", "rate of a port"},
      {"ib.link_layer", State, "sys/class/infiniband/*/ports/*/link_layer",
       "InfiniBand or Ethernet"},
      {"ib.firmware", State, "sys/class/infiniband/*/fw_ver", "firmware of an adapter"},
      {"ib.gid_type", State, "sys/class/infiniband/*/ports/*/gid_attrs/types/*",
       "kind of a GID by its index"},
      {"ib.sent_bytes", Counter, "sys/class/infiniband/*/ports/*/counters/port_xmit_data",
       "bytes sent", FirstLine, "", 4},
      {"ib.received_bytes", Counter, "sys/class/infiniband/*/ports/*/counters/port_rcv_data",
       "bytes received", FirstLine, "", 4},
      {"ib.waits", Counter, "sys/class/infiniband/*/ports/*/counters/port_xmit_wait",
       "ticks with data and no credit"},
      {"ib.link_downed", Errors, "sys/class/infiniband/*/ports/*/counters/link_downed",
       "link downs"},
      {"ib.link_recovered", Errors, "sys/class/infiniband/*/ports/*/counters/link_error_recovery",
       "link recoveries"},
      {"ib.symbol_errors", Errors, "sys/class/infiniband/*/ports/*/counters/symbol_error",
       "symbol errors"},
      {"ib.receive_errors", Errors, "sys/class/infiniband/*/ports/*/counters/port_rcv_errors",
       "receive errors"},
      {"ib.send_discards", Errors, "sys/class/infiniband/*/ports/*/counters/port_xmit_discards",
       "discarded packets"},
      {"ib.integrity_errors", Errors,
       "sys/class/infiniband/*/ports/*/counters/local_link_integrity_errors",
       "link integrity errors"},
      {"ib.hw_errors", Errors,
       "sys/class/infiniband/*/ports/*/hw_counters/{*_err,*_errors,*_error,*timeout*,*drops*}",
       "errors of the adapter"},
      {"ib.hw", Counter, "sys/class/infiniband/*/ports/*/hw_counters/*", "of the adapter"},
      {"net.state", State, "sys/class/net/*/operstate", "state of an interface"},
      {"net.speed", State, "sys/class/net/*/speed", "Mb/s of an interface"},
      {"net.mtu", State, "sys/class/net/*/mtu", "bytes of the largest packet"},
      {"net.carrier_changes", Errors, "sys/class/net/*/carrier_changes", "carrier changes"},
      {"net.sent_bytes", Counter, "sys/class/net/*/statistics/tx_bytes", "bytes sent"},
      {"net.received_bytes", Counter, "sys/class/net/*/statistics/rx_bytes", "bytes received"},
      {"net.receive_errors", Errors, "sys/class/net/*/statistics/rx_errors", "receive errors"},
      {"net.send_errors", Errors, "sys/class/net/*/statistics/tx_errors", "send errors"},
      {"net.crc_errors", Errors, "sys/class/net/*/statistics/rx_crc_errors", "CRC errors"},
      {"net.receive_drops", Counter, "sys/class/net/*/statistics/rx_dropped", "packets dropped"},
      {"net.send_drops", Counter, "sys/class/net/*/statistics/tx_dropped",
       "packets dropped when sending"},
      {"pcie.width", Share, "sys/bus/pci/devices/*/current_link_width", "PCIe lanes", OfWhole,
       "max_link_width"},
      {"pcie.speed", Reading, "sys/bus/pci/devices/*/current_link_speed",
       "PCIe speed, which drops in idle devices", OfWhole, "max_link_speed"},
      {"pcie.corrected_errors", Errors, "sys/bus/pci/devices/*/aer_dev_correctable",
       "corrected PCIe errors", KeyLine, "TOTAL_ERR_COR"},
      {"pcie.nonfatal_errors", Errors, "sys/bus/pci/devices/*/aer_dev_nonfatal",
       "uncorrected PCIe errors", KeyLine, "TOTAL_ERR_NONFATAL"},
      {"pcie.fatal_errors", Errors, "sys/bus/pci/devices/*/aer_dev_fatal", "fatal PCIe errors",
       KeyLine, "TOTAL_ERR_FATAL"},
      {"gpu.driver", State, "driver_version", "version of the driver", NvidiaSmi},
      {"gpu.vbios", State, "vbios_version", "firmware of a GPU", NvidiaSmi},
      {"gpu.ecc_mode", State, "ecc.mode.current", "ECC", NvidiaSmi},
      {"gpu.ecc_corrected", Errors, "ecc.errors.corrected.volatile.total", "corrected ECC errors",
       NvidiaSmi},
      {"gpu.ecc_uncorrected", Errors, "ecc.errors.uncorrected.volatile.total",
       "uncorrected ECC errors", NvidiaSmi},
      {"gpu.remap_pending", Alarm, "remapped_rows.pending", "rows wait for being remapped",
       NvidiaSmi},
      {"gpu.remap_failed", Alarm, "remapped_rows.failure", "rows could not be remapped", NvidiaSmi},
      {"gpu.hw_slowdown", Alarm, "clocks_throttle_reasons.hw_slowdown",
       "slowed by its hardware: heat or power", NvidiaSmi},
      {"gpu.sw_thermal_slowdown", Alarm, "clocks_throttle_reasons.sw_thermal_slowdown",
       "slowed by heat", NvidiaSmi},
      {"gpu.power_cap", Reading, "clocks_throttle_reasons.sw_power_cap", "slowed by its power cap",
       NvidiaSmi},
      {"gpu.clock", Reading, "clocks.sm", "MHz", NvidiaSmi},
      {"gpu.clock_max", State, "clocks.max.sm", "MHz at most", NvidiaSmi},
      {"gpu.temperature", Reading, "temperature.gpu", "degrees Celsius", NvidiaSmi},
      {"gpu.persistence", State, "persistence_mode", "persistence mode", NvidiaSmi},
      {"gpu.mig", State, "mig.mode.current", "MIG", NvidiaSmi},
      {"gpu.fabric_state", State, "fabric.state", "registration with the NVLink fabric", NvidiaSmi},
      {"gpu.fabric_status", State, "fabric.status", "its result", NvidiaSmi},
      {kFabricDomain, State, "fabric.clusterUuid", "NVLink domain", NvidiaSmi},
      {kFabricClique, State, "fabric.cliqueId", "partition of the NVLink domain", NvidiaSmi},
      {"nvlink.links", Share, "nvlink -s", "active NVLinks", Other},
      {"nvlink.speed", State, "nvlink -s", "MB/s of a link and direction", Other},
      {"nvlink.errors", Errors, "nvlink -e", "errors of all links of a GPU", Other},
      {"imex.channels", State, "dev/nvidia-caps-imex-channels/channel*", "IMEX channels", Count},
      {"kernel.boot", State, "proc/sys/kernel/random/boot_id", "the machine's start, by its id"},
      {"kernel.release", State, "proc/sys/kernel/osrelease", "release"},
      {"kernel.command", State, "proc/cmdline", "command line"},
      {"kernel.module", State,
       "sys/module/{nvidia,nvidia_peermem,gdrdrv,mlx5_core,ib_core,efa,irdma,bnxt_re,ionic}/"
       "version",
       "version of a module"},
      {"kernel.numa_balancing", State, "proc/sys/kernel/numa_balancing",
       "pages move by themselves (0: no)"},
      {"kernel.autogroup", State, "proc/sys/kernel/sched_autogroup_enabled",
       "sessions share processors, not ranks (0: no)"},
      {"kernel.huge_pages", State, "sys/kernel/mm/transparent_hugepage/enabled",
       "transparent huge pages"},
      {"kernel.log", Event, "dev/kmsg", "lines about GPUs, adapters and PCIe", Other},
      {"cpu.governor", State, "sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
       "frequency governor", Distinct},
      {"cpu.smt", State, "sys/devices/system/cpu/smt/active", "two threads a core (0: no)"},
      {"cpu.throttled", Errors, "sys/devices/system/cpu/cpu*/thermal_throttle/core_throttle_count",
       "thermal throttles", Sum},
      {"cpu.quota_throttled", Errors, "sys/fs/cgroup/cpu.stat", "throttles by the cgroup's quota",
       KeyLine, "nr_throttled"},
      {"memory.corrected_errors", Errors, "sys/devices/system/edac/mc/mc*/ce_count",
       "corrected memory errors", Sum},
      {"memory.uncorrected_errors", Errors, "sys/devices/system/edac/mc/mc*/ue_count",
       "uncorrected memory errors", Sum},
  });
  return kFacts;
}

const MachineFact* find_fact(std::string_view name) {
  const auto all = machine_facts();
  return find_by(all, name, &MachineFact::name);
}

const MachineFact* find_source(std::string_view source) {
  const auto all = machine_facts();
  return find_by(all, source, &MachineFact::source);
}

}  // namespace busbar::machine
