// SPDX-License-Identifier: BSD-3-Clause
// What p2pBandwidthLatencyTest of NVIDIA's CUDA samples prints. In its source a row's GPU is where
// the copies come from with "(P2P Writes)", and where they go to with "(P2P Reads)" and before
// 2018, when the titles did not say it. A copy has 10000000 ints until June 2020, then 40000000, or
// --numElems of them.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "study/import/pair_matrix.hpp"

namespace busbar::study {
namespace {

constexpr Bytes kInt = 4;
constexpr Bytes kOldCopy = 10'000'000 * kInt;
constexpr Bytes kCopy = 40'000'000 * kInt;
constexpr std::string_view kTitle = "Matrix (GB/s)";

class P2pText {
 public:
  P2pText(const std::string& path, const LogReading& reading) : reading_(reading) {
    pairs_.log.path = path;
    pairs_.table.tool = "p2pBandwidthLatencyTest";
    pairs_.table.operations = 5;
    pairs_.type = "int32";
    pairs_.usual_size = kOldCopy;
    pairs_.usual_because = "which p2pBandwidthLatencyTest always had before 2018";
  }

  void read(const LogLine& line) {
    const std::string_view text = line.text;
    const std::vector<std::string> words = words_of(text);
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
      pairs_.usual_size = kCopy;
      pairs_.usual_because =
          fmt::format("p2pBandwidthLatencyTest's own since June 2020 ({} before)", kOldCopy);
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

}  // namespace busbar::study
