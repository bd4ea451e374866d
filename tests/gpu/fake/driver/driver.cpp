// SPDX-License-Identifier: BSD-3-Clause

#include <cstring>
#include <dlfcn.h>
#include <unistd.h>
#include <utility>

#include <cuda.h>

#include "tests/gpu/fake/cudart/runtime.hpp"

// The driver: its errors, modules of kernels, waiting for a word of host memory, and what memory an
// address is in. It shares devices, streams and memory with the runtime beside it.
namespace fake_gpu {
namespace {

/// Their texts are those of the runtime's errors with the same numbers.
constexpr std::pair<CUresult, const char*> kNames[] = {
#define NAMED(error) \
  { error, #error }
    NAMED(CUDA_SUCCESS),
    NAMED(CUDA_ERROR_INVALID_VALUE),
    NAMED(CUDA_ERROR_OUT_OF_MEMORY),
    NAMED(CUDA_ERROR_DEVICE_UNAVAILABLE),
    NAMED(CUDA_ERROR_NO_DEVICE),
    NAMED(CUDA_ERROR_INVALID_IMAGE),
    NAMED(CUDA_ERROR_INVALID_CONTEXT),
    NAMED(CUDA_ERROR_INVALID_HANDLE),
    NAMED(CUDA_ERROR_NOT_FOUND),
    NAMED(CUDA_ERROR_ILLEGAL_ADDRESS),
    NAMED(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED),
    NAMED(CUDA_ERROR_UNKNOWN)};

CUresult find(CUresult error, bool name, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = nullptr;
  for (const auto& [known, its_name] : kNames) {
    if (known == error)
      *text = name ? its_name : cudaGetErrorString(static_cast<cudaError_t>(error));
  }
  return *text == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

struct Function {
  Kernel kernel = nullptr;
  int device = 0;
};

struct Module {
  int device = 0;
  std::map<std::string, std::unique_ptr<Function>> functions;
};

/// Guarded by the runtime's mutex.
std::map<CUmodule, std::unique_ptr<Module>>& modules() {
  static auto* const kModules = new std::map<CUmodule, std::unique_ptr<Module>>;
  return *kModules;
}

bool is_function(const Function* function) {
  for (const auto& [handle, module] : modules()) {
    for (const auto& [name, known] : module->functions) {
      if (known.get() == function) return true;
    }
  }
  return false;
}

/// The runtime's errors have the driver's numbers, but for two.
CUresult to_driver(cudaError_t error) {
  if (error == cudaErrorInvalidConfiguration) return CUDA_ERROR_INVALID_VALUE;
  if (error == cudaErrorInvalidDeviceFunction) return CUDA_ERROR_INVALID_HANDLE;
  return static_cast<CUresult>(error);
}

template <class Body>
CUresult call_driver(const char* function, const Body& body) {
  const CallScope scope(function);
  if (scope.early() != cudaSuccess) return to_driver(scope.finish_driver(scope.early()));
  const CUresult result = this_thread().has_context ? body() : CUDA_ERROR_INVALID_CONTEXT;
  const cudaError_t left =
      scope.finish_driver(result == CUDA_SUCCESS ? cudaSuccess : cudaErrorUnknown);
  return result == CUDA_SUCCESS ? to_driver(left) : result;
}

/// Defines a function of the driver by what it does where no fault strikes.
#define DRIVER_CALL(name, parameters, ...) \
  CUresult name parameters { return call_driver(#name, [&]() -> CUresult __VA_ARGS__); }

/// A fatbin of nvcc, or a cubin (ELF) as it is.
bool is_image(const void* image) {
  struct FatbinHeader {
    std::uint32_t magic;
    std::uint16_t version;
    std::uint16_t header_bytes;
    std::uint64_t bytes;
  };
  constexpr std::uint32_t kFatbin = 0xBA55ED50;
  FatbinHeader header{};
  std::memcpy(&header, image, sizeof header.magic);
  if (std::memcmp(&header, "\177ELF", 4) == 0) return true;
  if (header.magic != kFatbin) return false;
  std::memcpy(&header, image, sizeof header);
  return header.version == 1 && header.header_bytes >= sizeof header && header.bytes > 0;
}

bool is_reached(std::uint32_t found, std::uint32_t wanted, unsigned how) {
  switch (how) {
    case CU_STREAM_WAIT_VALUE_EQ: return found == wanted;
    case CU_STREAM_WAIT_VALUE_AND: return (found & wanted) != 0;
    default: return static_cast<std::int32_t>(found - wanted) >= 0;
  }
}

/// Waits as the device does: nothing else on the stream runs until the host writes the word.
bool wait_for_word(std::uint32_t* word, std::uint32_t wanted, unsigned how) {
  const std::atomic_ref<std::uint32_t> shared(*word);
  for (int looks = 0; !is_reached(shared.load(), wanted, how); ++looks) {
    if (device_error() != cudaSuccess) return true;
    if (looks > 100) ::usleep(20);
  }
  return true;
}

using Interpreter = Job* (*)(const char* name, const unsigned char* arguments, std::size_t bytes);

/// What carries out NCCL's kernels, the library FAKE_NCCL_KERNELS; without it they move nothing.
Interpreter interpreter() {
  static const auto kFound = []() -> Interpreter {
    const char* path = ::getenv("FAKE_NCCL_KERNELS");
    if (path == nullptr) return nullptr;
    void* library = ::dlopen(path, RTLD_NOW);
    if (library == nullptr) die(::dlerror());
    return reinterpret_cast<Interpreter>(::dlsym(library, "fake_nccl_kernel"));
  }();
  return kFound;
}

/// A kernel of NCCL's, whose arguments are one block.
CUresult launch_block(CUfunction function, CUstream stream, void** extra) {
  const StreamPointer queue = find_stream_with_room(stream);
  if (queue == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const unsigned char* block = nullptr;
  std::size_t bytes = 0;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER) block = static_cast<unsigned char*>(extra[1]);
    if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE) bytes = *static_cast<std::size_t*>(extra[1]);
  }
  if (block == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (interpreter() == nullptr) return to_driver(submit(queue, {[] { return true; }}));
  const std::unique_ptr<Job> job(interpreter()(stub_name(function).c_str(), block, bytes));
  return to_driver(submit(queue, *job));
}

CUresult wait_value(const StreamPointer& stream, CUdeviceptr address, cuuint32_t value,
                    unsigned flags) {
  const unsigned how = flags & ~unsigned{CU_STREAM_WAIT_VALUE_FLUSH};
  auto* word = reinterpret_cast<std::uint32_t*>(address);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (how > CU_STREAM_WAIT_VALUE_AND || address % sizeof value != 0 ||
      !memory().is_pinned(word, sizeof value)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (forbid_on_capturing(stream) != cudaSuccess) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  return to_driver(submit(stream, {[=] { return wait_for_word(word, value, how); }}));
}

}  // namespace
}  // namespace fake_gpu

using namespace fake_gpu;  // NOLINT(google-build-using-namespace): the C names follow

extern "C" {

CUresult cuGetErrorName(CUresult error, const char** name) { return find(error, true, name); }
CUresult cuGetErrorString(CUresult error, const char** text) { return find(error, false, text); }

CUresult cuInit(unsigned flags) {
  const CallScope scope("cuInit");
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  const cudaError_t none = machine().gpus.empty() ? cudaErrorNoDevice : cudaSuccess;
  return to_driver(scope.finish_driver(scope.early() != cudaSuccess ? scope.early() : none));
}

CUresult cuDriverGetVersion(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}

DRIVER_CALL(cuModuleLoadData, (CUmodule * module, const void* image), {
  if (module == nullptr || image == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!is_image(image)) return CUDA_ERROR_INVALID_IMAGE;
  auto made = std::make_unique<Module>();
  made->device = this_thread().device;
  *module = reinterpret_cast<CUmodule>(made.get());
  const auto guard = lock_runtime();
  modules()[*module] = std::move(made);
  return CUDA_SUCCESS;
})
DRIVER_CALL(cuModuleUnload, (CUmodule module), {
  const auto guard = lock_runtime();
  return modules().erase(module) == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
})
DRIVER_CALL(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char* name), {
  const auto guard = lock_runtime();
  const auto found = modules().find(module);
  if (function == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (found == modules().end()) return CUDA_ERROR_INVALID_HANDLE;
  const Kernel kernel = find_kernel(name);
  if (kernel == nullptr) return CUDA_ERROR_NOT_FOUND;
  std::unique_ptr<Function>& known = found->second->functions[name];
  if (known == nullptr) known = std::make_unique<Function>(Function{kernel, found->second->device});
  *function = reinterpret_cast<CUfunction>(known.get());
  return CUDA_SUCCESS;
})
DRIVER_CALL(cuLaunchKernel,
            (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
             unsigned block_x, unsigned block_y, unsigned block_z, unsigned, CUstream stream,
             void** arguments, void** extra),
            {
              if (extra != nullptr) return launch_block(function, stream, extra);
              const auto* launched = reinterpret_cast<const Function*>(function);
              {
                const auto guard = lock_runtime();
                if (!is_function(launched) || launched->device != this_thread().device)
                  return CUDA_ERROR_INVALID_HANDLE;
              }
              if (arguments == nullptr) return CUDA_ERROR_INVALID_VALUE;
              return to_driver(launch_kernel(launched->kernel, dim3(grid_x, grid_y, grid_z),
                                             dim3(block_x, block_y, block_z), arguments, stream));
            })
DRIVER_CALL(cuStreamWaitValue32,
            (CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags),
            { return wait_value(find_stream_with_room(stream), address, value, flags); })
DRIVER_CALL(cuMemGetAddressRange, (CUdeviceptr * start, std::size_t* bytes, CUdeviceptr address), {
  const auto found = memory().allocation(reinterpret_cast<const void*>(address));
  if (!found) return CUDA_ERROR_NOT_FOUND;
  if (start != nullptr) *start = found->start;
  if (bytes != nullptr) *bytes = found->bytes;
  return CUDA_SUCCESS;
})

DRIVER_CALL(cuLaunchKernelEx,
            (const CUlaunchConfig* config, CUfunction function, void**, void** extra),
            { return launch_block(function, config->hStream, extra); })

}  // extern "C"
