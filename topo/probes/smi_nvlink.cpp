// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/smi_nvlink.hpp"

#include <charconv>
#include <span>

#include <fmt/format.h>

#include "topo/graph/graph.hpp"
#include "topo/probes/nvlink_sections.hpp"

namespace busbar::topo {
namespace {

constexpr std::string_view kStatus = "nvidia-smi nvlink -s";
constexpr std::string_view kRemotes = "nvidia-smi nvlink -R";

/// "25.781 GB/s", "25 GB/s" or "<inactive>".
double read_speed_GBps(const LinkLine& line, std::string_view origin) {
  constexpr double kMost = 1e5;
  const auto error = [&](const std::string& what) {
    return link_error(origin, kStatus, line, what);
  };
  if (is_inactive(line)) return 0;
  if (line.words.empty()) throw error("the line of a link is cut short");
  const std::string& text = line.words.front().text;
  if (text == "Remote") throw error("these are the other ends of links (nvlink -R), not speeds");
  double speed = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), speed);
  const bool whole = failure == std::errc{} && end == text.data() + text.size();
  if (!whole || !(speed >= 0 && speed <= kMost)) {
    throw error(fmt::format("{} is no speed in GB/s", in_quotes(text)));
  }
  if (line.words.size() < 2 || line.words[1].text != "GB/s") {
    throw error("no `GB/s` behind the speed: the line is cut short");
  }
  return speed;
}

/// GPUs of one model list as many links, the inactive ones too: a last one with fewer was cut.
void check_last(std::span<const NvlinkSection> sections, std::string_view origin) {
  if (sections.empty() || !sections.back().error.empty()) return;
  const NvlinkSection& last = sections.back();
  for (const NvlinkSection& other : sections) {
    if (other.name == last.name && other.links.size() > last.links.size()) {
      throw damaged({.origin = origin, .line = last.line + last.links.size(), .column = 1},
                    fmt::format("GPU {} lists {} links and GPU {} of the same model {}: cut short",
                                last.index, last.links.size(), other.index, other.links.size()),
                    fmt::format("save all of the output again: {} > FILE", kStatus));
    }
  }
}

/// "Remote Device 00000000:D5:00.0: Link 3"; the link is absent where the driver does not tell it.
NvlinkRemote read_remote(const LinkLine& line, std::string_view origin) {
  const auto error = [&](const std::string& what) {
    return link_error(origin, kRemotes, line, what);
  };
  if (line.words.size() > 1 && line.words[1].text == "GB/s") {
    throw error("these are the speeds of links (nvlink -s), not their other ends");
  }
  if (line.words.size() < 3 || line.words[0].text != "Remote" || line.words[1].text != "Device") {
    throw error("no `Remote Device ADDRESS: Link NUMBER`");
  }
  std::string address = line.words[2].text;
  const bool link_follows = address.ends_with(':');
  if (link_follows) address.pop_back();
  NvlinkRemote remote{.number = line.number, .bus_id = normal_bus_id(address)};
  if (remote.bus_id.empty()) throw error(fmt::format("{} is no PCI address", in_quotes(address)));
  if (!link_follows) return remote;
  if (line.words.size() > 4 && line.words[3].text == "Link") {
    remote.remote_link = whole_number(line.words[4].text);
  }
  if (!remote.remote_link) {
    throw error("no `Link NUMBER` behind the address: the line is cut short");
  }
  return remote;
}

}  // namespace

NvlinkStatus parse_nvlink_status(std::string_view text, std::string_view origin) {
  const std::vector<NvlinkSection> sections = read_nvlink_sections(text, origin, kStatus);
  NvlinkStatus status;
  for (const NvlinkSection& section : sections) {
    NvlinkGpu gpu{
        .index = section.index, .name = section.name, .uuid = section.uuid, .error = section.error};
    for (const LinkLine& line : section.links) {
      gpu.links.push_back({.number = line.number, .GBps = read_speed_GBps(line, origin)});
    }
    status.gpus.push_back(std::move(gpu));
  }
  check_last(sections, origin);
  return status;
}

NvlinkRemotes parse_nvlink_remotes(std::string_view text, std::string_view origin) {
  NvlinkRemotes remotes;
  bool tells_links = false;
  for (const NvlinkSection& section : read_nvlink_sections(text, origin, kRemotes)) {
    NvlinkRemoteGpu gpu{
        .index = section.index, .name = section.name, .uuid = section.uuid, .error = section.error};
    for (const LinkLine& line : section.links) {
      if (is_inactive(line)) continue;
      const NvlinkRemote remote = read_remote(line, origin);
      if (tells_links && !remote.remote_link) {
        throw link_error(origin, kRemotes, line,
                         "no `Link NUMBER` as in the lines above: the line is cut short");
      }
      tells_links = remote.remote_link.has_value();
      gpu.links.push_back(remote);
    }
    remotes.gpus.push_back(std::move(gpu));
  }
  return remotes;
}

}  // namespace busbar::topo
