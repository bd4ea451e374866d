// SPDX-License-Identifier: BSD-3-Clause
#include "harness/verifier.hpp"

#include "model/agreement.hpp"

namespace busbar {
Verifier::Verifier(const RoundGroup& round_group, Communicator& communicator, DataType type,
                   ReduceOp op, std::optional<Pair> pair)
    : round_group_(round_group), communicator_(communicator), type_(type), op_(op), pair_(pair) {}

const Tile& Verifier::tile(int source, std::uint64_t seed) {
  if (seed != tiles_seed_) tiles_.clear();
  tiles_seed_ = seed;
  const auto known = tiles_.find(source);
  if (known != tiles_.end()) return known->second;
  const Pattern pattern(type_, op_, round_group_.members.size(), seed);
  return tiles_.emplace(source, Tile(pattern, source)).first->second;
}

void Verifier::fill(std::span<const Call> calls, std::uint64_t count, std::uint64_t seed) {
  if (round_group_.idle) return;
  const Tile& own = tile(round_group_.members.rank(), seed);
  for (const Call& call : calls) communicator_.fill(call.send, count, own, 0);
}

std::vector<Piece> Verifier::expected(const Call& call) const {
  const auto& [world, members, idle] = round_group_;
  if (idle) return {};
  return call.collective->expected(call.count, {.rank = members.rank(),
                                                .ranks = members.size(),
                                                .root = call.root,
                                                .pair = pair_,
                                                .traffic = call.traffic});
}

Bytes Verifier::checked_bytes(const Call& call) const {
  double bytes = 0;
  for (const Piece& piece : expected(call)) {
    bytes += static_cast<double>(piece.count * info(type_).size);
  }
  round_group_.members.combine({&bytes, 1}, Combine::Sum);
  return static_cast<Bytes>(bytes);
}

bool Verifier::plant(const Fault& fault, const Call& call) {
  const std::vector<Piece> pieces = expected(call);
  const bool mine = fault.rank == round_group_.world.rank() &&
                    std::ranges::any_of(pieces, [&](const Piece& piece) {
                      return fault.index >= piece.first && fault.index - piece.first < piece.count;
                    });
  if (mine) communicator_.flip_bit(call.recv + fault.index * info(type_).size);
  return !round_group_.members.agree(!mine);
}

DataCheck Verifier::check(std::span<const Call> calls, std::uint64_t seed) {
  Difference mine;
  for (const Call& call : calls) {
    for (const Piece& piece : expected(call)) {
      const std::byte* data = call.recv + piece.first * info(type_).size;
      mine.add(
          communicator_.compare(data, piece.count, tile(piece.source, seed), piece.source_first),
          piece.first);
    }
  }
  auto wrong = static_cast<double>(mine.wrong);
  round_group_.members.combine({&wrong, 1}, Combine::Sum);
  if (wrong == 0) return {};
  const std::string found =
      mine.wrong == 0
          ? ""
          : fmt::format("rank {}, element {}: expected {}, got {}", round_group_.world.rank(),
                        mine.first_wrong, mine.expected, mine.got);
  return {.wrong = static_cast<std::uint64_t>(wrong),
          .first_wrong = first_text(round_group_.members, found)};
}

}  // namespace busbar
