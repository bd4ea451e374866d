// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "format/output_file.hpp"
#include "format/writer.hpp"

namespace busbar {

/// The JSON of a run (-J): {"context": {...}, "rows": [...], "summary": {...}}. The file is a whole
/// document after every row: the end is rewritten each time.
class JsonWriter final : public Writer {
 public:
  /// With `resume` the file, which must be one of an earlier run, is replaced when the run begins:
  /// its rows come from the CSV. Throws a usage error.
  JsonWriter(const std::string& path, bool resume);

  void begin(const RunContext& context) override;
  void write(const Row& row) override;
  void end(const RunSummary& summary) override;

 private:
  /// Writes what follows the last row; where that fails, the document is whole as before.
  void replace_tail(const std::string& text);

  std::optional<OutputFile> file_{};
  Bytes rows_end_ = 0;
  bool any_row_ = false;
};

}  // namespace busbar
