// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/mpi/mpi_calls.hpp"

#include "tests/unit/support/failure.hpp"
#include "tests/unit/support/mpi_singleton.hpp"

namespace busbar {
namespace {

TEST(CheckMpi, ThrowsMpisMessageOnOneLineWithTheSourceLineUnlessItIsSuccess) {
  (void)test::mpi_singleton();
  EXPECT_EQ(test::failure_of([] { check_mpi(MPI_SUCCESS); }).status, Status::Ok);
  const test::Failure failure = test::failure_of([] { check_mpi(MPI_ERR_COUNT); });
  EXPECT_EQ(failure.status, Status::Runtime);
  EXPECT_TRUE(failure.message.starts_with("MPI: ")) << failure.message;
  EXPECT_TRUE(failure.says("mpi_calls_test.cpp:")) << failure.message;
  EXPECT_TRUE(failure.is_one_line());
}

TEST(MpiComm, ReturnsErrorsInsteadOfEndingTheJob) {
  (void)test::mpi_singleton();
  const MpiComm comm(MPI_COMM_WORLD);
  int value = 0;
  const int code = MPI_Bcast(&value, 1, MPI_INT, 99, comm.get());
  EXPECT_NE(code, MPI_SUCCESS);
}

TEST(Complete, WaitsForOneOrAllRequestsWithEveryKindOfProgress) {
  (void)test::mpi_singleton();
  const MpiComm comm(MPI_COMM_WORLD);
  for (const Progress progress : {Progress::Block, Progress::Yield}) {
    std::array<MPI_Request, 3> requests;
    requests.fill(MPI_REQUEST_NULL);
    check_mpi(MPI_Ibarrier(comm.get(), requests.data()));
    check_mpi(MPI_Ibarrier(comm.get(), &requests[2]));
    complete(requests, progress);
    for (const MPI_Request request : requests) EXPECT_EQ(request, MPI_REQUEST_NULL);
    check_mpi(MPI_Ibarrier(comm.get(), &requests[0]));
    complete(requests[0], progress);
    EXPECT_EQ(requests[0], MPI_REQUEST_NULL);
  }
}

}  // namespace
}  // namespace busbar
