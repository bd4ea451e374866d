// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/units.hpp"
#include "model/collective.hpp"
#include "model/data_type.hpp"
#include "model/side_load.hpp"
#include "model/stopwatch.hpp"

namespace busbar {

/// Pages that host memory lies on: the kernel's huge ones where it has them, or its ordinary ones.
enum class Pages { Huge, Small };

/// Memory of the host or a device, which goes back to the backend that allocated it; move-only.
class Buffer {
 public:
  using Release = std::function<void(std::byte*)>;

  Buffer() = default;
  Buffer(std::byte* data, Bytes size, Release release)
      : data_(data, std::move(release)), size_(size) {}

  [[nodiscard]] std::byte* data() const { return data_.get(); }
  [[nodiscard]] Bytes size() const { return size_; }

 private:
  std::unique_ptr<std::byte, Release> data_{};
  Bytes size_ = 0;
};

/// How the library runs one operation, as far as its own log reports it.
struct LibraryChoice {
  std::string algorithm{};  ///< "Ring", "Tree", "NVLS", ...
  std::string protocol{};   ///< "LL", "LL128", "Simple", or a kernel's name
  std::optional<int> channels{};
};

/// How the library connects a rank to others, by its own log. Plain data: it is sent between ranks.
struct LibraryTransports {
  bool known = false;       ///< the log has such lines
  bool switchable = false;  ///< the log can be on for single operations: choices can be observed
  bool nvls = false;        ///< NVLink SHARP: the switch reduces
  bool gpudirect = false;   ///< some connection over the network uses GPUDirect RDMA
  std::array<char, 256> links{};     ///< kinds of connections, "NET/IB, P2P/CUMEM", sorted
  std::array<char, 120> channels{};  ///< "16 coll, 8 nvls, 32 p2p"
  std::array<char, 160> network{};   ///< "IB, 8 adapters", or a plugin and its version
  double init_s = 0;                 ///< that its own start took; 0: the log does not report it
  std::array<char, 200> init{};      ///< its parts in seconds, "kernels 0.31, alloc 0.10"
};

/// One operation as a backend is asked for it.
struct Call {
  const Collective* collective = nullptr;
  std::byte* send = nullptr;
  std::byte* recv = nullptr;
  std::uint64_t count = 0;  ///< elements, as Footprint::count
  DataType type = DataType::Float;
  ReduceOp op = ReduceOp::None;
  int root = 0;
  Peers peers{};                     ///< only for collectives that have them
  const Traffic* traffic = nullptr;  ///< only where parts are not equal; outlives the call
  bool in_place = false;
  /// Elements per library call where an elementwise collective is issued in segments; 0: one call.
  std::uint64_t segment = 0;
};

class Tile;

/// What a comparison of a run of elements with a pattern found.
struct Difference {
  std::uint64_t wrong = 0;        ///< elements that differ
  std::uint64_t first_wrong = 0;  ///< index of the first of them within the run
  std::string expected;           ///< that element as it should be
  std::string got;                ///< and as it is

  /// Adds what a later run found, whose elements begin at `first`.
  void add(const Difference& later, std::uint64_t first) {
    if (wrong == 0 && later.wrong > 0) {
      first_wrong = first + later.first_wrong;
      expected = later.expected;
      got = later.got;
    }
    wrong += later.wrong;
  }
};

/// Where a device's memory went: -M.
struct DeviceMemoryUse {
  Bytes initialization = 0;  ///< taken by connecting
  Bytes user = 0;            ///< the most that buffers held at a time
  Bytes collective = 0;      ///< taken by the library while operations ran

  [[nodiscard]] Bytes total() const { return initialization + user + collective; }
};

/// The data plane of one rank: memory, operations, time. Not thread-safe.
class Communicator {
 public:
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual ~Communicator() = default;

  /// Why this operation cannot run here, in its placement: a skipped record's reason.
  [[nodiscard]] virtual std::optional<std::string> unsupported(const Call& call) const = 0;
  /// Whether what is received may overwrite what is still to be sent: the result is not checked.
  [[nodiscard]] virtual bool overwrites(const Call& /*call*/) const { return false; }
  /// Elements that one library call can take; a larger elementwise call must be segmented.
  [[nodiscard]] virtual std::uint64_t largest_count(const Call& /*call*/) const {
    return std::numeric_limits<std::uint64_t>::max();
  }
  /// Memory that the library itself touches on this rank while the call runs.
  [[nodiscard]] virtual Bytes temporary_bytes(const Call& call) const = 0;
  /// Where the library wants and leaves the data of an in-place call.
  [[nodiscard]] virtual InPlace in_place(const Collective& collective,
                                         std::uint64_t count) const = 0;

  /// What is free now of the device's memory, for all ranks on it; nothing for host memory.
  [[nodiscard]] virtual std::optional<Bytes> free_device_memory() const { return std::nullopt; }

  /// So far; nothing for host memory. What others take of a shared device is counted too.
  [[nodiscard]] virtual std::optional<DeviceMemoryUse> device_memory_use() const {
    return std::nullopt;
  }
  /// Bytes of the device's last-level cache, which --cache rotate must leave; 0 for host memory.
  [[nodiscard]] virtual Bytes device_cache() const { return 0; }

  /// So many bytes of buffers will be wanted at a time: a library that registers memory wants all
  /// buffers of a run at the same addresses.
  virtual void reserve(Bytes /*bytes*/) {}

  /// Memory for calls, resident when this returns. Throws Error (Unavailable) where there is
  /// none, and with another status where the device fails.
  [[nodiscard]] virtual Buffer allocate(Bytes bytes) = 0;
  /// The share of a buffer of `allocate` that lies on huge pages, 0 to 1; nothing for device
  /// memory, and where the kernel does not report it.
  [[nodiscard]] virtual std::optional<double> huge_page_share(const Buffer& /*buffer*/) const {
    return std::nullopt;
  }
  /// Registers memory of `allocate` with the library where that was asked for. Collective.
  virtual void register_buffer(const Buffer& /*buffer*/) {}
  /// Whether the library has really registered what it was asked to on this rank.
  [[nodiscard]] virtual bool is_registered() const { return false; }
  /// Writes elements [first, first + count) of a pattern's period, repeated, to `to`.
  virtual void fill(std::byte* to, std::uint64_t count, const Tile& tile, std::uint64_t first) = 0;
  /// Overwrites memory with something that no pattern contains.
  virtual void poison(std::byte* to, Bytes bytes) = 0;
  /// Copies within memory of `allocate`, from or to it, in order with operations.
  virtual void copy(std::byte* to, const std::byte* from, Bytes bytes) = 0;

  /// A load beside operations, with memory of its own; nothing where none is. Throws as `allocate`.
  [[nodiscard]] virtual std::unique_ptr<SideWork> side_work(const Load& /*load*/) {
    return nullptr;
  }

  /// Compares with a pattern bit by bit, at about the speed of reading.
  [[nodiscard]] virtual Difference compare(const std::byte* data, std::uint64_t count,
                                           const Tile& tile, std::uint64_t first) = 0;
  /// Flips the lowest bit of the byte at `data`: a planted fault.
  void flip_bit(std::byte* data) {
    std::byte value{};
    copy(&value, data, 1);
    wait();
    value ^= std::byte{1};
    copy(data, &value, 1);
    wait();
  }

  /// Issues one operation; calls of one communicator run in order. Throws Error (Unavailable) where
  /// the library refuses this operation and can go on with others.
  virtual void enqueue(const Call& call) = 0;
  /// Operations from now on run with this value of ConnectOptions::vary, a number of it.
  virtual void use_variant(std::size_t /*number*/) {}
  /// Issues one operation beside those of other communicators; where the backend can it returns
  /// before it is complete. None may run already. Ranks that are in several communicators must do
  /// so in one order.
  virtual void begin(const Call& call) { enqueue(call); }
  /// Whether that is complete; moves it on.
  [[nodiscard]] virtual bool is_done() {
    wait();
    return true;
  }
  /// Calls between these two are given to the library as one, where it can take several.
  virtual void begin_group() {}
  virtual void end_group() {}
  /// Records the calls that `issue` enqueues without running them, as a CUDA graph; the first of a
  /// kind must have run before. What it returns issues all of them, in order with other calls;
  /// empty where the backend has no such thing.
  [[nodiscard]] virtual std::function<void()> capture(const std::function<void()>& /*issue*/) {
    return {};
  }
  /// Where ConnectOptions::observe_choice asked for it, the library reports until `observed_choice`
  /// what it chooses, at the cost of time.
  virtual void begin_observing() {}
  /// What it chose for the last operation since; nothing where its log has none for it.
  [[nodiscard]] virtual std::optional<LibraryChoice> observed_choice() { return std::nullopt; }
  /// This rank's connections so far; nothing where they were not asked for.
  [[nodiscard]] virtual std::optional<LibraryTransports> transports() const { return std::nullopt; }
  /// Holds the device back: what is enqueued after this runs only after `start_held`. False where
  /// the backend cannot, which then holds nothing. Nothing may wait for the device in between.
  [[nodiscard]] virtual bool hold() { return false; }
  /// Lets the device run what was enqueued since `hold`.
  virtual void start_held() {}
  virtual void wait() = 0;  ///< until all that was enqueued is complete
  [[nodiscard]] virtual Stopwatch& stopwatch() = 0;
};

}  // namespace busbar
