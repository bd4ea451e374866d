// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/pair_matrix.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/text.hpp"
#include "study/import/nccl_text.hpp"

// What p2pBandwidthLatencyTest of NVIDIA's CUDA samples prints. In its source a row's GPU is where
// the copies come from with "(P2P Writes)", and where they go to with "(P2P Reads)" and before
// 2018, when the titles did not say it. A copy has 10000000 ints until June 2020, then 40000000, or
// --numElems of them.
//
// What nvbandwidth prints, as text or by --json. Its tests are distinguished by their names: the
// arrow of "GPU(row) -> GPU(column)" stands for a read of the column's memory by the row's GPU, so
// that the data goes the other way (its source, device_to_device_memcpy_read_ce and its like).
namespace busbar::study {
namespace {

std::string names_of(const std::vector<PairMatrix>& matrices) {
  return join_each(matrices, ", ", [](const PairMatrix& matrix) { return matrix.name; });
}

const PairMatrix& wanted_matrix(const PairLog& pairs, const std::string& wanted) {
  const std::string& path = pairs.log.path;
  std::vector<const PairMatrix*> found;
  for (const PairMatrix& matrix : pairs.matrices) {
    if (matrix.name == wanted) return matrix;
    if (matrix.name.find(wanted) != std::string::npos) found.push_back(&matrix);
  }
  if (found.size() == 1) return *found.front();
  throw usage_error(fmt::format("--matrix {}: {} matrices of {} have this in their name: {}",
                                wanted, found.size(), path, names_of(pairs.matrices)));
}

const PairMatrix& choose(const PairLog& pairs, const std::string& wanted) {
  if (pairs.matrices.empty()) {
    throw usage_error(
        fmt::format("{}: no matrix of one-way copies between GPUs{}{}", pairs.log.path,
                    pairs.others.empty() ? "" : "; not imported: ", join(pairs.others, ", ")));
  }
  if (!wanted.empty()) return wanted_matrix(pairs, wanted);
  const auto preferred = std::find_if(pairs.matrices.begin(), pairs.matrices.end(),
                                      [](const PairMatrix& matrix) { return matrix.preferred; });
  return preferred == pairs.matrices.end() ? pairs.matrices.front() : *preferred;
}

std::vector<std::string> left_out(const PairLog& pairs, const PairMatrix& chosen) {
  std::vector<std::string> names;
  for (const PairMatrix& matrix : pairs.matrices) {
    if (&matrix != &chosen) names.push_back(matrix.name);
  }
  names.insert(names.end(), pairs.others.begin(), pairs.others.end());
  return names;
}

/// The user's size, or the tool's usual one.
Bytes size_of_copy(PairLog& pairs, const LogReading& reading) {
  if (reading.size) return *reading.size;
  if (!pairs.usual_size) {
    throw usage_error(fmt::format(
        "{}: the log says neither the size of a copy nor the version of {}; give --size SIZE",
        pairs.log.path, pairs.table.tool));
  }
  pairs.table.flags.push_back(Flag::SizeAssumed);
  pairs.log.warnings.push_back(fmt::format(
      "{}: the log does not say the size of a copy: assumed {} bytes, {}; the rates do not depend "
      "on it, the times do: --size SIZE",
      pairs.log.path, *pairs.usual_size, pairs.usual_because));
  return *pairs.usual_size;
}

std::optional<int> nodes_of(const LogTable& table, std::size_t a, std::size_t b) {
  const std::size_t known = table.devices.size();
  if (a >= known || b >= known) return std::nullopt;
  return table.devices[a].host == table.devices[b].host ? 1 : 2;
}

LogRow row_of(const PairLog& pairs, const PairMatrix& matrix, std::size_t row, std::size_t column,
              Bytes size) {
  const Printed rate = *matrix.rows[row][column];
  const std::size_t sender = matrix.row_sends ? row : column;
  const std::size_t receiver = matrix.row_sends ? column : row;
  return {.line = matrix.line,
          .size = size,
          .count = size / size_of_type(pairs.type),
          .type = pairs.type,
          .nodes = nodes_of(pairs.table, row, column),
          .sender = static_cast<int>(sender),
          .receiver = static_cast<int>(receiver),
          .halves = {{.algbw_GBps = rate, .busbw_GBps = rate}}};
}

}  // namespace

bool read_matrix_row(LogFile& log, PairMatrix& matrix, const LogLine& line,
                     const LogReading& reading) {
  const std::vector<std::string> words = split_words(line.text);
  if (words.empty() || to_number<std::uint64_t>(words.front()) != matrix.rows.size()) return false;
  std::vector<std::optional<Printed>> cells;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto rate = printed_number(words[i]);
    const bool readable = rate || words[i] == "N/A";
    if (readable) cells.push_back(rate);
  }
  if (cells.size() != matrix.columns || words.size() != matrix.columns + 1) {
    bad_line(log, line, fmt::format("not a rate for each of {} GPUs", matrix.columns), reading);
    cells.assign(matrix.columns, std::nullopt);
  }
  matrix.rows.push_back(std::move(cells));
  return true;
}

LogFile log_of_pairs(PairLog pairs, const LogReading& reading) {
  const PairMatrix& matrix = choose(pairs, reading.matrix);
  LogTable& table = pairs.table;
  table.line = matrix.line;
  table.collective = "sendrecv";
  table.backend = "cuda";
  table.cadence = "streaming";
  table.ranks = 2;
  table.ended = true;
  table.matrix = matrix.name;
  table.flags = {Flag::OneWayCopy};
  const Bytes size = size_of_copy(pairs, reading);
  for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
    for (std::size_t column = 0; column < matrix.columns; ++column) {
      const std::optional<Printed>& rate = matrix.rows[row][column];
      // The diagonal is a GPU's own memory; 0 is what old versions print where nothing was copied.
      constexpr double kNothing = 1e-6;
      if (row == column || !rate || rate->value < kNothing) continue;
      table.rows.push_back(row_of(pairs, matrix, row, column, size));
    }
  }
  if (matrix.rows.size() < matrix.columns) {
    pairs.log.warnings.push_back(
        fmt::format("{}:{}: the matrix has {} of {} rows: the log may be cut off; what is there is "
                    "imported",
                    pairs.log.path, matrix.line, matrix.rows.size(), matrix.columns));
  }
  const std::vector<std::string> others = left_out(pairs, matrix);
  if (!others.empty()) {
    pairs.log.warnings.push_back(fmt::format("{}: imported is {}; left out: {} (--matrix NAME)",
                                             pairs.log.path, matrix.name, join(others, ", ")));
  }
  pairs.log.tables.push_back(std::move(table));
  return std::move(pairs.log);
}

namespace {

constexpr Bytes kInt = 4;
constexpr Bytes kOldInts = 10'000'000 * kInt;
constexpr Bytes kInts = 40'000'000 * kInt;
constexpr std::string_view kTitle = "Matrix (GB/s)";

class P2pText {
 public:
  P2pText(const std::string& path, const LogReading& reading) : reading_(reading) {
    pairs_.log.path = path;
    pairs_.table.tool = "p2pBandwidthLatencyTest";
    pairs_.table.operations = 5;
    pairs_.type = "int32";
    pairs_.usual_size = kOldInts;
    pairs_.usual_because = "which p2pBandwidthLatencyTest always had before 2018";
  }

  void read(const LogLine& line) {
    const std::string_view text = line.text;
    const std::vector<std::string> words = split_words(text);
    if (text.starts_with("Device: ")) {
      read_device(text);
    } else if (text.find("Matrix") != std::string_view::npos) {
      open_matrix(line);
    } else if (!words.empty() && words.front() == "D\\D" && open_) {
      PairMatrix& matrix = pairs_.matrices.back();
      if (matrix.rows.empty()) matrix.columns = words.size() - 1;
    } else if (open_ && !read_matrix_row(pairs_.log, pairs_.matrices.back(), line, reading_)) {
      open_ = false;
    }
  }
  LogFile finish() { return log_of_pairs(std::move(pairs_), reading_); }

 private:
  /// "Device: 0, Tesla P100-SXM2-16GB, pciBusID: 6, ..."
  void read_device(std::string_view text) {
    const std::vector<std::string> parts = split(text, ',');
    const int rank = static_cast<int>(pairs_.table.devices.size());
    if (parts.size() > 1) {
      pairs_.table.devices.push_back({.rank = rank, .name = std::string(trim(parts[1]))});
    }
  }
  void open_matrix(const LogLine& line) {
    const std::string_view text = line.text;
    open_ = text.starts_with("Unidirectional") && text.ends_with(kTitle);
    const std::string name(trim(text.substr(0, text.find("Matrix"))));
    if (!open_) {
      if (text.starts_with("Bidirectional")) pairs_.others.push_back(name);
      return;
    }
    const auto has = [&](std::string_view word) { return name.find(word) != std::string::npos; };
    if (has("(P2P ")) {
      pairs_.usual_size = kInts;
      pairs_.usual_because =
          fmt::format("p2pBandwidthLatencyTest's own since June 2020 ({} before)", kOldInts);
    }
    pairs_.matrices.push_back({.line = line.number,
                               .name = name,
                               .row_sends = has("Writes"),
                               .preferred = has("P2P=Enabled")});
    // The copies without P2P are made as those with it, which are titled later.
    if (has("(P2P Writes)")) pairs_.matrices.front().row_sends = true;
  }

  const LogReading& reading_;
  PairLog pairs_{};
  bool open_ = false;  ///< rows of the last matrix follow
};

}  // namespace

LogFile read_p2p_text(std::span<const LogLine> lines, const std::string& path,
                      const LogReading& reading) {
  P2pText reader(path, reading);
  for (const LogLine& line : lines) reader.read(line);
  return reader.finish();
}

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
  const auto minor = parts.size() > 1 ? to_number<std::uint64_t>(parts[1]) : std::nullopt;
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
    const std::vector<std::string> words = split_words(line.text);
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
