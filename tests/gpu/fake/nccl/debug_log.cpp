// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <cstdlib>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/gpu/fake/nccl/operation.hpp"

namespace fake_gpu {
namespace {

enum Subsystem : unsigned { kInit = 1, kTuning = 64 };

std::string text_of(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

/// NCCL's variables, read at the first line and again after a reset.
class Log {
 public:
  void reset() {
    const std::lock_guard guard(mutex_);
    is_read_ = false;
  }

  [[nodiscard]] bool has(Subsystem subsystem) {
    const std::lock_guard guard(mutex_);
    if (!is_read_) read();
    return (subsystems_ & subsystem) != 0;
  }

  void write(Subsystem subsystem, int device, const std::string& message) {
    if (!has(subsystem)) return;
    const std::lock_guard guard(mutex_);
    static_cast<void>(std::fprintf(file_, "%s:%d:%ld [%d] NCCL INFO %s\n", host_name().c_str(),
                                   ::getpid(), ::syscall(SYS_gettid), device, message.c_str()));
    static_cast<void>(std::fflush(file_));
  }

 private:
  void read() {
    if (file_ != stdout) static_cast<void>(std::fclose(file_));
    file_ = stdout;
    is_read_ = true;
    subsystems_ = 0;
    if (::strcasecmp(text_of("NCCL_DEBUG").c_str(), "INFO") != 0) return;
    const char* list = std::getenv("NCCL_DEBUG_SUBSYS");
    const std::string chosen = list == nullptr ? "INIT" : list;
    if (chosen.find("INIT") != std::string::npos) subsystems_ |= kInit;
    if (chosen.find("TUNING") != std::string::npos) subsystems_ |= kTuning;
    const std::string path = text_of("NCCL_DEBUG_FILE");
    if (path.empty()) return;
    std::FILE* opened = std::fopen(path.c_str(), "w");
    if (opened != nullptr) file_ = opened;
  }

  std::mutex mutex_;
  bool is_read_ = false;
  unsigned subsystems_ = 0;
  std::FILE* file_ = stdout;
};

Log& the_log() {
  static auto* const kLog = new Log;
  return *kLog;
}

/// The planted choice: it changes at 16 KiB, 64 KiB and 1 MiB.
const char* choice(Collective what, std::size_t bytes) {
  constexpr std::size_t kKiB = 1024;
  const bool all_reduce = what == Collective::AllReduce;
  if (bytes < 16 * kKiB) return "Algo RING proto LL channel{Lo..Hi}={0..1}";
  if (bytes < 64 * kKiB && all_reduce) return "Algo TREE proto LL128 channel{Lo..Hi}={0..7}";
  if (bytes < 1024 * kKiB) return "Algo RING proto LL128 channel{Lo..Hi}={0..7}";
  if (all_reduce) return "Algo NVLS proto SIMPLE channel{Lo..Hi}={0..15}";
  return "Algo RING proto SIMPLE channel{Lo..Hi}={0..15}";
}

void log_connection(const Communicator& comm) {
  static std::mutex mutex;
  static auto* const kConnected = new std::set<std::string>;
  {
    const std::lock_guard guard(mutex);
    if (!kConnected->insert(comm.name()).second) return;
  }
  const std::string via = text_of("FAKE_NCCL_VIA");
  const int peer = (comm.rank() + 1) % comm.ranks();
  the_log().write(kInit, comm.device(),
                  "Channel 00/0 : " + std::to_string(comm.rank()) + "[0] -> " +
                      std::to_string(peer) + "[1] via " + (via.empty() ? "P2P/CUMEM" : via));
  the_log().write(kInit, comm.device(), "Connected all rings, use ring PXN 0 GDR 0");
}

}  // namespace

void log_init(const Communicator& comm) {
  the_log().write(kInit, comm.device(),
                  "16 coll channels, 16 collnet channels, 8 nvls channels, 32 p2p channels, 32 p2p "
                  "channels per peer");
  the_log().write(kInit, comm.device(),
                  "Init timings - ncclCommInitRankConfig: rank " + std::to_string(comm.rank()) +
                      " nranks " + std::to_string(comm.ranks()) + " total " +
                      std::to_string(comm.rank() + 1) + ".50 (kernels 1.25, rest 0.25)");
  const std::string diagnostics = text_of("FAKE_NCCL_DIAGNOSTICS");
  if (diagnostics.empty() || comm.rank() != 0 || text_of("NCCL_RUN_DIAGNOSTICS") != "1") return;
  static_cast<void>(std::fprintf(stdout, "%s:%d NCCL DIAG %s\n", host_name().c_str(), ::getpid(),
                                 diagnostics.c_str()));
}

void log_operation(const Operation& operation) {
  const Communicator& comm = *operation.comm;
  if (comm.ranks() == 1) return;  // no kernel of NCCL's choosing
  log_connection(comm);
  const char* name = operation.traits().logged;
  if (name == nullptr || comm.rank() != 0 || text_of("FAKE_NCCL_CHOICE") == "silent") return;
  trace(std::string("choice ") + name + " bytes=" + std::to_string(operation.bytes()) +
        " logged=" + (the_log().has(kTuning) ? "1" : "0"));
  the_log().write(kTuning, comm.device(),
                  std::string(name) + ": " + std::to_string(operation.bytes()) + " Bytes -> " +
                      choice(operation.what, operation.bytes()));
}

}  // namespace fake_gpu

extern "C" void ncclResetDebugInit();  // of every version since 2.24, whatever the header declares
extern "C" void ncclResetDebugInit() { fake_gpu::the_log().reset(); }
