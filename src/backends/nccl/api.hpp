// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>

#include <cuda_runtime_api.h>
#include <nccl.h>

#include "model/backend.hpp"

/// What NCCL has had only since some version, behind one face for all versions from 2.14 on. Built
/// for an older one by -DBUSBAR_NCCL_API=21400 and the like, to see that it compiles.
namespace busbar::nccl {

/// ncclMemAlloc (2.19), else cudaMalloc. Null where there is not enough memory.
[[nodiscard]] void* allocate(std::size_t bytes);
void release(void* memory);

/// Why buffers cannot be registered so, or nothing.
[[nodiscard]] std::optional<const char*> no_registration(Registration registration);
/// ncclCommRegister (2.19), ncclCommWindowRegister (2.27). `handle` is written by the time that the
/// result is settled, and must live until then.
[[nodiscard]] ncclResult_t enlist(ncclComm_t comm, void* memory, std::size_t bytes,
                                  Registration registration, void** handle);
[[nodiscard]] ncclResult_t delist(ncclComm_t comm, Registration registration, void* handle);

/// The 8-bit floating types (2.24).
[[nodiscard]] std::optional<ncclDataType_t> small_float(DataType type);

/// ncclConfig_t::CTAPolicy (2.27); false where there is none.
[[nodiscard]] bool set_cta_policy(ncclConfig_t& config, int policy);

/// "2.28.9" of a version's code.
struct Version {
  int major;
  int minor;
  int patch;
};
[[nodiscard]] Version version_of(int code);
/// Of the headers that this program was built with.
[[nodiscard]] int header_version();

/// Ranks that share a device: from this version on by a variable, before by a host id each.
inline constexpr int kSharesDevices = 23000;

/// Calls of their own for data movement (2.28); nothing where send and receive must do.
using Movement = ncclResult_t (*)(const void* send, void* recv, std::size_t count,
                                  ncclDataType_t type, int root, ncclComm_t comm,
                                  cudaStream_t stream);
[[nodiscard]] Movement alltoall();
[[nodiscard]] Movement gather();
[[nodiscard]] Movement scatter();

}  // namespace busbar::nccl
