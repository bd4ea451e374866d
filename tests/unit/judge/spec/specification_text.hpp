// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "judge/spec/reader.hpp"
#include "tests/unit/support/failure.hpp"

namespace busbar::judge {

/// A specification in parts. The head has ten lines: the sets begin in line 11, rules behind them.
inline const std::string kHead =
    "schema = 1\n"
    "[system]\n"
    "name = 'pod'\n"
    "[run]\n"
    "launches = 5\nmin_launches = 3\ntimeout_s = 60\n"
    "[noise]\nmax_cv = 0.02\non_noisy = 'inconclusive'\n";
inline const std::string kSet = "[[device_set]]\nid = 'node'\nkind = 'per_node'\ngpus = '0-7'\n";
inline const std::string kPairs =
    "[[device_set]]\nid = 'pairs'\nkind = 'pairwise'\nranks_per_node = 1\n";
inline const std::string kRule =
    "[[expect]]\nid = 'one'\ncollective = 'allreduce'\ndevice_set = 'node'\nsize = '1GiB'\n"
    "compare = 'absolute'\nvalue = 400\nfail_below = 0.9\n";
/// A rule without bounds.
inline const std::string kFleetRule =
    "[[expect]]\nid = 'odd'\ncollective = 'alltoall'\ndevice_set = 'pairs'\nsize = '1GiB'\n"
    "compare = 'fleet'\n";

inline Specification read(const std::string& text, const std::string& profile = {}) {
  return parse_specification(text, "pod.toml", profile);
}

/// The specification of a file, or a ready-made one of that name.
inline Specification load(const std::string& name, const std::string& profile = {}) {
  const SpecificationSource source = find_specification(name);
  return parse_specification(source.text, source.path, profile);
}

inline std::string refusal(const std::string& text, const std::string& profile = {}) {
  const test::Failure failure = test::failure_of([&] { static_cast<void>(read(text, profile)); });
  EXPECT_EQ(failure.status, Status::Usage) << text;
  EXPECT_TRUE(failure.is_one_line());
  return failure.message;
}

/// A text with one part changed, which must be there.
inline std::string with(std::string text, const std::string& part, const std::string& other) {
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return at == std::string::npos ? text : text.replace(at, part.size(), other);
}

}  // namespace busbar::judge
