#include "runtime/trace/csv_reader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <random>

namespace trace {
namespace {

CsvTable good(std::string_view text, const CsvReadOptions& options = {}) {
  std::string failure;
  auto table = parse_csv(text, "a.csv", options, failure);
  EXPECT_TRUE(table) << failure;
  return table ? *table : CsvTable{};
}

std::string bad(std::string_view text, const CsvReadOptions& options = {}) {
  std::string failure;
  EXPECT_FALSE(parse_csv(text, "a.csv", options, failure)) << text;
  return failure;
}

using Columns = std::vector<std::vector<double>>;

TEST(CsvReader, HeaderIsOptional) {
  CsvTable with = good("t,x\n0,1\n2,3\n");
  EXPECT_EQ(with.names, (std::vector<std::string>{"t", "x"}));
  EXPECT_EQ(with.columns, (Columns{{0, 2}, {1, 3}}));
  CsvTable without = good("0,1\n2,3");
  EXPECT_TRUE(without.names.empty());
  EXPECT_EQ(without.columns, with.columns);
}

TEST(CsvReader, UnitsStandBehindNames) {
  CsvTable table = good("t,x [m],p[1] [kg*m/s^2],\"A[1,2] [1/s]\",q[2],[m],y [ m ]\n0,1,2,3,4,5,6\n");
  EXPECT_EQ(table.names, (std::vector<std::string>{"t", "x", "p[1]", "A[1,2]", "q[2]", "[m]", "y"}));
  EXPECT_EQ(table.units, (std::vector<std::string>{"", "m", "kg*m/s^2", "1/s", "", "", "m"}));
}

TEST(CsvReader, SeparatorsCommentsBlanksQuotesAndLineEnds) {
  Columns expected{{0, 2}, {1.5, -3}};
  EXPECT_EQ(good("# made by hand\nt;x\n0;1.5\n2;-3\n").columns, expected);
  EXPECT_EQ(good("t\tx\n0\t1.5\n2\t-3\n").columns, expected);
  EXPECT_EQ(good("\xef\xbb\xbft, x\r\n 0 , +1.5 \r\n\r\n  # a note\r\n2,\"-3\"\r\n").columns, expected);
  EXPECT_EQ(good("\"a,b\" ; \"c \"\"d\"\"\"\n1;2").names, (std::vector<std::string>{"a,b", "c \"d\""}));
  EXPECT_EQ(good("\"1\",\"2\"\n3,4").names, (std::vector<std::string>{"1", "2"}));
}

TEST(CsvReader, SpecialNumbers) {
  CsvTable table = good("nan,inf,-inf,5e-324\n");
  EXPECT_TRUE(std::isnan(table.columns[0][0]));
  EXPECT_EQ(table.columns[1][0], INFINITY);
  EXPECT_EQ(table.columns[2][0], -INFINITY);
  EXPECT_EQ(table.columns[3][0], 5e-324);
}

TEST(CsvReader, MistakesComeWithLineReasonAndRemedy) {
  EXPECT_EQ(bad("t,x\n0,1\n2\n"),
            "a.csv, line 3: 1 value where 2 were expected; give every row as many values as the header has names");
  EXPECT_EQ(bad("0,1\n\n# c\n2,3,4\n"),
            "a.csv, line 4: 3 values where 2 were expected; give every row as many values as the first row");
  EXPECT_EQ(bad("0,one\n1,2\n"),
            "a.csv, line 1: column 2: `one` is not a number; write numbers only, or names only (as a header line)");
  EXPECT_EQ(bad("t,x\n0,1\n1,1.5.2\n"),
            "a.csv, line 3: column 2 (`x`): `1.5.2` is not a number; write a number such as -1.5e-3, or put `#` before "
            "a comment line");
  EXPECT_EQ(bad("0;1,5\n"),
            "a.csv, line 1: column 2: `1,5` is not a number; write a decimal point instead of the comma");
  EXPECT_EQ(bad("t,x\n0 1\n"),
            "a.csv, line 2: column 1 (`t`): `0 1` is not a number; separate the columns by `,`, `;` or tabs");
  EXPECT_EQ(bad("t,x\n0,\n"),
            "a.csv, line 2: column 2 (`x`) is empty; remove the separator at the end of the line, or write a number");
  EXPECT_EQ(bad("t,x\n,0\n"), "a.csv, line 2: column 1 (`t`) is empty; write a number, or `nan`");
  EXPECT_EQ(bad("0,1e999\n"),
            "a.csv, line 1: column 2: `1e999` is beyond the range of a double, about 1e-323 to 1.8e308");
  EXPECT_EQ(bad("\"t,x\n"), "a.csv, line 1: a `\"` is never closed; add the closing `\"`");
  EXPECT_EQ(bad("\"t\"s,x\n"), "a.csv, line 1: `s` follows a closing `\"`; separate fields by `,`");
  EXPECT_EQ(bad(""), "a.csv: the file has no data; give lines of numbers, such as `0, 1.5`");
  EXPECT_EQ(bad("# nothing\n"), "a.csv: the file has no data; give lines of numbers, such as `0, 1.5`");
  EXPECT_EQ(bad("t,x\n"), "a.csv: no row follows the header line; give lines of numbers, such as `0, 1.5`");
  EXPECT_EQ(bad("\xff\xfet\0,\0"), "a.csv, line 1: the file is in UTF-16; save it as UTF-8");
}

TEST(CsvReader, HeaderWithoutRowsWhenAllowed) { EXPECT_EQ(good("t,x\n", {.header_only_allowed = true}).rows(), 0u); }

TEST(CsvReader, TimeMustIncreaseWhenAsked) {
  CsvReadOptions options{.increasing_time = true};
  EXPECT_EQ(good("0,1\n1,1\n", options).rows(), 2u);
  EXPECT_EQ(bad("t,x\n0.5,1\n# c\n0.25,1\n", options),
            "a.csv, line 4: the time (first column) does not increase: 0.25 comes after 0.5 of line 2; sort the rows "
            "by time");
  EXPECT_EQ(bad("0.5,1\n0.5,1\n", options),
            "a.csv, line 2: the time (first column) does not increase: 0.5 comes after 0.5 of line 1; remove one of "
            "the two rows");
  EXPECT_EQ(bad("nan,1\n", options), "a.csv, line 1: the time (first column) is nan; it must be a finite number");
  EXPECT_EQ(good("1,1\n0,1\n").rows(), 2u);
}

TEST(CsvReader, FiniteWhenAsked) {
  EXPECT_EQ(
      bad("t,x\n0,inf\n", {.finite = true}),
      "a.csv, line 2: column 2 (`x`) is inf; a recorded signal needs finite numbers: remove the row or fill the gap");
}

TEST(CsvReader, FilesThatCannotBeRead) {
  std::string failure;
  EXPECT_FALSE(read_csv("/no/such.csv", {}, failure));
  EXPECT_EQ(failure, "cannot read `/no/such.csv`: there is no such file");
  EXPECT_FALSE(read_csv("/tmp", {}, failure));
  EXPECT_EQ(failure, "cannot read `/tmp`: it is a directory; give the name of a file");
  EXPECT_FALSE(read_csv("/dev/zero", {}, failure));
  EXPECT_EQ(failure, "/dev/zero, line 1: the line is longer than 16 MB; this does not look like a CSV file");
  EXPECT_FALSE(read_csv("/dev/null", {}, failure));
  EXPECT_EQ(failure, "/dev/null: the file has no data; give lines of numbers, such as `0, 1.5`");
}

// A file is read in pieces: lines that lie across their ends are the same as in memory.
TEST(CsvReader, LongFilesMatchTheTextInMemory) {
  std::string path = testing::TempDir() + "tactus_reader_" + std::to_string(::getpid()) + ".csv";
  std::string text = "t,x\n";
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i) + "," + std::to_string(i * 0.37) + "\n";
  std::ofstream(path, std::ios::binary) << text;
  std::string failure;
  auto from_file = read_csv(path, {.increasing_time = true}, failure);
  ASSERT_TRUE(from_file) << failure;
  EXPECT_EQ(from_file->columns, good(text).columns);
  EXPECT_EQ(from_file->rows(), 100'000u);
  ::unlink(path.c_str());
}

TEST(CsvReader, RandomBytesNeverCrash) {
  std::mt19937 random(3);
  const std::string_view alphabet = "0123456789.,;\t\"#\n\r -+einfax\xff\xc3\0";
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (std::size_t length = random() % 40; length > 0; --length) text += alphabet[random() % alphabet.size()];
    std::string failure;
    auto table = parse_csv(text, "x", {.increasing_time = round % 2 == 0, .finite = round % 3 == 0}, failure);
    ASSERT_NE(table.has_value(), !failure.empty()) << text;
    if (!table) continue;
    for (const auto& column : table->columns) ASSERT_EQ(column.size(), table->rows());
  }
}

}  // namespace
}  // namespace trace
