// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "model/backend.hpp"
#include "model/host_memory.hpp"

namespace busbar::test {

/// A backend of this build, whether this process can use it or not.
[[nodiscard]] inline const Backend& backend_named(std::string_view name) {
  return *choose_backend(name, [](const Backend&) { return std::optional<std::string>{}; }).backend;
}

/// A stopwatch whose time is what the operations are said to take, so that samples are known.
class FakeStopwatch final : public Stopwatch {
 public:
  void reset(std::size_t /*laps*/) override { intervals_.clear(); }
  void start() override {
    std::this_thread::sleep_for(recording);
    running_ = Seconds{0};
  }
  void lap() override {
    std::this_thread::sleep_for(recording);
    intervals_.push_back(running_);
    running_ = Seconds{0};
  }
  [[nodiscard]] const std::vector<Seconds>& intervals() override { return intervals_; }
  [[nodiscard]] Seconds cost() override { return Seconds{25e-9}; }
  void advance(Seconds time) { running_ += time; }

  Seconds recording{0};  ///< what recording an event takes the host

 private:
  Seconds running_{0};
  std::vector<Seconds> intervals_;
};

/// The data plane of a job of one process: an operation copies what is sent to what is received.
class FakeCommunicator final : public HostCommunicator {
 public:
  FakeCommunicator() : HostCommunicator(Pages::Huge) {}
  [[nodiscard]] std::optional<std::string> unsupported(const Call& call) const override {
    return call.in_place ? in_place_obstacle : std::nullopt;
  }
  [[nodiscard]] std::uint64_t largest_count(const Call& /*call*/) const override { return largest; }
  [[nodiscard]] Bytes temporary_bytes(const Call& call) const override { return temporary(call); }
  [[nodiscard]] InPlace in_place(const Collective& collective, std::uint64_t count) const override {
    return collective.in_place(count, 0);
  }

  [[nodiscard]] std::optional<Bytes> free_device_memory() const override { return device_memory; }

  [[nodiscard]] Bytes device_cache() const override { return cache; }

  [[nodiscard]] Buffer allocate(Bytes bytes) override {
    if (bytes > most_memory) throw Error{no_memory, "no memory"};
    allocated += bytes;
    return allocate_host(bytes);
  }
  [[nodiscard]] std::optional<double> huge_page_share(const Buffer& /*buffer*/) const override {
    return huge_share;
  }
  void register_buffer(const Buffer& buffer) override { registered.push_back(buffer.data()); }
  void enqueue(const Call& call) override {
    events += 'o';
    recording_ == nullptr ? run(call) : recording_->push_back(call);
  }
  void begin_group() override { events += '('; }
  void end_group() override { events += ')'; }
  [[nodiscard]] std::function<void()> capture(const std::function<void()>& issue) override {
    std::vector<Call> recorded;
    recording_ = &recorded;
    events += '[';
    issue();
    events += ']';
    recording_ = nullptr;
    return [this, recorded] {
      events += 'g';
      for (const Call& call : recorded) run(call);
    };
  }
  [[nodiscard]] bool hold() override {
    if (!can_hold) return false;
    events += 'h';
    held_ = true;
    return true;
  }
  void start_held() override {
    events += 's';
    held_ = false;
    on_start_held();
  }
  void begin_observing() override { events += '<'; }
  [[nodiscard]] std::optional<LibraryChoice> observed_choice() override {
    events += '>';
    return choice;
  }
  [[nodiscard]] std::optional<LibraryTransports> transports() const override { return connected; }
  void wait() override {
    if (held_) throw std::logic_error("waits for a device that is held");
    events += 'w';
    ++waits;
  }
  [[nodiscard]] Stopwatch& stopwatch() override { return watch; }

  std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
  std::optional<std::string> in_place_obstacle;
  Bytes most_memory = std::numeric_limits<Bytes>::max();
  Status no_memory = Status::Unavailable;  ///< what allocate throws beyond that
  Bytes allocated = 0;                     ///< given back or not
  std::optional<Bytes> device_memory;
  Bytes cache = 0;                              ///< device_cache
  std::optional<double> huge_share;             ///< huge_page_share
  bool can_hold = false;                        ///< the device
  bool moves_data = true;                       ///< an operation; else it does nothing
  std::function<void()> on_start_held = [] {};  ///< looks at what was done until then
  std::function<Bytes(const Call&)> temporary = [](const Call&) { return Bytes{0}; };
  /// Time of the n-th operation, from 1; may throw, as an operation that fails.
  std::function<Seconds(std::size_t)> operation_time = [](std::size_t) { return Seconds{1e-3}; };
  std::vector<Call> calls;  ///< that were run, in their order
  /// What was asked for: o an operation, ( and ) a group, [ and ] recording and g launching a
  /// graph, w a wait, h holding the device and s starting it, < and > observing.
  std::string events;
  std::optional<LibraryChoice> choice;
  std::optional<LibraryTransports> connected;
  std::vector<const std::byte*> registered;
  int waits = 0;
  FakeStopwatch watch;

 private:
  void run(const Call& call) {
    calls.push_back(call);
    watch.advance(operation_time(calls.size()));
    if (!moves_data || call.recv == nullptr || call.recv == call.send) return;
    std::memcpy(call.recv, call.send, call.count * info(call.type).size);
  }

  std::vector<Call>* recording_ = nullptr;  // instead of being run
  bool held_ = false;
};

/// The collective of this name.
[[nodiscard]] inline const Collective& collective(std::string_view name) {
  if (const Collective* known = find_collective(name)) return *known;
  throw std::invalid_argument("no collective " + std::string(name));
}

}  // namespace busbar::test
