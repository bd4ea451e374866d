// SPDX-License-Identifier: BSD-3-Clause
#include "backends/gloo/gloo_context.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <gloo/transport/address.h>
#include <gloo/transport/context.h>
#include <gloo/transport/device.h>
#include <gloo/transport/tcp/device.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"

namespace busbar {
namespace {

constexpr std::string_view kLoopback = "127.0.0.1";
/// Operations may last: -T watches them. Gloo adds this to the time of day.
constexpr std::chrono::hours kLongest{24 * 30};

/// Of the first interface that is up and reaches other hosts. Names are of little use: a host's own
/// is often a loopback address to itself (Debian's 127.0.1.1).
std::string first_address() {
  ifaddrs* list = nullptr;
  std::string address;
  if (getifaddrs(&list) != 0) return address;
  for (const ifaddrs* each = list; each != nullptr && address.empty(); each = each->ifa_next) {
    const bool is_useful = (each->ifa_flags & IFF_UP) != 0 &&
                           (each->ifa_flags & IFF_LOOPBACK) == 0 && each->ifa_addr != nullptr &&
                           each->ifa_addr->sa_family == AF_INET;
    if (!is_useful) continue;
    std::array<char, INET_ADDRSTRLEN> text{};
    const auto* inet = reinterpret_cast<const sockaddr_in*>(each->ifa_addr);
    inet_ntop(AF_INET, &inet->sin_addr, text.data(), text.size());
    address = text.data();
  }
  freeifaddrs(list);
  return address;
}

gloo::transport::tcp::attr interface_of(const Bootstrap& bootstrap) {
  gloo::transport::tcp::attr wanted;
  if (const char* name = std::getenv("GLOO_SOCKET_IFNAME")) {
    wanted.iface = name;
    return wanted;
  }
  wanted.hostname = bootstrap.nodes() == 1 ? std::string(kLoopback) : bootstrap.address();
  if (wanted.hostname.empty()) wanted.hostname = first_address();
  if (wanted.hostname.empty()) wanted.hostname = kLoopback;
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
    // For each rank, where this one listens to it.
    std::vector<std::byte> mine(kAddress * static_cast<std::size_t>(size));
    std::size_t length = 0;
    for (int other = 0; other < size; ++other) {
      if (other == rank) continue;
      const std::vector<char> address = transportContext_->createPair(other)->address().bytes();
      length = address.size();
      std::transform(address.begin(), address.end(),
                     mine.begin() + static_cast<std::ptrdiff_t>(kAddress) * other,
                     [](char letter) { return static_cast<std::byte>(letter); });
    }
    std::vector<std::byte> all(mine.size() * static_cast<std::size_t>(size));
    bootstrap.gather_bytes(mine, all);
    for (int other = 0; other < size; ++other) {
      if (other == rank) continue;
      const std::size_t start = (static_cast<std::size_t>(other) * static_cast<std::size_t>(size) +
                                 static_cast<std::size_t>(rank)) *
                                kAddress;
      std::vector<char> address(length);
      std::transform(all.begin() + static_cast<std::ptrdiff_t>(start),
                     all.begin() + static_cast<std::ptrdiff_t>(start + length), address.begin(),
                     [](std::byte byte) { return static_cast<char>(byte); });
      transportContext_->getPair(other)->connect(address);
    }
    // A rank that is done early could end its context while another still connects to it.
    bootstrap.barrier();
    setTimeout(kLongest);
    transportContext_->setTimeout(kLongest);
  }
};

}  // namespace

void rethrow_gloo(const std::exception& error) {
  std::string text = one_line(error.what());
  // "[/build/gloo/transport/tcp/pair.cc:598] Connection closed by peer [10.0.0.3]:4242"
  if (text.starts_with('[')) text.erase(0, text.find("] ") + 2);
  throw Error{Status::Runtime, "Gloo: " + text};
}

std::shared_ptr<gloo::Context> connect_gloo(Bootstrap& bootstrap, Seconds timeout) {
  // A write of Gloo's to a rank that has ended would kill this one before it reports that.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    auto context = std::make_shared<ConnectedContext>(
        bootstrap, gloo::transport::tcp::CreateDevice(interface_of(bootstrap)));
    context->connect(bootstrap, timeout);
    return context;
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    rethrow_gloo(error);
  }
}

}  // namespace busbar
