// SPDX-License-Identifier: BSD-3-Clause
// What the process knows of communicators: their handles, and the last error.
#include <array>
#include <set>

#include "tests/fake_gpu/nccl/communicator.hpp"

struct ncclComm {
  fake_gpu::CommPointer comm;
};

namespace fake_gpu {
namespace {

struct Registry {
  std::mutex mutex;
  std::set<ncclComm_t> comms;
  std::string last_error;
};

Registry& registry() {
  static auto* const kRegistry = new Registry;
  return *kRegistry;
}

}  // namespace

ncclComm_t keep_comm(const CommPointer& comm) {
  const std::lock_guard guard(registry().mutex);
  auto* handle = new ncclComm{comm};
  registry().comms.insert(handle);
  return handle;
}

CommPointer find_comm(ncclComm_t handle) {
  const std::lock_guard guard(registry().mutex);
  return registry().comms.count(handle) == 0 ? nullptr : handle->comm;
}

void forget_comm(ncclComm_t handle) {
  const std::lock_guard guard(registry().mutex);
  if (registry().comms.erase(handle) == 1) delete handle;
}

void set_last_error(const std::string& text) {
  const std::lock_guard guard(registry().mutex);
  registry().last_error = text;
}

const char* last_error() {
  thread_local std::array<char, 512> text;
  const std::lock_guard guard(registry().mutex);
  const std::size_t length = registry().last_error.copy(text.data(), text.size() - 1);
  text.at(length) = '\0';
  return text.data();
}

ncclResult_t refuse(ncclResult_t result, const std::string& text) {
  set_last_error(text);
  return result;
}

}  // namespace fake_gpu
