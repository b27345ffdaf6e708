// Getting in, requests, beginning and end, against raw bytes (docs/server.md). Each test fails without the rule it is
// named for.
#include "server/server.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "server/limits.h"
#include "server/page.h"
#include "server/server_testing.h"

namespace server {
namespace {

// --- Getting in ------------------------------------------------------------------------------------------------------

TEST_F(ServerTest, TheTokenBecomesACookieThatOpensThePage) {
  start();
  EXPECT_EQ(server_->url().find("http://" + host_ + "/?token="), 0u);
  const Answer first = ask("GET " + target_of(server_->url()) + " HTTP/1.1\r\n" + host() + "\r\n");
  EXPECT_EQ(first.status, 303);
  EXPECT_EQ(first.fields.at("Location").substr(0, 6), "/#key=");
  EXPECT_EQ(first.fields.at("Location").size(), 6u + 32u);
  const std::string set = first.fields.at("Set-Cookie");
  EXPECT_NE(set.find("; HttpOnly; SameSite=Strict; Path=/"), std::string::npos);
  cookie_ = "Cookie: " + set.substr(0, set.find(';')) + "\r\n";
  const Answer page = get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.body, "<html>the page</html>");
  EXPECT_EQ(page.fields.at("Content-Type"), "text/html; charset=utf-8");
}

// Browsers send a strict cookie only when a page of the same site leads somewhere, also behind a redirection.
TEST_F(ServerTest, WhoIsLedInByAPageOfAnotherSiteIsLedOnByOurs) {
  start();
  const std::string target = target_of(server_->url());
  const std::string from_elsewhere = "Sec-Fetch-Site: cross-site\r\n";
  const Answer answer = ask("GET " + target + " HTTP/1.1\r\n" + host() + from_elsewhere + "\r\n");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.fields.count("Location"), 0u);
  EXPECT_EQ(answer.fields.at("Content-Security-Policy").find("sandbox"), std::string::npos);
  EXPECT_NE(answer.body.find("content=\"0; url=/#key="), std::string::npos) << answer.body;
  const std::string& set = answer.fields.at("Set-Cookie");
  const std::string known = "Cookie: " + set.substr(0, set.find(';')) + "\r\n";
  EXPECT_EQ(ask("GET / HTTP/1.1\r\n" + host() + known + "\r\n").status, 200);
  EXPECT_EQ(ask("GET " + target + " HTTP/1.1\r\n" + host() + from_elsewhere + "\r\n").status, 403);
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

// Whatever was brought, the same words, with what to do; and what is not the page is refused without any.
TEST_F(ServerTest, ALinkThatDoesNotWorkSaysWhatToDo) {
  start();
  const std::string used = target_of(server_->url());
  cookie();
  const auto body = [&](const std::string& target) {
    const auto answer = ask("GET " + target + " HTTP/1.1\r\n" + host() + "\r\n");
    EXPECT_EQ(answer.status, 403) << target;
    return answer.body;
  };
  const std::string words = body(used);
  EXPECT_NE(words.find("<h1>This link does not work any more</h1>"), std::string::npos) << words;
  EXPECT_NE(words.find("press enter in the terminal"), std::string::npos) << words;
  EXPECT_EQ(body("/"), words);
  EXPECT_EQ(body("/?token=00"), words);
  EXPECT_EQ(body("/app.js"), "forbidden\n");
  EXPECT_EQ(body("/socket"), "forbidden\n");
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

// --- Requests --------------------------------------------------------------------------------------------------------

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
  const auto is_served = [&](Wire& wire) { return wire.write(request) && read_answer(wire).status == 200; };
  std::vector<Wire> wires;
  for (std::size_t i = 0; i < max_connections + 2 * max_strangers; ++i) {
    wires.emplace_back(server_->port());
    EXPECT_TRUE(is_served(wires.back())) << i;
  }
  // The first to come keep their places; the one that got the cookie may not have left yet. Of the others some had to
  // go.
  for (std::size_t i = 0; i + 1 < max_connections; ++i) EXPECT_TRUE(is_served(wires[i])) << i;
  EXPECT_TRUE(wires[max_connections].ends());
  EXPECT_TRUE(is_served(wires.back()));
}

TEST_F(ServerTest, WhoSaysNothingKeepsNobodyOut) {
  start();
  Wire known(server_->port());
  const std::string request = "GET / HTTP/1.1\r\n" + host() + cookie() + "\r\n";
  known.write(request);
  EXPECT_EQ(read_answer(known).status, 200);
  Wire socket = open_socket();
  std::vector<Wire> silent;
  for (std::size_t i = 0; i < 8 * max_strangers; ++i) {
    silent.emplace_back(server_->port());
    // Some have begun a request, some an upgrade, some have asked without a cookie.
    if (i % 4 == 1) silent.back().write("GET / HT");
    if (i % 4 == 2) silent.back().write("GET /socket HTTP/1.1\r\n" + host() + upgrade());
    if (i % 4 == 3) silent.back().write("GET / HTTP/1.1\r\n" + host() + "\r\n");
  }
  EXPECT_EQ(get("/").status, 200);
  known.write(request);
  EXPECT_EQ(read_answer(known).status, 200);
  server_->send_all("still there");
  EXPECT_EQ(read_frame(socket).bytes, "still there");
  EXPECT_TRUE(silent.front().ends());
  EXPECT_EQ(enter(server_->new_url()).substr(0, 8), "Cookie: ");
}

// --- Beginning and end -----------------------------------------------------------------------------------------------

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
  // Read where the kernel tells: the descriptors themselves are the server's thread's.
  int sockets = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string number = entry.path().filename().string();
    if (!fs::read_symlink(entry.path(), gone).string().starts_with("socket:") || std::stoi(number) <= 2) continue;
    std::ifstream about("/proc/self/fdinfo/" + number);
    std::string word;
    while (about >> word && word != "flags:") {
    }
    unsigned flags = 0;
    if (!(about >> std::oct >> flags)) continue;  // closed meanwhile
    EXPECT_TRUE(flags & O_CLOEXEC) << number;
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

// --- The page in the program -----------------------------------------------------------------------------------------

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
  EXPECT_EQ(is_page_built(), paths.size() > 1);
}

}  // namespace
}  // namespace server
