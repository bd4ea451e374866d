// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/launcher.hpp"

#include <cstdlib>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/host.hpp"

namespace busbar {
namespace {

/// A process is started by the first whose variables it has: not by the job around that.
constexpr std::array kLaunchers{
    Launcher{.title = "busbar",
             .rank = "BUSBAR_RANK",
             .size = "BUSBAR_RANKS",
             .required = "BUSBAR_RENDEZVOUS",
             .joins_by = JoinsBy::Busbar},
    Launcher{.name = "hydra",
             .title = "mpiexec (PMI)",
             .rank = "PMI_RANK",
             .size = "PMI_SIZE",
             .family = MpiFamily::Mpich,
             .programs = {"mpiexec.mpich", "mpiexec.hydra", "mpiexec"},
             .words = "{arguments} -f {hostfile} -n {np} -ppn {ppn}",
             .words_here = "{arguments} -n {np}",
             .version_words = {"HYDRA"}},
    // Ranks bind themselves (--bind); what is bound to a core by its launcher cannot.
    Launcher{.name = "openmpi",
             .title = "Open MPI's mpirun",
             .rank = "OMPI_COMM_WORLD_RANK",
             .size = "OMPI_COMM_WORLD_SIZE",
             .family = MpiFamily::OpenMpi,
             .programs = {"mpirun.openmpi", "mpirun", "mpiexec"},
             .words = "{arguments} --hostfile {hostfile} --map-by ppr:{ppn}:node --bind-to none -n "
                      "{np}",
             .words_here = "--oversubscribe {arguments} -n {np}",
             .root = "--allow-run-as-root",
             .host_line = "{host} slots={ppn}",
             .version_words = {"(Open MPI)", "(OpenRTE)"}},
    Launcher{
        .title = "MVAPICH's mpirun", .rank = "MV2_COMM_WORLD_RANK", .size = "MV2_COMM_WORLD_SIZE"},
    // A batch script has SLURM_PROCID without being launched.
    Launcher{
        .name = "srun",
        .title = "srun",
        .rank = "SLURM_PROCID",
        .size = "SLURM_STEP_NUM_TASKS",
        .required = "SLURM_STEP_ID",
        .joins_by = JoinsBy::Slurm,
        .programs = {"srun"},
        .words = "{arguments} -N {nodes} -n {np} --ntasks-per-node={ppn} -w {hostfile} "
                 "--overlap --cpu-bind=none --kill-on-bad-exit=1",
        .words_here = "{arguments} -N 1 -n {np} --overlap --cpu-bind=none --kill-on-bad-exit=1",
        .version_words = {"slurm "}},
    Launcher{.name = "prrte",
             .title = "prterun (PMIx)",
             .rank = "PMIX_RANK",
             .size = "",  // it sets none
             .family = MpiFamily::OpenMpi,
             .programs = {"prterun", "prun"},
             .words = "{arguments} --hostfile {hostfile} --map-by ppr:{ppn}:node --bind-to none -n "
                      "{np}",
             .words_here = "--map-by :oversubscribe {arguments} -n {np}",
             .root = "--allow-run-as-root",
             .host_line = "{host} slots={ppn}",
             .version_words = {"PRRTE", "prte"}},
    Launcher{.title = "torchrun",
             .rank = "RANK",
             .size = "WORLD_SIZE",
             .required = "MASTER_ADDR",
             .joins_by = JoinsBy::Torchrun},
};

/// 0 for anything but a number: an unknown rank or size.
int number(const char* text) {
  const std::string_view digits = text == nullptr ? "" : text;
  int value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

/// Whether an srun started this process: not the batch script, shell or daemons of a job, whose
/// steps have numbers of Slurm's own, nor the daemons that another launcher had started by srun.
bool is_by_srun(const Environment& lookup) {
  constexpr unsigned kFirstOfSlurm = 0xfffffff0U;
  const char* step = lookup("SLURM_STEP_ID");
  const char* space = lookup("PMIX_NAMESPACE");
  if (step == nullptr || to_number<unsigned>(step).value_or(0) >= kFirstOfSlurm) return false;
  return space == nullptr || std::string_view(space).starts_with("slurm.pmix");
}

JoinsBy joins_by(const Launcher& launcher, const Environment& lookup) {
  // --mpi=pmix: PMIX_RANK; --mpi=pmi2 has the rank of another line of the table.
  if (launcher.joins_by == JoinsBy::Slurm && lookup("PMIX_RANK") != nullptr) return JoinsBy::Mpi;
  return launcher.joins_by;
}

std::string filled(std::string_view word, const WordValues& values) {
  std::string result;
  while (!word.empty()) {
    const std::size_t open = word.find('{');
    const std::size_t close = open == std::string_view::npos ? open : word.find('}', open);
    if (close == std::string_view::npos) break;
    const std::string_view name = word.substr(open + 1, close - open - 1);
    const auto known = values.find(name);
    result += word.substr(0, open);
    result += known == values.end() ? word.substr(open, close - open + 1) : known->second;
    word.remove_prefix(close + 1);
  }
  return result.append(word);
}

constexpr std::string_view kEncoded = "percent:";

constexpr std::string_view kLocal = "local";

std::string mpi_of_srun(const MpiLibrary* library) {
  if (library == nullptr) return "--mpi=none";
  return library->family == MpiFamily::OpenMpi ? "--mpi=pmix" : "--mpi=pmi2";
}

LauncherChoice of_table(const Launcher& launcher, const LauncherRequest& request, std::string why) {
  Words tried;
  for (const std::string_view program : launcher.programs) {
    if (program.empty()) continue;
    tried.emplace_back(program);
    if (!request.is_program(program)) continue;
    LauncherChoice choice = with_program(launcher, tried.back(), request);
    choice.why = std::move(why);
    return choice;
  }
  const bool is_named = request.wanted != "auto" || request.library == nullptr;
  const std::string missing = is_named ? "it" : "the launcher of " + request.library->name;
  throw Error{
      Status::Unavailable,
      fmt::format(
          "{}: PATH has no {} to start ranks with; install {}, or name another with --launcher",
          request.option, join(tried, " or "), missing)};
}

LauncherChoice choose_by_itself(const LauncherRequest& request) {
  if (request.has_hosts && request.environment("SLURM_JOB_ID") != nullptr &&
      request.is_program("srun")) {
    return of_table(*find_by(kLaunchers, JoinsBy::Slurm, &Launcher::joins_by), request,
                    "in an allocation of Slurm");
  }
  if (request.library == nullptr) {
    if (!request.has_hosts) return {.why = "built without MPI"};
    throw usage_error(request.option +
                      ": the programs are built without MPI; give --launcher srun, or --launcher "
                      "'ssh {host} {env} {program}' to reach other hosts");
  }
  // Relatives of MPICH, which most others are, have a launcher that is asked like its own.
  const MpiFamily family =
      request.library->family == MpiFamily::Other ? MpiFamily::Mpich : request.library->family;
  return of_table(*find_by(kLaunchers, family, &Launcher::family), request,
                  "of " + request.library->name + ", which the programs are built with");
}

/// The words of the user begin with a program, by its name or path.
void require_program_of_words(const LauncherRequest& request) {
  const std::string program = split_words(request.wanted).front();
  const bool is_path = program.find('/') != std::string::npos;
  if (program.find('{') != std::string::npos) return;
  if (is_path ? access(program.c_str(), X_OK) == 0 : request.is_program(program)) return;
  throw Error{
      Status::Unavailable,
      fmt::format("--launcher: {} {} to start ranks with; fix the command '{}'",
                  is_path ? "there is no" : "PATH has no", program, one_line(request.wanted))};
}

Words names_of_launchers() {
  Words names{"auto", std::string(kLocal)};
  for (const Launcher& launcher : kLaunchers) add_new(names, std::string(launcher.name));
  return names;
}

}  // namespace

const char* own_environment(const char* variable) { return std::getenv(variable); }

std::optional<StartedBy> find_launcher(const Environment& lookup) {
  for (const Launcher& launcher : kLaunchers) {
    const char* rank = lookup(launcher.rank);
    if (rank == nullptr) continue;
    if (*launcher.required != '\0' && lookup(launcher.required) == nullptr) continue;
    if (launcher.joins_by == JoinsBy::Slurm && !is_by_srun(lookup)) continue;
    const int size = number(lookup(launcher.size));
    // A variable that a shell has kept makes no job.
    if (*launcher.size != '\0' && number(rank) >= std::max(1, size)) continue;
    return StartedBy{.name = std::string(launcher.title),
                     .rank = number(rank),
                     .size = size,
                     .joins_by = joins_by(launcher, lookup)};
  }
  return std::nullopt;
}

bool speaks_for_the_job() {
  const auto launcher = find_launcher();
  return !launcher || launcher->rank == 0;
}

Words fill_words(std::string_view text, const WordValues& values, const WordLists& lists) {
  Words result;
  for (const std::string& word : split_words(text)) {
    const auto list = lists.find(word);
    append(result, list == lists.end() ? Words{filled(word, values)} : list->second);
  }
  return result;
}

Words env_words(const Variables& variables) {
  Words words;
  if (!variables.empty()) words.emplace_back("env");
  for (const auto& [name, value] : variables) words.push_back(fmt::format("{}={}", name, value));
  return words;
}

bool is_plain(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  return !word.empty() && word.find_first_not_of(kPlain) == std::string::npos;
}

std::string encoded_word(std::string_view word) {
  if (is_plain(word) && !word.starts_with(kEncoded)) return std::string(word);
  std::string text(kEncoded);
  for (const char letter : word) {
    const bool stays = letter != '%' && is_plain({&letter, 1});
    text +=
        stays ? std::string(1, letter) : fmt::format("%{:02X}", static_cast<unsigned char>(letter));
  }
  return text;
}

std::string decoded_word(std::string_view word) {
  if (!word.starts_with(kEncoded)) return std::string(word);
  std::string text;
  for (std::size_t i = kEncoded.size(); i < word.size(); ++i) {
    constexpr std::size_t kDigits = 2;
    constexpr int kHexadecimal = 16;
    unsigned char code = 0;
    const std::string_view digits = word.substr(i + 1, kDigits);
    const char* end = digits.data() + digits.size();
    const bool is_code = word[i] == '%' && digits.size() == kDigits &&
                         std::from_chars(digits.data(), end, code, kHexadecimal).ptr == end;
    text += is_code ? static_cast<char>(code) : word[i];
    if (is_code) i += kDigits;
  }
  return text;
}

Words encoded_program(const Words& program) {
  Words words = mapped<std::string>(program, encoded_word);
  if (words.empty() || is_plain(program.front())) return words;
  throw usage_error(
      "--launcher: a shell may read {}, the path of the program, and takes it for something else; "
      "move the program, or start it by a link with plain letters",
      one_line(program.front()));
}

Words launch_command(const LauncherChoice& choice, const RankLaunch& launch) {
  const WordValues values{
      {"hostfile", launch.hostfile},
      {"hosts", join(launch.hosts, ",")},
      {"nodes", fmt::format("{}", std::max<std::size_t>(1, launch.hosts.size()))},
      {"np", fmt::format("{}", launch.ranks)},
      {"ppn", fmt::format("{}", launch.ranks_per_host)}};
  if (choice.launcher == nullptr) {
    return fill_words(choice.words, values,
                      {{"{arguments}", launch.arguments},
                       {"{env}", {}},
                       {"{program}", encoded_program(launch.program)}});
  }
  const Launcher& launcher = *choice.launcher;
  Words command{choice.program};
  append(command, choice.own);
  append(command, fill_words(launch.hosts.empty() ? launcher.words_here : launcher.words, values,
                             {{"{arguments}", launch.arguments}}));
  append(command, launch.program);
  return command;
}

std::string host_lines(const LauncherChoice& choice, const RankLaunch& launch) {
  const std::string_view line = choice.launcher == nullptr ? "{host}" : choice.launcher->host_line;
  std::string lines;
  for (const std::string& host : launch.hosts) {
    lines +=
        filled(line, {{"host", host}, {"ppn", fmt::format("{}", launch.ranks_per_host)}}) + '\n';
  }
  return lines;
}

void check_host_names(const std::string& option, const Words& hosts) {
  const auto is_of_a_name = [](char letter) {
    return letter == '[' || letter == ']' || (is_plain({&letter, 1}) && letter != '/');
  };
  for (const std::string& host : hosts) {
    const bool is_name =
        !host.empty() && host.front() != '-' && std::ranges::all_of(host, is_of_a_name);
    if (is_name) continue;
    throw usage_error(
        "{}: '{}' is not the name of a host, which has letters, digits and . - _ : % @ [ ] and "
        "does not begin with '-'",
        option, one_line(host));
  }
}

Words read_host_file(const std::string& option, const std::string& path) {
  const std::optional<std::string> text = read_file(path);
  if (!text) throw usage_error("{}: cannot read {}", option, path);
  Words hosts;
  for (const std::string& line : split(*text, '\n')) {
    const std::string text_of_line = line.substr(0, line.find('#'));
    const std::string_view used = trim(text_of_line);
    add_new(hosts, std::string(used.substr(0, used.find_first_of(": \t"))));
  }
  if (hosts.empty()) throw usage_error("{}: no host in {}", option, path);
  check_host_names(option, hosts);
  return hosts;
}

bool is_this_host(std::string_view name) {
  const auto short_name = [](std::string_view full) { return full.substr(0, full.find('.')); };
  const std::string own = host_name();
  return name == "localhost" || (!own.empty() && short_name(name) == short_name(own));
}

bool is_in_path(std::string_view name) {
  const char* path = std::getenv("PATH");
  const Words folders = split(path == nullptr ? "" : path, ':');
  return std::ranges::any_of(folders, [&](const std::string& folder) {
    return access(fmt::format("{}/{}", folder, name).c_str(), X_OK) == 0;
  });
}

std::string LauncherChoice::text() const {
  const std::string name = launcher != nullptr ? program : words.empty() ? "busbar itself" : words;
  return fmt::format("{} ({})", name, why);
}

const Launcher* launcher_of_version(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  const auto is_there = [&](std::string_view word) {
    return !word.empty() && line.find(word) != std::string_view::npos;
  };
  for (const Launcher& launcher : kLaunchers) {
    if (std::ranges::any_of(launcher.version_words, is_there)) return &launcher;
  }
  return nullptr;
}

LauncherChoice with_program(const Launcher& launcher, const std::string& program,
                            const LauncherRequest& request) {
  LauncherChoice choice{.launcher = &launcher, .program = program};
  if (request.as_root) choice.own = split_words(launcher.root);
  if (launcher.joins_by == JoinsBy::Slurm) choice.own.push_back(mpi_of_srun(request.library));
  return choice;
}

LauncherChoice choose_launcher(const LauncherRequest& request) {
  constexpr std::string_view kAsked = "--launcher";
  const std::string& wanted = request.wanted;
  if (wanted == "auto") return choose_by_itself(request);
  if (wanted == kLocal) {
    if (!request.has_hosts) return {.why = std::string(kAsked)};
    throw usage_error("--launcher local starts ranks on this host only; give another for others");
  }
  if (wanted.find("{program}") != std::string::npos) {
    require_program_of_words(request);
    return {.words = wanted, .why = std::string(kAsked)};
  }
  const Launcher* known = find_by(kLaunchers, wanted, &Launcher::name);
  if (known != nullptr && !wanted.empty()) return of_table(*known, request, std::string(kAsked));
  const std::string near = nearest_word(wanted, names_of_launchers());
  throw usage_error(
      "invalid value '{}' for --launcher; expected {}, or a command with {{program}}, such as 'ssh "
      "{{host}} {{env}} {{program}}'{}",
      one_line(wanted), join(names_of_launchers(), ", "),
      near.empty() ? "" : "; did you mean " + near + "?");
}

}  // namespace busbar
