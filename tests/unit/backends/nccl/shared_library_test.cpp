// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/shared_library.hpp"

#include <gtest/gtest.h>

namespace busbar {
namespace {

TEST(SharedLibrary, OpensTheFirstNameThatIsThere) {
  SharedLibrary library{"libnobody-has-this.so.7", "libm.so.6"};
  ASSERT_TRUE(library.is_open());
  EXPECT_NE(library.path().find("libm.so.6"), std::string::npos);
  const LibraryFunction<double(double)> root{library.require("sqrt")};
  EXPECT_EQ(root(9.0), 3.0);
  EXPECT_EQ(library.problem(), "");
}

TEST(SharedLibrary, SaysWhichOneIsMissing) {
  const SharedLibrary library{"libnobody-has-this.so.7", "libnor-this.so"};
  EXPECT_FALSE(library.is_open());
  EXPECT_EQ(library.find("sqrt"), nullptr);
  EXPECT_TRUE(library.problem().starts_with("libnobody-has-this.so.7: ")) << library.problem();
}

TEST(SharedLibrary, IsTooOldWhereAFunctionIsMissingThatItMustHave) {
  SharedLibrary library{"libm.so.6"};
  EXPECT_FALSE(LibraryFunction<int()>{library.find("of_a_later_version")});
  EXPECT_EQ(library.problem(), "");
  EXPECT_FALSE(LibraryFunction<int()>{library.require("of_a_later_version")});
  EXPECT_NE(library.problem().find("it lacks of_a_later_version"), std::string::npos);
}

}  // namespace
}  // namespace busbar
