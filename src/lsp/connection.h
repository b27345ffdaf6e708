// JSON-RPC messages over two file descriptors, framed by Content-Length (Language Server Protocol 3.17, "Base Protocol").
// Reading and writing are independent; writing may be done from several threads.
#pragma once

#include <cstddef>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace lsp {

inline constexpr std::size_t max_message_bytes = std::size_t{64} << 20;

class Connection {
 public:
  Connection(int input, int output) : input_(input), output_(output) {}

  enum class Outcome { message, bad_header, too_long, end };
  // The next message's text. After a header without a usable length, or of a message that is too long, the stream is read on from
  // the next header that begins a line; what lies between is lost.
  Outcome read(std::string& message);

  // False when the other side is gone.
  bool write(const nlohmann::json& message);
  bool write_text(std::string_view body);

 private:
  int next();  // the next byte; -1 at the end
  bool read_line(std::string& line);
  bool skip_to_header();

  int input_;
  int output_;
  std::string buffer_;
  std::size_t at_ = 0;
  bool resynchronise_ = false;
  std::mutex writing_;
};

}  // namespace lsp
