// SPDX-License-Identifier: BSD-3-Clause
#include "topo/predict/calibration.hpp"

#include <gtest/gtest.h>

#include "model/collective.hpp"
#include "stats/summary.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::topo {
namespace {

const StepTimes& steps_of(const Protocol& protocol, Sending sending) {
  return protocol.steps.at(static_cast<std::size_t>(sending));
}

/// What a machine with these figures would measure, on a machine that is not known to have them.
MeasuredCurve measured_with(const Protocol& figures, const char* collective) {
  const EqualHosts machine = load_machine("dgx-a100");
  MeasuredCurve curve{.name = collective,
                      .collective = find_collective(collective),
                      .predictor = Predictor(machine, {.ranks = 8})};
  Predictor truth = curve.predictor;
  truth.set_protocol(with_times(truth.protocol(), figures, true));
  for (double bytes = 1024; bytes <= 1e10; bytes *= 2) {
    curve.times.push_back({bytes, truth.predict(*curve.collective, bytes)->time_us});
  }
  return curve;
}

TEST(Fit, FindsTheFiguresThatTheTimesAreFrom) {
  const Protocol start = completed({});
  Protocol truth = start;
  truth.efficiency = 0.7;
  truth.steps.at(static_cast<std::size_t>(Sending::RingLowLatency)).launch_us *= 2;
  truth.steps.at(static_cast<std::size_t>(Sending::TreeLowLatency)).launch_us *= 2;
  std::vector<MeasuredCurve> curves{measured_with(truth, "allreduce"),
                                    measured_with(truth, "allgather")};
  const Protocol fitted = fit(curves, start, {.stiffness = 1e-4});
  EXPECT_NEAR(fitted.efficiency, 0.7, 0.014);
  EXPECT_NEAR(steps_of(fitted, Sending::TreeLowLatency).launch_us,
              steps_of(truth, Sending::TreeLowLatency).launch_us, 6);
  for (const MeasuredCurve& curve : curves) {
    EXPECT_LT(stats::median(errors_of(curve, true)), 0.02) << curve.name;
    EXPECT_LT(stats::median(errors_of(curve, false)), 0.02) << curve.name;
  }
  // Nothing of an all-to-all was measured, so nothing is known of its steps.
  EXPECT_EQ(steps_of(fitted, Sending::Direct), steps_of(start, Sending::Direct));
  const Protocol changed = with_changes({.channel_GBps = 7}, start, fitted);
  EXPECT_EQ(steps_of(changed, Sending::Direct), StepTimes{});
  EXPECT_EQ(changed.efficiency, fitted.efficiency);
  EXPECT_EQ(changed.channel_GBps, 7);
}

TEST(Fit, LeavesTheEfficiencyWhereOnlyTimesAreWanted) {
  const Protocol start = completed({});
  Protocol truth = start;
  truth.efficiency = 0.7;
  std::vector<MeasuredCurve> curves{measured_with(truth, "allgather")};
  EXPECT_EQ(fit(curves, start, {.bandwidth = false}).efficiency, 0.8);
}

TEST(Errors, AreOfLargeOrOfSmallSizes) {
  MeasuredCurve curve = measured_with(completed({}), "allgather");
  curve.times = {{1024, 0}, {1e9, 0}};
  for (MeasuredTime& time : curve.times) {
    time.time_us = 1.5 * curve.predictor.predict(*curve.collective, time.bytes)->time_us;
  }
  EXPECT_NEAR(simulated_ratio(curve, curve.times[0]), 1.5, 1e-12);
  ASSERT_EQ(errors_of(curve, true).size(), 1U);
  EXPECT_NEAR(errors_of(curve, true)[0], 0.5, 1e-12);
  EXPECT_EQ(errors_of(curve, false).size(), 1U);
}

}  // namespace
}  // namespace busbar::topo
