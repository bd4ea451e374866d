// SPDX-License-Identifier: BSD-3-Clause
#include "harness/library_environment.hpp"

#include <algorithm>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace busbar {
namespace {

using testing::Contains;
using testing::Not;
using testing::StartsWith;

/// Sets a variable for the time of a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

TEST(LibraryEnvironment, ListsWhatChangesLibrariesInOrder) {
  const Variable transport("UCX_TLS", "tcp,self");
  const Variable algorithm("NCCL_ALGO", "Ring");
  const Variable other("BUSBAR_NOT_A_LIBRARY", "1");
  const auto found = library_environment();
  EXPECT_THAT(found, Contains("NCCL_ALGO=Ring"));
  EXPECT_THAT(found, Contains("UCX_TLS=tcp,self"));
  EXPECT_THAT(found, Not(Contains(StartsWith("BUSBAR_"))));
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
}

TEST(LibraryEnvironment, LeavesOutWhatOpenMpisLauncherSetsForItself) {
  const Variable chosen("OMPI_MCA_btl", "self,tcp");
  const Variable session("OMPI_MCA_orte_hnp_uri", "1677131776.0;tcp://192.0.2.2:37501");
  const Variable folder("OMPI_MCA_initial_wdir", "/home/x");
  const Variable job("OMPI_MCA_ess_base_jobid", "1677131777");
  const auto found = library_environment();
  EXPECT_THAT(found, Contains("OMPI_MCA_btl=self,tcp"));
  EXPECT_THAT(found, Not(Contains(StartsWith("OMPI_MCA_orte"))));
  EXPECT_THAT(found, Not(Contains(StartsWith("OMPI_MCA_initial"))));
  EXPECT_THAT(found, Not(Contains(StartsWith("OMPI_MCA_ess"))));
}

}  // namespace
}  // namespace busbar
