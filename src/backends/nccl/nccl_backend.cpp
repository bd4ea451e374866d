// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <thread>

#include <fmt/format.h>

#include "backends/nccl/device_memory.hpp"
#include "backends/nccl/devices.hpp"
#include "backends/nccl/nccl_comm.hpp"
#include "backends/nccl/nccl_log.hpp"
#include "backends/nccl/routines.hpp"
#include "backends/nccl/stream.hpp"
#include "base/text.hpp"
#include "model/nccl_choice.hpp"

namespace busbar {
namespace {

/// CUDA's 13020 is 13.2.
std::string cuda_version(int code) { return fmt::format("{}.{}", code / 1000, code % 1000 / 10); }

/// NCCL refuses two ranks of one host on one GPU: from 2.30 on a variable allows them, before that
/// every rank calls itself a host of its own and the ranks talk over the network, also where NVLink
/// joins hosts (MNNVL). Read when it connects.
void let_ranks_share_devices(int rank) {
  if (nccl_version() >= kNcclSharedDevices) {
    setenv("NCCL_MULTI_RANK_GPU_ENABLE", "1", 1);
  } else {
    setenv("NCCL_HOSTID", fmt::format("busbar-rank-{}", rank).c_str(), 1);
    setenv("NCCL_MNNVL_ENABLE", "0", 1);
  }
}

/// Refuses a policy of -x that this library does not know: it would refuse or ignore it.
void check_cta_policy(int policy) {
  const int needed = policy == 2 ? kNcclZeroCtas : kNcclWindows;
  if (nccl_version() >= needed) return;
  throw usage_error(newer_nccl_text(fmt::format("-x {}: this CTA policy", policy), needed));
}

constexpr int kSmallFloatsFrom = 90;  // compute capability 9.0: nccl-tests' rule
constexpr int kSymmetricWindow = 1;   // NCCL_WIN_COLL_SYMMETRIC of nccl.h, 2.27

int attribute(cudaDeviceAttr which) {
  int device = 0;
  int value = 0;
  check_cuda(cuda().get_device(&device));
  check_cuda(cuda().get_attribute(&value, which, device));
  return value;
}

Bytes less(Bytes a, Bytes b) { return a > b ? a - b : 0; }

bool is_small_float(DataType type) { return type == DataType::F8e4m3 || type == DataType::F8e5m2; }

/// Device memory over NCCL, one rank on the current device, one stream.
class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(Bootstrap& bootstrap, const ConnectOptions& options)
      : rank_(bootstrap.rank()),
        ranks_(bootstrap.size()),
        nodes_(bootstrap.nodes()),
        registration_(options.registration),
        shares_device_(options.shares_devices),
        compute_capability_(attribute(cudaDevAttrComputeCapabilityMajor) * 10 +
                            attribute(cudaDevAttrComputeCapabilityMinor)),
        total_memory_(device_memory_now().total),
        memory_(stream_.get()),
        stopwatch_(stream_.get()),
        free_at_first_(device_memory_now().free),
        arena_([this](std::byte* block) { deregister(block); }),
        held_start_(stream_.get()),
        log_(options.observe_choice ? std::make_unique<NcclLog>(nccl().reread_log_settings)
                                    : nullptr),
        comm_(bootstrap, nccl_config(options), options.timeout),
        free_when_connected_(device_memory_now().free) {
    if (log_) observe_transports();
    if (options.vary) vary(bootstrap, options);
  }

  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  ~NcclCommunicator() override {
    start_held();  // NCCL's end waits for the stream
    while (std::uncaught_exceptions() == 0 && !registered_.empty()) {
      deregister(registered_.front().block);
    }
    registered_.clear();  // an aborted communicator has forgotten them
  }

  [[nodiscard]] std::optional<std::string> unsupported(const Call& call) const override {
    if (auto reason = no_registration()) return reason;
    if (!is_small_float(call.type)) return std::nullopt;
    const std::string_view name = info(call.type).name;
    if (nccl_version() < kNcclSmallFloats) return newer_nccl_text(name, kNcclSmallFloats);
    if (call.collective->reduces && compute_capability_ < kSmallFloatsFrom) {
      return fmt::format("{} needs compute capability 9.0, this device has {}.{}", name,
                         compute_capability_ / 10, compute_capability_ % 10);
    }
    if (ranks_ == 1 && call.op == ReduceOp::Avg) {  // onerank.cu of NCCL 2.24 to 2.30
      return fmt::format("NCCL has no average of {} on one rank", name);
    }
    return std::nullopt;
  }

  /// nccl-tests times these in place too. One way between two ranks nothing is overwritten.
  [[nodiscard]] bool overwrites(const Call& call) const override {
    const bool one_way =
        call.collective->peers != nullptr && (call.peers.to < 0) != (call.peers.from < 0);
    return call.in_place && !one_way && nccl_routine(call.collective->name).overwrites;
  }

  /// NCCL takes its channels' buffers at the first operation of a kind, not when it connects: an
  /// allowance of a sixteenth of the device's memory, 2 GiB at most (docs/measurement.md).
  [[nodiscard]] Bytes temporary_bytes(const Call& /*call*/) const override {
    return std::min(total_memory_ / 16, 2 * kGiB);
  }

  [[nodiscard]] InPlace in_place(const Collective& collective, std::uint64_t count) const override {
    return collective.in_place(count, rank_);
  }
  [[nodiscard]] std::optional<Bytes> free_device_memory() const override {
    return device_memory_now().free;
  }

  [[nodiscard]] std::optional<DeviceMemoryUse> device_memory_use() const override {
    // On a shared device the memory may be another rank's.
    const Bytes taken = shares_device_ ? 0 : less(free_when_connected_, device_memory_now().free);
    return DeviceMemoryUse{.initialization = less(free_at_first_, free_when_connected_),
                           .user = most_allocated_,
                           .collective = less(taken, arena_.taken())};
  }

  [[nodiscard]] Bytes device_cache() const override {
    return static_cast<Bytes>(attribute(cudaDevAttrL2CacheSize));
  }

  void reserve(Bytes bytes) override { arena_.reserve(bytes); }
  [[nodiscard]] Buffer allocate(Bytes bytes) override {
    std::byte* data = arena_.allocate(bytes);
    if (data == nullptr) {
      throw Error{Status::Unavailable,
                  fmt::format("no device memory for a buffer of {}", format_bytes(bytes))};
    }
    Buffer buffer(data, bytes, [this](std::byte* memory) { arena_.release(memory); });
    most_allocated_ = std::max(most_allocated_, arena_.taken());
    poison(data, bytes);
    return buffer;
  }

  /// The whole block of the arena, once.
  void register_buffer(const Buffer& buffer) override {
    if (registration_ == Registration::None) return;
    const DeviceArena::Block& block = arena_.block_of(buffer.data());
    if (any_has(registered_, block.data, &Registered::block)) return;
    void* handle = nullptr;  // written when the call is settled, not when it returns
    comm_.settle(registration_ == Registration::Local
                     ? nccl().register_buffer(comm_.get(), block.data, block.size, &handle)
                     : nccl().register_window(comm_.get(), block.data, block.size, &handle,
                                              kSymmetricWindow));
    registered_.push_back({.block = block.data, .handle = handle});
  }

  /// NCCL calls it a success where it does not register: with a null handle, or before 2.29, where
  /// ranks of several nodes have no window, with one that has no meaning.
  [[nodiscard]] bool is_registered() const override {
    const bool unknown =
        registration_ == Registration::Symmetric && nodes_ > 1 && nccl_version() < kNcclNullWindows;
    return !unknown && !registered_.empty() &&
           std::ranges::all_of(registered_,
                               [](const Registered& entry) { return entry.handle != nullptr; });
  }

  void fill(std::byte* to, std::uint64_t count, const Tile& tile, std::uint64_t first) override {
    memory_.fill(to, count, tile, first);
    wait();
  }

  void poison(std::byte* to, Bytes bytes) override {
    memory_.poison(to, bytes);
    wait();
  }

  void copy(std::byte* to, const std::byte* from, Bytes bytes) override {
    memory_.copy(to, from, bytes);
  }
  [[nodiscard]] std::unique_ptr<SideWork> side_work(const Load& load) override {
    if (load.copy == 0) return std::make_unique<DeviceLoad>(load.spin);
    return std::make_unique<DeviceLoad>(allocate(load.copy), allocate(load.copy));
  }
  [[nodiscard]] Difference compare(const std::byte* data, std::uint64_t count, const Tile& tile,
                                   std::uint64_t first) override {
    Difference comparison;
    if (count == 0) return comparison;
    DeviceComparison found;
    memory_.compare(data, count, tile, first, found);
    wait();
    comparison.wrong = found.wrong;
    if (found.wrong == 0) return comparison;
    const Bytes element = tile.element_size();
    std::array<std::byte, 8> got{};
    comparison.first_wrong = found.first_wrong;
    memory_.copy(got.data(), data + found.first_wrong * element, element);
    wait();
    const std::uint64_t position = (first + found.first_wrong) % Pattern::kPeriod;
    comparison.expected = element_text(tile.type(), tile.data() + position * element);
    comparison.got = element_text(tile.type(), got.data());
    return comparison;
  }

  void enqueue(const Call& call) override {
    const NcclRoutine& routine = nccl_routine(call.collective->name);
    if (call_config() != nullptr && routine.of_pairs) {
      throw Error{Status::Unavailable,
                  fmt::format("NCCL configures no call of {}", call.collective->title)};
    }
    const NcclArguments arguments{.call = call,
                                  .type = nccl_type(call.type),
                                  .op = nccl_op(call.op),
                                  .rank = rank_,
                                  .ranks = ranks_,
                                  .comm = active().get(),
                                  .stream = stream_.get(),
                                  .config = call_config()};
    active().settle_operation(routine.enqueue(arguments));
  }

  void use_variant(std::size_t number) override { variant_ = number; }
  void begin_group() override { active().settle(nccl().group_start()); }
  void end_group() override { active().settle_operation(nccl().group_end()); }
  [[nodiscard]] std::function<void()> capture(const std::function<void()>& issue) override {
    return [graph = std::make_shared<CudaGraph>(stream_.get(), issue)] { graph->enqueue(); };
  }

  /// NCCL logs its choices on the communicator's rank 0 alone.
  void begin_observing() override {
    if (log_ && rank_ == 0) log_->start();
  }

  [[nodiscard]] std::optional<LibraryChoice> observed_choice() override {
    if (!log_ || !log_->switchable() || rank_ != 0) return std::nullopt;
    log_->stop();
    return parse_nccl_choice(log_->text());
  }

  [[nodiscard]] std::optional<LibraryTransports> transports() const override { return transports_; }
  [[nodiscard]] bool hold() override { return held_start_.hold(); }
  void start_held() override { held_start_.start(); }
  void wait() override {
    // NCCL's own threads may have no other processor than this one.
    while (!is_done()) std::this_thread::yield();
  }

  /// Asks the stream, and NCCL for errors that no call returned.
  [[nodiscard]] bool is_done() override {
    const cudaError_t state = cuda().query_stream(stream_.get());
    if (state == cudaSuccess) return true;
    if (state != cudaErrorNotReady) {
      // What NCCL reports is nearer to the cause than what is left of it in CUDA.
      active().check_async();
      check_cuda(state);
    }
    (void)cuda().take_last_error();  // "not ready" is not a failure of a later call
    active().check_async();
    return false;
  }

  [[nodiscard]] Stopwatch& stopwatch() override { return stopwatch_; }

 private:
  /// One communicator for each value where operations have no configuration of their own.
  void vary(Bootstrap& bootstrap, const ConnectOptions& options) {
    variants_ = nccl_variants(*options.vary, nccl_config(options)).value();
    if (nccl_configures_calls()) return;
    for (const NcclVariant& variant : variants_) {
      auto& comm = comms_.emplace_back();
      if (variant.is_default) continue;
      comm = std::make_unique<NcclComm>(bootstrap, variant.communicator, options.timeout);
    }
    free_when_connected_ = device_memory_now().free;
  }

  /// The communicator of the variant.
  [[nodiscard]] NcclComm& active() {
    NcclComm* own = comms_.empty() ? nullptr : comms_[variant_].get();
    return own == nullptr ? comm_ : *own;
  }
  [[nodiscard]] const NcclCallConfig* call_config() const {
    const bool has_one = comms_.empty() && !variants_.empty() && !variants_[variant_].is_default;
    return has_one ? &variants_[variant_].call : nullptr;
  }

  /// Why -R is not possible with this library, or nothing.
  [[nodiscard]] std::optional<std::string> no_registration() const {
    const bool is_local = registration_ == Registration::Local;
    const bool can = is_local ? bool{nccl().register_buffer} : bool{nccl().register_window};
    if (registration_ == Registration::None || can) return std::nullopt;
    return newer_nccl_text("-R: it", is_local ? kNcclRegistration : kNcclWindows);
  }

  void deregister(std::byte* block) noexcept {
    const auto entry = std::ranges::find(registered_, block, &Registered::block);
    if (entry == registered_.end()) return;
    if (entry->handle != nullptr && comm_.get() != nullptr) {
      (void)comm_.wait_for(registration_ == Registration::Local
                               ? nccl().deregister_buffer(comm_.get(), entry->handle)
                               : nccl().deregister_window(comm_.get(), entry->handle));
    }
    registered_.erase(entry);
  }

  /// What the log says of an operation of one element: from 2.22 on ranks connect at their first.
  void observe_transports() {
    const auto element = allocate_cuda_memory(sizeof(float));
    comm_.settle_operation(nccl().allreduce(element.get(), element.get(), 1, ncclFloat, ncclSum,
                                            comm_.get(), stream_.get()));
    wait();
    log_->stop();
    transports_ = parse_nccl_transports(log_->text());
    transports_->switchable = log_->switchable();
  }

  int rank_;
  int ranks_;
  int nodes_;
  Registration registration_;
  bool shares_device_;
  int compute_capability_ = 0;  // ten times the major one, plus the minor
  Bytes total_memory_ = 0;
  Bytes most_allocated_ = 0;
  CudaOwned<cudaStream_t> stream_ = make_cuda_stream();
  DeviceMemory memory_;
  EventStopwatch stopwatch_;
  Bytes free_at_first_;  // before NCCL took anything
  /// A block of the arena; with a null handle NCCL did nothing.
  struct Registered {
    std::byte* block = nullptr;
    void* handle = nullptr;
  };
  std::vector<Registered> registered_;  // in the order of all ranks
  DeviceArena arena_;
  HeldStart held_start_;
  std::unique_ptr<NcclLog> log_;  // --nccl-choice: from before NCCL's first call on
  std::optional<LibraryTransports> transports_;
  // Ends before all memory: freeing waits for operations, which only its end ends.
  NcclComm comm_;
  std::vector<NcclVariant> variants_{};             // of --vary
  std::vector<std::unique_ptr<NcclComm>> comms_{};  // null: comm_
  std::size_t variant_ = 0;
  Bytes free_when_connected_;
};

class NcclBackend final : public Backend {
 public:
  [[nodiscard]] std::string_view name() const override { return "nccl"; }
  [[nodiscard]] int preference() const override { return 20; }
  [[nodiscard]] bool has_devices() const override { return true; }

  [[nodiscard]] std::optional<std::string> unavailable() const override {
    if (auto reason = no_device()) return reason;
    const std::string problem = nccl_problem();
    return problem.empty() ? std::nullopt : std::optional{problem};
  }

  [[nodiscard]] std::string library() const override {
    int runtime = 0;
    int driver = 0;
    (void)cuda().get_runtime_version(&runtime);
    (void)cuda().get_driver_version(&driver);
    return fmt::format("NCCL {}, CUDA {} (driver {})", nccl_version_text(nccl_version()),
                       cuda_version(runtime), cuda_version(driver));
  }

  [[nodiscard]] int nccl_version_code() const override { return nccl_version(); }
  [[nodiscard]] std::string library_files() const override {
    return fmt::format("{} {}", nccl().library.path(), cuda().runtime.path());
  }

  /// Fields that the library is too old for have no effect and are left out.
  [[nodiscard]] std::string settings(const ConnectOptions& options) const override {
    const NcclConfig config = nccl_config(options);
    std::vector<std::string> words;
    const auto add = [&words](const char* field, int value, int version) {
      if (value != NcclConfig::kUndefined && nccl_version() >= version) {
        words.push_back(fmt::format("{}={}", field, value));
      }
    };
    add("CTAPolicy", config.cta_policy, kNcclWindows);
    add("nvlinkCentricSched", config.nvlink_centric_sched, kNcclZeroCtas);
    add("maxP2pPeers", config.max_p2p_peers, kNcclSharedDevices);
    return join(words, ",");
  }

  void check(const ConnectOptions& options) const override {
    const auto& vary = options.vary;
    if (vary && !nccl_variants(*vary, NcclConfig{})) {
      refuse_vary(*vary, nccl_setting_names() + ", ");
    }
    if (options.cta_policy) check_cta_policy(*options.cta_policy);
    const auto conflict = options.observe_choice ? nccl_log_conflict(std::getenv) : std::nullopt;
    if (conflict) throw usage_error("--nccl-choice: " + *conflict);
    if (vary && options.registration != Registration::None) {
      throw usage_error(
          "-R and --vary {} are mutually exclusive: each value may have a communicator "
          "of its own",
          vary->name);
    }
  }

  [[nodiscard]] std::vector<Device> visible_devices() const override {
    return visible_cuda_devices();
  }

  [[nodiscard]] std::optional<Device> claim_device(Bootstrap& world,
                                                   const DeviceRequest& request) const override {
    return take_cuda_device(world, request);
  }

  [[nodiscard]] std::string_view hang_advice() const override {
    if (nccl_version() < kNcclRas) return {};
    return "for NCCL's own view give a longer -T and, while it hangs, type on a host: ncclras -v";
  }

  [[nodiscard]] std::unique_ptr<Communicator> connect(
      Bootstrap& bootstrap, const ConnectOptions& options) const override {
    if (options.shares_devices) let_ranks_share_devices(options.world_rank);
    return std::make_unique<NcclCommunicator>(bootstrap, options);
  }
};

const NcclBackend kBackend;

}  // namespace
}  // namespace busbar
