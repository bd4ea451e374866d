// SPDX-License-Identifier: BSD-3-Clause
#include "model/reduce_op.hpp"

#include <gtest/gtest.h>

namespace busbar {
namespace {

TEST(ReduceOp, HasNcclTestsNames) {
  EXPECT_EQ(name(ReduceOp::Sum), "sum");
  EXPECT_EQ(name(ReduceOp::Prod), "prod");
  EXPECT_EQ(name(ReduceOp::Max), "max");
  EXPECT_EQ(name(ReduceOp::Min), "min");
  EXPECT_EQ(name(ReduceOp::Avg), "avg");
  EXPECT_EQ(name(ReduceOp::None), "none");
}

}  // namespace
}  // namespace busbar
