// SPDX-License-Identifier: BSD-3-Clause
#include "harness/sampler.hpp"

#include <cmath>

#include "harness/soak.hpp"

namespace busbar {
namespace {

constexpr std::uint64_t kChunk = 20;        // samples between two barriers
constexpr std::uint64_t kWindow = 5;        // samples of a warm-up window
constexpr double kTimerCosts = 100;         // a sample lasts at least that many timer costs
constexpr std::uint64_t kMostWindows = 10;  // of warm-up: what is not steady then may never be
constexpr double kWarmupShare = 0.25;       // of the row's time budget

/// What a leader decided: the number of further samples, or to stop (0).
struct Decision {
  std::uint64_t samples = 0;
  stats::StopReason stop = stats::StopReason::None;
};

/// Samples one row.
class RowSampler {
 public:
  RowSampler(const RoundGroup& round_group, ChunkRunner& runner, const SamplingPlan& plan,
             Evidence& result)
      : round_group_(round_group),
        runner_(runner),
        plan_(plan),
        limits_(plan.limits),
        divided_(plan.whole.has_value()),
        rule_(plan.limits),
        result_(result) {}

  void take(const ProgressReport& report) {
    runner_.begin_phase("warming up");
    plan_.warmup_operations ? warm_up_exactly(*plan_.warmup_operations) : warm_up_until_steady();
    result_.batch = batch_for(last_time_s_);
    runner_.begin_phase("timing");
    if (plan_.soak != nullptr) {
      take_until_over(*plan_.soak);
    } else {
      plan_.operations ? take_exactly(*plan_.operations) : take_until_enough(report);
    }
    combine_disturbances();
  }

 private:
  ChunkResult run(std::uint64_t samples, std::uint64_t batch) {
    return run(ChunkShape::of(samples * batch, batch));
  }

  ChunkResult run(const ChunkShape& shape) {
    ChunkResult chunk = runner_.run(shape);
    elapsed_s_ += chunk.elapsed_s;
    if (!chunk.samples_us.empty()) last_time_s_ = stats::median(chunk.samples_us) / 1e6;
    return chunk;
  }

  void warm_up_exactly(std::uint64_t operations) {
    // No time is known without warm-up: the first samples of a small operation are then batches
    // of 1.
    if (operations > 0) (void)run(ChunkShape::of(operations, 1));
    result_.warmup_operations = runner_.operations();  // a graph is launched more than once
  }

  void warm_up_until_steady() {
    const ChunkResult first = run(1, 1);
    if (!plan_.operations && divided_ && plan_.first_visit) divide_no_further();
    // A visit must have time for a sample after its warm-up.
    const double longest_s = divided_ ? limits_.time_budget_s / 2 : limits_.time_budget_s;
    const bool may_count = !plan_.operations && plan_.soak == nullptr;
    if (may_count && agreed(last_time_s_ > longest_s)) {
      append(first);  // such an operation is measured from the start
      return;
    }
    const double allowed_s = limits_.time_budget_s * kWarmupShare;
    std::vector<double> previous;
    std::uint64_t window = 0;
    for (; window < kMostWindows; ++window) {
      // A window that would not fit is not begun: large operations are warm after one.
      const std::uint64_t batch = batch_for(last_time_s_);
      const double window_s = last_time_s_ * static_cast<double>(kWindow * batch);
      const bool fits = agreed(elapsed_s_ + window_s <= allowed_s);
      if (!fits) break;
      const std::vector<double> current = run(kWindow, batch).samples_us;
      result_.steady = !previous.empty() && stats::is_steady(previous, current);
      round_group_.members.broadcast(result_.steady);
      if (agreed(result_.steady)) break;
      previous = current;
    }
    if (window < 2) result_.steady = true;  // there was no time for two to compare
    result_.warmup_operations = runner_.operations();
  }

  /// A row of which the budget holds fewer operations than an interval of a run needs visits is
  /// measured in one visit: more would cost time and give nothing.
  void divide_no_further() {
    const auto visits = static_cast<double>(stats::kFewestVisits);
    if (!agreed(last_time_s_ > plan_.whole->time_budget_s / visits)) return;
    limits_ = *plan_.whole;
    rule_ = stats::StopRule(limits_);
    divided_ = false;
  }

  /// Whether all leaders say so; the others' clock readings may differ.
  bool agreed(bool mine) { return round_group_.world.agree(mine || !round_group_.leads()); }

  /// The largest of what the leaders ask for.
  std::uint64_t most(std::uint64_t mine) {
    return round_group_.world.largest(round_group_.leads() ? mine : 0);
  }

  [[nodiscard]] std::uint64_t batch_for(double operation_s) {
    std::uint64_t batch = plan_.least_batch;
    if (operation_s > 0) {
      const double needed = std::ceil(kTimerCosts * plan_.timer_cost_s / operation_s);
      batch = std::max(batch, static_cast<std::uint64_t>(std::max(1.0, needed)));
    }
    return most(batch);
  }

  void take_exactly(std::uint64_t operations) {
    const ChunkShape shape = ChunkShape::of(operations * plan_.least_batch, result_.batch);
    result_.batch = shape.batches.front();  // smaller than wanted where there are so few
    append(run(shape));
    result_.stop = stats::StopReason::Count;
  }

  void take_until_enough(const ProgressReport& report) {
    for (;;) {
      Decision decision;
      if (round_group_.leads()) decision = decide();
      round_group_.members.broadcast(decision);
      result_.stop = decision.stop;
      const std::uint64_t samples = most(decision.samples);
      if (samples == 0) return;
      append(run(samples, result_.batch));
      if (report) report(result_.times_us.size(), half_width());
    }
  }

  void take_until_over(Soak& soak) {
    soak.begin();
    for (;;) {
      SoakStep step;
      if (round_group_.leads()) {
        step = soak.decide(last_time_s_ * static_cast<double>(result_.batch));
      }
      round_group_.members.broadcast(step);
      if (step.ends_interval) {
        soak.end_interval(step.checks);
        runner_.begin_phase("timing");
      }
      result_.stop = step.stop;
      if (step.samples == 0) break;
      const ChunkResult chunk = run(step.samples, result_.batch);
      soak.add(chunk);
      count(chunk);
    }
    soak.finish(result_);
  }

  [[nodiscard]] std::optional<double> half_width() const {
    const auto interval = stats::median_interval(result_.times_us);
    return interval ? std::optional{interval->half_width} : std::nullopt;
  }

  Decision decide() {
    const std::size_t count = result_.times_us.size();
    const stats::StopReason stop = rule_.decide(result_.times_us, elapsed_s_);
    const std::uint64_t least = divided_ ? 1 : 2;  // also of rows that no budget can hold
    if (stop != stats::StopReason::None && count >= least) return {.stop = stop};
    const double sample_s = std::max(last_time_s_ * static_cast<double>(result_.batch), 1e-9);
    const double left_s = std::max(0.0, limits_.time_budget_s - elapsed_s_);
    const auto affordable = static_cast<std::uint64_t>(std::min(left_s / sample_s, 1e6));
    const std::uint64_t floor = count < least ? least - count : 1;
    const std::uint64_t wanted = std::min<std::uint64_t>(kChunk, rule_.until_next_look(count));
    return {.samples = std::max(floor, std::min(wanted, affordable))};
  }

  void append(const ChunkResult& chunk) {
    busbar::append(result_.times_us, chunk.samples_us);
    busbar::append(result_.arrivals, chunk.arrivals);
    busbar::append(result_.rank_times_us, chunk.rank_times_us);
    busbar::append(result_.start_skews_us, chunk.start_skew_us);
    result_.enqueue_us.push_back(chunk.enqueue_us);
    result_.host_times_us.push_back(chunk.host_us);
    result_.loads_us.push_back(chunk.load_us);
    count(chunk);
  }

  void count(const ChunkResult& chunk) {
    result_.operations += chunk.operations;
    result_.disturbances.minor_faults += chunk.disturbances.minor_faults;
    result_.disturbances.involuntary_switches += chunk.disturbances.involuntary_switches;
  }

  void combine_disturbances() {
    Disturbances& d = result_.disturbances;
    std::array<double, 2> worst{d.minor_faults, d.involuntary_switches};
    round_group_.members.combine(worst, Combine::Max);
    d = {worst[0], worst[1]};
  }

  const RoundGroup& round_group_;
  ChunkRunner& runner_;
  const SamplingPlan& plan_;
  stats::StopLimits limits_;
  bool divided_;  // limits are a visit's share
  stats::StopRule rule_;
  Evidence& result_;
  double elapsed_s_ = 0;
  double last_time_s_ = 0;
};

}  // namespace

void take_samples(const RoundGroup& round_group, ChunkRunner& runner, const SamplingPlan& plan,
                  const ProgressReport& report, Evidence& evidence) {
  RowSampler(round_group, runner, plan, evidence).take(report);
}

}  // namespace busbar
