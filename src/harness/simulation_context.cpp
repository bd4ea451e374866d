// SPDX-License-Identifier: BSD-3-Clause
#include "harness/simulation_context.hpp"

#include <cmath>

#include <fmt/format.h>

#include "base/embedded_text.hpp"
#include "base/text.hpp"
#include "harness/host.hpp"

namespace busbar {
namespace {

std::string algorithm_words(const Options& options, const topo::Predictor& predictor) {
  if (options.algorithm) return std::string(name(*options.algorithm));
  std::vector<std::string> words;
  for (const topo::Algorithm algorithm : predictor.protocol().algorithms) {
    words.emplace_back(name(algorithm));
  }
  return fmt::format("quickest of {}", join(words, " "));
}

std::string flow_words(const topo::Predictor& predictor) {
  const int flows = predictor.bound_options().flows;
  return flows > 0 ? fmt::format("{}", flows) : "as many as fill the network";
}

std::string configuration(const Options& options, const Collective& collective,
                          const topo::Predictor& predictor) {
  // Of the words of a measured run those that a prediction depends on.
  std::vector<std::string> words{
      fmt::format("collective={}", collective.name),
      "backend=sim",
      fmt::format("ranks={}", predictor.set().ranks),
      fmt::format("nodes={}", predictor.set().parts.size()),
      fmt::format("system={}", predictor.cluster().graph().name),
      fmt::format("flows={}", predictor.bound_options().flows),
      fmt::format("algorithm={}", options.algorithm ? name(*options.algorithm) : "auto"),
      fmt::format("devices={}", options.devices ? words_of(*options.devices) : "prefix")};
  const std::vector<std::string> known{"sizes", "types", "ops", "root", "placement"};
  for (const std::string& word : configuration_words(options)) {
    for (const std::string& key : known) {
      if (word.starts_with(key + "=")) words.push_back(word);
    }
  }
  return join(words, " ");
}

/// Lines of nccl-tests' head; of very many ranks only the first are told.
std::vector<std::string> device_lines(const topo::Predictor& predictor) {
  constexpr int kMostLines = 72;
  std::vector<std::string> lines;
  int rank = 0;
  for (const topo::HostPart& part : predictor.set().parts) {
    const std::vector<int> indices = predictor.cluster().indices(part);
    for (std::size_t i = 0; i < indices.size() && rank < kMostLines; ++i, ++rank) {
      const topo::Node& node = device(predictor.cluster().graph(), indices[i]);
      lines.push_back(fmt::format(
          " Rank {:>2} Group  0 Pid      0 on simulated-host{} device {:>2} [{}] {}", rank,
          part.host, part.devices[i], node.bus_id.empty() ? "-" : node.bus_id, node.model));
    }
  }
  if (rank < predictor.set().ranks) {
    lines.push_back(fmt::format(" ... and {} more ranks", predictor.set().ranks - rank));
  }
  return lines;
}

std::vector<std::string> notes_of(const Options& options, const Collective& collective,
                                  const topo::Predictor& predictor) {
  const topo::Graph& graph = predictor.cluster().graph();
  const topo::SetLimits& limits = predictor.limits();
  const std::string what = graph.title.empty() ? graph.name : graph.title;
  std::vector<std::string> notes{
      fmt::format("busbar {}: simulated: {} on {}, {} on {}; foreseen from its links, nothing was "
                  "measured",
                  version(), collective.title, what,
                  counted(static_cast<std::size_t>(predictor.set().ranks), "rank"),
                  counted(predictor.set().parts.size(), "node")),
      fmt::format("simulated: {}; flows between hosts: {}; {}", algorithm_words(options, predictor),
                  flow_words(predictor), predictor.protocol().source)};
  if (predictor.set().ranks < 2) return notes;
  notes.push_back(fmt::format("devices {} ({}): rings {} {:.4g} GB/s over {}, limited by {}{}",
                              predictor.set().words(), predictor.set().reason,
                              graph.assumptions.empty() ? "at most" : "about", limits.ring_GBps,
                              limits.kind, limits.limit, limits.exact ? "" : " (not exact)"));
  for (const topo::Assumption& assumption : graph.assumptions) {
    notes.push_back("assumed: " + assumption.text);
  }
  return notes;
}

}  // namespace

RunContext simulation_context(const Options& options, const Collective& collective,
                              const topo::Predictor& predictor, const std::string& command) {
  const topo::Graph& graph = predictor.cluster().graph();
  RunContext context;
  context.facts = {{"busbar", std::string(version())},
                   {"configuration", configuration(options, collective, predictor)},
                   {"started", local_time()},
                   {"command", command},
                   {"simulated", "yes"},
                   {"system", graph.name},
                   {"system-title", graph.title},
                   {"system-source", graph.source},
                   {"library", "simulated"},
                   {"processor", graph.title.empty() ? graph.name : graph.title},
                   {"algorithm", algorithm_words(options, predictor)},
                   {"flows", flow_words(predictor)},
                   {"protocol-source", predictor.protocol().source},
                   {"device-set", predictor.set().words()},
                   {"bound-kind", predictor.limits().kind},
                   {"bound-limit", predictor.limits().limit}};
  context.notes = notes_of(options, collective, predictor);
  context.nccl_name = collective.nccl_name;
  context.first_size = options.sweep.first;
  context.last_size = options.sweep.last;
  context.step = options.sweep.factor > 1 ? fmt::format("{}(factor)", options.sweep.factor)
                                          : fmt::format("{}(bytes)", options.sweep.step);
  context.warmup = context.operations = context.checks = "0";
  context.aggregated = "1";
  context.graph = context.unalign = "0";
  context.devices = device_lines(predictor);
  context.timestamps = options.timestamps;
  context.one_rank = predictor.set().ranks == 1;
  return context;
}

}  // namespace busbar
