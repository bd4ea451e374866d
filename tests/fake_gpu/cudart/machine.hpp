// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fake_gpu {

/// One line on stderr, then abort: a test that is set up wrongly must not pass.
[[noreturn]] void die(const std::string& why);

struct Gpu {
  std::string name;
  std::string pci;
  std::uint64_t memory_bytes = 0;
  int major = 0;
  int minor = 0;
  /// Position in the machine, whatever CUDA_VISIBLE_DEVICES says.
  int place = 0;

  /// Domain, bus and device as one number, in the manner of NCCL's messages.
  [[nodiscard]] std::uint64_t bus_id() const;
  [[nodiscard]] std::array<unsigned char, 16> uuid() const;
};

struct Machine {
  std::vector<Gpu> gpus;
  /// What processes that share a machine have in common.
  std::string identity;
};

[[nodiscard]] std::vector<Gpu> parse_gpus(std::string_view text, const std::string& file);

/// The GPUs that a value of CUDA_VISIBLE_DEVICES leaves, in its order; CUDA stops at the first
/// index that does not exist.
[[nodiscard]] std::vector<Gpu> select_visible(const std::vector<Gpu>& gpus, const char* visible);

/// FAKE_GPU_MACHINE as CUDA_VISIBLE_DEVICES shows it.
[[nodiscard]] const Machine& machine();

[[nodiscard]] std::uint64_t hash_text(std::string_view text);

}  // namespace fake_gpu
