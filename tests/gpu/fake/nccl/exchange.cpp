// SPDX-License-Identifier: BSD-3-Clause
#include "tests/gpu/fake/nccl/exchange.hpp"

#include <cstring>
#include <utility>

namespace fake_gpu {
namespace {

/// Equal for calls that belong together.
std::uint64_t make_tag(const Operation& call) {
  const auto type = static_cast<std::uint64_t>(call.type) << 8;
  if (call.is_point_to_point()) return type;
  return 1 + static_cast<std::uint64_t>(call.what) + type +
         (static_cast<std::uint64_t>(call.op) << 16);
}

std::uint64_t offset_of(const unsigned char* contents) {
  return contents == nullptr ? 0 : static_cast<std::uint64_t>(contents - contents_start());
}

/// The part of a reduction that a rank does: where it reads and writes, and how much.
struct Part {
  std::size_t read = 0;
  std::size_t write = 0;
  std::size_t bytes = 0;
};

Part part_of(const Operation& call, int rank, int ranks) {
  const auto at = static_cast<std::size_t>(rank);
  if (call.what == Collective::ReduceScatter) return {at * call.bytes(), 0, call.bytes()};
  if (call.what == Collective::Reduce) return {0, 0, rank == call.root ? call.bytes() : 0};
  const auto offset_of = [&](std::size_t i) {
    return call.count * i / static_cast<std::size_t>(ranks) * size_of(call.type);
  };
  return {offset_of(at), offset_of(at), offset_of(at + 1) - offset_of(at)};
}

void copy(unsigned char* to, const unsigned char* from, std::size_t bytes) {
  if (bytes != 0 && to != from) std::memmove(to, from, bytes);
}

}  // namespace

bool Exchange::meet(const Note& mine, std::vector<Note>* notes) const {
  return comm_.meet(Line::Work, mine, notes);
}

bool Exchange::fits(const Operation& call, int rank, const Note& offer) {
  if (offer[0] == make_tag(call) && offer[1] == call.bytes()) return true;
  mismatch_ = "rank " + std::to_string(rank) + " has " + std::to_string(offer[1]) +
              " bytes (call " + std::to_string(offer[0]) + ") where rank " + std::to_string(me_) +
              " has " + std::to_string(call.bytes()) + " (call " + std::to_string(make_tag(call)) +
              ")";
  return false;
}

Exchange::Outcome Exchange::collective(const Operation& call) {
  unsigned char* from = call.from_contents();
  unsigned char* to = call.to_contents();
  if ((from == nullptr && call.from_bytes() != 0) || (to == nullptr && call.to_bytes() != 0))
    return Outcome::NoMemory;
  if (call.count == 0) return Outcome::Done;
  std::vector<Note> offers;
  std::vector<Note> nothing;
  const std::size_t bytes = call.bytes();
  if (!meet({make_tag(call), bytes, offset_of(from), offset_of(to)}, &offers))
    return Outcome::Aborted;
  for (int rank = 0; rank < ranks_; ++rank) {
    if (!fits(call, rank, offers[static_cast<std::size_t>(rank)])) return Outcome::Mismatch;
  }
  const auto offered = [&](int rank, std::size_t which) {
    return comm_.contents_of(rank) + offers[static_cast<std::size_t>(rank)].at(which);
  };
  const Traits& traits = call.traits();
  if (traits.reduces) {
    const Part mine = part_of(call, me_, ranks_);
    std::vector<const unsigned char*> inputs;
    for (int rank = 0; rank < ranks_; ++rank) inputs.push_back(offered(rank, 2) + mine.read);
    if (mine.bytes != 0) reduce(call.reduction(), inputs, to + mine.write, mine.bytes);
    if (call.what == Collective::AllReduce) {
      if (!meet({}, &nothing)) return Outcome::Aborted;
      for (int rank = 0; rank < ranks_; ++rank) {
        const Part theirs = part_of(call, rank, ranks_);
        if (rank != me_) copy(to + theirs.write, offered(rank, 3) + theirs.write, theirs.bytes);
      }
    }
  } else if (call.writes()) {
    const std::size_t read_at = traits.reads_many ? bytes * static_cast<std::size_t>(me_) : 0;
    for (int rank = 0; rank < ranks_; ++rank) {
      if (traits.from_root && rank != call.root) continue;
      const std::size_t write_at = traits.writes_many ? bytes * static_cast<std::size_t>(rank) : 0;
      copy(to + write_at, offered(rank, 2) + read_at, bytes);
    }
  }
  return meet({}, &nothing) ? Outcome::Done : Outcome::Aborted;
}

bool Exchange::move_message(const Operation& call) {
  const bool sends = call.what == Collective::Send;
  Mailbox& box =
      sends ? comm_.segment().mailbox(me_, call.root) : comm_.segment().mailbox(call.root, me_);
  if ((box.posted.load() == box.taken.load()) != sends) return false;
  unsigned char* contents = sends ? call.from_contents() : call.to_contents();
  has_memory_ = has_memory_ && (contents != nullptr || call.bytes() == 0);
  if (!has_memory_) return false;
  if (sends) {
    box.note = {make_tag(call), call.bytes(), offset_of(contents)};
    box.posted.fetch_add(1);
  } else {
    if (!fits(call, call.root, box.note)) return false;
    copy(contents, comm_.contents_of(call.root) + box.note[2], call.bytes());
    box.taken.fetch_add(1);
  }
  comm_.segment().ring(call.root);
  return true;
}

bool Exchange::move_messages(std::vector<const Operation*>& pending) {
  bool moved = true;
  while (moved) {
    moved = false;
    std::set<std::pair<Collective, int>> waiting;  // messages of a pair stay in order
    std::erase_if(pending, [&](const Operation* call) {
      const std::pair kind{call->what, call->root};
      const bool done = waiting.count(kind) == 0 && move_message(*call);
      if (!done) waiting.insert(kind);
      moved = moved || done;
      return done;
    });
  }
  if (!mismatch_.empty() || !has_memory_) return true;
  for (int rank = 0; rank < ranks_; ++rank) {
    const Mailbox& box = comm_.segment().mailbox(me_, rank);
    if (box.posted.load() != box.taken.load()) return false;
  }
  return pending.empty();
}

Exchange::Outcome Exchange::run(const std::vector<Operation>& operations) {
  std::vector<const Operation*> messages;
  for (const Operation& call : operations) {
    if (call.is_point_to_point()) {
      messages.push_back(&call);
    } else if (const Outcome outcome = collective(call); outcome != Outcome::Done) {
      return outcome;
    }
  }
  const bool ended = comm_.segment().wait(comm_.aborted(), [&] { return move_messages(messages); });
  if (!ended) return Outcome::Aborted;
  if (!has_memory_) return Outcome::NoMemory;
  return mismatch_.empty() ? Outcome::Done : Outcome::Mismatch;
}

}  // namespace fake_gpu
