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
  /// The MIG instance of the GPU at this PCI address; -1: the whole GPU.
  int mig = -1;
  /// Position in the machine, independent of CUDA_VISIBLE_DEVICES.
  int place = 0;

  /// Domain, bus and device as one number, in the manner of NCCL's messages.
  [[nodiscard]] std::uint64_t bus_id() const;
  [[nodiscard]] std::array<unsigned char, 16> uuid() const;
  /// "GPU-..." or "MIG-...", as nvidia-smi -L prints it.
  [[nodiscard]] std::string uuid_text() const;
};

struct Machine {
  /// Every GPU of the machine.
  std::vector<Gpu> installed;
  /// Those that CUDA_VISIBLE_DEVICES leaves.
  std::vector<Gpu> gpus;
  /// How long the first operation of a kind takes on a communicator.
  double connect_seconds = 0;
  /// Device memory of a communicator from its first operation on.
  std::uint64_t nccl_bytes = 0;
  /// Can GPUs map each other's memory, as symmetric windows need?
  bool symmetric = true;
  /// Have they multicast, as NVLS needs?
  bool multicast = false;
  /// What processes that share a machine have in common.
  std::string identity;
};

[[nodiscard]] Machine parse_machine(std::string_view text, const std::string& file);

/// The GPUs that a value of CUDA_VISIBLE_DEVICES leaves, in its order: by index, UUID or unique
/// beginning of one, up to the first that does not exist; at most one MIG instance.
[[nodiscard]] std::vector<Gpu> select_visible(const std::vector<Gpu>& gpus, const char* visible);

/// FAKE_GPU_MACHINE as CUDA_VISIBLE_DEVICES shows it.
[[nodiscard]] const Machine& machine();

/// The GPU of a device number as CUDA has it, which must exist.
[[nodiscard]] const Gpu& gpu(int device);
[[nodiscard]] std::string host_name();
[[nodiscard]] std::uint64_t hash_text(std::string_view text);

}  // namespace fake_gpu
