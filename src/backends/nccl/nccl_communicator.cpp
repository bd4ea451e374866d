// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/nccl_communicator.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <thread>

#include <fmt/format.h>

#include "backends/nccl/api.hpp"
#include "backends/nccl/cuda_graph.hpp"
#include "backends/nccl/routines.hpp"
#include "base/error.hpp"

namespace busbar {
namespace {

constexpr int kSmallFloatsFrom = 90;  // compute capability 9.0: nccl-tests' rule

int attribute(cudaDeviceAttr which) {
  int device = 0;
  int value = 0;
  check_cuda(cudaGetDevice(&device));
  check_cuda(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

Bytes free_now() {
  Bytes free = 0;
  Bytes total = 0;
  check_cuda(cudaMemGetInfo(&free, &total));
  return free;
}

Bytes less(Bytes a, Bytes b) { return a > b ? a - b : 0; }

}  // namespace

NcclCommunicator::NcclCommunicator(Bootstrap& bootstrap, const ConnectOptions& options)
    : rank_(bootstrap.rank()),
      ranks_(bootstrap.size()),
      progress_(options.progress),
      registration_(options.registration),
      compute_capability_(attribute(cudaDevAttrComputeCapabilityMajor) * 10 +
                          attribute(cudaDevAttrComputeCapabilityMinor)),
      free_at_first_(free_now()),
      comm_(bootstrap, options),
      free_when_connected_(free_now()),
      memory_(stream_.get()),
      stopwatch_(stream_.get()) {
  Bytes free = 0;
  check_cuda(cudaMemGetInfo(&free, &total_memory_));
}

std::optional<std::string> NcclCommunicator::unsupported(const Call& call) const {
  const NcclRoutine* routine = find_nccl_routine(call.collective->name);
  if (routine == nullptr) return fmt::format("NCCL has no {}", call.collective->title);
  if (call.in_place && !routine->in_place) {
    return std::string(kOverwrites);
  }
  if (!nccl_type(call.type)) return fmt::format("this NCCL has no type {}", info(call.type).name);
  const bool small = call.type == DataType::F8e4m3 || call.type == DataType::F8e5m2;
  if (small && compute_capability_ < kSmallFloatsFrom) {
    return fmt::format("{} needs compute capability 9.0, this device has {}.{}",
                       info(call.type).name, compute_capability_ / 10, compute_capability_ % 10);
  }
  return std::nullopt;
}

std::uint64_t NcclCommunicator::largest_count(const Call& /*call*/) const {
  return std::numeric_limits<std::uint64_t>::max();
}

/// NCCL takes its channels' buffers at the first operation of a kind, not when it connects: an
/// allowance of a sixteenth of the device's memory, 2 GiB at most (docs/measurement.md).
Bytes NcclCommunicator::temporary_bytes(const Call& /*call*/) const {
  return std::min(total_memory_ / 16, 2 * kGiB);
}

std::optional<Bytes> NcclCommunicator::free_device_memory() const { return free_now(); }

std::optional<DeviceMemoryUse> NcclCommunicator::device_memory_use() const {
  return DeviceMemoryUse{.initialization = less(free_at_first_, free_when_connected_),
                         .user = most_allocated_,
                         .collective = less(less(free_when_connected_, free_now()), allocated_)};
}

Buffer NcclCommunicator::allocate(Bytes bytes) {
  constexpr Bytes kWindow = 4096;  // symmetric windows begin and end on it
  const Bytes size = std::max<Bytes>(1, (bytes + kWindow - 1) / kWindow) * kWindow;
  auto* data = static_cast<std::byte*>(nccl::allocate(size));
  if (data == nullptr) {
    throw runtime_failure(fmt::format("no device memory for a buffer of {}", format_bytes(bytes)));
  }
  Buffer buffer(data, size, [this](std::byte* memory, Bytes taken) { release(memory, taken); });
  allocated_ += size;
  most_allocated_ = std::max(most_allocated_, allocated_);
  poison(data, size);
  return buffer;
}

void NcclCommunicator::enlist(const Buffer& buffer) {
  if (registration_ == Registration::None) return;
  void*& handle = registered_[buffer.data()];
  comm_.settle(nccl::enlist(comm_.get(), buffer.data(), buffer.size(), registration_, &handle));
}

void NcclCommunicator::release(std::byte* data, Bytes size) {
  allocated_ -= size;
  const auto entry = registered_.find(data);
  if (entry != registered_.end()) {
    const bool alive = comm_.get() != nullptr;
    if (alive) comm_.wait_for(nccl::delist(comm_.get(), registration_, entry->second));
    registered_.erase(entry);
  }
  nccl::release(data);
}

void NcclCommunicator::fill(std::byte* to, std::uint64_t count, const Tile& tile,
                            std::uint64_t first) {
  memory_.fill(to, count, tile, first);
  wait();
}

void NcclCommunicator::poison(std::byte* to, Bytes bytes) {
  memory_.poison(to, bytes);
  wait();
}

Comparison NcclCommunicator::compare(const std::byte* data, std::uint64_t count, const Tile& tile,
                                     std::uint64_t first) {
  Comparison comparison;
  if (count == 0) return comparison;
  DeviceComparison found;
  memory_.compare(data, count, tile, first, found);
  wait();
  comparison.wrong = found.wrong;
  if (found.wrong == 0) return comparison;
  const Bytes element = tile.element_size();
  std::array<std::byte, 8> got{};
  comparison.first_wrong = found.first_wrong;
  memory_.read(got.data(), data + found.first_wrong * element, element);
  wait();
  const std::uint64_t position = (first + found.first_wrong) % Pattern::kPeriod;
  comparison.expected = element_text(tile.type(), tile.data() + position * element);
  comparison.got = element_text(tile.type(), got.data());
  return comparison;
}

void NcclCommunicator::flip_bit(std::byte* data) {
  std::byte value{};
  memory_.read(&value, data, 1);
  wait();
  value ^= std::byte{1};
  memory_.write(data, &value, 1);
  wait();
}

void NcclCommunicator::enqueue(const Call& call) {
  const NcclRoutine* routine = find_nccl_routine(call.collective->name);
  if (routine == nullptr) throw runtime_failure("a call without an NCCL routine");
  const NcclArguments arguments{.send = call.send,
                                .recv = call.recv,
                                .count = call.count,
                                .block = call.count * info(call.type).size,
                                .type = *nccl_type(call.type),
                                .op = nccl_op(call.op),
                                .root = call.root,
                                .peers = call.peers,
                                .rank = rank_,
                                .ranks = ranks_,
                                .comm = comm_.get(),
                                .stream = stream_.get()};
  comm_.settle(routine->enqueue(arguments));
}

std::unique_ptr<Replay> NcclCommunicator::capture(const std::function<void()>& issue) {
  return std::make_unique<CudaGraph>(stream_.get(), issue);
}

void NcclCommunicator::wait() {
  for (;;) {
    const cudaError_t state = cudaStreamQuery(stream_.get());
    if (state == cudaSuccess) return;
    if (state != cudaErrorNotReady) {
      // What NCCL says of it is nearer to the cause than what is left of it in CUDA.
      comm_.check_async();
      check_cuda(state);
    }
    (void)cudaGetLastError();  // "not ready" would be taken for the next launch's failure
    comm_.check_async();
    if (progress_ == Progress::Yield) std::this_thread::yield();
  }
}

}  // namespace busbar
