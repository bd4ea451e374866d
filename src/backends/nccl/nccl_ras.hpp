// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <sys/types.h>

#include "base/units.hpp"

namespace busbar {

/// Where NCCL's RAS service (reliability, availability, serviceability) listens on each host of a
/// job unless NCCL_RAS_ADDR names another address.
inline constexpr std::string_view kNcclRasAddress = "localhost:28028";

/// Asks the service, which answers in JSON from NCCL 2.28.7 on, and describes what it reports of
/// the communicators that this process is in. Empty where it does not answer within `limit`, or is
/// another job's.
[[nodiscard]] std::string ask_nccl_ras(const std::string& address, Seconds limit);

/// "communicator 0x1f of 4 ranks: no answer from rank 3 on 10.0.0.3; AllReduce: rank 2 on 10.0.0.2
/// at 11, others at 12": the answer's communicators that have the process. Empty if none has, or
/// the answer is none.
[[nodiscard]] std::string describe_nccl_ras(std::string_view answer, pid_t process);

}  // namespace busbar
