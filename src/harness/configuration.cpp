// SPDX-License-Identifier: BSD-3-Clause
#include "harness/configuration.hpp"

#include "base/embedded_text.hpp"
#include "base/random.hpp"
#include "model/agreement.hpp"

namespace busbar {

RankCommand rank_command(const Options& options, const Collective& collective) {
  return {.program = fmt::format("{}_perf", collective.name),
          .version = std::string(version()),
          .words = agreed_words(options)};
}

namespace {

/// As it is sent between ranks: its first lines must stay what they are in all versions.
std::string to_lines(const RankCommand& command) {
  return fmt::format("{}\n{}\n{}\n{}", one_line(command.mistake), command.program, command.version,
                     join_each(command.words, "\n", one_line));
}

RankCommand parse_lines(const std::string& text) {
  std::vector<std::string> lines = split(text, '\n');
  constexpr std::size_t kHead = 3;
  lines.resize(std::max(lines.size(), kHead));
  return {.mistake = lines[0],
          .program = lines[1],
          .version = lines[2],
          .words = {lines.begin() + kHead, lines.end()}};
}

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = text.size();
  for (const char letter : text) hash = splitmix64(hash ^ static_cast<unsigned char>(letter));
  return hash;
}

/// How the commands of some ranks differ from rank 0's.
std::string difference(const std::vector<int>& ranks, const RankCommand& theirs,
                       const RankCommand& mine) {
  const bool one = ranks.size() == 1;
  const std::string who = fmt::format("{} {}", one ? "rank" : "ranks", format_ranges(ranks));
  if (!mine.mistake.empty()) return "rank 0: " + mine.mistake;
  if (!theirs.mistake.empty()) return fmt::format("{}: {}", who, theirs.mistake);
  const char* run = one ? "runs" : "run";
  if (theirs.program != mine.program) {
    return fmt::format("{} {} {} and rank 0 {}; every rank needs the same program", who, run,
                       theirs.program, mine.program);
  }
  if (theirs.version != mine.version) {
    return fmt::format("{} {} busbar {} and rank 0 busbar {}; every rank needs the same version",
                       who, run, theirs.version, mine.version);
  }
  std::array<std::vector<std::string>, 2> words;
  for (std::size_t i = 0; i < std::min(theirs.words.size(), mine.words.size()); ++i) {
    if (theirs.words[i] == mine.words[i]) continue;
    words[0].push_back(theirs.words[i]);
    words[1].push_back(mine.words[i]);
  }
  // NCCL_TESTS_SPLIT has this name, too.
  const bool by_variable =
      !words[0].empty() &&
      (words[0].front() + words[1].front()).find("--groups") != std::string::npos;
  return fmt::format("{} {} started with {} and rank 0 with {}; every rank needs the same {}", who,
                     one ? "was" : "were", join(words[0], ", "), join(words[1], ", "),
                     by_variable ? "command line and NCCL_TESTS_SPLIT" : "command line");
}

}  // namespace

void require_same_command(Bootstrap& world, const RankCommand& mine) {
  std::string text = to_lines(mine);
  const std::vector<std::uint64_t> hashes = world.gather(hash_of(text));
  const auto other =
      std::find_if(hashes.begin(), hashes.end(), [&](auto hash) { return hash != hashes.front(); });
  if (other == hashes.end()) {
    if (!mine.mistake.empty()) agree_on_error(world, usage_error(mine.mistake));
    return;
  }
  const auto root = static_cast<int>(other - hashes.begin());
  world.broadcast_text(text, root);
  std::vector<int> ranks;  // with that command
  for (std::size_t rank = 0; rank < hashes.size(); ++rank) {
    if (hashes[rank] == *other) ranks.push_back(static_cast<int>(rank));
  }
  agree_on_error(world, usage_error(difference(ranks, parse_lines(text), mine)));
}

}  // namespace busbar
