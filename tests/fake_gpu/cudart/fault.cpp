// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fake_gpu/cudart/fault.hpp"

#include <algorithm>
#include <charconv>
#include <dlfcn.h>
#include <iterator>
#include <stdexcept>
#include <stdlib.h>
#include <utility>

#include <cuda_runtime_api.h>

#include "tests/fake_gpu/cudart/machine.hpp"

namespace fake_gpu {
namespace {

constexpr std::pair<std::string_view, FaultKind> kKinds[] = {
    {"fail", FaultKind::Fail},   {"async", FaultKind::Async}, {"hang", FaultKind::Hang},
    {"wrong", FaultKind::Wrong}, {"oom", FaultKind::Oom},     {"lost", FaultKind::Lost},
    {"gone", FaultKind::Gone},   {"slow", FaultKind::Slow}};

FaultKind parse_kind(std::string_view word) {
  for (const auto& [name, kind] : kKinds) {
    if (name == word) return kind;
  }
  throw std::invalid_argument("kinds are fail, async, hang, wrong, oom, lost, gone, slow");
}

int parse_number(std::string_view word, int least) {
  int number = 0;
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (status != std::errc{} || end != word.data() + word.size() || number < least) {
    throw std::invalid_argument("not a number: " + std::string(word));
  }
  return number;
}

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

Fault parse_fault(std::string_view text) {
  const std::size_t first = text.find(':');
  const std::size_t second = first == std::string_view::npos ? first : text.find(':', first + 1);
  const std::size_t at = text.rfind('@');
  if (second == std::string_view::npos || at == std::string_view::npos || at < second)
    throw std::invalid_argument("a fault is KIND:FUNCTION:NTH@RANK");
  Fault fault;
  const std::string_view kind = text.substr(0, first);
  const std::size_t equals = kind.find('=');
  fault.kind = parse_kind(kind.substr(0, equals));
  if (equals != std::string_view::npos) {
    if (fault.kind != FaultKind::Slow) throw std::invalid_argument("seconds are for slow");
    fault.seconds = parse_number(kind.substr(equals + 1), 1);
  }
  fault.function = std::string(text.substr(first + 1, second - first - 1));
  fault.nth = parse_number(text.substr(second + 1, at - second - 1), 1);
  const std::string_view rank = text.substr(at + 1);
  fault.rank = rank == "*" ? -1 : parse_number(rank, 0);
  if (!is_counted(fault.function)) throw std::invalid_argument("no function " + fault.function);
  if (fault.kind == FaultKind::Async && fault.function.rfind("nccl", 0) != 0)
    throw std::invalid_argument("async is for functions of NCCL");
  if (fault.kind == FaultKind::Oom && fault.function.find("lloc") == std::string::npos) {
    throw std::invalid_argument(
        "oom is for cudaMalloc, cudaMallocHost, cudaHostAlloc, ncclMemAlloc");
  }
  return fault;
}

std::vector<Fault> load() {
  const char* text = ::getenv("FAKE_GPU_FAULT");
  if (text == nullptr) return {};
  const char* rank_text = ::getenv("PMI_RANK");
  if (rank_text == nullptr) rank_text = ::getenv("OMPI_COMM_WORLD_RANK");
  const int rank = rank_text == nullptr ? 0 : std::atoi(rank_text);
  std::vector<Fault> mine;
  try {
    for (Fault& fault : parse_faults(text)) {
      if (fault.rank == -1 || fault.rank == rank) mine.push_back(std::move(fault));
    }
  } catch (const std::invalid_argument& error) {
    die(std::string("FAKE_GPU_FAULT=") + text + ": " + error.what());
  }
  return mine;
}

}  // namespace

std::vector<Fault> parse_faults(std::string_view text) {
  std::vector<Fault> faults;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    faults.push_back(parse_fault(text.substr(0, comma)));
    if (comma == text.size() - 1) throw std::invalid_argument("a comma at the end");
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
  }
  return faults;
}

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
