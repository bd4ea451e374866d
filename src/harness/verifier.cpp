// SPDX-License-Identifier: BSD-3-Clause
#include "harness/verifier.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace busbar {
namespace {

/// A rank's finding, as it is sent to all.
struct Finding {
  std::uint64_t wrong = 0;
  std::uint64_t index = 0;
  std::array<char, 32> expected{};
  std::array<char, 32> got{};
};

void copy_text(const std::string& text, std::array<char, 32>& to) {
  std::copy_n(text.begin(), std::min(text.size(), to.size() - 1), to.begin());
}

}  // namespace

Verifier::Verifier(Bootstrap& bootstrap, Communicator& communicator, DataType type, ReduceOp op)
    : bootstrap_(bootstrap), communicator_(communicator), type_(type), op_(op) {}

const Tile& Verifier::tile(int source, std::uint64_t seed) {
  if (seed != tiles_seed_) tiles_.clear();
  tiles_seed_ = seed;
  const auto known = tiles_.find(source);
  if (known != tiles_.end()) return known->second;
  const Pattern pattern(type_, op_, bootstrap_.size(), seed);
  return tiles_.emplace(source, Tile(pattern, source)).first->second;
}

void Verifier::fill(std::span<const Call> calls, std::uint64_t count, std::uint64_t seed) {
  const Tile& own = tile(bootstrap_.rank(), seed);
  for (const Call& call : calls) communicator_.fill(call.send, count, own, 0);
}

void Verifier::plant(const Fault& fault, const Call& call) {
  if (fault.rank != bootstrap_.rank()) return;
  const Position position{.rank = fault.rank, .ranks = bootstrap_.size(), .root = call.root};
  for (const Piece& piece : call.collective->expected(call.count, position)) {
    if (fault.index < piece.first || fault.index - piece.first >= piece.count) continue;
    communicator_.flip_bit(call.recv + fault.index * info(type_).size);
  }
}

Comparison Verifier::check_one(const Call& call, std::uint64_t seed) {
  Comparison total;
  const Position position{.rank = bootstrap_.rank(), .ranks = bootstrap_.size(), .root = call.root};
  for (const Piece& piece : call.collective->expected(call.count, position)) {
    const std::byte* data = call.recv + piece.first * info(type_).size;
    total.add(
        communicator_.compare(data, piece.count, tile(piece.source, seed), piece.source_first),
        piece.first);
  }
  return total;
}

Verdict Verifier::collect(const Comparison& mine) {
  Finding finding{.wrong = mine.wrong, .index = mine.first_wrong};
  copy_text(mine.expected, finding.expected);
  copy_text(mine.got, finding.got);
  const std::vector<Finding> all = bootstrap_.gather(finding);
  Verdict verdict;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].wrong > 0 && verdict.wrong == 0) {
      verdict.first_wrong =
          fmt::format("rank {}, element {}: expected {}, got {}", rank, all[rank].index,
                      all[rank].expected.data(), all[rank].got.data());
    }
    verdict.wrong += all[rank].wrong;
  }
  return verdict;
}

Verdict Verifier::check(std::span<const Call> calls, std::uint64_t seed) {
  Comparison mine;
  for (const Call& call : calls) mine.add(check_one(call, seed), 0);
  return collect(mine);
}

}  // namespace busbar
