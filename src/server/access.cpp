#include "server/access.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>

#include "server/limits.h"

namespace server {

std::string draw_secret() {
  std::array<unsigned char, 16> bits{};
  for (std::size_t have = 0; have < bits.size();) {
    const ssize_t more = getrandom(bits.data() + have, bits.size() - have, 0);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0)
      throw std::runtime_error("the system gives no random numbers, without which nobody could be let in safely");
    have += static_cast<std::size_t>(more);
  }
  std::string text;
  for (const unsigned char byte : bits) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

bool equal_secrets(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  // Volatile: no compiler may leave the loop early.
  volatile unsigned char difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference =
        static_cast<unsigned char>(difference | (static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i])));
  }
  return difference == 0;
}

Access::Access(std::uint16_t port)
    : hosts_{"127.0.0.1:" + std::to_string(port), "localhost:" + std::to_string(port)},
      cookie_name_("tactus_" + std::to_string(port)),
      secret_(draw_secret()),
      key_(draw_secret()) {}

bool Access::is_host(std::string_view host) const { return host == hosts_[0] || host == hosts_[1]; }

bool Access::is_origin(std::string_view origin, std::string_view host) {
  constexpr std::string_view scheme = "http://";
  return origin.starts_with(scheme) && origin.substr(scheme.size()) == host;
}

std::string Access::make_token() {
  std::string token = draw_secret();
  const std::lock_guard lock(mutex_);
  if (tokens_.size() == max_tokens) tokens_.erase(tokens_.begin());
  tokens_.push_back(token);
  return token;
}

bool Access::use_token(std::string_view token) {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::ranges::find_if(tokens_, [&](const std::string& known) { return equal_secrets(known, token); });
  if (found == tokens_.end()) return false;
  tokens_.erase(found);
  return true;
}

std::string Access::set_cookie() const { return cookie_name_ + "=" + secret_ + "; HttpOnly; SameSite=Strict; Path=/"; }

bool Access::has_cookie(std::string_view cookies) const {
  // Several of our name may come: any server on another port of this host can set some for ours.
  bool found = false;
  while (!cookies.empty()) {
    const std::size_t end = std::min(cookies.find(';'), cookies.size());
    std::string_view pair = cookies.substr(0, end);
    cookies.remove_prefix(std::min(end + 1, cookies.size()));
    while (pair.starts_with(' ')) pair.remove_prefix(1);
    if (!pair.starts_with(cookie_name_)) continue;
    pair.remove_prefix(cookie_name_.size());
    if (pair.starts_with('=') && equal_secrets(pair.substr(1), secret_)) found = true;
  }
  return found;
}

std::string Access::page_with_key() const { return "/#key=" + key_; }

bool Access::is_key(std::string_view key) const { return equal_secrets(key, key_); }

std::string_view find_parameter(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (pair.starts_with(name) && pair.substr(name.size()).starts_with('=')) return pair.substr(name.size() + 1);
  }
  return {};
}

}  // namespace server
