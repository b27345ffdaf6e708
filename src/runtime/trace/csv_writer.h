// Rows of doubles -> a CSV file, as they come. Numbers are the shortest text that reads back as the same bits
// (std::to_chars), and `nan`, `inf`, `-inf`. Memory is constant. What was written reaches the file at the latest with
// the first call after a tenth of a second, so a killed process loses only the rows of its last tenth of a second.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/trace/output_file.h"

namespace trace {

// Not thread-safe; may block on the file; not for the real-time thread.
class CsvWriter {
 public:
  CsvWriter() = default;
  ~CsvWriter();  // writes what remains; a failure then goes to stderr: call close() to see it
  CsvWriter(CsvWriter&&) noexcept = default;
  CsvWriter& operator=(CsvWriter&&) = delete;

  enum class Layout {
    csv,     // a header line, then commas between values
    blanks,  // blanks between values and no header, as numerical packages load it
  };
  // Creates or truncates `path` ("-": standard output) and writes the header line, if there is one, through at once.
  [[nodiscard]] bool open(const std::string& path, std::span<const std::string> names, Layout layout = Layout::csv);

  // The same for a table that is known: it is there when it is closed, or never.
  [[nodiscard]] bool open_whole(const std::string& path, std::span<const std::string> names);

  // `row` has as many values as there are names. False after any failure, which failure() explains.
  bool write_row(std::span<const double> row);

  // Writes through when a tenth of a second has passed. For those who compute long without a row.
  bool flush_if_due();
  // Writes through now.
  bool flush();

  // Writes what remains and closes. False when anything since open() failed.
  [[nodiscard]] bool close();

  bool is_open() const { return file_.is_open(); }
  const std::string& failure() const { return file_.failure(); }
  std::size_t rows() const { return rows_; }

 private:
  std::string begin(std::span<const std::string> names, Layout layout);

  using Clock = std::chrono::steady_clock;

  OutputFile file_;
  std::vector<char> buffer_;
  std::size_t used_ = 0;
  std::size_t columns_ = 0;
  std::size_t rows_ = 0;
  char separator_ = ',';
  Clock::time_point last_flush_;
};

// The name of a column with its unit, "p[1] [m]"; csv_reader.h takes them apart again.
std::string column_title(std::string_view name, std::string_view unit);
// A name as it stands in the header line: quoted when it holds a separator, a quote or blanks at its ends, or would be
// taken for a number or a comment.
std::string csv_name(std::string_view name);

}  // namespace trace
