// SPDX-License-Identifier: BSD-3-Clause

#include <strings.h>

#include "tests/gpu/fake/cudart/machine.hpp"

// What NCCL asks NVML for. Links are those of the topology file that NCCL is given, so none are
// reported here.
namespace {

using Device = struct NvmlDevice*;
enum Return { kSuccess = 0, kInvalidArgument = 2, kNotSupported = 3, kNotFound = 6 };

Device handle(std::size_t index) { return reinterpret_cast<Device>(index + 1); }
std::size_t index_of(Device device) { return reinterpret_cast<std::size_t>(device) - 1; }
/// NVML knows all GPUs, whatever CUDA_VISIBLE_DEVICES leaves.
const std::vector<fake_gpu::Gpu>& gpus() { return fake_gpu::machine().installed; }

}  // namespace

extern "C" {

int nvmlInit_v2() { return kSuccess; }
int nvmlInit() { return kSuccess; }
int nvmlShutdown() { return kSuccess; }
const char* nvmlErrorString(int) { return "an error of the fake NVML"; }
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(gpus().size());
  return kSuccess;
}
int nvmlDeviceGetCount(unsigned* count) { return nvmlDeviceGetCount_v2(count); }
int nvmlDeviceGetHandleByIndex(unsigned index, Device* device) {
  if (index >= gpus().size()) return kInvalidArgument;
  *device = handle(index);
  return kSuccess;
}
int nvmlDeviceGetHandleByPciBusId(const char* pci, Device* device) {
  for (std::size_t i = 0; i < gpus().size(); ++i) {
    if (::strcasecmp(gpus()[i].pci.c_str(), pci) != 0) continue;
    *device = handle(i);
    return kSuccess;
  }
  return kNotFound;
}
int nvmlDeviceGetIndex(Device device, unsigned* index) {
  *index = static_cast<unsigned>(index_of(device));
  return kSuccess;
}
int nvmlDeviceGetCudaComputeCapability(Device device, int* major, int* minor) {
  *major = gpus()[index_of(device)].major;
  *minor = gpus()[index_of(device)].minor;
  return kSuccess;
}
int nvmlDeviceGetP2PStatus(Device, Device, int, int* status) {
  *status = fake_gpu::machine().symmetric ? 0 : 5;
  return kSuccess;
}
int nvmlDeviceGetNvLinkState(Device, unsigned, int*) { return kNotSupported; }
int nvmlDeviceGetNvLinkRemotePciInfo(Device, unsigned, void*) { return kNotSupported; }
int nvmlDeviceGetNvLinkCapability(Device, unsigned, int, unsigned*) { return kNotSupported; }
int nvmlDeviceGetFieldValues(Device, int, void*) { return kNotSupported; }
int nvmlDeviceGetGpuFabricInfoV(Device, void*) { return kNotSupported; }
int nvmlDeviceGetPlatformInfo(Device, void*) { return kNotSupported; }
int nvmlSystemGetConfComputeState(void*) { return kNotSupported; }
int nvmlSystemGetConfComputeSettings(void*) { return kNotSupported; }

}  // extern "C"
