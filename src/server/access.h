// Who is let in: enter the header fields of a request, leave verdicts. Knows the names of this server, tokens, and two
// secrets for which they are exchanged, once each: the browsers carry one as a cookie, which they also show to servers
// on other ports of this host; the page keeps the other, the key, which they do not. The cookie gives the page, both
// together the world.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace server {

// 128 bits of the kernel's random numbers, in hexadecimal.
std::string draw_secret();

// In a time that depends on the lengths alone.
bool equal_secrets(std::string_view a, std::string_view b);

class Access {
 public:
  explicit Access(std::uint16_t port);

  // Exactly `127.0.0.1:PORT` or `localhost:PORT`: a page that reaches us by another name (DNS rebinding) is not ours.
  bool is_host(std::string_view host) const;
  // Exactly the page that was served under this host.
  static bool is_origin(std::string_view origin, std::string_view host);

  // Valid until it is used, or until max_tokens younger ones were made.
  std::string make_token();
  // True once for every token.
  bool use_token(std::string_view token);

  // For Set-Cookie. Browsers keep cookies by host without the port, so the name has the port in it: two servers at a
  // time.
  std::string set_cookie() const;
  // Whether the value of a Cookie field has our secret in it.
  bool has_cookie(std::string_view cookies) const;

  // Where the page of a browser with a token is: the key behind #, which no browser sends anywhere.
  std::string page_with_key() const;
  bool is_key(std::string_view key) const;

 private:
  std::string hosts_[2];
  std::string cookie_name_;
  std::string secret_;
  std::string key_;
  std::mutex mutex_;
  std::vector<std::string> tokens_;  // guarded by mutex_; oldest first
};

// The value of `name` in a query such as `token=0123&x=1`; empty when it is not there. Nothing is decoded.
std::string_view find_parameter(std::string_view query, std::string_view name);

}  // namespace server
