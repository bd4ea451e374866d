// SPDX-License-Identifier: BSD-3-Clause

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#include "tests/gpu/fake/kernels/work.hpp"

// What NCCL's kernels do, for Ring and Simple: the work that NCCL's planner wrote is carried out by
// the thread of the stream, through NCCL's own buffers and counters, so that its transports and
// proxies move real data. Every send or receive of every channel is a coroutine that gives way
// while it waits for the other side.
namespace fake_gpu {
namespace {

/// What a launch has as its one argument: ncclDevKernelArgs, batches, and often the works.
using Launch = std::vector<unsigned char>;

template <class T>
T read(const Launch& launch, std::size_t offset) {
  T value;
  if (offset + sizeof value > launch.size()) die("NCCL launched a kernel with too few arguments");
  std::memcpy(&value, launch.data() + offset, sizeof value);
  return value;
}

/// The works of a batch, by the bits that say which of the 64 places from its offset on are of this
/// channel.
template <class Work>
std::vector<Work> works_of(const Launch& launch, const ncclDevWorkBatch& batch, std::size_t size) {
  const auto args = read<ncclDevKernelArgs>(launch, 0);
  std::vector<Work> works;
  for (std::size_t bit = 0; bit < 64; ++bit) {
    if ((batch.offsetBitset >> bit & 1U) == 0) continue;
    const std::size_t offset = batch.offsetBase + bit * size;
    if (args.workStorageType == ncclDevWorkStorageTypeArgs) {
      works.push_back(read<Work>(launch, offset));
    } else {
      auto* start = static_cast<unsigned char*>(args.workBuf) + (offset & args.workMask);
      std::memcpy(&works.emplace_back(), touch(start, sizeof(Work)), sizeof(Work));
    }
  }
  return works;
}

/// Everything that one channel has to do, one work after the other; sends and receives of a batch
/// at the same time.
class Program {
 public:
  Program(Channel channel, const Launch& launch, int first)
      : channel_(channel), launch_(launch), batch_(first) {}

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
  /// The next batch, and those that extend it.
  void load() {
    std::vector<ncclDevWorkP2p> sends;
    for (bool extends = true; extends;) {
      const auto batch = read<ncclDevWorkBatch>(
          launch_,
          sizeof(ncclDevKernelArgs) + static_cast<std::size_t>(batch_) * sizeof(ncclDevWorkBatch));
      if (batch.workType == ncclDevWorkTypeP2p) {
        const auto more = works_of<ncclDevWorkP2p>(launch_, batch, sizeof(ncclDevWorkP2p));
        sends.insert(sends.end(), more.begin(), more.end());
      } else {
        load_collectives(batch);
      }
      extends = batch.nextExtends != 0;
      batch_ = batch.nextJump == 0 ? -1 : batch_ + batch.nextJump;
    }
    if (sends.empty()) return;
    pending_.push_back([this, sends] {
      std::vector<Task> tasks;
      for (const auto& work : sends) {
        for (Task& task : run_p2p(channel_, work)) tasks.push_back(std::move(task));
      }
      return tasks;
    });
  }
  void load_collectives(const ncclDevWorkBatch& batch) {
    const Function& function = function_of(batch.funcId);
    const std::size_t size = batch.workType == ncclDevWorkTypeColl ? sizeof(ncclDevWorkColl)
                                                                   : sizeof(ncclDevWorkCollReg);
    for (const auto& work : works_of<ncclDevWorkColl>(launch_, batch, size)) {
      if (work.regUsed || work.netRegUsed)
        die("kernels on registered buffers are not carried out: NCCL_LOCAL_REGISTER=0 and "
            "NCCL_GRAPH_REGISTER=0 switch them off");
      pending_.push_back([this, work, &function] {
        std::vector<Task> tasks;
        tasks.push_back(run_collective(channel_, function, work));
        return tasks;
      });
    }
  }

  Channel channel_;
  const Launch& launch_;
  int batch_;
  std::vector<std::function<std::vector<Task>()>> pending_;
  std::vector<Task> tasks_;
};

/// Runs all channels of a launch until they are done, NCCL aborts, or the device is lost.
bool interpret(const Launch& launch) {
  const auto args = read<ncclDevKernelArgs>(launch, 0);
  auto* all = reinterpret_cast<ncclKernelCommAndChannels*>(
      touch(args.comm, sizeof(ncclKernelCommAndChannels)));
  const volatile std::uint32_t* abort_flag = touch(const_cast<std::uint32_t*>(all->comm.abortFlag));
  std::vector<std::unique_ptr<Program>> programs;
  int block = 0;
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

/// The job of a launch of NCCL's, with the block of its arguments.
fake_gpu::Job* fake_nccl_kernel(const char* name, const unsigned char* arguments,
                                std::size_t bytes) {
  if (std::string_view(name).find("ncclDevKernel") == std::string_view::npos)
    fake_gpu::die(std::string("a kernel that is not carried out: ") + name);
  return new fake_gpu::Job{[launch = fake_gpu::Launch(arguments, arguments + bytes)] {
    return fake_gpu::interpret(launch);
  }};
}
