// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/api.hpp"

#ifndef BUSBAR_NCCL_API
#define BUSBAR_NCCL_API NCCL_VERSION_CODE
#endif

namespace busbar::nccl {

void* allocate(std::size_t bytes) {
  void* memory = nullptr;
#if BUSBAR_NCCL_API >= 21900
  if (ncclMemAlloc(&memory, bytes) == ncclSuccess) return memory;
#else
  if (cudaMalloc(&memory, bytes) == cudaSuccess) return memory;
#endif
  (void)cudaGetLastError();  // a failed allocation is ours to tell, not the next call's
  return nullptr;
}

void release(void* memory) {
#if BUSBAR_NCCL_API >= 21900
  (void)ncclMemFree(memory);
#else
  (void)cudaFree(memory);
#endif
}

#if BUSBAR_NCCL_API >= 22700
std::optional<const char*> no_registration(Registration /*registration*/) { return std::nullopt; }

ncclResult_t enlist(ncclComm_t comm, void* memory, std::size_t bytes, Registration registration,
                    void** handle) {
  if (registration == Registration::Local) return ncclCommRegister(comm, memory, bytes, handle);
  // Written when the call is settled, not when it returns.
  return ncclCommWindowRegister(comm, memory, bytes, reinterpret_cast<ncclWindow_t*>(handle),
                                NCCL_WIN_COLL_SYMMETRIC);
}

ncclResult_t delist(ncclComm_t comm, Registration registration, void* handle) {
  if (registration == Registration::Local) return ncclCommDeregister(comm, handle);
  return ncclCommWindowDeregister(comm, static_cast<ncclWindow_t>(handle));
}

bool set_cta_policy(ncclConfig_t& config, int policy) {
  config.CTAPolicy = policy;
  return true;
}
#else
std::optional<const char*> no_registration(Registration registration) {
  if (registration == Registration::Symmetric) return "symmetric windows come with NCCL 2.27";
#if BUSBAR_NCCL_API < 21900
  if (registration == Registration::Local) return "registration comes with NCCL 2.19";
#endif
  return std::nullopt;
}

ncclResult_t enlist(ncclComm_t comm, void* memory, std::size_t bytes, Registration /*local*/,
                    void** handle) {
#if BUSBAR_NCCL_API >= 21900
  return ncclCommRegister(comm, memory, bytes, handle);
#else
  static_cast<void>(comm);
  static_cast<void>(memory);
  static_cast<void>(bytes);
  static_cast<void>(handle);
  return ncclInvalidUsage;
#endif
}

ncclResult_t delist(ncclComm_t comm, Registration /*local*/, void* handle) {
#if BUSBAR_NCCL_API >= 21900
  return ncclCommDeregister(comm, handle);
#else
  static_cast<void>(comm);
  static_cast<void>(handle);
  return ncclInvalidUsage;
#endif
}

bool set_cta_policy(ncclConfig_t& /*config*/, int /*policy*/) { return false; }
#endif

std::optional<ncclDataType_t> small_float(DataType type) {
#if BUSBAR_NCCL_API >= 22400
  if (type == DataType::F8e4m3) return ncclFloat8e4m3;
  if (type == DataType::F8e5m2) return ncclFloat8e5m2;
#else
  static_cast<void>(type);
#endif
  return std::nullopt;
}

#if BUSBAR_NCCL_API >= 22800
Movement alltoall() {
  return [](const void* send, void* recv, std::size_t count, ncclDataType_t type, int /*root*/,
            ncclComm_t comm,
            cudaStream_t stream) { return ncclAlltoAll(send, recv, count, type, comm, stream); };
}
Movement gather() { return ncclGather; }
Movement scatter() { return ncclScatter; }
#else
Movement alltoall() { return nullptr; }
Movement gather() { return nullptr; }
Movement scatter() { return nullptr; }
#endif

Version version_of(int code) {
  constexpr int kMajor = 10000;
  constexpr int kMinor = 100;
  return {code / kMajor, code % kMajor / kMinor, code % kMinor};
}

int header_version() { return NCCL_VERSION_CODE; }

}  // namespace busbar::nccl
