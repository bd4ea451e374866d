// SPDX-License-Identifier: BSD-3-Clause
// What nvbandwidth prints, as text or by --json. Its tests are told apart by their names: the arrow
// of "GPU(row) -> GPU(column)" stands for a read of the column's memory by the row's GPU, so that
// the data goes the other way (its source, device_to_device_memcpy_read_ce and its like).
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/text.hpp"
#include "study/import/pair_matrix.hpp"

namespace busbar::study {
namespace {

using Json = nlohmann::json;

PairLog pair_log(const std::string& path) {
  PairLog pairs{.log = {.path = path}, .type = "int8"};
  pairs.table.tool = "nvbandwidth";
  return pairs;
}

/// "v0.8": copies of 512 MiB since 0.7, of 64 MiB before; 0 stands for what was never published.
void read_version(PairLog& pairs, std::string_view version) {
  constexpr Bytes kOldCopy = 64 * kMiB;
  constexpr Bytes kCopy = 512 * kMiB;
  if (version.starts_with('v')) version.remove_prefix(1);
  pairs.table.tool = fmt::format("nvbandwidth {}", version);
  const std::vector<std::string> parts = split(version, '.');
  const auto minor = parts.size() > 1 ? whole_number(parts[1]) : std::nullopt;
  if (!minor) return;
  constexpr std::uint64_t kSince = 7;
  const bool old = parts[0] == "0" && *minor < kSince;
  pairs.usual_size = old ? kOldCopy : kCopy;
  pairs.usual_because = fmt::format("nvbandwidth's own {} version 0.7", old ? "before" : "since");
}

/// Nothing where the test is none of one-way copies between two GPUs.
std::optional<PairMatrix> matrix_of(PairLog& pairs, std::string name, std::size_t line) {
  if (name.ends_with('.')) name.pop_back();
  const auto has = [&](std::string_view word) { return name.find(word) != std::string::npos; };
  const bool read = has("device_to_device_memcpy_read_");
  const bool write = has("device_to_device_memcpy_write_");
  if (read || write) {
    return PairMatrix{
        .line = line, .name = name, .row_sends = write, .preferred = has("_memcpy_write_ce")};
  }
  if (has("device_to_device_bidirectional")) pairs.others.push_back(name);
  return std::nullopt;
}

/// "NVIDIA H100 (00000000:18:00)" without the bus.
std::string without_bus(std::string_view text) {
  return std::string(trim(text.substr(0, text.rfind('('))));
}

/// "n1" of "Process 0 (n1): device ...".
std::string in_brackets(std::string_view text) {
  const std::size_t open = std::min(text.find('('), text.size() - 1);
  const std::string_view rest = text.substr(open + 1);
  return std::string(rest.substr(0, rest.find(')')));
}

class NvbandwidthText {
 public:
  NvbandwidthText(const std::string& path, const LogReading& reading)
      : reading_(reading), pairs_(pair_log(path)) {}

  void read(const LogLine& line) {
    const std::vector<std::string> words = words_of(line.text);
    if (words.size() == 3 && line.text.starts_with("nvbandwidth Version:")) {
      read_version(pairs_, words.back());
    } else if (words.size() == 2 && words.front() == "Running") {
      open_ = false;
      auto matrix = matrix_of(pairs_, words.back(), line.number);
      if (!matrix) return;
      open_ = true;
      pairs_.matrices.push_back(std::move(*matrix));
    } else if (words.size() > 2 && (words[0] == "Device" || words[0] == "Process")) {
      read_device(line.text, words);
    } else if (open_ && !words.empty()) {
      read_cells(line, words);
    }
  }
  LogFile finish() {
    // A test that was waived has no matrix.
    std::erase_if(pairs_.matrices, [](const PairMatrix& matrix) { return matrix.rows.empty(); });
    return log_of_pairs(std::move(pairs_), reading_);
  }

 private:
  /// "Device 0: NAME (BUS)", or of several nodes "Process 0 (HOST): device 0: NAME (BUS)".
  void read_device(std::string_view text, const std::vector<std::string>& words) {
    const bool process = words[0] == "Process";
    const std::size_t name = process ? text.rfind("device ") : 0;
    const std::size_t colon = text.find(": ", name == std::string_view::npos ? 0 : name);
    if (colon == std::string_view::npos) return;
    LogDevice device{.rank = static_cast<int>(pairs_.table.devices.size()),
                     .name = without_bus(text.substr(colon + 2))};
    if (process) device.host = in_brackets(text);
    pairs_.table.devices.push_back(std::move(device));
  }
  void read_cells(const LogLine& line, const std::vector<std::string>& words) {
    PairMatrix& matrix = pairs_.matrices.back();
    const bool title = words.front() == "memcpy";
    if (title) return;
    const bool names = matrix.columns == 0 && words.front() == "0";
    if (names) {
      matrix.columns = words.size();
    } else if (!read_matrix_row(pairs_.log, matrix, line, reading_)) {
      open_ = false;
    }
  }

  const LogReading& reading_;
  PairLog pairs_;
  bool open_ = false;  ///< rows of the last matrix follow
};

void read_rows(PairMatrix& matrix, const Json& rows) {
  for (const Json& row : rows) {
    std::vector<std::optional<Printed>> cells;
    for (const Json& cell : row) {
      cells.push_back(cell.is_string() ? printed_number(cell.get<std::string>()) : std::nullopt);
    }
    matrix.columns = std::max(matrix.columns, cells.size());
    matrix.rows.push_back(std::move(cells));
  }
  for (auto& cells : matrix.rows) cells.resize(matrix.columns);
}

PairLog pairs_of(const Json& root, const std::string& path) {
  PairLog pairs = pair_log(path);
  const Json& json = root.at("nvbandwidth");
  if (json.contains("version")) read_version(pairs, json["version"].get<std::string>());
  for (const Json& device : json.value("GPU Device list", Json::array())) {
    // "0: NAME (BUS): (HOST)"
    const auto text = device.get<std::string>();
    const std::string named = text.substr(0, text.rfind(": ("));
    const std::string name = named.substr(named.find(": ") + 1);
    pairs.table.devices.push_back(
        {.rank = static_cast<int>(pairs.table.devices.size()), .name = without_bus(name)});
  }
  for (const Json& test : json.value("testcases", Json::array())) {
    if (!test.contains("bandwidth_matrix")) continue;
    auto matrix = matrix_of(pairs, test.at("name").get<std::string>(), 1);
    if (!matrix) continue;
    read_rows(*matrix, test["bandwidth_matrix"]);
    pairs.matrices.push_back(std::move(*matrix));
  }
  return pairs;
}

}  // namespace

LogFile read_nvbandwidth_text(std::span<const LogLine> lines, const std::string& path,
                              const LogReading& reading) {
  NvbandwidthText reader(path, reading);
  for (const LogLine& line : lines) reader.read(line);
  return reader.finish();
}

LogFile read_nvbandwidth_json(std::string_view text, const std::string& path,
                              const LogReading& reading) {
  try {
    return log_of_pairs(pairs_of(Json::parse(text), path), reading);
  } catch (const Json::exception& error) {
    throw usage_error(fmt::format("{}: not nvbandwidth's JSON: {}", path, one_line(error.what())));
  }
}

}  // namespace busbar::study
