// SPDX-License-Identifier: BSD-3-Clause
#include "study/plot/figures.hpp"
#include "tests/unit/support/study_rows.hpp"

namespace busbar::study {
namespace {

Record pair(Bytes size, double busbw, int sender, int receiver) {
  return with(test::study_row(size, busbw, 2), &Record::sender, sender, &Record::receiver,
              receiver);
}
Chart pairs(const std::vector<Record>& records, std::optional<Bytes> size = {}) {
  return pairs_figure(std::array{dataset("a", records)}, size, {});
}

TEST(PairsFigure, HasTheSenderAsRowAndTheReceiverAsColumn) {
  // From 0 to 2 the median of 10, 20 and 90; back 44. Ranks 0 to 2 have six ordered pairs.
  const Chart figure = pairs({pair(4096, 10, 0, 2), pair(4096, 90, 0, 2), pair(4096, 20, 0, 2),
                              pair(4096, 44, 2, 0), pair(1024, 99, 0, 2)});
  ASSERT_EQ(figure.curves.at(0).points.size(), 6U);
  for (const ChartPoint& cell : figure.curves[0].points) {
    const bool there = cell.y == 0 && cell.x == 2;
    const bool back = cell.y == 2 && cell.x == 0;
    EXPECT_EQ(cell.low, there ? std::optional(20.0) : back ? std::optional(44.0) : std::nullopt);
  }
  EXPECT_EQ(figure.title, "Pairs: allreduce, 4 KiB");
  EXPECT_EQ(figure.panels.at(0).title, "a") << "the size is in the title of all";
  // 24 in fives: from 20 to 45.
  EXPECT_DOUBLE_EQ(figure.colours->low, 20);
  EXPECT_DOUBLE_EQ(figure.colours->high, 45);
  EXPECT_THAT(figure.panels.at(0).x.names, ElementsAre("0", "1", "2"));
}

TEST(PairsFigure, IsOfTheLargestSizeThatWasMeasured) {
  const std::vector<Record> records{pair(1024, 10, 0, 1), pair(4096, 20, 0, 1),
                                    pair(2048, 30, 0, 1),
                                    with(pair(8192, 77, 0, 1), &Record::status, RowStatus::Failed)};
  EXPECT_EQ(pairs(records).title, "Pairs: allreduce, 4 KiB");
  EXPECT_EQ(pairs(records).curves.at(0).points.at(0).low, 20.0);
  EXPECT_EQ(pairs(records, 1024).curves.at(0).points.at(0).low, 10.0);
}

TEST(PairsFigure, HasARowAndAColumnForEveryRankOfRowsWithBothEnds) {
  for (const auto& [sender, receiver] : {std::pair{3, 0}, {0, 3}}) {
    const Chart figure = pairs({pair(1024, 10, sender, receiver)});
    EXPECT_EQ(figure.panels.at(0).x.names.size(), 4U);
    EXPECT_EQ(figure.panels.at(0).y.names.size(), 4U);
  }
  const Record half = with(pair(4096, 99, 0, 5), &Record::receiver, std::nullopt);
  EXPECT_EQ(pairs({pair(1024, 10, 0, 1), half}).panels.at(0).x.names.size(), 2U);
}

TEST(PairsFigure, OfSeveralFilesHasOneScaleAndNamesWhatDiffers) {
  const std::vector<Dataset> files{
      dataset("a", {pair(4096, 20, 0, 2), pair(4096, 25, 2, 0)}),
      with(dataset("b", {pair(1024, 42, 0, 1), pair(1024, 30, 1, 0)}), &Dataset::simulated, true)};
  const Chart figure = pairs_figure(files, {}, {});
  EXPECT_EQ(figure.title, "Pairs: allreduce");
  EXPECT_THAT(mapped(figure.panels, &ChartPanel::title),
              ElementsAre("a, 4 KiB", "b (simulated), 1 KiB"));
  EXPECT_DOUBLE_EQ(figure.colours->low, 20);
  EXPECT_DOUBLE_EQ(figure.colours->high, 45);
}

}  // namespace
}  // namespace busbar::study
