// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/nccl_ras.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bootstrap/socket.hpp"

namespace busbar {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string rank_of(int rank, int pid, int reductions) {
  return fmt::format(
      R"({{"rank": {0}, "host": "10.0.0.{0}", "pid": {1}, "cuda_dev": 0, "nvml_dev": 0,
           "status": {{"init_state": 0, "async_error": 0, "abort_flag": false}},
           "collective_counts": {{"Broadcast": 1, "AllReduce": {2}}}}})",
      rank, pid, reductions);
}

/// As 2.28.9 writes it: without a comma behind nvml_dev.
std::string missing_rank(int rank, const std::string& dead) {
  return fmt::format(
      "{{\"rank\": {0}, \"host\": \"10.0.0.{0}\", \"pid\": 9, \"cuda_dev\": 3, \"nvml_dev\": 3\n"
      "  \"status\": {{\"unresponsive\": true, \"considered_dead\": {1}}}}}",
      rank, dead);
}

std::string communicator(const std::string& ranks, const std::string& missing) {
  return fmt::format(
      R"({{"hash": "0x1f", "secondary_hash": "0x1:0x2", "size": 4, "ranks": [{}],
           "missing_ranks": [{}]}})",
      ranks, missing);
}

std::string answer(const std::string& communicators) {
  return fmt::format(
      "SERVER PROTOCOL 2\nOK\nOK\n{{\"nccl_version\": \"2.28.9\", \"communicators\": [{}],\n"
      "\"ras\": {{\"collection_time_sec\": 2.001, \"timeouts_count\": 1}}}}\n",
      communicators);
}

TEST(DescribeRas, NamesMissingRanksAndThoseThatAreBehind) {
  const std::string ranks = rank_of(0, 7, 12) + "," + rank_of(1, 8, 12) + "," + rank_of(2, 9, 11);
  EXPECT_EQ(describe_nccl_ras(answer(communicator(ranks, missing_rank(3, "false"))), 7),
            "communicator 0x1f of 4 ranks: no answer from rank 3 on 10.0.0.3; AllReduce: rank 2 on "
            "10.0.0.2 at 11, others at 12");
  EXPECT_THAT(describe_nccl_ras(answer(communicator(ranks, missing_rank(3, "true"))), 7),
              HasSubstr("rank 3 on 10.0.0.3 (considered dead)"));
}

TEST(DescribeRas, ReportsThatNothingStandsOut) {
  const std::string ranks = rank_of(0, 7, 12) + "," + rank_of(1, 8, 12);
  EXPECT_EQ(describe_nccl_ras(answer(communicator(ranks, "")), 8),
            "communicator 0x1f of 4 ranks: all ranks answer and have begun the same operations");
}

TEST(DescribeRas, NamesFourOfManyRanks) {
  std::string ranks = rank_of(0, 7, 12);
  for (int rank = 1; rank < 8; ++rank) ranks += "," + rank_of(rank, 7 + rank, rank);
  const std::string text = describe_nccl_ras(answer(communicator(ranks, "")), 7);
  EXPECT_THAT(text, HasSubstr("rank 4 on 10.0.0.4 at 4 and 3 more, others at 12"));
}

TEST(DescribeRas, HasCommunicatorsOfThisProcessAlone) {
  const std::string text = answer(communicator(rank_of(0, 7, 1), "") + "," +
                                  communicator(rank_of(0, 8, 1) + "," + rank_of(1, 9, 2), ""));
  EXPECT_EQ(describe_nccl_ras(text, 6), "");
  EXPECT_THAT(describe_nccl_ras(text, 7), Not(HasSubstr("at 1")));
  EXPECT_THAT(describe_nccl_ras(text, 8), HasSubstr("rank 0 on 10.0.0.0 at 1, others at 2"));
}

TEST(DescribeRas, IsEmptyForWhatIsNoAnswer) {
  const std::string whole = answer(communicator(rank_of(0, 7, 1), ""));
  for (const std::string& text :
       {std::string(), std::string("SERVER PROTOCOL 2\nERROR: Unknown command"),
        whole.substr(0, whole.size() / 2), std::string("{\"communicators\": 3}"),
        std::string("{\"communicators\": [{\"ranks\": [{\"pid\": \"x\"}]}]}")}) {
    EXPECT_EQ(describe_nccl_ras(text, 7), "") << text;
  }
}

/// A service that leaves the first connection without an answer, as a process that is stopped does,
/// and answers the second when it has been asked for the status, if with anything.
class Service {
 public:
  explicit Service(std::string text) : thread_([this, text = std::move(text)] { serve(text); }) {}
  ~Service() {
    done_ = true;
    thread_.join();
  }
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  [[nodiscard]] std::string address() const {
    return fmt::format("127.0.0.1:{}", listener_.own_port());
  }
  [[nodiscard]] const std::string& request() const { return request_; }

 private:
  void serve(const std::string& text) {
    std::optional<Socket> silent;
    std::optional<Socket> client;
    while (!done_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (!silent) {
        silent = listener_.accept();
      } else if (!client) {
        client = listener_.accept();
      }
      std::array<char, 256> block{};
      const auto got = client ? client->read_some(std::as_writable_bytes(std::span(block)))
                              : std::optional<std::size_t>();
      request_.append(block.data(), got.value_or(0));
      if (text.empty() || !request_.ends_with("\nSTATUS\n")) continue;
      (void)client->send(std::as_bytes(std::span(text)));
      return client->close();
    }
  }

  Socket listener_ = listen_at({.host = "127.0.0.1"});
  std::atomic<bool> done_ = false;
  std::string request_;
  std::thread thread_;
};

TEST(AskRas, AsksForJsonUntilAProcessAnswers) {
  Service service(answer(communicator(rank_of(0, getpid(), 1) + "," + rank_of(1, 1, 0), "")));
  EXPECT_THAT(ask_nccl_ras(service.address(), Seconds{20}), HasSubstr("rank 1 on 10.0.0.1 at 0"));
  EXPECT_EQ(service.request(), "CLIENT PROTOCOL 2\nTIMEOUT 5\nSET FORMAT json\nSTATUS\n");
}

TEST(AskRas, GivesUpOnAServiceThatIsSilentOrAbsent) {
  const Clock::time_point begin = Clock::now();
  std::string address;
  {
    Service silent("");
    address = silent.address();
    EXPECT_EQ(ask_nccl_ras(address, Seconds{0.2}), "");
  }
  EXPECT_EQ(ask_nccl_ras(address, Seconds{5}), "");
  EXPECT_EQ(ask_nccl_ras("nonsense", Seconds{5}), "");
  EXPECT_LT(Seconds(Clock::now() - begin).count(), 5);
}

}  // namespace
}  // namespace busbar
