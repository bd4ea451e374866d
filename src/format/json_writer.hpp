// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/json.hpp"
#include "format/output_file.hpp"
#include "format/row_halves.hpp"
#include "format/writer.hpp"

namespace busbar {

/// The file of -J: an object whose last member is a list that grows while the run goes on. It is a
/// whole document after every step: the end is rewritten each time.
class GrowingJson {
 public:
  /// Finds out that the file can be written; one of its own is made when the run begins, whole.
  /// With `resume` the file, which must begin with `opening` as one of an earlier run does, is
  /// replaced then: its rows come from the CSV. Throws a usage error.
  GrowingJson(const std::string& path, bool resume, std::string_view opening);

  void begin(const Json& head, std::string_view list);
  void add(const Json& element);
  void end(const Json& members);

 private:
  /// Writes what follows the last element; where that fails, the document is whole as before.
  void replace_tail(const std::string& text);

  std::optional<OutputFile> file_{};
  bool is_made_later_ = false;
  Bytes list_end_ = 0;
  bool any_ = false;
};

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

/// The JSON of a run as nccl-tests 2.19 writes it: version 3 of its members, whose truth values are
/// the texts "true" and "false" (its src/util.cu). Of the environment it has what libraries read.
/// What has no number there is 0: `iterations` and `warmup_iters` of auto, `nccl_version` without
/// NCCL. Of skipped rows the reasons are in `errors`.
class NcclTestsJson final : public Writer {
 public:
  /// Throws a usage error, as GrowingJson.
  NcclTestsJson(const std::string& path, bool resume, HalfJoiner::Halves halves)
      : file_(path, resume, "{\n  \"version\": 3,"), halves_(halves) {}

  void begin(const RunContext& context) override;
  void write(const Row& row) override;
  void end(const RunSummary& summary) override;

 private:
  GrowingJson file_;
  HalfJoiner halves_;
  RunContext context_{};
  std::vector<std::string> skipped_{};  // why, each once
};

}  // namespace busbar
