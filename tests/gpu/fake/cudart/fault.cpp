// SPDX-License-Identifier: BSD-3-Clause
#include "tests/gpu/fake/cudart/fault.hpp"

#include <algorithm>
#include <dlfcn.h>
#include <iterator>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <stdlib.h>
#include <utility>

#include <cuda_runtime_api.h>

#include "tests/gpu/fake/cudart/machine.hpp"

namespace fake_gpu {
namespace {

constexpr std::pair<std::string_view, FaultKind> kKinds[] = {
    {"fail", FaultKind::Fail},   {"async", FaultKind::Async}, {"hang", FaultKind::Hang},
    {"wrong", FaultKind::Wrong}, {"oom", FaultKind::Oom},     {"lost", FaultKind::Lost},
    {"gone", FaultKind::Gone},   {"slow", FaultKind::Slow}};

/// The program may have opened the libraries for itself only: RTLD_DEFAULT does not see them.
void* find_function(const std::string& function) {
  const std::string cudart = "libcudart.so." + std::to_string(CUDART_VERSION / 1000);
  const char* file = function.rfind("nccl", 0) == 0   ? "libnccl.so.2"
                     : function.rfind("cuda", 0) == 0 ? cudart.c_str()
                                                      : "libcuda.so.1";
  void* library = ::dlopen(file, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  void* found = ::dlsym(library, function.c_str());
  // Some functions have a version in their names.
  return found != nullptr ? found : ::dlsym(library, (function + "_v2").c_str());
}

/// A fault in a function that does not exist, or only reports errors, would never strike, and its
/// test never fail.
bool is_counted(const std::string& function) {
  constexpr std::string_view kTexts[] = {
      "cudaGetErrorName",   "cudaGetErrorString", "cudaGetLastError", "cudaPeekAtLastError",
      "ncclGetErrorString", "ncclGetLastError",   "cuGetErrorString", "cuGetErrorName"};
  if (function.rfind("cu", 0) != 0 && function.rfind("nccl", 0) != 0) return false;
  if (std::find(std::begin(kTexts), std::end(kTexts), function) != std::end(kTexts)) return false;
  return find_function(function) != nullptr;
}

Fault parse_fault(const std::string& text) {
  static const std::regex kFault(R"((\w+)(?:=([1-9]\d*))?:(\w+):([1-9]\d*)@(\d+|\*))");
  std::smatch part;
  if (!std::regex_match(text, part, kFault))
    throw std::invalid_argument("a fault is KIND:FUNCTION:NTH@RANK, or slow=SECONDS:...");
  const auto* known = std::find_if(std::begin(kKinds), std::end(kKinds),
                                   [&](const auto& kind) { return kind.first == part.str(1); });
  if (known == std::end(kKinds))
    throw std::invalid_argument("kinds are fail, async, hang, wrong, oom, lost, gone, slow");
  Fault fault{.kind = known->second, .function = part.str(3), .nth = std::stoi(part.str(4))};
  if (part[2].matched) fault.seconds = std::stoi(part.str(2));
  if (part.str(5) != "*") fault.rank = std::stoi(part.str(5));
  if (part[2].matched && fault.kind != FaultKind::Slow)
    throw std::invalid_argument("seconds are for slow");
  if (!is_counted(fault.function)) throw std::invalid_argument("no function " + fault.function);
  if (fault.kind == FaultKind::Async && fault.function.rfind("nccl", 0) != 0)
    throw std::invalid_argument("async is for functions of NCCL");
  if (fault.kind == FaultKind::Oom && fault.function.find("lloc") == std::string::npos) {
    throw std::invalid_argument("oom is for cudaMalloc, cudaHostAlloc, ncclMemAlloc");
  }
  return fault;
}

/// FAKE_GPU_FAULT's faults of this rank.
std::vector<Fault> load() {
  const char* text = ::getenv("FAKE_GPU_FAULT");
  if (text == nullptr) return {};
  const char* rank_text = ::getenv("PMI_RANK");
  if (rank_text == nullptr) rank_text = ::getenv("OMPI_COMM_WORLD_RANK");
  const int rank = rank_text == nullptr ? 0 : std::atoi(rank_text);
  std::vector<Fault> mine;
  try {
    if (std::string(text).ends_with(',')) throw std::invalid_argument("a comma at the end");
    std::istringstream faults{std::string(text)};
    for (std::string one; std::getline(faults, one, ',');) {
      const Fault fault = parse_fault(one);
      if (fault.rank == -1 || fault.rank == rank) mine.push_back(fault);
    }
  } catch (const std::logic_error& error) {
    die(std::string("FAKE_GPU_FAULT=") + text + ": " + error.what());
  }
  return mine;
}

}  // namespace

FaultKind FaultPlan::count_call(const char* function) {
  if (faults_.empty()) return FaultKind::None;
  const std::lock_guard guard(mutex_);
  const int nth = ++calls_[function];
  for (const Fault& fault : faults_) {
    if (fault.nth == nth && fault.function == function) return fault.kind;
  }
  return FaultKind::None;
}

double FaultPlan::seconds(std::string_view function) const {
  for (const Fault& fault : faults_) {
    if (fault.kind == FaultKind::Slow && fault.function == function) return fault.seconds;
  }
  return 0;
}

FaultPlan& fault_plan() {
  static auto* const kPlan = new FaultPlan(load());
  return *kPlan;
}

}  // namespace fake_gpu
