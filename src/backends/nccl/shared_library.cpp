// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/shared_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <fmt/format.h>

#include "base/text.hpp"

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

}  // namespace busbar
