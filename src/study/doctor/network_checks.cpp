// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "base/text.hpp"
#include "study/doctor/host_check.hpp"

namespace busbar::study {
namespace {

using enum Severity;

constexpr View kEfa = "0x1d0f";
constexpr const char* kOrdinary = "^docker,lo,virbr";  // NCCL's list

std::string vendor_of(const HostView& view, const std::string& port) {
  return view.facts.text({"ib.vendor", port.substr(0, port.find(':'))});
}

std::string setting(const HostView& view, const std::string& name) {
  const auto found = view.nccl->find(name);
  return found == view.nccl->end() ? "" : found->second;
}

/// NCCL's lists of interfaces and of ports: "eth,ib0" are beginnings, "=eth0" is a name, "^docker"
/// are all others.
bool is_listed(std::string list, const std::string& name) {
  const bool others = list.starts_with('^');
  list.erase(0, others ? 1 : 0);
  const bool exact = list.starts_with('=');
  list.erase(0, exact ? 1 : 0);
  const auto fits = [&](const std::string& entry) {
    const bool is_whole = exact && name != entry && !name.starts_with(entry + ":");
    return !entry.empty() && name.starts_with(entry) && !is_whole;
  };
  return std::ranges::any_of(split(list, ','), fits) != others;
}

/// Kinds of a port's GIDs by their indices.
std::map<std::string, std::string> gids_of(const HostView& view, const std::string& port) {
  std::map<std::string, std::string> gids;
  for (const auto& [instance, kind] : instances_of(view, "ib.gid_type")) {
    if (instance.starts_with(port + ":")) gids[instance.substr(port.size() + 1)] = kind;
  }
  return gids;
}

/// Active ports of Ethernet that NCCL's own network takes. One without GIDs has them in another
/// network namespace.
std::vector<std::string> roce_ports(const HostView& view) {
  const std::string adapters = setting(view, "NCCL_IB_HCA");
  if (setting(view, "NCCL_IB_DISABLE") == "1") return {};
  return filtered(active_ports(view), [&](const std::string& port) {
    return view.facts.text({"ib.link_layer", port}) == "Ethernet" &&
           (adapters.empty() || is_listed(adapters, port)) && !gids_of(view, port).empty();
  });
}

/// Whether a GID is of RoCE v2, with an address that is not link-local.
bool is_usable(const HostView& view, const std::string& port, const std::string& index) {
  const std::string instance = port + ":" + index;
  return view.facts.text({"ib.gid_type", instance}) == "RoCE v2" &&
         !view.facts.text({"ib.gid", instance}).starts_with("fe80:");
}

/// Those that NCCL takes, in its order.
std::vector<InterfaceAddress> interfaces_taken(const HostView& view, const std::string& wanted) {
  std::vector<InterfaceAddress> running;
  for (const InterfaceAddress& each : *view.interfaces) {
    const bool known = any_has(running, each.interface, &InterfaceAddress::interface);
    if (each.is_running && !known && each.number != "::1") running.push_back(each);
  }
  const Words lists = wanted.size() > 1 ? Words{wanted} : Words{"ib", kOrdinary};
  for (const std::string& list : lists) {
    auto taken =
        filtered(running, [&](const auto& each) { return is_listed(list, each.interface); });
    if (!taken.empty()) return taken;
  }
  return {};
}

/// Whether it leads to this host's containers, or to nothing behind a router.
bool is_local(const InterfaceAddress& each) {
  return each.number.starts_with("169.254.") || each.number.starts_with("fe80:") ||
         machine::is_virtual_interface(each.interface);
}

}  // namespace

HostFindings not_looked(std::string why) { return {{NotLooked, std::move(why)}}; }

std::map<std::string, std::string> instances_of(const HostView& view, View fact) {
  std::map<std::string, std::string> texts;
  for (const auto& [key, value] : view.facts.values) {
    if (key.first == fact && !value.text.empty()) texts[key.second] = value.text;
  }
  const std::string of_nccl = view.nccl ? setting(view, std::string(fact)) : "";
  if (!of_nccl.empty()) texts[""] = of_nccl;
  return texts;
}

std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 4;
  return join_some(names, names.size() > kMost ? kMost - 1 : kMost);
}

std::vector<std::string> active_ports(const HostView& view) {
  std::vector<std::string> ports;
  for (const auto& [port, state] : instances_of(view, "ib.state")) {
    if (state.find("ACTIVE") != std::string::npos) ports.push_back(port);
  }
  return ports;
}

HostFindings check_gids(const HostView& view) {
  if (!view.nccl) return not_looked("not this host");
  const auto ports = roce_ports(view);
  if (ports.empty()) return not_looked("no active port of RoCE that NCCL takes");
  const std::string index = setting(view, "NCCL_IB_GID_INDEX");
  const bool is_set = to_number<int>(index).value_or(-1) >= 0;
  const auto wrong = filtered(ports, [&](const std::string& port) {
    if (is_set) return !is_usable(view, port, index);
    return std::ranges::none_of(gids_of(view, port),
                                [&](const auto& gid) { return is_usable(view, port, gid.first); });
  });
  if (wrong.empty()) return {};
  if (is_set) {
    return {{Problem,
             fmt::format("GID {} (NCCL_IB_GID_INDEX) is not of RoCE v2 with an address: {}", index,
                         some_of(wrong)),
             "unset NCCL_IB_GID_INDEX  # NCCL 2.21 and later find it; see also nccl.conf"}};
  }
  return {
      {Problem, "no GID of RoCE v2 with an address; the interface needs one: " + some_of(wrong),
       fmt::format("sudo ip address add ADDRESS/24 dev $(ls /sys/class/infiniband/{}/device/net)",
                   split(wrong.front(), ':').front())}};
}

HostFindings check_interfaces(const HostView& view) {
  if (!view.interfaces || !view.nccl) return not_looked("not this host");
  const std::string wanted = setting(view, "NCCL_SOCKET_IFNAME");
  const auto taken = interfaces_taken(view, wanted);
  auto usable = interfaces_taken(view, kOrdinary);
  std::erase_if(usable, is_local);
  const std::string cure = usable.empty()
                               ? "unset NCCL_SOCKET_IFNAME"
                               : "export NCCL_SOCKET_IFNAME==" + usable.front().interface;
  if (taken.empty() && wanted.size() > 1) {
    return {{Problem, "NCCL_SOCKET_IFNAME is no interface with a link and an address: " + wanted,
             cure}};
  }
  // Where none leads elsewhere, ranks are on this host only.
  if (wanted.size() > 1 || usable.empty() || !is_local(taken.front())) return {};
  return {{Problem,
           fmt::format("NCCL takes {} ({}), over which other hosts are not reached",
                       taken.front().interface, taken.front().number),
           cure}};
}

HostFindings check_network_plugin(const HostView& view) {
  const auto ports = active_ports(view);
  const auto is_efa = [&](const std::string& port) { return vendor_of(view, port) == kEfa; };
  const bool has_efa = std::ranges::any_of(ports, is_efa);
  const bool is_google = view.facts.text({"machine.vendor", ""}) == "Google";
  if (!has_efa && !is_google) return not_looked("neither EFA nor a machine of Google");
  if (!view.network_plugins || !view.nccl) return not_looked("not this host");
  if (!view.network_plugins->empty() || !setting(view, "NCCL_NET_PLUGIN").empty()) return {};
  return {{Problem,
           fmt::format("no libnccl-net*.so where the loader looks: NCCL does not use {}",
                       has_efa ? "EFA" : "gIB"),
           has_efa ? "export LD_LIBRARY_PATH=/opt/amazon/ofi-nccl/lib:$LD_LIBRARY_PATH  # or "
                     "install aws-ofi-nccl (efa_installer.sh)"
                   : "export LD_LIBRARY_PATH=/usr/local/gib/lib64:$LD_LIBRARY_PATH  # or install "
                     "nccl-gib; then source /usr/local/gib/scripts/set_nccl_env.sh"}};
}

HostFindings check_gpudirect(const HostView& view) {
  // EFA and MANA have drivers of their own.
  constexpr std::array<View, 4> kVendors{"0x15b3", "0x14e4", "0x8086", "0x1dd8"};
  const bool any = std::ranges::any_of(active_ports(view), [&](const std::string& port) {
    return std::ranges::count(kVendors, vendor_of(view, port)) > 0;
  });
  const std::string driver = view.facts.text({"kernel.nvidia_driver", ""});
  if (!any || driver.empty()) return not_looked("no adapter that needs it, or no driver of GPUs");
  const bool has_client = instances_of(view, "kernel.module").contains("nvidia_peermem") ||
                          !instances_of(view, "kernel.peer_memory").empty();
  const std::vector<std::string> release = split(view.facts.text({"kernel.release", ""}), '.');
  const int major = to_number<int>(release.front()).value_or(0);
  const int minor = release.size() < 2 ? 0 : to_number<int>(release[1]).value_or(0);
  const bool has_dma_buf = driver.find("Open Kernel Module") != std::string::npos &&
                           std::pair(major, minor) >= std::pair(5, 12);
  if (has_client || has_dma_buf) return {};
  return {{Problem,
           "adapters do not reach GPU memory: neither nvidia_peermem nor dma-buf (open kernel "
           "modules and Linux 5.12)",
           "sudo modprobe nvidia-peermem"}};
}

}  // namespace busbar::study
