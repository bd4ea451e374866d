// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "format/growing_json.hpp"
#include "format/writer.hpp"

namespace busbar {

/// The JSON of a run (-J): {"context": {...}, "rows": [...], "summary": {...}}.
class JsonWriter final : public Writer {
 public:
  /// Throws a usage error, as GrowingJson.
  JsonWriter(const std::string& path, bool resume) : file_(path, resume, "{\n  \"context\": ") {}

  void begin(const RunContext& context) override;
  void write(const Row& row) override;
  void end(const RunSummary& summary) override;

 private:
  GrowingJson file_;
};

}  // namespace busbar
