// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <cuda_runtime_api.h>

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
  /// Waits in place of run() for a call that never completes; null: until the process ends.
  std::function<void()> park{};
  /// How many entries of the launch queue it takes.
  std::size_t entries = 1;
};

/// What capture records: in the order of the calls, which is an order that a graph may run in.
struct Graph {
  std::vector<Job> jobs;
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

/// Guarded by the runtime's mutex. Null where there is no such event.
[[nodiscard]] EventPointer find_event(cudaEvent_t handle);

}  // namespace fake_gpu
