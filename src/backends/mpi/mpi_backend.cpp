// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "backends/mpi/control_variable.hpp"
#include "backends/mpi/routines.hpp"
#include "base/error.hpp"
#include "bootstrap/mpi/mpi_bootstrap.hpp"
#include "model/backend.hpp"
#include "model/host_memory.hpp"

namespace busbar {
namespace {

constexpr std::uint64_t kLargestInt = std::numeric_limits<int>::max();
constexpr Bytes kWideElement = sizeof(std::uint64_t);

/// In the memory that the parts have: it is a part of what is timed.
void set_parts(MpiParts& parts, const Traffic& traffic, int rank) {
  parts.send_counts.clear();
  parts.recv_counts.clear();
  parts.send_offsets.clear();
  parts.recv_offsets.clear();
  int sent = 0;
  int received = 0;
  for (int other = 0; other < traffic.ranks(); ++other) {
    parts.send_counts.push_back(static_cast<int>(traffic.count(rank, other)));
    parts.recv_counts.push_back(static_cast<int>(traffic.count(other, rank)));
    parts.send_offsets.push_back(sent);
    parts.recv_offsets.push_back(received);
    sent += parts.send_counts.back();
    received += parts.recv_counts.back();
  }
}

/// Host memory over MPI, which allows one operation at a time on the same buffers.
class MpiCommunicator final : public HostCommunicator {
 public:
  MpiCommunicator(const Bootstrap& bootstrap, const ConnectOptions& options)
      : HostCommunicator(options.pages),
        comm_(mpi_comm_of(bootstrap)),
        rank_(bootstrap.rank()),
        ranks_(static_cast<std::uint64_t>(bootstrap.size())),
        progress_(options.progress) {
    if (!options.vary) return;
    variable_ = ControlVariable::find(options.vary->name);
    values_ = variable_.value().numbers(options.vary->values);
  }

  [[nodiscard]] std::optional<std::string> unsupported(const Call& call) const override {
    const std::string_view not_in_place = mpi_routine(call.collective->name).not_in_place;
    if (call.in_place && !not_in_place.empty()) return std::string(not_in_place);
    if (mpi_type(call.type) == MPI_DATATYPE_NULL) {
      return fmt::format("MPI has no type {}", info(call.type).name);
    }
    if (call.op == ReduceOp::Avg) return fmt::format("MPI has no reduction {}", name(call.op));
    return std::nullopt;
  }

  /// MPI-3 counts are int. MPICH before 4.1 also keeps int displacements inside its algorithms, in
  /// elements for reductions and in bytes for broadcasts, gathers and scatters, so totals stay
  /// below INT_MAX too. (An all-to-all computes with addresses: each of its blocks stays below.)
  [[nodiscard]] std::uint64_t largest_count(const Call& call) const override {
    const Bytes element = info(call.type).size;
    const MpiRoutine& routine = mpi_routine(call.collective->name);
    if (routine.widens) {
      const bool whole = call.count * element % kWideElement == 0;
      return whole ? kLargestInt * kWideElement / element : kLargestInt;
    }
    if (call.collective->reduces) {
      return call.collective->elementwise ? kLargestInt : kLargestInt / ranks_;
    }
    const bool totals_at_root = call.collective->rooted && !call.collective->elementwise;
    const bool any_part_is_large = !call.collective->equal_parts;
    return kLargestInt / element / (totals_at_root || any_part_is_large ? ranks_ : 1);
  }

  [[nodiscard]] Bytes temporary_bytes(const Call& call) const override {
    const std::uint64_t count = call.segment > 0 ? std::min(call.segment, call.count) : call.count;
    const bool per_rank = !call.collective->elementwise;
    const Bytes size = count * info(call.type).size * (per_rank ? ranks_ : 1);
    const MpiRoutine& routine = mpi_routine(call.collective->name);
    if (call.in_place && routine.copies_in_place) return size;
    return routine.temporary.bytes(mpi_library().family, size, static_cast<int>(ranks_));
  }

  [[nodiscard]] InPlace in_place(const Collective& collective, std::uint64_t count) const override {
    const auto own_rule = mpi_routine(collective.name).in_place;
    return (own_rule != nullptr ? own_rule : collective.in_place)(count, rank_);
  }

  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;
  /// The variable is the process's: the next round's communicator finds it as it was.
  ~MpiCommunicator() override {
    if (variable_) variable_->restore();
  }

  void use_variant(std::size_t number) override {
    if (variable_) variable_->write(values_[number]);
  }

  void enqueue(const Call& call) override {
    const MpiRoutine& routine = mpi_routine(call.collective->name);
    const Bytes element = info(call.type).size;
    const std::uint64_t segment = call.segment == 0 ? call.count : call.segment;
    const bool copies = call.in_place && routine.copies_in_place && progress_ == Progress::Yield;
    if (copies && copy_.size() < segment * element) copy_.resize(segment * element);
    if (call.traffic != nullptr) set_parts(parts_, *call.traffic, rank_);
    std::uint64_t first = 0;
    do {
      const std::uint64_t count = std::min(segment, call.count - first);
      run(routine, arguments(call, first * element, count));
      first += count;
    } while (first < call.count);
  }

  void begin(const Call& call) override {
    requests_.fill(MPI_REQUEST_NULL);
    check_mpi(mpi_routine(call.collective->name).call(arguments(call, 0, call.count), &requests_));
  }

  [[nodiscard]] bool is_done() override {
    int done = 0;
    const auto count = static_cast<int>(requests_.size());
    check_mpi(MPI_Testall(count, requests_.data(), &done, MPI_STATUSES_IGNORE));
    return done != 0;
  }

 private:
  [[nodiscard]] MpiArguments arguments(const Call& call, Bytes offset, std::uint64_t count) {
    const bool wide = count > kLargestInt;  // only where largest_count allowed it
    return {.send = call.send + offset,
            .recv = call.recv + offset,
            .count = static_cast<int>(wide ? count * info(call.type).size / kWideElement : count),
            .type = wide ? MPI_UINT64_T : mpi_type(call.type),
            .op = mpi_op(call.op),
            .root = call.root,
            .peers = call.peers,
            .parts = &parts_,
            .in_place = call.in_place,
            .copy = copy_.data(),
            .rank = rank_,
            .comm = comm_.get()};
  }

  void run(const MpiRoutine& routine, const MpiArguments& arguments) const {
    if (progress_ == Progress::Block) return check_mpi(routine.call(arguments, nullptr));
    MpiRequests requests;
    requests.fill(MPI_REQUEST_NULL);
    check_mpi(routine.call(arguments, &requests));
    complete(requests, progress_);
  }

  MpiComm comm_;
  int rank_;
  std::uint64_t ranks_;
  Progress progress_;
  std::optional<ControlVariable> variable_{};  // of --vary
  std::vector<int> values_{};
  MpiRequests requests_{};         // of begin
  MpiParts parts_{};               // of the last call with traffic
  std::vector<std::byte> copy_{};  // of what is sent in place, where ranks yield
};

class MpiBackend final : public Backend {
 public:
  [[nodiscard]] std::string_view name() const override { return "mpi"; }
  [[nodiscard]] int preference() const override { return 10; }
  [[nodiscard]] std::optional<std::string> unavailable() const override {
    int is_up = 0;
    MPI_Initialized(&is_up);
    if (is_up != 0) return std::nullopt;
    return "the ranks are not joined by MPI (mpirun does that)";
  }
  [[nodiscard]] std::string library() const override { return mpi_library().name; }
  void check(const ConnectOptions& options) const override {
    if (!options.vary) return;
    const auto variable = ControlVariable::find(options.vary->name);
    if (!variable) {
      refuse_vary(*options.vary, "MPICH's control variables of whole numbers or names, ");
    }
    (void)variable->numbers(options.vary->values);
  }
  [[nodiscard]] std::unique_ptr<Communicator> connect(
      Bootstrap& bootstrap, const ConnectOptions& options) const override {
    return std::make_unique<MpiCommunicator>(bootstrap, options);
  }
};

const MpiBackend kBackend;

}  // namespace
}  // namespace busbar
