// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <csignal>
#include <pthread.h>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <utility>

#include "tests/gpu/fake/cudart/runtime.hpp"

namespace fake_gpu {

std::int64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void Completion::finish() {
  const std::lock_guard guard(mutex_);
  time_ns_ = monotonic_ns();
  done_ = true;
  changed_.notify_all();
}

bool Completion::is_done() const {
  const std::lock_guard guard(mutex_);
  return done_;
}

std::int64_t Completion::time_ns() const {
  const std::lock_guard guard(mutex_);
  return time_ns_;
}

bool Completion::wait(const std::atomic<int>& given_up) const {
  std::unique_lock lock(mutex_);
  while (!done_) {
    if (given_up.load() != 0) return false;
    changed_.wait_for(lock, std::chrono::milliseconds(10));
  }
  return true;
}

static constexpr std::size_t kQueueEntries = 1024;

void park_forever() {
  for (;;) ::pause();
}

Stream::Stream(int device, bool blocking) : device_(device), blocking_(blocking) {
  // Signals are for the threads of the program.
  sigset_t all{};
  sigset_t before{};
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([queue = queue_] { work(queue); }).detach();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Stream::~Stream() {
  const std::lock_guard guard(queue_->mutex);
  queue_->closed = true;
  queue_->changed.notify_all();
}

Ticket Stream::submit(Job job, std::vector<Ticket> after) {
  auto done = std::make_shared<Completion>();
  const std::lock_guard guard(queue_->mutex);
  queue_->entries += job.entries;
  queue_->items.push_back({std::move(job), std::move(after), done});
  queue_->changed.notify_all();
  tail_ = done;
  return done;
}

void Stream::await_room() const {
  std::unique_lock lock(queue_->mutex);
  while (queue_->entries >= kQueueEntries && device_error() == cudaSuccess) {
    queue_->changed.wait_for(lock, std::chrono::milliseconds(10));
  }
}

Ticket Stream::tail() const {
  const std::lock_guard guard(queue_->mutex);
  return tail_;
}

bool Stream::is_idle() const {
  const Ticket last = tail();
  return last == nullptr || last->is_done();
}

void Stream::work(const std::shared_ptr<Queue>& queue) {
  std::unique_lock lock(queue->mutex);
  for (;;) {
    queue->changed.wait(lock, [&queue] { return queue->closed || !queue->items.empty(); });
    if (queue->items.empty()) return;
    const Item item = std::move(queue->items.front());
    queue->items.pop_front();
    lock.unlock();
    static const std::atomic<int> kNever = 0;
    for (const Ticket& ticket : item.after) {
      if (ticket != nullptr) static_cast<void>(ticket->wait(kNever));
    }
    if (is_lost()) park_forever();
    if (!item.job.run()) set_device_error(cudaErrorIllegalAddress);
    if (is_lost()) park_forever();
    item.done->finish();
    lock.lock();
    if (queue->entries >= kQueueEntries) queue->changed.notify_all();
    queue->entries -= item.job.entries;
  }
}

}  // namespace fake_gpu
