// SPDX-License-Identifier: BSD-3-Clause
#include "tests/gpu/fake/nccl/config.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include "tests/gpu/fake/nccl/communicator.hpp"

namespace fake_gpu {

int variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? CommConfig::kUndefined : std::atoi(text);
}

void trace(const std::string& line) {
  static const int kFile = [] {
    const char* path = std::getenv("FAKE_NCCL_TRACE");
    if (path == nullptr) return -1;
    const int file = ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) die(std::string("FAKE_NCCL_TRACE: cannot write ") + path);
    return file;
  }();
  if (kFile < 0) return;
  const std::string whole = line + "\n";  // in one call: all ranks write to one file
  if (::write(kFile, whole.data(), whole.size()) < 0) die("FAKE_NCCL_TRACE: cannot write");
}

namespace {

constexpr unsigned kMagic = 0xcafebeef;

/// NCCL's layout, which only grows: 2.14 ends after blocking, 2.18 after splitShare, 2.27 after
/// nvlsCTAs, 2.28 after nvlinkCentricSched, 2.29 after numRmaCtx, 2.30.7 at the end.
struct Layout {
  std::size_t size;
  unsigned magic;
  unsigned version;
  int blocking;
  int cga_cluster_size;
  int min_ctas;
  int max_ctas;
  const char* net_name;
  int split_share;
  int traffic_class;
  const char* comm_name;
  int collnet_enable;
  int cta_policy;
  int shrink_share;
  int nvls_ctas;
  int channels_per_net_peer;
  int nvlink_centric_sched;
  int graph_usage_mode;
  int rma_contexts;
  int max_p2p_peers;
  int graph_stream_ordering;
};

/// A number of the configuration, where both the library and the caller know it.
int field(const Layout& layout, std::size_t offset, int since) {
  const bool known = nccl_version() >= since && layout.version >= static_cast<unsigned>(since);
  if (!known || layout.size < offset + sizeof(int)) return CommConfig::kUndefined;
  int value = 0;
  std::memcpy(&value, reinterpret_cast<const char*>(&layout) + offset, sizeof value);
  return value;
}

bool is_flag(int value) { return value == 0 || value == 1; }

/// NCCL 2.28 added the policy "zero".
bool is_policy(int value) { return value >= 0 && value <= (nccl_version() < 22800 ? 1 : 2); }

ncclResult_t refuse_field(const char* name, int value) {
  return invalid(std::string("Invalid config ") + name + " attribute value " +
                 std::to_string(value));
}

bool is_positive(int value) { return value > 0; }

/// A number that a configuration may have from some version on, and the variable that wins.
struct Setting {
  const char* name;
  const char* variable;
  std::size_t offset;
  int since;
  bool (*is_good)(int);
  int CommConfig::*target;
};

constexpr Setting kSettings[] = {
    {"policy", "NCCL_CTA_POLICY", offsetof(Layout, cta_policy), 22700, is_policy,
     &CommConfig::cta_policy},
    {"nvlinkCentricSched", "NCCL_NVLINK_UTIL_CENTRIC_SCHED_ENABLE",
     offsetof(Layout, nvlink_centric_sched), 22800, is_flag, &CommConfig::nvlink_centric_sched},
    {"maxP2pPeers", "NCCL_P2P_MAX_PEERS", offsetof(Layout, max_p2p_peers), 23000, is_positive,
     &CommConfig::max_p2p_peers},
    {"maxCTAs", "NCCL_MAX_CTAS", offsetof(Layout, max_ctas), 21700, is_positive,
     &CommConfig::max_ctas}};

ncclResult_t read_fields(const Layout& layout, CommConfig* config) {
  const int blocking = field(layout, offsetof(Layout, blocking), 21400);
  // Before 2.17 a field that nobody has set was no default.
  const bool may_be_unset = nccl_version() >= 21700;
  if (!is_flag(blocking) && !(may_be_unset && blocking == CommConfig::kUndefined))
    return refuse_field("blocking", blocking);
  config->blocking = blocking != 0;
  for (const Setting& one : kSettings) {
    const int value = field(layout, one.offset, one.since);
    if (value == CommConfig::kUndefined) continue;
    if (!one.is_good(value)) return refuse_field(one.name, value);
    config->*one.target = value;
  }
  return ncclSuccess;
}

void read_variables(CommConfig* config) {
  const int blocking = variable("NCCL_COMM_BLOCKING");
  // Before 2.17 the variable could only block.
  if (blocking == 1 || (blocking == 0 && nccl_version() >= 21700)) config->blocking = blocking == 1;
  for (const Setting& one : kSettings) {
    const int value = variable(one.variable);
    if (nccl_version() >= one.since && one.is_good(value)) config->*one.target = value;
  }
}

}  // namespace

ncclResult_t read_config(const ncclConfig_t* given, int ranks, CommConfig* config) {
  if (given != nullptr) {
    Layout layout{};
    std::memcpy(&layout, given, offsetof(Layout, blocking));
    if (layout.magic != kMagic) {
      return invalid("ncclConfig_t argument not initialized via NCCL_CONFIG_INITIALIZER");
    }
    std::memcpy(&layout, given, std::min(layout.size, sizeof layout));
    if (const auto status = read_fields(layout, config); status != ncclSuccess) return status;
  }
  read_variables(config);
  if (config->max_p2p_peers != CommConfig::kUndefined)
    config->max_p2p_peers = std::min(config->max_p2p_peers, ranks);
  return ncclSuccess;
}

ncclResult_t read_call_config(const CallConfig* config, const char* function) {
  if (config == nullptr) return ncclSuccess;
  if (config->magic != kMagic || config->size != sizeof *config || config->version < 23100) {
    return invalid("ncclCollConfig_t argument not initialized via NCCL_COLLCONFIG_INITIALIZER");
  }
  const std::string algorithm = config->algorithm == nullptr ? "-" : config->algorithm;
  if (algorithm != "-" && algorithm != "ring" && algorithm != "tree") {
    return invalid("config->algSelection \"" + algorithm + "\" cannot be honored");
  }
  trace(std::string("call ") + function + " algorithm=" + algorithm +
        " max_ctas=" + std::to_string(config->max_ctas));
  return ncclSuccess;
}

}  // namespace fake_gpu
