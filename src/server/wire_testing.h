// A browser without manners, for tests: raw bytes over TCP, requests and WebSocket frames put together by hand, so that
// a test can send what no library would. Nothing here is shared with the server.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace server {

// Long enough for a loaded machine: waiting that long means that the test fails.
inline constexpr int patience_ms = 30'000;

class Wire {
 public:
  explicit Wire(std::uint16_t port, int receive_bytes = 0) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_bytes > 0) setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    sockaddr_in there{};
    there.sin_family = AF_INET;
    there.sin_port = htons(port);
    there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_connected_ = connect(socket_, reinterpret_cast<const sockaddr*>(&there), sizeof there) == 0;
  }
  Wire(Wire&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)),
        is_connected_(other.is_connected_),
        ahead_(std::move(other.ahead_)) {}
  ~Wire() {
    if (socket_ >= 0) close(socket_);
  }

  bool is_connected() const { return is_connected_; }

  // False when the other side does not take it.
  bool write(std::string_view bytes) {
    while (!bytes.empty()) {
      pollfd ready{socket_, POLLOUT, 0};
      if (poll(&ready, 1, patience_ms) <= 0) return false;
      const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // Exactly so many bytes; nothing when the connection ends before.
  std::optional<std::string> read(std::size_t count) {
    while (ahead_.size() < count) {
      if (!read_more()) return std::nullopt;
    }
    std::string bytes = ahead_.substr(0, count);
    ahead_.erase(0, count);
    return bytes;
  }

  std::optional<std::string> read_through(std::string_view end) {
    std::size_t at;
    while ((at = ahead_.find(end)) == std::string::npos) {
      if (!read_more()) return std::nullopt;
    }
    return read(at + end.size());
  }

  // True when the other side ends the connection, false when it stays open all the while.
  bool ends() {
    while (read_more()) ahead_.clear();
    return has_ended_;
  }

  // The same, and without a reset, which on some systems takes with it what was not read yet.
  bool ends_cleanly() { return ends() && !was_reset_; }

 private:
  bool read_more() {
    pollfd ready{socket_, POLLIN, 0};
    if (poll(&ready, 1, patience_ms) <= 0) return false;
    char piece[65536];
    const ssize_t have = recv(socket_, piece, sizeof piece, 0);
    has_ended_ = have <= 0;
    was_reset_ = have < 0;
    if (have > 0) ahead_.append(piece, static_cast<std::size_t>(have));
    return have > 0;
  }

  int socket_;
  bool is_connected_ = false;
  bool has_ended_ = false;
  bool was_reset_ = false;
  std::string ahead_;  // read, but not asked for yet
};

struct Answer {
  int status = 0;  // 0: none
  std::map<std::string, std::string> fields;
  std::string body;
};

inline Answer read_answer(Wire& wire, bool has_body = true) {
  const auto head = wire.read_through("\r\n\r\n");
  if (!head || head->size() < 12) return {};
  Answer answer;
  answer.status = std::stoi(head->substr(9, 3));
  for (std::size_t at = head->find("\r\n") + 2; at + 2 < head->size();) {
    const std::size_t end = head->find("\r\n", at);
    const std::size_t colon = head->find(": ", at);
    answer.fields[head->substr(at, colon - at)] = head->substr(colon + 2, end - colon - 2);
    at = end + 2;
  }
  if (has_body && answer.fields.contains("Content-Length")) {
    answer.body = wire.read(std::stoul(answer.fields["Content-Length"])).value_or("(cut off)");
  }
  return answer;
}

struct Frame {
  int opcode = -1;  // 1 text, 2 binary, 8 close, 9 ping, 10 pong; -1: the connection ended
  std::string bytes;
  // Of a close frame; 0 when it has none.
  int code() const {
    return bytes.size() < 2 ? 0 : static_cast<unsigned char>(bytes[0]) * 256 + static_cast<unsigned char>(bytes[1]);
  }
};

inline Frame read_frame(Wire& wire) {
  const auto head = wire.read(2);
  if (!head) return {};
  std::uint64_t size = static_cast<unsigned char>((*head)[1]);
  if (size >= 126) {
    const auto more = wire.read(size == 126 ? 2 : 8);
    if (!more) return {};
    size = 0;
    for (const char byte : *more) size = size * 256 + static_cast<unsigned char>(byte);
  }
  const auto bytes = wire.read(size);
  if (!bytes) return {};
  return {static_cast<unsigned char>((*head)[0]) & 15, *bytes};
}

// `first`: FIN (0x80) and the opcode.
inline std::string make_frame(int first, std::string_view bytes, bool is_masked = true) {
  std::string frame(1, static_cast<char>(first));
  const int mask_bit = is_masked ? 0x80 : 0;
  if (bytes.size() < 126) {
    frame += static_cast<char>(mask_bit | static_cast<int>(bytes.size()));
  } else if (bytes.size() < 65536) {
    frame += static_cast<char>(mask_bit | 126);
    for (int shift = 8; shift >= 0; shift -= 8) frame += static_cast<char>(bytes.size() >> shift);
  } else {
    frame += static_cast<char>(mask_bit | 127);
    for (int shift = 56; shift >= 0; shift -= 8) frame += static_cast<char>(bytes.size() >> shift);
  }
  if (!is_masked) return frame.append(bytes);
  constexpr std::string_view mask = "mask";
  frame += mask;
  for (std::size_t i = 0; i < bytes.size(); ++i) frame += static_cast<char>(bytes[i] ^ mask[i % 4]);
  return frame;
}

inline std::string make_text(std::string_view text) { return make_frame(0x81, text); }

}  // namespace server
