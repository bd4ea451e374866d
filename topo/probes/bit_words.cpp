// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/bit_words.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar::topo {
namespace {

constexpr long kBits = 32;
constexpr std::size_t kMostWords = BitWords::kMost / kBits;

}  // namespace

std::optional<BitWords> BitWords::parse(std::string_view mask) {
  if (mask.empty()) return std::nullopt;
  std::vector<std::string> words = split(mask, ',');
  if (words.size() > kMostWords) return std::nullopt;
  BitWords set;
  std::reverse(words.begin(), words.end());
  for (const std::string& word : words) {
    std::string_view digits = word;
    if (digits.starts_with("0x")) digits.remove_prefix(2);
    unsigned value = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    const bool number = error == std::errc{} && end == digits.data() + digits.size();
    if (!number && !word.empty()) return std::nullopt;
    set.words_.push_back(value);
  }
  while (!set.words_.empty() && set.words_.back() == 0) set.words_.pop_back();
  return set;
}

BitWords BitWords::one(long number) {
  BitWords set;
  set.words_.resize(static_cast<std::size_t>(number / kBits) + 1);
  set.words_.back() = 1U << static_cast<unsigned>(number % kBits);
  return set;
}

BitWords BitWords::all() {
  BitWords set;
  set.words_.assign(kMostWords, ~0U);
  return set;
}

bool BitWords::within(const BitWords& other) const {
  if (words_.size() > other.words_.size()) return false;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if ((words_[i] & ~other.words_[i]) != 0) return false;
  }
  return true;
}

bool BitWords::meets(const BitWords& other) const {
  const std::size_t common = std::min(words_.size(), other.words_.size());
  for (std::size_t i = 0; i < common; ++i) {
    if ((words_[i] & other.words_[i]) != 0) return true;
  }
  return false;
}

void BitWords::add(const BitWords& other) {
  words_.resize(std::max(words_.size(), other.words_.size()));
  for (std::size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
}

std::string BitWords::text() const {
  std::vector<std::string> words;
  for (const unsigned word : words_) words.push_back(fmt::format("0x{:08x}", word));
  std::reverse(words.begin(), words.end());
  return words.empty() ? "0x0" : join(words, ",");
}

std::vector<int> BitWords::numbers() const {
  std::vector<int> found;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    for (unsigned bit = 0; bit < kBits; ++bit) {
      if (((words_[i] >> bit) & 1U) != 0) found.push_back(static_cast<int>(kBits * i + bit));
    }
  }
  return found;
}

}  // namespace busbar::topo
