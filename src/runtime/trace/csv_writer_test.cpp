#include "runtime/trace/csv_writer.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <new>
#include <random>
#include <sstream>

#include "runtime/trace/csv_reader.h"

namespace trace {
namespace {

std::string scratch(const std::string& name) {
  return testing::TempDir() + "tactus_trace_" + std::to_string(::getpid()) + "_" + name;
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

const std::vector<std::string> two_names = {"t", "x"};

void sleep_ms(long ms) {
  timespec span{ms / 1000, ms % 1000 * 1'000'000};
  ::nanosleep(&span, nullptr);
}

TEST(CsvWriter, WritesHeaderAndShortestNumbers) {
  std::string path = scratch("short.csv");
  CsvWriter writer;
  ASSERT_TRUE(writer.open(path, two_names)) << writer.failure();
  EXPECT_TRUE(writer.write_row(std::vector<double>{0, 0.1}));
  EXPECT_TRUE(writer.write_row(std::vector<double>{-0.0, 1.0 / 3}));
  EXPECT_TRUE(writer.write_row(std::vector<double>{NAN, -NAN}));
  EXPECT_TRUE(writer.write_row(std::vector<double>{INFINITY, -INFINITY}));
  EXPECT_EQ(writer.rows(), 4u);
  ASSERT_TRUE(writer.close());
  EXPECT_EQ(contents(path), "t,x\n0,0.1\n-0,0.3333333333333333\nnan,nan\ninf,-inf\n");
  ::unlink(path.c_str());
}

TEST(CsvWriter, QuotesOnlyNamesThatNeedIt) {
  EXPECT_EQ(csv_name("p[1]"), "p[1]");
  EXPECT_EQ(csv_name("p'[1]"), "p'[1]");
  EXPECT_EQ(csv_name("A[1,2]"), "\"A[1,2]\"");
  EXPECT_EQ(csv_name("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_name("#1"), "\"#1\"");
  EXPECT_EQ(csv_name("inf"), "\"inf\"");
  EXPECT_EQ(csv_name("3"), "\"3\"");
  EXPECT_EQ(csv_name(""), "\"\"");
}

TEST(CsvWriter, AColumnReadsBackWithItsUnit) {
  EXPECT_EQ(column_title("p[1]", "m/s"), "p[1] [m/s]");
  EXPECT_EQ(column_title("x", ""), "x");
  std::string failure;
  auto table = parse_csv(csv_name(column_title("A[1,2]", "N*m")) + ",u\n1,2\n", "a", {}, failure);
  ASSERT_TRUE(table) << failure;
  EXPECT_EQ(table->names, (std::vector<std::string>{"A[1,2]", "u"}));
  EXPECT_EQ(table->units, (std::vector<std::string>{"N*m", ""}));
}

TEST(CsvWriter, EveryNumberReadsBackAsTheSameBits) {
  std::string path = scratch("bits.csv");
  std::mt19937_64 random(7);
  std::vector<double> values = {0.0,
                                -0.0,
                                5e-324,
                                -5e-324,
                                std::numeric_limits<double>::min(),
                                std::numeric_limits<double>::max(),
                                std::numeric_limits<double>::lowest(),
                                INFINITY,
                                -INFINITY,
                                0.1,
                                1e22,
                                1e23,
                                9007199254740993.0};
  while (values.size() < 60'000) {
    double value = std::bit_cast<double>(random());
    if (!std::isnan(value)) values.push_back(value);
  }
  const std::vector<std::string> names = {"a", "b", "A[1,2]", "\"q\"", "nan", " e "};
  CsvWriter writer;
  ASSERT_TRUE(writer.open(path, names));
  for (std::size_t i = 0; i + names.size() <= values.size(); i += names.size()) {
    ASSERT_TRUE(writer.write_row(std::span(values).subspan(i, names.size())));
  }
  ASSERT_TRUE(writer.close());
  std::string failure;
  auto table = read_csv(path, {}, failure);
  ASSERT_TRUE(table) << failure;
  EXPECT_EQ(table->names, names);
  ASSERT_EQ(table->rows(), values.size() / names.size());
  for (std::size_t i = 0; i < table->rows() * names.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint64_t>(table->columns[i % names.size()][i / names.size()]),
              std::bit_cast<std::uint64_t>(values[i]))
        << values[i];
  }
  ::unlink(path.c_str());
}

double now() {
  timespec time;
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// What a child did, in memory that outlives it.
struct Diary {
  static constexpr std::size_t most = 20'000;
  std::atomic<std::size_t> rows;
  double before[most];  // when write_row of this row was called
  double after[most];   // when it returned
};

// A child writes a thousand rows a second, far too few to fill a buffer, and is killed without warning. All rows that
// are not on disk were handed over within the last tenth of a second of its rows. The diary makes this exact on a busy
// machine too.
TEST(CsvWriter, KilledProcessLosesAtMostATenthOfASecond) {
  std::string path = scratch("killed.csv");
  void* memory = ::mmap(nullptr, sizeof(Diary), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  Diary* diary = new (memory) Diary;
  pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    CsvWriter writer;
    bool good = writer.open(path, two_names);
    for (std::size_t k = 0; good && k < Diary::most; ++k) {
      diary->before[k] = now();
      good = writer.write_row(std::vector<double>{diary->before[k], static_cast<double>(k)});
      diary->after[k] = now();
      diary->rows = k + 1;
      sleep_ms(1);
    }
    ::_exit(1);
  }
  while (diary->rows < 50 || diary->after[diary->rows - 1] - diary->before[0] < 0.45) {
    ASSERT_EQ(::waitpid(child, nullptr, WNOHANG), 0) << "the child gave up";
    sleep_ms(5);
  }
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));

  std::string failure;
  auto table = read_csv(path, {.increasing_time = true}, failure);
  ASSERT_TRUE(table) << failure;
  const std::size_t on_disk = table->rows(), handed_over = diary->rows;
  for (std::size_t i = 0; i < on_disk; ++i) ASSERT_EQ(table->columns[1][i], static_cast<double>(i));
  ASSERT_GT(on_disk, 0u);
  if (on_disk < handed_over) {
    EXPECT_LT(diary->before[handed_over - 1] - diary->after[on_disk], 0.1);
  }
  ::munmap(memory, sizeof(Diary));
  ::unlink(path.c_str());
}

TEST(CsvWriter, RowsOfAnExitWithoutCloseAreOnDiskAfterFlush) {
  std::string path = scratch("exit.csv");
  pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    CsvWriter writer;
    bool good = writer.open(path, two_names) && writer.write_row(std::vector<double>{0, 1});
    sleep_ms(120);
    good = good && writer.flush_if_due() && writer.write_row(std::vector<double>{1, 2});
    ::_exit(good ? 0 : 1);  // the second row is lost
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(contents(path), "t,x\n0,1\n");
  ::unlink(path.c_str());
}

TEST(CsvWriter, FailsWithTheReasonWhenTheDirectoryIsMissing) {
  CsvWriter writer;
  EXPECT_FALSE(writer.open("/no/such/place/a.csv", two_names));
  EXPECT_EQ(writer.failure(), "cannot write `/no/such/place/a.csv`: the directory `/no/such/place` does not exist");
  EXPECT_FALSE(writer.write_row(std::vector<double>{0, 1}));
  EXPECT_FALSE(writer.close());
}

TEST(CsvWriter, FailsWhenThePathIsADirectoryOrNotPermitted) {
  CsvWriter writer;
  EXPECT_FALSE(writer.open(testing::TempDir(), two_names));
  EXPECT_NE(writer.failure().find("it is a directory"), std::string::npos) << writer.failure();
  EXPECT_FALSE(writer.open("", two_names));
  EXPECT_NE(writer.failure().find("the file name is empty"), std::string::npos) << writer.failure();
  if (::geteuid() != 0) {
    EXPECT_FALSE(writer.open("/proc/version", two_names));
    EXPECT_NE(writer.failure().find("permission denied"), std::string::npos) << writer.failure();
  }
}

TEST(CsvWriter, AFullDiskIsReported) {
  CsvWriter writer;
  bool header = writer.open("/dev/full", two_names);
  EXPECT_FALSE(header);
  EXPECT_EQ(writer.failure(), "cannot write `/dev/full`: the disk is full");
  EXPECT_FALSE(writer.close());
}

TEST(CsvWriter, AReaderThatWentAwayIsReportedByClose) {
  pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::signal(SIGPIPE, SIG_IGN);
    int ends[2];
    if (::pipe(ends) != 0) ::_exit(2);
    ::dup2(ends[1], STDOUT_FILENO);
    CsvWriter writer;
    bool opened = writer.open("-", two_names);
    ::close(ends[0]);  // nobody reads any more
    bool row = writer.write_row(std::vector<double>{0, 1});
    bool closed = writer.close();
    bool told = writer.failure() == "cannot write to standard output: the reader at the other end is gone";
    ::_exit(opened && row && !closed && told ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(CsvWriter, ManyColumnsAndRowsInConstantMemory) {
  std::string path = scratch("wide.csv");
  std::vector<std::string> names;
  for (int i = 0; i < 5000; ++i) names.push_back("x[" + std::to_string(i) + "]");
  std::vector<double> row(names.size(), -2.2250738585072014e-308);
  CsvWriter writer;
  ASSERT_TRUE(writer.open(path, names));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(writer.write_row(row));
  ASSERT_TRUE(writer.close());
  std::string failure;
  auto table = read_csv(path, {}, failure);
  ASSERT_TRUE(table) << failure;
  EXPECT_EQ(table->columns.size(), 5000u);
  EXPECT_EQ(table->rows(), 20u);
  EXPECT_EQ(table->columns[4999][19], row[0]);
  ::unlink(path.c_str());
}

}  // namespace
}  // namespace trace
