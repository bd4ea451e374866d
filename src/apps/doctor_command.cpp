// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <filesystem>
#include <optional>

#include "apps/commands.hpp"
#include "base/host.hpp"
#include "base/options.hpp"
#include "format/json.hpp"
#include "study/doctor/host_check.hpp"

namespace busbar::doctor_command {

namespace fs = std::filesystem;
using study::HostFinding;
using study::HostView;
using study::Severity;

struct DoctorOptions {
  bool all = false;
  std::optional<std::string> json{};
  bool no_run = false;
  std::string sysroot{};
  std::optional<std::string> nvidia_smi{};
  std::string programs{};
};

using O = DoctorOptions;

constexpr auto kOptions = std::to_array<Option<O>>({
    {"--all", "", set::value<&O::all>},
    {"--json", "[=FILE]", set::value<&O::json>},
    {"--no-run", "", set::value<&O::no_run>},
    {"--sysroot", "DIR", set::value<&O::sysroot>},
    {"--nvidia-smi", "PATH", set::value<&O::nvidia_smi>},
    {"--programs", "DIR", set::value<&O::programs>},
});
constexpr std::array<View, 1> kExclusive{"--all,--json"};
constexpr CommandLineTable<O> kTable{
    {.program = "busbar doctor", .help = "docs/doctor-options.md", .exclusive = kExclusive},
    kOptions};

constexpr auto kColumns = std::to_array<Column<HostFinding>>({
    {"check", "check", [](const HostFinding& finding) { return finding.check; }},
    {"severity", "severity", [](const HostFinding& finding) { return finding.severity; }},
    {"text", "text", [](const HostFinding& finding) { return finding.text; }},
    {"cure", "cure", [](const HostFinding& finding) { return finding.cure; }},
});

/// What was found on a host, or without a name between hosts.
struct CheckedHost {
  std::string host{};
  std::vector<HostFinding> findings{};
};

std::vector<CheckedHost> look_here(const O& options) {
  if (!fs::is_directory(options.sysroot.empty() ? "/" : options.sysroot)) {
    throw usage_error("--sysroot {}: no such folder", options.sysroot);
  }
  const std::string smi = options.nvidia_smi.value_or(options.sysroot.empty() ? "nvidia-smi" : "");
  HostView view = study::view_host(options.sysroot, smi);
  const bool wanted = !options.no_run && (options.sysroot.empty() || !options.programs.empty());
  if (wanted && study::gpu_count(view.facts) > 0) {
    run_collective(options.programs.empty() ? fs::path(own_program()).parent_path()
                                            : fs::absolute(options.programs),
                   view);
  }
  return {{view.facts.host, check_host(view)}};
}

std::vector<CheckedHost> look_at_files(const std::vector<std::string>& files) {
  machine::HostWindows hosts;
  for (const std::string& file : files) hosts.add_file(file);
  std::vector<CheckedHost> checked_hosts;
  for (const machine::HostWindow& host : hosts.all()) {
    checked_hosts.push_back(
        {host.last.host, study::check_host({.facts = host.last, .before = host.first})});
  }
  checked_hosts.push_back({"", study::check_same(hosts.all())});
  return checked_hosts;
}

/// `hidden`: how many hints are left out: those of a host, unless all are wanted.
std::string findings_text(const CheckedHost& checked, bool all, bool of_several,
                          std::size_t& hidden) {
  std::string text;
  for (const HostFinding& finding : checked.findings) {
    const bool hint = finding.severity == Severity::Hint;
    if (!all && finding.severity != Severity::Problem && !(hint && checked.host.empty())) {
      hidden += hint ? 1 : 0;
      continue;
    }
    const std::string place = checked.host.empty() || !of_several ? "" : checked.host + ": ";
    text += fmt::format("{}{}: {}{}{}\n", place, finding.check, name(finding.severity),
                        finding.text.empty() ? "" : ": ", finding.text);
    if (!finding.cure.empty()) text += fmt::format("    {}\n", finding.cure);
  }
  return text;
}

std::string hosts_json(const std::vector<CheckedHost>& checked_hosts) {
  Json hosts = Json::array();
  for (const CheckedHost& checked : checked_hosts) {
    hosts.push_back({{"host", checked.host}, {"findings", json_rows(kColumns, checked.findings)}});
  }
  return json_text({{"schema", 1}, {"hosts", hosts}});
}

Status run(O& options, const Arguments& line) {
  const bool of_files = !line.positionals.empty();
  for (const View option : {"--no-run", "--sysroot", "--nvidia-smi", "--programs"}) {
    if (of_files && line.has(option)) {
      throw usage_error("doctor: {} is not valid with files", option);
    }
  }
  const auto checked_hosts = of_files ? look_at_files(line.positionals) : look_here(options);
  std::vector<Severity> found;
  std::string text;
  std::size_t hints = 0;
  for (const CheckedHost& checked : checked_hosts) {
    text += findings_text(checked, options.all, of_files, hints);
    append(found, mapped(checked.findings, &HostFinding::severity));
  }
  if (std::ranges::count(found, Severity::NotLooked) == std::ssize(found)) {
    throw Error{Status::Unavailable,
                "doctor: nothing could be looked at; a captured tree has sys "
                "and proc, and files have facts that are checked"};
  }
  const auto problems = std::ranges::count(found, Severity::Problem);
  text += fmt::format("{} found{}\n", problems == 0 ? "no problems" : counted(problems, "problem"),
                      hints == 0 ? "" : fmt::format(", {} (--all)", counted(hints, "hint")));
  fmt::print("{}", choose_output(options.json, hosts_json(checked_hosts), text));
  return problems == 0 ? Status::Ok : Status::Wrong;
}

}  // namespace busbar::doctor_command

busbar::Command busbar::make_doctor_command() {
  return command_of<doctor_command::kTable, doctor_command::run>();
}
