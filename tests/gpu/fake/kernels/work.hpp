// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nccl.h>

#include "tests/gpu/fake/kernels/connection.hpp"
#include "tests/gpu/fake/kernels/task.hpp"

namespace fake_gpu {

/// A function of NCCL's device code, such as "AllReduce Sum f32 RING SIMPLE".
struct Function {
  std::string collective;
  std::string op;  ///< "" where nothing is added up
  ncclDataType_t type = ncclInt8;
};

/// The one with this number in the tables of NCCL's build; ends the program where there is none.
[[nodiscard]] const Function& function_of(unsigned number);

/// A channel of a launch.
struct Channel {
  const ncclKernelComm* comm;
  ncclDevChannel* channel;
  std::uint32_t number;

  [[nodiscard]] ncclDevChannelPeer* peer(int rank) const;
  /// The rank `steps` after this one in the ring.
  [[nodiscard]] int ring_rank(int steps) const;
};

/// This channel's part of a collective by Ring and Simple.
[[nodiscard]] Task run_collective(const Channel& channel, const Function& function,
                                  ncclDevWorkColl work);

/// This channel's part of a send and a receive, which go on at the same time.
[[nodiscard]] std::vector<Task> run_p2p(const Channel& channel, const ncclDevWorkP2p& work);

}  // namespace fake_gpu
