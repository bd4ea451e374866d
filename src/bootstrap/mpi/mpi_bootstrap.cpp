// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/mpi/mpi_bootstrap.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <future>
#include <optional>
#include <poll.h>
#include <random>
#include <sched.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "base/group_guard.hpp"
#include "base/text.hpp"
#include "bootstrap/launcher.hpp"
#include "bootstrap/node_map.hpp"
#include "bootstrap/peer_monitor.hpp"

namespace busbar {

void check_mpi(int code, Where where) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw runtime_failure(
      "MPI: " + one_line(std::string(text.data(), static_cast<std::size_t>(length))), where);
}

void complete(std::span<MPI_Request> requests, Progress progress, Where where) {
  const auto count = static_cast<int>(requests.size());
  if (progress == Progress::Block) {
    return check_mpi(MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE), where);
  }
  for (;;) {
    int done = 0;
    check_mpi(MPI_Testall(count, requests.data(), &done, MPI_STATUSES_IGNORE), where);
    if (done != 0) return;
    sched_yield();
  }
}

void complete(MPI_Request& request, Progress progress, Where where) {
  complete(std::span{&request, 1}, progress, where);
}

MPI_Comm mpi_comm_of(const Bootstrap& bootstrap) {
  const auto* mpi = dynamic_cast<const HasMpiComm*>(&bootstrap);
  return mpi == nullptr ? MPI_COMM_WORLD : mpi->comm();
}

MpiComm::MpiComm(MPI_Comm parent) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Comm_idup(parent, &comm_, &request));
  complete(request, Progress::Yield);
  check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
}

MpiComm::MpiComm(MPI_Comm parent, std::span<const int> ranks) {
  constexpr int kTag = 0;  // groups that are made at the same time have no rank in common
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group some = MPI_GROUP_NULL;
  check_mpi(MPI_Comm_group(parent, &all));
  check_mpi(MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some));
  check_mpi(MPI_Comm_create_group(parent, some, kTag, &comm_));
  check_mpi(MPI_Group_free(&some));
  check_mpi(MPI_Group_free(&all));
  check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
}

MpiComm::~MpiComm() {
  if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

namespace {

int rank_in(MPI_Comm comm) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(comm, &rank));
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  check_mpi(MPI_Comm_size(comm, &size));
  return size;
}

void refuse_a_foreign_launcher() {
  const int size = size_of(MPI_COMM_WORLD);
  const auto launcher = find_launcher();
  if (!launcher || launcher->size == 0 || launcher->size == size) return;
  throw usage_error(
      "{} started {} processes, but MPI_COMM_WORLD has {}: the launcher belongs to another MPI "
      "than this program, which uses {}; start it with that MPI's mpirun",
      launcher->name, launcher->size, size, mpi_library().name);
}

/// A rank that dies while UCX reads its memory is one line of UCX, without its backtraces, unless
/// UCX_HANDLE_ERRORS says otherwise: UCX itself reads that variable before main() only.
void shorten_errors_of_ucx() {
  using Set = int (*)(const char* name, const char* value);
  const auto set = reinterpret_cast<Set>(dlsym(RTLD_DEFAULT, "ucs_global_opts_set_value"));
  if (set != nullptr && std::getenv("UCX_HANDLE_ERRORS") == nullptr) set("HANDLE_ERRORS", "none");
}

/// MPI_Init to MPI_Finalize. After an error MPI is aborted, never finalized: that could wait for
/// ranks that are gone.
class MpiSession {
 public:
  MpiSession() {
    shorten_errors_of_ucx();
    int provided = 0;
    check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  }
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
  ~MpiSession() {
    MPI_Finalize();
    finalized_.set_value();
    if (guard_.joinable()) guard_.join();
  }

  /// All is done: where leaving the job hangs, it ends with this code.
  void leave_with(int exit_code) {
    try {
      guard_ = std::thread(leave_at_last, exit_code, finalized_.get_future());
    } catch (const std::system_error&) {  // no thread can be started (ulimit -u): unguarded
    }
  }

 private:
  /// Where nothing could be measured, which has been reported, there is little to wait for.
  static void leave_at_last(int code, std::future<void> finalized) {
    const bool complete =
        code != exit_code(Status::Usage) && code != exit_code(Status::Unavailable);
    const std::chrono::seconds patience{complete ? 10 : 1};
    constexpr std::string_view kWhy =
        "MPI_Finalize has not returned for 10 s: the job, which is complete, ends without it\n";
    if (finalized.wait_for(patience) == std::future_status::ready) return;
    static_cast<void>(std::fflush(nullptr));
    if (complete) {
      [[maybe_unused]] const auto written = write(STDERR_FILENO, kWhy.data(), kWhy.size());
    }
    std::_Exit(code);
  }

  std::promise<void> finalized_{};
  std::thread guard_{};
};

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  // Open MPI counts the NUL at the end, too.
  return {text.begin(), std::find(text.begin(), text.begin() + length, '\0')};
}

/// MPICH over UCX between hosts: one rank closes a connection whose other end makes no progress any
/// more, since it waits for that rank. With 4.0.2 over TCP on a busy machine 25 of 150 jobs hung,
/// and of 100 that all ranks left without MPI_Finalize none.
bool hangs_in_finalize() { return library_version().find("ch4:ucx") != std::string::npos; }

/// Reports to Hydra that this rank is done, in place of MPI_Finalize and by PMI-1 at PMI_FD: Hydra
/// kills all ranks on the host of one that exits without. False under another launcher, whose
/// protocol may be another.
bool finalize_at_hydra() {
  const char* name = std::getenv("PMI_FD");
  if (name == nullptr || std::getenv("HYDI_CONTROL_FD") == nullptr) return false;
  const int hydra = to_number<int>(name).value_or(-1);
  constexpr std::string_view kDone = "cmd=finalize\n";
  if (write(hydra, kDone.data(), kDone.size()) != std::ssize(kDone)) return false;
  pollfd answer{.fd = hydra, .events = POLLIN, .revents = 0};
  constexpr int kMilliseconds = 1000;
  // Whatever comes: MPI_Finalize must not repeat it.
  static_cast<void>(poll(&answer, 1, kMilliseconds));
  return true;
}

class MpiBootstrap : public Bootstrap, public HasMpiComm {
 public:
  MpiBootstrap() : comm_(MPI_COMM_WORLD) { map_nodes(); }
  MpiBootstrap(MpiComm comm, NodeMap nodes) : comm_(std::move(comm)), nodes_(std::move(nodes)) {}

  [[nodiscard]] MPI_Comm comm() const override { return comm_.get(); }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] int node() const override {
    return nodes_.of_rank[static_cast<std::size_t>(rank_)];
  }
  [[nodiscard]] int nodes() const override { return nodes_.count; }
  [[nodiscard]] std::string connected_by() const override { return mpi_library().name; }
  void set_progress(Progress progress) override { progress_ = progress; }

  void barrier() override {
    if (progress_ == Progress::Block) return check_mpi(MPI_Barrier(comm_.get()));
    run(MPI_Ibarrier);
  }

  void broadcast_bytes(std::span<std::byte> bytes, int root) override {
    run(MPI_Ibcast, bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, root);
  }

  void gather_bytes(std::span<const std::byte> mine, std::span<std::byte> all) override {
    const int count = static_cast<int>(mine.size());
    run(MPI_Iallgather, mine.data(), count, MPI_BYTE, all.data(), count, MPI_BYTE);
  }

  [[nodiscard]] std::vector<std::string> gather_texts(const std::string& mine) override {
    const int length = length_of(mine);
    std::vector<int> lengths(rank_ == 0 ? static_cast<std::size_t>(size_) : 0);
    run(MPI_Igather, &length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0);
    std::vector<std::string> texts;
    for (const int each : lengths) texts.emplace_back(static_cast<std::size_t>(each), '\0');
    if (rank_ == 0) texts.front() = mine;
    transfer(MPI_Isend, mine, MPI_Irecv, texts);
    return texts;
  }

  [[nodiscard]] std::string scatter_texts(const std::vector<std::string>& texts) override {
    const std::vector<int> lengths = mapped(texts, length_of);
    int length = 0;
    run(MPI_Iscatter, lengths.data(), 1, MPI_INT, &length, 1, MPI_INT, 0);
    std::string mine =
        rank_ == 0 ? texts.front() : std::string(static_cast<std::size_t>(length), '\0');
    transfer(MPI_Irecv, mine, MPI_Isend, texts);
    return mine;
  }

  void combine(std::span<double> values, Combine how) override {
    run(MPI_Iallreduce, MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE,
        how == Combine::Min   ? MPI_MIN
        : how == Combine::Max ? MPI_MAX
                              : MPI_SUM);
  }

  [[nodiscard]] std::unique_ptr<Bootstrap> split(int color) override {
    const std::vector<int> colors = gather(color);
    std::vector<int> ranks;
    std::vector<int> nodes;
    for (int rank = 0; rank < size_; ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      if (colors[at] != color) continue;
      ranks.push_back(rank);
      nodes.push_back(nodes_.of_rank[at]);
    }
    auto part =
        std::make_unique<MpiBootstrap>(MpiComm(comm_.get(), ranks), NodeMap::numbered(nodes));
    part->set_progress(progress_);
    return part;
  }

  [[noreturn]] void abort(int exit_code) override {
    // Our own line has said why; the library's would only follow it.
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) dup2(nowhere, STDERR_FILENO);
    // It leaves by exit(), where a device's library may wait for its device for ever.
    constexpr unsigned kLongest = 10;
    end_process_within(kLongest);
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    std::_Exit(exit_code);
  }

 private:
  /// Calls a nonblocking routine and waits for it.
  template <class Call, class... Arguments>
  void run(Call call, Arguments... arguments) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(call(arguments..., comm_.get(), &request));
    complete(request, progress_);
  }

  static int length_of(const std::string& text) {
    check_length(text.size());
    return static_cast<int>(text.size());
  }

  /// Of rank 0 the texts for or of the others, of another rank its own. One text by one: all of
  /// them may be more than an int counts.
  template <class OwnCall, class Text, class RootCall, class Texts>
  void transfer(OwnCall own_call, Text& own, RootCall root_call, Texts& texts) {
    std::vector<MPI_Request> requests;
    const auto begin = [&](auto call, auto& text, int rank) {
      if (text.empty()) return;
      requests.push_back(MPI_REQUEST_NULL);
      check_mpi(
          call(text.data(), length_of(text), MPI_BYTE, rank, 0, comm_.get(), &requests.back()));
    };
    if (rank_ != 0) begin(own_call, own, 0);
    for (int rank = 1; rank_ == 0 && rank < size_; ++rank) {
      begin(root_call, texts[static_cast<std::size_t>(rank)], rank);
    }
    complete(requests, progress_);
  }

  /// By the library, which knows who can share memory.
  void map_nodes() {
    MPI_Comm shared = MPI_COMM_NULL;
    check_mpi(
        MPI_Comm_split_type(comm_.get(), MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &shared));
    int leader = rank_;
    check_mpi(MPI_Bcast(&leader, 1, MPI_INT, 0, shared));
    check_mpi(MPI_Comm_free(&shared));
    nodes_ = NodeMap::numbered(gather(leader));
  }

  MpiComm comm_;
  int rank_ = rank_in(comm_.get());
  int size_ = size_of(comm_.get());
  NodeMap nodes_{};
  Progress progress_ = Progress::Yield;  // until it is known whether there are processors for all
};

/// Where rank 0 listens, as MPI sends it to the others: port, token, addresses; empty: nowhere.
using MonitorOffer = Words;

constexpr const char* kLoopback = "127.0.0.1";

std::string random_token() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

Rendezvous rendezvous_of(const Bootstrap& world, const MonitorOffer& offer) {
  return {.address = {.port = to_number<std::uint16_t>(offer[0]).value_or(0)},
          .rank = world.rank(),
          .ranks = world.size(),
          .token = offer[1],
          .source = "MPI"};
}

/// Null where this rank cannot listen, which no run depends on.
std::unique_ptr<JoinListener> open_listener(const Bootstrap& world, MonitorOffer& offer) {
  const bool one_node = world.nodes() == 1;
  try {
    Socket socket = listen_at({.host = one_node ? kLoopback : "", .port = 0});
    allow_descriptors();
    offer = {fmt::format("{}", socket.own_port()), random_token()};
    if (!one_node) append(offer, own_addresses());
    return std::make_unique<JoinListener>(std::move(socket), rendezvous_of(world, offer),
                                          [](const std::string&) {});
  } catch (const Error&) {
    offer.clear();
    return nullptr;
  }
}

/// Completes once every rank has tried to connect.
MPI_Request tried(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibarrier(comm, &request));
  return request;
}

/// Lets ranks in until all others have tried.
std::vector<JoinedRank> receive(JoinListener& listener, MPI_Comm comm) {
  std::vector<JoinedRank> joined;
  const auto refusal = [&](const JoinedRank& rank) {
    return std::ranges::count(joined, rank.rank, &JoinedRank::rank) > 0 ? "it has joined" : "";
  };
  MPI_Request all_have_tried = tried(comm);
  for (int done = 0; done == 0; sched_yield()) {
    for (JoinedRank& rank : listener.serve(refusal)) joined.push_back(std::move(rank));
    check_mpi(MPI_Test(&all_have_tried, &done, MPI_STATUS_IGNORE));
  }
  return joined;
}

/// Addresses that this host has, too, are not of rank 0 on another, but of a container's bridge.
Words hosts_to_try(const Bootstrap& world, const MonitorOffer& offer) {
  Words hosts(offer.begin() + 2, offer.end());
  if (world.node() == 0) {
    hosts.insert(hosts.begin(), kLoopback);
  } else {
    const Words own = own_addresses();
    std::erase_if(hosts, [&](const std::string& host) { return contains(own, host); });
  }
  return hosts;
}

/// The connection to rank 0, if there is a way.
std::vector<JoinedRank> connect_to_root(const Bootstrap& world, const MonitorOffer& offer) {
  // A network may drop what is sent to a port. Rank 0 needs a millisecond for each rank.
  const Seconds patience = Seconds{1} + world.size() * Seconds{0.002};
  Rendezvous rendezvous = rendezvous_of(world, offer);
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(2 * patience);
  for (const std::string& host : hosts_to_try(world, offer)) {
    rendezvous.address.host = host;
    const auto own_end = Clock::now() + std::chrono::duration_cast<Clock::duration>(patience);
    auto root = try_root(rendezvous, Channel::Monitor, std::min(own_end, end));
    if (!root) continue;
    std::vector<JoinedRank> peers;
    peers.push_back(std::move(*root));
    return peers;
  }
  return {};
}

/// The monitor of a rank that joined by MPI; null where rank 0 gives no events, or cannot listen.
/// A rank that cannot connect to rank 0 within seconds does without. `world` is all ranks of
/// MPI_COMM_WORLD. Collective.
std::unique_ptr<PeerMonitor> start_monitor(Bootstrap& world, std::optional<TcpEvents> events) {
  if (world.size() == 1) return nullptr;
  MonitorOffer offer;
  std::unique_ptr<JoinListener> listener;
  if (world.rank() == 0 && events) listener = open_listener(world, offer);
  std::string text = join(offer, " ");
  world.broadcast_text(text);
  offer = split_words(text);
  if (offer.empty()) return nullptr;
  MPI_Comm comm = mpi_comm_of(world);
  std::vector<JoinedRank> peers;
  if (listener) {
    peers = receive(*listener, comm);
  } else {
    if (events) peers = connect_to_root(world, offer);
    MPI_Request all_have_tried = tried(comm);
    complete(all_have_tried, Progress::Yield);
  }
  if (!events) return nullptr;
  return std::make_unique<PeerMonitor>(world.rank(), world.size(), std::move(peers), nullptr,
                                       std::move(*events));
}

/// The bootstrap of all ranks. MPI is up as long as it exists: the session, a base, goes last.
class MpiJob final : private MpiSession, public MpiBootstrap {
 public:
  explicit MpiJob(std::optional<TcpEvents> events) {
    refuse_a_foreign_launcher();
    monitor_ = start_monitor(*this, std::move(events));
  }

  void will_exit(int exit_code) override {
    barrier();  // who waits here waits for a rank that has still something to do
    // A rank that leaves while others still pass the barrier closes their connections under way.
    constexpr std::chrono::milliseconds kUnderWay{50};
    if (nodes() > 1) std::this_thread::sleep_for(kUnderWay);
    const bool one_per_node = size() == nodes();
    if (nodes() > 1 && hangs_in_finalize() && (finalize_at_hydra() || one_per_node)) {
      static_cast<void>(std::fflush(nullptr));
      std::_Exit(exit_code);
    }
    leave_with(exit_code);
  }
  [[nodiscard]] std::string describe_stall() override {
    return monitor_ ? monitor_->describe_stall() : "";
  }

 private:
  std::unique_ptr<PeerMonitor> monitor_;
};

const MpiSupport kSupport{mpi_library, start_mpi};

}  // namespace

const MpiLibrary& mpi_library() {
  static const MpiLibrary kLibrary = read_mpi_library(library_version());
  return kLibrary;
}

std::unique_ptr<Bootstrap> start_mpi(std::optional<TcpEvents> events) {
  return std::make_unique<MpiJob>(std::move(events));
}

}  // namespace busbar
