// SPDX-License-Identifier: BSD-3-Clause
// Tile is declared in model/pattern.hpp: one period of a pattern as its type stores it.

#include "tests/unit/support/fake_communicator.hpp"

namespace busbar {
namespace {

template <class T>
T element(const Tile& tile, std::uint64_t index) {
  T value{};
  std::memcpy(&value, tile.data() + index * sizeof value, sizeof value);
  return value;
}

TEST(Tile, HoldsTheBitsOfTypesThatTheHostDoesNotHave) {
  for (const SmallFloat& format : kSmallFloats) {
    const Pattern pattern(format.type, ReduceOp::None, 2, 1);
    const Tile tile(pattern, 1);
    for (std::uint64_t i = 0; i < Pattern::kPeriod; i += 31) {
      const std::uint16_t bits = info(format.type).size == 1 ? element<std::uint8_t>(tile, i)
                                                             : element<std::uint16_t>(tile, i);
      ASSERT_EQ(decode(format, bits), static_cast<double>(pattern.value(1, i)));
    }
  }
}

TEST(Tile, HoldsAnAverageRoundedOnceToItsType) {
  const Pattern pattern(DataType::Half, ReduceOp::Avg, 3, 1);
  const Tile tile(pattern, kAllRanks);
  for (std::uint64_t i = 0; i < Pattern::kPeriod; i += 31) {
    const auto sum =
        static_cast<double>(pattern.value(0, i) + pattern.value(1, i) + pattern.value(2, i));
    ASSERT_EQ(element<std::uint16_t>(tile, i), encode(*small_float(DataType::Half), sum / 3));
  }
}

TEST(ElementText, IsTheNumberInDecimals) {
  const auto text = [](DataType type, auto value) {
    return element_text(type, reinterpret_cast<const std::byte*>(&value));
  };
  EXPECT_EQ(text(DataType::Int8, std::int8_t{-91}), "-91");
  EXPECT_EQ(text(DataType::Uint8, std::uint8_t{165}), "165");
  EXPECT_EQ(text(DataType::Int32, std::int32_t{-2}), "-2");
  EXPECT_EQ(text(DataType::Uint32, std::uint32_t{4000000000}), "4000000000");
  EXPECT_EQ(text(DataType::Int64, std::int64_t{-3}), "-3");
  EXPECT_EQ(text(DataType::Uint64, std::uint64_t{1} << 53U), "9007199254740992");
  EXPECT_EQ(text(DataType::Float, 36.5F), "36.5");
  EXPECT_EQ(text(DataType::Double, 0.1), "0.1");
}

TEST(ElementText, IsTheNumberOfATypeThatTheHostDoesNotHave) {
  const auto text = [](DataType type, std::uint16_t bits) {
    return element_text(type, reinterpret_cast<const std::byte*>(&bits));
  };
  EXPECT_EQ(text(DataType::Half, 0x3c00), "1");
  EXPECT_EQ(text(DataType::Bfloat16, 0x3eab), "0.333984375");
  EXPECT_EQ(text(DataType::F8e4m3, 0x38), "1");
  EXPECT_EQ(text(DataType::F8e5m2, 0xbc), "-1");
}

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
