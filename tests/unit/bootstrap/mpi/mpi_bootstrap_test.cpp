// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/mpi/mpi_bootstrap.hpp"

#include <dlfcn.h>

#include "tests/unit/support/fake_bootstrap.hpp"
#include "tests/unit/support/mpi_singleton.hpp"

// With one rank; tests/programs has more.
namespace busbar {
namespace {

TEST(ReadMpiLibrary, KnowsMpichAndOpenMpi) {
  for (const auto& [text, name, family] :
       {std::tuple{"MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr  7 12:34:45 CDT 2022\n",
                   "MPICH 4.0.2", MpiFamily::Mpich},
        {"Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022",
         "Open MPI 4.1.4", MpiFamily::OpenMpi},
        {"Open MPI v5.0.3rc1, package: x", "Open MPI 5.0.3rc1", MpiFamily::OpenMpi}}) {
    EXPECT_EQ(read_mpi_library(text).name, name);
    EXPECT_EQ(read_mpi_library(text).family, family);
  }
}

TEST(ReadMpiLibrary, CallsEveryOtherByItsFirstLine) {
  for (const char* text :
       {"Intel(R) MPI Library 2021.10 for Linux* OS", "MPI VERSION    : CRAY MPICH version 8.1.28",
        "MVAPICH2 Version      :\t2.3.7\nMVAPICH2 Release date:\tWed", "", "Open MPI"}) {
    const MpiLibrary library = read_mpi_library(text);
    EXPECT_EQ(library.family, MpiFamily::Other) << text;
    EXPECT_EQ(library.name.find_first_of("\n\t"), std::string::npos) << text;
  }
  EXPECT_EQ(read_mpi_library("MVAPICH2 Version :\t2.3.7\nmore").name, "MVAPICH2 Version : 2.3.7");
}

TEST(MemoryNote, NamesALibraryThatWasNotMeasured) {
  EXPECT_EQ(memory_note(read_mpi_library("MPICH Version:\t4.0.2\n")), "");
  EXPECT_EQ(memory_note(read_mpi_library("Open MPI v4.1.4, package")), "");
  EXPECT_THAT(memory_note(read_mpi_library("Intel(R) MPI Library 2021.10")),
              AllOf(HasSubstr("Intel(R) MPI Library 2021.10"), HasSubstr("larger")));
}

TEST(MpiLibrary, IsANameAndAVersionWithoutControlCharacters) {
  const std::string& name = mpi_library().name;
  for (const char character : name) EXPECT_GE(character, ' ') << name;
  EXPECT_NE(name.find_first_of("0123456789"), std::string::npos) << name;
}

}  // namespace

namespace test {
namespace {

std::unique_ptr<Bootstrap>& session() {
  static std::unique_ptr<Bootstrap> bootstrap;
  return bootstrap;
}

/// Ends MPI while everything that it needs is still there.
class MpiEnvironment final : public testing::Environment {
 public:
  void TearDown() override { session().reset(); }
};

[[maybe_unused]] const auto* const kEnvironment =
    testing::AddGlobalTestEnvironment(new MpiEnvironment);

}  // namespace

Bootstrap& mpi_singleton() {
  if (!session()) session() = start_mpi();
  return *session();
}

}  // namespace test

namespace {

TEST(MpiBootstrap, LetsUcxReportADeadRankInOneLine) {
  using Get = int (*)(const char* name, char* value, std::size_t size);
  const auto get = reinterpret_cast<Get>(dlsym(RTLD_DEFAULT, "ucs_global_opts_get_value"));
  if (get == nullptr) GTEST_SKIP() << "this MPI does not use UCX";
  if (std::getenv("UCX_HANDLE_ERRORS") != nullptr) GTEST_SKIP() << "the user has chosen";
  EXPECT_EQ(test::mpi_singleton().rank(), 0);
  std::array<char, 64> value{};
  ASSERT_EQ(get("HANDLE_ERRORS", value.data(), value.size()), 0);
  EXPECT_STREQ(value.data(), "none");
}

int ranks_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

TEST(MpiBootstrap, GoesOnAfterItsPartsAreGoneWithEveryKindOfProgress) {
  Bootstrap& mpi = test::mpi_singleton();
  for (int color = 0; color < 100; ++color) mpi.split(color)->barrier();
  for (const Progress progress : {Progress::Block, Progress::Yield}) {
    mpi.set_progress(progress);
    mpi.barrier();
  }
}

TEST(MpiCommOf, IsTheWorldOnlyOfABootstrapThatIsNotOfMpi) {
  EXPECT_NE(mpi_comm_of(test::mpi_singleton()), MPI_COMM_WORLD);
  EXPECT_EQ(ranks_of(mpi_comm_of(test::mpi_singleton())), 1);
  EXPECT_EQ(mpi_comm_of(test::FakeBootstrap{}), MPI_COMM_WORLD);
}

TEST(CheckMpi, ThrowsMpisMessageOnOneLineWithTheSourceLineUnlessItIsSuccess) {
  (void)test::mpi_singleton();
  EXPECT_EQ(test::failure_of([] { check_mpi(MPI_SUCCESS); }).status, Status::Ok);
  const auto fail = [] { check_mpi(MPI_ERR_COUNT); };
  test::expect_failure(Status::Runtime, "mpi_bootstrap_test.cpp:", fail);
  EXPECT_THAT(test::failure_of(fail).message, StartsWith("MPI: "));
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
