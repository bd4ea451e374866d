// SPDX-License-Identifier: BSD-3-Clause
#include "tests/gpu/fake/cudart/runtime.hpp"

#include <thread>
#include <unistd.h>
#include <utility>

namespace fake_gpu {
namespace {

/// Never destroyed: threads of streams work until the process is gone.
struct Runtime {
  std::recursive_mutex mutex;
  Memory memory;
  std::atomic<int> error{cudaSuccess};
  /// Of a lost device that no longer answers, and of one that answers with an error.
  std::atomic<bool> hangs{false};
  std::vector<bool> used;
  std::map<int, StreamPointer> defaults;
  std::map<cudaStream_t, StreamPointer> streams;
};

Runtime& runtime() {
  static auto* const kRuntime = new Runtime;
  return *kRuntime;
}

void flip_first_bit(void* result) {
  unsigned char* byte = memory().contents(result, 1);
  if (byte == nullptr && memory().device_of(result) < 0) byte = static_cast<unsigned char*>(result);
  if (byte != nullptr) *byte ^= 1U;
}

/// The job as the fault of this call leaves it.
Job spoil(Job job) {
  const FaultKind fault = take_fault();
  if (fault == FaultKind::Hang || fault == FaultKind::Async) {
    job.run = []() -> bool { park_forever(); };
  }
  if (fault == FaultKind::Slow) {
    job.run = [run = std::move(job.run), function = this_thread().function] {
      sleep_slowly(function, device_error_flag());
      return run();
    };
  }
  if (fault == FaultKind::Wrong) {
    job.run = [run = std::move(job.run), result = job.result] {
      if (!run()) return false;
      if (result != nullptr) flip_first_bit(result);
      return true;
    };
  }
  return job;
}

/// The rule of the default stream: it waits for all blocking streams, and they for it.
void add_default_order(const StreamPointer& stream, std::vector<Ticket>& after) {
  if (!stream->blocking()) return;
  const StreamPointer standard = default_stream(stream->device());
  if (stream != standard) {
    after.push_back(standard->tail());
    return;
  }
  for (const StreamPointer& other : streams_of(stream->device())) {
    if (other != standard && other->blocking()) after.push_back(other->tail());
  }
}

}  // namespace

unsigned long long Graph::next_id() {
  static std::atomic<unsigned long long> last{0};
  return ++last;
}

ThreadState& this_thread() {
  thread_local ThreadState state;
  return state;
}

FaultKind take_fault() { return std::exchange(this_thread().fault, FaultKind::None); }
std::size_t thread_number() { return std::hash<std::thread::id>{}(std::this_thread::get_id()); }
cudaError_t device_error() { return static_cast<cudaError_t>(runtime().error.load()); }
const std::atomic<int>& device_error_flag() { return runtime().error; }

void set_device_error(cudaError_t error) {
  int none = cudaSuccess;
  if (error == cudaErrorDevicesUnavailable) {
    runtime().error.store(error);
  } else {
    runtime().error.compare_exchange_strong(none, error);
  }
}

bool is_lost() { return device_error() == cudaErrorDevicesUnavailable; }

void lose_device(FaultKind fault) {
  if (fault != FaultKind::Lost && fault != FaultKind::Gone) return;
  if (fault == FaultKind::Lost) runtime().hangs.store(true);
  set_device_error(cudaErrorDevicesUnavailable);
}

void hang_if_lost() {
  if (is_lost() && runtime().hangs.load()) park_forever();
}

void sleep_slowly(std::string_view function, const std::atomic<int>& given_up) {
  const std::int64_t end =
      monotonic_ns() + static_cast<std::int64_t>(fault_plan().seconds(function) * 1e9);
  while (monotonic_ns() < end && given_up.load() == 0) ::usleep(1000);
}

Memory& memory() { return runtime().memory; }
std::unique_lock<std::recursive_mutex> lock_runtime() { return std::unique_lock(runtime().mutex); }

cudaError_t check_device(int device) {
  if (machine().gpus.empty()) return cudaErrorNoDevice;
  const bool exists = device >= 0 && device < static_cast<int>(machine().gpus.size());
  return exists ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t use_device(int device) {
  constexpr std::uint64_t kContextBytes = 64 << 20;
  if (const auto status = check_device(device); status != cudaSuccess) return status;
  this_thread().has_context = true;
  const auto guard = lock_runtime();
  std::vector<bool>& used = runtime().used;
  used.resize(machine().gpus.size(), false);
  const auto index = static_cast<std::size_t>(device);
  const Gpu& own = gpu(device);
  if (!used[index]) used[index] = ledger().take(own.place, kContextBytes, own.memory_bytes);
  return used[index] ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaStream_t handle_of(const StreamPointer& stream) {
  return reinterpret_cast<cudaStream_t>(stream.get());
}

StreamPointer make_stream(int device, bool blocking) {
  auto stream = std::make_shared<Stream>(device, blocking);
  const auto guard = lock_runtime();
  runtime().streams[handle_of(stream)] = stream;
  return stream;
}

StreamPointer default_stream(int device) {
  const auto guard = lock_runtime();
  StreamPointer& stream = runtime().defaults[device];
  if (stream == nullptr) stream = make_stream(device, true);
  return stream;
}

StreamPointer find_stream(cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy || handle == cudaStreamPerThread)
    return default_stream(this_thread().device);
  const auto guard = lock_runtime();
  const auto found = runtime().streams.find(handle);
  return found == runtime().streams.end() ? nullptr : found->second;
}

StreamPointer find_stream_with_room(cudaStream_t handle) {
  StreamPointer stream = find_stream(handle);
  if (stream != nullptr) stream->await_room();
  return stream;
}

void forget_stream(cudaStream_t handle) {
  const auto guard = lock_runtime();
  runtime().streams.erase(handle);
}

std::vector<StreamPointer> streams_of(int device) {
  const auto guard = lock_runtime();
  std::vector<StreamPointer> found;
  for (const auto& [handle, stream] : runtime().streams) {
    if (stream->device() == device) found.push_back(stream);
  }
  return found;
}

cudaError_t submit(const StreamPointer& stream, Job job, std::vector<Ticket> after, Ticket* done) {
  if (done != nullptr) *done = nullptr;
  const auto guard = lock_runtime();
  if (stream->capture != nullptr) {
    if (!stream->capture->valid) return cudaErrorStreamCaptureInvalidated;
    stream->capture->graph->jobs.push_back(spoil(std::move(job)));
    return cudaSuccess;
  }
  add_default_order(stream, after);
  const Ticket ticket = stream->submit(spoil(std::move(job)), std::move(after));
  if (done != nullptr) *done = ticket;
  return cudaSuccess;
}

cudaError_t await(const Ticket& ticket) {
  if (ticket != nullptr) static_cast<void>(ticket->wait(device_error_flag()));
  return device_error();
}

cudaError_t await_device(int device) {
  for (const StreamPointer& stream : streams_of(device)) {
    if (const auto status = await(stream->tail()); status != cudaSuccess) return status;
  }
  return device_error();
}

cudaError_t forbid_on_capturing(const StreamPointer& stream) {
  const auto guard = lock_runtime();
  if (stream->capture == nullptr) return cudaSuccess;
  stream->capture->valid = false;
  return cudaErrorStreamCaptureUnsupported;
}

cudaError_t forbid_in_capture() {
  if (this_thread().capture_mode == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  const auto guard = lock_runtime();
  cudaError_t status = cudaSuccess;
  for (const auto& [handle, stream] : runtime().streams) {
    Capture* capture = stream->capture.get();
    if (capture == nullptr || capture->mode == cudaStreamCaptureModeRelaxed) continue;
    if (capture->mode == cudaStreamCaptureModeThreadLocal && capture->thread != thread_number())
      continue;
    capture->valid = false;
    status = cudaErrorStreamCaptureUnsupported;
  }
  return status;
}

CallScope::CallScope(const char* function) : function_(function) {
  const FaultKind fault = fault_plan().count_call(function);
  this_thread().fault = fault;
  this_thread().function = function;
  lose_device(fault);
  if (fault == FaultKind::Fail) early_ = cudaErrorUnknown;
  if (fault == FaultKind::Oom) early_ = cudaErrorMemoryAllocation;
  if (device_error() != cudaSuccess) early_ = device_error();
}

cudaError_t CallScope::finish_driver(cudaError_t status) const {
  const FaultKind left = take_fault();
  if (status != cudaSuccess) return status;
  if (left == FaultKind::Hang) park_forever();
  if (left == FaultKind::Slow) sleep_slowly(function_, device_error_flag());
  if (left == FaultKind::Wrong)
    die(std::string("FAKE_GPU_FAULT: ") + function_ + " has no result that could be wrong");
  return status;
}

cudaError_t CallScope::finish(cudaError_t status) const {
  const cudaError_t left = finish_driver(status);
  if (left != cudaSuccess) this_thread().last_error = left;
  return left;
}

}  // namespace fake_gpu
