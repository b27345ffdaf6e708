// A file (or standard output) that is written to with every result checked. All failures end in one message that says
// which file and why; there are no exceptions.
#pragma once

#include <string>
#include <string_view>

namespace trace {

// Not thread-safe; may block; not for the real-time thread.
class OutputFile {
 public:
  OutputFile() = default;
  ~OutputFile();  // closes; a failure nobody asked for by close() goes to stderr
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;

  // Creates or truncates `path`; "-" is standard output, which stays open behind us.
  [[nodiscard]] bool open(const std::string& path);
  // All of `bytes`, unbuffered; false after any failure, also of an earlier call.
  bool write(std::string_view bytes);
  // False when this or any earlier call failed. A second call repeats the answer.
  [[nodiscard]] bool close();

  bool is_open() const { return descriptor_ >= 0; }
  // "cannot write `out/a.csv`: the directory `out` does not exist"; empty while all is well.
  const std::string& failure() const { return failure_; }

 private:
  bool fail(int error_number);

  std::string path_;
  std::string failure_;
  int descriptor_ = -1;
};

}  // namespace trace
