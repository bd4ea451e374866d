// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/libraries.hpp"

#include <dlfcn.h>
#include <link.h>

#include "base/text.hpp"
#include "model/nccl_choice.hpp"

namespace busbar {

SharedLibrary::SharedLibrary(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) return;
    if (error_.empty()) error_ = dlerror();
  }
}

void* SharedLibrary::find(const char* function) const {
  return handle_ == nullptr ? nullptr : dlsym(handle_, function);
}

void* SharedLibrary::require(const char* function) {
  void* address = find(function);
  if (address == nullptr) missing_.emplace_back(function);
  return address;
}

std::string SharedLibrary::path() const {
  const link_map* map = nullptr;
  const bool known = handle_ != nullptr && dlinfo(handle_, RTLD_DI_LINKMAP, &map) == 0;
  return known ? map->l_name : "";
}

std::string SharedLibrary::problem() const {
  if (handle_ == nullptr) return error_;
  if (missing_.empty()) return {};
  return fmt::format("{} is too old: it lacks {}", path(), join(missing_, ", "));
}

const CudaApi& cuda() {
  static const auto* const kApi = new CudaApi;  // destructors at exit may still call CUDA
  return *kApi;
}

std::string cuda_problem() {
  const std::string problem = cuda().runtime.problem();
  return problem.empty() ? cuda().driver.problem() : problem;
}

void check_cuda(cudaError_t code, Where where) {
  if (code == cudaSuccess) return;
  throw runtime_failure(
      fmt::format("CUDA: {} ({})", cuda().error_text(code), cuda().error_name(code)), where);
}

void check_driver(CUresult code, Where where) {
  if (code == CUDA_SUCCESS) return;
  const char* text = nullptr;
  (void)cuda().driver_error_text(code, &text);
  throw runtime_failure(fmt::format("CUDA: {}", text == nullptr ? "unknown error" : text), where);
}

CudaOwned<cudaStream_t> make_cuda_stream() {
  cudaStream_t stream = nullptr;
  check_cuda(cuda().create_stream(&stream, cudaStreamNonBlocking));
  return CudaOwned<cudaStream_t>(stream);
}

CudaOwned<cudaEvent_t> make_cuda_event() {
  cudaEvent_t event = nullptr;
  check_cuda(cuda().create_event(&event));
  return CudaOwned<cudaEvent_t>(event);
}

CudaOwned<std::byte*> allocate_cuda_memory(std::size_t bytes) {
  void* memory = nullptr;
  check_cuda(cuda().allocate(&memory, bytes));
  return CudaOwned<std::byte*>(static_cast<std::byte*>(memory));
}

const NcclApi& nccl() {
  static const auto* const kApi = new NcclApi;  // destructors at exit may still call NCCL
  return *kApi;
}

int nccl_version() {
  int code = 0;
  if (nccl().get_version) (void)nccl().get_version(&code);
  return code;
}

std::string newer_nccl_text(std::string_view what, int needed) {
  return fmt::format("{} comes with NCCL {}, this library is {}", what, nccl_version_text(needed),
                     nccl_version_text(nccl_version()));
}

std::string nccl_problem() {
  const int version = nccl_version();
  if (version > 0 && version < kNcclFirst) {
    return fmt::format("libnccl.so.2 is version {}; {} or later is needed",
                       nccl_version_text(version), nccl_version_text(kNcclFirst));
  }
  return nccl().library.problem();
}

}  // namespace busbar
