// SPDX-License-Identifier: BSD-3-Clause
#include "model/side_load.hpp"

#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "tests/unit/support/fake_communicator.hpp"

namespace busbar {
namespace {

/// Notes what it is asked for; fails at a pass.
class NotedWork final : public SideWork {
 public:
  explicit NotedWork(std::string& events, int failing = 0) : events_(events), failing_(failing) {}
  void attach() override { events_ += 'a'; }
  void pass() override {
    if (++passes_ == failing_) throw std::runtime_error("no pass");
    if (passes_ == 1) events_ += 'p';
    std::this_thread::sleep_for(Seconds{1e-3});
  }
  void drain() override { events_ += 'd'; }

 private:
  std::string& events_;
  int failing_;
  int passes_ = 0;
};

TEST(SideLoad, RepeatsItsWorkUntilItIsStopped) {
  std::string events;
  SideLoad load(std::make_unique<NotedWork>(events));
  load.start();
  std::this_thread::sleep_for(Seconds{0.05});
  const double rate = load.stop();
  EXPECT_EQ(events, "apd");
  EXPECT_GT(rate, 0);
  EXPECT_LE(rate, 1050);  // no pass is shorter than a millisecond
  load.start();
  EXPECT_GE(load.stop(), 0);
  EXPECT_EQ(events, "apdad");
}

TEST(SideLoad, ThrowsWhatAPassHasThrownFirstOrLater) {
  for (const int failing : {1, 3}) {
    std::string events;
    SideLoad load(std::make_unique<NotedWork>(events, failing));
    load.start();
    std::this_thread::sleep_for(Seconds{0.02});
    EXPECT_THROW((void)load.stop(), std::runtime_error);
  }
}

TEST(SideLoad, EndsWithoutAStop) {
  std::string events;
  {
    SideLoad load(std::make_unique<NotedWork>(events));
    load.start();
  }
  EXPECT_EQ(events.back(), 'd');
}

TEST(HostCommunicator, HasALoadThatCopiesAndOneThatSpins) {
  test::FakeCommunicator communicator;
  SideLoad copying(communicator.side_work({.copy = 3 * kMiB + 5, .beside = true}));
  EXPECT_EQ(communicator.allocated, 2 * (3 * kMiB + 5));
  SideLoad spinning(communicator.side_work({.spin = Seconds{1e-5}, .beside = true}));
  for (SideLoad* load : {&copying, &spinning}) {
    load->start();
    std::this_thread::sleep_for(Seconds{0.05});
    EXPECT_GT(load->stop(), 0);
  }
}

}  // namespace
}  // namespace busbar
