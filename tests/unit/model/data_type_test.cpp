// SPDX-License-Identifier: BSD-3-Clause
#include "model/data_type.hpp"

#include <string>

#include <gtest/gtest.h>

namespace busbar {
namespace {

TEST(DataType, IsFoundByItsOwnPlaceInTheTable) {
  for (const TypeInfo& type : kTypes) EXPECT_EQ(&info(type.type), &type);
}

TEST(DataType, IsListedInNcclTestsOrderWithItsSize) {
  std::string list;
  for (const TypeInfo& type : kTypes)
    list += std::string(type.name) + ":" + std::to_string(type.size) + " ";
  EXPECT_EQ(list,
            "int8:1 uint8:1 int32:4 uint32:4 int64:8 uint64:8 half:2 float:4 double:8 bfloat16:2 "
            "f8e4m3:1 f8e5m2:1 ");
}

TEST(DataType, CountsExactlyUpToItsLimit) {
  EXPECT_EQ(info(DataType::Float).exact_limit, 16777216U);
  EXPECT_EQ(static_cast<float>(16777216U - 1), 16777215.0F);
  EXPECT_EQ(info(DataType::Int8).exact_limit, 127U);
  EXPECT_EQ(info(DataType::Half).exact_limit, 2048U);
  EXPECT_EQ(info(DataType::Bfloat16).exact_limit, 256U);
  EXPECT_EQ(info(DataType::F8e4m3).exact_limit, 16U);
  EXPECT_EQ(info(DataType::F8e5m2).exact_limit, 8U);
}

TEST(DataType, IsFloatingOrForWholeNumbers) {
  EXPECT_TRUE(info(DataType::Half).floating);
  EXPECT_TRUE(info(DataType::F8e5m2).floating);
  EXPECT_FALSE(info(DataType::Uint64).floating);
}

}  // namespace
}  // namespace busbar
