// A server with a folder of files, a handler that remembers, and what a test needs to get in.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "server/server.h"
#include "server/wire_testing.h"

namespace server {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

// Remembers what it was told; tests wait for it.
class Recorder : public Handler {
 public:
  void opened(Client client) override {
    tell([&] { opened_.push_back(client); });
  }
  void message(Client client, std::string_view text) override {
    tell([&] { messages_.emplace_back(text); });
    if (echo_to) echo_to->send(client, std::string(text));
  }
  void closed(Client client) override {
    tell([&] { closed_.push_back(client); });
  }

  // The client that was opened as number `index`.
  Client await_opened(std::size_t index) {
    EXPECT_TRUE(await([&] { return opened_.size() > index; })) << "no client came";
    const std::lock_guard lock(mutex_);
    return index < opened_.size() ? opened_[index] : Client{};
  }
  bool await_closed(std::size_t count) {
    return await([&] { return closed_.size() >= count; });
  }
  std::vector<std::string> await_messages(std::size_t count) {
    EXPECT_TRUE(await([&] { return messages_.size() >= count; }));
    const std::lock_guard lock(mutex_);
    return messages_;
  }
  std::size_t closed_count() {
    const std::lock_guard lock(mutex_);
    return closed_.size();
  }
  std::vector<std::string> messages() {
    const std::lock_guard lock(mutex_);
    return messages_;
  }

  Server* echo_to = nullptr;

 private:
  template <class Change>
  void tell(Change change) {
    const std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }
  template <class Condition>
  bool await(Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, milliseconds(patience_ms), condition);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Client> opened_, closed_;
  std::vector<std::string> messages_;
};

inline constexpr Asset assets[] = {
    {"/", "text/html; charset=utf-8", "<html>the page</html>", ""},
    {"/app.js", "text/javascript; charset=utf-8", "packed", "gzip"},
};

class ServerTest : public testing::Test {
 protected:
  ServerTest() {
    char name[] = "/tmp/tactus_server_XXXXXX";
    outside_ = mkdtemp(name);
    folder_ = outside_ / "model";
    fs::create_directories(folder_ / "meshes");
    put(outside_ / "secret.stl", "secret");
    put(folder_ / "ball.stl", "a ball");
    put(folder_ / "meshes" / "arm one.stl", "an arm");
  }
  ~ServerTest() override {
    server_.reset();
    fs::remove_all(outside_);
  }

  // Without other timeouts, none is reached, however slow the machine is.
  void start(Timeouts timeouts = {milliseconds(600'000), milliseconds(600'000)}, Rate rate = {}) {
    server_ = std::make_unique<Server>(Options{0, assets, folder_.string(), timeouts, rate}, recorder_);
    host_ = "127.0.0.1:" + std::to_string(server_->port());
    origin_ = "http://" + host_;
  }

  static void put(const fs::path& path, std::string_view text) { std::ofstream(path) << text; }

  static std::string target_of(const std::string& url) { return url.substr(url.find("/?")); }

  // What the server gives for a token: "Cookie: tactus_PORT=..\r\n", and the key.
  std::string enter(const std::string& url) {
    Wire wire(server_->port());
    wire.write("GET " + target_of(url) + " HTTP/1.1\r\nHost: " + host_ + "\r\n\r\n");
    const Answer answer = read_answer(wire);
    EXPECT_EQ(answer.status, 303);
    if (answer.status != 303) return {};
    const std::string& place = answer.fields.at("Location");
    EXPECT_EQ(place.substr(0, 6), "/#key=");
    key_ = place.substr(std::min<std::size_t>(6, place.size()));
    const std::string& set = answer.fields.at("Set-Cookie");
    return "Cookie: " + set.substr(0, set.find(';')) + "\r\n";
  }

  std::string cookie() {
    if (cookie_.empty()) cookie_ = enter(server_->url());
    return cookie_;
  }
  std::string host() const { return "Host: " + host_ + "\r\n"; }

  Answer ask(const std::string& request, bool has_body = true) {
    Wire wire(server_->port());
    wire.write(request);
    return read_answer(wire, has_body);
  }
  Answer get(const std::string& target) { return ask("GET " + target + " HTTP/1.1\r\n" + host() + cookie() + "\r\n"); }

  static std::string upgrade() {
    return "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
           "dGhlIHNhbXBsZSBub25jZQ==\r\n";
  }
  std::string socket_request(const std::string& fields) const {
    return "GET /socket?key=" + key_ + " HTTP/1.1\r\n" + fields + upgrade() + "\r\n";
  }
  std::string socket_request() {
    const std::string known = cookie();  // before the key is read
    return socket_request(host() + "Origin: " + origin_ + "\r\n" + known);
  }

  Wire open_socket(int receive_bytes = 0) {
    const std::string request = socket_request();
    Wire wire(server_->port(), receive_bytes);
    wire.write(request);
    EXPECT_EQ(read_answer(wire, false).status, 101);
    recorder_.await_opened(sockets_opened_++);
    return wire;
  }

  // Sends bytes over a new socket; what the server closes it with. No message may come through.
  int closing_code(std::string_view bytes) {
    Wire wire = open_socket();
    wire.write(bytes);
    const Frame last = read_frame(wire);
    EXPECT_EQ(last.opcode, 8);
    wire.write(make_frame(0x88, last.bytes));
    EXPECT_TRUE(wire.ends());
    EXPECT_TRUE(recorder_.await_closed(sockets_opened_));
    EXPECT_TRUE(recorder_.messages().empty());
    EXPECT_EQ(server_->clients(), 0u);
    return last.code();
  }

  fs::path outside_, folder_;
  Recorder recorder_;
  std::unique_ptr<Server> server_;
  std::string host_, origin_, cookie_, key_;
  std::size_t sockets_opened_ = 0;
};

inline std::span<const std::byte> as_frame(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace server
