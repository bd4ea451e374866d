// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace busbar::stats::test {

/// The same numbers in every run, so that a failure can be repeated.
[[nodiscard]] inline std::mt19937_64 fixed_random(std::uint64_t seed) {
  return std::mt19937_64(seed);
}

/// Log-normal series with true median 1: exp(spread * z), z a standard normal AR(1) series whose
/// integrated autocorrelation time is `iact`, of which the share `noise` of the variance is white.
class Series {
 public:
  Series(std::mt19937_64& random, double iact, double spread, double noise = 0)
      : random_(random),
        phi_((iact - 1) / (iact + 1)),
        spread_(spread),
        noise_(noise),
        state_(normal_(random)) {}

  void extend(std::vector<double>& samples, std::size_t count) {
    while (samples.size() < count) {
      const double white = noise_ > 0 ? std::sqrt(noise_) * normal_(random_) : 0;
      samples.push_back(std::exp(spread_ * (std::sqrt(1 - noise_) * state_ + white)));
      state_ = phi_ * state_ + std::sqrt(1 - phi_ * phi_) * normal_(random_);
    }
  }

 private:
  std::mt19937_64& random_;
  std::normal_distribution<double> normal_;
  double phi_;
  double spread_;
  double noise_;
  double state_;
};

[[nodiscard]] inline std::vector<double> series(std::mt19937_64& random, std::size_t count,
                                                double iact, double spread) {
  std::vector<double> samples;
  Series(random, iact, spread).extend(samples, count);
  return samples;
}

}  // namespace busbar::stats::test
