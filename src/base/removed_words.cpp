// SPDX-License-Identifier: BSD-3-Clause
#include "base/removed_words.hpp"

#include <array>

#include <fmt/format.h>

namespace busbar {
namespace {

struct RemovedWord {
  std::string_view where;
  std::string_view word;
  std::string_view instead;
};

/// Commands, options and keys of 0.2.0 that are gone, each with what does its work now; where: ""
/// for a measuring program.
constexpr auto kRemovedWords = std::to_array<RemovedWord>({
    {"", "--preset",
     "give -b 1K -e 1M --placement out --visits 8 -n 8000, with and without --cadence isolated"},
    {"busbar", "published", "results/reference has the published figures as tables"},
    {"busbar workload", "--simai", "copy busbw_GBps of the CSVs into busbw.yaml"},
    {"busbar workload", "--csv", "--json=FILE has the same rows"},
    {"busbar workload", "--markdown", "--json=FILE has the same rows"},
    {"busbar workload", "-o", "send the standard output to a file"},
    {"busbar workload", "--output", "send the standard output to a file"},
    {"busbar workload", "--in-place", "measure with --placement in"},
    {"busbar workload", "--strong", "give --compute-ms of the smaller batch"},
    {"busbar workload", "--efficiency", "--target E prints the bus bandwidth that E needs"},
    {"busbar workload", "--share", "give --target E with E = 1 - share"},
    {"busbar workload", "--speedup", "give --target E with E = speed-up / ranks"},
    {"[[model]]", "title", "name is printed"},
    {"[[model]]", "unit", "all are called samples"},
    {"[[model]]", "batches", "batch = N is that of one GPU"},
    {"[[model]]", "throughput", "give --throughput N"},
    {"busbar accept", "--at-most-out", "let the scheduler's prolog count the nodes that are out"},
    {"busbar accept", "--jitter", "sleep before busbar accept run"},
});

}  // namespace

std::string removed_word(std::string_view where, std::string_view word) {
  for (const RemovedWord& removed : kRemovedWords) {
    if (removed.where != where || removed.word != word) continue;
    return fmt::format("{}{}{} was removed: {}", where, where.empty() ? "" : " ", word,
                       removed.instead);
  }
  return {};
}

}  // namespace busbar
