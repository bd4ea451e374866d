// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/nccl_ras.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <span>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/text.hpp"
#include "bootstrap/socket.hpp"

namespace busbar {
namespace {

using Json = nlohmann::ordered_json;

/// The answer with the commas that NCCL 2.28.9 forgets: before the status of a missing rank. A
/// string can only begin behind one of these, or at the very start.
std::string with_commas(View answer) {
  constexpr View kBeforeString = "{[,:";
  std::string text;
  bool inside = false;  // a string
  char last = ',';      // that is not a blank
  for (const char c : answer) {
    const bool opens = c == '"' && !inside;
    if (opens && kBeforeString.find(last) == View::npos) text += ',';
    if (c == '"' && last != '\\') inside = !inside;
    text += c;
    if (inside || std::isspace(static_cast<unsigned char>(c)) == 0) last = c;
  }
  return text;
}

std::string rank_text(const Json& rank) {
  return fmt::format("rank {} on {}", rank.at("rank").get<int>(), rank.at("host").get<View>());
}

/// At most four of them.
std::string list_text(const std::vector<std::string>& ranks) {
  constexpr std::size_t kMost = 4;
  const auto shown = std::span(ranks).first(std::min(kMost, ranks.size()));
  const std::string text = join_each(shown, ", ", [](const std::string& one) { return one; });
  return ranks.size() <= kMost ? text : fmt::format("{} and {} more", text, ranks.size() - kMost);
}

std::string missing_text(const Json& communicator) {
  std::vector<std::string> missing;
  for (const Json& rank : communicator.at("missing_ranks")) {
    const bool dead = rank.at("status").value("considered_dead", false);
    missing.push_back(rank_text(rank) + (dead ? " (considered dead)" : ""));
  }
  return missing.empty() ? "" : "no answer from " + list_text(missing);
}

/// "AllReduce: rank 2 on 10.0.0.2 at 11, others at 12": operations that ranks have not all begun.
std::vector<std::string> lag_texts(const Json& communicator) {
  std::map<std::string, std::uint64_t> most;
  for (const Json& rank : communicator.at("ranks")) {
    for (const auto& [name, count] : rank.at("collective_counts").items()) {
      most[name] = std::max(most[name], count.get<std::uint64_t>());
    }
  }
  std::vector<std::string> texts;
  for (const auto& [name, highest] : most) {
    std::vector<std::string> behind;
    for (const Json& rank : communicator.at("ranks")) {
      const auto count = rank.at("collective_counts").value(name, std::uint64_t{0});
      if (count < highest) behind.push_back(fmt::format("{} at {}", rank_text(rank), count));
    }
    if (behind.empty()) continue;
    texts.push_back(fmt::format("{}: {}, others at {}", name, list_text(behind), highest));
  }
  return texts;
}

std::string communicator_text(const Json& communicator) {
  std::vector<std::string> parts = lag_texts(communicator);
  if (std::string missing = missing_text(communicator); !missing.empty()) {
    parts.insert(parts.begin(), std::move(missing));
  }
  if (parts.empty()) parts.emplace_back("all ranks answer and have begun the same operations");
  return fmt::format("communicator {} of {}: {}", communicator.at("hash").get<View>(),
                     counted(communicator.at("size").get<std::size_t>(), "rank"),
                     join(parts, "; "));
}

bool has_process(const Json& communicator, pid_t process) {
  const Json& ranks = communicator.at("ranks");
  return std::any_of(ranks.begin(), ranks.end(),
                     [&](const Json& rank) { return rank.at("pid").get<pid_t>() == process; });
}

/// All that comes until the other end closes; what there is at the deadline, or nothing where
/// nothing has come after half a second.
std::string read_to_end(const Socket& socket, Clock::time_point deadline) {
  constexpr std::chrono::milliseconds kFirst{500};
  constexpr std::chrono::milliseconds kTick{10};
  const auto first = Clock::now() + kFirst;
  std::string text;
  std::array<char, 4096> block{};
  while (Clock::now() < (text.empty() ? std::min(first, deadline) : deadline)) {
    const auto got = socket.read_some(std::as_writable_bytes(std::span(block)));
    if (!got) {
      std::this_thread::sleep_for(kTick);
      continue;
    }
    if (*got == 0) break;
    text.append(block.data(), *got);
  }
  return text;
}

}  // namespace

std::string describe_nccl_ras(View answer, pid_t process) {
  const std::size_t begin = answer.find('{');
  if (begin == View::npos) return {};
  try {
    const Json status = Json::parse(with_commas(answer.substr(begin)));
    std::vector<std::string> texts;
    for (const Json& one : status.at("communicators")) {
      if (has_process(one, process)) texts.push_back(communicator_text(one));
    }
    return one_line(join(texts, "; "));
  } catch (const Json::exception&) {  // cut short, or of another version
    return {};
  }
}

std::string ask_nccl_ras(const std::string& address, Seconds limit) {
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
  // For so many seconds the service waits for other processes, twice: they must be over before
  // ours.
  const auto patience = std::max(1, static_cast<int>(limit.count() / 4));
  const std::string request =
      fmt::format("CLIENT PROTOCOL 2\nTIMEOUT {}\nSET FORMAT json\nSTATUS\n", patience);
  std::string text;
  std::string why_not;
  try {
    // All processes of a host listen at the one address, and each connection reaches one of them,
    // which may be stopped or another job's.
    while (text.empty() && Clock::now() < deadline) {
      const auto socket = connect_to(parse_address("NCCL_RAS_ADDR", address), deadline, why_not);
      if (!socket) break;
      if (!socket->send(std::as_bytes(std::span(request)))) continue;
      text = describe_nccl_ras(read_to_end(*socket, deadline), getpid());
    }
  } catch (const Error&) {  // no address
  }
  return text;
}

}  // namespace busbar
