// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fake_gpu/nccl/exchange.hpp"

#include <algorithm>
#include <cstring>
#include <sched.h>

namespace fake_gpu {

Exchange::Exchange(const Segment& segment, int rank)
    : segment_(segment),
      rank_(rank),
      out_(static_cast<std::size_t>(segment.ranks())),
      in_(static_cast<std::size_t>(segment.ranks())) {}

void Exchange::send(int peer, const unsigned char* data, std::size_t bytes, std::uint64_t tag,
                    const std::size_t* available) {
  out_.at(static_cast<std::size_t>(peer)).push_back({data, bytes, tag, available});
}

void Exchange::receive(int peer, unsigned char* data, std::size_t bytes, std::uint64_t tag) {
  in_.at(static_cast<std::size_t>(peer)).push_back({data, bytes, tag, nullptr});
}

const std::size_t* Exchange::reduce(const unsigned char* own, unsigned char* out, std::size_t bytes,
                                    const Reduction& how, std::uint64_t tag) {
  reducing_.push_back({own, out, bytes, how, tag});
  for (int peer = 0; peer < ranks(); ++peer) {
    if (peer == rank_) continue;
    in_.at(static_cast<std::size_t>(peer)).push_back({nullptr, bytes, tag, &reducing_.back()});
  }
  return &reducing_.back().ready;
}

const unsigned char* Exchange::keep(const unsigned char* data, std::size_t bytes) {
  kept_.emplace_back(data, data + bytes);
  return kept_.back().data();
}

bool Exchange::push(int peer) {
  std::deque<Outgoing>& queue = out_[static_cast<std::size_t>(peer)];
  Channel& channel = segment_.channel(rank_, peer);
  bool moved = false;
  while (!queue.empty()) {
    Outgoing& message = queue.front();
    const std::uint32_t written = channel.written.load();
    if (written - channel.read.load() == Channel::kSlots) break;
    const std::size_t bytes = std::min(segment_.piece_capacity(), message.bytes - message.sent);
    if (message.available != nullptr && *message.available < message.sent + bytes) break;
    const std::uint32_t slot = written % Channel::kSlots;
    channel.pieces.at(slot) = {message.bytes, bytes, message.tag};
    if (bytes != 0)
      std::memcpy(segment_.payload(rank_, peer, slot), message.data + message.sent, bytes);
    channel.written.store(written + 1);
    segment_.ring(peer);
    moved = true;
    message.sent += bytes;
    if (message.sent == message.bytes) queue.pop_front();
  }
  return moved;
}

const Piece* Exchange::peek(int peer, std::size_t bytes, std::uint64_t tag) {
  Channel& channel = segment_.channel(peer, rank_);
  const std::uint32_t read = channel.read.load();
  if (channel.written.load() == read) return nullptr;
  const Piece& piece = channel.pieces.at(read % Channel::kSlots);
  if (piece.message_bytes == bytes && piece.tag == tag) return &piece;
  mismatch_ = "rank " + std::to_string(peer) + " sends " + std::to_string(piece.message_bytes) +
              " bytes (call " + std::to_string(piece.tag) + ") where rank " +
              std::to_string(rank_) + " expects " + std::to_string(bytes) + " (call " +
              std::to_string(tag) + ")";
  return nullptr;
}

void Exchange::consume(int peer) {
  segment_.channel(peer, rank_).read.fetch_add(1);
  segment_.ring(peer);
}

bool Exchange::pull(int peer) {
  std::deque<Incoming>& queue = in_[static_cast<std::size_t>(peer)];
  bool moved = false;
  while (!queue.empty() && queue.front().reducing == nullptr) {
    Incoming& message = queue.front();
    const Piece* piece = peek(peer, message.bytes, message.tag);
    if (piece == nullptr) break;
    const std::uint32_t slot = segment_.channel(peer, rank_).read.load() % Channel::kSlots;
    const std::size_t bytes = piece->piece_bytes;
    if (bytes != 0)
      std::memcpy(message.data + message.got, segment_.payload(peer, rank_, slot), bytes);
    message.got += bytes;
    consume(peer);
    moved = true;
    if (message.got == message.bytes) queue.pop_front();
  }
  return moved;
}

bool Exchange::can_step(const Reducing& reducing) {
  for (int peer = 0; peer < ranks(); ++peer) {
    if (peer == rank_) continue;
    const std::deque<Incoming>& queue = in_[static_cast<std::size_t>(peer)];
    if (queue.empty() || queue.front().reducing != &reducing) return false;
    if (peek(peer, reducing.bytes, reducing.tag) == nullptr) return false;
  }
  return true;
}

bool Exchange::step(Reducing& reducing) {
  if (!can_step(reducing)) return false;
  std::vector<const unsigned char*> inputs;
  for (int peer = 0; peer < ranks(); ++peer) {
    const std::uint32_t slot = segment_.channel(peer, rank_).read.load() % Channel::kSlots;
    inputs.push_back(peer == rank_ ? reducing.own + reducing.ready
                                   : segment_.payload(peer, rank_, slot));
  }
  const std::size_t bytes = std::min(segment_.piece_capacity(), reducing.bytes - reducing.ready);
  if (bytes != 0) fake_gpu::reduce(reducing.how, inputs, reducing.out + reducing.ready, bytes);
  reducing.ready += bytes;
  reducing.begun = true;
  for (int peer = 0; peer < ranks(); ++peer) {
    if (peer == rank_) continue;
    consume(peer);
    if (reducing.ready == reducing.bytes) in_[static_cast<std::size_t>(peer)].pop_front();
  }
  return true;
}

bool Exchange::is_done() const {
  const auto empty = [](const auto& queue) { return queue.empty(); };
  const auto reduced = [](const Reducing& one) { return one.begun && one.ready == one.bytes; };
  return std::all_of(out_.begin(), out_.end(), empty) &&
         std::all_of(in_.begin(), in_.end(), empty) &&
         std::all_of(reducing_.begin(), reducing_.end(), reduced);
}

bool Exchange::progress() {
  bool moved = false;
  for (int distance = 0; distance < ranks(); ++distance) {
    const int peer = (rank_ + distance) % ranks();
    moved = push(peer) || moved;
    moved = pull(peer) || moved;
  }
  for (Reducing& reducing : reducing_) {
    while (!(reducing.begun && reducing.ready == reducing.bytes) && step(reducing)) moved = true;
  }
  return moved;
}

Exchange::Outcome Exchange::run(const std::atomic<int>& aborted) {
  while (!is_done()) {
    if (aborted.load() != 0) return Outcome::Aborted;
    const std::uint32_t seen = segment_.cell(rank_).bell.load();
    const bool moved = progress();
    if (!mismatch_.empty()) return Outcome::Mismatch;
    if (moved || is_done()) continue;
    ::sched_yield();
    if (segment_.cell(rank_).bell.load() == seen) segment_.sleep(rank_, seen);
  }
  return Outcome::Done;
}

}  // namespace fake_gpu
