// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "format/json.hpp"
#include "study/import/log_reader.hpp"

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

/// Rates of copies from one GPU to another, or between the host and each GPU, one at a time, as a
/// tool prints them.
struct CopyMatrix {
  /// When a matrix is taken, of those of its collective, where the user names none.
  enum class Default { Never, IfAlone, First };

  std::size_t line = 0;          ///< of its title
  std::string name{};            ///< for --matrix; "_iter_0" at its end numbers repetitions
  View collective = "sendrecv";  ///< hosttodevice and devicetohost have one row
  bool row_sends = true;  ///< of pairs: a row's GPU is where the copies come from; else a column's
  Default taken = Default::IfAlone;
  std::size_t columns = 0;
  std::vector<std::vector<std::optional<Printed>>> rows{};  ///< in GB/s

  [[nodiscard]] bool is_of_pairs() const { return collective == "sendrecv"; }
};

/// What a log of matrices has besides them.
struct CopyLog {
  LogFile log{};
  LogTable table{.tool = "nvbandwidth"};  ///< tool, devices
  std::string type = "int8";              ///< of the elements
  std::vector<CopyMatrix> matrices{};
  Words others{};                     ///< names of matrices that are not of one-way copies
  std::optional<Bytes> usual_size{};  ///< of a copy, by the log or else the tool's own
  std::string usual_because{};        ///< "its own since version 0.7"; empty if the log says it
};

using Matrices = std::vector<CopyMatrix>;

/// The name without the number of a repetition.
View base_name(const CopyMatrix& matrix) {
  return View{matrix.name}.substr(0, matrix.name.find("_iter_"));
}

/// All repetitions of a matrix.
Matrices repetitions_of(const CopyLog& copies, View name) {
  return filtered(copies.matrices, [&](const auto& one) { return base_name(one) == name; });
}

Matrices wanted_matrices(const CopyLog& copies, const std::string& wanted) {
  const CopyMatrix* exact = find_by(copies.matrices, wanted, &CopyMatrix::name);
  if (exact != nullptr) return {*exact};
  if (Matrices all = repetitions_of(copies, wanted); !all.empty()) return all;
  Matrices found = filtered(copies.matrices, [&](const CopyMatrix& one) {
    return one.name.find(wanted) != std::string::npos;
  });
  if (set_of(found, base_name).size() == 1) return found;
  throw usage_error("--matrix {}: {} matrices of {} have this in their name: {}", wanted,
                    found.size(), copies.log.path,
                    join_each(copies.matrices, ", ", &CopyMatrix::name));
}

Matrices choose(const CopyLog& copies, const std::string& wanted) {
  if (copies.matrices.empty()) {
    throw usage_error("{}: no matrix of one-way copies between GPUs or with the host{}{}",
                      copies.log.path,
                      copies.others.empty() ? "" : "; not imported: ", join(copies.others, ", "));
  }
  if (!wanted.empty()) return wanted_matrices(copies, wanted);
  Matrices first;  // of each collective
  for (const CopyMatrix& matrix : copies.matrices) {
    if (matrix.taken == CopyMatrix::Default::Never) continue;
    const auto same = [&](const CopyMatrix& one) { return one.collective == matrix.collective; };
    CopyMatrix& known = find_or_add(first, same, matrix);
    if (matrix.taken > known.taken) known = matrix;
  }
  Matrices chosen;
  for (const CopyMatrix& matrix : first) append(chosen, repetitions_of(copies, base_name(matrix)));
  if (!chosen.empty()) return chosen;
  throw usage_error("{}: which matrix is meant? --matrix NAME takes one of {}", copies.log.path,
                    join_each(copies.matrices, ", ", &CopyMatrix::name));
}

/// The user's size, or the log's or tool's.
Bytes size_of_copy(CopyLog& copies, const LogReading& reading) {
  if (reading.size) return *reading.size;
  if (!copies.usual_size) {
    throw usage_error(
        "{}: the log says neither the size of a copy nor the version of {}; give --size SIZE",
        copies.log.path, copies.table.tool);
  }
  if (copies.usual_because.empty()) return *copies.usual_size;
  copies.table.flags.push_back(Flag::SizeAssumed);
  copies.log.warnings.push_back(
      fmt::format("{}: the log does not say the size of a copy: assumed {} bytes, {}; the rates do "
                  "not depend on it, the times do: --size SIZE",
                  copies.log.path, *copies.usual_size, copies.usual_because));
  return *copies.usual_size;
}

std::optional<int> nodes_of(const LogTable& table, std::size_t a, std::size_t b) {
  const std::size_t known = table.devices.size();
  if (a >= known || b >= known) return std::nullopt;
  return table.devices[a].host == table.devices[b].host ? 1 : 2;
}

LogRow row_of(const CopyLog& copies, const CopyMatrix& matrix, std::size_t row, std::size_t column,
              Bytes size) {
  const Printed rate = *matrix.rows[row][column];
  LogRow result{.line = matrix.line,
                .size = size,
                .count = size / size_of_type(copies.type),
                .type = copies.type,
                .nodes = 1,
                .halves = {{.algbw_GBps = rate, .busbw_GBps = rate}}};
  if (matrix.is_of_pairs()) {
    result.nodes = nodes_of(copies.table, row, column);
    result.sender = static_cast<int>(matrix.row_sends ? row : column);
    result.receiver = static_cast<int>(matrix.row_sends ? column : row);
  } else {
    (matrix.collective == "hosttodevice" ? result.receiver : result.sender) =
        static_cast<int>(column);
  }
  return result;
}

LogTable table_of(CopyLog& copies, const CopyMatrix& matrix, Bytes size) {
  const bool pairs = matrix.is_of_pairs();
  LogTable table = copies.table;
  table.line = matrix.line;
  table.collective = matrix.collective;
  table.backend = "cuda";
  table.ranks = pairs ? 2 : static_cast<int>(matrix.columns);
  table.matrix = matrix.name;
  const std::size_t rows = pairs ? matrix.columns : 1;
  if (matrix.rows.size() < rows) {
    copies.log.warnings.push_back(fmt::format(
        "{}:{}: the matrix has {} of {} rows: the log may be cut off; what is there is imported",
        copies.log.path, matrix.line, matrix.rows.size(), rows));
  }
  for (std::size_t row = 0; row < std::min(rows, matrix.rows.size()); ++row) {
    for (std::size_t column = 0; column < matrix.columns; ++column) {
      const std::optional<Printed>& rate = matrix.rows[row][column];
      // The diagonal is a GPU's own memory; 0 is what old versions print where nothing was copied.
      constexpr double kNothing = 1e-6;
      if ((pairs && row == column) || !rate || rate->value < kNothing) continue;
      table.rows.push_back(row_of(copies, matrix, row, column, size));
    }
  }
  return table;
}

/// A word of a matrix as a rate in GB/s; nothing where it is none, or more than any memory has.
std::optional<Printed> copy_rate(View word) {
  constexpr double kMost = 1e6;
  const auto rate = printed_number(word);
  return rate && rate->value <= kMost ? rate : std::nullopt;
}

/// A row of a matrix: its number, and a rate or N/A for each column. False where the words are
/// none; refuses or skips a row of another length.
bool read_matrix_row(LogFile& log, CopyMatrix& matrix, const LogLine& line, const Words& words,
                     const LogReading& reading) {
  if (words.empty() || to_number<std::uint64_t>(words.front()) != matrix.rows.size()) return false;
  auto cells = mapped(words, copy_rate);
  cells.erase(cells.begin());
  const std::size_t none = count_of(cells, [](const auto& cell) { return !cell; });
  const auto unknown = static_cast<std::size_t>(std::ranges::count(words, "N/A"));
  if (cells.size() != matrix.columns || none != unknown) {
    bad_line(log, line, fmt::format("not a rate for each of {} GPUs", matrix.columns), reading);
    cells.assign(matrix.columns, std::nullopt);
  }
  matrix.rows.push_back(std::move(cells));
  return true;
}

/// Matrices as rows: the user's, or of each collective the one that is taken by default. Throws
/// Error (Usage) naming --matrix or --size where it is unknown which matrix or of what size.
LogFile log_of_copies(CopyLog copies, const LogReading& reading) {
  // A test that was waived has no matrix.
  std::erase_if(copies.matrices, [](const CopyMatrix& matrix) { return matrix.rows.empty(); });
  const Matrices chosen = choose(copies, reading.matrix);
  copies.table.flags = {Flag::OneWayCopy};
  const Bytes size = size_of_copy(copies, reading);
  for (const CopyMatrix& matrix : chosen) {
    copies.log.tables.push_back(table_of(copies, matrix, size));
  }
  const Words names = mapped(chosen, &CopyMatrix::name);
  Words others;
  for (const CopyMatrix& matrix : copies.matrices) {
    if (!contains(names, matrix.name)) others.push_back(matrix.name);
  }
  append(others, copies.others);
  if (!others.empty()) {
    copies.log.warnings.push_back(fmt::format("{}: imported is {}; left out: {} (--matrix NAME)",
                                              copies.log.path, join(names, ", "),
                                              join(others, ", ")));
  }
  return std::move(copies.log);
}

/// "v0.8": copies of 512 MiB since 0.7, of 64 MiB before; 0 stands for what was never published.
void read_version(CopyLog& copies, View version) {
  constexpr Bytes kOldCopy = 64 * kMiB;
  constexpr Bytes kCopy = 512 * kMiB;
  if (version.starts_with('v')) version.remove_prefix(1);
  copies.table.tool = fmt::format("nvbandwidth {}", version);
  const Words parts = split(version, '.');
  const auto minor = parts.size() > 1 ? to_number<std::uint64_t>(parts[1]) : std::nullopt;
  if (!minor) return;
  constexpr std::uint64_t kSince = 7;
  const bool old = parts[0] == "0" && *minor < kSince;
  copies.usual_size = old ? kOldCopy : kCopy;
  copies.usual_because = fmt::format("nvbandwidth's own {} version 0.7", old ? "before" : "since");
}

/// nvbandwidth's and nvloom's tests of one-way copies, by a part of their names.
struct CopyTest {
  View part;
  View collective;
  bool alone = true;  ///< one copy at a time
};
constexpr std::array<CopyTest, 8> kCopyTests{{{"device_to_device_memcpy_", "sendrecv"},
                                              {"device_to_device_unidir_", "sendrecv"},
                                              {"host_to_device_memcpy_", "hosttodevice"},
                                              {"device_to_host_memcpy_", "devicetohost"},
                                              {"host_to_device_", "hosttodevice", false},
                                              {"host_to_all_", "hosttodevice", false},
                                              {"device_to_host_", "devicetohost", false},
                                              {"all_to_host_", "devicetohost", false}}};

/// Opens the matrix of a test of nvbandwidth or nvloom; false where it is none of one-way copies.
bool open_test(CopyLog& copies, std::string name, std::size_t line) {
  using Default = CopyMatrix::Default;
  if (name.ends_with('.')) name.pop_back();
  const auto has = [&](View word) { return name.find(word) != std::string::npos; };
  const auto* test = std::ranges::find_if(kCopyTests, has, &CopyTest::part);
  if (test == kCopyTests.end()) {
    copies.others.push_back(name);
    return false;
  }
  const bool usual = has("write_ce") || has("_memcpy_ce");
  copies.matrices.push_back({.line = line,
                             .name = name,
                             .collective = test->collective,
                             .row_sends = has("_memcpy_write_"),
                             .taken = !test->alone ? Default::Never
                                      : usual      ? Default::First
                                                   : Default::IfAlone});
  return true;
}

/// Opens the matrix of p2pBandwidthLatencyTest with this title; false where it is none of one-way
/// copies.
bool open_p2p(CopyLog& copies, View title, std::size_t line) {
  constexpr Bytes kOldCopy = 40'000'000;
  constexpr Bytes kCopy = 160'000'000;
  const std::string name(trim(title.substr(0, title.find("Matrix"))));
  const auto has = [&](View word) { return name.find(word) != std::string::npos; };
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

/// "Device: 0, NAME, pciBusID: 6, ..." of p2pBandwidthLatencyTest; of nvbandwidth
/// "Device 0: NAME (BUS)" under the host's name, in its JSON "0: NAME (BUS)", or of several nodes
/// and of nvloom "Process 0 (HOST): device 0: NAME (BUS)".
void read_device(LogTable& table, View text, const std::string& above) {
  LogDevice device{.rank = static_cast<int>(table.devices.size())};
  if (text.starts_with("Device: ")) {
    const Words parts = split(text, ',');
    if (parts.size() < 2) return;
    device.name = trim(parts[1]);
  } else {
    const bool process = text.starts_with("Process");
    const std::size_t name = process ? text.rfind("device ") : 0;
    const std::size_t colon = text.find(": ", name == View::npos ? 0 : name);
    if (colon == View::npos) return;
    const View name_and_bus = text.substr(colon + 2);
    device.name = trim(name_and_bus.substr(0, name_and_bus.rfind('(')));
    const View host = text.substr(std::min(text.find('('), text.size() - 1) + 1);
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
    std::string host = text.substr(std::min(end + 3, text.size()));
    if (host.ends_with(')')) host.pop_back();
    read_device(copies.table, View{text}.substr(0, end), host);
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
bool read_matrix_line(CopyLog& copies, const LogLine& line, const Words& words,
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
bool read_head(CopyLog& copies, const Words& words) {
  constexpr std::uint64_t kMostMebibytes = 1U << 24U;
  const auto is = [&](std::size_t count, View first, View second) {
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
    const View text = line.text;
    const Words words = split_words(text);
    if (words.size() == 1) alone = words.front();
    if (words.empty() || read_head(copies, words)) continue;
    if (words.size() == 2 && words.front() == "Running") {
      open = open_test(copies, words.back(), line.number);
    } else if (text.find("Matrix") != View::npos) {
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

LogFile read_nvbandwidth_json(View text, const std::string& path, const LogReading& reading) {
  CopyLog copies;
  try {
    copies = pairs_of(Json::parse(text), path);
  } catch (const Json::exception& error) {
    throw usage_error("{}: not nvbandwidth's JSON: {}", path, one_line(error.what()));
  }
  return log_of_copies(std::move(copies), reading);
}

}  // namespace busbar::study
