// Files are read once; slopes of data whose monotone cubic is known.
#include <gtest/gtest.h>

#include "compiler/table/files.h"
#include "compiler/table/samples.h"
#include "compiler/table/slopes.h"

namespace table {
namespace {

TEST(Table, EachFileIsReadOnceFromWhereverItIsNamed) {
  diag::SourceMap sources;
  const std::uint32_t first = sources.add("models/a.tact", "");
  const std::uint32_t second = sources.add("models/b.tact", "");
  const std::uint32_t deeper = sources.add("models/parts/c.tact", "");
  int reads = 0;
  const source::Reader read = [&](const std::string& from, const std::string& path) -> std::optional<source::File> {
    ++reads;
    if (path == "gone.csv") return std::nullopt;
    EXPECT_EQ(path, from == "models/parts/c.tact" ? "../x.csv" : "x.csv");
    return source::File{"models/x.csv", "0,1\n1,2\n"};
  };
  diag::Sink diags;
  const source::Reader locate;
  Files files(sources, read, locate);
  const Sheet* sheet = files.open("x.csv", {first, 0, 0}, diags);
  ASSERT_NE(sheet, nullptr);
  EXPECT_EQ(files.open("x.csv", {second, 0, 0}, diags), sheet);
  EXPECT_EQ(reads, 1);
  EXPECT_EQ(files.open("../x.csv", {deeper, 0, 0}, diags), sheet);
  EXPECT_EQ(sources.size(), 4u);
  EXPECT_FALSE(diags.has_errors());
  EXPECT_EQ(files.open("gone.csv", {first, 0, 0}, diags), nullptr);
  EXPECT_EQ(files.open("gone.csv", {first, 0, 0}, diags), nullptr);
  EXPECT_EQ(diags.error_count(), 1u);
}

TEST(Table, SlopesOfALineAreItsOwn) {
  const std::vector<double> x = {0, 1, 4, 4.5}, y = {1, 3, 9, 10};
  for (double slope : monotone_slopes(x, y)) EXPECT_DOUBLE_EQ(slope, 2);
}

TEST(Table, SlopesVanishAtExtremaAndPlateaus) {
  const std::vector<double> x = {0, 1, 2, 3, 4}, y = {0, 2, 1, 1, 5};
  const std::vector<double> slopes = monotone_slopes(x, y);
  EXPECT_EQ(slopes[1], 0);
  EXPECT_EQ(slopes[2], 0);
  EXPECT_EQ(slopes[3], 0);
  EXPECT_EQ(slopes[0], 3.5);  // (3 * 2 - (-1)) / 2, below three times the chord
  EXPECT_EQ(slopes[4], 6);    // (3 * 4 - 0) / 2
}

TEST(Table, SlopeBetweenEqualStepsIsTheHarmonicMean) {
  const std::vector<double> x = {0, 1, 2}, y = {0, 1, 4};
  EXPECT_DOUBLE_EQ(monotone_slopes(x, y)[1], 2 * 1.0 * 3.0 / (1.0 + 3.0));
}

}  // namespace
}  // namespace table
