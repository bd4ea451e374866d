// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/chunk.hpp"
#include "harness/options.hpp"
#include "model/communicator.hpp"
#include "model/pattern.hpp"

namespace busbar {

/// What a check found on all ranks; the same on every rank.
struct DataCheck {
  std::uint64_t wrong = 0;  ///< elements
  std::string first_wrong;  ///< "rank 1, element 12345: expected 37, got 36"
};

/// Prepares buffers with a pattern and checks results against it, for one type and operation.
class Verifier {
 public:
  /// `pair` is of collectives that have peers: Position::pair.
  Verifier(const RoundGroup& round_group, Communicator& communicator, DataType type, ReduceOp op,
           std::optional<Pair> pair = {});

  /// Writes the `count` elements that each call sends, for this seed.
  void fill(std::span<const Call> calls, std::uint64_t count, std::uint64_t seed);
  /// Checks the results of these calls, which were filled with this seed. Collective.
  [[nodiscard]] DataCheck check(std::span<const Call> calls, std::uint64_t seed);
  /// Bytes of this call's results on all ranks. Collective.
  [[nodiscard]] Bytes checked_bytes(const Call& call) const;
  /// Flips a bit of this call's result on the fault's rank, which is one of the job; false, on
  /// every rank of the group, where that rank's result has no such element or it is not of the
  /// group.
  [[nodiscard]] bool plant(const Fault& fault, const Call& call);

 private:
  [[nodiscard]] const Tile& tile(int source, std::uint64_t seed);
  /// The pieces of this rank's correct result.
  [[nodiscard]] std::vector<Piece> expected(const Call& call) const;

  RoundGroup round_group_;
  Communicator& communicator_;
  DataType type_;
  ReduceOp op_;
  std::optional<Pair> pair_;
  std::map<int, Tile> tiles_;  // of tiles_seed_, by source
  std::uint64_t tiles_seed_ = 0;
};

}  // namespace busbar
