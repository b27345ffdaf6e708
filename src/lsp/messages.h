// What the protocol's messages have in common: codes of errors, a stream as JSON, errors as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "lsp/connection.h"
#include "lsp/text.h"

namespace lsp {

using Json = nlohmann::json;

enum ErrorCode {
  parse_error = -32700,
  invalid_request = -32600,
  method_not_found = -32601,
  invalid_params = -32602,
  internal_error = -32603,
  not_initialized = -32002,
  request_failed = -32803,
  request_cancelled = -32800,
};

struct Failure {
  int code;
  std::string message;
};

struct Message {
  Json content;
  std::optional<Failure> failure;  // instead of a content
  std::string text;                // as it came
};

// Empty at the end of the stream. A message that is nested deeper is none: copying it would take the stack. An editor's has some ten levels;
// a worker's outline of a text as many as the text.
inline constexpr int deepest_of_editor = 128;
inline constexpr int deepest_of_worker = 4096;
[[nodiscard]] std::optional<Message> next_message(Connection& connection, int deepest = deepest_of_editor);

// `{"line": 3, "character": 1}`. Throws Failure.
[[nodiscard]] Position position_in(const Json& position);
// One of `contentChanges`: a text for a range, or for all. Throws Failure, or Json's exception.
void apply_change(Text& text, const Json& change, Encoding encoding);

[[nodiscard]] Json error_message(const Json& id, const Failure& failure);
[[nodiscard]] Json notification(const std::string& method, Json params);

// What a worker tells its supervisor, and no editor: it begins to compile a document, and it is done.
inline constexpr const char* compiling_method = "$/tactus/compiling";
inline constexpr const char* compiled_method = "$/tactus/compiled";

}  // namespace lsp
