// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/mpi/mpi_calls.hpp"

#include <array>
#include <sched.h>

#include "base/text.hpp"

namespace busbar {

void check_mpi(int code, Where where) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw runtime_failure(
      "MPI: " + one_line(std::string(text.data(), static_cast<std::size_t>(length))), where);
}

void complete(std::span<MPI_Request> requests, Progress progress, Where where) {
  const auto count = static_cast<int>(requests.size());
  if (progress == Progress::Block) {
    return check_mpi(MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE), where);
  }
  for (;;) {
    int done = 0;
    check_mpi(MPI_Testall(count, requests.data(), &done, MPI_STATUSES_IGNORE), where);
    if (done != 0) return;
    sched_yield();
  }
}

void complete(MPI_Request& request, Progress progress, Where where) {
  complete(std::span{&request, 1}, progress, where);
}

MPI_Comm mpi_comm_of(const Bootstrap& bootstrap) {
  const auto* mpi = dynamic_cast<const HasMpiComm*>(&bootstrap);
  return mpi == nullptr ? MPI_COMM_WORLD : mpi->comm();
}

MpiComm::MpiComm(MPI_Comm parent) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Comm_idup(parent, &comm_, &request));
  complete(request, Progress::Yield);
  check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
}

MpiComm::MpiComm(MPI_Comm parent, std::span<const int> ranks) {
  constexpr int kTag = 0;  // groups that are made at the same time have no rank in common
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group some = MPI_GROUP_NULL;
  check_mpi(MPI_Comm_group(parent, &all));
  check_mpi(MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some));
  check_mpi(MPI_Comm_create_group(parent, some, kTag, &comm_));
  check_mpi(MPI_Group_free(&some));
  check_mpi(MPI_Group_free(&all));
  check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
}

MpiComm::~MpiComm() {
  if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

}  // namespace busbar
