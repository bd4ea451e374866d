// SPDX-License-Identifier: BSD-3-Clause
// Any text is an acceptance specification or a complaint that says where; what is accepted cannot
// be judged with numbers that decide nothing.
#include <cmath>

#include "judge/spec/reader.hpp"
#include "tests/fuzz/check.hpp"

namespace {

using fuzz::require;

void check(const busbar::judge::Specification& specification) {
  require(specification.run.launches >= specification.run.min_launches);
  require(std::isfinite(specification.run.timeout_s) && specification.run.timeout_s > 0);
  require(!specification.rules.empty());
  for (const busbar::judge::Rule& rule : specification.rules) {
    require(!rule.collectives.empty() && !rule.sizes.empty());
    static_cast<void>(specification.device_set(rule.device_set));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  try {
    check(busbar::judge::parse_specification(text, "fuzz.toml", ""));
  } catch (const busbar::Error& error) {
    const std::string_view words(error.what());
    require(words.find(".toml:") != std::string_view::npos &&  // of this text or of its base
            words.find('\n') == std::string_view::npos);
  }
  return 0;
}
