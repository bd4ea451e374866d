// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <nccl.h>

namespace fake_gpu {

/// The version that this library is built as.
[[nodiscard]] int built_nccl_version();

/// FAKE_NCCL_VERSION, else the version that this library is built as.
[[nodiscard]] int nccl_version();

/// A number from the environment; CommConfig::kUndefined where it is not set.
[[nodiscard]] int variable(const char* name);

/// Appends a line to the file that FAKE_NCCL_TRACE names, where it names one.
void trace(const std::string& line);

/// What this library takes from a ncclConfig_t and from NCCL's environment variables, which win.
struct CommConfig {
  static constexpr int kUndefined = NCCL_CONFIG_UNDEF_INT;

  bool blocking = true;
  int cta_policy = 0;
  int nvlink_centric_sched = 0;
  int max_p2p_peers = kUndefined;
  int max_ctas = kUndefined;
};

/// Reads a configuration of any NCCL's layout; null: the defaults. What came after this version of
/// NCCL is ignored.
[[nodiscard]] ncclResult_t read_config(const ncclConfig_t* given, int ranks, CommConfig* config);

/// ncclCollConfig_t of NCCL 2.31.
struct CallConfig {
  std::size_t size;
  unsigned magic;
  unsigned version;
  void* extension;
  int min_ctas;
  int max_ctas;
  int nvls_ctas;
  int cga_cluster_size;
  const char* algorithm;
  int forces_algorithm;
  int cta_policy;
  unsigned long long profiler_tag;
};

/// Checks the configuration of an operation, and traces it.
ncclResult_t read_call_config(const CallConfig* config, const char* function);

}  // namespace fake_gpu
