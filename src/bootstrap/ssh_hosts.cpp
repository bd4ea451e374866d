// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "bootstrap/launcher.hpp"
#include "bootstrap/socket.hpp"

namespace busbar {
namespace {

constexpr Seconds kPatience{10};

/// Whether the configuration of ssh leads elsewhere than to an unknown name.
bool is_known_to(const Words& ssh, const std::string& host) {
  Words arguments(ssh.begin() + 1, ssh.end());
  append(arguments, {"-G", host});
  const CommandResult result = run_command(ssh.front(), arguments);
  if (result.not_found) return false;
  if (result.exit_status != 0) return true;  // an old one, which does not print it
  return std::ranges::any_of(split(result.out, '\n'), [](const std::string& line) {
    const Words words = split_words(line);
    if (words.size() < 2) return false;
    const bool goes_through = words[0] == "proxyjump" || words[0] == "proxycommand";
    return (goes_through && words[1] != "none") ||
           (words[0] == "hostname" && !find_unknown_host(words[1]));
  });
}

}  // namespace

Words ssh_of(const LauncherChoice& choice, const Words& arguments, const Environment& lookup) {
  if (choice.launcher == nullptr) {
    Words words = split_words(choice.words);
    const auto host = std::ranges::find(words, "{host}");
    if (words.empty() || host == words.end()) return {};
    words.erase(host, words.end());
    const bool is_ssh = !words.empty() && (words[0] == "ssh" || words[0].ends_with("/ssh"));
    return is_ssh ? words : Words{};
  }
  if (choice.launcher->joins_by != JoinsBy::Mpi) return {};
  // In a job of a scheduler they take its own means.
  constexpr std::string_view kChoosing =
      "SLURM_JOB_ID PBS_JOBID LSB_JOBID PE_HOSTFILE HYDRA_LAUNCHER HYDRA_LAUNCHER_EXEC "
      "HYDRA_BOOTSTRAP HYDRA_BOOTSTRAP_EXEC I_MPI_HYDRA_BOOTSTRAP I_MPI_HYDRA_BOOTSTRAP_EXEC "
      "OMPI_MCA_plm OMPI_MCA_plm_rsh_agent PRTE_MCA_plm PRTE_MCA_plm_ssh_agent";
  const auto is_set = [&](const std::string& name) { return lookup(name.c_str()) != nullptr; };
  if (std::ranges::any_of(split_words(kChoosing), is_set)) return {};
  const bool may_choose = std::ranges::any_of(arguments, [](const std::string& argument) {
    return std::ranges::any_of(
        std::array{"launcher", "bootstrap", "plm", "agent", "rmk"},
        [&](const char* word) { return argument.find(word) != std::string::npos; });
  });
  return may_choose ? Words{} : Words{"ssh"};
}

Words unresolved_hosts(const Words& hosts, const Words& ssh) {
  const Clock::time_point begun = Clock::now();
  return filtered(hosts, [&](const std::string& host) {
    if (ssh.empty() || is_this_host(host) || Clock::now() - begun > kPatience) return false;
    const auto unknown = find_unknown_host(host);
    return unknown && !unknown->may_pass && !is_known_to(ssh, host);
  });
}

}  // namespace busbar
