// SPDX-License-Identifier: BSD-3-Clause
#include "harness/prime.hpp"

#include <array>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/fixed_text.hpp"

namespace busbar {
namespace {

/// Issues the operation; why the library refuses it, or empty.
std::string try_to_issue(Communicator& communicator, const Call& call) {
  try {
    communicator.enqueue(call);
    return {};
  } catch (const Error& error) {
    if (error.status() != Status::Unavailable) throw;
    return error.what();
  }
}

}  // namespace

std::string first_text(Bootstrap& everyone, const std::string& mine) {
  std::array<char, 400> text{};
  copy_text(mine, text);
  for (const auto& other : everyone.gather(text)) {
    if (other.front() != '\0') return other.data();
  }
  return {};
}

std::string prime(const Crew& crew, Communicator& communicator, const Call& call) {
  crew.everyone.barrier();
  const std::string mine = try_to_issue(communicator, call);
  const bool issued = mine.empty();
  const bool all_issued = crew.sharers.agree(issued);
  const bool none_issued = crew.sharers.agree(!issued);
  std::string refusal = first_text(crew.everyone, mine);
  if (!crew.everyone.agree(all_issued || none_issued)) {
    throw runtime_failure(
        fmt::format("the library refuses on some ranks what it began on others: {}", refusal));
  }
  if (issued) communicator.wait();
  return refusal;
}

}  // namespace busbar
