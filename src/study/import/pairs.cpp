// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "format/json.hpp"
#include "study/import/log_reader.hpp"
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

/// Rates of copies from one GPU to another, one pair at a time, as a tool prints them.
struct CopyMatrix {
  std::size_t line = 0;    ///< of its title
  std::string name{};      ///< for --matrix
  bool row_sends = true;   ///< a row's GPU is where the copies come from; else a column's
  bool preferred = false;  ///< taken where the user names none
  std::size_t columns = 0;
  std::vector<std::vector<std::optional<Printed>>> rows{};  ///< in GB/s
};

/// What a log of matrices has besides them.
struct PairLog {
  LogFile log{};
  LogTable table{.tool = "nvbandwidth"};  ///< tool, devices
  std::string type = "int8";              ///< of the elements
  std::vector<CopyMatrix> matrices{};
  std::vector<std::string> others{};  ///< names of matrices that are not of one-way copies
  std::optional<Bytes> usual_size{};  ///< of a copy, where the log does not have it
  std::string usual_because{};        ///< "its own since version 0.7"
};

const CopyMatrix& wanted_matrix(const PairLog& pairs, const std::string& wanted) {
  std::vector<const CopyMatrix*> found;
  for (const CopyMatrix& matrix : pairs.matrices) {
    if (matrix.name == wanted) return matrix;
    if (matrix.name.find(wanted) != std::string::npos) found.push_back(&matrix);
  }
  if (found.size() == 1) return *found.front();
  throw usage_error("--matrix {}: {} matrices of {} have this in their name: {}", wanted,
                    found.size(), pairs.log.path,
                    join_each(pairs.matrices, ", ", &CopyMatrix::name));
}

const CopyMatrix& choose(const PairLog& pairs, const std::string& wanted) {
  if (pairs.matrices.empty()) {
    throw usage_error("{}: no matrix of one-way copies between GPUs{}{}", pairs.log.path,
                      pairs.others.empty() ? "" : "; not imported: ", join(pairs.others, ", "));
  }
  if (!wanted.empty()) return wanted_matrix(pairs, wanted);
  const auto preferred = std::ranges::find_if(pairs.matrices, &CopyMatrix::preferred);
  return preferred == pairs.matrices.end() ? pairs.matrices.front() : *preferred;
}

std::vector<std::string> left_out(const PairLog& pairs, const CopyMatrix& chosen) {
  std::vector<std::string> names;
  for (const CopyMatrix& matrix : pairs.matrices) {
    if (&matrix != &chosen) names.push_back(matrix.name);
  }
  append(names, pairs.others);
  return names;
}

/// The user's size, or the tool's usual one.
Bytes size_of_copy(PairLog& pairs, const LogReading& reading) {
  if (reading.size) return *reading.size;
  if (!pairs.usual_size) {
    throw usage_error(
        "{}: the log says neither the size of a copy nor the version of {}; give --size SIZE",
        pairs.log.path, pairs.table.tool);
  }
  pairs.table.flags.push_back(Flag::SizeAssumed);
  pairs.log.warnings.push_back(
      fmt::format("{}: the log does not say the size of a copy: assumed {} bytes, {}; the rates do "
                  "not depend on it, the times do: --size SIZE",
                  pairs.log.path, *pairs.usual_size, pairs.usual_because));
  return *pairs.usual_size;
}

std::optional<int> nodes_of(const LogTable& table, std::size_t a, std::size_t b) {
  const std::size_t known = table.devices.size();
  if (a >= known || b >= known) return std::nullopt;
  return table.devices[a].host == table.devices[b].host ? 1 : 2;
}

LogRow row_of(const PairLog& pairs, const CopyMatrix& matrix, std::size_t row, std::size_t column,
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

/// A row of a matrix: its number, and a rate or N/A for each column. False where the words are
/// none; refuses or skips a row of another length.
bool read_matrix_row(LogFile& log, CopyMatrix& matrix, const LogLine& line,
                     const std::vector<std::string>& words, const LogReading& reading) {
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

/// One matrix as rows of send-receive pairs: the user's, or the tool's preferred one. Throws Error
/// (Usage) naming --matrix or --size where it is unknown which matrix or of what size.
LogFile log_of_pairs(PairLog pairs, const LogReading& reading) {
  // A test that was waived has no matrix.
  std::erase_if(pairs.matrices, [](const CopyMatrix& matrix) { return matrix.rows.empty(); });
  const CopyMatrix& matrix = choose(pairs, reading.matrix);
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
    pairs.log.warnings.push_back(fmt::format(
        "{}:{}: the matrix has {} of {} rows: the log may be cut off; what is there is imported",
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

/// Opens the matrix of a test of nvbandwidth; false where it is none of one-way copies between two
/// GPUs.
bool open_test(PairLog& pairs, std::string name, std::size_t line) {
  if (name.ends_with('.')) name.pop_back();
  const auto has = [&](std::string_view word) { return name.find(word) != std::string::npos; };
  const bool write = has("device_to_device_memcpy_write_");
  if (has("device_to_device_bidirectional")) pairs.others.push_back(name);
  if (!write && !has("device_to_device_memcpy_read_")) return false;
  pairs.matrices.push_back(
      {.line = line, .name = name, .row_sends = write, .preferred = has("_memcpy_write_ce")});
  return true;
}

/// Opens the matrix of p2pBandwidthLatencyTest with this title; false where it is none of one-way
/// copies.
bool open_p2p(PairLog& pairs, std::string_view title, std::size_t line) {
  constexpr Bytes kOldCopy = 40'000'000;
  constexpr Bytes kCopy = 160'000'000;
  const std::string name(trim(title.substr(0, title.find("Matrix"))));
  const auto has = [&](std::string_view word) { return name.find(word) != std::string::npos; };
  if (title.starts_with("Bidirectional")) pairs.others.push_back(name);
  if (!title.starts_with("Unidirectional") || !title.ends_with("Matrix (GB/s)")) return false;
  pairs.table.tool = "p2pBandwidthLatencyTest";
  pairs.table.operations = 5;
  pairs.type = "int32";
  if (has("(P2P ")) {
    pairs.usual_size = kCopy;
    pairs.usual_because =
        fmt::format("p2pBandwidthLatencyTest's own since June 2020 ({} before)", kOldCopy);
  } else if (!pairs.usual_size) {
    pairs.usual_size = kOldCopy;
    pairs.usual_because = "which p2pBandwidthLatencyTest always had before 2018";
  }
  pairs.matrices.push_back(
      {.line = line, .name = name, .row_sends = has("Writes"), .preferred = has("P2P=Enabled")});
  // The copies without P2P are made as those with it, which are titled later.
  if (has("(P2P Writes)")) pairs.matrices.front().row_sends = true;
  return true;
}

/// "NVIDIA H100 (00000000:18:00)" without the bus.
std::string without_bus(std::string_view text) {
  return std::string(trim(text.substr(0, text.rfind('('))));
}

/// "Device: 0, NAME, pciBusID: 6, ..." of p2pBandwidthLatencyTest; of nvbandwidth
/// "Device 0: NAME (BUS)", or of several nodes "Process 0 (HOST): device 0: NAME (BUS)".
void read_device(LogTable& table, std::string_view text) {
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
    if (process) device.host = host.substr(0, host.find(')'));
  }
  table.devices.push_back(std::move(device));
}

void read_rows(CopyMatrix& matrix, const Json& rows) {
  for (const Json& row : rows) {
    auto cells = mapped(row, [](const Json& cell) {
      return cell.is_string() ? printed_number(cell.get<std::string>()) : std::nullopt;
    });
    matrix.columns = std::max(matrix.columns, cells.size());
    matrix.rows.push_back(std::move(cells));
  }
  for (auto& cells : matrix.rows) cells.resize(matrix.columns);
}

PairLog pairs_of(const Json& root, const std::string& path) {
  PairLog pairs{.log = {.path = path}};
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
    if (open_test(pairs, test.at("name").get<std::string>(), 1)) {
      read_rows(pairs.matrices.back(), test["bandwidth_matrix"]);
    }
  }
  return pairs;
}

/// Takes a line of a matrix, its columns' numbers or a row; whether more of it follows.
bool read_matrix_line(PairLog& pairs, const LogLine& line, const std::vector<std::string>& words,
                      const LogReading& reading) {
  CopyMatrix& matrix = pairs.matrices.back();
  const bool has_corner = words.front() == "D\\D";
  if (!has_corner && (matrix.columns != 0 || words.front() != "0")) {
    return read_matrix_row(pairs.log, matrix, line, words, reading);
  }
  matrix.columns = words.size() - (has_corner ? 1 : 0);
  return true;
}

}  // namespace

LogFile read_pairs_text(std::span<const LogLine> lines, const std::string& path,
                        const LogReading& reading) {
  PairLog pairs{.log = {.path = path}};
  bool open = false;  // rows of the last matrix follow
  for (const LogLine& line : lines) {
    const std::string_view text = line.text;
    const std::vector<std::string> words = split_words(text);
    if (words.empty()) continue;
    if (words.size() == 3 && text.starts_with("nvbandwidth Version:")) {
      read_version(pairs, words.back());
    } else if (words.size() == 2 && words.front() == "Running") {
      open = open_test(pairs, words.back(), line.number);
    } else if (text.find("Matrix") != std::string_view::npos) {
      open = open_p2p(pairs, text, line.number);
    } else if (words.size() > 2 &&
               (words.front().starts_with("Device") || words.front() == "Process")) {
      read_device(pairs.table, text);
    } else if (open && words.front() != "memcpy") {
      open = read_matrix_line(pairs, line, words, reading);
    }
  }
  return log_of_pairs(std::move(pairs), reading);
}

LogFile read_nvbandwidth_json(std::string_view text, const std::string& path,
                              const LogReading& reading) {
  try {
    return log_of_pairs(pairs_of(Json::parse(text), path), reading);
  } catch (const Json::exception& error) {
    throw usage_error("{}: not nvbandwidth's JSON: {}", path, one_line(error.what()));
  }
}

}  // namespace busbar::study
