// The page and the socket of `tactus play`, on the loopback interface: enter bytes of a browser, of which nothing is
// trusted; leave whole text messages to a Handler. What is sent goes to every browser that was let in by a one-time
// token.
//
//   browser --HTTP--> Access (Host, Origin, cookie) --> assets, files
//                                                  \--> WebSocket --> Handler::message
//   send, send_all, send_frame --> Outbox, one a client --> WebSocket --> browser
//
// Protocol: RFC 9112 and RFC 6455, by Boost.Beast, which server.cpp alone includes. What is promised: docs/server.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace server {

// One open socket; never used again for another.
enum class Client : std::uint64_t {};

// A file of the page. `encoding` is that of the bytes: "gzip", "br" or "".
struct Asset {
  std::string_view path;  // "/app.js"; the page itself is "/"
  std::string_view type;  // "text/javascript; charset=utf-8"
  std::string_view bytes;
  std::string_view encoding;
};

struct Timeouts {
  std::chrono::milliseconds request{10'000};  // a whole request, every 64 kB of an answer, opening and closing a socket
  std::chrono::milliseconds idle{30'000};     // a socket that says nothing; it is pinged after half of that
};

// How fast one client may speak: a message costs 1, and another 1 for every 4096 bytes. A mouse sends 1000 a second;
// what it sent while the handler was busy comes at once.
struct Rate {
  double per_second = 4000;
  double at_once = 8000;  // after a pause
};

struct Options {
  std::uint16_t port = 0;         // 0: any that is free
  std::span<const Asset> assets;  // outlive the server
  std::string folder;             // what /files/ shows; "": nothing
  Timeouts timeouts;
  Rate rate;
  std::vector<std::string> allowed = {};  // folders and files: /files/@0/.. shows what lies in the first
};

// Called on the server's thread, one call at a time. While a call runs nothing else is served, so it should be short.
// Outlives the server. An exception that leaves `opened` or `message` ends that client; `closed` may not throw.
class Handler {
 public:
  virtual ~Handler() = default;
  virtual void opened(Client client) = 0;
  // Valid UTF-8, in the order in which the client sent it.
  virtual void message(Client client, std::string_view text) = 0;
  // Once for every `opened`, also when the server ends.
  virtual void closed(Client client) = 0;
};

// Listens from the constructor to the destructor, on a thread of its own. All functions may be called from any thread,
// also from the handler; they allocate and take a lock, so they are not for the real-time thread.
class Server {
 public:
  // Throws std::runtime_error, with a text for the user, when the port or the folder cannot be had.
  Server(const Options& options, Handler& handler);
  // Closes every connection and returns when the handler was told of it. Not to be called by the handler.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;
  // Lets one browser in, once: http://127.0.0.1:PORT/?token=TOKEN. Always the same text.
  const std::string& url() const;
  // The same with a fresh token, for another browser. The 16 youngest tokens are valid.
  std::string new_url();

  // Text in UTF-8. Messages reach a client in the order in which they were sent; one that has gone gets nothing. A
  // client for which more waits than server/limits.h says is dropped.
  void send(Client client, std::string text);
  void send_all(std::string text);
  // To all, as a binary message. A newer frame takes the place of one that still waits; no frame overtakes a message
  // that was sent before it.
  void send_frame(std::span<const std::byte> frame);

  std::size_t clients() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace server
