// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "model/row.hpp"

namespace busbar {

/// "key: value" lines of a head, in their order.
using HeaderFacts = std::vector<std::pair<std::string, std::string>>;

/// What a run is, for the heads of all outputs.
struct RunContext {
  /// Facts of the CSV's head and the JSON's context: host, versions, command, ...
  HeaderFacts facts;
  /// Lines for people above the console's table: the memory plan, warnings.
  std::vector<std::string> notes;

  /// @name The console's head, in nccl-tests' terms
  /// @{
  std::string nccl_name;  ///< "all_reduce"
  Bytes first_size = 0;
  Bytes last_size = 0;
  std::string step;    ///< "2(factor)", "1048576(bytes)"
  std::string warmup;  ///< "5", "auto"
  std::string operations;
  std::string aggregated;
  std::string checks;
  std::string blocking;              ///< in words; empty when off
  std::vector<std::string> devices;  ///< one line per rank
  bool timestamps = false;
  std::string graph;                       ///< launches of a graph, "0" without
  std::string unalign;                     ///< elements
  bool enqueue_times = false;              ///< -C
  std::optional<std::uint64_t> skipped{};  ///< -I is on, and leaves out this many samples (-K)
  bool observes_choice = false;            ///< --nccl-choice fills a row's algorithm
  /// @}

  std::vector<std::string> hosts;  ///< of each rank of the job
  /// The ranks of each group by its round and number, where there are groups.
  std::map<std::pair<int, int>, std::vector<int>> groups{};

  /// The ranks of the job that a row is of.
  [[nodiscard]] std::vector<int> ranks_of(const Record& record) const {
    if (record.group) return groups.at({record.round.value_or(0), *record.group});
    if (record.sender) {
      return {std::min(*record.sender, *record.receiver),
              std::max(*record.sender, *record.receiver)};
    }
    std::vector<int> ranks(hosts.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
  }
};

/// What a run came to, for the ends of all outputs.
struct RunSummary {
  std::size_t rows = 0;  ///< measured
  std::size_t skipped = 0;
  std::size_t wrong_rows = 0;
  std::size_t fault_rows = 0;  ///< into which --inject-fault put a fault
  std::string memory_use{};    ///< -M, in words
  double mean_busbw_GBps = 0;  ///< over all measured rows, as nccl-tests' average
  std::string finished_at;
};

/// One output of a run. A row is where it belongs (on the terminal, on disk) when write returns.
class Writer {
 public:
  Writer() = default;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  virtual ~Writer() = default;

  virtual void begin(const RunContext& context) = 0;
  /// A row that was not measured has no samples.
  virtual void write(const Row& row) = 0;
  virtual void end(const RunSummary& /*summary*/) {}
};

}  // namespace busbar
