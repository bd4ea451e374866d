// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "model/bootstrap.hpp"
#include "model/communicator.hpp"
#include "model/variant.hpp"

namespace busbar {

/// An accelerator. Plain data: it is sent between ranks.
struct Device {
  int index = 0;                ///< among those that the process sees
  std::array<char, 32> bus{};   ///< PCI address, "0000:07:00.0"
  std::array<char, 64> name{};  ///< as the vendor's library has it
  std::array<char, 40> uuid{};  ///< one for each device, whatever the process sees
  int ranks_on_device = 1;      ///< ranks of this job on it
  int ranks_on_gpu = 1;         ///< and on any MIG instance of the same GPU
};

/// Which device a rank wants.
struct DeviceRequest {
  int first = 0;       ///< index of the device for the first rank of a host (NCCL_TESTS_DEVICE)
  bool share = false;  ///< --share-gpus: more ranks than devices are welcome
  std::array<char, 40> uuid{};  ///< the very device, as Device::uuid has it; empty: any
};

/// Whether the device is one of the fake GPU machine of our tests: what runs on it is labelled so.
[[nodiscard]] inline bool is_fake(const Device& device) {
  return std::string_view(device.name.data()).starts_with("Fake");
}

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
  std::optional<Vary> vary{};       ///< a setting whose values Communicator::use_variant takes
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
  /// 22809 of NCCL 2.28.9; 0 of another library.
  [[nodiscard]] virtual int nccl_version_code() const { return 0; }
  /// Which files the library came from, for headers; empty where it is linked.
  [[nodiscard]] virtual std::string library_files() const { return {}; }
  /// What a communicator is configured with beside the library's defaults, as "name=value,...".
  [[nodiscard]] virtual std::string settings(const ConnectOptions& /*options*/) const { return {}; }
  /// Throws a usage error where this process cannot connect with these options.
  virtual void check(const ConnectOptions& options) const {
    if (options.vary) refuse_vary(*options.vary, {});
  }
  /// Whether it has what an option of devices asks for (-G, -R, -x, --share-gpus).
  [[nodiscard]] virtual bool has_devices() const { return false; }
  /// Whether threads of its own move the data: a rank that is bound to one core has them wait.
  [[nodiscard]] virtual bool has_threads() const { return false; }
  /// The devices that this process may take, without taking any; none for host memory.
  [[nodiscard]] virtual std::vector<Device> visible_devices() const { return {}; }
  /// Takes a device for this rank, for good; nothing for host memory. Throws Error (Usage) where
  /// there is none for every rank. Collective over all ranks of the job.
  [[nodiscard]] virtual std::optional<Device> claim_device(Bootstrap& /*world*/,
                                                           const DeviceRequest& /*request*/) const {
    return std::nullopt;
  }
  /// How to ask the library itself about a hang; empty if it has no such tool.
  [[nodiscard]] virtual std::string_view hang_advice() const { return {}; }
  /// Collective over the ranks of `bootstrap`, which are the communicator's.
  [[nodiscard]] virtual std::unique_ptr<Communicator> connect(
      Bootstrap& bootstrap, const ConnectOptions& options) const = 0;

 protected:
  /// Registers the backend.
  Backend();
  /// Throws the usage error of check; `own` are the settings that it has.
  [[noreturn]] void refuse_vary(const Vary& vary, std::string_view own) const;
};

/// Every backend of this build, best first.
[[nodiscard]] std::vector<const Backend*> registered_backends();

/// The same for people: "nccl, mpi, gloo".
[[nodiscard]] std::string names_in_this_build();

/// A backend and why it was taken, in words.
struct BackendChoice {
  const Backend* backend = nullptr;
  std::string why;
};

/// Why a backend cannot be used by this job.
using Unavailability = std::function<std::optional<std::string>(const Backend& backend)>;

/// As this process sees it.
[[nodiscard]] std::optional<std::string> own_reason(const Backend& backend);
/// The named backend, or the best that is available for "auto". Throws Error (Unavailable).
[[nodiscard]] BackendChoice choose_backend(std::string_view wanted,
                                           const Unavailability& reason_of = own_reason);
/// As all ranks see it: what one cannot use, none does; but where some ranks have devices "auto"
/// throws Error (Unavailable). `mine` is own_reason but for tests. Collective.
[[nodiscard]] BackendChoice choose_backend(std::string_view wanted, Bootstrap& world,
                                           const Unavailability& mine = own_reason);

}  // namespace busbar
