// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "apps/commands.hpp"
#include "base/options.hpp"
#include "judge/run_facts.hpp"
#include "report/json.hpp"
#include "report/table.hpp"
#include "study/expect.hpp"
#include "study/measured_file.hpp"
#include "topo/systems/built_in.hpp"
#include "topo/systems/joined_hosts.hpp"
#include "topo/systems/recognize.hpp"

namespace busbar {
namespace expect_command {

using View = std::string_view;

/// Options of `busbar expect`.
struct ExpectOptions {
  std::optional<Bytes> size{};
  std::string system{topo::kAutoSystem};
  std::optional<int> gpus{};  ///< of each node
  std::optional<int> nodes{};
  std::optional<topo::NetworkRequest> network{};
  std::string measured{};  ///< GB/s, or a file
  bool json = false;
};

using O = ExpectOptions;

void set_size(O& options, View option, View text) {
  options.size = parse_bytes(option, text);
  if (*options.size == 0) throw usage_error(fmt::format("{} {}: nothing is sent", option, text));
}

constexpr int kMost = 1 << 16;
constexpr auto kOptions = std::to_array<Option<O>>({
    {"--size", "SIZE", set_size},
    {"--system", "NAME|FILE|auto", set::value<&O::system>},
    {"--gpus", "N", set::integer<&O::gpus, 1, kMost>},
    {"--nodes,--hosts", "N", set::integer<&O::nodes, 1, kMost>},
    {"--nic", "[COUNTx]GBPS", [](O& o, View n, View v) { o.network = topo::parse_network(n, v); }},
    {"--measured", "GBPS|FILE", set::value<&O::measured>},
    {"--json", "", set::value<&O::json>},
});
constexpr CommandLineTable<O> kTable{
    {.program = "busbar expect", .help = "docs/expect-options.md", .most_positionals = 1},
    kOptions};

using study::Measured;

/// Of the rows of one size, out of place where there are such, the median.
double median_of(std::vector<Record> rows) {
  const bool any =
      std::any_of(rows.begin(), rows.end(), [](const Record& r) { return !r.in_place; });
  std::erase_if(rows, [&](const Record& row) { return any && row.in_place; });
  std::sort(rows.begin(), rows.end(),
            [](const Record& a, const Record& b) { return a.busbw_GBps < b.busbw_GBps; });
  return rows[rows.size() / 2].busbw_GBps.value_or(0);
}

/// Keeps the rows of the nodes and the size that are asked for, else of the largest size, and takes
/// their bandwidth.
void take_size(O& options, Measured& measured) {
  std::vector<Record>& rows = measured.records;
  if (rows.empty()) return;
  const auto check = [&](const std::string& what) {
    if (!rows.empty()) return;
    throw usage_error(fmt::format("--measured {}: no row {}", options.measured, what));
  };
  if (options.nodes) {
    std::erase_if(rows,
                  [&](const Record& row) { return row.nodes > 0 && row.nodes != *options.nodes; });
    check(fmt::format("of {} nodes", *options.nodes));
  }
  if (!options.size) {
    options.size = std::max_element(rows.begin(), rows.end(), [](const Record& a, const Record& b) {
                     return a.size < b.size;
                   })->size;
  }
  std::erase_if(rows, [&](const Record& row) { return row.size != *options.size; });
  check("of " + format_bytes(*options.size));
  const Record& first = measured.records.front();
  for (const Record& row : measured.records) {
    if (row.ranks == first.ranks && row.nodes == first.nodes) continue;
    throw usage_error(
        fmt::format("--measured {}: rows of {} ranks on {} nodes and of {} on {}; leave one of "
                    "them in the file",
                    options.measured, first.ranks, first.nodes, row.ranks, row.nodes));
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
  const auto count = [](int number, const char* noun) {
    return counted(static_cast<std::size_t>(number), noun);
  };
  throw usage_error(fmt::format("--measured {}: {}{}, which is not {} on each of {}", file,
                                count(row.ranks, "rank"),
                                is_reported ? " on " + count(row.nodes, "node") : "",
                                count(*options.gpus, "GPU"), count(*options.nodes, "node")));
}

/// Refuses a file of other GPUs than the machine's, where both are known.
void check_gpus(const Measured& measured, const std::string& file, const topo::Graph& host) {
  const auto reported = judge::fact_of({.facts = measured.facts}, "gpu");
  std::vector<std::string> known = host.gpu_names;
  if (known.empty()) known = topo::identity_of(host).gpus;
  if (!reported || known.empty() || known.front().empty()) return;
  if (judge::matches_fact("gpu", *reported, known)) {
    const std::string note =
        judge::generic_gpu_note({.file = file, .facts = measured.facts}, known.front());
    if (!note.empty()) fmt::print(stderr, "busbar: {}\n", note);
    return;
  }
  throw usage_error(fmt::format("--measured {}: measured on {}, but '{}' has {}", file, *reported,
                                host.name, known.front()));
}

std::string find_system(const O& options, const Measured& measured) {
  if (options.system != topo::kAutoSystem) return options.system;
  const auto simulated = measured.facts.find("system");
  if (simulated != measured.facts.end()) return simulated->second;
  const topo::WantedSystem system =
      measured.facts.empty()
          ? topo::wanted_system(options.system)
          : topo::wanted_system(judge::identity_of(
                {.file = options.measured, .facts = measured.facts, .records = measured.records},
                {}));
  fmt::print(stderr, "busbar: {}\n", system.note);
  return system.name;
}

/// The best set of so many GPUs of a host.
topo::Graph best_of(const topo::Graph& host, int gpus) {
  if (gpus > static_cast<int>(device_count(host))) {
    throw usage_error(
        fmt::format("--gpus {}: '{}' has {} on each node", gpus, host.name, device_count(host)));
  }
  topo::Graph labelled = host;
  if (labelled.labels.empty()) label_devices(labelled);
  if (gpus == 1) return keep_devices(labelled, {0});
  if (gpus == static_cast<int>(device_count(host))) return labelled;
  return keep_devices(labelled, topo::choose(labelled, gpus, topo::Policy::Best, {}).bound.devices);
}

study::ExpectRequest request_of(O& options, const Measured& measured,
                                const Collective& collective) {
  study::ExpectRequest request{.system = find_system(options, measured),
                               .collective = &collective,
                               .size = options.size.value_or(study::kUsualSize),
                               .own_network = !options.network,
                               .measured_GBps = measured.busbw_GBps,
                               .is_of_file = !measured.records.empty()};
  topo::EqualHosts machine = topo::load_machine(request.system);
  check_gpus(measured, options.measured, machine.host);
  if (!measured.records.empty()) {
    take_measured_set(options, measured.records.front(), options.measured, machine);
  }
  const int gpus = options.gpus.value_or(static_cast<int>(device_count(machine.host)));
  const int nodes = options.nodes.value_or(machine.hosts);
  const bool is_joined = machine.hosts > 1 && !options.network;
  if (nodes > machine.hosts && machine.hosts > 1) {
    throw usage_error(
        fmt::format("--nodes {}: '{}' has {} nodes", nodes, machine.host.name, machine.hosts));
  }
  machine.host = best_of(machine.host, gpus);
  if (nodes > 1 && !is_joined) {
    machine.host = topo::with_network(std::move(machine.host), options.network);
  }
  machine.host.labels.clear();
  machine.hosts = nodes;
  request.machine = std::move(machine);
  request.ranks = gpus * nodes;
  if (request.ranks < 2) {
    throw usage_error("expect: one GPU exchanges nothing; give --gpus or --nodes");
  }
  return request;
}

std::string rate_text(double value) { return fmt::format("{:.4g}", value); }

/// "48 to 69", or one figure where both are as good as equal.
std::string range_text(const topo::BandwidthRange& range) {
  const std::string low = rate_text(range.low);
  const std::string high = rate_text(range.high);
  return range.high < range.low * 1.02 ? high : low + " to " + high;
}

std::string published_what(const PublishedRate& rate) {
  std::vector<std::string> parts{rate.source};
  if (!rate.instance.empty()) parts.push_back(rate.instance);
  if (rate.size) parts.push_back(format_bytes(*rate.size));
  if (rate.in_place) parts.emplace_back(*rate.in_place ? "in place" : "out of place");
  if (!rate.condition.empty()) parts.push_back(rate.condition);
  return join(parts, ", ");
}

/// What is known of the prediction's error.
std::string prediction_error_text(const study::ExpectRequest& request) {
  const std::vector<topo::Medium>& media = request.machine.host.media;
  const bool has_xgmi = std::any_of(media.begin(), media.end(), [](const topo::Medium& medium) {
    return medium.kind == topo::LinkKind::Xgmi;
  });
  if (has_xgmi) return "; by NCCL's times, not RCCL's (docs/simulation.md)";
  const bool has_gpus = topo::device(request.machine.host, 0).kind == topo::NodeKind::Gpu;
  if (!has_gpus || topo::is_system_path(request.system)) return "";
  return fmt::format("; median error {} of published logs (docs/simulation.md)",
                     request.size >= kMiB ? "10 %" : "12 %");
}

std::string reference_text(study::Reference reference) {
  switch (reference) {
    case study::Reference::SameSize: return "the median that others measured at this size";
    case study::Reference::NearSize: return "the median that others measured near this size";
    case study::Reference::Prediction: break;
  }
  return "the prediction";
}

std::string yours_text(const study::Expectation& expected, double measured) {
  std::string text(name(expected.outcome));
  if (expected.reference_GBps) {
    // Never more than it is: 0.849 is not 0.85.
    const double share = std::floor(measured / *expected.reference_GBps * 100) / 100;
    text = fmt::format("{:.{}f} of {}: {}", share, share < 100 ? 2 : 0,
                       reference_text(expected.reference), text);
  }
  if (!expected.missed_floors.empty()) {
    text += fmt::format(", below {} of {} operators' floors", expected.missed_floors.size(),
                        expected.floors.size());
  }
  return text;
}

Table figures_of(const study::ExpectRequest& request, const study::Expectation& expected) {
  Table table{.columns = {"figure", "GB/s", "by"}};
  if (expected.bound_GBps) {
    table.rows.push_back(
        {"bound", (expected.assumptions.empty() ? "" : "~") + rate_text(*expected.bound_GBps),
         "the links: " + expected.bottleneck});
  }
  if (expected.predicted_GBps) {
    table.rows.push_back({"predicted", rate_text(*expected.predicted_GBps),
                          expected.algorithm + prediction_error_text(request)});
  }
  for (const PublishedRate& rate : expected.published) {
    table.rows.push_back(
        {std::string(name(rate.evidence)), rate_text(*rate.busbw_GBps), published_what(rate)});
  }
  for (const PublishedRate& rate : expected.floors) {
    table.rows.push_back({"operator's floor", rate_text(*rate.busbw_GBps), published_what(rate)});
  }
  if (request.measured_GBps) {
    table.rows.push_back(
        {"yours", rate_text(*request.measured_GBps), yours_text(expected, *request.measured_GBps)});
  }
  return table;
}

/// What a user may have taken for bus bandwidth, if it would then be as expected.
std::string reading_note(const study::ExpectRequest& request, const study::Expectation& expected,
                         std::string_view what, double factor) {
  const double as_busbw = *request.measured_GBps * factor;
  const bool predicted = expected.reference == study::Reference::Prediction;
  const double least = predicted ? study::kAsPredicted : study::kAsExpected;
  const double share = as_busbw / expected.reference_GBps.value_or(INFINITY);
  if (std::abs(factor - 1) < 0.05 || share < least || share > 1 / least) return "";
  return fmt::format("if {} is {}, the bus bandwidth is {} (times {:.4g}), as expected\n",
                     rate_text(*request.measured_GBps), what, rate_text(as_busbw), factor);
}

std::string causes_text(const study::Expectation& expected) {
  Table fitting{.columns = {"cause that fits", "GB/s then", "confirm by"}};
  std::vector<std::string> others;
  for (const study::CauseResult& each : expected.causes) {
    if (each.fits) {
      fitting.rows.push_back({std::string(each.cause->text), range_text(each.busbw_GBps),
                              std::string(each.cause->confirm)});
    } else {
      others.push_back(fmt::format("  {} ({})\n", each.cause->text, range_text(each.busbw_GBps)));
    }
  }
  std::string text;
  if (!fitting.rows.empty()) text += '\n' + plain_table(fitting);
  if (fitting.rows.empty()) text += "\nno known cause fits\n";
  if (!others.empty()) text += "\nwould leave another bandwidth\n" + join(others, "");
  return text;
}

std::string outcome_text(const study::ExpectRequest& request, const study::Expectation& expected) {
  const auto note = [&](std::string_view what, double factor) {
    return reading_note(request, expected, what, factor);
  };
  if (expected.outcome == study::Outcome::AsExpected) return "";
  if (expected.outcome == study::Outcome::AboveBound) {
    return (expected.assumptions.empty()
                ? "\nmore than the links allow: another unit, number of GPUs or nodes, or machine\n"
                : "\nmore than the links allow, if what is assumed of them holds\n") +
           note("in Gb/s", 1.0 / 8) + note("the sum of both directions", 1.0 / 2);
  }
  const double factor = request.collective->bus_factor(request.ranks);
  return (request.is_of_file ? "" : note("algbw", factor)) + causes_text(expected);
}

std::string text_of(const study::ExpectRequest& request, const study::Expectation& expected) {
  const topo::Graph& host = request.machine.host;
  const bool has_gpus = topo::device(host, 0).kind == topo::NodeKind::Gpu;
  std::string text =
      fmt::format("{} of {} on {} of {}\n\n", request.collective->title, format_bytes(request.size),
                  counted(static_cast<std::size_t>(request.ranks), has_gpus ? "GPU" : "processor") +
                      (expected.nodes > 1 ? fmt::format(" of {} nodes", expected.nodes) : ""),
                  host.title.empty() ? host.name : fmt::format("{} ({})", host.name, host.title));
  text += plain_table(figures_of(request, expected));
  if (expected.published.empty()) text += "\nno figure of others is known for this set and size\n";
  for (const std::string& assumption : expected.assumptions) {
    text += "assumed for the bound: " + assumption + '\n';
  }
  if (!request.measured_GBps) return text;
  text += outcome_text(request, expected);
  text += fmt::format(
      "\nas expected from {:g} of what others measured ({:g} of a prediction), too low below {:g} "
      "({:g}): our choice.\nOne launch is no acceptance test: busbar accept run\n",
      study::kAsExpected, study::kAsPredicted, study::kLow, study::kFarBelowPrediction);
  return text;
}

Json rate_or_null(std::optional<double> GBps) {
  return GBps ? Json(rounded(*GBps)) : Json(nullptr);
}

Json published_json(const std::vector<PublishedRate>& rates) {
  Json list = Json::array();
  for (const PublishedRate& rate : rates) {
    list.push_back({{"busbw_GBps", *rate.busbw_GBps},
                    {"evidence", std::string(name(rate.evidence))},
                    {"instance", rate.instance},
                    {"size_bytes", json_or_null(rate.size)},
                    {"in_place", json_or_null(rate.in_place)},
                    {"source", rate.source},
                    {"condition", rate.condition}});
  }
  return list;
}

Json json_of(const study::ExpectRequest& request, const study::Expectation& expected) {
  Json causes = Json::array();
  for (const study::CauseResult& each : expected.causes) {
    causes.push_back({{"id", std::string(each.cause->id)},
                      {"busbw_GBps", {rounded(each.busbw_GBps.low), rounded(each.busbw_GBps.high)}},
                      {"confirm", std::string(each.cause->confirm)},
                      {"fits", each.fits}});
  }
  return {{"system", request.machine.host.name},
          {"collective", std::string(request.collective->name)},
          {"size_bytes", request.size},
          {"ranks", request.ranks},
          {"nodes", expected.nodes},
          {"bound_GBps", rate_or_null(expected.bound_GBps)},
          {"bottleneck", expected.bottleneck},
          {"assumptions", expected.assumptions},
          {"predicted_GBps", rate_or_null(expected.predicted_GBps)},
          {"algorithm", expected.algorithm},
          {"reference_GBps", rate_or_null(expected.reference_GBps)},
          {"reference", reference_text(expected.reference)},
          {"published", published_json(expected.published)},
          {"floors", published_json(expected.floors)},
          {"measured_GBps", json_or_null(request.measured_GBps)},
          {"outcome", std::string(name(expected.outcome))},
          {"missed_floors", expected.missed_floors.size()},
          {"causes", causes}};
}

const Collective& collective_of(const std::vector<std::string>& positionals) {
  std::vector<std::string> names;
  for (const Collective* each : measured_collectives()) names.emplace_back(each->name);
  if (positionals.empty()) {
    throw usage_error("expect: missing collective; expected " + alternatives(names));
  }
  const Collective* collective = find_collective(positionals.front());
  if (collective != nullptr) return *collective;
  throw usage_error(
      fmt::format("expect: unknown collective '{}'; {}", one_line(positionals.front()),
                  suggestion(positionals.front(), names, "expected " + alternatives(names))));
}

/// An answer to one figure, and whether it is a wrong one.
struct Answer {
  std::string text{};
  Json json{};
  bool is_wrong = false;
};

Answer answer_of(O options, Measured measured, const Collective& collective) {
  take_size(options, measured);
  const study::ExpectRequest request = request_of(options, measured, collective);
  const Published published = parse_published(embedded_text(kPublishedFile), kPublishedFile);
  const study::Expectation expected = study::expect(request, published);
  const bool is_impossible =
      expected.outcome == study::Outcome::AboveBound && expected.assumptions.empty();
  Answer answer{.is_wrong = is_impossible || expected.outcome == study::Outcome::TooLow};
  if (options.json) {
    answer.json = json_of(request, expected);
    if (!measured.setting.empty()) answer.json["setting"] = measured.setting;
  } else {
    answer.text =
        (measured.setting.empty() ? "" : measured.setting + ":\n") + text_of(request, expected);
  }
  return answer;
}

Status run(std::span<char* const> arguments) {
  O options;
  const Arguments line = parse_options(kTable, arguments, options);
  if (line.help) return print_help(kTable.help);
  const Collective& collective = collective_of(line.positionals);
  std::vector<Answer> answers;
  for (Measured& measured : study::read_measured(options.measured, collective, options.size)) {
    answers.push_back(answer_of(options, std::move(measured), collective));
  }
  if (options.json) {
    Json all = Json::array();
    for (const Answer& answer : answers) all.push_back(answer.json);
    fmt::print("{}\n", (all.size() == 1 ? all.front() : all).dump(2));
  } else {
    fmt::print("{}", join_each(answers, "\n", [](const Answer& answer) { return answer.text; }));
  }
  const bool is_wrong = std::any_of(answers.begin(), answers.end(),
                                    [](const Answer& answer) { return answer.is_wrong; });
  return is_wrong ? Status::Wrong : Status::Ok;
}

}  // namespace expect_command

Status run_expect(std::span<char* const> arguments) { return expect_command::run(arguments); }

}  // namespace busbar
