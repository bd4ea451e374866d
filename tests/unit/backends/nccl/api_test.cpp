// SPDX-License-Identifier: BSD-3-Clause
// What needs no device; tests/fake_gpu and tests/gpu have the rest.
#include "backends/nccl/api.hpp"

#include <gtest/gtest.h>

namespace busbar {
namespace {

TEST(NcclVersion, IsReadFromItsCode) {
  const nccl::Version version = nccl::version_of(22809);
  EXPECT_EQ(version.major, 2);
  EXPECT_EQ(version.minor, 28);
  EXPECT_EQ(version.patch, 9);
  EXPECT_EQ(nccl::version_of(21400).minor, 14);
  EXPECT_EQ(nccl::version_of(23005).minor, 30);
}

TEST(NcclVersion, OfTheHeaderIsTheHeaders) {
  const nccl::Version version = nccl::version_of(nccl::header_version());
  EXPECT_EQ(version.major, NCCL_MAJOR);
  EXPECT_EQ(version.minor, NCCL_MINOR);
  EXPECT_EQ(version.patch, NCCL_PATCH);
}

TEST(NcclRegistration, IsThereFromTheVersionThatBroughtIt) {
  const int header = nccl::header_version();
  EXPECT_FALSE(nccl::no_registration(Registration::None).has_value());
  EXPECT_EQ(nccl::no_registration(Registration::Local).has_value(), header < 21900);
  EXPECT_EQ(nccl::no_registration(Registration::Symmetric).has_value(), header < 22700);
}

TEST(NcclSmallFloats, AreTheTwoTypesOfEightBitsOnly) {
  const bool known = nccl::header_version() >= 22400;
  for (const TypeInfo& type : kTypes) {
    const bool small = type.type == DataType::F8e4m3 || type.type == DataType::F8e5m2;
    EXPECT_EQ(nccl::small_float(type.type).has_value(), small && known) << type.name;
  }
}

TEST(NcclCtaPolicy, IsSetWhereTheConfigurationHasOne) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  const bool set = nccl::set_cta_policy(config, 2);
  EXPECT_EQ(set, nccl::header_version() >= 22700);
#if NCCL_VERSION_CODE >= 22700
  EXPECT_EQ(config.CTAPolicy, 2);
#endif
}

TEST(NcclMovements, AreCallsOfTheirOwnFromTheVersionThatBroughtThem) {
  const bool known = nccl::header_version() >= 22800;
  EXPECT_EQ(nccl::alltoall() != nullptr, known);
  EXPECT_EQ(nccl::gather() != nullptr, known);
  EXPECT_EQ(nccl::scatter() != nullptr, known);
}

}  // namespace
}  // namespace busbar
