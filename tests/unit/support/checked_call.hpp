// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "harness/row_buffers.hpp"
#include "harness/verifier.hpp"
#include "tests/unit/support/fake_communicator.hpp"

namespace busbar::test {

/// A call of 1024 elements.
[[nodiscard]] inline Call call_of(std::string_view name, DataType type = DataType::Float,
                                  ReduceOp op = ReduceOp::Sum) {
  const Collective& asked = collective(name);
  return {
      .collective = &asked, .count = 1024, .type = type, .op = asked.reduces ? op : ReduceOp::None};
}

/// Runs a placement of a call of 4 KiB, rooted at the last rank, and checks its result.
[[nodiscard]] inline DataCheck run_checked(Bootstrap& ranks, Communicator& communicator, Call like,
                                           bool in_place, std::uint64_t segment = 0) {
  const Collective& asked = *like.collective;
  const Bytes element = info(like.type).size;
  Distribution distribution;
  const SizePlan plan{.wanted = 4096,
                      .footprint = asked.footprint({.wanted = 4096,
                                                    .element = element,
                                                    .ranks = ranks.size(),
                                                    .distribution = &distribution}),
                      .segment = segment};
  RowBuffers buffers(communicator, plan, 0);
  if (asked.rooted) like.root = ranks.size() - 1;
  if (asked.peers != nullptr) {
    like.peers = asked.peers({.rank = ranks.rank(), .ranks = ranks.size()});
  }
  const auto calls = buffers.calls(like, in_place);
  Verifier verifier({.world = ranks, .members = ranks}, communicator, like.type, like.op);
  buffers.poison_results(in_place);
  verifier.fill(calls, plan.footprint.send / element, 1);
  communicator.enqueue(calls.front());
  communicator.wait();
  return verifier.check(calls, 1);
}

}  // namespace busbar::test
