// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/nvidia_smi.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace busbar::topo {
namespace {

constexpr std::string_view kMigColumn = ",mig.mode.current";

/// What a program said, in one line of bounded length.
std::string said(const CommandResult& result) {
  constexpr std::size_t kLongest = 160;
  const std::string_view text = trim(trim(result.err).empty() ? result.out : result.err);
  const std::string line = one_line(text.substr(0, kLongest));
  return line.empty() ? "it says nothing" : fmt::format("it says: {}", line);
}

bool mentions(const CommandResult& result, std::string_view words) {
  return result.out.find(words) != std::string::npos || result.err.find(words) != std::string::npos;
}

/// Old drivers know no MIG: their table gets the column that it lacks.
std::string with_mig_column(const std::string& table) {
  std::string out;
  for (const std::string& line : split(table, '\n')) {
    if (!trim(line).empty()) out += fmt::format("{}, [N/A]\n", trim(line));
  }
  return out;
}

class Prober {
 public:
  Prober(const std::string& path, Seconds timeout) : path_(path), timeout_(timeout) {}

  [[nodiscard]] SmiProbe probe() {
    ask_gpus();
    ask(probe_.matrix, {"topo", "-m"}, parse_smi_matrix);
    ask(probe_.p2p_read, {"topo", "-p2p", "r"}, parse_smi_p2p);
    ask(probe_.p2p_write, {"topo", "-p2p", "w"}, parse_smi_p2p);
    ask(probe_.nvlink, {"nvlink", "-s"}, parse_nvlink_status);
    if (has_links()) ask(probe_.remotes, {"nvlink", "-R"}, parse_nvlink_remotes);
    if (probe_.matrix) {
      for (const std::string& note : probe_.matrix->notes) probe_.warnings.push_back(note);
    }
    return std::move(probe_);
  }

 private:
  void warn(std::string words) { probe_.warnings.push_back(std::move(words)); }

  /// "nvidia-smi topo -m"
  [[nodiscard]] std::string question(const std::vector<std::string>& arguments) const {
    return fmt::format("{} {}", path_, join(arguments, " "));
  }

  /// The result, or nothing where it answers no more: then a warning says why, once.
  std::optional<CommandResult> run(const std::vector<std::string>& arguments) {
    if (gone_) return std::nullopt;
    CommandResult result = run_command(path_, arguments, timeout_);
    if (result.not_found) {
      warn(fmt::format("cannot run {} ({}): no GPU is looked for; --nvidia-smi PATH names it",
                       path_, result.err));
    } else if (result.timed_out) {
      warn(
          fmt::format("{} gave no answer within {:g} s and was killed: what it and later questions "
                      "would tell is left out; the kernel's log (dmesg) may name a lost GPU",
                      question(arguments), timeout_.count()));
    } else if (result.exit_status == 9 || mentions(result, "couldn't communicate")) {
      warn(fmt::format("{} cannot reach the driver ({}): no GPU is known; load the NVIDIA driver",
                       path_, said(result)));
    } else if (mentions(result, "No devices were found")) {
      warn(fmt::format("{} finds no GPU here", path_));
    } else {
      return result;
    }
    gone_ = true;
    return std::nullopt;
  }

  template <typename Answer, typename Parser>
  void read(Answer& answer, const std::vector<std::string>& arguments, const CommandResult& result,
            Parser parse) {
    if (result.exit_status != 0) {
      return warn(
          fmt::format("{} failed with status {} ({}): left out; an old driver may not "
                      "know this question",
                      question(arguments), result.exit_status, said(result)));
    }
    try {
      answer = parse(result.out, question(arguments));
    } catch (const Error& error) {
      warn(fmt::format("{} (left out)", error.what()));
    }
  }

  template <typename Answer, typename Parser>
  void ask(Answer& answer, const std::vector<std::string>& arguments, Parser parse) {
    if (const auto result = run(arguments)) read(answer, arguments, *result, parse);
  }

  void ask_gpus() {
    std::string columns(kQueryColumns);
    std::vector<std::string> arguments = {"--query-gpu=" + columns, "--format=csv,noheader"};
    auto result = run(arguments);
    if (result && result->exit_status != 0 && mentions(*result, "mig.mode")) {
      columns.resize(columns.size() - kMigColumn.size());
      arguments.front() = "--query-gpu=" + columns;
      result = run(arguments);
      if (result) result->out = with_mig_column(result->out);
    }
    if (result) read(probe_.gpus, arguments, *result, parse_smi_query);
  }

  /// Without an active link there is no other end to ask for.
  [[nodiscard]] bool has_links() const {
    const auto active = [](const NvlinkGpu& gpu) {
      return std::any_of(gpu.links.begin(), gpu.links.end(),
                         [](const NvlinkLink& link) { return link.active(); });
    };
    return !probe_.nvlink ||
           std::any_of(probe_.nvlink->gpus.begin(), probe_.nvlink->gpus.end(), active);
  }

  const std::string& path_;
  Seconds timeout_;
  bool gone_ = false;  ///< it answers no more
  SmiProbe probe_{};
};

}  // namespace

SmiProbe probe_nvidia_smi(const std::string& path, Seconds timeout) {
  return Prober(path, timeout).probe();
}

std::string read_text_file(const std::string& option, const std::string& path) {
  const auto unreadable = [&](int error) {
    return usage_error(fmt::format("{}: cannot read {}: {}", option, path,
                                   std::generic_category().message(error != 0 ? error : EIO)));
  };
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw unreadable(errno);
  std::string text;
  try {
    // A folder opens, and fails only when it is read.
    text.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  } catch (const std::exception&) {
    throw unreadable(errno);
  }
  return text;
}

}  // namespace busbar::topo
