#include "lsp/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/nesting.h"

namespace lsp {

std::optional<Message> next_message(Connection& connection, int deepest) {
  Message message;
  switch (connection.read(message.text)) {
    case Connection::Outcome::end:
      return std::nullopt;
    case Connection::Outcome::bad_header:
      message.failure = {parse_error, "the header has no usable Content-Length"};
      return message;
    case Connection::Outcome::too_long:
      message.failure = {invalid_request, fmt::format("the message is longer than {} MB", max_message_bytes >> 20)};
      return message;
    case Connection::Outcome::message:
      break;
  }
  if (base::nests_deeper(message.text, deepest)) {
    message.failure = {parse_error, fmt::format("the message is nested deeper than {}", deepest)};
    return message;
  }
  message.content = Json::parse(message.text, nullptr, false);
  if (message.content.is_discarded()) {
    message.failure = {parse_error, "the message is not JSON"};
  }
  return message;
}

Position position_in(const Json& position) {
  const auto number = [&](const char* key) {
    const Json& value = position.at(key);
    if (!value.is_number_integer() || value.get<std::int64_t>() < 0 || value.get<std::int64_t>() > 0x7fffffff)
      throw Failure{invalid_params, fmt::format("`{}` is not a place in a text", key)};
    return value.get<std::uint32_t>();
  };
  return {number("line"), number("character")};
}

void apply_change(Text& text, const Json& change, Encoding encoding) {
  const std::string with = change.at("text").get<std::string>();
  const auto range = change.find("range");
  if (range == change.end() || range->is_null()) {
    text = Text(with);
    return;
  }
  const std::uint32_t begin = text.offset_of(position_in(range->at("start")), encoding);
  const std::uint32_t end = text.offset_of(position_in(range->at("end")), encoding);
  text.replace(std::min(begin, end), std::max(begin, end), with);
}

Json error_message(const Json& id, const Failure& failure) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", failure.code}, {"message", failure.message}}}};
}

Json notification(const std::string& method, Json params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

}  // namespace lsp
