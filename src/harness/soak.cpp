// SPDX-License-Identifier: BSD-3-Clause
#include "harness/soak.hpp"

#include <cmath>
#include <csignal>
#include <utility>

#include "base/text.hpp"
#include "format/timeline_text.hpp"
#include "harness/evidence.hpp"

namespace busbar {
namespace {

/// A signal's handler can reach nothing else.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
volatile std::sig_atomic_t interrupted = 0;

void handle_signals(void (*handler)(int)) {
  for (const int number : {SIGINT, SIGTERM}) std::signal(number, handler);
}

/// One Ctrl-C may come twice, from the terminal and from the launcher: only who insists ends the
/// process at once.
void note_signal(int /*number*/) {
  constexpr int kPatience = 4;
  interrupted = interrupted + 1;
  if (interrupted >= kPatience) handle_signals(SIG_DFL);
}

}  // namespace

Soak::Soak(Settings settings) : settings_(std::move(settings)) {
  interrupted = 0;
  handle_signals(note_signal);
}

void Soak::begin() {
  start_ = settings_.clock();
  next_end_s_ = settings_.interval.count();
}

SoakStep Soak::decide(double sample_s) const {
  constexpr double kChunkSeconds = 0.025;  // a quarter of a part
  constexpr double kMost = 1024;
  constexpr double kCheckShare = 0.1;  // of the time: a soak is there for load
  const double now = now_s();
  SoakStep step;
  if (now >= settings_.duration.count()) step.stop = stats::StopReason::Duration;
  if (interrupted != 0) step.stop = stats::StopReason::Interrupted;
  const bool ends = step.stop != stats::StopReason::None;
  step.ends_interval = interval_.operations > 0 && (ends || now >= next_end_s_);
  step.checks = checked_ == 0 || ends || (now - checked_at_s_) * kCheckShare >= check_s_;
  const double wanted = std::clamp(kChunkSeconds / std::max(sample_s, 1e-9), 1.0, kMost);
  step.samples = ends ? 0 : static_cast<std::uint64_t>(wanted);
  return step;
}

/// Of the time since the last operation what is far more than usual: a link that fails between
/// operations, in a barrier or a check, keeps the next one waiting all the same.
double Soak::lost_s(double between_s) {
  double& usual_s = usual_s_.at(std::exchange(has_checked_, false) ? 1 : 0);
  usual_s = std::min(usual_s, std::max(0.0, between_s));
  const bool is_much = between_s > 2 * usual_s + stats::Timeline::kPartSeconds;
  return is_much ? between_s - usual_s : 0;
}

void Soak::add(const ChunkResult& chunk) {
  double sum = 0;
  for (const double time : chunk.samples_us) {
    in_interval_.add(time);
    sum += time;
  }
  // All batches of a soak's chunk are equal.
  const auto operations = static_cast<double>(chunk.operations);
  const double timed_s = sum / 1e6 / static_cast<double>(chunk.samples_us.size()) * operations;
  const double now = now_s();
  part_operations_ += operations;
  part_time_s_ += timed_s + lost_s(now - std::exchange(chunk_end_s_, now) - timed_s);
  interval_.operations += chunk.operations;
  for (const double skew : chunk.start_skew_us) skews_.add(skew);
  issuing_.add(chunk.enqueue_us);
  host_times_.add(chunk.host_us);
  loads_.add(chunk.load_us);
  // An operation may last longer than a part: all that it spans have its rate.
  const auto over = static_cast<std::size_t>(now / stats::Timeline::kPartSeconds);
  if (over <= parts_) return;
  interval_.part_rates.insert(interval_.part_rates.end(), over - parts_,
                              part_operations_ / part_time_s_);
  parts_ = over;
  part_operations_ = part_time_s_ = 0;
}

void Soak::end_interval(bool check) {
  const auto summary = in_interval_.summary();
  const double now = now_s();
  interval_.seconds = now - std::exchange(interval_.at_s, now);
  interval_.median_us = summary->median;
  interval_.p99_us = summary->p99;
  interval_.max_us = summary->max;
  interval_.operations_per_s = 1e6 / summary->mean;
  if (check && settings_.check) {
    const DataCheck found = settings_.check();
    interval_.checked_bytes = settings_.checked_bytes;
    interval_.wrong = found.wrong;
    if (found.wrong > 0 && verdict_.wrong == 0) {
      verdict_.first_wrong = fmt::format("at {}: {}", clock_text(now), found.first_wrong);
    }
    verdict_.wrong += found.wrong;
    checked_ += interval_.checked_bytes;
    checked_at_s_ = now_s();
    check_s_ = checked_at_s_ - now;
    has_checked_ = true;
  }
  const double reported_at_s = now_s();
  if (settings_.report) settings_.report(interval_);
  chunk_end_s_ += now_s() - reported_at_s;
  timeline_.add(interval_.point(), interval_.part_rates);
  times_.merge(in_interval_);
  in_interval_.clear();
  interval_ = {.at_s = now};
  const double length = settings_.interval.count();
  // After an operation that took long, no interval of a few operations.
  next_end_s_ = (std::floor(now / length + 0.5) + 1) * length;
}

void Soak::finish(Evidence& evidence) const {
  if (settings_.check) evidence.check = verdict_;
  evidence.summary = times_.summary();
  if (!evidence.summary) return;
  evidence.times_us = mapped(timeline_.points(), &stats::TimelinePoint::median_us);
  evidence.start_skews_us = {skews_.quantile(0.5)};
  evidence.enqueue_us = {issuing_.quantile(0.5)};
  evidence.host_times_us = {host_times_.quantile(0.5)};
  evidence.loads_us = {loads_.quantile(0.5)};
  constexpr double kShare = 0.999;
  if (const auto interval = times_.quantile_interval(kShare)) {
    evidence.p999_us = {times_.quantile(kShare), interval->low, interval->high};
  }
  if (!settings_.report) return;
  evidence.findings.push_back(describe_tail(times_));
  append(evidence.findings, describe_events(timeline_, stats::find_events(timeline_)));
  evidence.findings.push_back(describe_checks(checked_, verdict_.wrong));
}

}  // namespace busbar
