#include "server/access.h"

#include <gtest/gtest.h>

#include <set>

#include "server/limits.h"

namespace server {
namespace {

TEST(Access, SecretsAre128BitsAndDiffer) {
  std::set<std::string> all;
  for (int i = 0; i < 1000; ++i) {
    const std::string secret = draw_secret();
    EXPECT_EQ(secret.size(), 32u);
    EXPECT_EQ(secret.find_first_not_of("0123456789abcdef"), std::string::npos);
    all.insert(secret);
  }
  EXPECT_EQ(all.size(), 1000u);
}

TEST(Access, SecretsAreComparedWhole) {
  EXPECT_TRUE(equal_secrets("abc", "abc"));
  EXPECT_FALSE(equal_secrets("abc", "abd"));
  EXPECT_FALSE(equal_secrets("abc", "bbc"));
  EXPECT_FALSE(equal_secrets("abc", "ab"));
  EXPECT_FALSE(equal_secrets("abc", ""));
}

TEST(Access, KnowsItsHostsOnly) {
  const Access access(4321);
  EXPECT_TRUE(access.is_host("127.0.0.1:4321"));
  EXPECT_TRUE(access.is_host("localhost:4321"));
  for (const char* host : {"", "127.0.0.1", "localhost", "127.0.0.1:4322", "127.0.0.1:43210", "127.0.0.1:4321.",
                           "[::1]:4321", "0.0.0.0:4321", "127.1:4321", "example.org:4321", "localhost.example.org:4321",
                           "LOCALHOST:4321", "x@127.0.0.1:4321", " 127.0.0.1:4321"}) {
    EXPECT_FALSE(access.is_host(host)) << host;
  }
}

TEST(Access, AnOriginIsThatOfTheHostOnly) {
  EXPECT_TRUE(Access::is_origin("http://127.0.0.1:4321", "127.0.0.1:4321"));
  for (const char* origin :
       {"", "null", "127.0.0.1:4321", "https://127.0.0.1:4321", "http://localhost:4321", "http://127.0.0.1:4321/",
        "http://127.0.0.1:4322", "http://127.0.0.1", "http://example.org", "http://127.0.0.1:4321.example.org"}) {
    EXPECT_FALSE(Access::is_origin(origin, "127.0.0.1:4321")) << origin;
  }
}

TEST(Access, ATokenWorksOnce) {
  Access access(1);
  const std::string token = access.make_token();
  EXPECT_FALSE(access.use_token(""));
  EXPECT_FALSE(access.use_token(token.substr(1)));
  EXPECT_TRUE(access.use_token(token));
  EXPECT_FALSE(access.use_token(token));
}

TEST(Access, TheYoungestTokensAreValid) {
  Access access(1);
  const std::string oldest = access.make_token();
  const std::string second = access.make_token();
  for (std::size_t i = 0; i < max_tokens - 1; ++i) access.make_token();
  EXPECT_FALSE(access.use_token(oldest));
  EXPECT_TRUE(access.use_token(second));
}

TEST(Access, FindsItsCookieAmongOthers) {
  const Access access(4321);
  const std::string set = access.set_cookie();
  EXPECT_TRUE(set.ends_with("; HttpOnly; SameSite=Strict; Path=/")) << set;
  const std::string cookie = set.substr(0, set.find(';'));
  EXPECT_TRUE(cookie.starts_with("tactus_4321="));
  EXPECT_TRUE(access.has_cookie(cookie));
  EXPECT_TRUE(access.has_cookie("a=b; " + cookie + "; c=d"));
  // One that a server on another port set.
  EXPECT_TRUE(access.has_cookie("tactus_4321=0; " + cookie));
  EXPECT_FALSE(access.has_cookie(""));
  EXPECT_FALSE(access.has_cookie("x" + cookie));
  EXPECT_FALSE(access.has_cookie(cookie + "0"));
  EXPECT_FALSE(access.has_cookie(cookie.substr(0, cookie.size() - 1)));
  EXPECT_FALSE(access.has_cookie("tactus_4321="));
  EXPECT_FALSE(access.has_cookie("tactus_4321"));
  EXPECT_FALSE(Access(4321).has_cookie(cookie)) << "every server has its own secret";
}

TEST(Access, FindsAParameter) {
  EXPECT_EQ(find_parameter("token=12", "token"), "12");
  EXPECT_EQ(find_parameter("a=b&token=12&c=d", "token"), "12");
  EXPECT_EQ(find_parameter("tokens=12&xtoken=3&token", "token"), "");
  EXPECT_EQ(find_parameter("", "token"), "");
}

}  // namespace
}  // namespace server
