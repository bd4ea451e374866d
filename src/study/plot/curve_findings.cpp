// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "study/plot/curves.hpp"

namespace busbar::study {
namespace {

double rate_at(const SizePoint& point) { return point.busbw_GBps.median; }

std::string sizes_text(Bytes first, Bytes last) {
  return first == last ? "at that size alone"
                       : fmt::format("from {} to {}", format_bytes(first), format_bytes(last));
}

std::string dip_text(const Dip& dip) {
  std::string text = fmt::format(
      "falls from {} GB/s at {} to {} at {} (1/{:.3g}): less than half {}",
      format_figure(rate_at(dip.peak)), format_bytes(dip.peak.size),
      format_figure(rate_at(dip.lowest)), format_bytes(dip.lowest.size),
      rate_at(dip.peak) / rate_at(dip.lowest), sizes_text(dip.first.size, dip.last.size));
  const std::string& before = dip.peak.choice;
  const std::string& after = dip.first.choice;
  if (!before.empty() && !after.empty() && before != after) {
    text += fmt::format("; NCCL chose {} at {}, {} at {}", before, format_bytes(dip.peak.size),
                        after, format_bytes(dip.first.size));
  }
  return text;
}

/// The curve that differs from this one by its placement alone; null where there is none.
const SizeCurve* twin_of(const SizeCurve& curve, std::span<const SizeCurve> curves) {
  CurveKey key = curve.key;
  key.in_place = !key.in_place;
  return find_by(curves, key, &SizeCurve::key);
}

/// Where one placement has less than kFallen of the other: the worst of these sizes.
void add_placement(const SizeCurve& slow, const SizeCurve& fast, std::vector<CurveFinding>& found) {
  const SizePoint* worst = nullptr;
  double least = kFallen;
  std::size_t sizes = 0;
  Bytes largest = 0;
  for (const SizePoint& point : slow.points) {
    const SizePoint* other = point_at(fast, point.size);
    if (other == nullptr || rate_at(*other) <= 0) continue;
    const double share = rate_at(point) / rate_at(*other);
    if (share >= kFallen) continue;
    ++sizes;
    largest = point.size;
    if (share >= least) continue;
    least = share;
    worst = &point;
  }
  if (worst == nullptr) return;
  std::string text =
      fmt::format("has {} GB/s at {}, {} {}: less than half at {}", format_figure(rate_at(*worst)),
                  format_bytes(worst->size), fast.key.in_place ? "in place" : "out of place",
                  format_figure(rate_at(*point_at(fast, worst->size))), counted(sizes, "size"));
  found.push_back({slow.key, std::move(text), largest});
}

}  // namespace

std::string placement_and_text(const CurveFinding& finding) {
  return fmt::format("{} {}", finding.key.in_place ? "in place" : "out of place", finding.text);
}

std::vector<Dip> dips_of(std::span<const SizePoint> points) {
  std::vector<Dip> dips;
  const SizePoint* peak = nullptr;
  bool inside = false;
  for (const SizePoint& point : points) {
    const bool is_low = peak != nullptr && rate_at(point) < kFallen * rate_at(*peak);
    if (is_low && !inside) {
      dips.push_back({.peak = *peak, .first = point, .lowest = point, .last = point});
    } else if (is_low) {
      dips.back().last = point;
      if (rate_at(point) < rate_at(dips.back().lowest)) dips.back().lowest = point;
    }
    inside = is_low;
    if (peak == nullptr || rate_at(point) > rate_at(*peak)) peak = &point;
  }
  return dips;
}

std::vector<CurveFinding> curve_findings(std::span<const SizeCurve> curves) {
  std::vector<CurveFinding> found;
  for (const SizeCurve& curve : curves) {
    for (const Dip& dip : dips_of(curve.points)) {
      found.push_back({curve.key, dip_text(dip), dip.last.size});
    }
    const SizeCurve* twin = twin_of(curve, curves);
    if (twin != nullptr) add_placement(curve, *twin, found);
  }
  return found;
}

}  // namespace busbar::study
