// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"

#include <system_error>

#include <fmt/format.h>

namespace busbar {

Error usage_error(const std::string& message) { return Error{Status::Usage, message}; }

Error runtime_failure(const std::string& message, Where where) {
  return Error{Status::Runtime, fmt::format("{} ({}:{})", message, where.file, where.line)};
}

Error system_failure(const std::string& what, int error_number) {
  return Error{Status::Runtime,
               fmt::format("{}: {}", what, std::generic_category().message(error_number))};
}

}  // namespace busbar
