// Messages of an editor -> the language server. An input is lines: each is the JSON of a message and is framed here;
// one that begins with `!` is sent as it is, without the `!`. The stream ends behind the last; the server must end too,
// and all it answers is well framed JSON.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "cpu_limit.h"
#include "lsp/connection.h"
#include "lsp/server.h"
#include "must.h"

namespace {

using fuzz::must;

std::string framed(std::string_view lines) {
  std::string stream;
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    const std::string_view line = lines.substr(0, end);
    if (line.starts_with("!"))
      stream += std::string(line.substr(1)) + "\r\n";
    else if (!line.empty())
      stream += fmt::format("Content-Length: {}\r\n\r\n{}", line.size(), line);
    if (end == std::string_view::npos) break;
    lines.remove_prefix(end + 1);
  }
  return stream;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::CpuLimit limit;
  const std::string stream = framed({reinterpret_cast<const char*>(data), size});
  const int input = memfd_create("input", 0);
  const int output = memfd_create("output", 0);
  must(input >= 0 && output >= 0, "files in memory can be had");
  must(write(input, stream.data(), stream.size()) == static_cast<ssize_t>(stream.size()), "the input can be written");
  lseek(input, 0, SEEK_SET);

  const int code = lsp::serve(input, output);
  must(code == 0 || code == 1, "the server ends with 0 or 1");

  lseek(output, 0, SEEK_SET);
  lsp::Connection answers(output, -1);
  std::string answer;
  while (true) {
    const auto outcome = answers.read(answer);
    if (outcome == lsp::Connection::Outcome::end) break;
    must(outcome == lsp::Connection::Outcome::message, "answers are well framed");
    must(nlohmann::json::parse(answer, nullptr, false).is_object(), "answers are JSON");
  }
  close(input);
  close(output);
  return 0;
}
