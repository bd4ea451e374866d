// SPDX-License-Identifier: BSD-3-Clause
#include "machine/host_reading.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <unistd.h>

#include <fmt/format.h>

#include "base/child_process.hpp"
#include "base/host.hpp"
#include "base/input_file.hpp"
#include "base/text.hpp"
#include "topo/probes/nvidia_smi.hpp"

namespace busbar::machine {
namespace {

namespace fs = std::filesystem;

/// A small file as the kernel makes them when they are read; a log ends where it would wait.
struct SmallFile {
  std::string text{};
  int error = 0;  ///< errno
};

SmallFile read_small(const std::string& path) {
  constexpr std::size_t kMost = 1U << 22U;
  SmallFile file;
  const int descriptor = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return {.error = errno};
  std::array<char, 8192> part{};
  while (file.text.size() < kMost) {
    const ssize_t count = read(descriptor, part.data(), part.size());
    if (count < 0 && errno == EPIPE) continue;  // the kernel's log has dropped its oldest lines
    if (count < 0 && errno != EAGAIN) file.error = errno;
    if (count <= 0) break;
    file.text.append(part.data(), static_cast<std::size_t>(count));
  }
  close(descriptor);
  return file;
}

/// Counters of damaged trees may be of any size: a sum begins again, as the kernel's do.
void add_to(std::int64_t& sum, std::int64_t count) {
  static_cast<void>(__builtin_add_overflow(sum, count, &sum));
}

/// "mlx5_0:1": what stands for the wildcards of a pattern.
std::string instance_of(std::string_view pattern, std::string_view path) {
  const Words wanted = split(pattern, '/');
  const Words found = split(path, '/');
  Words parts;
  for (std::size_t i = 0; i < std::min(wanted.size(), found.size()); ++i) {
    if (wanted[i].find_first_of("*{[?") != std::string::npos) parts.push_back(found[i]);
  }
  return join(parts, ":");
}

/// PCIe facts are of GPUs, switches of NVLink, adapters and accelerators.
bool is_of_interest(const fs::path& path) {
  constexpr View kNet = "/class/net/";
  const std::size_t net = path.string().find(kNet);
  if (net != View::npos) return !is_virtual_interface(path.string().substr(net + kNet.size()));
  if (path.string().find("/bus/pci/") == std::string::npos) return true;
  const std::string device = first_line_of((path.parent_path() / "class").string());
  return device.starts_with("0x02") || device.starts_with("0x03") || device.starts_with("0x12") ||
         device.starts_with("0x0680");
}

/// What stands on a line behind its key, and a colon: "TOTAL_ERR_COR 4", "model name\t: AMD EPYC".
std::string behind_key(std::string_view text, std::string_view key) {
  for (const std::string& line : split(text, '\n')) {
    if (!line.starts_with(key)) continue;
    const std::string rest = line.substr(key.size());
    const std::size_t value = rest.find_first_not_of(" \t:");
    if (value == 0) continue;  // a longer key
    return value == std::string::npos ? "" : one_line(trim(rest.substr(value)));
  }
  return {};
}

class FileReader {
 public:
  FileReader(std::string root, HostReading& reading) : root_(std::move(root)), reading_(reading) {}

  void read(const MachineFact& fact) {
    const Words paths = paths_of(fact);
    if (paths.empty()) return;
    if (fact.reader == Reader::Count) {
      return add(fact, "", {.text = fmt::format("{}", paths.size())});
    }
    Words texts;
    std::int64_t sum = 0;
    for (const std::string& path : paths) {
      const std::string instance = instance_of(fact.source, path.substr(root_.size() + 1));
      const FactValue value = value_of(fact, path);
      if (value.text.empty() && value.reason.empty()) continue;
      if (fact.reader == Reader::Sum && value.reason.empty()) {
        add_to(sum, to_number<std::int64_t>(value.text).value_or(0));
      } else if (fact.reader == Reader::Distinct && value.reason.empty()) {
        add_new(texts, value.text);
      } else {
        add(fact, instance, value);
      }
    }
    if (fact.reader == Reader::Sum) add(fact, "", {.text = fmt::format("{}", sum)});
    if (!texts.empty()) add(fact, "", {.text = join(texts, ", ")});
  }

 private:
  void add(const MachineFact& fact, const std::string& instance, const FactValue& value) {
    reading_.values[{std::string(fact.name), instance}] = value;
  }

  /// Files of a pattern that no fact before it has; those with keys have several facts.
  Words paths_of(const MachineFact& fact) {
    Words paths;
    for (const std::string& path : paths_below(root_, fact.source)) {
      const bool is_new = taken_.insert(path).second || fact.reader == Reader::KeyLine;
      if (is_new && is_of_interest(path)) paths.push_back(path);
    }
    return paths;
  }

  static FactValue value_of(const MachineFact& fact, const std::string& path) {
    const SmallFile file = read_small(path);
    // The kernel has no value of what does not exist: a GID, the speed of a link that is down.
    if (file.error == EINVAL || file.error == ENOENT) return {};
    if (file.error != 0) return {.reason = std::strerror(file.error)};
    if (fact.reader == Reader::KeyText) return {.text = behind_key(file.text, fact.detail)};
    if (fact.reader == Reader::KeyLine) {
      const Words words = split_words(behind_key(file.text, fact.detail));
      return {.text = words.empty() ? "" : words.front()};
    }
    const std::string line = one_line(trim(file.text.substr(0, file.text.find('\n'))));
    const bool zeros = line.find_first_not_of("0:") == std::string::npos;
    if (fact.reader == Reader::NonZero && zeros) return {};
    const auto number = to_number<std::int64_t>(line);
    std::int64_t product = 0;
    if (fact.unit > 1 && number && !__builtin_mul_overflow(*number, fact.unit, &product)) {
      return {.text = fmt::format("{}", product)};
    }
    if (fact.unit > 1) return {.reason = fmt::format("no number of 63 bits: '{}'", line)};
    if (fact.reader != Reader::OfWhole || line.empty()) return {.text = line};
    const fs::path whole = fs::path(path).parent_path() / fact.detail;
    const std::string most = one_line(first_line_of(whole.string()));
    return {.text = most.empty() ? line : fmt::format("{} of {}", line, most)};
  }

  std::string root_;
  HostReading& reading_;
  std::set<std::string> taken_{};
};

void add_log(const std::string& root, HostReading& reading) {
  const SmallFile log = read_small(root + "/dev/kmsg");
  if (log.error == ENOENT) return;
  if (log.error != 0) reading.values[{"kernel.log", ""}].reason = std::strerror(log.error);
  add_kernel_log(log.text, reading);
}

/// Who has CAP_IPC_LOCK may lock all memory, whatever the limit is.
void apply_capabilities(const std::string& root, HostReading& reading) {
  constexpr unsigned kIpcLock = 14;
  const auto limit = reading.values.find({std::string(kLockedMemory), ""});
  if (limit == reading.values.end()) return;
  const std::string held = behind_key(read_small(root + "/proc/self/status").text, "CapEff");
  const std::uint64_t capabilities = std::strtoull(held.c_str(), nullptr, 16);
  if ((capabilities >> kIpcLock & 1U) != 0) limit->second = {.text = "unlimited"};
}

/// Asks nvidia-smi, which takes seconds where the driver is not held, and may hang where it is
/// broken: all its answers together have a time.
using AskSmi = std::function<CommandResult(const Words& arguments)>;

AskSmi smi_of(const std::string& program) {
  return [program, start = Clock::now()](const Words& arguments) {
    constexpr Seconds kPatience{10};
    constexpr Seconds kLeast{0.1};
    const Seconds left = kPatience - Seconds(Clock::now() - start);
    return run_command(program, arguments, std::max(left, kLeast));
  };
}

/// The columns that this nvidia-smi knows: it refuses a query for the first that it does not.
CommandResult ask_columns(const AskSmi& ask, Words& columns, HostReading& reading) {
  CommandResult result;
  while (!columns.empty()) {
    result = ask({"--query-gpu=index," + join(columns, ","), "--format=csv,noheader,nounits"});
    const std::string all = result.out + result.err;
    const auto unknown = std::ranges::find_if(columns, [&](const std::string& column) {
      return all.find(fmt::format("\"{}\" is not a valid field", column)) != std::string::npos;
    });
    if (unknown == columns.end()) break;
    const MachineFact* fact = find_source(*unknown);
    reading.values[{std::string(fact->name), ""}].reason = "this nvidia-smi does not know it";
    columns.erase(unknown);
  }
  return result;
}

void ask_nvidia_smi(const std::string& program, HostReading& reading) {
  const AskSmi ask = smi_of(program);
  Words columns = smi_columns();
  const CommandResult query = ask_columns(ask, columns, reading);
  if (query.not_found) return;
  if (query.exit_status != 0) {
    reading.values[{"gpu.driver", ""}].reason =
        query.timed_out ? program + " does not answer in 10 s"
                        : fmt::format("{} exits with {}: {}", program, query.exit_status,
                                      one_line(split(query.out + query.err, '\n').front()));
    return;
  }
  add_smi_query(query.out, columns, reading);
  try {
    add_nvlink_status(ask({"nvlink", "-s"}).out, reading);
  } catch (const Error& error) {
    reading.values[{"nvlink.links", ""}].reason = error.what();
  }
  add_nvlink_errors(ask({"nvlink", "-e"}).out, reading);
}

/// A number of a configuration space, the lowest byte first; 0 beyond its end.
unsigned number_at(View bytes, std::size_t at, std::size_t size) {
  unsigned number = 0;
  for (std::size_t i = 0; i < size && at + i < bytes.size(); ++i) {
    number |= static_cast<unsigned>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  }
  return number;
}

/// Where a capability begins, or 0: of PCI in the first 256 bytes, extended ones behind them.
std::size_t find_capability(View bytes, unsigned id, bool extended) {
  std::size_t at = extended ? 0x100 : number_at(bytes, 0x34, 1);
  for (int i = 0; i < 1000 && at != 0; ++i) {
    const unsigned head = number_at(bytes, at, extended ? 4 : 2);
    if ((head & (extended ? 0xffffU : 0xffU)) == id) return at;
    at = extended ? head >> 20U : head >> 8U;
  }
  return 0;
}

/// The kind of a port whose ACS sends up what devices below could send each other; else empty.
std::string redirecting_port(View configuration) {
  constexpr unsigned kRedirects = 0x04 | 0x08 | 0x10;  // requests, completions, all upwards
  constexpr unsigned kDownstream = 6;
  const std::size_t acs = find_capability(configuration, 0x0d, true);
  if (acs == 0 || (number_at(configuration, acs + 6, 2) & kRedirects) == 0) return {};
  const std::size_t express = find_capability(configuration, 0x10, false);
  const unsigned kind = number_at(configuration, express + 2, 2) >> 4U & 0xfU;
  return kind == kDownstream ? "switch port" : "root port";
}

bool is_gpu(const fs::path& device) {
  const std::string kind = first_line_of((device / "class").string());
  return first_line_of((device / "vendor").string()) == "0x10de" &&
         (kind.starts_with("0x0300") || kind.starts_with("0x0302"));
}

/// Whether a device is a bridge to the bus of a GPU, both by their addresses: "0000:17:00.0".
bool is_above(const std::string& device, View configuration, const std::string& gpu) {
  const bool is_bridge = (number_at(configuration, 0x0e, 1) & 0x7fU) == 1;
  const Words parts = split(gpu, ':');
  const unsigned bus = parts.size() < 2 ? 0 : to_number<unsigned>(parts[1], 16).value_or(0);
  return is_bridge && device.starts_with(parts[0] + ":") &&
         number_at(configuration, 0x19, 1) <= bus && bus <= number_at(configuration, 0x1a, 1);
}

void add_bridge(const fs::path& device, const Words& gpus, HostReading& reading) {
  const std::string name = device.filename().string();
  const std::string bytes = read_file((device / "config").string()).value_or("");
  FactValue& all = reading.values[{"pcie.acs", ""}];
  if (bytes.size() <= 64) all = {.reason = "root may read it"};
  if (all.reason.empty() && all.text.empty()) all.text = "off";
  const std::string kind = redirecting_port(bytes);
  const auto is_above_it = [&](const auto& gpu) { return is_above(name, bytes, gpu); };
  if (kind.empty() || std::ranges::none_of(gpus, is_above_it)) return;
  all.text = "on";
  reading.values[{"pcie.acs", name}].text = kind;
}

/// Adds what lies between GPUs on PCIe: their number, their domains of the IOMMU, and the ports
/// above them whose ACS redirects, which root alone can read.
void add_gpu_paths(const std::string& root, HostReading& reading) {
  Words gpus;
  std::vector<fs::path> devices;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(root + "/sys/bus/pci/devices", none)) {
    devices.push_back(entry.path());
    if (is_gpu(entry.path())) gpus.push_back(entry.path().filename().string());
  }
  if (gpus.empty()) return;
  reading.values[{"pcie.gpus", ""}].text = fmt::format("{}", gpus.size());
  for (const std::string& gpu : gpus) {
    const std::string domain =
        first_line_of(fmt::format("{}/sys/bus/pci/devices/{}/iommu_group/type", root, gpu));
    if (!domain.empty()) reading.values[{"pcie.iommu", gpu}].text = domain;
  }
  for (const fs::path& device : devices) {
    if (first_line_of((device / "class").string()).starts_with("0x0604")) {
      add_bridge(device, gpus, reading);
    }
  }
}

}  // namespace

std::string HostReading::text(const FactKey& key) const {
  const auto found = values.find(key);
  return found == values.end() ? std::string() : found->second.text;
}

HostReading read_host(const std::string& root, const std::string& nvidia_smi) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count() % 1000;
  HostReading reading{.host = host_name(), .at = fmt::format("{}.{:03}", local_time(), ms)};
  if (!root.empty()) {
    const std::string host(trim(first_line_of(root + "/proc/sys/kernel/hostname")));
    reading.host = host.empty() ? root : host;
  }
  FileReader files(root, reading);
  for (const MachineFact& fact : machine_facts()) {
    if (fact.reader != Reader::NvidiaSmi && fact.reader != Reader::Other) files.read(fact);
  }
  apply_capabilities(root, reading);
  add_gpu_paths(root, reading);
  add_log(root, reading);
  if (!nvidia_smi.empty()) ask_nvidia_smi(nvidia_smi, reading);
  return reading;
}

bool is_virtual_interface(View name) {
  constexpr std::array<View, 15> kBeginnings{"docker",  "podman", "virbr", "veth",   "br-",
                                             "ifb",     "dummy",  "cni",   "lxc",    "cali",
                                             "flannel", "cilium", "kube-", "pod-id", "nodelocal"};
  return std::ranges::any_of(kBeginnings, [&](View text) { return name.starts_with(text); });
}

Words smi_columns() {
  const auto asked = filtered(
      machine_facts(), [](const MachineFact& fact) { return fact.reader == Reader::NvidiaSmi; });
  return mapped<std::string>(asked, &MachineFact::source);
}

void add_smi_query(std::string_view csv, const Words& columns, HostReading& reading) {
  for (const std::string& line : split(csv, '\n')) {
    const auto cells = mapped<std::string>(split(line, ','), trim);
    if (cells.size() != columns.size() + 1) continue;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const MachineFact* fact = find_source(columns[i]);
      const std::string& cell = cells[i + 1];
      const bool known = !cell.starts_with('[') && cell != "N/A";
      if (fact == nullptr || cell.empty()) continue;
      FactValue value;
      (known ? value.text : value.reason) = cell;
      reading.values[{std::string(fact->name), "gpu" + cells.front()}] = std::move(value);
    }
  }
}

void add_nvlink_status(std::string_view text, HostReading& reading) {
  constexpr double kMBps = 1000;
  for (const topo::GpuFacts& gpu : topo::parse_nvlink_status(text, "nvidia-smi nvlink -s")) {
    if (gpu.links.empty()) continue;
    const std::string name = fmt::format("gpu{}", gpu.index);
    const std::size_t active = count_of(gpu.links, [](double GBps) { return GBps > 0; });
    reading.values[{"nvlink.links", name}].text = fmt::format("{} of {}", active, gpu.links.size());
    std::set<std::string> speeds;
    for (const double GBps : gpu.links) {
      if (GBps > 0) speeds.insert(fmt::format("{:.0f}", GBps * kMBps));
    }
    if (!speeds.empty()) reading.values[{"nvlink.speed", name}].text = join_all(speeds, ", ");
  }
}

void add_nvlink_errors(std::string_view text, HostReading& reading) {
  std::string gpu;
  std::map<FactKey, std::int64_t> sums;
  for (const std::string& line : split(text, '\n')) {
    const View content = trim(line);
    if (content.starts_with("GPU ")) {
      gpu = "gpu" + std::string(content.substr(4, content.find(':') - 4));
    }
    // "Link 0: Replay Errors: 0"
    const Words parts = split(content, ':');
    if (parts.size() != 3 || !content.starts_with("Link ") || gpu.empty()) continue;
    const auto count = to_number<std::int64_t>(trim(parts[2]));
    std::string kind = lower(trim(parts[1]));
    if (!count || kind.find("error") == std::string::npos) continue;
    std::ranges::replace(kind, ' ', '_');
    add_to(sums[{"nvlink.errors", fmt::format("{}:{}", gpu, kind)}], *count);
  }
  for (const auto& [key, sum] : sums) reading.values[key].text = fmt::format("{}", sum);
}

void add_kernel_log(std::string_view text, HostReading& reading) {
  constexpr std::size_t kMost = 50;
  const Words words = split(
      "xid|nvrm|nvlink|mlx5|aer:|pcieport|mce:|hardware error|link is down|link is up|link becomes "
      "ready",
      '|');
  std::vector<std::pair<std::string, std::string>> lines;
  for (const std::string& line : split(text, '\n')) {
    const std::size_t semicolon = line.find(';');
    const Words head = split(line.substr(0, semicolon), ',');
    if (semicolon == std::string::npos || head.size() < 3 || line.starts_with(' ')) continue;
    const std::string message = one_line(line.substr(semicolon + 1));
    const std::string plain = lower(message);
    const bool wanted = std::ranges::any_of(
        words, [&](const std::string& word) { return plain.find(word) != std::string::npos; });
    if (wanted) lines.emplace_back(head[1], message);
  }
  const std::size_t first = lines.size() - std::min(lines.size(), kMost);
  for (std::size_t i = first; i < lines.size(); ++i) {
    reading.values[{"kernel.log", lines[i].first}].text = lines[i].second;
  }
}

}  // namespace busbar::machine
