// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace busbar {

/// SHA-256 by FIPS 180-4, section 6.2, so that no cryptographic library is linked for one hash.
using Sha256 = std::array<std::uint8_t, 32>;
[[nodiscard]] Sha256 sha256(std::string_view bytes);

/// HMAC-SHA-256 by RFC 2104.
[[nodiscard]] Sha256 keyed_hash(std::string_view key, std::string_view bytes);

/// The first block of PBKDF2-HMAC-SHA-256 by RFC 8018: a hash that takes `rounds` times as long to
/// guess.
[[nodiscard]] Sha256 slow_keyed_hash(std::string_view key, std::string_view bytes, int rounds);

}  // namespace busbar
