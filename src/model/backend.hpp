// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/bootstrap.hpp"
#include "model/communicator.hpp"
#include "model/device.hpp"

namespace busbar {

/// -R: whether buffers are made known to the library before they are used.
enum class Registration { None, Local, Symmetric };

/// How a communicator is wanted.
struct ConnectOptions {
  Progress progress = Progress::Block;
  Registration registration = Registration::None;
  std::optional<int> cta_policy{};  ///< -x: NCCL's CTAPolicy, 0 to 2
  int peers = 0;                    ///< ranks that each rank exchanges with; 0: any
  Seconds timeout{600};             ///< of the connecting itself: 2.5 minutes were seen
  Pages pages = Pages::Huge;        ///< of host memory
  bool shares_devices = false;      ///< some ranks are on one device
  bool observe_choice = false;      ///< --nccl-choice: read the library's log
  int world_rank = 0;               ///< this rank among all of the job
};

/// A library that runs collectives. One static object per backend folder registers itself.
class Backend {
 public:
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Backends are tried in falling order of this by `--backend auto`.
  [[nodiscard]] virtual int preference() const = 0;
  /// Why it cannot be used on this machine now, or nothing if it can.
  [[nodiscard]] virtual std::optional<std::string> unavailable() const = 0;
  /// Name and version of the library, for headers.
  [[nodiscard]] virtual std::string library() const = 0;
  /// Which files the library came from, for headers; empty where it is linked.
  [[nodiscard]] virtual std::string library_files() const { return {}; }
  /// What a communicator is configured with beside the library's defaults, as "name=value,...".
  [[nodiscard]] virtual std::string settings(const ConnectOptions& /*options*/) const { return {}; }
  /// Whether it has what an option of devices asks for (-G, -R, -x, --share-gpus).
  [[nodiscard]] virtual bool has_devices() const { return false; }
  /// The devices that this process may take, without taking any; none for host memory.
  [[nodiscard]] virtual std::vector<Device> visible_devices() const { return {}; }
  /// Takes a device for this rank, for good; nothing for host memory. Throws Error (Usage) where
  /// there is none for every rank. Collective over all ranks of the job.
  [[nodiscard]] virtual std::optional<Device> claim_device(Bootstrap& /*world*/,
                                                           const DeviceRequest& /*request*/) const {
    return std::nullopt;
  }
  /// Collective over the ranks of `bootstrap`, which are the communicator's.
  [[nodiscard]] virtual std::unique_ptr<Communicator> connect(
      Bootstrap& bootstrap, const ConnectOptions& options) const = 0;

 protected:
  /// Registers the backend.
  Backend();
};

/// Every backend of this build, best first.
[[nodiscard]] std::vector<const Backend*> registered_backends();

/// A backend and why it was taken, in words.
struct BackendChoice {
  const Backend* backend = nullptr;
  std::string why;
};

/// Why a backend cannot be used by this job; Backend::unavailable of every rank.
using Unavailability = std::function<std::optional<std::string>(const Backend& backend)>;

/// The named backend, or the best that is available for "auto". Throws Error (Unavailable) with the
/// reason where there is none.
[[nodiscard]] BackendChoice choose_backend(std::string_view wanted,
                                           const Unavailability& reason_of);
/// As this process alone sees it.
[[nodiscard]] BackendChoice choose_backend(std::string_view wanted);
/// As this process sees it.
[[nodiscard]] std::optional<std::string> own_reason(const Backend& backend);
/// As all ranks see it: what one cannot use, none does; but "auto" does not leave devices that some
/// ranks have unused: it throws Error (Unavailable). `mine` is own_reason but for tests.
/// Collective.
[[nodiscard]] BackendChoice choose_backend(std::string_view wanted, Bootstrap& world,
                                           const Unavailability& mine = own_reason);

}  // namespace busbar
