// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gmock/gmock.h>

/// GoogleMock's matchers, which every test knows by their names.
namespace busbar {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

}  // namespace busbar
