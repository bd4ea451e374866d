// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/child_process.hpp"
#include "bootstrap/mpi_library.hpp"

namespace busbar {

/// How the ranks that a launcher starts find each other: by MPI, or by an address in variables.
enum class JoinsBy { Mpi, Slurm, Torchrun, Busbar };

/// What starts ranks, as data: the variables that it gives them, and how it is asked for them.
struct Launcher {
  std::string_view name{};   ///< of --launcher; empty: it is only known by its variables
  std::string_view title{};  ///< "Open MPI's mpirun"
  const char* rank = "";     ///< variables of a rank
  const char* size = "";
  const char* required = "";  ///< must be set too, where there is one
  JoinsBy joins_by = JoinsBy::Mpi;
  MpiFamily family = MpiFamily::Other;  ///< whose programs it starts
  /// Its names in PATH, the best first: plain ones may belong to another MPI.
  std::array<std::string_view, 3> programs{};
  /// Words behind the program's name, for the hosts of a file and for this host alone. Replaced
  /// are {hostfile} {hosts} {nodes} {np} {ppn}, and as words of their own {arguments}.
  std::string_view words{};
  std::string_view words_here{};
  std::string_view root{};                          ///< words where root starts it
  std::string_view host_line = "{host}";            ///< of its host file: {host} {ppn}
  std::array<std::string_view, 2> version_words{};  ///< of the first line of its --version
};

using Environment = std::function<const char*(const char*)>;
[[nodiscard]] const char* own_environment(const char* variable);

/// The program that started this process, by its environment; known before ranks are joined.
struct StartedBy {
  std::string name{};
  int rank = 0;
  int size = 0;  ///< 0 where the launcher does not report it
  JoinsBy joins_by = JoinsBy::Mpi;
};

/// Nothing for a process started by hand.
[[nodiscard]] std::optional<StartedBy> find_launcher(const Environment& lookup = own_environment);

/// True on the one process of a job that may print before the ranks are joined.
[[nodiscard]] bool speaks_for_the_job();

/// Words of a text, with {name} replaced by its value, and a word that is a list's name by its
/// words; other names stay as they are. Pure.
using WordValues = std::map<std::string, std::string, std::less<>>;
using WordLists = std::map<std::string, Words, std::less<>>;
[[nodiscard]] Words fill_words(std::string_view text, const WordValues& values,
                               const WordLists& lists);

/// "env NAME=VALUE ..."; empty if there is no variable.
[[nodiscard]] Words env_words(const Variables& variables);

/// Whether no shell reads anything in a word. What starts ranks may pass their command line through
/// shells (ssh does), on other hosts and of any kind.
[[nodiscard]] bool is_plain(std::string_view word);
/// Any other word is "percent:" and its text percent-encoded; the measuring programs decode theirs.
[[nodiscard]] std::string encoded_word(std::string_view word);
[[nodiscard]] std::string decoded_word(std::string_view word);
/// Throws Error (Usage) for a path of the program itself that is not plain.
[[nodiscard]] Words encoded_program(const Words& program);

/// What is to be started, and where.
struct RankLaunch {
  Words hosts{};           ///< empty: this host
  std::string hostfile{};  ///< a file with `host_lines`
  int ranks = 1;
  int ranks_per_host = 1;
  Words arguments{};  ///< of the launcher, from the user
  Words program{};    ///< with its arguments
};

/// What was chosen to start ranks with: one of the table, the user's words, or busbar itself.
struct LauncherChoice {
  const Launcher* launcher = nullptr;  ///< null: the words, or busbar itself where there are none
  std::string program{};               ///< the launcher's name, or path
  Words own{};                         ///< words that it needs for the programs' MPI, or for root
  std::string words{};                 ///< the user's, with {program}
  std::string why{};                   ///< for people

  /// Whether busbar starts every rank: by words with {host}, or as a process on this host.
  [[nodiscard]] bool starts_each_rank() const {
    return launcher == nullptr && (words.empty() || words.find("{host}") != std::string::npos);
  }
  /// "srun (in an allocation of Slurm)"
  [[nodiscard]] std::string text() const;
};

/// Whether a host's name is localhost or this host's own, with or without its domain.
[[nodiscard]] bool is_this_host(std::string_view name);

/// Whether PATH has a program of this name; a function for tests.
using ProgramLookup = std::function<bool(std::string_view)>;
[[nodiscard]] bool is_in_path(std::string_view name);

struct LauncherRequest {
  std::string wanted{};    ///< a name of the table, "local", "auto", or words with {program}
  bool has_hosts = false;  ///< others than this one
  const MpiLibrary* library = nullptr;  ///< that the programs are built with; null: none
  std::string option{};                 ///< what errors begin with
  Environment environment = own_environment;
  ProgramLookup is_program = is_in_path;
  bool as_root = false;
};

/// Throws Error: Usage for an unknown launcher, Unavailable if its program is not in PATH.
[[nodiscard]] LauncherChoice choose_launcher(const LauncherRequest& request);

/// The launcher whose `--version` this is; null where it is none of the table.
[[nodiscard]] const Launcher* launcher_of_version(std::string_view text);
/// The same choice with another program (--mpiexec) of that launcher.
[[nodiscard]] LauncherChoice with_program(const Launcher& launcher, const std::string& program,
                                          const LauncherRequest& request);

/// The command that starts a launch; not where each rank is started by itself. Pure.
[[nodiscard]] Words launch_command(const LauncherChoice& choice, const RankLaunch& launch);
/// The host file that goes with it.
[[nodiscard]] std::string host_lines(const LauncherChoice& choice, const RankLaunch& launch);

/// Throws Error (Usage) that begins with `option` for a name that no host can have: with letters
/// that a shell could read, or one that a launcher would take for an option.
void check_host_names(const std::string& option, const Words& hosts);

/// The hosts of a file: a name per line; anything after it (":8", " slots=8") and comments are
/// ignored, a name that comes again, too. Throws Error (Usage) that begins with `option`.
[[nodiscard]] Words read_host_file(const std::string& option, const std::string& path);

/// The ssh that a launcher reaches hosts by, with what stands before a host's name: "ssh -p 22".
/// Empty where it is something else, or the user's arguments or the environment may have chosen so.
[[nodiscard]] Words ssh_of(const LauncherChoice& choice, const Words& arguments,
                           const Environment& lookup = own_environment);

/// Those of the hosts whose names have no address, neither here nor by the configuration of that
/// ssh (another name, a jump host). Lookups end after 10 seconds: what is left counts as known.
[[nodiscard]] Words unresolved_hosts(const Words& hosts, const Words& ssh);

}  // namespace busbar
