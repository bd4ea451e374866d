// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/bootstrap.hpp"
#include "model/communicator.hpp"

namespace busbar {

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
  /// Collective over all ranks.
  [[nodiscard]] virtual std::unique_ptr<Communicator> connect(Bootstrap& bootstrap,
                                                              Progress progress) const = 0;

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

/// The named backend, or the best that is available for "auto". Throws Error (Unavailable) with the
/// reason where there is none.
[[nodiscard]] BackendChoice choose_backend(std::string_view wanted);

}  // namespace busbar
