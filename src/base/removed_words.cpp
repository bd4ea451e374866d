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
    {"busbar", "calibrate", "docs/simulation.md has the keys of [protocol] and how to fit them"},
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
    {"busbar accept", "baseline", "[baseline] run = \"FOLDER\" names the folder of an accept run"},
    {"[baseline]", "file",
     "run `busbar accept run SPEC -o FOLDER` once on the good machine, and write run = \"FOLDER\""},
    {"[baseline]", "max_age_days", "the folder that run names has the date of its launches"},
    {"[baseline]", "must_match", "the fingerprint of [system] is what both runs must have"},
    {"[ceiling]", "scale_up", R"(system = "NAME" or "FILE" has the links of a machine)"},
    {"[ceiling]", "scale_out", R"(system = "NAME" or "FILE" has the links of a machine)"},
    {"[run]", "parallel", "at_once = 1 makes one launch at a time"},
    {"[run]", "launcher", "give --launcher to busbar accept run"},
    {"[run]", "backend = \"sim\"", "busbar accept rehearse simulates a fleet"},
    {"[noise]", "decide", "the verdict is of all attempts"},
    {"[[device_set]]", "members", "pairs are drawn at random: partners is how many a node meets"},
    {"[[device_set]]", "all_pairs_up_to", "up to 8 nodes all pairs meet"},
    {"[[device_set]]", "nodes", "kind = \"whole\" has those of --hosts or [system] nodes"},
    {"[[expect]]", "attribute", "who is low is found by ranks, and measured again"},
    {"[[expect]]", "confirm", "who is low is measured again"},
    {"[[expect]]", "op", "rules are of sums"},
    {"[[expect]]", "allow_misses", "known_issue waives a failure, until a date"},
    {"[[expect_fact]]", "balance_min", "busbar facts RUN.csv has the bytes of each port"},
    {"[soak]", "source", "write it as a comment"},
    {"[profile]", "device_sets", "expect lists the rules, whose sets are measured"},
    {"[profile]", "max_size", "give a rule of its own the sizes, and list it in expect"},
    {"[profile]", "values", "a file with based_on and other values does it"},
    {"busbar topo", "--dot", "show --svg FILE writes a picture"},
    {"busbar topo", "--partition",
     "choose -k N takes the best set; bound --devices LIST has the bound of others"},
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
