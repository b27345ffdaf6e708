#include "runtime/trace/csv_writer.h"

#include <charconv>
#include <cstdio>

#include "base/check.h"

namespace trace {
namespace {

constexpr std::size_t least_buffer = std::size_t{1} << 16;
constexpr std::chrono::milliseconds flush_period{80};  // leaves 20 ms of the promised tenth to the system
// The longest shortest double is -2.2250738585072014e-308, and a separator follows.
constexpr std::size_t longest_value = 25;

bool reads_as_number(std::string_view name) {
  if (name.starts_with('+')) name.remove_prefix(1);
  double value;
  auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
  return end == name.data() + name.size() && error != std::errc::invalid_argument;
}

}  // namespace

std::string column_title(std::string_view name, std::string_view unit) {
  std::string title(name);
  if (!unit.empty()) title.append(" [").append(unit).append("]");
  return title;
}

std::string csv_name(std::string_view name) {
  bool quoted = name.empty() || name.find_first_of(",;\t\"\n\r") != name.npos || name.front() == ' ' ||
                name.back() == ' ' || name.front() == '#' || reads_as_number(name);
  if (!quoted) return std::string(name);
  std::string text = "\"";
  for (char c : name) {
    if (c == '"') text += '"';
    text += c == '\n' || c == '\r' ? ' ' : c;
  }
  return text + '"';
}

CsvWriter::~CsvWriter() {
  if (file_.is_open() && !close()) std::fprintf(stderr, "tactus: %s\n", failure().c_str());
}

bool CsvWriter::open(const std::string& path, std::span<const std::string> names, Layout layout) {
  if (file_.is_open() && !close()) return false;
  const std::string header = begin(names, layout);
  return file_.open(path) && file_.write(header);
}

bool CsvWriter::open_whole(const std::string& path, std::span<const std::string> names) {
  if (file_.is_open() && !close()) return false;
  const std::string header = begin(names, Layout::csv);
  return file_.open_whole(path) && file_.write(header);
}

// An empty buffer for so many columns; the line that names them.
std::string CsvWriter::begin(std::span<const std::string> names, Layout layout) {
  columns_ = names.size();
  rows_ = 0;
  used_ = 0;
  buffer_.resize(least_buffer + longest_value * columns_ + 1);
  separator_ = layout == Layout::csv ? ',' : ' ';
  std::string header;
  if (layout == Layout::csv) {
    for (const std::string& name : names) {
      if (!header.empty()) header += ',';
      header += csv_name(name);
    }
    header += '\n';
  }
  last_flush_ = Clock::now();
  return header;
}

bool CsvWriter::write_row(std::span<const double> row) {
  TACTUS_CHECK(row.size() == columns_ && !buffer_.empty());
  if (buffer_.size() - used_ < longest_value * columns_ + 1 && !flush()) return false;
  char* end = buffer_.data() + used_;
  for (double value : row) {
    end = std::to_chars(end, end + longest_value - 1, value != value ? __builtin_nan("") : value).ptr;
    *end++ = separator_;
  }
  if (!row.empty()) --end;
  *end++ = '\n';
  used_ = static_cast<std::size_t>(end - buffer_.data());
  ++rows_;
  return flush_if_due();
}

bool CsvWriter::flush_if_due() {
  if (Clock::now() - last_flush_ < flush_period) return failure().empty();
  return flush();
}

bool CsvWriter::flush() {
  bool written = used_ == 0 ? failure().empty() : file_.write({buffer_.data(), used_});
  used_ = 0;
  last_flush_ = Clock::now();
  return written;
}

bool CsvWriter::close() {
  if (file_.is_open()) flush();
  return file_.close();
}

}  // namespace trace
