// SPDX-License-Identifier: BSD-3-Clause
#include "harness/row_exchange.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/text.hpp"
#include "model/record_fields.hpp"

namespace busbar {
namespace {

constexpr char kSeparator = '\x1f';  // ASCII's unit separator is in no cell

std::string to_text(const Record& record) {
  std::string text;
  for (const RecordField& field : record_fields()) text += field.get(record) + kSeparator;
  return text;
}

Record from_text(const std::string& text) {
  Record record;
  const std::vector<std::string> cells = split(text, kSeparator);
  const auto fields = record_fields();
  for (std::size_t i = 0; i < fields.size(); ++i) fields[i].set(record, cells.at(i));
  return record;
}

/// Blocks of different lengths from all ranks, in rank order.
std::vector<std::vector<std::byte>> gather_blocks(Bootstrap& everyone,
                                                  std::span<const std::byte> mine) {
  const std::vector<std::size_t> lengths = everyone.gather(mine.size());
  const std::size_t longest = *std::max_element(lengths.begin(), lengths.end());
  std::vector<std::byte> padded(std::max<std::size_t>(longest, 1));
  std::copy(mine.begin(), mine.end(), padded.begin());
  std::vector<std::byte> all(padded.size() * lengths.size());
  everyone.gather_bytes(padded, all);
  std::vector<std::vector<std::byte>> blocks;
  for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
    const std::byte* begin = all.data() + rank * padded.size();
    blocks.emplace_back(begin, begin + lengths[rank]);
  }
  return blocks;
}

}  // namespace

std::vector<Row> gather_rows(const Crew& crew, const Row& mine) {
  const std::string text = crew.leads() ? to_text(mine.record) : std::string();
  const std::span<const double> samples =
      crew.leads() ? std::span<const double>(mine.samples_us) : std::span<const double>();
  const auto texts = gather_blocks(crew.everyone, std::as_bytes(std::span(text)));
  const auto numbers = gather_blocks(crew.everyone, std::as_bytes(samples));
  std::vector<Row> rows;
  for (std::size_t rank = 0; crew.everyone.rank() == 0 && rank < texts.size(); ++rank) {
    if (texts[rank].empty()) continue;
    std::string received(texts[rank].size(), '\0');
    std::memcpy(received.data(), texts[rank].data(), received.size());
    Row row{.record = from_text(received), .samples_us = {}};
    row.samples_us.resize(numbers[rank].size() / sizeof(double));
    std::memcpy(row.samples_us.data(), numbers[rank].data(), numbers[rank].size());
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace busbar
