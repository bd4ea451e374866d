// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "format/growing_json.hpp"
#include "format/row_halves.hpp"
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
