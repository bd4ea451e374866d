// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/collective.hpp"
#include "model/data_type.hpp"
#include "model/reduce_op.hpp"

namespace busbar {

/// One operation as a backend is asked for it.
struct Call {
  const Collective* collective = nullptr;
  std::byte* send = nullptr;
  std::byte* recv = nullptr;
  std::uint64_t count = 0;  ///< elements, as Footprint::count
  DataType type = DataType::Float;
  ReduceOp op = ReduceOp::None;
  int root = 0;
  Peers peers{};  ///< only for collectives that have them
  bool in_place = false;
  /// Elements per library call where an elementwise collective is issued in segments; 0: one call.
  std::uint64_t segment = 0;
};

}  // namespace busbar
