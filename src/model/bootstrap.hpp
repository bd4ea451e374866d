// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.hpp"

namespace busbar {

/// How a waiting rank spends its time: in the library's own loop, or giving its processor away
/// between looks, which is what makes more ranks than processors bearable.
enum class Progress { Block, Yield };

enum class Combine { Min, Max, Sum };

/// The control plane: who is there, and agreement among all. Never timed. Every call is collective.
class Bootstrap {
 public:
  Bootstrap() = default;
  Bootstrap(const Bootstrap&) = delete;
  Bootstrap& operator=(const Bootstrap&) = delete;
  virtual ~Bootstrap() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// Index of this rank's node among all; ranks that can share memory are on one node.
  [[nodiscard]] virtual int node() const = 0;
  [[nodiscard]] virtual int nodes() const = 0;

  /// What connects the ranks, for headers: "MPICH 4.0.2", "TCP (torchrun)"; empty: one process.
  [[nodiscard]] virtual std::string connected_by() const { return {}; }
  /// The IP address by which other ranks reach this host; empty: not known.
  [[nodiscard]] virtual std::string address() const { return {}; }
  /// Which ranks hold the others up, after a timeout: "rank 3 on h2 does not answer; ..."; empty:
  /// it is not known. Takes seconds. From any thread; not collective.
  [[nodiscard]] virtual std::string describe_stall() { return {}; }

  /// All is done, and this process will end with this code, also where leaving the job hangs.
  /// Collective.
  virtual void will_exit(int /*exit_code*/) {}

  virtual void set_progress(Progress /*progress*/) {}
  virtual void barrier() = 0;
  /// Root's bytes to all.
  virtual void broadcast_bytes(std::span<std::byte> bytes, int root) = 0;
  /// `all` holds size() blocks of the size of `mine`, in rank order.
  virtual void gather_bytes(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
  /// On rank 0 the texts of all ranks, in their order; on others nothing: what only rank 0 needs.
  [[nodiscard]] virtual std::vector<std::string> gather_texts(const std::string& mine) = 0;
  /// Its own of a text for each rank, which rank 0 has.
  [[nodiscard]] virtual std::string scatter_texts(const std::vector<std::string>& texts) = 0;
  /// Elementwise over ranks; the result is on every rank.
  virtual void combine(std::span<double> values, Combine how) = 0;
  /// The ranks that give the same colour, in rank order, as a bootstrap of their own, which must
  /// not outlive this one.
  [[nodiscard]] virtual std::unique_ptr<Bootstrap> split(int color) = 0;
  /// Ends every rank of the job with this exit code, from any rank, without agreement.
  [[noreturn]] virtual void abort(int exit_code) = 0;

  template <class T>
  void broadcast(T& value, int root = 0) {
    static_assert(std::is_trivially_copyable_v<T>);
    broadcast_bytes(std::as_writable_bytes(std::span{&value, 1}), root);
  }
  /// The same of a text, whose length only the root knows.
  void broadcast_text(std::string& text, int root = 0) {
    std::size_t size = text.size();
    broadcast(size, root);
    check_length(size);
    text.resize(size);
    broadcast_bytes(std::as_writable_bytes(std::span{text}), root);
  }
  template <class T>
  [[nodiscard]] std::vector<T> gather(const T& mine) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(static_cast<std::size_t>(size()));
    gather_bytes(std::as_bytes(std::span{&mine, 1}), std::as_writable_bytes(std::span{all}));
    return all;
  }
  /// The same on rank 0 only, where a rank has much; on others nothing.
  template <class T>
  [[nodiscard]] std::vector<T> gather_at_root(const T& mine) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all;
    for (const std::string& text :
         gather_texts({reinterpret_cast<const char*>(&mine), sizeof mine})) {
      std::memcpy(&all.emplace_back(), text.data(), sizeof mine);
    }
    return all;
  }
  /// True when it is true on every rank.
  [[nodiscard]] bool agree(bool mine) {
    double value = mine ? 1 : 0;
    combine({&value, 1}, Combine::Min);
    return value > 0;
  }
  /// The largest number of all ranks.
  template <class Number>
  [[nodiscard]] Number largest(Number mine) {
    auto value = static_cast<double>(mine);
    combine({&value, 1}, Combine::Max);
    return static_cast<Number>(value);
  }

 protected:
  /// Of a text between ranks. Throws Error (Runtime).
  static void check_length(std::uint64_t bytes) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 30U;  // MPI counts in int
    if (bytes <= kMost) return;
    throw runtime_failure(
        fmt::format("a text of {} bytes between ranks, of at most {}: another program's, or a row "
                    "with too many samples (--per-rank)",
                    bytes, kMost));
  }
};

}  // namespace busbar
