// The socket, against raw bytes, hostile and slow. Each test fails without the rule it is named for.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "server/limits.h"
#include "server/server_testing.h"

namespace server {
namespace {

// --- The socket ------------------------------------------------------------------------------------------------------

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
  const std::string known = cookie();
  EXPECT_EQ(
      ask("GET /socket?key=" + key_ + " HTTP/1.1\r\n" + host() + "Origin: " + origin_ + "\r\n" + known + "\r\n").status,
      400);
  EXPECT_EQ(server_->clients(), 0u);
}

// A server on another port of this host is shown the cookie by the browser; the key it is not.
TEST_F(ServerTest, TheCookieAloneGivesThePageAndNotTheWorld) {
  start();
  const std::string known = cookie();
  const std::string fields = host() + "Origin: " + origin_ + "\r\n" + known;
  EXPECT_EQ(get("/").status, 200);
  const std::string zeros(32, '0');
  for (const std::string& target :
       {std::string("/socket"), std::string("/socket?key="), "/socket?key=" + zeros, "/socket?key=" + key_ + "0",
        "/socket?key=" + key_.substr(0, 31), "/socket/?key=" + key_, "/socket?yek=" + key_}) {
    const int wanted = target.starts_with("/socket/") ? 404 : 403;
    EXPECT_EQ(ask("GET " + target + " HTTP/1.1\r\n" + fields + upgrade() + "\r\n").status, wanted) << target;
  }
  EXPECT_EQ(ask("GET /socket HTTP/1.1\r\n" + host() + known + "\r\n").status, 403);
  EXPECT_EQ(
      ask("GET /socket?key=" + key_ + " HTTP/1.1\r\n" + host() + upgrade() + "Origin: " + origin_ + "\r\n\r\n").status,
      403);
  EXPECT_EQ(server_->clients(), 0u);
  // A used link gives who has the cookie no key.
  const Answer again = get(target_of(server_->url()));
  EXPECT_EQ(again.status, 303);
  EXPECT_EQ(again.fields.at("Location"), "/");
  const Answer wrong = get("/?token=" + zeros);
  EXPECT_EQ(wrong.status, 303);
  EXPECT_EQ(wrong.fields.at("Location"), "/");
  open_socket();
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
  start({milliseconds(600'000), milliseconds(600'000)}, {0.001, 100});
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

// --- Slow readers ----------------------------------------------------------------------------------------------------

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

}  // namespace
}  // namespace server
