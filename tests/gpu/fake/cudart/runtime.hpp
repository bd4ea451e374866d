// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>

#include <cuda_runtime_api.h>

#include "tests/gpu/fake/cudart/fault.hpp"
#include "tests/gpu/fake/cudart/machine.hpp"
#include "tests/gpu/fake/cudart/memory.hpp"

namespace fake_gpu {

/// One piece of work that will be done, or not.
class Completion {
 public:
  void finish();
  [[nodiscard]] bool is_done() const;
  /// When it was done, in ns of CLOCK_MONOTONIC.
  [[nodiscard]] std::int64_t time_ns() const;
  /// Waits until it is done (true) or `given_up` is set (false; looked at every few ms).
  [[nodiscard]] bool wait(const std::atomic<int>& given_up) const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool done_ = false;
  std::int64_t time_ns_ = 0;
};

using Ticket = std::shared_ptr<Completion>;

[[nodiscard]] std::int64_t monotonic_ns();

/// What a stream does for one call. It finds its memory when it runs, not when it is called.
struct Job {
  /// False: an illegal address; the device is then of no more use.
  std::function<bool()> run{};
  /// The first byte that the call writes, as the caller names it: where `wrong` strikes.
  void* result = nullptr;
  /// How many entries of the launch queue it takes.
  std::size_t entries = 1;
};

/// What capture records: in the order of the calls, which is an order that a graph may run in.
struct Graph {
  std::vector<Job> jobs;
  /// Destroyed when no graph made of this one is left.
  std::vector<std::shared_ptr<void>> objects;
  unsigned long long id = next_id();
  static unsigned long long next_id();
};

/// A capture under way, on the stream where it began and on those that joined.
struct Capture {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  bool valid = true;
  int mode = 0;
  std::size_t thread = 0;
  const void* origin = nullptr;
};

/// Work in order, done by a thread of its own.
class Stream {
 public:
  Stream(int device, bool blocking);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Queues the job behind what is queued, and behind `after`.
  Ticket submit(Job job, std::vector<Ticket> after);
  /// Waits until the launch queue, which holds 1,024 entries, has room. Callers hold no lock.
  void await_room() const;
  /// The last work queued; null where there never was any.
  [[nodiscard]] Ticket tail() const;
  [[nodiscard]] bool is_idle() const;

  [[nodiscard]] int device() const { return device_; }
  /// Does it keep order with the default stream?
  [[nodiscard]] bool blocking() const { return blocking_; }

  /// Guarded by the runtime's mutex.
  std::shared_ptr<Capture> capture;

 private:
  struct Item {
    Job job;
    std::vector<Ticket> after;
    Ticket done;
  };
  struct Queue {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Item> items;
    /// Of all work that is not done.
    std::size_t entries = 0;
    bool closed = false;
  };

  static void work(const std::shared_ptr<Queue>& queue);

  int device_;
  bool blocking_;
  std::shared_ptr<Queue> queue_ = std::make_shared<Queue>();
  Ticket tail_;
};

/// Never returns.
[[noreturn]] void park_forever();

/// The last record of an event: the work it stands behind, or the capture it was recorded in.
struct Event {
  bool timed = true;
  int device = 0;
  bool recorded = false;
  Ticket reached;
  std::shared_ptr<Capture> captured;
};

using EventPointer = std::shared_ptr<Event>;

using StreamPointer = std::shared_ptr<Stream>;

/// What a thread of the program has for itself.
struct ThreadState {
  int device = 0;
  /// Has CUDA's runtime made a context current, as the driver's functions need?
  bool has_context = false;
  cudaError_t last_error = cudaSuccess;
  /// Of the call that this thread is in; who acts on it takes it away.
  FaultKind fault = FaultKind::None;
  const char* function = "";
  int capture_mode = cudaStreamCaptureModeGlobal;
};

[[nodiscard]] ThreadState& this_thread();
[[nodiscard]] FaultKind take_fault();
[[nodiscard]] std::size_t thread_number();

/// The error that every call returns from now on; cudaSuccess while the device is well.
[[nodiscard]] cudaError_t device_error();
/// For Completion::wait.
[[nodiscard]] const std::atomic<int>& device_error_flag();
void set_device_error(cudaError_t error);
/// Loses the device where the fault is `lost` (what frees things then hangs) or `gone`.
void lose_device(FaultKind fault);
/// Lost devices do no work any more.
[[nodiscard]] bool is_lost();
/// Never returns on a lost device: what calls do that wait for the device while they free things.
void hang_if_lost();
/// Sleeps as the fault `slow` of this function asks; `given_up` ends it.
void sleep_slowly(std::string_view function, const std::atomic<int>& given_up);

[[nodiscard]] Memory& memory();

/// Success where there is such a device.
[[nodiscard]] cudaError_t check_device(int device);
/// Creates the context of a device on its first use, which takes device memory.
[[nodiscard]] cudaError_t use_device(int device = this_thread().device);

/// Guards what the functions below touch, and captures.
[[nodiscard]] std::unique_lock<std::recursive_mutex> lock_runtime();

[[nodiscard]] StreamPointer make_stream(int device, bool blocking);
[[nodiscard]] cudaStream_t handle_of(const StreamPointer& stream);
/// Null where there is no such stream; 0 is this device's default stream.
[[nodiscard]] StreamPointer find_stream(cudaStream_t handle);
/// The same for a call that queues work: waits while the launch queue is full. Callers hold no
/// lock.
[[nodiscard]] StreamPointer find_stream_with_room(cudaStream_t handle);
void forget_stream(cudaStream_t handle);
[[nodiscard]] StreamPointer default_stream(int device);
[[nodiscard]] std::vector<StreamPointer> streams_of(int device);

/// Queues work, or records it where the stream captures, with the fault of the call; `done` may be
/// null, and gets null where it was recorded.
[[nodiscard]] cudaError_t submit(const StreamPointer& stream, Job job,
                                 std::vector<Ticket> after = {}, Ticket* done = nullptr);
/// Waits for work; the error of the device where that breaks first.
[[nodiscard]] cudaError_t await(const Ticket& ticket);
[[nodiscard]] cudaError_t await_device(int device);

/// What is wrong with a call that may not happen while some stream captures (which ends captures).
[[nodiscard]] cudaError_t forbid_in_capture();
/// The same for a call that waits for this stream.
[[nodiscard]] cudaError_t forbid_on_capturing(const StreamPointer& stream);

/// Makes the work of a launch from pointers to the arguments, which it copies.
using Kernel = Job (*)(void* const* arguments);

/// Null where the fake has no such kernel.
[[nodiscard]] Kernel find_kernel(std::string_view name);
/// The name of a kernel that is linked into a program or library, by its host stub.
[[nodiscard]] std::string stub_name(const void* stub);

/// Queues a launch on a stream of this thread's device.
[[nodiscard]] cudaError_t launch_kernel(Kernel kernel, const dim3& grid, const dim3& block,
                                        void* const* arguments, cudaStream_t stream);

/// Before and after every call of the API: counts it, strikes faults, keeps the last error.
class CallScope {
 public:
  explicit CallScope(const char* function);
  /// What the call returns without doing anything, else cudaSuccess.
  [[nodiscard]] cudaError_t early() const { return early_; }
  [[nodiscard]] cudaError_t finish(cudaError_t status) const;
  /// The same for the driver's functions, whose errors the runtime does not remember.
  [[nodiscard]] cudaError_t finish_driver(cudaError_t status) const;

 private:
  const char* function_;
  cudaError_t early_ = cudaSuccess;
};

template <class Body>
cudaError_t call(const char* function, const Body& body) {
  const CallScope scope(function);
  return scope.finish(scope.early() != cudaSuccess ? scope.early() : body());
}

/// Defines a function of CUDA's runtime by what it does where no fault strikes.
#define CUDA_CALL(name, parameters, ...) \
  cudaError_t name parameters { return ::fake_gpu::call(#name, [&]() -> cudaError_t __VA_ARGS__); }

}  // namespace fake_gpu
