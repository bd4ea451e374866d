// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "base/enum_names.hpp"
#include "base/options.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "harness/group_spec.hpp"
#include "model/backend.hpp"
#include "model/collective.hpp"
#include "model/data_type.hpp"
#include "model/side_load.hpp"
#include "model/sweep.hpp"
#include "model/variant.hpp"
#include "stats/stop_rule.hpp"
#include "topo/choice/choose.hpp"
#include "topo/systems/joined_hosts.hpp"

namespace busbar {

enum class Cadence { Streaming, Isolated };
constexpr auto enum_names(Cadence) {
  return std::array{Named{Cadence::Streaming, "streaming"}, Named{Cadence::Isolated, "isolated"}};
}
enum class Aggregation { Rank0, Mean, Min, Max };  // -a 0 1 2 3
constexpr auto enum_names(Aggregation) {
  return std::array{Named{Aggregation::Rank0, "rank0"}, Named{Aggregation::Mean, "mean"},
                    Named{Aggregation::Min, "min"}, Named{Aggregation::Max, "max"}};
}
enum class ProgressChoice { Auto, Block, Yield };
constexpr auto enum_names(ProgressChoice) {
  return std::array{Named{ProgressChoice::Auto, "auto"}, Named{ProgressChoice::Block, "block"},
                    Named{ProgressChoice::Yield, "yield"}};
}
enum class Cache { Warm, Rotate };
constexpr auto enum_names(Cache) {
  return std::array{Named{Cache::Warm, "warm"}, Named{Cache::Rotate, "rotate"}};
}
enum class Bind { Auto, None, Core, Numa };
constexpr auto enum_names(Bind) {
  return std::array{Named{Bind::Auto, "auto"}, Named{Bind::None, "none"}, Named{Bind::Core, "core"},
                    Named{Bind::Numa, "numa"}};
}
enum class Placement { Both, In, Out };
constexpr auto enum_names(Placement) {
  return std::array{Named{Placement::Both, "both"}, Named{Placement::In, "in"},
                    Named{Placement::Out, "out"}};
}
enum class JsonStyle { Busbar, NcclTests };
constexpr auto enum_names(JsonStyle) {
  return std::array{Named{JsonStyle::Busbar, "busbar"}, Named{JsonStyle::NcclTests, "nccl-tests"}};
}
enum class Pairs { Off, All };
constexpr auto enum_names(Pairs) {
  return std::array{Named{Pairs::Off, "off"}, Named{Pairs::All, "all"}};
}
constexpr auto enum_names(Pages) {
  return std::array{Named{Pages::Huge, "huge"}, Named{Pages::Small, "small"}};
}
/// -z: what follows each operation beside its own completion.
enum class Blocking { Off, WaitAndBarrier, Wait, UntimedBarrier };

/// Flips one bit of a result before the check, to see the check work.
struct Fault {
  int rank = 0;
  std::uint64_t index = 0;  ///< element of the receive buffer
};

/// Makes a rank late, to see it named.
struct Delay {
  int rank = 0;
  Seconds time{0};  ///< before each operation
};

/// The options of a run; values only, defaults here and nowhere else.
struct Options {
  Sweep sweep;
  std::optional<std::uint64_t> operations;         ///< -n N; empty: until the statistics suffice
  std::optional<std::uint64_t> warmup_operations;  ///< -w N; empty: until steady
  std::uint64_t aggregated = 1;                    ///< -m
  std::uint64_t cycles = 1;                        ///< -N; 0: without end
  std::optional<Seconds> duration;                 ///< --duration: of the one row
  Seconds interval{1};                             ///< --interval
  std::string timeline_path;
  std::uint64_t visits = 1;                        ///< --visits: of each row
  Aggregation aggregation = Aggregation::Max;      ///< -a
  std::uint64_t checks = 1;                        ///< -c
  std::vector<ReduceOp> ops{ReduceOp::Sum};        ///< -o
  std::vector<DataType> types{DataType::Float};    ///< -d
  std::optional<int> root = 0;                     ///< -r; empty: all
  Blocking blocking = Blocking::Off;               ///< -z
  bool timestamps = false;                         ///< -S
  std::uint64_t graph_launches = 0;                ///< -G; 0: no graph
  Registration registration = Registration::None;  ///< -R
  std::optional<int> cta_policy;                   ///< -x
  bool enqueue_times = false;                      ///< -C: the table's time is the host's
  bool memory_use = false;                         ///< -M
  bool nccl_choice = false;                        ///< --nccl-choice
  std::uint64_t unalign = 0;                       ///< -u: elements that buffers begin late
  bool per_operation = false;                      ///< -I
  std::uint64_t skipped_samples = 0;               ///< -K: of what -I reports
  Seconds timeout{600};                            ///< -T; 0: never
  std::string json_path;                           ///< -J
  JsonStyle json_style = JsonStyle::Busbar;        ///< --json-style
  int launch_ranks = 1;                            ///< -g
  std::vector<std::string> hosts;  ///< --hosts: of -g, empty: this one; sim: how many
  std::string launcher = "auto";   ///< --launcher: of -g
  Variables variables;             ///< --env: of every rank
  std::string rendezvous;          ///< --rendezvous HOST:PORT, where rank 0 listens
  std::optional<int> rank;         ///< --rank: of --rendezvous
  std::optional<int> ranks;  ///< --ranks: of --rendezvous; of --backend sim: empty: all devices

  std::string backend = "auto";
  std::string csv_path;
  std::string samples_path;
  std::string per_rank_path;
  std::string facts_path;  ///< --facts
  bool resume = false;
  Cadence cadence = Cadence::Streaming;
  double ci_width = 0.02;  ///< relative half width
  Seconds time_budget{3};  ///< of one row
  ProgressChoice progress = ProgressChoice::Auto;
  Cache cache = Cache::Warm;
  Pages pages = Pages::Huge;
  Bind bind = Bind::Auto;
  std::optional<Bytes> memory_limit;  ///< of all ranks of one host
  Placement placement = Placement::Both;
  Pairs pairs = Pairs::Off;
  std::optional<GroupSpec> groups;         ///< --groups, NCCL_TESTS_SPLIT or NCCL_TESTS_SPLIT_MASK
  std::string mix;                         ///< --mix: a file or a preset; empty: none
  std::string levels_path;                 ///< --levels: of --groups levels:K
  bool share_devices = false;              ///< --share-gpus
  std::optional<topo::Selection> devices;  ///< --devices; empty: the first that are free
  std::string nvidia_smi = "nvidia-smi";   ///< --nvidia-smi
  bool host_limits = true;                 ///< --host-limits: measure what host memory can do
  std::uint64_t seed = 1;
  std::optional<Vary> vary;                  ///< --vary
  std::optional<Distribution> distribution;  ///< --skew, --moe, NCCL_TESTS_ALLTOALLV_*
  std::optional<Fault> inject_fault;
  std::optional<Delay> inject_delay;
  std::optional<Load> load;

  /// @name Only for --backend sim
  /// @{
  std::string system;                           ///< --system: a name, or a system file
  std::optional<topo::NetworkRequest> network;  ///< --nic: instead of the system's own
  std::optional<int> flows;                     ///< --flows; empty: what the system's file says
  std::optional<topo::Algorithm> algorithm;     ///< --algorithm; empty: the quickest
  /// @}

  /// Whether work is done before each operation.
  [[nodiscard]] bool loads_before() const {
    return (load && !load->beside) || inject_delay.has_value();
  }
  [[nodiscard]] bool loads_beside() const { return load && load->beside; }
  /// For Amount: nccl-tests' where none is asked for.
  [[nodiscard]] const Distribution* distribution_of(const Collective& collective) const {
    return collective.equal_parts ? nullptr : &distribution.value();
  }
  /// When a row has enough samples.
  [[nodiscard]] stats::StopLimits stop_limits() const {
    return {.ci_width = ci_width, .time_budget_s = time_budget.count()};
  }
  /// Whether an output has every rank's times.
  [[nodiscard]] bool wants_rank_times() const {
    return !per_rank_path.empty() || (json_style == JsonStyle::NcclTests && !duration);
  }

  /// @name From the environment, under nccl-tests' names
  /// @{
  int first_device = 0;          ///< NCCL_TESTS_DEVICE
  bool traffic_summary = false;  ///< NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY
  /// @}
};

/// All options of *_perf.
[[nodiscard]] const CommandLineTable<Options>& perf_options();

/// Sets the option of this long name, without its dashes, to a value; throws a usage error. False
/// where it is none that each row can have a value of its own of.
[[nodiscard]] bool vary_option(Options& options, std::string_view name, std::string_view value);

/// What only some runs have a use for; an option may be of several.
inline constexpr unsigned kSimulated = 1;
inline constexpr unsigned kMeasured = 2;
inline constexpr unsigned kDevice = 4;
inline constexpr unsigned kHost = 8;

/// Refuses the first option of these scopes that was given; throws a usage error: "-G" and the
/// problem.
void refuse_options(const Options& options, unsigned scope, std::string_view problem);
/// Refuses the first of these options, "-n,--pairs" by their first names, that was given beside
/// `option`; throws a usage error.
void refuse_others(const Options& options, View option, View others);

/// Everything that makes rows comparable, as "key=value" in a fixed order: --resume refuses a file
/// that differs in one.
[[nodiscard]] std::vector<std::string> configuration_of(const Options& options);
/// The settings that all ranks must agree on, as on a command line: "-n 5", "no -T".
[[nodiscard]] std::vector<std::string> agreed_words(const Options& options);

/// The options of each variant of --vary; the options themselves without one, and where the setting
/// is the library's. Throws a usage error.
[[nodiscard]] std::vector<Options> variants_of(const Options& options);

/// Refuses a root that some group, of which the smallest has this many, has not; throws a usage
/// error.
void check_root(const Options& options, int ranks, int smallest_group);
/// "0 to 3", or "0" of one rank.
[[nodiscard]] std::string numbers_of(int ranks);

/// Checks options that depend on each other; throws a usage error.
void check_options(const Options& options);

/// What the collective needs beside what was asked for: nccl-tests' distribution where parts are
/// not equal and none is given. Refuses one for equal parts; throws a usage error. `lookup` is
/// std::getenv except in tests.
void complete_options(Options& options, const Collective& collective,
                      const std::function<const char*(const char*)>& lookup);

/// The options with the one size that a distribution has of its own for so many ranks; throws a
/// usage error where sizes that were asked for are none that nccl-tests would take.
[[nodiscard]] Options with_own_size(const Options& options, const Collective& collective,
                                    int ranks);

/// Refuses options that have no effect with this backend or collective; throws a usage error.
void check_applicable(const Options& options, const Backend& backend, const Collective& collective);

/// Reads nccl-tests' environment variables. `lookup` is std::getenv except in tests. Throws a usage
/// error.
void apply_environment(Options& options, const std::function<const char*(const char*)>& lookup);

/// A command line of a *_perf program: options of a run, or a text to print instead.
struct CommandLine {
  Options options;
  std::optional<std::string> print_and_exit;
};

/// Reads a *_perf command line, without the program's name. Throws a usage error of one line.
[[nodiscard]] CommandLine parse_command_line(std::span<char* const> arguments);

/// What --version prints: the version, the MPI library and the backends.
[[nodiscard]] std::string version_text();

}  // namespace busbar
