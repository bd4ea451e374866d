// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/join_listener.hpp"

#include <cerrno>
#include <cstring>
#include <sodium.h>
#include <sys/epoll.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/host.hpp"

namespace busbar {

// Messages in the order in which they are sent. All hosts of a job have the same byte order.

inline constexpr std::array<char, 8> kMagic{'B', 'u', 's', 'b', 'a', 'r', '4', '\n'};
using Nonce = std::array<unsigned char, 16>;
using Proof = std::array<unsigned char, crypto_auth_hmacsha256_BYTES>;

struct Hello {
  std::array<char, 8> magic = kMagic;
  std::int32_t rank = 0;
  std::int32_t ranks = 0;
  std::int32_t channel = 0;
  std::int32_t process = 0;
  Nonce nonce{};
  std::array<char, 64> host{};
  std::array<char, 64> job{};
};
struct Challenge {
  std::array<char, 8> magic = kMagic;
  Nonce nonce{};
  Proof proof{};  // of the listener
};
struct Admission {
  std::array<char, 256> refusal{};  // empty: come in
  std::array<char, 64> host{};
};

namespace {

template <class Message>
std::span<std::byte> bytes_of(Message& message) {
  return std::as_writable_bytes(std::span{&message, 1});
}

Nonce make_nonce() {
  if (sodium_init() < 0) throw runtime_failure("libsodium cannot be used");
  Nonce nonce{};
  randombytes_buf(nonce.data(), nonce.size());
  return nonce;
}

const unsigned char* letters_of(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

/// A hash of two nonces that only who has the token can make.
Proof make_proof(const std::string& token, const Nonce& first, const Nonce& second) {
  crypto_auth_hmacsha256_state state;
  crypto_auth_hmacsha256_init(&state, letters_of(token), token.size());
  crypto_auth_hmacsha256_update(&state, first.data(), first.size());
  crypto_auth_hmacsha256_update(&state, second.data(), second.size());
  Proof proof{};
  crypto_auth_hmacsha256_final(&state, proof.data());
  return proof;
}

bool is_same(const Proof& one, const Proof& other) {
  return sodium_memcmp(one.data(), other.data(), one.size()) == 0;
}

/// A job as it is sent and shown: a long name, or one of several lines, by its beginning and a
/// hash.
std::string label_of(const std::string& job) {
  std::string line = one_line(job);
  if (line == job && line.size() < Hello().job.size()) return line;
  constexpr std::size_t kBeginning = 40;
  std::array<unsigned char, crypto_hash_sha256_BYTES> hash{};
  crypto_hash_sha256(hash.data(), letters_of(job), job.size());
  return fmt::format("{}...{:02x}", line.substr(0, kBeginning),
                     fmt::join(hash.begin(), hash.begin() + 8, ""));
}

/// Time for a connection to authenticate itself.
constexpr Seconds kHandshakeTimeout{10};
/// Connections that may be pending beside those of the ranks.
constexpr std::size_t kStrangers = 64;
/// Connections of others than ranks that are reported one by one.
constexpr std::size_t kStrangersNamed = 5;

}  // namespace

struct JoinListener::Pending {
  Socket socket{};
  std::string from{};
  Clock::time_point since{};
  Nonce nonce{};  // ours
  Hello hello{};
  Proof proof{};
  bool challenged = false;
  std::size_t received = 0;  // of hello, then of proof
};

JoinListener::JoinListener(Socket listener, const Rendezvous& rendezvous, Notice notice)
    : listener_(std::move(listener)),
      events_(epoll_create1(EPOLL_CLOEXEC)),
      token_(rendezvous.token),
      job_(label_of(rendezvous.job)),
      most_pending_(2 * static_cast<std::size_t>(rendezvous.ranks) + kStrangers),
      notice_(std::move(notice)) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = listener_.descriptor()}};
  if (!events_.is_open() ||
      epoll_ctl(events_.descriptor(), EPOLL_CTL_ADD, listener_.descriptor(), &event) != 0) {
    throw system_failure("waiting for ranks", errno);
  }
}

JoinListener::~JoinListener() {
  if (strangers_ <= kStrangersNamed) return;
  notice_(fmt::format("closed {} that were not from ranks of this job",
                      counted(strangers_ - kStrangersNamed, "more connection")));
}

void JoinListener::report_stranger(const std::string& line) {
  if (++strangers_ <= kStrangersNamed) notice_(line);
}

/// False where there is none.
bool JoinListener::accept_one() {
  auto socket = listener_.accept();
  // Without a free descriptor the connection stays where it is, and wakes at once again.
  if (!socket) {
    return (errno == EMFILE || errno == ENFILE) &&
           close_oldest("this process may open no more files (ulimit -n)");
  }
  const int descriptor = socket->descriptor();
  epoll_event event{.events = EPOLLIN, .data = {.fd = descriptor}};
  if (epoll_ctl(events_.descriptor(), EPOLL_CTL_ADD, descriptor, &event) != 0) return true;
  Pending pending{.from = socket->other_host(), .since = Clock::now(), .nonce = make_nonce()};
  pending.socket = std::move(*socket);
  pending_.emplace(descriptor, std::move(pending));
  if (pending_.size() > most_pending_) {
    static_cast<void>(close_oldest("too many others wait"));
  }
  return true;
}

bool JoinListener::close_oldest(std::string_view why) {
  const auto oldest = std::ranges::min_element(pending_, [](const auto& one, const auto& other) {
    return one.second.since < other.second.since;
  });
  if (oldest == pending_.end()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return false;
  }
  report_stranger(fmt::format("closed a connection from {}: {}", oldest->second.from, why));
  pending_.erase(oldest);
  return true;
}

/// False if the connection is to be closed.
bool JoinListener::read(Pending& pending) {
  const auto whole = pending.challenged ? bytes_of(pending.proof) : bytes_of(pending.hello);
  const auto got = pending.socket.read_some(whole.subspan(pending.received));
  if (!got) return true;
  pending.received += *got;
  const std::size_t known = std::min(pending.received, kMagic.size());
  const bool is_ours =
      pending.challenged || std::memcmp(pending.hello.magic.data(), kMagic.data(), known) == 0;
  if (!is_ours) {
    report_stranger(
        fmt::format("refused a connection from {}, which is not a rank of this version of Busbar",
                    pending.from));
    return false;
  }
  return *got > 0;
}

bool JoinListener::challenge(Pending& pending) {
  Challenge message{.nonce = pending.nonce,
                    .proof = make_proof(token_, pending.hello.nonce, pending.nonce)};
  pending.challenged = true;
  pending.received = 0;
  return pending.socket.offer(bytes_of(message));
}

bool JoinListener::decide(Pending& pending, const Check& check, std::vector<JoinedRank>& joined) {
  const Hello& hello = pending.hello;
  JoinedRank rank{.rank = hello.rank,
                  .ranks = hello.ranks,
                  .channel = static_cast<Channel>(hello.channel),
                  .host = one_line(std::string(hello.host.data(), strnlen(hello.host.data(), 64))),
                  .process = hello.process};
  const std::string job = one_line(std::string(hello.job.data(), strnlen(hello.job.data(), 64)));
  const bool is_known = is_same(pending.proof, make_proof(token_, pending.nonce, hello.nonce));
  std::string refusal;
  if (!is_known) {
    refusal = "its token differs from rank 0's (BUSBAR_TOKEN)";
  } else if (!job.empty() && !job_.empty() && job != job_) {
    refusal = fmt::format("it belongs to job {}, but rank 0 to job {}", job, job_);
  } else {
    refusal = check(rank);
  }
  Admission answer;
  copy_text(refusal, answer.refusal);
  copy_text(host_name(), answer.host);
  const bool is_sent = pending.socket.offer(bytes_of(answer));
  if (!refusal.empty()) {
    const std::string line = fmt::format("refused rank {} on {} ({}, process {}): {}", rank.rank,
                                         rank.host, pending.from, rank.process, refusal);
    is_known ? notice_(line) : report_stranger(line);
    return false;
  }
  if (!is_sent) return false;
  epoll_ctl(events_.descriptor(), EPOLL_CTL_DEL, pending.socket.descriptor(), nullptr);
  rank.socket = std::move(pending.socket);
  joined.push_back(std::move(rank));
  return false;
}

bool JoinListener::goes_on(Pending& pending, const Check& check, std::vector<JoinedRank>& joined) {
  if (!read(pending)) return false;
  if (!pending.challenged) return pending.received != sizeof(Hello) || challenge(pending);
  return pending.received != sizeof(Proof) || decide(pending, check, joined);
}

std::vector<JoinedRank> JoinListener::serve(const Check& check, int most) {
  std::vector<JoinedRank> joined;
  std::vector<epoll_event> events(static_cast<std::size_t>(most));
  const int ready = epoll_wait(events_.descriptor(), events.data(), most, 0);
  for (int i = 0; i < ready; ++i) {
    const int descriptor = events.at(static_cast<std::size_t>(i)).data.fd;
    const auto found = pending_.find(descriptor);
    if (found == pending_.end()) {
      for (int one = 0; one < most && accept_one(); ++one) {
      }
      continue;
    }
    if (!goes_on(found->second, check, joined)) pending_.erase(found);
  }
  std::erase_if(pending_, [&](const auto& each) {
    if (Clock::now() - each.second.since < kHandshakeTimeout) return false;
    report_stranger(fmt::format("closed a connection from {}, which sent nothing for {:g} s",
                                each.second.from, kHandshakeTimeout.count()));
    return true;
  });
  return joined;
}

namespace {

struct JoinResult {
  JoinedRank root{};      ///< without a socket where it failed
  std::string why_not{};  ///< try again
  std::string refusal{};  ///< do not
};

JoinResult try_to_join(const Rendezvous& rendezvous, Channel channel, Clock::time_point deadline) {
  JoinResult result;
  std::optional<Socket> socket = connect_to(rendezvous.address, deadline, result.why_not);
  if (!socket) return result;
  Hello hello{.rank = rendezvous.rank,
              .ranks = rendezvous.ranks,
              .channel = static_cast<std::int32_t>(channel),
              .process = getpid(),
              .nonce = make_nonce()};
  copy_text(host_name(), hello.host);
  copy_text(label_of(rendezvous.job), hello.job);
  Challenge challenge;
  result.why_not = "the connection was closed";
  const auto patience = std::min(
      deadline, Clock::now() + std::chrono::duration_cast<Clock::duration>(kHandshakeTimeout));
  if (!socket->send(bytes_of(hello), patience) || !socket->receive(bytes_of(challenge), patience)) {
    return result;
  }
  if (challenge.magic != kMagic) {
    result.refusal = "another program listens there; choose another port";
    return result;
  }
  if (!is_same(challenge.proof, make_proof(rendezvous.token, hello.nonce, challenge.nonce))) {
    result.refusal = "its token differs from rank 0's (BUSBAR_TOKEN)";
    Proof nothing{};
    static_cast<void>(socket->send(bytes_of(nothing)));  // so that rank 0 can report the rank
    return result;
  }
  Proof proof = make_proof(rendezvous.token, challenge.nonce, hello.nonce);
  Admission answer;
  if (!socket->send(bytes_of(proof), patience) || !socket->receive(bytes_of(answer), patience)) {
    return result;
  }
  answer.refusal.back() = '\0';
  answer.host.back() = '\0';
  result.root.host = one_line(answer.host.data());
  result.refusal = answer.refusal.data();
  if (result.refusal.empty()) result.root.socket = std::move(*socket);
  return result;
}

/// A name without an address ends the wait for its host, after a while if a name server is silent.
void require_known_host(const Rendezvous& rendezvous, Clock::time_point since) {
  constexpr std::chrono::seconds kPatience{2};
  if (!rendezvous.is_known_host) return;
  const auto unknown = find_unknown_host(rendezvous.address.host);
  if (!unknown || (unknown->may_pass && Clock::now() - since < kPatience)) return;
  throw Error{Status::Runtime,
              fmt::format("rank {}: {}; ranks meet by this name: give one that all hosts know",
                          rendezvous.rank, unknown->text)};
}

}  // namespace

std::optional<JoinedRank> try_root(const Rendezvous& rendezvous, Channel channel,
                                   Clock::time_point deadline) {
  JoinResult result = try_to_join(rendezvous, channel, deadline);
  return result.root.socket.is_open() ? std::optional(std::move(result.root)) : std::nullopt;
}

JoinedRank join_root(const Rendezvous& rendezvous, Channel channel, Seconds timeout) {
  constexpr std::chrono::milliseconds kFirstPause{20};
  constexpr std::chrono::milliseconds kLongestPause{1000};
  // Before rank 0's own: it does not know why this rank is missing.
  const Seconds earlier = std::min(timeout / 5, Seconds{1});
  const auto start = Clock::now();
  const auto deadline = start + std::chrono::duration_cast<Clock::duration>(timeout - earlier);
  for (auto pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    JoinResult result = try_to_join(rendezvous, channel, deadline);
    if (result.root.socket.is_open()) return std::move(result.root);
    if (!result.refusal.empty()) {
      throw usage_error("rank {} was refused at {}: {}", rendezvous.rank, rendezvous.address.text(),
                        result.refusal);
    }
    require_known_host(rendezvous, start);
    if (Clock::now() + pause >= deadline) {
      throw Error{
          Status::Runtime,
          fmt::format("timeout: rank {} could not join at {} within {:g} s ({}); check that rank 0 "
                      "is started there and that the port is open",
                      rendezvous.rank, rendezvous.address.text(), timeout.count(), result.why_not)};
    }
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace busbar
