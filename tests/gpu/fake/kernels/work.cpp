// SPDX-License-Identifier: BSD-3-Clause
#include "tests/gpu/fake/kernels/work.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

#include "tests/gpu/fake/nccl/reduction.hpp"

namespace fake_gpu {
namespace {

constexpr std::pair<const char*, ncclDataType_t> kTypes[] = {
    {"i8", ncclInt8},       {"u8", ncclUint8},          {"i32", ncclInt32},
    {"u32", ncclUint32},    {"i64", ncclInt64},         {"u64", ncclUint64},
    {"f16", ncclFloat16},   {"f32", ncclFloat32},       {"f64", ncclFloat64},
    {"bf16", ncclBfloat16}, {"f8e4m3", ncclFloat8e4m3}, {"f8e5m2", ncclFloat8e5m2}};

/// NCCL_FUNCTIONS is the table that NCCL's build wrote: "/*   7*/ 0, // AllReduce Sum f32 RING
/// SIMPLE"; -1 is a function that was not built.
std::map<unsigned, Function> read_functions() {
  std::map<unsigned, Function> known;
  std::ifstream file(NCCL_FUNCTIONS);
  for (std::string line; std::getline(file, line);) {
    const auto number = line.find("*/ ");
    const auto name = line.find("// ");
    if (number == std::string::npos || name == std::string::npos) continue;
    const int id = std::stoi(line.substr(number + 3));
    std::istringstream words(line.substr(name + 3));
    Function function;
    std::string type;
    words >> function.collective >> function.op >> type;
    const auto* const found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                           [&](const auto& each) { return each.first == type; });
    if (found == std::end(kTypes)) {
      function.op.clear();
    } else {
      function.type = found->second;
    }
    if (id >= 0) known.emplace(static_cast<unsigned>(id), function);
  }
  return known;
}

constexpr std::ptrdiff_t kNone = -1;

/// A part of a ring's step: what comes from the one before is added to `input` or taken as it is,
/// goes to `output`, to the next, or to both. Offsets in bytes; kNone: not.
struct Move {
  bool receive;
  bool send;
  std::ptrdiff_t input;
  std::ptrdiff_t output;
  std::size_t bytes;
  bool completes;  ///< all ranks' inputs are in it
};

/// How a function adds up: PreMulSum scales each input, SumPostDiv the result; NCCL uses both for
/// averages only.
class Arithmetic {
 public:
  Arithmetic(const Function& function, const ncclDevWorkColl& work, int ranks)
      : sum_{ncclSum, function.type, 1}, average_{ncclAvg, function.type, ranks} {
    if (function.op == "Prod") sum_.op = ncclProd;
    if (function.op == "MinMax") sum_.op = (work.redOpArg & 1U) != 0 ? ncclMax : ncclMin;
    scales_inputs_ = function.op == "PreMulSum";
    divides_result_ = function.op == "SumPostDiv";
  }
  Arithmetic() = default;

  void scale(unsigned char* data, std::size_t bytes) const {
    if (scales_inputs_) reduce(average_, {data}, data, bytes);
  }
  void add(unsigned char* to, const unsigned char* more, std::size_t bytes) const {
    reduce(sum_, {to, more}, to, bytes);
  }
  void finish(unsigned char* data, std::size_t bytes) const {
    if (divides_result_) reduce(average_, {data}, data, bytes);
  }

 private:
  Reduction sum_;
  Reduction average_;
  bool scales_inputs_ = false;
  bool divides_result_ = false;
};

/// What the moves of one work on a channel have at hand.
struct Lane {
  Connection before;
  Connection next;
  Cut cut;
  Arithmetic arithmetic;
  std::size_t step_bytes = 0;
  std::size_t element = 1;
  char* input = nullptr;
  char* output = nullptr;

  /// A slice is a share of the chunk, rounded up to 16 elements, but not less than a 32nd of what
  /// fits.
  [[nodiscard]] std::size_t slice_bytes(std::size_t bytes) const {
    const auto slices = static_cast<std::size_t>(cut.slices);
    const std::size_t share = (bytes / element + 16 * slices - 1) / (16 * slices) * 16;
    const std::size_t fits = step_bytes / element * static_cast<std::size_t>(cut.steps);
    return std::max(share, fits / 32) * element;
  }
  void move(const Move& move, std::size_t offset, std::size_t bytes) {
    std::vector<unsigned char> data(bytes);
    const auto at = [&](char* start, std::ptrdiff_t from) {
      return reinterpret_cast<unsigned char*>(
          touch(start + from + static_cast<std::ptrdiff_t>(offset), bytes));
    };
    // Also of no bytes: a proxy looks at the size.
    const unsigned char* came = move.receive ? before.buffer(bytes) : nullptr;
    unsigned char* goes = move.send ? next.buffer(bytes) : nullptr;
    if (bytes == 0) return;
    if (move.input != kNone) {
      std::memcpy(data.data(), at(input, move.input), bytes);
      arithmetic.scale(data.data(), bytes);
      if (came != nullptr) arithmetic.add(data.data(), came, bytes);
    } else if (came != nullptr) {
      std::memcpy(data.data(), came, bytes);
    }
    if (move.completes) arithmetic.finish(data.data(), bytes);
    if (goes != nullptr) std::memcpy(goes, data.data(), bytes);
    if (move.output != kNone) std::memcpy(at(output, move.output), data.data(), bytes);
  }
};

Task run(Lane lane, std::vector<Move> moves) {
  for (const Move& move : moves) {
    std::size_t offset = 0;
    for (int i = 0; i < lane.cut.slices; ++i) {
      const std::size_t bytes = std::min(lane.slice_bytes(move.bytes), move.bytes - offset);
      if (move.receive) co_await [&lane] { return lane.before.is_ready(); };
      if (move.send) co_await [&lane] { return lane.next.is_ready(); };
      lane.move(move, offset, bytes);
      if (move.receive) lane.before.post();
      if (move.send) lane.next.post();
      offset += bytes;
    }
  }
  if (lane.before) lane.before.save();
  if (lane.next) lane.next.save();
  co_return;
}

/// Lays out the moves of one collective on one channel, chunk by chunk; units are elements.
class Ring {
 public:
  Ring(const Channel& channel, ncclDevWorkColl& work, std::size_t element)
      : channel_(channel), work_(work), element_(element), ranks_(channel.comm->nRanks) {
    ncclCollCbdPart(&work, channel.number, NCCL_PROTO_SIMPLE, static_cast<int>(element), &count_,
                    &offset_, &size_, &chunk_);
  }
  std::vector<Move> moves(const std::string& collective) && {
    const bool all_reduce = collective == "AllReduce";
    const std::size_t loop = all_reduce ? static_cast<std::size_t>(ranks_) * chunk_ : chunk_;
    for (std::size_t done = 0; done < size_; done += loop) {
      const std::size_t left = size_ - done;
      const std::size_t start = offset_ + done;
      const std::size_t count = std::min(chunk_, left);
      if (all_reduce) add_all_reduce(start, left);
      if (collective == "ReduceScatter") add_reduce_scatter(start, count);
      if (collective == "AllGather") add_all_gather(start, count);
      if (collective == "Broadcast") add_broadcast(start, count);
      if (collective == "Reduce") add_reduce(start, count);
    }
    return std::move(moves_);
  }

 private:
  [[nodiscard]] std::ptrdiff_t bytes(std::size_t elements) const {
    return static_cast<std::ptrdiff_t>(elements * element_);
  }
  /// Of the part of a rank so many steps further in the ring, in a buffer with one of every rank.
  [[nodiscard]] std::ptrdiff_t part_of(int steps, std::size_t start) const {
    return bytes(start + static_cast<std::size_t>(channel_.ring_rank(steps)) * count_);
  }
  [[nodiscard]] bool is_root(int steps) const {
    return channel_.ring_rank(steps) == static_cast<int>(work_.root);
  }
  void add(bool receive, bool send, std::ptrdiff_t input, std::ptrdiff_t output, std::size_t count,
           bool completes = false) {
    moves_.push_back({receive, send, input, output, count * element_, completes});
  }

  /// n - 1 steps add up, one completes a chunk, n - 1 pass on what is complete.
  void add_all_reduce(std::size_t start, std::size_t left) {
    const auto n = static_cast<std::size_t>(ranks_);
    const std::size_t unit = 16 / element_;
    const std::size_t chunk =
        left < n * chunk_ ? ((left + n - 1) / n + unit - 1) / unit * unit : chunk_;
    const auto index = static_cast<std::size_t>(channel_.channel->ring.index);
    for (std::size_t step = 1; step < 2 * n; ++step) {
      const std::size_t at = (index + 2 * n - step) % n * chunk;
      const std::size_t count = at >= left ? 0 : std::min(chunk, left - at);
      add(step > 1, step < 2 * n - 1, step <= n ? bytes(start + at) : kNone,
          step >= n ? bytes(start + at) : kNone, count, step == n);
    }
  }
  void add_reduce_scatter(std::size_t start, std::size_t count) {
    for (int step = 1; step <= ranks_; ++step) {
      const bool last = step == ranks_;
      add(step > 1, !last, part_of(ranks_ - step, start), last ? bytes(start) : kNone, count, last);
    }
  }
  void add_all_gather(std::size_t start, std::size_t count) {
    const std::ptrdiff_t own = part_of(0, start);
    const bool in_place = static_cast<char*>(work_.sendbuff) + bytes(start) ==
                          static_cast<char*>(work_.recvbuff) + own;
    add(false, true, bytes(start), in_place ? kNone : own, count);
    for (int step = 1; step < ranks_; ++step)
      add(true, step < ranks_ - 1, kNone, part_of(ranks_ - step, start), count);
  }
  void add_broadcast(std::size_t start, std::size_t count) {
    const bool root = is_root(0);
    const bool in_place = work_.sendbuff == work_.recvbuff;
    add(!root, !is_root(1), root ? bytes(start) : kNone, root && in_place ? kNone : bytes(start),
        count);
  }
  void add_reduce(std::size_t start, std::size_t count) {
    const bool root = is_root(0);
    add(!is_root(-1), !root, bytes(start), root ? bytes(start) : kNone, count, root);
  }

  const Channel& channel_;
  const ncclDevWorkColl& work_;
  std::size_t element_;
  int ranks_;
  std::size_t count_ = 0;   ///< of all channels
  std::size_t offset_ = 0;  ///< of this channel's part
  std::size_t size_ = 0;
  std::size_t chunk_ = 0;
  std::vector<Move> moves_;
};

Cut cut_of(const std::string& collective) {
  if (collective == "Broadcast" || collective == "Reduce") return {};
  return {ALLREDUCE_CHUNKSTEPS / ALLREDUCE_SLICESTEPS, ALLREDUCE_SLICESTEPS};
}

/// NCCL's 8-bit float, of three bits after the leading one.
std::size_t decode(std::uint8_t size) {
  const unsigned exponent = size >> 3;
  const std::size_t mantissa = (size & 7U) | (exponent != 0 ? 8U : 0U);
  return mantissa << (exponent != 0 ? exponent - 1 : 0);
}

/// One way of a send and receive: in chunks, at least one.
Task one_way(const Channel& channel, const ncclDevWorkP2p& work, bool sends, char* start,
             std::size_t bytes) {
  Lane lane;
  lane.step_bytes = static_cast<std::size_t>(channel.comm->p2pChunkSize);
  if (sends) {
    lane.next = Connection(&channel.peer(work.sendRank)->send[1], true, lane.cut);
    lane.input = start;
  } else {
    lane.before = Connection(&channel.peer(work.recvRank)->recv[1], false, lane.cut);
    lane.output = start;
  }
  const std::size_t chunk = decode(sends ? work.sendChunkSize_u32fp8 : work.recvChunkSize_u32fp8);
  std::vector<Move> moves;
  std::size_t done = 0;
  do {
    const std::size_t now = std::min(chunk, bytes - done);
    const auto at = static_cast<std::ptrdiff_t>(done);
    moves.push_back({!sends, sends, sends ? at : kNone, sends ? kNone : at, now, false});
    done += now;
  } while (done < bytes);
  return run(std::move(lane), std::move(moves));
}

}  // namespace

const Function& function_of(unsigned number) {
  static const auto* const kFunctions = new std::map(read_functions());
  const auto found = kFunctions->find(number);
  if (found == kFunctions->end())
    die("NCCL was built without the function " + std::to_string(number) + " that it launches");
  return found->second;
}

ncclDevChannelPeer* Channel::peer(int rank) const {
  auto** peers = touch(channel->peers, sizeof(void*) * static_cast<std::size_t>(comm->nRanks));
  return touch(peers[rank]);
}

int Channel::ring_rank(int steps) const {
  const int* ranks =
      touch(channel->ring.userRanks, sizeof(int) * static_cast<std::size_t>(comm->nRanks));
  return ranks[(steps % comm->nRanks + comm->nRanks) % comm->nRanks];
}

Task run_collective(const Channel& channel, const Function& function, ncclDevWorkColl work) {
  const ncclRing& ring = channel.channel->ring;
  Lane lane;
  lane.cut = cut_of(function.collective);
  lane.element = size_of(function.type);
  lane.arithmetic = Arithmetic(function, work, channel.comm->nRanks);
  lane.step_bytes =
      static_cast<std::size_t>(channel.comm->buffSizes[NCCL_PROTO_SIMPLE] / NCCL_STEPS);
  lane.before = Connection(&channel.peer(ring.prev)->recv[0], false, lane.cut);
  lane.next = Connection(&channel.peer(ring.next)->send[0], true, lane.cut);
  lane.input = static_cast<char*>(work.sendbuff);
  lane.output = static_cast<char*>(work.recvbuff);
  return run(std::move(lane), Ring(channel, work, lane.element).moves(function.collective));
}

std::vector<Task> run_p2p(const Channel& channel, const ncclDevWorkP2p& work) {
  std::vector<Task> tasks;
  const int part = (static_cast<int>(channel.number) - work.channelBase) & (work.nP2pChannels - 1);
  const auto bounds = [&](int parts, std::size_t bytes, bool otherwise) {
    if (otherwise && bytes > 0)
      die("send and receive are carried out by Simple without registered buffers: "
          "NCCL_P2P_LL_THRESHOLD=0, NCCL_LOCAL_REGISTER=0");
    std::size_t begin = 0;
    std::size_t end = 0;
    ncclP2pPartBounds(parts, part, bytes, &begin, &end);
    return std::pair(begin, end - begin);
  };
  if (part < work.nSendChannels) {
    const auto [begin, bytes] = bounds(work.nSendChannels, work.sendBytes,
                                       work.sendProtoLL || work.sendNetReg || work.sendIpcReg);
    char* from = static_cast<char*>(work.sendAddr) + begin;
    if (work.sendRank == channel.comm->rank) {
      char* to = static_cast<char*>(work.recvAddr) + begin;
      if (bytes > 0) std::memmove(touch(to, bytes), touch(from, bytes), bytes);
      return tasks;
    }
    tasks.push_back(one_way(channel, work, true, from, bytes));
  }
  if (part < work.nRecvChannels) {
    const auto [begin, bytes] = bounds(work.nRecvChannels, work.recvBytes,
                                       work.recvProtoLL || work.recvNetReg || work.recvIpcReg);
    tasks.push_back(
        one_way(channel, work, false, static_cast<char*>(work.recvAddr) + begin, bytes));
  }
  return tasks;
}

}  // namespace fake_gpu
