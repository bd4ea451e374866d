// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "backends/nccl/libraries.hpp"
#include "model/communicator.hpp"

namespace busbar {

/// The choice in the last line of subsystem TUNING about an operation, which rank 0 alone logs.
[[nodiscard]] std::optional<LibraryChoice> parse_nccl_choice(std::string_view log);

/// What the lines of subsystem INIT say about connections.
[[nodiscard]] LibraryTransports parse_nccl_transports(std::string_view log);

/// Why the user's own settings leave no log to read, or nothing: an error for --nccl-choice.
[[nodiscard]] std::optional<std::string> nccl_log_conflict(
    const std::function<const char*(const char*)>& lookup);

/// Makes NCCL log (NCCL_DEBUG=INFO) into memory while it is on, by NCCL's variables. NCCL reads
/// them at its first call, so the log must exist before that, and again after ncclResetDebugInit
/// (exported since 2.24). Without that function the log stays on, of INIT alone, which no operation
/// writes to, or off where the user has set NCCL_DEBUG. One at a time; not thread-safe.
class NcclLog {
 public:
  /// Switches the log on. `reset` is ncclResetDebugInit where the library has it.
  explicit NcclLog(LibraryFunction<void()> reset);
  NcclLog(const NcclLog&) = delete;
  NcclLog& operator=(const NcclLog&) = delete;
  ~NcclLog();

  /// Whether it can be switched on and off again.
  [[nodiscard]] bool switchable() const { return static_cast<bool>(reset_); }
  /// Both do nothing where it cannot be switched. NCCL closes the log at its next call after
  /// `stop`.
  void start();
  void stop();
  /// What was logged since `start`.
  [[nodiscard]] std::string text() const;

 private:
  /// A variable of NCCL's and what the user has set it to.
  struct Setting {
    const char* name = "";
    std::optional<std::string> users{};
  };

  void switch_on();
  /// Sets the variables; NCCL reads them again where it can.
  void set(const std::array<std::string, 3>& values) const;
  void pass_on_warnings() const;

  LibraryFunction<void()> reset_;
  int file_ = -1;  // in memory: nothing stays behind, however the process ends
  bool on_ = false;
  std::array<Setting, 3> settings_{
      {{.name = "NCCL_DEBUG"}, {.name = "NCCL_DEBUG_SUBSYS"}, {.name = "NCCL_DEBUG_FILE"}}};
};

}  // namespace busbar
