// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tests/gpu/fake/nccl/operation.hpp"

namespace fake_gpu {

/// Does what the calls of one group ask of one rank. Ranks read each other's memory: each offers
/// its buffers, and none goes on before all that read them have done so.
class Exchange {
 public:
  enum class Outcome { Done, Aborted, Mismatch, NoMemory };

  explicit Exchange(Communicator& comm) : comm_(comm), me_(comm.rank()), ranks_(comm.ranks()) {}

  /// Collectives first, one by one; then sends and receives, all at the same time.
  [[nodiscard]] Outcome run(const std::vector<Operation>& operations);
  /// What did not fit, after Mismatch.
  [[nodiscard]] const std::string& mismatch() const { return mismatch_; }

 private:
  [[nodiscard]] bool meet(const Note& mine, std::vector<Note>* notes) const;
  [[nodiscard]] Outcome collective(const Operation& call);
  /// As far as it goes now; true where nothing is left to do.
  [[nodiscard]] bool move_messages(std::vector<const Operation*>& pending);
  [[nodiscard]] bool move_message(const Operation& call);
  /// Notes what a rank offers where it is not what this call needs.
  [[nodiscard]] bool fits(const Operation& call, int rank, const Note& offer);

  Communicator& comm_;
  int me_;
  int ranks_;
  std::string mismatch_;
  bool has_memory_ = true;
};

}  // namespace fake_gpu
