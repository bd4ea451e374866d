// SPDX-License-Identifier: BSD-3-Clause
#include "model/distribution.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <optional>
#include <random>

#include "base/error.hpp"
#include "base/lists.hpp"
#include "base/random.hpp"
#include "base/text.hpp"

namespace busbar {

std::uint64_t Traffic::send_offset(int from, int to) const {
  std::uint64_t before = 0;
  for (int other = 0; other < to; ++other) before += count(from, other);
  return before;
}

std::uint64_t Traffic::recv_offset(int from, int to) const {
  std::uint64_t before = 0;
  for (int other = 0; other < from; ++other) before += count(other, to);
  return before;
}

std::uint64_t Traffic::most_sent() const {
  std::uint64_t most = 0;
  for (int rank = 0; rank < ranks(); ++rank) most = std::max(most, send_offset(rank, ranks()));
  return most;
}

std::uint64_t Traffic::most_received() const {
  std::uint64_t most = 0;
  for (int rank = 0; rank < ranks(); ++rank) most = std::max(most, recv_offset(ranks(), rank));
  return most;
}

std::uint64_t Traffic::fullest_port() const {
  std::uint64_t most = 0;
  for (int rank = 0; rank < ranks(); ++rank) {
    const std::uint64_t larger = std::max(send_offset(rank, ranks()), recv_offset(ranks(), rank));
    most = std::max(most, larger - count(rank, rank));
  }
  return most;
}

std::uint64_t Traffic::total() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

double Traffic::port_share() const {
  return most() == 0 ? 0 : static_cast<double>(fullest_port()) / static_cast<double>(most());
}

double Traffic::imbalance() const {
  std::uint64_t kept = 0;
  for (int rank = 0; rank < ranks(); ++rank) kept += count(rank, rank);
  const std::uint64_t passing = total() - kept;
  if (passing == 0) return 0;
  return static_cast<double>(fullest_port()) * static_cast<double>(ranks()) /
         static_cast<double>(passing);
}

namespace {

constexpr Bytes kAlignment = 16;  // of each part, as nccl-tests'

Bytes aligned(Bytes bytes) { return bytes / kAlignment * kAlignment; }

/// How much each rank sends to each, in any unit.
using Weights = std::vector<std::vector<double>>;

/// nccl-tests': the more, the farther round the ring of ranks, blended with equal parts.
Weights by_distance(double spread, std::size_t ranks) {
  Weights weights(ranks, std::vector<double>(ranks, 1));
  const double equal = static_cast<double>(ranks - 1) / 2;  // as much in all
  for (std::size_t from = 0; ranks > 1 && from < ranks; ++from) {
    for (std::size_t to = 0; to < ranks; ++to) {
      const auto distance = static_cast<double>((to + ranks - from) % ranks);
      weights[from][to] = (1 - spread) * equal + spread * distance;
    }
  }
  return weights;
}

/// What each rank gets of all.
std::vector<double> zipf(double exponent, std::size_t ranks, std::mt19937_64& random) {
  std::vector<double> shares(ranks);
  double place = 0;
  for (const std::size_t rank : shuffled_numbers(ranks, random)) {
    shares[rank] = std::pow(++place, -exponent);
  }
  return shares;
}

std::vector<double> hot(const Distribution& distribution, std::size_t ranks,
                        std::mt19937_64& random) {
  const auto count = static_cast<std::size_t>(distribution.figure);
  if (count >= ranks) {
    throw usage_error("--skew {}: there are {}; give fewer than that", to_text(distribution),
                      counted(ranks, "rank"));
  }
  const auto others = static_cast<double>(ranks - count);
  std::vector<double> shares(ranks, (1 - distribution.hot_share) / others);
  const std::vector<std::size_t> order = shuffled_numbers(ranks, random);
  for (std::size_t i = 0; i < count; ++i) {
    shares[order[i]] = distribution.hot_share / static_cast<double>(count);
  }
  return shares;
}

Weights sparse(double share, std::size_t ranks, std::mt19937_64& random) {
  const double peers = std::max(1.0, std::round(share * static_cast<double>(ranks)));
  Weights weights(ranks, std::vector<double>(ranks));
  for (std::vector<double>& from : weights) {
    const std::vector<std::size_t> order = shuffled_numbers(ranks, random);
    for (std::size_t i = 0; i < static_cast<std::size_t>(peers); ++i) from[order[i]] = 1;
  }
  return weights;
}

Weights weights_of(const Distribution& distribution, std::size_t ranks) {
  std::mt19937_64 random(splitmix64(distribution.seed));
  switch (distribution.skew) {
    case Skew::Distance: return by_distance(distribution.figure, ranks);
    case Skew::Zipf: return Weights(ranks, zipf(distribution.figure, ranks, random));
    case Skew::Hot: return Weights(ranks, hot(distribution, ranks, random));
    case Skew::Sparse: return sparse(distribution.figure, ranks, random);
    default: return Weights(ranks, std::vector<double>(ranks, 1));
  }
}

double most_of(const Weights& weights) {
  std::vector<double> received(weights.size());
  double most = 0;
  for (const std::vector<double>& sent : weights) {
    most = std::max(most, std::accumulate(sent.begin(), sent.end(), 0.0));
    std::ranges::transform(received, sent, received.begin(), std::plus());
  }
  return std::max(most, std::ranges::max(received));
}

Traffic scaled(const Distribution& distribution, Bytes wanted, Bytes element, int ranks) {
  const auto count = static_cast<std::size_t>(ranks);
  const Weights weights = weights_of(distribution, count);
  const auto whole = static_cast<double>(aligned(wanted / count) * count);
  const double most = most_of(weights);
  Traffic traffic(ranks, to_text(distribution));
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) {
      const double share = weights[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
      traffic.set(from, to, aligned(static_cast<Bytes>(share * whole / most)) / element);
    }
  }
  return traffic;
}

Traffic from_matrix(const Distribution& distribution, Bytes element, int ranks) {
  const TrafficMatrix& matrix = *distribution.matrix;
  if (ranks > matrix.ranks) {
    throw usage_error("{}: it is of {}, and there are {}; start fewer, or give a larger matrix",
                      to_text(distribution), counted(matrix.ranks, "rank"), ranks);
  }
  Traffic traffic(ranks, to_text(distribution));
  const Bytes* row = matrix.bytes.data();
  for (int from = 0; from < ranks; ++from, row += matrix.ranks) {
    for (int to = 0; to < ranks; ++to) traffic.set(from, to, row[to] / element);
  }
  return traffic;
}

class ExpertDraw {
 public:
  ExpertDraw(const ExpertLoad& load, std::uint64_t seed) : below_(load.experts) {
    std::mt19937_64 random(splitmix64(seed));
    double sum = 0;
    std::size_t expert = 0;
    for (const std::size_t place : shuffled_numbers(below_.size(), random)) {
      sum += std::pow(static_cast<double>(place + 1), -load.zipf);
      below_[expert++] = sum;
    }
  }

  /// One that is not among the `taken`.
  [[nodiscard]] std::size_t next(const std::vector<std::size_t>& taken,
                                 std::mt19937_64& random) const {
    constexpr int kTries = 64;
    for (int i = 0; i < kTries; ++i) {
      const auto found = std::ranges::upper_bound(below_, share(random) * below_.back());
      const auto expert =
          std::min(static_cast<std::size_t>(found - below_.begin()), below_.size() - 1);
      if (std::ranges::count(taken, expert) == 0) return expert;
    }
    return next_by_scan(taken, random);
  }

 private:
  [[nodiscard]] static double share(std::mt19937_64& random) {
    constexpr double kStep = 0x1p-53;  // the same on every machine
    return static_cast<double>(random() >> 11U) * kStep;
  }

  /// The same where the taken are so popular that trying takes too long.
  [[nodiscard]] std::size_t next_by_scan(const std::vector<std::size_t>& taken,
                                         std::mt19937_64& random) const {
    std::vector<std::size_t> left;
    std::vector<double> sums;
    for (std::size_t expert = 0; expert < below_.size(); ++expert) {
      if (std::ranges::count(taken, expert) > 0) continue;
      const double weight = below_[expert] - (expert == 0 ? 0 : below_[expert - 1]);
      left.push_back(expert);
      sums.push_back(weight + (sums.empty() ? 0 : sums.back()));
    }
    const auto found = std::ranges::upper_bound(sums, share(random) * sums.back());
    return left[std::min(static_cast<std::size_t>(found - sums.begin()), left.size() - 1)];
  }

  std::vector<double> below_;  // an expert's weight and those of all before it
};

/// As Megatron Core's all-to-all of tokens: a copy for each expert, even if two are on one rank.
Traffic of_experts(const Distribution& distribution, int ranks) {
  const ExpertLoad& load = distribution.experts;
  const ExpertDraw draw(load, distribution.seed);
  Traffic traffic(ranks, to_text(distribution));
  for (int from = 0; from < ranks; ++from) {
    std::mt19937_64 random(splitmix64(splitmix64(distribution.seed) + static_cast<Bytes>(from)));
    std::vector<std::size_t> chosen;
    for (std::uint64_t token = 0; token < load.tokens; ++token) {
      chosen.clear();
      while (chosen.size() < load.chosen) {
        const std::size_t expert = draw.next(chosen, random);
        chosen.push_back(expert);
        const auto to = static_cast<int>(expert * static_cast<std::size_t>(ranks) / load.experts);
        traffic.set(from, to, traffic.count(from, to) + load.hidden);
      }
    }
  }
  return traffic;
}

std::optional<Bytes> bytes_of(std::string_view word, double scale) {
  constexpr double kMost = 0x1p50;
  const double bytes = to_number<double>(word).value_or(-1) * scale;
  if (!(bytes >= 0) || bytes > kMost) return std::nullopt;
  return static_cast<Bytes>(bytes);
}

/// Its lines of whitespace-separated figures, all as long as there are lines.
TrafficMatrix read_matrix(std::string_view option, const std::string& path, double scale) {
  const auto text = read_file(path);
  if (!text) throw usage_error("{}: cannot read '{}'", option, path);
  TrafficMatrix matrix;
  std::size_t columns = 0;
  std::size_t line_number = 0;
  std::uint64_t checksum = 0;
  for (const std::string& line : split(*text, '\n')) {
    ++line_number;
    const std::vector<std::string> words = split_words(line);
    if (words.empty()) continue;
    if (columns == 0) columns = words.size();
    if (words.size() != columns) {
      throw usage_error("{}: {}:{}: {}, and the first line has {}; a matrix of bytes is square",
                        option, path, line_number, counted(words.size(), "figure"), columns);
    }
    ++matrix.ranks;
    for (const std::string& word : words) {
      const auto bytes = bytes_of(word, scale);
      if (!bytes) {
        throw usage_error("{}: {}:{}: '{}' is not a number of bytes", option, path, line_number,
                          word);
      }
      matrix.bytes.push_back(aligned(*bytes));
      checksum = splitmix64(checksum + *bytes);
    }
  }
  if (matrix.ranks == 0 || static_cast<std::size_t>(matrix.ranks) != columns) {
    throw usage_error("{}: {}: {} of {}; a matrix of bytes from each rank to each is square",
                      option, path, counted(matrix.ranks, "line"), counted(columns, "figure"));
  }
  matrix.name = fmt::format("{}@{:08x}", std::filesystem::path(path).filename().string(),
                            checksum & 0xffffffffU);
  return matrix;
}

InvalidValue invalid_skew(std::string_view option, std::string_view text) {
  return invalid_value(
      option, text,
      split("uniform|distance[:SPREAD]|zipf:S|hot:K[:SHARE]|sparse:F|matrix:FILE", '|'));
}

void read_figures(std::string_view option, const std::vector<std::string>& figures,
                  Distribution& distribution) {
  constexpr double kMostExponent = 10;
  constexpr std::int64_t kMostRanks = 1 << 20;
  if (distribution.skew == Skew::Hot) {
    distribution.figure = static_cast<double>(parse_integer(option, figures[0], 1, kMostRanks));
    if (figures.size() > 1) distribution.hot_share = parse_number(option, figures[1], 0, 1);
    return;
  }
  const double least = distribution.skew == Skew::Sparse ? 1e-6 : 0;
  const double most = distribution.skew == Skew::Zipf ? kMostExponent : 1;
  distribution.figure = parse_number(option, figures[0], least, most);
}

}  // namespace

Distribution parse_skew(std::string_view option, std::string_view text, double scale) {
  const std::size_t colon = text.find(':');
  const auto skew = find_value<Skew>(text.substr(0, colon));
  if (!skew || *skew == Skew::Moe) throw invalid_skew(option, text);
  Distribution result{.skew = *skew};
  const bool bare = colon == std::string_view::npos;
  if (bare && (*skew == Skew::Uniform || *skew == Skew::Distance)) return result;
  if (bare || *skew == Skew::Uniform) throw invalid_skew(option, text);
  const std::string_view rest = text.substr(colon + 1);
  if (*skew == Skew::Matrix) {
    result.matrix =
        std::make_shared<const TrafficMatrix>(read_matrix(option, std::string(rest), scale));
    return result;
  }
  const std::vector<std::string> figures = split(rest, ':');
  if (figures.size() > (*skew == Skew::Hot ? 2U : 1U)) throw invalid_skew(option, text);
  read_figures(option, figures, result);
  return result;
}

Distribution parse_experts(std::string_view option, std::string_view text) {
  const std::vector<std::string> words = split(text, ',');
  const bool weighted = words.size() == 5 && words[4].starts_with("zipf:");
  if (words.size() != 4 && !weighted) {
    throw usage_error(
        "invalid value '{}' for {}; expected TOKENS,HIDDEN,TOPK,EXPERTS[,zipf:S], as in "
        "4096,7168,8,256",
        text, option);
  }
  constexpr std::int64_t kMost = 1 << 24;
  std::array<std::uint64_t, 4> figures{};
  for (std::size_t i = 0; i < figures.size(); ++i) {
    figures.at(i) = static_cast<std::uint64_t>(parse_integer(option, words[i], 1, kMost));
  }
  Distribution result{.skew = Skew::Moe};
  result.experts = {
      .tokens = figures[0], .hidden = figures[1], .chosen = figures[2], .experts = figures[3]};
  if (result.experts.chosen > result.experts.experts) {
    throw usage_error("{} {}: a token cannot go to {} of {}", option, text, figures[2],
                      counted(figures[3], "expert"));
  }
  constexpr double kMostDraws = 0x1p34;  // of all tokens, each among those before and all experts
  const auto [tokens, hidden, chosen, experts] = figures;
  const auto choices = static_cast<double>(chosen);
  if (static_cast<double>(tokens * experts) * choices * choices > kMostDraws) {
    throw usage_error("{} {}: too many to draw; give fewer TOKENS, TOPK or EXPERTS", option, text);
  }
  constexpr double kMostExponent = 4;
  if (weighted) {
    result.experts.zipf = parse_number(option, words[4].substr(5), 0, kMostExponent);
  }
  return result;
}

std::string to_text(const Distribution& distribution) {
  std::string word(name(distribution.skew));
  const double figure = distribution.figure;
  switch (distribution.skew) {
    case Skew::Uniform: return word;
    case Skew::Matrix: return word + ":" + distribution.matrix->name;
    case Skew::Moe: {
      const auto& [tokens, hidden, chosen, experts, zipf] = distribution.experts;
      return fmt::format("{}:{}:{}:{}:{}{}", word, tokens, hidden, chosen, experts,
                         zipf > 0 ? fmt::format(":zipf:{:g}", zipf) : "");
    }
    default: break;
  }
  if (distribution.skew == Skew::Distance && figure == 1) return word;
  const bool has_share = distribution.hot_share != Distribution{}.hot_share;
  return fmt::format("{}:{:g}{}", word, figure,
                     has_share ? fmt::format(":{:g}", distribution.hot_share) : "");
}

Traffic traffic_of(const Distribution& distribution, Bytes wanted, Bytes element, int ranks) {
  switch (distribution.skew) {
    case Skew::Matrix: return from_matrix(distribution, element, ranks);
    case Skew::Moe: return of_experts(distribution, ranks);
    default: return scaled(distribution, wanted, element, ranks);
  }
}

}  // namespace busbar
