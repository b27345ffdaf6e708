// One thread, one io_context; a connection is one coroutine that reads requests until it ends or becomes a socket, and
// a socket has a second one that writes. All that they share with other threads lies under one mutex: the outboxes.
#include "server/server.h"

#include <utility>  // before Boost 1.74, which forgets it

#define BOOST_BEAST_USE_STD_STRING_VIEW
#ifdef __clang__
// Boost 1.74 looks for the coroutines of the technical specification there; those of the standard do as well.
#define BOOST_ASIO_HAS_CO_AWAIT
#define BOOST_ASIO_HAS_STD_COROUTINE
#endif
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <charconv>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "server/access.h"
#include "server/allowance.h"
#include "server/files.h"
#include "server/limits.h"
#include "server/outbox.h"

namespace server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using boost::system::error_code;

using Request = http::request<http::empty_body>;
using Head = http::response<http::empty_body>;  // of an answer; the body follows by itself

constexpr std::size_t piece_bytes = 64 * 1024;
// Of what a client still sends after it was refused, so much is read: it must not lose the answer to a reset.
constexpr std::size_t max_discarded_bytes = std::size_t{1} << 20;

auto failing_to(error_code& failure) { return asio::redirect_error(asio::use_awaitable, failure); }

// A browser's connection, in the set of all from its beginning to its end. On the server's thread, but for the outbox.
struct Connection {
  Connection(tcp::socket socket, std::set<Connection*>& set)
      : web(std::move(socket)), wake(web.get_executor(), asio::steady_timer::time_point::max()), all(set) {
    all.insert(this);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { all.erase(this); }

  beast::tcp_stream& plain() { return web.next_layer(); }

  // Whatever waits for the connection ends with a failure, soon.
  void close() {
    is_closed = true;
    wake.cancel();
    plain().close();
  }

  websocket::stream<beast::tcp_stream> web;  // speaks HTTP by its lower layer, until it is a socket
  asio::steady_timer wake;                   // cancelled when the outbox has something
  std::set<Connection*>& all;
  bool is_closed = false;
  bool is_known = false;     // it keeps its place
  std::uint64_t number = 0;  // in the order in which they came
  Outbox outbox;             // guarded by Impl::mutex_
  bool is_to_drop = false;   // guarded by Impl::mutex_
};

// Everything comes from this server, and the page speaks to nobody else. Styles may be inline because CodeMirror writes
// its own into <style>; they can fetch nothing from elsewhere.
std::string page_policy(std::string_view host) {
  return "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self' ws://" +
         std::string(host) +
         "/socket; img-src 'self' data: blob:; font-src 'self'; worker-src 'self' blob:; base-uri 'none'; "
         "form-action 'none'; frame-ancestors 'none'";
}

// For what is no page: should a browser show it as one, it can do nothing.
constexpr std::string_view bare_policy =
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox";

// For the page that leads a browser in: of our own origin, which a sandbox would take from it.
constexpr std::string_view entrance_policy =
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

Head make_head(http::status status, std::string_view type, std::string_view policy) {
  Head head(status, 11);
  if (!type.empty()) head.set(http::field::content_type, type);
  head.set(http::field::cache_control, "no-store");
  head.set("Content-Security-Policy", policy);
  head.set("X-Content-Type-Options", "nosniff");
  head.set("Referrer-Policy", "no-referrer");
  head.set("Cross-Origin-Opener-Policy", "same-origin");
  head.set("Cross-Origin-Resource-Policy", "same-origin");
  return head;
}

// The value of a field that comes exactly once; nothing otherwise.
std::optional<std::string_view> find_single(const Request& request, http::field name) {
  const auto [first, last] = request.equal_range(name);
  if (first == last || std::next(first) != last) return std::nullopt;
  return first->value();
}

// What we say to bytes that are no request for us.
http::status blame(const error_code& failure) {
  if (failure == http::error::header_limit || failure == http::error::buffer_overflow) {
    return http::status::request_header_fields_too_large;
  }
  if (failure == http::error::body_limit) return http::status::payload_too_large;
  return http::status::bad_request;
}

std::string_view say(http::status status) {
  switch (status) {
    case http::status::forbidden:
      return "forbidden\n";
    case http::status::not_found:
      return "not found\n";
    case http::status::service_unavailable:
      return "busy\n";
    default:
      return "refused\n";
  }
}

// To a browser that asks for the page and is not known: the same words whatever it brought, and nothing of the world.
constexpr std::string_view not_let_in = R"(<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Tactus: this link does not work any more</title>
<h1>This link does not work any more</h1>
<p>A link of <code>tactus play</code> works once, and only in the browser that opens it first. This one was used before, or belongs to
a program that has ended.</p>
<ul>
<li>If the page is still open in another window or browser, use that.</li>
<li>For another browser, press enter in the terminal where <code>tactus play</code> runs: it prints a new link.</li>
<li>If it has ended, start it again and open the link that it prints. What you typed is kept in the browser.</li>
</ul>
</html>
)";

// The browser that this program starts shall not keep our port. Asio 1.74 does not do that.
void close_on_exec(int socket) { fcntl(socket, F_SETFD, FD_CLOEXEC); }

// Who is refused for more than a wrong path starts again.
bool stays_open(const Request& request, http::status status) {
  return request.keep_alive() &&
         (status == http::status::ok || status == http::status::see_other || status == http::status::not_found);
}

tcp::acceptor listen(asio::io_context& io, std::uint16_t port) {
  try {
    // A port on which old connections still end can be had again; one on which somebody listens cannot.
    tcp::acceptor acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), port), /*reuse_addr=*/true);
    close_on_exec(acceptor.native_handle());
    return acceptor;
  } catch (const boost::system::system_error& failure) {
    const std::string number = std::to_string(port);
    if (failure.code() == asio::error::address_in_use) {
      throw std::runtime_error("port " + number +
                               " is taken by another program; choose another, or 0 for any that is free");
    }
    throw std::runtime_error("cannot listen on port " + number + ": " + failure.code().message());
  }
}

// A connection without the option works, too.
void set_option(beast::tcp_stream& stream, int option, int value) {
  setsockopt(stream.socket().native_handle(), IPPROTO_TCP, option, &value, sizeof value);
}

}  // namespace

class Server::Impl {
 public:
  Impl(const Options& options, Handler& handler)
      : timeouts_(options.timeouts),
        rate_(options.rate),
        assets_(options.assets),
        handler_(handler),
        acceptor_(listen(io_, options.port)),
        port_(acceptor_.local_endpoint().port()),
        access_(port_),
        url_(new_url()) {
    if (!options.folder.empty()) {
      folder_ = open_folder(options.folder);
      if (!folder_.valid()) throw std::runtime_error("cannot open the folder `" + options.folder + "`");
    }
    for (const std::string& path : options.allowed) allowed_.emplace_back(path);
    asio::co_spawn(io_, accept(), asio::detached);
    thread_ = std::thread([this] { serve(); });
  }

  // The thread ends by itself when no coroutine is left.
  ~Impl() {
    asio::post(io_, [this] {
      is_stopping_ = true;
      acceptor_.close();
      pause_.cancel();
      for (Connection* connection : connections_) connection->close();
    });
    thread_.join();
  }

  std::uint16_t port() const { return port_; }
  const std::string& url() const { return url_; }
  std::string new_url() { return "http://127.0.0.1:" + std::to_string(port_) + "/?token=" + access_.make_token(); }

  void send(Client client, std::string text) {
    const auto bytes = std::make_shared<const std::string>(std::move(text));
    const std::lock_guard lock(mutex_);
    const auto found = clients_.find(client);
    if (found == clients_.end()) return;
    put(*found->second, bytes);
    ask_to_wake();
  }

  void send_all(std::string text) {
    const auto bytes = std::make_shared<const std::string>(std::move(text));
    const std::lock_guard lock(mutex_);
    for (const auto& [client, connection] : clients_) put(*connection, bytes);
    ask_to_wake();
  }

  void send_frame(std::span<const std::byte> frame) {
    const auto bytes = std::make_shared<const std::string>(reinterpret_cast<const char*>(frame.data()), frame.size());
    const std::lock_guard lock(mutex_);
    for (const auto& [client, connection] : clients_) connection->outbox.put_frame(bytes);
    ask_to_wake();
  }

  std::size_t clients() const {
    const std::lock_guard lock(mutex_);
    return clients_.size();
  }

 private:
  using Shared = std::shared_ptr<Connection>;  // by the coroutines that read and write

  // --- What is sent. mutex_ is held. ---

  static void put(Connection& connection, const Bytes& bytes) {
    if (!connection.outbox.put_message(bytes)) connection.is_to_drop = true;
  }

  // One wake at a time is under way, however much is sent meanwhile.
  void ask_to_wake() {
    if (std::exchange(is_waking_, true)) return;
    asio::post(io_, [this] { wake(); });
  }

  // --- On the server's thread from here on. ---

  void wake() {
    const std::lock_guard lock(mutex_);
    is_waking_ = false;
    for (const auto& [client, connection] : clients_) {
      if (connection->is_to_drop) {
        connection->close();
      } else {
        connection->wake.cancel();
      }
    }
  }

  // One connection's trouble, no memory for it say, is not the others'.
  void serve() {
    for (;;) {
      try {
        io_.run();
        return;
      } catch (const std::exception&) {
      }
    }
  }

  asio::awaitable<void> accept() {
    while (!is_stopping_) {
      error_code failure;
      tcp::socket socket = co_await acceptor_.async_accept(failing_to(failure));
      if (failure) {
        // Too many open files, say: somebody must close one first.
        pause_.expires_after(std::chrono::milliseconds(100));
        if (!is_stopping_) co_await pause_.async_wait(failing_to(failure));
        continue;
      }
      if (is_stopping_) continue;
      make_place();
      close_on_exec(socket.native_handle());
      const auto connection = std::make_shared<Connection>(std::move(socket), connections_);
      connection->number = next_connection_++;
      asio::co_spawn(io_, serve(connection), asio::detached);
    }
  }

  // Whoever says nothing cannot keep others out: the oldest connection that is nobody's ends for a new one.
  void make_place() {
    std::size_t strangers = 0;
    Connection* oldest = nullptr;
    for (Connection* connection : connections_) {
      if (connection->is_closed || connection->is_known) continue;
      ++strangers;
      if (!oldest || connection->number < oldest->number) oldest = connection;
    }
    if (oldest && strangers >= max_strangers) oldest->close();
  }

  void recognise(Connection& connection) {
    if (connection.is_known) return;
    const auto known = std::ranges::count_if(connections_, [](const Connection* one) { return one->is_known; });
    connection.is_known = std::cmp_less(known, max_connections + sockets_);
  }

  asio::awaitable<void> serve(Shared connection) {
    set_option(connection->plain(), TCP_NODELAY, 1);
    error_code failure;
    beast::flat_buffer buffer(max_header_bytes + piece_bytes);
    for (bool is_open = true; is_open;) {
      http::request_parser<http::empty_body> parser;
      parser.header_limit(max_header_bytes);
      parser.body_limit(0);
      connection->plain().expires_after(timeouts_.request);
      co_await http::async_read_header(connection->plain(), buffer, parser, failing_to(failure));
      if (failure && failure.category() != make_error_code(http::error::bad_value).category()) co_return;
      if (failure == http::error::end_of_stream || failure == http::error::partial_message) co_return;
      if (!failure && (parser.chunked() || parser.content_length().value_or(0) > 0))
        failure = http::error::unexpected_body;
      if (failure) {
        co_await refuse(*connection, blame(failure), Request{});
        break;
      }
      const Request request = parser.release();
      if (is_for_socket(request)) {
        if (buffer.size() > 0) {  // frames before it knows that we take any
          co_await refuse(*connection, http::status::bad_request, request);
          break;
        }
        co_await play(connection, request);
        co_return;
      }
      is_open = co_await answer(*connection, request);
    }
    co_await finish(*connection);
  }

  // The host by which a request came, if it comes from ourselves as far as a browser tells.
  std::optional<std::string_view> trusted_host(const Request& request) const {
    const auto host = find_single(request, http::field::host);
    if (!host || !access_.is_host(*host)) return std::nullopt;
    if (request.count(http::field::origin) == 0) return host;
    const auto origin = find_single(request, http::field::origin);
    if (!origin || !Access::is_origin(*origin, *host)) return std::nullopt;
    return host;
  }

  bool has_cookie(const Request& request) const {
    const auto [first, last] = request.equal_range(http::field::cookie);
    return std::any_of(first, last, [&](const auto& field) { return access_.has_cookie(field.value()); });
  }

  // With all that it needs; a request for the socket that lacks something is answered as others are.
  bool is_for_socket(const Request& request) const {
    return path_of(request) == "/socket" && websocket::is_upgrade(request) && request.count(http::field::origin) == 1 &&
           trusted_host(request) && has_cookie(request) && has_key(request) && sockets_ < max_sockets;
  }

  static std::string_view path_of(const Request& request) {
    const std::string_view target = request.target();
    return target.substr(0, target.find('?'));
  }
  static std::string_view query_of(const Request& request) {
    const std::string_view target = request.target();
    return target.substr(std::min(path_of(request).size() + 1, target.size()));
  }
  bool has_key(const Request& request) const { return access_.is_key(find_parameter(query_of(request), "key")); }

  // Whether the connection goes on.
  asio::awaitable<bool> answer(Connection& connection, const Request& request) {
    const std::string_view target = request.target();
    const std::string_view path = path_of(request);

    const auto host = trusted_host(request);
    if (!host) co_return co_await refuse(connection, http::status::forbidden, request);
    if (target.size() > max_target_bytes) co_return co_await refuse(connection, http::status::uri_too_long, request);
    const bool is_known = has_cookie(request);
    const std::string_view token =
        path == "/" && request.method() == http::verb::get ? find_parameter(query_of(request), "token") : "";
    const bool is_new = !token.empty() && access_.use_token(token);
    if (is_known || is_new) recognise(connection);
    if (is_new && request["Sec-Fetch-Site"] == "cross-site") {
      // Led here by a page of another site (driver/browser.h): a redirection would come without the cookie, which is
      // only sent from our own pages. So one of these leads on.
      Head head = make_head(http::status::ok, "text/html; charset=utf-8", entrance_policy);
      head.set(http::field::set_cookie, access_.set_cookie());
      const std::string page =
          "<!doctype html>\n<meta http-equiv=\"refresh\" content=\"0; url=" + access_.page_with_key() +
          "\">\n<title>Tactus</title>\n";
      co_return co_await write(connection, request, std::move(head), page);
    }
    if (is_new || (!token.empty() && is_known)) {  // a link that was used leads who is in to the page, and gives no key
      Head head = make_head(http::status::see_other, "", bare_policy);
      head.set(http::field::location, is_new ? access_.page_with_key() : "/");
      head.set(http::field::set_cookie, access_.set_cookie());
      co_return co_await write(connection, request, std::move(head), "");
    }
    if (!is_known && path == "/" && (request.method() == http::verb::get || request.method() == http::verb::head)) {
      Head head = make_head(http::status::forbidden, "text/html; charset=utf-8", bare_policy);
      co_return co_await write(connection, request, std::move(head), not_let_in);
    }
    if (!is_known) co_return co_await refuse(connection, http::status::forbidden, request);

    if (request.method() != http::verb::get && request.method() != http::verb::head) {
      co_return co_await refuse(connection, http::status::method_not_allowed, request);
    }
    if (path == "/socket") {
      const bool is_missing_origin = request.count(http::field::origin) == 0;
      const bool is_full = websocket::is_upgrade(request) && sockets_ >= max_sockets;
      co_return co_await refuse(connection,
                                !has_key(request) || is_missing_origin ? http::status::forbidden
                                : is_full                              ? http::status::service_unavailable
                                                                       : http::status::bad_request,
                                request);
    }
    const auto asset = std::ranges::find(assets_, path, &Asset::path);
    if (asset != assets_.end()) {
      Head head = make_head(http::status::ok, asset->type, page_policy(*host));
      if (!asset->encoding.empty()) head.set(http::field::content_encoding, asset->encoding);
      co_return co_await write(connection, request, std::move(head), asset->bytes);
    }
    constexpr std::string_view files = "/files/";
    if (path.starts_with(files)) {
      auto file = open_shown(path.substr(files.size()));
      if (file) co_return co_await write_file(connection, request, *file);
    }
    co_return co_await refuse(connection, http::status::not_found, request);
  }

  // `@2/part.stl` is in the third of what is allowed.
  std::optional<OpenFile> open_shown(std::string_view path) const {
    constexpr std::string_view mark = "%40";  // how browsers write it
    const std::size_t slash = path.find('/');
    if (path.starts_with(mark) && slash != path.npos) {
      std::size_t number = 0;
      const std::string_view digits = path.substr(mark.size(), slash - mark.size());
      const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
      if (failure == std::errc() && end == digits.data() + digits.size() && number < allowed_.size())
        return allowed_[number].open(path.substr(slash + 1));
    }
    if (!folder_.valid()) return std::nullopt;
    return open_beneath(folder_, path);
  }

  asio::awaitable<bool> refuse(Connection& connection, http::status status, const Request& request) {
    Head head = make_head(status, "text/plain; charset=utf-8", bare_policy);
    if (status == http::status::method_not_allowed) head.set(http::field::allow, "GET, HEAD");
    co_return co_await write(connection, request, std::move(head), say(status));
  }

  asio::awaitable<bool> write_head(Connection& connection, const Request& request, Head& head, std::size_t size) {
    head.content_length(size);
    head.keep_alive(stays_open(request, head.result()));
    http::response_serializer<http::empty_body> serializer(head);
    error_code failure;
    connection.plain().expires_after(timeouts_.request);
    co_await http::async_write_header(connection.plain(), serializer, failing_to(failure));
    co_return !failure;
  }

  asio::awaitable<bool> write_piece(Connection& connection, std::string_view piece) {
    error_code failure;
    connection.plain().expires_after(timeouts_.request);
    co_await asio::async_write(connection.plain(), asio::buffer(piece), failing_to(failure));
    co_return !failure;
  }

  asio::awaitable<bool> write(Connection& connection, const Request& request, Head head, std::string_view body) {
    bool is_fine = co_await write_head(connection, request, head, body.size());
    if (request.method() == http::verb::head) body = {};
    while (is_fine && !body.empty()) {
      is_fine = co_await write_piece(connection, body.substr(0, piece_bytes));
      body.remove_prefix(std::min(body.size(), piece_bytes));
    }
    co_return (is_fine && stays_open(request, head.result()));
  }

  asio::awaitable<bool> write_file(Connection& connection, const Request& request, const OpenFile& file) {
    Head head = make_head(http::status::ok, file.type, bare_policy);
    bool is_fine = co_await write_head(connection, request, head, file.size);
    std::string piece(piece_bytes, '\0');
    std::size_t left = request.method() == http::verb::head ? 0 : file.size;
    while (is_fine && left > 0) {
      const ssize_t have = read(file.descriptor.number(), piece.data(), std::min(left, piece_bytes));
      if (have <= 0) co_return false;  // shorter than it was: the browser sees that the end is missing
      left -= static_cast<std::size_t>(have);
      is_fine = co_await write_piece(connection, std::string_view(piece).substr(0, static_cast<std::size_t>(have)));
    }
    co_return (is_fine && stays_open(request, head.result()));
  }

  // Ends a connection such that what was written arrives (RFC 9112, 9.6).
  asio::awaitable<void> finish(Connection& connection) {
    shutdown(connection.plain().socket().native_handle(), SHUT_WR);
    error_code failure;
    connection.plain().expires_after(timeouts_.request);
    std::string piece(4096, '\0');
    for (std::size_t discarded = 0; !failure && discarded < max_discarded_bytes;) {
      discarded += co_await connection.plain().async_read_some(asio::buffer(piece), failing_to(failure));
    }
  }

  // From the upgrade to the end of a socket.
  asio::awaitable<void> play(Shared connection, const Request& request) {
    // However the coroutine ends, the other one does, too.
    struct Place {
      std::size_t& taken;
      Connection& connection;
      Place(std::size_t& count, Connection& one) : taken(count), connection(one) { ++taken; }
      ~Place() {
        --taken;
        connection.close();
      }
    } const place(sockets_, *connection);
    connection->is_known = true;

    auto& web = connection->web;
    connection->plain().expires_never();  // the socket has its own timer
    web.set_option(websocket::stream_base::timeout{timeouts_.request, timeouts_.idle, true});
    web.set_option(websocket::stream_base::decorator(
        [](websocket::response_type& head) { head.set(http::field::server, "tactus"); }));
    web.read_message_max(max_message_bytes);
    web.auto_fragment(false);
    // A client that reads slowly shall find new frames, so few wait in the kernel, where they cannot be replaced.
    set_option(connection->plain(), TCP_NOTSENT_LOWAT, 16 * 1024);
    error_code failure;
    co_await web.async_accept(request, failing_to(failure));
    if (failure) co_return;
    asio::co_spawn(io_, write_outbox(connection), asio::detached);
    const auto code = co_await listen_to(*connection);
    if (code) co_await web.async_close(*code, failing_to(failure));
  }

  // While this runs, the client is one of ours. With what its socket is to be closed, if it is still open.
  asio::awaitable<std::optional<websocket::close_code>> listen_to(Connection& connection) {
    struct Stay {
      Impl& impl;
      Client client;
      Stay(Impl& server, Client id, Connection* connection) : impl(server), client(id) {
        const std::lock_guard lock(impl.mutex_);
        impl.clients_.emplace(client, connection);
      }
      ~Stay() {
        {
          const std::lock_guard lock(impl.mutex_);
          impl.clients_.erase(client);
        }
        impl.handler_.closed(client);
      }
    };
    const Client client{next_client_++};
    const Stay stay(*this, client, &connection);
    handler_.opened(client);
    Allowance allowance(rate_.per_second, rate_.at_once, std::chrono::steady_clock::now());
    for (beast::flat_buffer buffer;; buffer.clear()) {
      error_code failure;
      co_await connection.web.async_read(buffer, failing_to(failure));
      if (failure) co_return std::nullopt;
      if (connection.web.got_binary()) co_return websocket::close_code::unknown_data;
      const double cost = 1 + static_cast<double>(buffer.size()) / 4096;
      if (!allowance.take(cost, std::chrono::steady_clock::now())) co_return websocket::close_code::policy_error;
      handler_.message(client, {static_cast<const char*>(buffer.cdata().data()), buffer.size()});
    }
  }

  asio::awaitable<void> write_outbox(Shared connection) {
    while (!connection->is_closed) {
      Outgoing next;
      {
        const std::lock_guard lock(mutex_);
        next = connection->outbox.take();
      }
      error_code failure;
      if (!next.bytes) {
        co_await connection->wake.async_wait(failing_to(failure));
        continue;
      }
      connection->web.binary(next.is_frame);
      co_await connection->web.async_write(asio::buffer(*next.bytes), failing_to(failure));
      if (failure) co_return;  // the coroutine that reads finds out, too
    }
  }

  const Timeouts timeouts_;
  const Rate rate_;
  const std::span<const Asset> assets_;
  Handler& handler_;
  Descriptor folder_;
  std::vector<Allowed> allowed_;
  asio::io_context io_{1};
  tcp::acceptor acceptor_;
  const std::uint16_t port_;
  Access access_;
  const std::string url_;

  asio::steady_timer pause_{io_};
  bool is_stopping_ = false;
  std::set<Connection*> connections_;
  std::size_t sockets_ = 0;
  std::uint64_t next_client_ = 1;
  std::uint64_t next_connection_ = 1;

  mutable std::mutex mutex_;
  std::map<Client, Connection*> clients_;  // guarded by mutex_; changed on the server's thread only
  bool is_waking_ = false;                 // guarded by mutex_

  std::thread thread_;
};

Server::Server(const Options& options, Handler& handler) : impl_(std::make_unique<Impl>(options, handler)) {}
Server::~Server() = default;
std::uint16_t Server::port() const { return impl_->port(); }
const std::string& Server::url() const { return impl_->url(); }
std::string Server::new_url() { return impl_->new_url(); }
void Server::send(Client client, std::string text) { impl_->send(client, std::move(text)); }
void Server::send_all(std::string text) { impl_->send_all(std::move(text)); }
void Server::send_frame(std::span<const std::byte> frame) { impl_->send_frame(frame); }
std::size_t Server::clients() const { return impl_->clients(); }

}  // namespace server
