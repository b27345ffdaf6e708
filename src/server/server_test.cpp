// Every rule of docs/server.md, against raw bytes. Each test fails without the rule it is named for.
#include "server/server.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "server/limits.h"
#include "server/page.h"
#include "server/wire_testing.h"

namespace server {
namespace {

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

constexpr Asset assets[] = {
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

  void start(Timeouts timeouts = {}, Rate rate = {}) {
    server_ = std::make_unique<Server>(Options{0, assets, folder_.string(), timeouts, rate}, recorder_);
    host_ = "127.0.0.1:" + std::to_string(server_->port());
    origin_ = "http://" + host_;
  }

  static void put(const fs::path& path, std::string_view text) { std::ofstream(path) << text; }

  static std::string target_of(const std::string& url) { return url.substr(url.find("/?")); }

  // What the server gives for a token: "Cookie: tactus_PORT=..\r\n".
  std::string enter(const std::string& url) {
    Wire wire(server_->port());
    wire.write("GET " + target_of(url) + " HTTP/1.1\r\nHost: " + host_ + "\r\n\r\n");
    const Answer answer = read_answer(wire);
    EXPECT_EQ(answer.status, 303);
    if (answer.status != 303) return {};
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
    return "GET /socket HTTP/1.1\r\n" + fields + upgrade() + "\r\n";
  }
  std::string socket_request() { return socket_request(host() + "Origin: " + origin_ + "\r\n" + cookie()); }

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
  std::string host_, origin_, cookie_;
  std::size_t sockets_opened_ = 0;
};

std::span<const std::byte> as_frame(const std::string& text) { return std::as_bytes(std::span(text)); }

// --- Getting in -----------------------------------------------------------------------------------------------------

TEST_F(ServerTest, TheTokenBecomesACookieThatOpensThePage) {
  start();
  EXPECT_EQ(server_->url().find("http://" + host_ + "/?token="), 0u);
  const Answer first = ask("GET " + target_of(server_->url()) + " HTTP/1.1\r\n" + host() + "\r\n");
  EXPECT_EQ(first.status, 303);
  EXPECT_EQ(first.fields.at("Location"), "/");
  const std::string set = first.fields.at("Set-Cookie");
  EXPECT_NE(set.find("; HttpOnly; SameSite=Strict; Path=/"), std::string::npos);
  cookie_ = "Cookie: " + set.substr(0, set.find(';')) + "\r\n";
  const Answer page = get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.body, "<html>the page</html>");
  EXPECT_EQ(page.fields.at("Content-Type"), "text/html; charset=utf-8");
}

TEST_F(ServerTest, LocalhostIsANameToo) {
  start();
  const std::string name = "localhost:" + std::to_string(server_->port());
  EXPECT_EQ(ask("GET / HTTP/1.1\r\nHost: " + name + "\r\nOrigin: http://" + name + "\r\n" + cookie() + "\r\n").status,
            200);
}

TEST_F(ServerTest, ListensOnTheLoopbackInterfaceOnly) {
  start();
  // 127.0.0.2 is this machine as well; a server on all interfaces would answer there.
  const int other = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in there{};
  there.sin_family = AF_INET;
  there.sin_port = htons(server_->port());
  there.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
  EXPECT_NE(connect(other, reinterpret_cast<const sockaddr*>(&there), sizeof there), 0);
  close(other);
}

TEST_F(ServerTest, AForeignHostIsForbidden) {
  start();
  for (const std::string& name :
       {std::string("example.org"), "example.org:" + std::to_string(server_->port()), std::string("127.0.0.1")}) {
    const Answer answer = ask("GET / HTTP/1.1\r\nHost: " + name + "\r\n" + cookie() + "\r\n");
    EXPECT_EQ(answer.status, 403) << name;
    EXPECT_EQ(answer.body, "forbidden\n");
    EXPECT_EQ(ask("GET " + target_of(server_->new_url()) + " HTTP/1.1\r\nHost: " + name + "\r\n\r\n").status, 403)
        << name;
    EXPECT_EQ(ask(socket_request("Host: " + name + "\r\nOrigin: http://" + name + "\r\n" + cookie())).status, 403)
        << name;
  }
}

TEST_F(ServerTest, AMissingHostIsForbidden) {
  start();
  EXPECT_EQ(ask("GET / HTTP/1.1\r\n" + cookie() + "\r\n").status, 403);
  EXPECT_EQ(ask("GET / HTTP/1.0\r\n" + cookie() + "\r\n").status, 403);
}

TEST_F(ServerTest, TwoHostsAreForbidden) {
  start();
  EXPECT_EQ(ask("GET / HTTP/1.1\r\n" + host() + "Host: example.org\r\n" + cookie() + "\r\n").status, 403);
  EXPECT_EQ(ask("GET / HTTP/1.1\r\n" + host() + host() + cookie() + "\r\n").status, 403);
}

TEST_F(ServerTest, AForeignOriginIsForbidden) {
  start();
  const std::string port = std::to_string(server_->port());
  for (const std::string& origin : {std::string("http://example.org"), std::string("null"), "https://127.0.0.1:" + port,
                                    "http://localhost:" + port, std::string("http://127.0.0.1:1")}) {
    const std::string field = "Origin: " + origin + "\r\n";
    EXPECT_EQ(ask("GET / HTTP/1.1\r\n" + host() + field + cookie() + "\r\n").status, 403) << origin;
    EXPECT_EQ(ask("GET " + target_of(server_->new_url()) + " HTTP/1.1\r\n" + host() + field + "\r\n").status, 403)
        << origin;
    EXPECT_EQ(ask(socket_request(host() + field + cookie())).status, 403) << origin;
  }
  const std::string ours = "Origin: " + origin_ + "\r\n";
  EXPECT_EQ(ask("GET / HTTP/1.1\r\n" + host() + ours + cookie() + "\r\n").status, 200);
  EXPECT_EQ(ask("GET / HTTP/1.1\r\n" + host() + ours + "Origin: http://example.org\r\n" + cookie() + "\r\n").status,
            403);
}

TEST_F(ServerTest, TheSocketNeedsAnOrigin) {
  start();
  EXPECT_EQ(ask(socket_request(host() + cookie())).status, 403);
}

TEST_F(ServerTest, WithoutTheCookieEverythingIsForbidden) {
  start();
  const std::string ours = "Origin: " + origin_ + "\r\n";
  std::string wrong = cookie();
  wrong[wrong.size() - 3] = wrong[wrong.size() - 3] == '0' ? '1' : '0';
  for (const std::string& field : {std::string(), wrong, std::string("Cookie: tactus=1\r\n")}) {
    for (const char* target : {"/", "/app.js", "/files/ball.stl", "/nothing", "/socket", "/?token=", "/?token=00"}) {
      EXPECT_EQ(ask("GET " + std::string(target) + " HTTP/1.1\r\n" + host() + field + "\r\n").status, 403)
          << target << field;
    }
    EXPECT_EQ(ask("POST / HTTP/1.1\r\n" + host() + field + "\r\n").status, 403);
    EXPECT_EQ(ask(socket_request(host() + ours + field)).status, 403);
  }
}

TEST_F(ServerTest, ATokenWorksOnceAndASecondBrowserNeedsItsOwn) {
  start();
  const std::string first_url = server_->url();
  cookie();
  EXPECT_EQ(ask("GET " + target_of(first_url) + " HTTP/1.1\r\n" + host() + "\r\n").status, 403);
  EXPECT_EQ(server_->url(), first_url);
  const std::string second_url = server_->new_url();
  EXPECT_NE(second_url, first_url);
  const std::string second = enter(second_url);
  EXPECT_EQ(ask("GET / HTTP/1.1\r\n" + host() + second + "\r\n").status, 200);
  EXPECT_EQ(get("/").status, 200) << "the first browser is still in";
}

TEST_F(ServerTest, ABrowserThatIsInMayFollowTheOldLinkAgain) {
  start();
  EXPECT_EQ(get(target_of(server_->url())).status, 303);
}

TEST_F(ServerTest, OnlyAGetOfThePageUsesTheTokenUp) {
  start();
  const std::string target = target_of(server_->url());
  EXPECT_EQ(ask("HEAD " + target + " HTTP/1.1\r\n" + host() + "\r\n", false).status, 403);
  EXPECT_EQ(ask("POST " + target + " HTTP/1.1\r\n" + host() + "\r\n").status, 403);
  EXPECT_EQ(ask("GET /app.js" + target.substr(1) + " HTTP/1.1\r\n" + host() + "\r\n").status, 403);
  EXPECT_EQ(ask("GET " + target + " HTTP/1.1\r\n" + host() + "\r\n").status, 303);
}

// --- Requests -------------------------------------------------------------------------------------------------------

TEST_F(ServerTest, EveryAnswerTellsTheBrowserToBeStrict) {
  start();
  for (const Answer& answer :
       {get("/"), get("/app.js"), get("/files/ball.stl"), get("/nothing"), get(target_of(server_->new_url())),
        ask("GET / HTTP/1.1\r\n" + host() + "\r\n"), ask("nonsense\r\n\r\n")}) {
    SCOPED_TRACE(answer.status);
    const auto field = [&](const char* name) { return answer.fields.contains(name) ? answer.fields.at(name) : ""; };
    EXPECT_EQ(field("Cache-Control"), "no-store");
    EXPECT_EQ(field("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(field("Referrer-Policy"), "no-referrer");
    EXPECT_EQ(field("Cross-Origin-Opener-Policy"), "same-origin");
    EXPECT_EQ(field("Cross-Origin-Resource-Policy"), "same-origin");
    EXPECT_EQ(field("Access-Control-Allow-Origin"), "");
    EXPECT_EQ(field("Server"), "");
    EXPECT_EQ(field("Content-Security-Policy").find("default-src 'none';"), 0u);
    EXPECT_NE(field("Content-Security-Policy").find("frame-ancestors 'none'"), std::string::npos);
  }
  EXPECT_EQ(get("/").fields.at("Content-Security-Policy"),
            "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self' ws://" +
                host_ +
                "/socket; img-src 'self' data: blob:; font-src 'self'; worker-src 'self' blob:; base-uri 'none'; "
                "form-action 'none'; frame-ancestors 'none'");
}

TEST_F(ServerTest, AssetsComeAsTheyWereCompressed) {
  start();
  const Answer answer = get("/app.js");
  EXPECT_EQ(answer.body, "packed");
  EXPECT_EQ(answer.fields.at("Content-Encoding"), "gzip");
  EXPECT_EQ(answer.fields.at("Content-Type"), "text/javascript; charset=utf-8");
  EXPECT_EQ(get("/app.js?v=2").body, "packed");
  EXPECT_EQ(get("/index.html").status, 404);
  EXPECT_EQ(get("/nothing").body, "not found\n");
}

TEST_F(ServerTest, HeadGivesNoBody) {
  start();
  for (const char* target : {"/", "/files/ball.stl"}) {
    Wire wire(server_->port());
    wire.write("HEAD " + std::string(target) + " HTTP/1.1\r\n" + host() + cookie() + "\r\n");
    const Answer head = read_answer(wire, false);
    EXPECT_EQ(head.status, 200);
    EXPECT_NE(head.fields.at("Content-Length"), "0");
    // Had a body come, this answer would not begin here.
    wire.write("GET / HTTP/1.1\r\n" + host() + cookie() + "\r\n");
    EXPECT_EQ(read_answer(wire).body, "<html>the page</html>");
  }
  Wire wire(server_->port());
  wire.write("HEAD / HTTP/1.1\r\n" + host() + "\r\n");
  EXPECT_EQ(read_answer(wire, false).status, 403);
  EXPECT_FALSE(wire.read(1));
}

TEST_F(ServerTest, OneConnectionCarriesManyRequestsEvenAtOnce) {
  start();
  const std::string request = "GET / HTTP/1.1\r\n" + host() + cookie() + "\r\n";
  Wire wire(server_->port());
  wire.write(request + request + request);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(read_answer(wire).status, 200);
}

TEST_F(ServerTest, OtherMethodsAreRefused) {
  start();
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "BREW"}) {
    const Answer answer = ask(std::string(method) + " / HTTP/1.1\r\n" + host() + cookie() + "\r\n");
    EXPECT_EQ(answer.status, 405) << method;
    EXPECT_EQ(answer.fields.at("Allow"), "GET, HEAD");
  }
}

TEST_F(ServerTest, ABodyIsRefused) {
  start();
  const std::string head = "GET / HTTP/1.1\r\n" + host() + cookie();
  EXPECT_EQ(ask(head + "Content-Length: 5\r\n\r\nhello").status, 413);
  EXPECT_EQ(ask(head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n").status, 400);
  EXPECT_EQ(ask(head + "Content-Length: 0\r\n\r\n").status, 200);
}

TEST_F(ServerTest, AnOversizedHeaderIsRefused) {
  start();
  const std::string head = "GET / HTTP/1.1\r\n" + host() + cookie();
  EXPECT_EQ(ask(head + "X: " + std::string(max_header_bytes - 1024, 'x') + "\r\n\r\n").status, 200);
  EXPECT_EQ(ask(head + "X: " + std::string(max_header_bytes, 'x') + "\r\n\r\n").status, 431);
  EXPECT_EQ(ask(head + "X: " + std::string(500'000, 'x') + "\r\n\r\n").status, 431);
  std::string many;
  for (int i = 0; i < 10'000; ++i) many += "X: x\r\n";
  EXPECT_EQ(ask(head + many + "\r\n").status, 431);
}

TEST_F(ServerTest, AnOversizedTargetIsRefused) {
  start();
  EXPECT_EQ(get("/?" + std::string(max_target_bytes - 2, 'x')).status, 200);
  EXPECT_EQ(get("/?" + std::string(max_target_bytes - 1, 'x')).status, 414);
}

TEST_F(ServerTest, NonsenseIsRefused) {
  start();
  for (const std::string& bytes :
       {std::string("nonsense\r\n\r\n"), std::string("GET /\r\n\r\n"), std::string("GET / HTTP/2.0\r\n\r\n"),
        std::string("\x16\x03\x01\x02\x00\x01\r\n\r\n", 10), "GET / HTTP/1.1\r\n" + host() + "Bad Name: 1\r\n\r\n",
        "GET / HTTP/1.1\r\n" + host() + "Content-Length: -1\r\n\r\n"}) {
    Wire wire(server_->port());
    wire.write(bytes);
    const Answer answer = read_answer(wire);
    EXPECT_EQ(answer.status, 400) << bytes;
    EXPECT_EQ(answer.body, "refused\n");
    EXPECT_TRUE(wire.ends());
  }
  EXPECT_EQ(get("http://" + host_ + "/").status, 404) << "we are no proxy";
  EXPECT_EQ(get("*").status, 404);
}

TEST_F(ServerTest, WhoIsRefusedStartsAgain) {
  start();
  EXPECT_EQ(ask("GET / HTTP/1.1\r\n" + host() + "\r\n").fields["Connection"], "close");
  EXPECT_EQ(ask("POST / HTTP/1.1\r\n" + host() + cookie() + "\r\n").fields["Connection"], "close");
  EXPECT_EQ(get("/nothing").fields["Connection"], "") << "but not for a wrong path";
}

TEST_F(ServerTest, ARefusalArrivesWhateverElseWasSent) {
  start();
  Wire wire(server_->port());
  wire.write("GET / HTTP/1.1\r\nX: " + std::string(500'000, 'x'));
  EXPECT_EQ(read_answer(wire).status, 431);
  EXPECT_TRUE(wire.ends_cleanly());
}

TEST_F(ServerTest, AHalfOpenConnectionTimesOut) {
  start({milliseconds(200), milliseconds(30'000)});
  Wire silent(server_->port());
  Wire unfinished(server_->port());
  unfinished.write("GET / HTTP/1.1\r\nHost: ");
  EXPECT_TRUE(silent.ends());
  EXPECT_TRUE(unfinished.ends());
}

TEST_F(ServerTest, AConnectionThatDripsTimesOutAsWell) {
  start({milliseconds(200), milliseconds(30'000)});
  Wire wire(server_->port());
  bool is_taken = true;
  const auto give_up = std::chrono::steady_clock::now() + milliseconds(patience_ms);
  wire.write("GET / HTTP/1.1\r\nX: ");
  while (is_taken && std::chrono::steady_clock::now() < give_up) {
    std::this_thread::sleep_for(milliseconds(20));
    is_taken = wire.write("x");
  }
  EXPECT_FALSE(is_taken);
}

TEST_F(ServerTest, ConnectionsAreCounted) {
  start();
  const std::string request = "GET / HTTP/1.1\r\n" + host() + cookie() + "\r\n";
  std::vector<Wire> wires;
  std::size_t served = 0;
  for (int i = 0; i < 100; ++i) {
    wires.emplace_back(server_->port());
    if (wires.back().write(request) && read_answer(wires.back()).status == 200) ++served;
  }
  // The one that got the cookie may not have left yet.
  EXPECT_GE(served, max_connections - 1);
  EXPECT_LE(served, max_connections);
  wires.clear();
  // Places become free as the server sees the others leave.
  int status = 0;
  const auto give_up = std::chrono::steady_clock::now() + milliseconds(patience_ms);
  while (status != 200 && std::chrono::steady_clock::now() < give_up) status = ask(request).status;
  EXPECT_EQ(status, 200);
}

// --- Files ----------------------------------------------------------------------------------------------------------

TEST_F(ServerTest, FilesOfTheFolderAreServed) {
  start();
  const Answer answer = get("/files/ball.stl");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "a ball");
  EXPECT_EQ(answer.fields.at("Content-Type"), "model/stl");
  EXPECT_NE(answer.fields.at("Content-Security-Policy").find("sandbox"), std::string::npos);
  EXPECT_EQ(get("/files/meshes/arm%20one.stl").body, "an arm");
  EXPECT_EQ(get("/files/b%61ll.s%74l").body, "a ball");
  std::string large(3'000'000, '\0');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * i >> 7);
  put(folder_ / "large.glb", large);
  EXPECT_EQ(get("/files/large.glb").body, large);
  put(folder_ / "empty.obj", "");
  EXPECT_EQ(get("/files/empty.obj").status, 200);
}

TEST_F(ServerTest, NoSpellingLeadsOutOfTheFolder) {
  start();
  ASSERT_EQ(get("/files/ball.stl").status, 200);
  for (const std::string& path : {
           std::string("../secret.stl"),
           std::string("meshes/../../secret.stl"),
           std::string("meshes/../ball.stl"),
           std::string("./ball.stl"),
           std::string("%2e%2e/secret.stl"),
           std::string("%2E%2E/secret.stl"),
           std::string(".%2e/secret.stl"),
           std::string("..%2fsecret.stl"),
           std::string("%2e%2e%2fsecret.stl"),
           std::string("meshes%2farm%20one.stl"),
           std::string("%252e%252e/secret.stl"),
           std::string("%252e%252e%252fsecret.stl"),
           std::string("..%5csecret.stl"),
           std::string("..\\secret.stl"),
           (outside_ / "secret.stl").string(),
           "/" + (outside_ / "secret.stl").string(),
           "%2f" + (outside_ / "secret.stl").string().substr(1),
           std::string("/ball.stl"),
           std::string("meshes//arm%20one.stl"),
           std::string("ball.stl/"),
           std::string("ball.stl%00"),
           std::string("ball.stl%00.stl"),
           std::string("ball.st%6"),
           std::string("ball.st%6g"),
           std::string("ball.stl%"),
           std::string("ball%2estl%2f"),
           std::string(""),
           std::string("."),
           std::string(".."),
           std::string("meshes"),
           std::string("meshes/"),
       }) {
    const Answer answer = get("/files/" + path);
    EXPECT_EQ(answer.status, 404) << path;
    EXPECT_EQ(answer.body, "not found\n") << path;
  }
  EXPECT_EQ(get("/../secret.stl").status, 404);
  EXPECT_EQ(get("/files").status, 404);
  EXPECT_EQ(get("/files/" + std::string(1000, 'x') + ".stl").status, 404);
}

TEST_F(ServerTest, LinksAreNotFollowed) {
  start();
  fs::create_symlink(outside_ / "secret.stl", folder_ / "link.stl");
  fs::create_symlink(outside_, folder_ / "out");
  fs::create_symlink("ball.stl", folder_ / "inner.stl");
  fs::create_symlink("meshes", folder_ / "inner");
  for (const char* path : {"link.stl", "out/secret.stl", "out/model/ball.stl", "inner.stl", "inner/arm%20one.stl"}) {
    EXPECT_EQ(get("/files/" + std::string(path)).status, 404) << path;
  }
}

TEST_F(ServerTest, HiddenNamesAreNotShown) {
  start();
  put(folder_ / ".hidden.stl", "hidden");
  fs::create_directory(folder_ / ".git");
  put(folder_ / ".git" / "ball.stl", "hidden");
  for (const char* path : {".hidden.stl", "%2ehidden.stl", ".git/ball.stl", "%2egit/ball.stl"}) {
    EXPECT_EQ(get("/files/" + std::string(path)).status, 404) << path;
  }
}

TEST_F(ServerTest, OnlyRegularFilesOfTheirKindsAreShown) {
  start();
  put(folder_ / "keys.txt", "secret");
  put(folder_ / "evil.html", "<script src=evil.js>");
  put(folder_ / "evil.js", "evil");
  put(folder_ / "bare", "bare");
  ASSERT_EQ(mkfifo((folder_ / "pipe.stl").c_str(), 0600), 0);
  fs::create_directory(folder_ / "directory.stl");
  for (const char* path : {"keys.txt", "evil.html", "evil.js", "bare", "pipe.stl", "directory.stl"}) {
    EXPECT_EQ(get("/files/" + std::string(path)).status, 404) << path;
  }
  put(folder_ / "LOUD.STL", "loud");
  EXPECT_EQ(get("/files/LOUD.STL").body, "loud");
}

TEST_F(ServerTest, AnOversizedFileIsNotShown) {
  start();
  put(folder_ / "huge.stl", "");
  fs::resize_file(folder_ / "huge.stl", max_file_bytes + 1);
  EXPECT_EQ(get("/files/huge.stl").status, 404);
  fs::resize_file(folder_ / "huge.stl", max_file_bytes);
  EXPECT_EQ(ask("HEAD /files/huge.stl HTTP/1.1\r\n" + host() + cookie() + "\r\n", false).status, 200);
}

TEST_F(ServerTest, WithoutAFolderThereAreNoFiles) {
  start();
  Server bare(Options{0, assets, "", {}, {}}, recorder_);
  host_ = "127.0.0.1:" + std::to_string(bare.port());
  Wire first(bare.port());
  first.write("GET " + target_of(bare.url()) + " HTTP/1.1\r\n" + host() + "\r\n");
  const std::string set = read_answer(first).fields["Set-Cookie"];
  first.write("GET /files/ball.stl HTTP/1.1\r\n" + host() + "Cookie: " + set.substr(0, set.find(';')) + "\r\n\r\n");
  EXPECT_EQ(read_answer(first).status, 404);
}

// --- The socket -----------------------------------------------------------------------------------------------------

TEST_F(ServerTest, TheSocketIsOpenedAsTheStandardSays) {
  start();
  const std::string request = socket_request();
  Wire wire(server_->port());
  wire.write(request);
  const Answer answer = read_answer(wire, false);
  EXPECT_EQ(answer.status, 101);
  EXPECT_EQ(answer.fields.at("Sec-WebSocket-Accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");  // RFC 6455, 1.3
  recorder_.await_opened(0);
  EXPECT_EQ(server_->clients(), 1u);
}

TEST_F(ServerTest, TheSocketNeedsAnUpgrade) {
  start();
  EXPECT_EQ(ask("GET /socket HTTP/1.1\r\n" + host() + "Origin: " + origin_ + "\r\n" + cookie() + "\r\n").status, 400);
  EXPECT_EQ(server_->clients(), 0u);
}

TEST_F(ServerTest, FramesBeforeTheUpgradeAreRefused) {
  start();
  EXPECT_EQ(ask(socket_request() + make_text("early")).status, 400);
}

TEST_F(ServerTest, MessagesKeepTheirOrderBothWays) {
  start();
  Wire wire = open_socket();
  std::string all;
  for (int i = 0; i < 1000; ++i) all += make_text(std::to_string(i));
  wire.write(all);
  const auto heard = recorder_.await_messages(1000);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(heard[static_cast<std::size_t>(i)], std::to_string(i));

  const Client client = recorder_.await_opened(0);
  for (int i = 0; i < 200; ++i) {
    if (i % 2 == 0) {
      server_->send(client, std::to_string(i));
    } else {
      server_->send_all(std::to_string(i));
    }
  }
  for (int i = 0; i < 200; ++i) {
    const Frame frame = read_frame(wire);
    EXPECT_EQ(frame.opcode, 1);
    EXPECT_EQ(frame.bytes, std::to_string(i));
  }
}

TEST_F(ServerTest, TheHandlerMayAnswer) {
  start();
  recorder_.echo_to = server_.get();
  Wire wire = open_socket();
  wire.write(make_text("échо ✓"));
  EXPECT_EQ(read_frame(wire).bytes, "échо ✓");
  wire.write(make_frame(0x01, "in ") + make_frame(0x00, "three ") + make_frame(0x80, "parts"));
  EXPECT_EQ(read_frame(wire).bytes, "in three parts");
  wire.write(make_frame(0x89, "ping"));
  const Frame pong = read_frame(wire);
  EXPECT_EQ(pong.opcode, 10);
  EXPECT_EQ(pong.bytes, "ping");
}

TEST_F(ServerTest, AMessageGoesToItsClientOnly) {
  start();
  Wire first = open_socket();
  Wire second = open_socket();
  server_->send(recorder_.await_opened(1), "for the second");
  server_->send_all("for all");
  server_->send(Client{12345}, "for nobody");
  EXPECT_EQ(read_frame(first).bytes, "for all");
  EXPECT_EQ(read_frame(second).bytes, "for the second");
  EXPECT_EQ(read_frame(second).bytes, "for all");
}

TEST_F(ServerTest, TwoClientsGetTheSameFrame) {
  start();
  Wire first = open_socket();
  Wire second = open_socket();
  EXPECT_EQ(server_->clients(), 2u);
  std::string bytes;
  for (int i = 0; i < 100'000; ++i) bytes += static_cast<char>(i % 251);
  server_->send_frame(as_frame(bytes));
  for (Wire* wire : {&first, &second}) {
    const Frame frame = read_frame(*wire);
    EXPECT_EQ(frame.opcode, 2);
    EXPECT_EQ(frame.bytes, bytes);
  }
}

TEST_F(ServerTest, AFrameDoesNotOvertakeAMessage) {
  start();
  Wire wire = open_socket();
  for (int i = 0; i < 100; ++i) {
    server_->send_all("world " + std::to_string(i));
    server_->send_frame(as_frame("frame " + std::to_string(i)));
  }
  int world = -1;
  int frames = -1;
  while (frames < 99) {
    const Frame got = read_frame(wire);
    ASSERT_NE(got.opcode, -1);
    const int number = std::stoi(got.bytes.substr(6));
    if (got.opcode == 1) {
      EXPECT_EQ(number, world + 1);
      world = number;
    } else {
      EXPECT_GT(number, frames);
      EXPECT_LE(number, world);
      frames = number;
    }
  }
}

TEST_F(ServerTest, ABinaryMessageClosesTheSocket) {
  start();
  EXPECT_EQ(closing_code(make_frame(0x82, "binary")), 1003);
}

TEST_F(ServerTest, InvalidUtf8ClosesTheSocket) {
  start();
  EXPECT_EQ(closing_code(make_text("\xff")), 1007);
  EXPECT_EQ(closing_code(make_text("overlong \xc0\xaf")), 1007);
  EXPECT_EQ(closing_code(make_text("surrogate \xed\xa0\x80")), 1007);
  EXPECT_EQ(closing_code(make_text("cut off \xe2\x82")), 1007);
}

TEST_F(ServerTest, AnUnmaskedFrameClosesTheSocket) {
  start();
  EXPECT_EQ(closing_code(make_frame(0x81, "bare", false)), 1002);
}

TEST_F(ServerTest, UnknownFramesCloseTheSocket) {
  start();
  EXPECT_EQ(closing_code(make_frame(0x83, "unknown opcode")), 1002);
  EXPECT_EQ(closing_code(make_frame(0xc1, "compressed")), 1002);
  EXPECT_EQ(closing_code(make_frame(0x80, "continues nothing")), 1002);
  EXPECT_EQ(closing_code(make_frame(0x89, std::string(126, 'x'))), 1002);
}

TEST_F(ServerTest, AnOversizedMessageClosesTheSocket) {
  start();
  // The length alone tells; the bytes need not come.
  EXPECT_EQ(closing_code(make_text(std::string(max_message_bytes + 1, 'x')).substr(0, 100)), 1009);
  EXPECT_EQ(closing_code("\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xffmask"), 1009);
}

TEST_F(ServerTest, AnOversizedMessageInFragmentsClosesTheSocket) {
  start();
  const std::string half(max_message_bytes / 2, 'x');
  EXPECT_EQ(closing_code(make_frame(0x01, half) + make_frame(0x00, half) + make_frame(0x80, "x")), 1009);
}

TEST_F(ServerTest, TheLargestMessageArrives) {
  start();
  Wire wire = open_socket();
  const std::string text(max_message_bytes, 'x');
  wire.write(make_text(text));
  EXPECT_EQ(recorder_.await_messages(1)[0], text);
}

TEST_F(ServerTest, AFloodClosesTheSocket) {
  start({}, {0.001, 100});
  Wire many = open_socket();
  std::string all;
  for (int i = 0; i < 120; ++i) all += make_text("x");
  many.write(all);
  EXPECT_EQ(read_frame(many).code(), 1008);
  EXPECT_EQ(recorder_.messages().size(), 99u);  // of a little more than 1 each

  Wire large = open_socket();
  large.write(make_text(std::string(99 * 4096 + 100, 'x')));
  EXPECT_EQ(read_frame(large).code(), 1008);
  EXPECT_TRUE(recorder_.await_closed(2));
  EXPECT_EQ(recorder_.messages().size(), 99u);
}

TEST_F(ServerTest, AMouseIsNoFlood) {
  start();
  Wire wire = open_socket();
  const std::string moved =
      make_text(R"({"type":"hand","position":[0.12345678901234567,0.12345678901234567,0],"button":true})");
  for (int i = 0; i < 1000; ++i) {
    wire.write(moved);
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_EQ(recorder_.await_messages(1000).size(), 1000u);
  EXPECT_EQ(recorder_.closed_count(), 0u);
}

TEST_F(ServerTest, SocketsAreCounted) {
  start();
  std::vector<Wire> wires;
  for (std::size_t i = 0; i < max_sockets; ++i) wires.push_back(open_socket());
  EXPECT_EQ(ask(socket_request()).status, 503);
  EXPECT_EQ(get("/").status, 200) << "the page is still served";
  wires.pop_back();
  EXPECT_TRUE(recorder_.await_closed(1));
  Wire wire(server_->port());
  wire.write(socket_request());
  EXPECT_EQ(read_answer(wire, false).status, 101);
}

TEST_F(ServerTest, AClientThatLeavesIsToldOnce) {
  start();
  {
    Wire wire = open_socket();
    wire.write(make_frame(0x88, "\x03\xe8"));
    EXPECT_EQ(read_frame(wire).opcode, 8);
  }
  {
    const Wire wire = open_socket();
  }
  EXPECT_TRUE(recorder_.await_closed(2));
  EXPECT_EQ(server_->clients(), 0u);
  server_.reset();
  EXPECT_EQ(recorder_.closed_count(), 2u);
}

TEST_F(ServerTest, ASilentClientIsAskedAndThenLeft) {
  start({milliseconds(10'000), milliseconds(300)});
  Wire wire = open_socket();
  EXPECT_EQ(read_frame(wire).opcode, 9);
  EXPECT_TRUE(wire.ends());
  EXPECT_TRUE(recorder_.await_closed(1));
}

TEST_F(ServerTest, AClientThatAnswersStays) {
  start({milliseconds(10'000), milliseconds(1000)});
  Wire wire = open_socket();
  for (int i = 0; i < 4; ++i) {
    const Frame ping = read_frame(wire);
    ASSERT_EQ(ping.opcode, 9);
    wire.write(make_frame(0x8a, ping.bytes));
  }
  EXPECT_EQ(recorder_.closed_count(), 0u);
}

// --- Slow readers ---------------------------------------------------------------------------------------------------

TEST_F(ServerTest, ASlowReaderMissesFramesAndOthersDoNotWait) {
  start();
  Wire slow = open_socket(32 * 1024);
  Wire quick = open_socket();
  // 200 frames of 1 MB: were they kept for the slow one, it would get them all.
  const int count = 200;
  std::string bytes(1'000'000, 'x');
  for (int i = 0; i < count; ++i) {
    std::memcpy(bytes.data(), &i, sizeof i);
    server_->send_frame(as_frame(bytes));
    const Frame frame = read_frame(quick);
    ASSERT_EQ(frame.bytes, bytes) << "the quick one gets every frame in its turn";
  }
  int last = -1;
  int received = 0;
  while (last < count - 1) {
    const Frame frame = read_frame(slow);
    ASSERT_EQ(frame.bytes.size(), bytes.size());
    int number;
    std::memcpy(&number, frame.bytes.data(), sizeof number);
    EXPECT_GT(number, last);
    last = number;
    ++received;
  }
  // What the kernel holds at both ends, the one on its way and the one that waits.
  EXPECT_LE(received, 20);
}

TEST_F(ServerTest, FewSmallFramesWaitInTheKernel) {
  start();
  Wire slow = open_socket(32 * 1024);
  Wire quick = open_socket();
  const int count = 3000;
  std::string bytes(1000, 'x');
  for (int i = 0; i < count; ++i) {
    std::memcpy(bytes.data(), &i, sizeof i);
    server_->send_frame(as_frame(bytes));
    ASSERT_EQ(read_frame(quick).bytes, bytes);
  }
  int last = -1;
  int received = 0;
  for (; last < count - 1; ++received) {
    const Frame frame = read_frame(slow);
    ASSERT_EQ(frame.bytes.size(), bytes.size());
    std::memcpy(&last, frame.bytes.data(), sizeof last);
  }
  EXPECT_LE(received, 300) << "64 kB there, 16 kB here";
}

TEST_F(ServerTest, AClientThatDoesNotReadItsMessagesIsDropped) {
  start();
  Wire stuck = open_socket(32 * 1024);
  Wire quick = open_socket();
  const std::string text(100'000, 'x');
  int sent = 0;
  for (; sent < 2000 && recorder_.closed_count() == 0; ++sent) {
    server_->send_all(text);
    ASSERT_EQ(read_frame(quick).bytes.size(), text.size());
  }
  EXPECT_TRUE(recorder_.await_closed(1));
  EXPECT_GE(sent, 150) << "16 MiB may wait";
  EXPECT_LE(sent, 300) << "and not much more";
  EXPECT_EQ(server_->clients(), 1u);
  server_->send_all("still here");
  EXPECT_EQ(read_frame(quick).bytes, "still here");
}

TEST_F(ServerTest, ManySmallMessagesThatWaitAreTooMany) {
  start();
  Wire stuck = open_socket(32 * 1024);
  const Client client = recorder_.await_opened(0);
  // Fills what the kernel takes, then more than 256 wait, of far fewer bytes than may.
  server_->send(client, std::string(12'000'000, 'x'));
  for (std::size_t i = 0; i < max_waiting_messages; ++i) server_->send(client, "x");
  server_->send(client, "x");
  server_->send(client, "x");
  EXPECT_TRUE(recorder_.await_closed(1));
}

// --- Beginning and end ----------------------------------------------------------------------------------------------

TEST_F(ServerTest, APortThatIsTakenIsSaidKindly) {
  start();
  try {
    const Server second(Options{server_->port(), assets, "", {}, {}}, recorder_);
    FAIL() << "two servers on one port";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(error.what(), "port " + std::to_string(server_->port()) +
                                " is taken by another program; choose another, or 0 for any that is free");
  }
}

TEST_F(ServerTest, AFolderThatIsMissingIsSaid) {
  try {
    const Server server(Options{0, assets, "/nowhere/at all", {}, {}}, recorder_);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "cannot open the folder `/nowhere/at all`");
  }
}

TEST_F(ServerTest, APortCanBeHadAgain) {
  start();
  const Wire wire = open_socket();
  const std::uint16_t port = server_->port();
  server_.reset();
  server_ = std::make_unique<Server>(Options{port, assets, "", {}, {}}, recorder_);
  EXPECT_EQ(server_->port(), port);
}

TEST_F(ServerTest, ProgramsThatAreStartedInheritNoSocket) {
  start();
  const Wire plain(server_->port());
  const Wire socket = open_socket();
  int sockets = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    const int number = std::stoi(entry.path().filename().string());
    struct stat about{};
    if (fstat(number, &about) != 0 || !S_ISSOCK(about.st_mode) || number <= 2) continue;
    EXPECT_TRUE(fcntl(number, F_GETFD) & FD_CLOEXEC) << number;
    ++sockets;
  }
  EXPECT_GE(sockets, 4) << "ours and theirs";
}

TEST_F(ServerTest, AServerEndsWhateverItsClientsDo) {
  start();
  std::vector<Wire> wires;
  wires.emplace_back(server_->port());  // says nothing
  wires.emplace_back(server_->port());  // in the middle of a request
  wires.back().write("GET / HTTP/1.1\r\n");
  wires.emplace_back(server_->port());  // between requests
  wires.back().write("GET / HTTP/1.1\r\n" + host() + cookie() + "\r\n");
  read_answer(wires.back());
  wires.emplace_back(server_->port());  // refused, and does not close
  wires.back().write("nonsense\r\n\r\n");
  read_answer(wires.back());
  put(folder_ / "huge.stl", "");
  fs::resize_file(folder_ / "huge.stl", max_file_bytes);
  wires.emplace_back(server_->port(), 32 * 1024);  // does not read what it asked for
  wires.back().write("GET /files/huge.stl HTTP/1.1\r\n" + host() + cookie() + "\r\n");
  wires.push_back(open_socket());           // quiet
  wires.push_back(open_socket(32 * 1024));  // reads nothing
  server_->send_frame(as_frame(std::string(20'000'000, 'x')));
  wires.push_back(open_socket());  // in the middle of a message
  wires.back().write(make_text("half a message").substr(0, 9));
  wires.push_back(open_socket());  // was told to close and does not
  wires.back().write(make_frame(0x82, "binary"));
  read_frame(wires.back());
  server_.reset();
  EXPECT_EQ(recorder_.closed_count(), 4u);
  for (Wire& wire : wires) EXPECT_TRUE(wire.ends());
}

TEST_F(ServerTest, ManyThreadsMaySend) {
  start();
  recorder_.echo_to = server_.get();
  std::vector<Wire> wires;
  for (int i = 0; i < 4; ++i) wires.push_back(open_socket());
  std::vector<std::thread> senders;
  for (int t = 0; t < 3; ++t) {
    senders.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        server_->send_all(std::to_string(t) + " " + std::to_string(i));
        server_->send_frame(as_frame("frame"));
        server_->new_url();
        server_->clients();
      }
    });
  }
  for (std::thread& sender : senders) sender.join();
  for (Wire& wire : wires) {
    std::vector<int> next(3, 0);
    int messages = 0;
    while (messages < 150) {
      const Frame frame = read_frame(wire);
      ASSERT_NE(frame.opcode, -1);
      if (frame.opcode != 1) continue;
      const auto sender = static_cast<std::size_t>(frame.bytes[0] - '0');
      EXPECT_EQ(frame.bytes.substr(2), std::to_string(next[sender]++));
      ++messages;
    }
  }
}

// --- The page in the program ----------------------------------------------------------------------------------------

TEST(Page, IsEmbeddedAndCompressedTheSameEveryTime) {
  std::set<std::string_view> paths;
  for (const Asset& asset : page_assets()) {
    EXPECT_TRUE(paths.insert(asset.path).second) << asset.path;
    EXPECT_TRUE(asset.path.starts_with('/'));
    EXPECT_FALSE(asset.path.ends_with(".gz"));
    EXPECT_FALSE(asset.type.empty());
    EXPECT_EQ(asset.encoding, "gzip");
    ASSERT_GT(asset.bytes.size(), 18u);
    // RFC 1952: magic, deflate; bytes 4 to 7 are the time, of which there must be none.
    EXPECT_EQ(asset.bytes.substr(0, 3), "\x1f\x8b\x08");
    EXPECT_EQ(asset.bytes.substr(4, 4), std::string_view("\0\0\0\0", 4)) << asset.path;
  }
  EXPECT_TRUE(paths.contains("/"));
}

}  // namespace
}  // namespace server
