// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/nccl_communicator.hpp"

#include <exception>
#include <thread>

#include "backends/nccl/routines.hpp"

namespace busbar {
namespace {

constexpr int kSmallFloatsFrom = 90;  // compute capability 9.0: nccl-tests' rule
constexpr int kSymmetricWindow = 1;   // NCCL_WIN_COLL_SYMMETRIC of nccl.h, 2.27

int attribute(cudaDeviceAttr which) {
  int device = 0;
  int value = 0;
  check_cuda(cuda().get_device(&device));
  check_cuda(cuda().get_attribute(&value, which, device));
  return value;
}

Bytes less(Bytes a, Bytes b) { return a > b ? a - b : 0; }

bool is_small_float(DataType type) { return type == DataType::F8e4m3 || type == DataType::F8e5m2; }

}  // namespace

NcclCommunicator::NcclCommunicator(Bootstrap& bootstrap, const ConnectOptions& options)
    : rank_(bootstrap.rank()),
      ranks_(bootstrap.size()),
      nodes_(bootstrap.nodes()),
      registration_(options.registration),
      shares_device_(options.shares_devices),
      compute_capability_(attribute(cudaDevAttrComputeCapabilityMajor) * 10 +
                          attribute(cudaDevAttrComputeCapabilityMinor)),
      total_memory_(device_memory_now().total),
      memory_(stream_.get()),
      stopwatch_(stream_.get()),
      free_at_first_(device_memory_now().free),
      arena_([this](std::byte* block) { deregister(block); }),
      held_start_(stream_.get()),
      log_(options.observe_choice ? std::make_unique<NcclLog>(nccl().reread_log_settings)
                                  : nullptr),
      comm_(bootstrap, options),
      free_when_connected_(device_memory_now().free) {
  if (log_) observe_transports();
}

/// From 2.22 on ranks connect at their first operation, so one is needed to see how.
void NcclCommunicator::observe_transports() {
  const auto element = allocate_cuda_memory(sizeof(float));
  comm_.settle_operation(nccl().allreduce(element.get(), element.get(), 1, ncclFloat, ncclSum,
                                          comm_.get(), stream_.get()));
  wait();
  log_->stop();
  transports_ = parse_nccl_transports(log_->text());
  transports_->switchable = log_->switchable();
}

NcclCommunicator::~NcclCommunicator() {
  start_held();  // NCCL's end waits for the stream
  while (std::uncaught_exceptions() == 0 && !registered_.empty()) {
    deregister(registered_.front().block);
  }
  registered_.clear();  // an aborted communicator has forgotten them
}

std::optional<std::string> NcclCommunicator::no_registration() const {
  if (registration_ == Registration::Local && !nccl().register_buffer) {
    return newer_nccl_text("-R: it", kNcclRegistration);
  }
  if (registration_ == Registration::Symmetric && !nccl().register_window) {
    return newer_nccl_text("-R: it", kNcclWindows);
  }
  return std::nullopt;
}

std::optional<std::string> NcclCommunicator::unsupported(const Call& call) const {
  const NcclRoutine* routine = find_nccl_routine(call.collective->name);
  if (routine == nullptr) return fmt::format("NCCL has no {}", call.collective->title);
  if (call.in_place && !routine->in_place) return std::string(kOverwrites);
  if (auto reason = no_registration()) return reason;
  if (!is_small_float(call.type)) return std::nullopt;
  const std::string_view name = info(call.type).name;
  if (nccl_version() < kNcclSmallFloats) return newer_nccl_text(name, kNcclSmallFloats);
  if (call.collective->reduces && compute_capability_ < kSmallFloatsFrom) {
    return fmt::format("{} needs compute capability 9.0, this device has {}.{}", name,
                       compute_capability_ / 10, compute_capability_ % 10);
  }
  if (ranks_ == 1 && call.op == ReduceOp::Avg) {  // onerank.cu of NCCL 2.24 to 2.30
    return fmt::format("NCCL has no average of {} on one rank", name);
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

std::optional<Bytes> NcclCommunicator::free_device_memory() const {
  return device_memory_now().free;
}

std::optional<DeviceMemoryUse> NcclCommunicator::device_memory_use() const {
  return DeviceMemoryUse{.initialization = less(free_at_first_, free_when_connected_),
                         .user = most_allocated_,
                         .collective = library_growth()};
}

Bytes NcclCommunicator::device_cache() const {
  return static_cast<Bytes>(attribute(cudaDevAttrL2CacheSize));
}

/// On a shared device the memory may be another rank's.
Bytes NcclCommunicator::library_growth() const {
  if (shares_device_) return 0;
  return less(less(free_when_connected_, device_memory_now().free), arena_.taken());
}

Buffer NcclCommunicator::allocate(Bytes bytes) {
  std::byte* data = arena_.allocate(bytes);
  if (data == nullptr) {
    throw Error{Status::Unavailable,
                fmt::format("no device memory for a buffer of {}", format_bytes(bytes))};
  }
  Buffer buffer(data, bytes, [this](std::byte* memory, Bytes) { arena_.release(memory); });
  most_allocated_ = std::max(most_allocated_, arena_.taken());
  poison(data, bytes);
  return buffer;
}

/// The whole block of the arena, once.
void NcclCommunicator::register_buffer(const Buffer& buffer) {
  if (registration_ == Registration::None) return;
  const DeviceArena::Block& block = arena_.block_of(buffer.data());
  for (const Registered& known : registered_) {
    if (known.block == block.data) return;
  }
  void* handle = nullptr;  // written when the call is settled, not when it returns
  comm_.settle(
      registration_ == Registration::Local
          ? nccl().register_buffer(comm_.get(), block.data, block.size, &handle)
          : nccl().register_window(comm_.get(), block.data, block.size, &handle, kSymmetricWindow));
  registered_.push_back({.block = block.data, .handle = handle});
}

/// NCCL calls it a success where it does not register: with a null handle, or before 2.29, where
/// ranks of several nodes have no window, with one that has no meaning.
bool NcclCommunicator::is_registered() const {
  const bool unknown =
      registration_ == Registration::Symmetric && nodes_ > 1 && nccl_version() < kNcclNullWindows;
  return !unknown && !registered_.empty() &&
         std::ranges::all_of(registered_,
                             [](const Registered& entry) { return entry.handle != nullptr; });
}

void NcclCommunicator::deregister(std::byte* block) noexcept {
  const auto entry = std::ranges::find(registered_, block, &Registered::block);
  if (entry == registered_.end()) return;
  if (entry->handle != nullptr && comm_.get() != nullptr) {
    (void)comm_.wait_for(registration_ == Registration::Local
                             ? nccl().deregister_buffer(comm_.get(), entry->handle)
                             : nccl().deregister_window(comm_.get(), entry->handle));
  }
  registered_.erase(entry);
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

Difference NcclCommunicator::compare(const std::byte* data, std::uint64_t count, const Tile& tile,
                                     std::uint64_t first) {
  Difference comparison;
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
                                .type = nccl_type(call.type),
                                .op = nccl_op(call.op),
                                .root = call.root,
                                .peers = call.peers,
                                .rank = rank_,
                                .ranks = ranks_,
                                .comm = comm_.get(),
                                .stream = stream_.get()};
  comm_.settle_operation(routine->enqueue(arguments));
}

std::unique_ptr<GraphLaunch> NcclCommunicator::capture(const std::function<void()>& issue) {
  return std::make_unique<CudaGraph>(stream_.get(), issue);
}

/// NCCL logs its choices on the communicator's rank 0 alone.
void NcclCommunicator::begin_observing() {
  if (log_ && rank_ == 0) log_->start();
}

std::optional<LibraryChoice> NcclCommunicator::observed_choice() {
  if (!log_ || !log_->switchable() || rank_ != 0) return std::nullopt;
  log_->stop();
  return parse_nccl_choice(log_->text());
}

void NcclCommunicator::wait() {
  for (;;) {
    const cudaError_t state = cuda().query_stream(stream_.get());
    if (state == cudaSuccess) return;
    if (state != cudaErrorNotReady) {
      // What NCCL reports is nearer to the cause than what is left of it in CUDA.
      comm_.check_async();
      check_cuda(state);
    }
    (void)cuda().take_last_error();  // "not ready" is not a failure of a later call
    comm_.check_async();
    // NCCL's own threads may have no other processor than this one.
    std::this_thread::yield();
  }
}

}  // namespace busbar
