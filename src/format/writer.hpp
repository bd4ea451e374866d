// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "model/row_key.hpp"
#include "model/sweep.hpp"

namespace busbar {

/// "key: value" lines of a head, in their order.
using HeaderFacts = std::vector<std::pair<std::string, std::string>>;

/// What a rank runs on: a GPU, or the processor that stands for it.
struct RankDevice {
  int rank = 0;
  int group = 0;  ///< -1: in none
  int pid = 0;
  std::string host{};
  int device = 0;
  std::string address{};  ///< "0000:07:00", "numa 0 core 3"
  std::string name{};
};

struct RunContext {
  /// Facts of the CSV's head and the JSON's context: host, versions, command, ...
  HeaderFacts facts;
  /// Lines for people above the console's table: the memory plan, warnings.
  std::vector<std::string> notes;

  /// @name The console's head, in nccl-tests' terms
  /// @{
  std::string nccl_name;                 ///< "all_reduce"
  std::vector<std::string> arguments;    ///< the command line
  std::vector<std::string> environment;  ///< what libraries read of it
  int nccl_version = 0;                  ///< 22809; 0 without NCCL
  Sweep sweep{};
  std::optional<std::uint64_t> warmup{};  ///< empty: auto
  std::optional<std::uint64_t> operations{};
  std::uint64_t aggregated = 1;
  std::uint64_t checks = 1;
  int blocking = 0;  ///< -z
  std::vector<RankDevice> devices{};
  bool timestamps = false;
  std::uint64_t graph = 0;                 ///< launches
  std::uint64_t unalign = 0;               ///< elements
  bool enqueue_times = false;              ///< -C
  std::optional<std::uint64_t> skipped{};  ///< -I is on, and leaves out this many samples (-K)
  bool observes_choice = false;            ///< --nccl-choice fills a row's algorithm
  /// @}

  std::vector<std::string> hosts;  ///< of each rank of the job
  /// The ranks of each group by its round and number, where there are groups.
  std::map<std::pair<int, int>, std::vector<int>> groups{};

  /// True where the groups are not all of one round.
  [[nodiscard]] bool has_rounds() const {
    return !groups.empty() && groups.begin()->first.first != groups.rbegin()->first.first;
  }
  [[nodiscard]] std::vector<int> ranks_of(const Record& record) const {
    if (record.group) return groups.at({record.round.value_or(0), *record.group});
    if (record.sender) {
      return {std::min(*record.sender, *record.receiver),
              std::max(*record.sender, *record.receiver)};
    }
    return first_numbers(hosts.size());
  }
};

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
