// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/rendezvous.hpp"

#include "base/error.hpp"
#include "base/hostlist.hpp"

namespace busbar {
namespace {

std::string text_of(const Environment& lookup, const char* name) {
  const char* text = lookup(name);
  return text == nullptr ? "" : text;
}

std::optional<int> number_of(const Environment& lookup, const char* name) {
  const std::string text = text_of(lookup, name);
  if (text.empty()) return std::nullopt;
  const auto number = to_number<int>(text);
  if (!number || *number < 0) {
    throw usage_error("{}='{}' is not a number; correct or unset it", name, one_line(text));
  }
  return number;
}

/// A job of Slurm takes the same port on every node, and two jobs of a node seldom take one.
std::uint16_t port_of_slurm(const Environment& lookup) {
  constexpr unsigned kFirst = 20000;
  constexpr unsigned kPorts = 10000;
  const auto job = to_number<unsigned>(text_of(lookup, "SLURM_JOB_ID")).value_or(0);
  const auto step = to_number<unsigned>(text_of(lookup, "SLURM_STEP_ID")).value_or(0);
  return static_cast<std::uint16_t>(kFirst + (job * 31 + step) % kPorts);
}

/// The agent of torchrun keeps MASTER_PORT for a store of its own.
std::uint16_t port_of_torchrun(const Environment& lookup) {
  const std::string text = text_of(lookup, "MASTER_PORT");
  const auto port = to_number<std::uint16_t>(text);
  if (!port || *port == 0) {
    throw usage_error(
        "MASTER_PORT='{}' is not a port; torchrun and the like set it, or give --rendezvous "
        "HOST:PORT",
        one_line(text));
  }
  const bool taken = text_of(lookup, "TORCHELASTIC_USE_AGENT_STORE") == "True";
  if (!taken) return *port;
  return *port == UINT16_MAX ? static_cast<std::uint16_t>(*port - 1)
                             : static_cast<std::uint16_t>(*port + 1);
}

/// The job or step that the launcher has made the ranks of.
std::string job_of(const Environment& lookup, JoinsBy joins_by) {
  if (joins_by == JoinsBy::Torchrun) return text_of(lookup, "TORCHELASTIC_RUN_ID");
  if (joins_by != JoinsBy::Slurm) return "";
  return text_of(lookup, "SLURM_JOB_ID") + "." + text_of(lookup, "SLURM_STEP_ID");
}

int given(std::optional<int> value, std::string_view option, std::string_view variable) {
  if (value) return *value;
  throw usage_error("--rendezvous needs {} N or {}; no launcher has set it", option, variable);
}

/// The address was given by hand; what else is needed may come from whatever started the ranks.
Rendezvous named(const RendezvousOptions& options, const Environment& lookup,
                 const std::string& address, bool by_option) {
  const std::string source = by_option ? "--rendezvous" : "BUSBAR_RENDEZVOUS";
  auto rank = options.rank ? options.rank : number_of(lookup, "BUSBAR_RANK");
  auto ranks = options.ranks ? options.ranks : number_of(lookup, "BUSBAR_RANKS");
  std::string job = text_of(lookup, "BUSBAR_JOB");
  if (const auto started = find_launcher(lookup)) {
    if (!rank && job.empty()) job = job_of(lookup, started->joins_by);
    if (!rank) rank = started->rank;
    if (!ranks && started->size > 0) ranks = started->size;
  }
  if (!rank) rank = number_of(lookup, "JOB_COMPLETION_INDEX");  // a Kubernetes indexed job
  return {.address = parse_address(source, address),
          .rank = given(rank, "--rank", "BUSBAR_RANK"),
          .ranks = given(ranks, "--ranks", "BUSBAR_RANKS"),
          .job = job,
          .is_known_host = !by_option,
          .starter = by_option ? 0 : number_of(lookup, "BUSBAR_STARTER").value_or(0),
          .source = source};
}

std::optional<Rendezvous> by_launcher(const Environment& lookup) {
  const auto started = find_launcher(lookup);
  if (!started || started->size < 2) return std::nullopt;
  if (started->joins_by == JoinsBy::Mpi) return std::nullopt;
  Rendezvous result{.rank = started->rank,
                    .ranks = started->size,
                    .job = job_of(lookup, started->joins_by),
                    .source = started->name};
  if (started->joins_by == JoinsBy::Torchrun) {
    result.address = {.host = text_of(lookup, "MASTER_ADDR"), .port = port_of_torchrun(lookup)};
  } else if (started->joins_by == JoinsBy::Slurm) {
    constexpr const char* kHosts = "SLURM_STEP_NODELIST";
    const Words hosts = expand_hostlist(kHosts, text_of(lookup, kHosts));
    result.address = {.host = hosts.empty() ? "" : hosts.front(), .port = port_of_slurm(lookup)};
    result.is_known_host = true;
  }
  return result;
}

}  // namespace

std::optional<Rendezvous> find_rendezvous(const RendezvousOptions& options,
                                          const Environment& lookup) {
  const bool by_option = !options.address.empty();
  const std::string address = by_option ? options.address : text_of(lookup, "BUSBAR_RENDEZVOUS");
  if (address.empty() && options.rank) {
    throw usage_error("--rank needs --rendezvous HOST:PORT, where rank 0 listens for the others");
  }
  std::optional<Rendezvous> result =
      address.empty() ? by_launcher(lookup) : named(options, lookup, address, by_option);
  if (!result) return result;
  result->token = text_of(lookup, "BUSBAR_TOKEN");
  if (result->ranks < 1 || result->rank < 0 || result->rank >= result->ranks) {
    throw usage_error("{}: there is no rank {} of {}; ranks count from 0", result->source,
                      result->rank, counted(result->ranks, "rank"));
  }
  return result;
}

}  // namespace busbar
