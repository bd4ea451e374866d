// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <nccl.h>

#include "collectives.h"
#include "device.h"  // of the NCCL under test: the layout of what its host code writes for its kernels
#include "tests/fake_gpu/cudart/runtime.hpp"
#include "tests/fake_gpu/kernels/task.hpp"

// What NCCL's kernels do, for Ring and Simple: the work that NCCL's planner wrote is carried out by
// the thread of the stream, through NCCL's own buffers and counters, so that its transports and
// proxies move real data. Every send or receive of every channel is a coroutine that gives way
// while it waits for the other side.
namespace fake_gpu {
namespace {

/// As this process can touch what a kernel's pointer names: memory of a GPU, or pinned memory of
/// the host.
template <class T>
T* touch(T* pointer, std::size_t bytes = sizeof(T)) {
  auto* contents = memory().contents(pointer, bytes);
  return contents == nullptr ? pointer : reinterpret_cast<T*>(contents);
}

std::uint64_t load(std::uint64_t* counter) {
  return std::atomic_ref<std::uint64_t>(*counter).load(std::memory_order_acquire);
}
void store(std::uint64_t* counter, std::uint64_t value) {
  std::atomic_ref<std::uint64_t>(*counter).store(value, std::memory_order_release);
}

/// How a chunk is cut: into `slices`, each of which moves the connection's counter by `steps`.
struct Cut {
  int slices;
  int steps;
};

/// One direction of a connection to a peer, with eight buffers in turn.
class Connection {
 public:
  Connection() = default;
  Connection(ncclConnInfo* info, bool sends, Cut cut)
      : info_(touch(info)), sends_(sends), cut_(cut) {
    const auto unit = static_cast<std::uint64_t>(cut.slices * cut.steps);
    step_ = (info_->step + unit - 1) / unit * unit;
    mine_ = touch(sends ? info_->tail : info_->head);
    theirs_ = touch(sends ? info_->head : info_->tail);
    if (info_->connFifo != nullptr)
      fifo_ = touch(info_->connFifo, sizeof(ncclConnFifo) * NCCL_STEPS);
    if (!sends) store(mine_, step_);  // credits, in case of rounding up
  }
  explicit operator bool() const { return info_ != nullptr; }
  [[nodiscard]] bool is_ready() const {
    const auto wanted = step_ + static_cast<std::uint64_t>(cut_.steps);
    return load(theirs_) + (sends_ ? NCCL_STEPS : 0) >= wanted;
  }
  /// Where the next slice lies.
  [[nodiscard]] unsigned char* buffer(std::size_t bytes) {
    char* start = info_->buffs[NCCL_PROTO_SIMPLE];
    ncclConnFifo* slot = fifo_ == nullptr ? nullptr : fifo_ + step_ % NCCL_STEPS;
    if (sends_ && slot != nullptr) slot->size = static_cast<ssize_t>(bytes);
    start += slot != nullptr && slot->mode == NCCL_MODE_OFFSET
                 ? slot->offset
                 : static_cast<int>(step_ % NCCL_STEPS) * info_->stepSize;
    return reinterpret_cast<unsigned char*>(touch(start, bytes));
  }
  void post() {
    step_ += static_cast<std::uint64_t>(cut_.steps);
    store(mine_, step_);
  }
  void save() { info_->step = step_; }

 private:
  ncclConnInfo* info_ = nullptr;
  bool sends_ = false;
  Cut cut_{1, 1};
  std::uint64_t step_ = 0;
  std::uint64_t* mine_ = nullptr;
  std::uint64_t* theirs_ = nullptr;
  ncclConnFifo* fifo_ = nullptr;
};

constexpr std::ptrdiff_t kNone = -1;

/// A part of a ring's step: what comes from the one before is added to `input` or taken as it is,
/// goes to `output`, to the next, or to both. Offsets in bytes; kNone: not.
struct Move {
  bool receive;
  bool send;
  std::ptrdiff_t input;
  std::ptrdiff_t output;
  std::size_t bytes;
};

void add(unsigned char* to, const unsigned char* more, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += sizeof(float)) {
    float a = 0;
    float b = 0;
    std::memcpy(&a, to + i, sizeof a);
    std::memcpy(&b, more + i, sizeof b);
    a += b;
    std::memcpy(to + i, &a, sizeof a);
  }
}

/// What the moves of one work on a channel have at hand.
struct Lane {
  Connection before;
  Connection next;
  Cut cut{1, 1};
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
    if (move.receive) {
      const unsigned char* came = before.buffer(bytes);
      if (bytes > 0) std::memcpy(data.data(), came, bytes);
      if (bytes > 0 && move.input != kNone) add(data.data(), at(input, move.input), bytes);
    } else if (bytes > 0) {
      std::memcpy(data.data(), at(input, move.input), bytes);
    }
    unsigned char* goes = move.send ? next.buffer(bytes) : nullptr;
    if (bytes == 0) return;
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
}

/// A channel of a launch.
struct Channel {
  const ncclKernelComm* comm;
  ncclDevChannel* channel;
  std::uint32_t number;

  [[nodiscard]] ncclDevChannelPeer* peer(int rank) const {
    auto** peers = touch(channel->peers, sizeof(void*) * static_cast<std::size_t>(comm->nRanks));
    return touch(peers[rank]);
  }
  /// The rank `steps` after this one in the ring.
  [[nodiscard]] int ring_rank(int steps) const {
    const int* ranks =
        touch(channel->ring.userRanks, sizeof(int) * static_cast<std::size_t>(comm->nRanks));
    return ranks[(steps % comm->nRanks + comm->nRanks) % comm->nRanks];
  }
};

/// What a function of NCCL's table is: "AllReduce Sum f32 RING SIMPLE".
struct Function {
  std::string collective;
  std::size_t element = 1;
};

const std::map<unsigned, Function>& functions() {
  static const auto* const kFunctions = [] {
    auto* known = new std::map<unsigned, Function>;
    const char* path = ::getenv("FAKE_NCCL_FUNCTIONS");
    std::ifstream file(path == nullptr ? "" : path);
    std::string line;  // "/*   7*/ 0, // AllReduce Sum f32 RING SIMPLE"
    while (std::getline(file, line)) {
      Function function;
      const auto number = line.find("*/ ");
      const auto name = line.find("// ");
      if (number == std::string::npos || name == std::string::npos) continue;
      const int id = std::atoi(line.c_str() + number + 3);
      std::istringstream(line.substr(name + 3)) >> function.collective;
      if (line.find(" f32 ") != std::string::npos) function.element = sizeof(float);
      if (id >= 0) known->emplace(static_cast<unsigned>(id), function);
    }
    return known;
  }();
  return *kFunctions;
}

struct Part {
  std::size_t count = 0;  ///< elements of all channels
  std::size_t offset = 0;
  std::size_t size = 0;
  std::size_t chunk = 0;
};

Part part_of(ncclDevWorkColl* work, std::uint32_t channel, std::size_t element) {
  Part part;
  ncclCollCbdPart(work, channel, NCCL_PROTO_SIMPLE, static_cast<int>(element), &part.count,
                  &part.offset, &part.size, &part.chunk);
  return part;
}

/// The moves of a ring on one channel; elements become bytes here.
std::vector<Move> moves_of(const Channel& channel, const Function& function,
                           ncclDevWorkColl* work) {
  const Part part = part_of(work, channel.number, function.element);
  const int ranks = channel.comm->nRanks;
  const auto n = static_cast<std::size_t>(ranks);
  std::vector<Move> moves;
  const auto bytes = [&](std::size_t elements) {
    return static_cast<std::ptrdiff_t>(elements * function.element);
  };
  const auto add_move = [&](bool receive, bool send, std::ptrdiff_t input, std::ptrdiff_t output,
                            std::size_t count) {
    moves.push_back({receive, send, input, output, count * function.element});
  };
  const std::string& name = function.collective;
  const std::size_t loop = name == "AllReduce" ? n * part.chunk : part.chunk;
  for (std::size_t done = 0; done < part.size; done += loop) {
    const std::size_t left = part.size - done;
    const std::size_t start = part.offset + done;
    if (name == "AllReduce") {
      std::size_t chunk = part.chunk;
      const std::size_t unit = 16 / function.element;
      if (left < loop) chunk = ((left + n - 1) / n + unit - 1) / unit * unit;
      const auto index = static_cast<std::size_t>(channel.channel->ring.index);
      const auto piece = [&](std::size_t back) { return (index + n - back) % n * chunk; };
      const auto count = [&](std::size_t at) {
        return at >= left ? 0 : std::min(chunk, left - at);
      };
      for (std::size_t step = 1; step < 2 * n; ++step) {
        const std::size_t at = piece(step < n ? step : step - n);
        const std::ptrdiff_t where = bytes(start + at);
        const bool own = step <= n;    // still being added up
        const bool whole = step >= n;  // a final result
        add_move(step > 1, step < 2 * n - 1, own ? where : kNone, whole ? where : kNone, count(at));
      }
      continue;
    }
    const std::size_t count = std::min(part.chunk, left);
    const auto at_rank = [&](int rank) {
      return bytes(start + static_cast<std::size_t>(rank) * part.count);
    };
    if (name == "ReduceScatter") {
      for (int step = 1; step <= ranks; ++step) {
        const bool last = step == ranks;
        add_move(step > 1, !last, at_rank(channel.ring_rank(ranks - step)),
                 last ? bytes(start) : kNone, count);
      }
    } else if (name == "AllGather") {
      const std::ptrdiff_t own = at_rank(channel.ring_rank(0));
      const bool in_place = static_cast<char*>(work->sendbuff) + bytes(start) ==
                            static_cast<char*>(work->recvbuff) + own;
      add_move(false, true, bytes(start), in_place ? kNone : own, count);
      for (int step = 1; step < ranks; ++step) {
        add_move(true, step < ranks - 1, kNone, at_rank(channel.ring_rank(ranks - step)), count);
      }
    } else if (name == "Broadcast") {
      const bool root = channel.ring_rank(0) == static_cast<int>(work->root);
      const bool last = channel.ring_rank(1) == static_cast<int>(work->root);
      const bool in_place = work->sendbuff == work->recvbuff;
      add_move(!root, root || !last, root ? bytes(start) : kNone,
               root && in_place ? kNone : bytes(start), count);
    } else if (name == "Reduce") {
      const bool first = channel.ring_rank(-1) == static_cast<int>(work->root);
      const bool root = channel.ring_rank(0) == static_cast<int>(work->root);
      add_move(!first, !root, bytes(start), root ? bytes(start) : kNone, count);
    }
  }
  return moves;
}

Cut cut_of(const std::string& collective) {
  if (collective == "Broadcast" || collective == "Reduce") return {1, 1};
  return {ALLREDUCE_CHUNKSTEPS / ALLREDUCE_SLICESTEPS, ALLREDUCE_SLICESTEPS};
}

Task collective(const Channel& channel, const Function& function, ncclDevWorkColl work) {
  const ncclRing& ring = channel.channel->ring;
  Lane lane;
  lane.cut = cut_of(function.collective);
  lane.element = function.element;
  lane.step_bytes =
      static_cast<std::size_t>(channel.comm->buffSizes[NCCL_PROTO_SIMPLE] / NCCL_STEPS);
  lane.before = Connection(&channel.peer(ring.prev)->recv[0], false, lane.cut);
  lane.next = Connection(&channel.peer(ring.next)->send[0], true, lane.cut);
  lane.input = static_cast<char*>(work.sendbuff);
  lane.output = static_cast<char*>(work.recvbuff);
  return run(std::move(lane), moves_of(channel, function, &work));
}

std::size_t decode(std::uint8_t size) {
  const unsigned exponent = size >> 3;
  const std::size_t mantissa = (size & 7U) | (exponent != 0 ? 8U : 0U);
  return mantissa << (exponent != 0 ? exponent - 1 : 0);
}

/// One way of a send and receive.
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
    moves.push_back({!sends, sends, sends ? at : kNone, sends ? kNone : at, now});
    done += now;
  } while (done < bytes);
  return run(std::move(lane), std::move(moves));
}

void add_p2p(const Channel& channel, const ncclDevWorkP2p& work, std::vector<Task>& tasks) {
  const int part = (static_cast<int>(channel.number) - work.channelBase) & (work.nP2pChannels - 1);
  const auto bounds = [&](int parts, std::size_t bytes) {
    std::size_t begin = 0;
    std::size_t end = 0;
    ncclP2pPartBounds(parts, part, bytes, &begin, &end);
    return std::pair(begin, end - begin);
  };
  if (part < work.nSendChannels) {
    const auto [begin, bytes] = bounds(work.nSendChannels, work.sendBytes);
    char* from = static_cast<char*>(work.sendAddr) + begin;
    if (work.sendRank == channel.comm->rank) {
      char* to = static_cast<char*>(work.recvAddr) + begin;
      if (bytes > 0) std::memmove(touch(to, bytes), touch(from, bytes), bytes);
      return;
    }
    tasks.push_back(one_way(channel, work, true, from, bytes));
  }
  if (part < work.nRecvChannels) {
    const auto [begin, bytes] = bounds(work.nRecvChannels, work.recvBytes);
    tasks.push_back(
        one_way(channel, work, false, static_cast<char*>(work.recvAddr) + begin, bytes));
  }
}

/// The works of a batch, by the bits that say which of the 64 places from its offset on are of this
/// channel.
template <class Work>
std::vector<Work> works_of(const std::vector<unsigned char>& launch, const ncclDevKernelArgs& args,
                           const ncclDevWorkBatch& batch, std::size_t size) {
  std::vector<Work> works;
  for (std::size_t bit = 0; bit < 64; ++bit) {
    if ((batch.offsetBitset >> bit & 1U) == 0) continue;
    const std::size_t offset = batch.offsetBase + bit * size;
    Work work;
    if (args.workStorageType == ncclDevWorkStorageTypeArgs) {
      std::memcpy(&work, launch.data() + offset, sizeof work);
    } else {
      auto* start = static_cast<unsigned char*>(args.workBuf) + (offset & args.workMask);
      std::memcpy(&work, touch(start, sizeof work), sizeof work);
    }
    works.push_back(work);
  }
  return works;
}

/// Everything that one channel has to do, one work after the other; sends and receives of a batch
/// at the same time.
class Program {
 public:
  Program(Channel channel, const std::vector<unsigned char>& launch, std::size_t first)
      : channel_(channel), launch_(launch), batch_(static_cast<std::ptrdiff_t>(first)) {}

  [[nodiscard]] bool done() const { return tasks_.empty() && pending_.empty() && batch_ < 0; }
  /// True where anything went on.
  bool step() {
    if (tasks_.empty()) start_next();
    bool any = false;
    for (Task& task : tasks_) any = (!task.done() && task.step()) || any;
    std::erase_if(tasks_, [](const Task& task) { return task.done(); });
    return any;
  }

 private:
  void start_next() {
    if (pending_.empty() && batch_ >= 0) load();
    if (pending_.empty()) return;
    tasks_ = pending_.front()();
    pending_.erase(pending_.begin());
  }
  void load() {
    ncclDevKernelArgs args{};
    std::memcpy(&args, launch_.data(), sizeof args);
    std::vector<ncclDevWorkP2p> sends;
    for (;;) {
      ncclDevWorkBatch batch{};
      std::memcpy(&batch,
                  launch_.data() + sizeof args + static_cast<std::size_t>(batch_) * sizeof batch,
                  sizeof batch);
      if (batch.workType == ncclDevWorkTypeP2p) {
        for (const auto& work :
             works_of<ncclDevWorkP2p>(launch_, args, batch, sizeof(ncclDevWorkP2p)))
          sends.push_back(work);
      } else {
        const auto known = functions().find(batch.funcId);
        if (known == functions().end())
          die("FAKE_NCCL_FUNCTIONS names no function " + std::to_string(batch.funcId));
        const std::size_t size = batch.workType == ncclDevWorkTypeColl ? sizeof(ncclDevWorkColl)
                                                                       : sizeof(ncclDevWorkCollReg);
        for (const auto& work : works_of<ncclDevWorkColl>(launch_, args, batch, size)) {
          pending_.push_back([this, work, &function = known->second] {
            std::vector<Task> tasks;
            tasks.push_back(collective(channel_, function, work));
            return tasks;
          });
        }
      }
      const bool extends = batch.nextExtends != 0;
      batch_ = batch.nextJump == 0 ? -1 : batch_ + batch.nextJump;
      if (!extends) break;
    }
    if (sends.empty()) return;
    pending_.push_back([this, sends] {
      std::vector<Task> tasks;
      for (const auto& work : sends) add_p2p(channel_, work, tasks);
      return tasks;
    });
  }

  Channel channel_;
  const std::vector<unsigned char>& launch_;
  std::ptrdiff_t batch_;
  std::vector<std::function<std::vector<Task>()>> pending_;
  std::vector<Task> tasks_;
};

bool interpret(const std::vector<unsigned char>& launch) {
  ncclDevKernelArgs args{};
  std::memcpy(&args, launch.data(), sizeof args);
  auto* all = reinterpret_cast<ncclKernelCommAndChannels*>(
      touch(args.comm, sizeof(ncclKernelCommAndChannels)));
  volatile std::uint32_t* abort_flag = touch(const_cast<std::uint32_t*>(all->comm.abortFlag));
  std::vector<std::unique_ptr<Program>> programs;
  std::size_t block = 0;
  for (std::uint32_t channel = 0; channel < MAXCHANNELS; ++channel) {
    if ((args.channelMask >> channel & 1U) == 0) continue;
    programs.push_back(std::make_unique<Program>(
        Channel{&all->comm, &all->channels[channel], channel}, launch, block++));
  }
  for (int idle = 0; !programs.empty();) {
    bool any = false;
    for (const auto& program : programs) any = program->step() || any;
    std::erase_if(programs, [](const auto& program) { return program->done(); });
    if (any) {
      idle = 0;
    } else if (*abort_flag != 0 || device_error() != cudaSuccess) {
      return true;
    } else if (++idle > 20) {
      ::usleep(20);
    }
  }
  return true;
}

}  // namespace
}  // namespace fake_gpu

extern "C" fake_gpu::Job* fake_nccl_kernel(const char* name, const unsigned char* arguments,
                                           std::size_t bytes);

/// The job of a launch of NCCL's; null where the kernel is none that is interpreted.
fake_gpu::Job* fake_nccl_kernel(const char* name, const unsigned char* arguments,
                                std::size_t bytes) {
  if (std::string_view(name).find("ncclDevKernel") == std::string_view::npos) return nullptr;
  return new fake_gpu::Job{[launch = std::vector<unsigned char>(arguments, arguments + bytes)] {
    return fake_gpu::interpret(launch);
  }};
}
