// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "model/bootstrap.hpp"

namespace busbar::test {

/// The control plane of ranks that are threads of one process: they differ and really meet.
class ThreadBootstrap final : public Bootstrap {
 public:
  /// Another rank has failed, and with it the test.
  struct Left {};

  /// Where the ranks of a team meet.
  struct Meeting {
    explicit Meeting(int size) : shown(static_cast<std::size_t>(size)) {}
    /// Returns when all are there. Throws Left where one will never come.
    void meet() {
      std::unique_lock lock(mutex);
      const int mine = round;
      if (++arrived == shown.size()) {
        arrived = 0;
        ++round;
        changed.notify_all();
      }
      changed.wait(lock, [&] { return round != mine || left; });
      if (round == mine) throw Left{};
    }
    /// This rank has failed: the others do not wait for it.
    void leave() {
      const std::lock_guard lock(mutex);
      left = true;
      changed.notify_all();
    }
    std::mutex mutex;
    std::condition_variable changed;
    int round = 0;
    std::size_t arrived = 0;
    bool left = false;
    std::vector<std::span<const std::byte>> shown;     // by rank, between two meetings
    std::map<int, std::shared_ptr<Meeting>> by_color;  // the parts of a split
  };

  ThreadBootstrap(std::shared_ptr<Meeting> meeting, int rank)
      : meeting_(std::move(meeting)), rank_(rank) {}
  ThreadBootstrap(const ThreadBootstrap&) = delete;
  ThreadBootstrap& operator=(const ThreadBootstrap&) = delete;
  ThreadBootstrap(ThreadBootstrap&&) = delete;
  ThreadBootstrap& operator=(ThreadBootstrap&&) = delete;
  ~ThreadBootstrap() override {
    if (std::uncaught_exceptions() > exceptions_) meeting_->leave();
  }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return static_cast<int>(meeting_->shown.size()); }
  [[nodiscard]] int node() const override { return 0; }
  [[nodiscard]] int nodes() const override { return 1; }
  void barrier() override {
    ++barriers;
    meeting_->meet();
  }

  void broadcast_bytes(std::span<std::byte> bytes, int root) override {
    show(bytes, [&](int rank, std::span<const std::byte> theirs) {
      if (rank == root && rank != rank_) std::memcpy(bytes.data(), theirs.data(), bytes.size());
    });
  }
  void gather_bytes(std::span<const std::byte> mine, std::span<std::byte> all) override {
    std::byte* to = all.data();
    show(mine, [&](int /*rank*/, std::span<const std::byte> theirs) {
      std::memcpy(to, theirs.data(), theirs.size());
      to += theirs.size();
    });
  }
  [[nodiscard]] std::vector<std::string> gather_texts(const std::string& mine) override {
    std::vector<std::string> texts;
    show(std::as_bytes(std::span(mine)), [&](int /*rank*/, std::span<const std::byte> theirs) {
      if (rank_ != 0) return;
      texts.emplace_back(reinterpret_cast<const char*>(theirs.data()), theirs.size());
    });
    return texts;
  }
  [[nodiscard]] std::string scatter_texts(const std::vector<std::string>& texts) override {
    const std::vector<std::string>* all = &texts;
    broadcast(all);
    std::string mine = all->at(static_cast<std::size_t>(rank_));
    meeting_->meet();
    return mine;
  }
  void combine(std::span<double> values, Combine how) override {
    const std::vector<double> mine(values.begin(), values.end());
    show(std::as_bytes(std::span(mine)), [&](int rank, std::span<const std::byte> theirs) {
      std::vector<double> others(values.size());
      std::memcpy(others.data(), theirs.data(), theirs.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = rank == 0 ? others[i] : combined(values[i], others[i], how);
      }
    });
  }
  [[nodiscard]] std::unique_ptr<Bootstrap> split(int color) override {
    const std::vector<int> colors = gather(color);
    int part = 0;
    int place = 0;
    for (int rank = 0; rank < size(); ++rank) {
      if (colors[static_cast<std::size_t>(rank)] != color) continue;
      if (rank == rank_) place = part;
      ++part;
    }
    meeting_->meet();
    if (rank_ == 0) meeting_->by_color.clear();
    for (int rank = 0; rank < size(); ++rank) {  // one after the other
      meeting_->meet();
      if (rank == rank_ && place == 0) meeting_->by_color[color] = std::make_shared<Meeting>(part);
    }
    meeting_->meet();
    return std::make_unique<ThreadBootstrap>(meeting_->by_color.at(color), place);
  }
  [[noreturn]] void abort(int exit_code) override { std::_Exit(exit_code); }

  int barriers = 0;

 private:
  static double combined(double a, double b, Combine how) {
    if (how == Combine::Sum) return a + b;
    return how == Combine::Max ? std::max(a, b) : std::min(a, b);
  }

  /// Shows what this rank has and looks at what each has, in rank order.
  template <class Look>
  void show(std::span<const std::byte> mine, const Look& look) {
    meeting_->shown[static_cast<std::size_t>(rank_)] = mine;
    meeting_->meet();
    for (int rank = 0; rank < size(); ++rank) {
      look(rank, meeting_->shown[static_cast<std::size_t>(rank)]);
    }
    meeting_->meet();
  }

  std::shared_ptr<Meeting> meeting_;
  int rank_;
  int exceptions_ = std::uncaught_exceptions();
};

/// Does `work` as each of `size` ranks at the same time. A rank that throws, or returns from a
/// failed ASSERT, fails the test, and the other ranks leave at their next meeting.
inline void on_ranks(int size, const std::function<void(ThreadBootstrap&)>& work) {
  const auto meeting = std::make_shared<ThreadBootstrap::Meeting>(size);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < size; ++rank) {
    ranks.emplace_back([&work, meeting, rank] {
      try {
        ThreadBootstrap bootstrap(meeting, rank);
        work(bootstrap);
        if (::testing::Test::HasFatalFailure()) throw ThreadBootstrap::Left{};
      } catch (const ThreadBootstrap::Left&) {
      } catch (const std::exception& error) {
        ADD_FAILURE() << "rank " << rank << ": " << error.what();
      }
    });
  }
  for (std::thread& rank : ranks) rank.join();
}

}  // namespace busbar::test
