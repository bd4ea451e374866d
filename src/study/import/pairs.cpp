// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "study/import/copy_matrix.hpp"
#include "study/import/json_values.hpp"

// What p2pBandwidthLatencyTest of NVIDIA's CUDA samples prints. In its source a row's GPU is where
// the copies come from with "(P2P Writes)", and where they go to with "(P2P Reads)" and before
// 2018, when the titles did not say it. A copy has 10000000 ints until June 2020, then 40000000, or
// --numElems of them.
//
// What nvbandwidth prints, as text or by --json. Its tests are distinguished by their names: the
// arrow of "GPU(row) -> GPU(column)" stands for a read of the column's memory by the row's GPU, so
// that the data goes the other way (its source, device_to_device_memcpy_read_ce and its like).
// Copies with the host have one row, a column for each GPU.
//
// What nvloom prints, by its source: a column is the GPU where the copies come from, whoever
// copies.
namespace busbar::study {
namespace {

/// "v0.8": copies of 512 MiB since 0.7, of 64 MiB before; 0 stands for what was never published.
void read_version(CopyLog& copies, std::string_view version) {
  constexpr Bytes kOldCopy = 64 * kMiB;
  constexpr Bytes kCopy = 512 * kMiB;
  if (version.starts_with('v')) version.remove_prefix(1);
  copies.table.tool = fmt::format("nvbandwidth {}", version);
  const std::vector<std::string> parts = split(version, '.');
  const auto minor = parts.size() > 1 ? to_number<std::uint64_t>(parts[1]) : std::nullopt;
  if (!minor) return;
  constexpr std::uint64_t kSince = 7;
  const bool old = parts[0] == "0" && *minor < kSince;
  copies.usual_size = old ? kOldCopy : kCopy;
  copies.usual_because = fmt::format("nvbandwidth's own {} version 0.7", old ? "before" : "since");
}

/// The collective of a test of nvbandwidth or nvloom; empty where it is none of one-way copies.
std::string_view collective_of_test(std::string_view name) {
  const auto begins = [&](std::string_view word) { return name.starts_with(word); };
  if (begins("host_to_device_") || begins("host_to_all_")) return "hosttodevice";
  if (begins("device_to_host_") || begins("all_to_host_")) return "devicetohost";
  const auto has = [&](std::string_view word) { return name.find(word) != std::string::npos; };
  const bool pairs = has("device_to_device_memcpy_") || begins("device_to_device_unidir_");
  return pairs ? "sendrecv" : "";
}

/// Opens the matrix of a test of nvbandwidth or nvloom; false where it is none of one-way copies.
bool open_test(CopyLog& copies, std::string name, std::size_t line) {
  using Default = CopyMatrix::Default;
  if (name.ends_with('.')) name.pop_back();
  const auto has = [&](std::string_view word) { return name.find(word) != std::string::npos; };
  const std::string_view collective = collective_of_test(name);
  if (collective.empty()) {
    copies.others.push_back(name);
    return false;
  }
  const bool plain = collective == "sendrecv" || has("_host_memcpy_") || has("_device_memcpy_");
  const bool of_all = name.starts_with("all_to_") || has("bidirectional");
  const bool usual = has("memcpy_write_ce") || has("unidir_write_ce") || has("_memcpy_ce");
  copies.matrices.push_back({.line = line,
                             .name = name,
                             .collective = collective,
                             .row_sends = has("_memcpy_write_"),
                             .taken = !plain || of_all ? Default::Never
                                      : usual          ? Default::First
                                                       : Default::IfAlone});
  return true;
}

/// Opens the matrix of p2pBandwidthLatencyTest with this title; false where it is none of one-way
/// copies.
bool open_p2p(CopyLog& copies, std::string_view title, std::size_t line) {
  constexpr Bytes kOldCopy = 40'000'000;
  constexpr Bytes kCopy = 160'000'000;
  const std::string name(trim(title.substr(0, title.find("Matrix"))));
  const auto has = [&](std::string_view word) { return name.find(word) != std::string::npos; };
  if (title.starts_with("Bidirectional")) copies.others.push_back(name);
  if (!title.starts_with("Unidirectional") || !title.ends_with("Matrix (GB/s)")) return false;
  copies.table.tool = "p2pBandwidthLatencyTest";
  copies.table.operations = 5;
  copies.type = "int32";
  if (has("(P2P ")) {
    copies.usual_size = kCopy;
    copies.usual_because =
        fmt::format("p2pBandwidthLatencyTest's own since June 2020 ({} before)", kOldCopy);
  } else if (!copies.usual_size) {
    copies.usual_size = kOldCopy;
    copies.usual_because = "which p2pBandwidthLatencyTest always had before 2018";
  }
  copies.matrices.push_back(
      {.line = line,
       .name = name,
       .row_sends = has("Writes"),
       .taken = has("P2P=Enabled") ? CopyMatrix::Default::First : CopyMatrix::Default::IfAlone});
  // The copies without P2P are made as those with it, which are titled later.
  if (has("(P2P Writes)")) copies.matrices.front().row_sends = true;
  return true;
}

/// "NVIDIA H100 (00000000:18:00)" without the bus.
std::string without_bus(std::string_view text) {
  return std::string(trim(text.substr(0, text.rfind('('))));
}

/// "Device: 0, NAME, pciBusID: 6, ..." of p2pBandwidthLatencyTest; of nvbandwidth
/// "Device 0: NAME (BUS)" under the host's name, or of several nodes and of nvloom
/// "Process 0 (HOST): device 0: NAME (BUS)".
void read_device(LogTable& table, std::string_view text, const std::string& above) {
  LogDevice device{.rank = static_cast<int>(table.devices.size())};
  if (text.starts_with("Device: ")) {
    const std::vector<std::string> parts = split(text, ',');
    if (parts.size() < 2) return;
    device.name = trim(parts[1]);
  } else {
    const bool process = text.starts_with("Process");
    const std::size_t name = process ? text.rfind("device ") : 0;
    const std::size_t colon = text.find(": ", name == std::string_view::npos ? 0 : name);
    if (colon == std::string_view::npos) return;
    device.name = without_bus(text.substr(colon + 2));
    const std::string_view host = text.substr(std::min(text.find('('), text.size() - 1) + 1);
    device.host = process ? host.substr(0, host.find(')')) : above;
  }
  table.devices.push_back(std::move(device));
}

void read_rows(CopyMatrix& matrix, const Json& rows, const std::string& path) {
  for (const Json& row : rows) {
    auto cells = mapped(row, [&](const Json& cell) {
      const auto word = cell.get<std::string>();
      const auto rate = copy_rate(word);
      if (rate || word == "N/A") return rate;
      throw usage_error("{}: {}: '{}' is no rate", path, one_line(matrix.name), one_line(word));
    });
    matrix.columns = std::max(matrix.columns, cells.size());
    matrix.rows.push_back(std::move(cells));
  }
  for (auto& cells : matrix.rows) cells.resize(matrix.columns);
}

CopyLog pairs_of(const Json& root, const std::string& path) {
  CopyLog copies{.log = {.path = path}};
  const Json& json = root.at("nvbandwidth");
  if (json.contains("version")) read_version(copies, json["version"].get<std::string>());
  for (const Json& device : json.value("GPU Device list", Json::array())) {
    // "0: NAME (BUS): (HOST)"
    const auto text = device.get<std::string>();
    const std::size_t end = std::min(text.rfind(": ("), text.size());
    const std::string named = text.substr(0, end);
    std::string host = text.substr(std::min(end + 3, text.size()));
    if (host.ends_with(')')) host.pop_back();
    copies.table.devices.push_back({.rank = static_cast<int>(copies.table.devices.size()),
                                    .host = std::move(host),
                                    .name = without_bus(named.substr(named.find(": ") + 1))});
  }
  for (const Json& test : json.value("testcases", Json::array())) {
    if (!test.contains("bandwidth_matrix")) continue;
    if (open_test(copies, test.at("name").get<std::string>(), 1)) {
      read_rows(copies.matrices.back(), test["bandwidth_matrix"], path);
    }
  }
  if (json.contains("error")) {
    copies.log.warnings.push_back(fmt::format("{}: nvbandwidth ended with an error: {}", path,
                                              one_line(json["error"].dump())));
  }
  return copies;
}

/// Takes a line of a matrix, its columns' numbers or a row; whether more of it follows.
bool read_matrix_line(CopyLog& copies, const LogLine& line, const std::vector<std::string>& words,
                      const LogReading& reading) {
  CopyMatrix& matrix = copies.matrices.back();
  const bool has_corner = words.front() == "D\\D";
  if (!has_corner && (matrix.columns != 0 || words.front() != "0")) {
    return read_matrix_row(copies.log, matrix, line, words, reading);
  }
  matrix.columns = words.size() - (has_corner ? 1 : 0);
  return true;
}

/// Lines of a head: the version; of nvloom the size of a copy and the copies of a measurement.
bool read_head(CopyLog& copies, const std::vector<std::string>& words) {
  constexpr std::uint64_t kMostMebibytes = 1U << 24U;
  const auto is = [&](std::size_t count, std::string_view first, std::string_view second) {
    return words.size() == count && words[0] == first && (second.empty() || words[1] == second);
  };
  if (is(3, "nvbandwidth", "Version:")) {
    read_version(copies, words.back());
  } else if (is(2, "nvloom_cli", "")) {
    copies.table.tool = "nvloom " + words[1];
  } else if (is(4, "Buffer", "size:") && words[3] == "MiB") {
    const auto mebibytes = to_number<std::uint64_t>(words[2]);
    if (mebibytes && *mebibytes <= kMostMebibytes) copies.usual_size = *mebibytes * kMiB;
  } else if (is(3, "Iteration", "count:")) {
    copies.table.operations = to_number<std::uint64_t>(words[2]);
  } else {
    return false;
  }
  return true;
}

}  // namespace

LogFile read_pairs_text(std::span<const LogLine> lines, const std::string& path,
                        const LogReading& reading) {
  CopyLog copies{.log = {.path = path}};
  std::string alone;  // the last line of one word
  bool open = false;  // rows of the last matrix follow
  for (const LogLine& line : lines) {
    const std::string_view text = line.text;
    const std::vector<std::string> words = split_words(text);
    if (words.empty()) continue;
    if (words.size() == 1) alone = words.front();
    if (read_head(copies, words)) continue;
    if (words.size() == 2 && words.front() == "Running") {
      open = open_test(copies, words.back(), line.number);
    } else if (text.find("Matrix") != std::string_view::npos) {
      open = open_p2p(copies, text, line.number);
    } else if (words.size() > 2 &&
               (words.front().starts_with("Device") || words.front() == "Process")) {
      read_device(copies.table, text, alone);
    } else if (open && words.front() != "memcpy") {
      open = read_matrix_line(copies, line, words, reading);
    }
  }
  return log_of_copies(std::move(copies), reading);
}

LogFile read_nvbandwidth_json(std::string_view text, const std::string& path,
                              const LogReading& reading) {
  CopyLog copies =
      read_json(text, path, "nvbandwidth", [&](const Json& json) { return pairs_of(json, path); });
  return log_of_copies(std::move(copies), reading);
}

}  // namespace busbar::study
