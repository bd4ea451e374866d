// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <coroutine>
#include <exception>
#include <functional>
#include <utility>

namespace fake_gpu {

/// A coroutine that runs until it waits; `ready` says whether it may go on.
class Task {
 public:
  struct promise_type {
    std::function<bool()> ready;
    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
    struct Wait {
      std::function<bool()> ready;
      bool await_ready() const { return ready(); }
      void await_suspend(std::coroutine_handle<promise_type> handle) {
        handle.promise().ready = std::move(ready);
      }
      void await_resume() const {}
    };
    Wait await_transform(std::function<bool()> until) { return {std::move(until)}; }
  };

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }
  [[nodiscard]] bool done() const { return handle_.done(); }
  /// True where it went on.
  bool step() {
    if (handle_.promise().ready && !handle_.promise().ready()) return false;
    handle_.promise().ready = nullptr;
    handle_.resume();
    return true;
  }

 private:
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

}  // namespace fake_gpu
