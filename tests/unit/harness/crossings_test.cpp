// SPDX-License-Identifier: BSD-3-Clause
//
// All pairs of the options that shape a run: refused in one line, or the rows of the table, also
// where a run that was killed after any of them is resumed.

#include <fstream>

#include "tests/unit/support/fake_communicator.hpp"
#include "tests/unit/support/launch.hpp"
#include "tests/unit/support/thread_team.hpp"

namespace busbar {
namespace {

constexpr int kTeam = 4;

/// An option that changes which rows there are or how they are measured.
struct Shaping {
  std::string_view key;    ///< in the configuration
  const char* words;       ///< on a command line
  const char* collective;  ///< that it is of; empty: of any
  double rows;             ///< times as many as without it, of kTeam ranks
};
constexpr Shaping kShaping[] = {
    {"ops", "-o all", "allreduce", 5},
    {"root", "-r all", "broadcast", kTeam},
    {"placement", "--placement out", "", 0.5},
    {"cycles", "-N 2", "", 2},
    {"visits", "--visits 4", "", 1},
    {"vary", "--vary agg_iters=1,2 --visits 4", "", 2},
    {"pairs", "--pairs all", "sendrecv", kTeam*(kTeam - 1)},
    {"groups", "--groups mod:2", "", 2},
    {"distribution", "--skew zipf:1", "alltoallv", 1},
    {"aggregated", "-m 2", "", 1},
    {"operations", "-n 8", "", 1},
    {"cache", "--cache rotate", "", 1},
    {"cadence", "--cadence isolated", "", 1},
    {"blocking", "-z 1", "", 1},
    {"load", "--load spin:1", "", 1},
    {"load", "--load beside:spin:1 --time-budget 0.001", "", 2},
    {"inject-delay", "--inject-delay 1:1", "", 1},
    {"unalign", "-u 1", "", 1},
    {"", "-I 1 --samples FOLDER/s.csv", "", 1},
    {"", "--per-rank FOLDER/r.csv", "", 1},
};
const std::set<std::string> kRefused{"--visits 4 -N 2", "--vary agg_iters=1,2 --visits 4 -N 2",
                                     "--groups mod:2 --pairs all", "--skew zipf:1 --pairs all"};
/// They change no row's place: another size or type, how much is measured, or where.
constexpr std::string_view kOthers =
    "sizes types warmup duration aggregation checks ci-width time-budget progress pages bind "
    "devices "
    "seed graph registration cta-policy levels mix share-gpus host-limits memory-limit "
    "first-device";

TEST(OptionCrossings, KnowEveryOptionThatRowsDependOn) {
  const std::vector<std::string> others = split_words(kOthers);
  for (const std::string& text : configuration_of({})) {
    const std::string key = text.substr(0, text.find('='));
    const bool shapes = any_has(kShaping, key, &Shaping::key);
    EXPECT_NE(shapes, contains(others, key)) << key << ": add it to the crossings, or say why not";
  }
}

/// The rows of a run; of one that is killed at this operation of a rank in a group, if any.
std::vector<Record> measured_rows(const Options& options, const char* collective,
                                  std::size_t killed_at = 0) {
  RankMap rank_map;
  rank_map.ranks.resize(kTeam);
  rank_map.least_memory = kGiB;
  testing::internal::CaptureStdout();
  test::on_ranks(kTeam, [&](test::ThreadBootstrap& world) {
    const GroupPlan plan = plan_groups(world, options);
    Watchdog watchdog{std::nullopt, {}};
    const std::vector<Options> variants = variants_of(options);
    test::run_job({.options = options,
                   .collective = test::collective(collective),
                   .backend = {&test::backend_named("mpi"), "asked for"},
                   .connect =
                       [&](Bootstrap&) {
                         auto communicator = std::make_shared<test::FakeCommunicator>();
                         communicator->operation_time = [killed_at](std::size_t n) {
                           if (n == killed_at) throw test::ThreadBootstrap::Left{};
                           return Seconds{1e-3};
                         };
                         return communicator;
                       },
                   .world = world,
                   .plan = plan,
                   .rank_map = rank_map,
                   .variants = variants.size() > 1 ? variants : std::vector<Options>{},
                   .watchdog = watchdog});
  });
  const std::string printed = testing::internal::GetCapturedStdout();
  if (testing::Test::HasFailure()) std::cout << printed;  // why
  return read_csv(options.csv_path).records;
}

using Keys = std::vector<std::pair<RowKey, std::uint64_t>>;
Keys keys_of(const std::vector<Record>& rows) {
  return mapped(rows, [](const Record& row) { return std::pair(row_key(row), row.cycle); });
}

/// Two options, and the collective that both are of.
struct Crossing {
  const Shaping& one;
  const Shaping& other;

  [[nodiscard]] const char* collective() const {
    const char* wanted = *one.collective != '\0' ? one.collective : other.collective;
    return *wanted != '\0' ? wanted : "allreduce";
  }
  /// Two placements of one size, and what the options make of them; a group of two has two roots.
  [[nodiscard]] std::size_t rows() const {
    double rows = 2;
    for (const Shaping* option : std::set{&one, &other}) {
      const std::string of = option->collective;
      if (of.empty() || of == collective()) rows *= option->rows;
    }
    const bool roots_of_groups = one.key == "groups" && other.key == "root";
    return static_cast<std::size_t>(roots_of_groups ? rows / 2 : rows);
  }
  [[nodiscard]] Options options(const test::TemporaryFolder& folder) const {
    const std::string line =
        fmt::format("--host-limits off -b 1K -e 1K -n 4 -w 0 -c 0 --csv FOLDER/x.csv {} {}",
                    one.words, other.words);
    auto words = split_words(line);
    for (std::string& word : words) {
      if (const auto at = word.find("FOLDER"); at != std::string::npos)
        word.replace(at, 6, folder.path());
    }
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    Options options = parse_command_line(pointers).options;
    complete_options(options, test::collective(collective()), [](const char*) { return nullptr; });
    check_applicable(options, test::backend_named("mpi"), test::collective(collective()));
    return options;
  }
};

/// The rows of a run that was killed after each of its rows and resumed are those of a whole one.
void expect_resumable(Options options, const char* collective, const Keys& keys,
                      const std::string& name) {
  const std::string path = options.csv_path;
  const std::vector<std::string> lines = split(test::text_of(path), '\n');
  const auto names = std::ranges::find_if(
      lines, [](const std::string& line) { return line.starts_with("collective,"); });
  options.resume = true;
  const std::size_t step = 1 + keys.size() / 16;  // every row of the first 15
  for (std::size_t kept = 0; kept < keys.size(); kept += step) {
    const auto end = names + 1 + static_cast<std::ptrdiff_t>(kept);
    std::ofstream(path) << join(std::vector(lines.begin(), end), "\n") << '\n';
    EXPECT_EQ(keys_of(measured_rows(options, collective)), keys) << name << ", after " << kept;
  }
  for (const std::size_t killed_at :
       {1U, 5U, 20U}) {  // of a row in visits there is none until the last
    options.resume = false;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(path).parent_path()))
      std::filesystem::remove(entry);
    (void)measured_rows(options, collective, killed_at);
    options.resume = true;
    EXPECT_EQ(keys_of(measured_rows(options, collective)), keys) << name << ", at " << killed_at;
  }
}

void expect_crossed(const Shaping& one, const Shaping& other) {
  const Crossing crossing{one, other};
  const std::string name = fmt::format("{} {}", one.words, other.words);
  const test::TemporaryFolder folder;
  Options options;
  const test::Failure failure = test::failure_of([&] { options = crossing.options(folder); });
  EXPECT_EQ(failure.message.empty(), !kRefused.contains(name)) << failure.message;
  if (!failure.message.empty()) return;
  const auto rows = measured_rows(options, crossing.collective());
  EXPECT_EQ(rows.size(), crossing.rows()) << name;
  EXPECT_TRUE(std::ranges::all_of(rows, [](const Record& row) {
    return row.status == RowStatus::Ok;
  })) << name;
  const Keys keys = keys_of(rows);
  EXPECT_EQ(set_of(keys, std::identity{}).size(), keys.size()) << name;
  expect_resumable(options, crossing.collective(), keys, name);
}

TEST(LongOptionCrossings, AreRefusedInOneLineOrGiveTheRowsOfTheTableAlsoWhenResumed) {
  for (const Shaping& one : kShaping) {
    for (const Shaping& other : kShaping) {
      const bool same_option = &one != &other && one.key == other.key && !one.key.empty();
      if (&other <= &one && !same_option) expect_crossed(one, other);
    }
  }
}

}  // namespace
}  // namespace busbar
