// SPDX-License-Identifier: BSD-3-Clause
#include "model/record.hpp"

#include <cmath>

#include "base/text.hpp"

namespace busbar {
namespace {

std::string to_text(const std::string& value) { return value; }
std::string to_text(bool value) { return value ? "1" : "0"; }
std::string to_text(RowStatus value) { return std::string(name(value)); }
std::string to_text(double value) { return number_text(value); }
template <class T>
  requires std::is_integral_v<T> std::string to_text(T value) { return fmt::format("{}", value); }
template <class T>
std::string to_text(const std::optional<T>& value) {
  return value ? to_text(*value) : std::string{};
}

void from_text(std::string_view text, std::string& value) { value = text; }
void from_text(std::string_view text, bool& value) {
  if (text != "0" && text != "1") throw usage_error("neither 0 nor 1");
  value = text == "1";
}
void from_text(std::string_view text, RowStatus& value) {
  const auto found = find_value<RowStatus>(text);
  if (!found) throw usage_error("not a status");
  value = *found;
}
template <class T>
  requires std::is_arithmetic_v<T>
void from_text(std::string_view text, T& value) {
  const auto number = to_number<T>(text);
  if (!number) throw usage_error("not a number");
  value = *number;
}
template <class T>
void from_text(std::string_view text, std::optional<T>& value) {
  value.reset();
  if (!text.empty()) from_text(text, value.emplace());
}

template <class T>
constexpr bool kIsText = std::is_same_v<T, std::string> || std::is_same_v<T, RowStatus>;

template <auto Member>
RecordField field(std::string_view name, std::string_view unit, std::string_view meaning,
                  RecordField::Role role = RecordField::Role::Result) {
  using Value = std::remove_cvref_t<decltype(std::declval<Record>().*Member)>;
  return {.name = name,
          .unit = unit,
          .meaning = meaning,
          .kind = kIsText<Value> ? RecordField::Kind::Text : RecordField::Kind::Number,
          .role = role,
          .get = [](const Record& record) { return to_text(record.*Member); },
          .set = [](Record& record, std::string_view text) { from_text(text, record.*Member); }};
}

using R = Record;
constexpr auto kKey = RecordField::Role::Key;
constexpr auto kSetting = RecordField::Role::Setting;

const auto kFields = std::to_array<RecordField>({
    field<&R::collective>("collective", "", "the operation: allreduce, broadcast, ...", kKey),
    field<&R::backend>("backend", "", "the library that ran it: mpi, ..."),
    field<&R::ranks>("ranks", "", "ranks that took part", kKey),
    field<&R::nodes>("nodes", "", "nodes they ran on; ranks that can share memory are on one node"),
    field<&R::type>("type", "", "element type", kKey),
    field<&R::op>("op", "", "reduction: sum, prod, max, min, avg; none for data movement", kKey),
    field<&R::root>("root", "", "root rank; empty where the collective has none", kKey),
    field<&R::in_place>("in_place", "", "1 in place, 0 out of place", kKey),
    field<&R::size>("size_bytes", "B",
                    "nccl-tests' size: the larger of a rank's send and receive buffer", kKey),
    field<&R::count>("count", "", "elements handed to the library by each rank"),
    field<&R::status>("status", "", "ok, wrong (the check found wrong data), skipped or failed"),
    field<&R::reason>("reason", "", "why it was skipped or failed, or the first wrong element"),
    field<&R::flags>("flags", "",
                     "words that qualify the row, separated by blanks; see docs/measurement.md"),
    field<&R::cadence>("cadence", "",
                       "streaming (back to back) or isolated (a barrier before each)"),
    field<&R::samples>("samples", "",
                       "samples behind the statistics; one sample is `batch` operations"),
    field<&R::operations>("operations", "", "timed operations"),
    field<&R::stop_reason>(
        "stop_reason", "",
        "ci-width, max-samples, time-budget, count, visits, duration or interrupted"),
    field<&R::time_median_us>("time_median_us", "us",
                              "median time of one operation; the row's time"),
    field<&R::time_ci_low_us>("time_ci_low_us", "us",
                              "lower end of the median's 95 % confidence interval"),
    field<&R::time_ci_high_us>("time_ci_high_us", "us", "upper end of it"),
    field<&R::time_mean_us>("time_mean_us", "us", "mean time"),
    field<&R::time_min_us>("time_min_us", "us", "shortest time"),
    field<&R::time_p90_us>("time_p90_us", "us", "90th percentile"),
    field<&R::time_p99_us>("time_p99_us", "us", "99th percentile"),
    field<&R::time_max_us>("time_max_us", "us", "longest time"),
    field<&R::start_skew_us>(
        "start_skew_us", "us",
        "median over chunks of last rank's start less first rank's; one host only"),
    field<&R::algbw_GBps>("algbw_GBps", "GB/s", "size_bytes over time_median_us"),
    field<&R::busbw_GBps>("busbw_GBps", "GB/s",
                          "algbw_GBps times the collective's bus factor; empty for one rank"),
    field<&R::wrong>("wrong", "", "wrong elements over all ranks; empty where nothing was checked"),
    field<&R::autocorrelation_time>(
        "autocorrelation_time", "samples",
        "integrated autocorrelation time by which the interval is widened"),
    field<&R::batch>("batch", "", "consecutive operations in one sample"),
    field<&R::warmup_operations>("warmup_operations", "",
                                 "untimed operations before the first sample, without the priming "
                                 "operation of a row on GPUs"),
    field<&R::minor_faults_per_op>("minor_faults_per_op", "",
                                   "page faults per operation, worst rank"),
    field<&R::involuntary_switches_per_op>(
        "involuntary_switches_per_op", "",
        "times the kernel took the processor away, per operation, worst rank"),
    field<&R::aggregation>("aggregation", "", "how ranks become one sample: max, mean, min, rank0"),
    field<&R::progress>("progress", "", "how ranks wait: block or yield"),
    field<&R::cache>("cache", "",
                     "warm (same buffers) or rotate (buffers beyond the last-level cache)"),
    field<&R::segment_bytes>("segment_bytes", "B",
                             "bytes per library call where it was issued in segments"),
    field<&R::cycle>("cycle", "", "sweep number, from 0; see -N"),
    field<&R::finished_at>("finished_at", "", "local time at which the row was finished"),
    field<&R::host_time_us>(
        "host_time_us", "us",
        "time of one operation by the host's clock: a chunk's time over its "
        "operations, median over chunks; nccl-tests' time with -n 20 -w 1 -a 1"),
    field<&R::enqueue_time_us>("enqueue_time_us", "us",
                               "host time of issuing one operation, from a chunk's first 20; "
                               "median over chunks"),
    field<&R::group>("group", "",
                     "group of ranks that the row is of, in its round; empty where all are one",
                     kKey),
    field<&R::sender>(
        "sender", "",
        "rank that sends to `receiver` one way; with --pairs, and of imported matrices", kKey),
    field<&R::receiver>("receiver", "", "rank that receives", kKey),
    field<&R::device_set>("device_set", "",
                          "what the row's ranks ran on: GPU indices, or cores, numa or processors; "
                          "hosts that differ are joined by ;"),
    field<&R::bound_GBps>("bound_GBps", "GB/s",
                          "highest busbw_GBps of that set; empty where none is known"),
    field<&R::bound_kind>("bound_kind", "",
                          "what the bound is of: host-memory (measured at the start), or links"),
    field<&R::efficiency>("efficiency", "", "busbw_GBps over bound_GBps"),
    field<&R::algorithm>(
        "algorithm", "",
        "what NCCL chose: Ring, Tree, NVLS, ...; only with --nccl-choice, or of an "
        "imported log"),
    field<&R::protocol>("protocol", "", "LL, LL128 or Simple, or a symmetric kernel's name"),
    field<&R::channels>("channels", "", "channels (CTAs) that NCCL gave the operation"),
    field<&R::pages>("pages", "",
                     "pages of the buffers as the kernel reports them: huge, small or mixed; empty "
                     "for GPU memory; see --pages"),
    field<&R::visits>("visits", "", "times that the row was visited in the run; see --visits"),
    field<&R::visit_cv>("visit_cv", "",
                        "standard deviation of the visits' medians over their mean"),
    field<&R::interval_scope>("interval_scope", "",
                              "what the interval is of: moment (the stretch of time in which the "
                              "row was measured) or run (all visits)"),
    field<&R::last_rank>("last_rank", "",
                         "rank that arrives last more often than by chance, and so holds up the "
                         "others; empty: no rank stands out, or operations have no common end"),
    field<&R::last_host>("last_host", "", "its host, or a host of which several ranks are last"),
    field<&R::last_share>("last_share", "",
                          "share of samples in which that rank (else that host) was last"),
    field<&R::late_by_us>("late_by_us", "us",
                          "median of a sample's longest time of a rank less its shortest; only "
                          "where one is named"),
    field<&R::load_us>("load_us", "us",
                       "time of the work of --load and --inject-delay before an operation on the "
                       "slowest rank; median over chunks"),
    field<&R::time_p999_us>("time_p999_us", "us",
                            "99.9th percentile; empty below 1000 samples, of --duration below "
                            "3688"),
    field<&R::time_p999_low_us>("time_p999_low_us", "us",
                                "lower end of its exact 95 % interval, as if samples were "
                                "independent"),
    field<&R::time_p999_high_us>("time_p999_high_us", "us", "upper end of it"),
    field<&R::round>("round", "", "round of --groups, whose groups measure at the same time", kKey),
    field<&R::hosts>("hosts", "",
                     "hosts of the group's ranks in their order, each once, separated by blanks; "
                     "empty where all ranks are one group"),
    field<&R::group_ranks>("group_ranks", "",
                           "the group's ranks among those of the launch, as in 0-7 16-23; empty "
                           "where all ranks are one group"),
    field<&R::groups_seed>("groups_seed", "", "seed by which the rounds of --groups were drawn"),
    field<&R::connect_s>("connect_s", "s",
                         "time of making the group's communicator, slowest rank; empty where all "
                         "ranks are one group"),
    field<&R::distribution>("distribution", "",
                            "how parts differ: uniform, distance, zipf:1, hot:2, matrix:..., "
                            "moe:...; empty where they are equal",
                            kSetting),
    field<&R::imbalance>("imbalance", "",
                         "bytes that pass the fullest port over the mean of all ports"),
    field<&R::variant>("variant", "", "value of --vary, as in cadence=isolated; empty without it",
                       kSetting),
    field<&R::mix>("mix", "",
                   "what the row is of where others ran beside it: the group of busbar mix, or "
                   "\"beside load\" "
                   "with --load beside; its times are those together",
                   kSetting),
    field<&R::slowdown>("slowdown", "",
                        "mean time together over the one alone, median of the turns' ratios"),
    field<&R::slowdown_low>("slowdown_low", "", "lower end of its 95 % interval"),
    field<&R::slowdown_high>("slowdown_high", "", "upper end of it"),
    field<&R::slowdown_p99>("slowdown_p99", "",
                            "the same of the ratios of the turns' 99th percentiles"),
    field<&R::slowdown_p99_low>("slowdown_p99_low", "", "lower end of its 95 % interval"),
    field<&R::slowdown_p99_high>("slowdown_p99_high", "", "upper end of it"),
    field<&R::alone_time_us>("alone_time_us", "us",
                             "mean time of an operation alone, median of the turns"),
    field<&R::alone_p99_us>("alone_p99_us", "us", "the same of the turns' 99th percentiles"),
    field<&R::load_slowdown>("load_slowdown", "",
                             "rate of the load of --load beside alone, all ranks together, over "
                             "its rate beside the operations, median of the turns' ratios"),
    field<&R::load_slowdown_low>("load_slowdown_low", "", "lower end of its 95 % interval"),
    field<&R::load_slowdown_high>("load_slowdown_high", "", "upper end of it"),
});

}  // namespace

std::string number_text(double value) {
  return std::abs(value) >= 1e6 ? fmt::format("{:.1f}", value) : fmt::format("{:.7g}", value);
}

std::span<const RecordField> record_fields() { return kFields; }

std::vector<const RecordField*> fields_of(RecordField::Role role) {
  auto fields = mapped(kFields, [](const RecordField& each) { return &each; });
  std::erase_if(fields, [&](const RecordField* each) { return each->role != role; });
  return fields;
}

std::vector<std::string> settings_of(const Record& record) {
  static const auto kColumns = fields_of(kSetting);
  return mapped(kColumns, [&](const RecordField* column) { return column->get(record); });
}

std::string setting_text(std::span<const std::string> settings) {
  std::vector<std::string> given(settings.begin(), settings.end());
  std::erase(given, "");
  return join(given, " ");
}

}  // namespace busbar
