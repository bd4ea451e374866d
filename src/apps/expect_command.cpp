// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "apps/commands.hpp"
#include "base/options.hpp"
#include "base/text.hpp"
#include "format/json.hpp"
#include "stats/summary.hpp"
#include "study/expect/expect.hpp"
#include "study/run_facts.hpp"
#include "topo/systems/joined_hosts.hpp"
#include "topo/systems/recognize.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::expect_command {

struct ExpectOptions {
  std::optional<Bytes> size{};
  std::string system{topo::kAutoSystem};
  std::optional<int> gpus{};  ///< of each node
  std::optional<int> nodes{};
  std::optional<topo::NetworkRequest> network{};
  std::string measured{};  ///< GB/s, or a file
  std::optional<std::string> json{};
};

using O = ExpectOptions;

void set_size(O& options, View option, View text) {
  options.size = parse_bytes(option, text);
  if (*options.size == 0) throw usage_error("{} {}: nothing is sent", option, text);
}

constexpr int kMost = 1 << 16;
constexpr auto kOptions = std::to_array<Option<O>>({
    {"--size", "SIZE", set_size},
    {"--system", "NAME|FILE|auto", set::value<&O::system>},
    {"--gpus", "N", set::integer<&O::gpus, 1, kMost>},
    {"--nodes,--hosts", "N", set::integer<&O::nodes, 1, kMost>},
    {"--nic", "[COUNTx]GBPS", [](O& o, View n, View v) { o.network = topo::parse_network(n, v); }},
    {"--measured", "GBPS|FILE", set::value<&O::measured>},
    {"--json", "[=FILE]", set::value<&O::json>},
});
constexpr CommandLineTable<O> kTable{
    {.program = "busbar expect", .help = "docs/expect-options.md", .most_positionals = 1},
    kOptions};

using study::Measured;

/// The median of the rows of one size, out of place if there are such.
double median_of(const std::vector<Record>& rows) {
  const bool any = std::ranges::any_of(rows, [](const Record& r) { return !r.in_place; });
  std::vector<double> rates_GBps;
  for (const Record& row : rows) {
    if (!any || !row.in_place) rates_GBps.push_back(row.busbw_GBps.value_or(0));
  }
  return stats::median(rates_GBps);
}

/// Keeps the rows of the nodes and the size that are asked for, else of the largest size, and takes
/// their bandwidth.
void take_size(O& options, Measured& measured) {
  std::vector<Record>& rows = measured.records;
  if (rows.empty()) return;
  const auto check = [&](const std::string& what) {
    if (!rows.empty()) return;
    throw usage_error("--measured {}: no row {}", options.measured, what);
  };
  if (options.nodes) {
    std::erase_if(rows,
                  [&](const Record& row) { return row.nodes > 0 && row.nodes != *options.nodes; });
    check(fmt::format("of {} nodes", *options.nodes));
  }
  measured.of_all_sizes = rows;
  if (!options.size) {
    options.size = std::ranges::max_element(rows, {}, &Record::size)->size;
  }
  std::erase_if(rows, [&](const Record& row) { return row.size != *options.size; });
  check("of " + format_bytes(*options.size));
  const Record& first = measured.records.front();
  for (const Record& row : measured.records) {
    if (row.ranks == first.ranks && row.nodes == first.nodes) continue;
    throw usage_error(
        "--measured {}: rows of {} ranks on {} nodes and of {} on {}; leave one of them in the "
        "file",
        options.measured, first.ranks, first.nodes, row.ranks, row.nodes);
  }
  measured.busbw_GBps = median_of(measured.records);
}

/// As few nodes as hold the ranks, as many on each.
int fewest_nodes(int ranks, int most_on_node) {
  int nodes = 1;
  while (nodes < ranks && (ranks % nodes != 0 || ranks / nodes > most_on_node)) ++nodes;
  return nodes;
}

/// GPUs and nodes of what was measured, where they are not given. Refuses those that contradict it.
void take_measured_set(O& options, const Record& row, const std::string& file,
                       const topo::EqualHosts& machine) {
  const int on_host = static_cast<int>(device_count(machine.host));
  // Racks are the nodes of some systems, trays those of a log.
  const bool is_reported = row.nodes > 0 && (machine.hosts == 1 || row.nodes <= machine.hosts);
  if (!options.nodes) {
    options.nodes =
        is_reported ? row.nodes
                    : fewest_nodes(row.ranks, std::min(on_host, options.gpus.value_or(on_host)));
  }
  if (!options.gpus) options.gpus = std::max(1, row.ranks / *options.nodes);
  if (*options.gpus * *options.nodes == row.ranks) return;
  throw usage_error("--measured {}: {}{}, which is not {} on each of {}", file,
                    counted(row.ranks, "rank"),
                    is_reported ? " on " + counted(row.nodes, "node") : "",
                    counted(*options.gpus, "GPU"), counted(*options.nodes, "node"));
}

/// Refuses a file of other GPUs than the machine's, where both are known.
void check_gpus(const Measured& measured, const std::string& file, const topo::Graph& host) {
  const auto reported = study::fact_of({.facts = measured.facts}, key(fact::kGpu));
  std::vector<std::string> known = host.gpu_names;
  if (known.empty()) known = topo::identity_of(host).gpus;
  if (!reported || known.empty() || known.front().empty()) return;
  if (study::matches_fact(key(fact::kGpu), *reported, known)) {
    const std::string note =
        study::generic_gpu_note({.path = file, .facts = measured.facts}, known.front());
    if (!note.empty()) fmt::print(stderr, "busbar: {}\n", note);
    return;
  }
  throw usage_error("--measured {}: measured on {}, but '{}' has {}", file, *reported, host.name,
                    known.front());
}

std::string find_system(const O& options, const Measured& measured) {
  if (options.system != topo::kAutoSystem) return options.system;
  // Of an imported log the head's system is a label.
  if (any_has(measured.records, "sim", &Record::backend)) {
    return value_of(measured.facts, fact::kSystem);
  }
  const topo::WantedSystem system =
      measured.facts.empty()
          ? topo::wanted_system(options.system)
          : topo::wanted_system(study::identity_of(
                {.path = options.measured, .facts = measured.facts, .records = measured.records},
                {}));
  fmt::print(stderr, "busbar: {}\n", system.note);
  return system.name;
}

study::ExpectRequest request_of(O& options, const Measured& measured,
                                const Collective& collective) {
  study::ExpectRequest request{.system = find_system(options, measured),
                               .collective = &collective,
                               .size = options.size.value_or(study::kUsualSize),
                               .own_network = !options.network,
                               .measured_GBps = measured.busbw_GBps,
                               .is_of_file = !measured.records.empty(),
                               .gpudirect = value_of(measured.facts, fact::kGpudirectRdma),
                               .rows = measured.of_all_sizes};
  topo::EqualHosts machine = topo::load_machine(request.system);
  check_gpus(measured, options.measured, machine.host);
  if (!measured.records.empty()) {
    take_measured_set(options, measured.records.front(), options.measured, machine);
  }
  const int gpus = options.gpus.value_or(static_cast<int>(device_count(machine.host)));
  const int nodes = options.nodes.value_or(machine.hosts);
  request.machine = study::part_of(std::move(machine), gpus, nodes, options.network);
  request.ranks = gpus * nodes;
  if (request.ranks < 2) {
    throw usage_error("expect: one GPU exchanges nothing; give --gpus or --nodes");
  }
  return request;
}

const Collective& collective_of(const std::vector<std::string>& positionals) {
  const auto names = mapped<std::string>(measured_collectives(), &Collective::name);
  if (positionals.empty()) {
    throw usage_error("expect: missing collective; expected " + alternatives(names));
  }
  const Collective* collective = find_collective(positionals.front());
  if (collective != nullptr) return *collective;
  throw usage_error("expect: unknown collective '{}'; {}", one_line(positionals.front()),
                    suggestion(positionals.front(), names, "expected " + alternatives(names)));
}

struct ExpectOutput {
  std::string text{};
  Json json{};
  bool is_wrong = false;
};

ExpectOutput answer_of(O options, Measured measured, const Collective& collective) {
  take_size(options, measured);
  const study::ExpectRequest request = request_of(options, measured, collective);
  const study::Answer expected = study::expect(request, study::kept_published());
  ExpectOutput answer{.is_wrong = study::is_wrong(expected)};
  answer.json = study::expect_json(request, expected);
  answer.text = study::expect_text(request, expected);
  if (!measured.setting.empty()) {
    answer.json["setting"] = measured.setting;
    answer.text = measured.setting + ":\n" + answer.text;
  }
  return answer;
}

Status run(O& options, const Arguments& line) {
  const Collective& collective = collective_of(line.positionals);
  std::vector<ExpectOutput> answers;
  for (Measured& measured : study::read_measured(options.measured, collective, options.size)) {
    for (const std::string& note : measured.notes) {
      fmt::print(stderr, "busbar: {}\n", one_line(note));
    }
    answers.push_back(answer_of(options, std::move(measured), collective));
  }
  const Json all = json_array(answers, [](const ExpectOutput& answer) { return answer.json; });
  fmt::print("{}", choose_output(options.json, json_text(all.size() == 1 ? all.front() : all),
                                 join_each(answers, "\n", &ExpectOutput::text)));
  const bool is_wrong = std::ranges::any_of(answers, &ExpectOutput::is_wrong);
  return is_wrong ? Status::Wrong : Status::Ok;
}

}  // namespace busbar::expect_command

busbar::Command busbar::make_expect_command() {
  return command_of<expect_command::kTable, expect_command::run>();
}
