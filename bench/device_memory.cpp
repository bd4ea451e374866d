// SPDX-License-Identifier: BSD-3-Clause
// Speed of filling and checking device memory against a copy inside the device of the same bytes,
// in turn within one run. A check reads every byte once, a copy reads and writes it, so `share` is
// the check's bytes per second over twice the copy's: 1 is all the memory can do. With --once it
// only tries every kernel on small data, for tools that watch memory accesses.
#include "backends/nccl/device_memory.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "backends/nccl/devices.hpp"
#include "backends/nccl/stream.hpp"
#include "base/error.hpp"
#include "stats/summary.hpp"

namespace busbar {
namespace {

class Bench {
 public:
  Bench(Bytes bytes, int repetitions)
      : bytes_(bytes),
        repetitions_(repetitions),
        memory_(stream_.get()),
        watch_(stream_.get()),
        data_(allocate_cuda_memory(bytes)),
        copy_(allocate_cuda_memory(bytes)) {}

  void run(DataType type) {
    const Tile tile(Pattern(type, ReduceOp::Sum, 16, 1), kAllRanks);
    const std::uint64_t count = bytes_ / info(type).size;
    std::vector<double> fills;
    std::vector<double> copies;
    std::vector<double> checks;
    DeviceComparison found;
    for (int i = 0; i < repetitions_; ++i) {
      fills.push_back(seconds([&] { memory_.fill(data_.get(), count, tile, 0); }));
      copies.push_back(seconds([&] {
        check_cuda(
            cuda().copy(copy_.get(), data_.get(), bytes_, cudaMemcpyDeviceToDevice, stream_.get()));
      }));
      checks.push_back(seconds([&] { memory_.compare(copy_.get(), count, tile, 0, found); }));
      if (found.wrong != 0) throw runtime_failure("the check finds wrong data in a copy");
    }
    print(type, rate(fills), rate(copies), rate(checks));
    plant(type, tile, count);
  }

 private:
  template <class Work>
  double seconds(const Work& work) {
    watch_.reset(1);
    watch_.start();
    work();
    watch_.lap();
    check_cuda(cuda().await_stream(stream_.get()));
    return watch_.intervals().front().count();
  }

  [[nodiscard]] double rate(const std::vector<double>& times) const {
    return static_cast<double>(bytes_) / stats::median(times) / 1e9;
  }

  static void print(DataType type, double fill, double copy, double check) {
    fmt::print("{:>10}  {:>9.1f}  {:>9.1f}  {:>9.1f}  {:>6.2f}\n", info(type).name, fill, copy,
               check, check / (2 * copy));
  }

  /// A check that finds nothing proves nothing: one wrong byte must be found where it is.
  void plant(DataType type, const Tile& tile, std::uint64_t count) {
    const std::uint64_t index = count * 2 / 3;
    const std::byte wrong{0xa5};
    memory_.copy(copy_.get() + index * info(type).size, &wrong, 1);
    DeviceComparison found;
    memory_.compare(copy_.get(), count, tile, 0, found);
    check_cuda(cuda().await_stream(stream_.get()));
    if (found.wrong == 1 && found.first_wrong == index) return;
    throw runtime_failure(fmt::format("planted at {}, found {} wrong, first at {}", index,
                                      found.wrong, found.first_wrong));
  }

  Bytes bytes_;
  int repetitions_;
  CudaOwned<cudaStream_t> stream_ = make_cuda_stream();
  DeviceMemory memory_;
  EventStopwatch watch_;
  CudaOwned<std::byte*> data_;
  CudaOwned<std::byte*> copy_;
};

int run(bool once) {
  if (const auto reason = no_device()) {
    fmt::print(stderr, "device_memory: {}\n", *reason);
    return exit_code(Status::Unavailable);
  }
  const Device device = visible_cuda_devices().front();
  check_cuda(cuda().set_device(device.index));
  constexpr Bytes kMost = kGiB;
  const Bytes bytes =
      once ? kMiB + 4096 : std::min<Bytes>(kMost, device_memory_now().total / 8 / kMiB * kMiB);
  fmt::print("# {}, {} in device memory, GB/s\n", device.name.data(), format_bytes(bytes));
  fmt::print("# {:>8}  {:>9}  {:>9}  {:>9}  {:>6}\n", "type", "fill", "copy", "check", "share");
  constexpr int kRepetitions = 21;
  Bench bench(bytes, once ? 1 : kRepetitions);
  for (const TypeInfo& type : kTypes) bench.run(type.type);
  return exit_code(Status::Ok);
}

}  // namespace
}  // namespace busbar

int main(int argc, char** argv) {
  try {
    return busbar::run(argc > 1 && std::string_view(argv[1]) == "--once");
  } catch (const std::exception& error) {
    fmt::print(stderr, "device_memory: {}\n", error.what());
    return busbar::exit_code(busbar::Status::Runtime);
  }
}
