#include "runtime/trace/csv_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <system_error>

namespace trace {
namespace {

constexpr std::size_t longest_line = std::size_t{1} << 24;

std::string_view trim_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// What was seen, safe to print: control bytes as `?`, at most 40 bytes, cut between characters.
std::string shown(std::string_view text) {
  std::string out(text.substr(0, 40));
  if (out.size() < text.size()) {
    while (!out.empty() && (static_cast<unsigned char>(text[out.size()]) & 0xc0) == 0x80) out.pop_back();
  }
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return out.size() < text.size() ? out + ".." : out;
}

enum class NumberFault { none, not_a_number, out_of_range };

NumberFault parse_number(std::string_view text, double& value) {
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) return NumberFault::not_a_number;
  return error == std::errc() ? NumberFault::none : NumberFault::out_of_range;
}

std::string_view separator_name(char separator) {
  return separator == '\t' ? "tabs" : separator == ';' ? "`;`" : "`,`";
}

// Takes the lines of a file one by one.
class Parser {
 public:
  Parser(std::string_view name, const CsvReadOptions& options, std::string& failure)
      : name_(name), options_(options), failure_(failure) {}

  // `line` without its end. False after a mistake.
  bool take(std::string_view line) {
    ++line_number_;
    if (line_number_ == 1) {
      if (line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
      if (line.starts_with("\xff\xfe") || line.starts_with("\xfe\xff")) {
        return fail("the file is in UTF-16; save it as UTF-8");
      }
    }
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    std::string_view content = trim_blanks(line);
    if (content.empty() || content.front() == '#') return true;
    return separator_ == 0 ? take_first(line) : take_row(line);
  }

  bool too_long() {
    ++line_number_;
    return fail("the line is longer than 16 MB; this does not look like a CSV file");
  }

  std::optional<CsvTable> finish() {
    if (table_.columns.empty()) {
      failure_ = fmt::format("{}: the file has no data; give lines of numbers, such as `0, 1.5`", name_);
      return std::nullopt;
    }
    if (table_.rows() == 0 && !options_.header_only_allowed) {
      failure_ = fmt::format("{}: no row follows the header line; give lines of numbers, such as `0, 1.5`", name_);
      return std::nullopt;
    }
    return std::move(table_);
  }

 private:
  bool fail(std::string_view text) {
    failure_ = fmt::format("{}, line {}: {}", name_, line_number_, text);
    return false;
  }

  // The field at the front of `rest`, which is cut off with its separator. `more` tells whether a separator followed.
  // False when a quote does not end or something stands behind it.
  bool next_field(std::string_view& rest, std::string_view& field, bool& quoted, bool& more) {
    std::string_view start = rest;
    while (!start.empty() && (start.front() == ' ' || (start.front() == '\t' && separator_ != '\t')))
      start.remove_prefix(1);
    quoted = start.starts_with('"');
    if (!quoted) {
      std::size_t end = rest.find(separator_);
      more = end != rest.npos;
      field = trim_blanks(rest.substr(0, end));
      rest = more ? rest.substr(end + 1) : std::string_view{};
      return true;
    }
    unquoted_.clear();
    std::size_t at = 1;
    for (;; ++at) {
      if (at >= start.size()) return fail("a `\"` is never closed; add the closing `\"`");
      if (start[at] == '"') {
        if (at + 1 >= start.size() || start[at + 1] != '"') break;
        ++at;
      }
      unquoted_ += start[at];
    }
    field = unquoted_;
    rest = start.substr(at + 1);
    std::size_t end = rest.find(separator_);
    more = end != rest.npos;
    std::string_view behind = trim_blanks(rest.substr(0, end));
    if (!behind.empty()) {
      return fail(
          fmt::format("`{}` follows a closing `\"`; separate fields by {}", shown(behind), separator_name(separator_)));
    }
    rest = more ? rest.substr(end + 1) : std::string_view{};
    return true;
  }

  // The first line with content fixes the separator, the number of columns, and whether there are names.
  bool take_first(std::string_view line) {
    find_separator(line);
    std::vector<std::string> fields;
    std::size_t numbers = 0;
    bool more = true;
    for (std::string_view rest = line; more;) {
      std::string_view field;
      bool quoted = false;
      if (!next_field(rest, field, quoted, more)) return false;
      double ignored;
      if (!quoted && parse_number(field, ignored) != NumberFault::not_a_number) ++numbers;
      fields.emplace_back(field);
    }
    table_.columns.resize(fields.size());
    row_.resize(fields.size());
    if (numbers > 0) return take_row(line);
    for (const std::string& field : fields) add_name(field);
    return true;
  }

  void add_name(std::string_view field) {
    const std::size_t open = field.ends_with(']') ? field.rfind(" [") : field.npos;
    if (open == field.npos || trim_blanks(field.substr(0, open)).empty()) {
      table_.names.emplace_back(field);
      table_.units.emplace_back();
      return;
    }
    table_.names.emplace_back(trim_blanks(field.substr(0, open)));
    table_.units.emplace_back(trim_blanks(field.substr(open + 2, field.size() - open - 3)));
  }

  void find_separator(std::string_view line) {
    bool in_quotes = false, tab = false, semicolon = false;
    for (char c : line) {
      if (c == '"') in_quotes = !in_quotes;
      if (in_quotes) continue;
      tab |= c == '\t';
      semicolon |= c == ';';
    }
    separator_ = semicolon ? ';' : tab ? '\t' : ',';
  }

  bool take_row(std::string_view line) {
    std::size_t count = 0;
    bool more = true;
    for (std::string_view rest = line; more;) {
      std::string_view field;
      bool quoted = false;
      if (!next_field(rest, field, quoted, more)) return false;
      if (count < row_.size()) {
        NumberFault fault = parse_number(field, row_[count]);
        if (fault != NumberFault::none) return refuse_field(line, field, count, fault);
      }
      ++count;
    }
    if (count != row_.size()) return refuse_ragged(count);
    if (options_.finite) {
      for (std::size_t i = 0; i < row_.size(); ++i) {
        if (!std::isfinite(row_[i])) {
          return fail(fmt::format("{} is {}; a recorded signal needs finite numbers: remove the row or fill the gap",
                                  column_name(i), row_[i]));
        }
      }
    }
    if (options_.increasing_time && !check_time()) return false;
    for (std::size_t i = 0; i < row_.size(); ++i) table_.columns[i].push_back(row_[i]);
    last_row_line_ = line_number_;
    return true;
  }

  bool check_time() {
    double time = row_[0];
    if (!std::isfinite(time))
      return fail(fmt::format("the time (first column) is {}; it must be a finite number", time));
    if (table_.rows() == 0) return true;
    double last = table_.columns[0].back();
    if (time > last) return true;
    return fail(fmt::format("the time (first column) does not increase: {} comes after {} of line {}; {}", time, last,
                            last_row_line_, time == last ? "remove one of the two rows" : "sort the rows by time"));
  }

  std::string column_name(std::size_t index) const {
    if (index < table_.names.size() && !table_.names[index].empty()) {
      return fmt::format("column {} (`{}`)", index + 1, shown(table_.names[index]));
    }
    return fmt::format("column {}", index + 1);
  }

  bool refuse_ragged(std::size_t count) {
    return fail(fmt::format("{} value{} where {} {} expected; give every row as many values as {}", count,
                            count == 1 ? "" : "s", row_.size(), row_.size() == 1 ? "was" : "were",
                            table_.names.empty() ? "the first row" : "the header has names"));
  }

  bool refuse_field(std::string_view line, std::string_view field, std::size_t index, NumberFault fault) {
    std::string where = column_name(index);
    if (fault == NumberFault::out_of_range) {
      return fail(
          fmt::format("{}: `{}` is beyond the range of a double, about 1e-323 to 1.8e308", where, shown(field)));
    }
    if (field.empty()) {
      bool last =
          index > 0 && !trim_blanks(line).empty() && trim_blanks(line).back() == separator_ && index + 1 >= row_.size();
      return fail(fmt::format(
          "{} is empty; {}", where,
          last ? "remove the separator at the end of the line, or write a number" : "write a number, or `nan`"));
    }
    std::string_view remedy = "write a number such as -1.5e-3, or put `#` before a comment line";
    if (field.find(',') != field.npos) {
      remedy = "write a decimal point instead of the comma";
    } else if (field.find_first_of(" \t") != field.npos) {
      remedy = "separate the columns by `,`, `;` or tabs";
    } else if (table_.names.empty() && table_.rows() == 0) {
      remedy = "write numbers only, or names only (as a header line)";
    }
    return fail(fmt::format("{}: `{}` is not a number; {}", where, shown(field), remedy));
  }

  std::string name_;
  CsvReadOptions options_;
  std::string& failure_;
  CsvTable table_;
  std::vector<double> row_;
  std::string unquoted_;
  std::size_t line_number_ = 0;
  std::size_t last_row_line_ = 0;
  char separator_ = 0;
};

// Hands the whole lines at the front of `text` to the parser and cuts them off.
bool take_lines(Parser& parser, std::string_view& text) {
  while (true) {
    std::size_t end = text.find('\n');
    if (end == text.npos) return true;
    if (!parser.take(text.substr(0, end))) return false;
    text.remove_prefix(end + 1);
  }
}

class Descriptor {
 public:
  explicit Descriptor(const std::string& path)
      : value(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Descriptor() {
    if (value > STDIN_FILENO) ::close(value);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  const int value;
};

std::string read_failure(const std::string& path, int error_number) {
  std::string why = error_number == ENOENT   ? "there is no such file"
                    : error_number == EISDIR ? "it is a directory; give the name of a file"
                    : error_number == EACCES ? "permission denied"
                                             : std::strerror(error_number);
  return fmt::format("cannot read `{}`: {}", path, why);
}

}  // namespace

std::optional<CsvTable> parse_csv(std::string_view text, std::string_view name, const CsvReadOptions& options,
                                  std::string& failure) {
  Parser parser(name, options, failure);
  if (!take_lines(parser, text)) return std::nullopt;
  if (!text.empty() && !parser.take(text)) return std::nullopt;
  return parser.finish();
}

std::optional<CsvTable> read_csv(const std::string& path, const CsvReadOptions& options, std::string& failure) {
  Descriptor file(path);
  if (file.value < 0) {
    failure = read_failure(path, errno);
    return std::nullopt;
  }
  Parser parser(path == "-" ? "standard input" : path, options, failure);
  std::vector<char> buffer(std::size_t{1} << 18);
  std::size_t used = 0;
  while (true) {
    if (used == buffer.size()) {
      if (used >= longest_line) {
        parser.too_long();
        return std::nullopt;
      }
      buffer.resize(2 * used);
    }
    ssize_t got = ::read(file.value, buffer.data() + used, buffer.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      failure = read_failure(path, errno);
      return std::nullopt;
    }
    used += static_cast<std::size_t>(got);
    std::string_view text(buffer.data(), used);
    if (got == 0) {
      if (!text.empty() && !parser.take(text)) return std::nullopt;
      return parser.finish();
    }
    if (!take_lines(parser, text)) return std::nullopt;
    std::memmove(buffer.data(), text.data(), text.size());
    used = text.size();
  }
}

}  // namespace trace
