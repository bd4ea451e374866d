// SPDX-License-Identifier: BSD-3-Clause
#include <csignal>
#include <cstdlib>
#include <gloo/config.h>
#include <gloo/context.h>
#include <gloo/transport/address.h>
#include <gloo/transport/context.h>
#include <gloo/transport/device.h>
#include <gloo/transport/tcp/device.h>
#include <limits>
#include <thread>

#include <fmt/format.h>

#include "backends/gloo/ports.hpp"
#include "backends/gloo/routines.hpp"
#include "base/thread.hpp"
#include "bootstrap/socket.hpp"
#include "model/backend.hpp"
#include "model/host_memory.hpp"

namespace busbar {
namespace {

constexpr std::string_view kLoopback = "127.0.0.1";
/// Operations may last: -T watches them. Gloo adds this to the time of day.
constexpr std::chrono::hours kLongest{24 * 30};

/// By which other hosts reach this one. Names are of little use: a host's own is often a loopback
/// address to itself (Debian's 127.0.1.1).
std::string first_address() {
  const std::vector<std::string> own = own_addresses();
  const auto is_v4 = [](const std::string& each) { return each.find(':') == std::string::npos; };
  const auto found = std::ranges::find_if(own, is_v4);
  return found == own.end() ? std::string(kLoopback) : *found;
}

gloo::transport::tcp::attr interface_of(const Bootstrap& bootstrap) {
  gloo::transport::tcp::attr wanted;
  if (const char* name = std::getenv("GLOO_SOCKET_IFNAME")) {
    wanted.iface = name;
    return wanted;
  }
  wanted.hostname = bootstrap.nodes() == 1 ? std::string(kLoopback) : bootstrap.address();
  if (wanted.hostname.empty()) wanted.hostname = first_address();
  return wanted;
}

/// Gloo's context with the addresses exchanged by a bootstrap.
class ConnectedContext final : public gloo::Context {
 public:
  ConnectedContext(Bootstrap& bootstrap, std::shared_ptr<gloo::transport::Device> device)
      : gloo::Context(bootstrap.rank(), bootstrap.size()) {
    device_ = std::move(device);
    transportContext_ = device_->createContext(rank, size);
  }

  void connect(Bootstrap& bootstrap, Seconds timeout) {
    transportContext_->setTimeout(std::chrono::duration_cast<std::chrono::milliseconds>(
        std::min<Seconds>(timeout, kLongest)));
    constexpr std::size_t kAddress = gloo::transport::Address::kMaxByteSize;
    const auto ranks = static_cast<std::size_t>(size);
    std::string mine(kAddress * ranks, '\0');  // for each rank, where this one listens to it
    std::size_t length = 0;
    for (int other = 0; other < size; ++other) {
      if (other == rank) continue;
      const std::vector<char> address = transportContext_->createPair(other)->address().bytes();
      length = address.size();
      mine.replace(kAddress * static_cast<std::size_t>(other), length, address.data(), length);
    }
    std::vector<std::string> columns(ranks);  // on rank 0: for each rank, where all listen to it
    for (const std::string& row : bootstrap.gather_texts(mine)) {
      for (std::size_t i = 0; i < ranks; ++i) columns[i].append(row, i * kAddress, kAddress);
    }
    const std::string theirs = bootstrap.scatter_texts(columns);
    for (int other = 0; other < size; ++other) {
      if (other == rank) continue;
      const char* address = &theirs[kAddress * static_cast<std::size_t>(other)];
      transportContext_->getPair(other)->connect({address, address + length});
    }
    // A rank that is done early could end its context while another still connects to it.
    bootstrap.barrier();
    setTimeout(kLongest);
    transportContext_->setTimeout(kLongest);
  }
};

/// Error (Runtime) with Gloo's words in one line, less the places in its source.
[[noreturn]] void rethrow_gloo(const std::exception& error) {
  std::string text = one_line(error.what());
  // "[/build/gloo/transport/tcp/pair.cc:598] Connection closed by peer [10.0.0.3]:4242"
  if (text.starts_with('[')) text.erase(0, text.find("] ") + 2);
  if (text.ends_with("bind: Address already in use")) {
    text += "; it needs a port for each pair of ranks of a host (net.ipv4.ip_local_port_range)";
  }
  throw Error{Status::Runtime, "Gloo: " + text};
}

/// Over the interface that GLOO_SOCKET_IFNAME names, else the one by which ranks reach this host.
/// Collective. Throws Error (Runtime) with Gloo's own words.
std::shared_ptr<gloo::Context> connect_gloo(Bootstrap& bootstrap, Seconds timeout) {
  // A write of Gloo's to a rank that has ended would kill this one before it reports that.
  std::signal(SIGPIPE, SIG_IGN);
  const HostPorts mine{bootstrap.node(),
                       ports_in(first_line_of("/proc/sys/net/ipv4/ip_local_port_range"))};
  const std::string shortage = port_shortage(bootstrap.gather(mine));
  if (!shortage.empty()) throw Error{Status::Runtime, shortage};
  try {
    auto context = std::make_shared<ConnectedContext>(
        bootstrap, gloo::transport::tcp::CreateDevice(interface_of(bootstrap)));
    context->connect(bootstrap, timeout);
    return context;
  } catch (const Error&) {
    throw;
  } catch (const std::system_error& error) {
    throw thread_failure(error);
  } catch (const std::exception& error) {
    rethrow_gloo(error);
  }
}

/// Host memory over Gloo, whose threads move the data while the rank sleeps.
class GlooCommunicator final : public HostCommunicator {
 public:
  GlooCommunicator(Bootstrap& bootstrap, const ConnectOptions& options)
      : HostCommunicator(options.pages),
        links_{.context = connect_gloo(bootstrap, options.timeout)} {}

  [[nodiscard]] std::optional<std::string> unsupported(const Call& call) const override {
    const GlooRoutine& routine = gloo_routine(call.collective->name);
    if (links_.context->size == 1) return "Gloo does nothing for one rank";
    const std::string_view cannot = call.in_place ? routine.not_in_place : routine.not_out_of_place;
    if (!cannot.empty()) return std::string(cannot);
    if (call.collective->reduces && !gloo_reduction(call.type, call.op)) {
      return fmt::format("Gloo cannot reduce {} by {}", info(call.type).name, name(call.op));
    }
    return std::nullopt;
  }

  [[nodiscard]] std::uint64_t largest_count(const Call& call) const override {
    const auto ranks = static_cast<std::uint64_t>(links_.context->size);
    if (call.collective->movement == Movement::Parts && call.collective->reduces) {
      return std::numeric_limits<int>::max() / ranks;
    }
    return std::numeric_limits<std::uint64_t>::max() / info(call.type).size / ranks;
  }

  [[nodiscard]] Bytes temporary_bytes(const Call& call) const override {
    const bool per_rank = !call.collective->elementwise;
    const auto parts = static_cast<std::uint64_t>(per_rank ? links_.context->size : 1);
    return gloo_routine(call.collective->name).temporary(call.count * info(call.type).size * parts);
  }

  [[nodiscard]] InPlace in_place(const Collective& collective, std::uint64_t count) const override {
    if (gloo_routine(collective.name).result_first) return {};
    return collective.in_place(count, links_.context->rank);
  }

  void enqueue(const Call& call) override {
    if (call.count == 0) return;
    try {
      gloo_routine(call.collective->name).call(links_, call);
    } catch (const std::exception& error) {
      // If a rank has ended, the launcher or the PeerMonitor reports it in a moment, and better.
      constexpr std::chrono::seconds kMoment{1};
      std::this_thread::sleep_for(kMoment);
      rethrow_gloo(error);
    }
  }

 private:
  GlooLinks links_;
};

class GlooBackend final : public Backend {
 public:
  [[nodiscard]] std::string_view name() const override { return "gloo"; }
  [[nodiscard]] int preference() const override { return 5; }
  [[nodiscard]] std::optional<std::string> unavailable() const override { return std::nullopt; }
  [[nodiscard]] std::string library() const override {
    return fmt::format("Gloo {}.{}.{}", GLOO_VERSION_MAJOR, GLOO_VERSION_MINOR, GLOO_VERSION_PATCH);
  }
  [[nodiscard]] bool has_threads() const override { return true; }
  [[nodiscard]] std::unique_ptr<Communicator> connect(
      Bootstrap& bootstrap, const ConnectOptions& options) const override {
    return std::make_unique<GlooCommunicator>(bootstrap, options);
  }
};

const GlooBackend kBackend;

}  // namespace
}  // namespace busbar
