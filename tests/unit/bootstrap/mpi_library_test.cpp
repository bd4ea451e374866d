// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/mpi_library.hpp"

#include <gtest/gtest.h>

namespace busbar {
namespace {

TEST(ReadMpiLibrary, KnowsMpich) {
  const MpiLibrary library = read_mpi_library(
      "MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr  7 12:34:45 CDT 2022\n");
  EXPECT_EQ(library.name, "MPICH 4.0.2");
  EXPECT_EQ(library.family, MpiFamily::Mpich);
}

TEST(ReadMpiLibrary, KnowsOpenMpi) {
  const MpiLibrary debian = read_mpi_library(
      "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022");
  EXPECT_EQ(debian.name, "Open MPI 4.1.4");
  EXPECT_EQ(debian.family, MpiFamily::OpenMpi);
  EXPECT_EQ(read_mpi_library("Open MPI v5.0.3rc1, package: x").name, "Open MPI 5.0.3rc1");
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
  const std::string note = memory_note(read_mpi_library("Intel(R) MPI Library 2021.10"));
  EXPECT_NE(note.find("Intel(R) MPI Library 2021.10"), std::string::npos) << note;
  EXPECT_NE(note.find("larger"), std::string::npos) << note;
}

TEST(MpiLibrary, IsANameAndAVersionWithoutControlCharacters) {
  const std::string& name = mpi_library().name;
  for (const char character : name) EXPECT_GE(character, ' ') << name;
  EXPECT_NE(name.find_first_of("0123456789"), std::string::npos) << name;
}

}  // namespace
}  // namespace busbar
