#include "lsp/connection.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

namespace lsp {
namespace {

constexpr std::string_view length_header = "content-length:";
constexpr std::size_t max_header_line = 4096;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::optional<std::size_t> length_in(std::string_view value) {
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
  while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), length);
  if (error == std::errc::result_out_of_range) return max_message_bytes + 1;
  if (error != std::errc() || end != value.data() + value.size()) return std::nullopt;
  return length;
}

}  // namespace

int Connection::next() {
  if (at_ == buffer_.size()) {
    char piece[1 << 16];
    ssize_t count = 0;
    do count = ::read(input_, piece, sizeof piece);
    while (count < 0 && errno == EINTR);
    if (count <= 0) return -1;
    buffer_.assign(piece, static_cast<std::size_t>(count));
    at_ = 0;
  }
  return static_cast<unsigned char>(buffer_[at_++]);
}

// Up to \n, without the \r before it. What is longer than any header is cut.
bool Connection::read_line(std::string& line) {
  line.clear();
  for (int byte = next(); byte >= 0; byte = next()) {
    if (byte == '\n') {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      return true;
    }
    if (line.size() < max_header_line) line += static_cast<char>(byte);
  }
  return false;
}

// Puts back the header that it found.
bool Connection::skip_to_header() {
  std::size_t matched = 0;
  for (int byte = next(); byte >= 0; byte = next()) {
    const char c = static_cast<char>(std::tolower(byte));
    matched = c == length_header[matched] ? matched + 1 : c == length_header[0] ? 1 : 0;
    if (matched < length_header.size()) continue;
    buffer_ = std::string(length_header) + buffer_.substr(at_);
    at_ = 0;
    return true;
  }
  return false;
}

Connection::Outcome Connection::read(std::string& message) {
  if (resynchronise_ && !skip_to_header()) return Outcome::end;
  resynchronise_ = false;
  std::optional<std::size_t> length;
  std::string line;
  bool any = false;
  while (true) {
    if (!read_line(line)) return Outcome::end;
    if (line.empty()) {
      if (any) break;
      continue;  // empty lines before a header
    }
    any = true;
    if (lower(line).starts_with(length_header)) length = length_in(std::string_view(line).substr(length_header.size()));
    if (line.find(':') == std::string::npos) {
      resynchronise_ = true;
      return Outcome::bad_header;
    }
  }
  if (!length || *length > max_message_bytes) {
    resynchronise_ = true;
    return length ? Outcome::too_long : Outcome::bad_header;
  }
  message.clear();
  message.reserve(*length);
  while (message.size() < *length) {
    if (at_ == buffer_.size()) {
      const int byte = next();
      if (byte < 0) return Outcome::end;
      message += static_cast<char>(byte);
      continue;
    }
    const std::size_t count = std::min(*length - message.size(), buffer_.size() - at_);
    message.append(buffer_, at_, count);
    at_ += count;
  }
  return Outcome::message;
}

bool Connection::write(const nlohmann::json& message) {
  return write_text(message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

bool Connection::write_text(std::string_view body) {
  const std::string framed = fmt::format("Content-Length: {}\r\n\r\n{}", body.size(), body);
  const std::lock_guard lock(writing_);
  std::string_view left = framed;
  while (!left.empty()) {
    const ssize_t written = ::write(output_, left.data(), left.size());
    if (written >= 0) {
      left.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd ready{output_, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace lsp
