// SPDX-License-Identifier: BSD-3-Clause
#include "model/nccl_choice.hpp"

#include <charconv>

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar {
namespace {

constexpr View kInfo = "NCCL INFO ";  // as long as the other

/// The blank-delimited word behind `label`, or empty.
View word_after(View text, View label) {
  const std::size_t at = text.find(label);
  if (at == View::npos) return {};
  text.remove_prefix(at + label.size());
  return text.substr(0, text.find(' '));
}

std::optional<int> number(View text) {
  int value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc{} ? std::optional{value} : std::nullopt;
}

/// What the log calls it from 2.24 on, and the name that NCCL_ALGO and NCCL_PROTO know. Until 2.23
/// the log has its number, which is its index here in all versions.
struct Spelling {
  View logged;
  View name;
};
constexpr std::array<Spelling, 7> kAlgorithms{{{"TREE", "Tree"},
                                               {"RING", "Ring"},
                                               {"COLLNET_DIRECT", "CollNetDirect"},
                                               {"COLLNET_CHAIN", "CollNetChain"},
                                               {"NVLS", "NVLS"},
                                               {"NVLS_TREE", "NVLSTree"},
                                               {"PAT", "PAT"}}};
constexpr std::array<Spelling, 3> kProtocols{
    {{"LL", "LL"}, {"LL128", "LL128"}, {"SIMPLE", "Simple"}}};

/// Empty for "Unknown" and numbers without a name; a name of a later NCCL stays as it is.
std::string name_of(View word, std::span<const Spelling> known) {
  const auto index = number(word);
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (word == known[i].logged || index == static_cast<int>(i)) return std::string(known[i].name);
  }
  return word == "Unknown" || index ? std::string() : std::string(word);
}

/// The number of channels in "channel{Lo..Hi}={0..15}".
std::optional<int> channels_of(View text) {
  const View range = word_after(text, "channel{Lo..Hi}={");
  const std::size_t dots = range.find("..");
  if (dots == View::npos) return std::nullopt;
  const auto low = number(range);
  const auto high = number(range.substr(dots + 2));
  return low && high ? std::optional{*high - *low + 1} : std::nullopt;
}

/// Parses the text behind "Bytes -> "; `kind` is the text before it.
std::optional<LibraryChoice> choice_of(View kind, View chosen) {
  if (chosen.starts_with("Algo ")) {
    LibraryChoice choice{.algorithm = name_of(word_after(chosen, "Algo "), kAlgorithms),
                         .protocol = name_of(word_after(chosen, " proto "), kProtocols),
                         .channels = channels_of(chosen)};
    return choice.algorithm.empty() ? std::nullopt : std::optional{choice};
  }
  if (kind.find("[Symmetric]") != View::npos) {
    const View kernel = word_after(chosen, "Kernel ");  // "AllReduce_AGxLLMC_R"
    return LibraryChoice{.algorithm = "Symmetric",
                         .protocol = std::string(kernel.substr(kernel.find('_') + 1)),
                         .channels = number(word_after(chosen, "nchannels "))};
  }
  if (kind.find("[Copy Engine]") != View::npos) return LibraryChoice{.algorithm = "CopyEngine"};
  if (kind.find("[Hierarchical CE]") == View::npos) return std::nullopt;
  return LibraryChoice{.algorithm = "HierarchicalCE"};
}

}  // namespace

std::string nccl_version_text(int code) {
  if (code < 10000) return fmt::format("{}.{}.{}", code / 1000, code / 100 % 10, code % 100);
  return fmt::format("{}.{}.{}", code / 10000, code / 100 % 100, code % 100);
}

std::size_t nccl_mark(View line) {
  const std::size_t at = line.find(" NCCL ");
  if (at == View::npos) return View::npos;
  const View mark = line.substr(at + 1, kInfo.size());
  return mark == kInfo || mark == "NCCL WARN " ? at + 1 : View::npos;
}

View nccl_message(View line) {
  const std::size_t at = line.find(kInfo);
  return at == View::npos ? View() : trim(line.substr(at + kInfo.size()));
}

std::optional<NcclChoice> nccl_choice_in(View line) {
  constexpr View kArrow = " Bytes -> ";
  const View message = nccl_message(line);
  const std::size_t at = message.find(kArrow);
  if (at == View::npos) return std::nullopt;
  const View kind = message.substr(0, at);
  const auto choice = choice_of(kind, message.substr(at + kArrow.size()));
  if (!choice) return std::nullopt;
  const auto bytes = to_number<Bytes>(kind.substr(kind.rfind(' ') + 1));
  return NcclChoice{.bytes = bytes.value_or(0), .choice = *choice};
}

}  // namespace busbar
