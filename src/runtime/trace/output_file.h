// A file (or standard output) that is written to with every result checked. All failures end in one message that says
// which file and why; there are no exceptions.
//
// Two ways: a stream, which is there from the beginning and grows by whole lines; and a whole file, which takes its
// place when it is closed, or never. A whole file is written through the descriptor of a file without a name in the
// same folder, synchronised, named and renamed over what was there; only that folder's descriptor is used, so nobody
// who changes names meanwhile redirects a write.
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

  // A stream: creates or truncates `path`; "-" is standard output, which stays open behind us.
  [[nodiscard]] bool open(const std::string& path);
  // What a path that is a symbolic link means: the file that it names, wherever that is; or only one in the link's
  // folder or below.
  enum class Links { follow, inside };
  // A whole file: an existing one keeps its text until close(), and its permissions. What is no regular file (a device,
  // a pipe) is written to as it stands; with Links::inside it is refused.
  [[nodiscard]] bool open_whole(const std::string& path, Links links = Links::follow);
  // All of `bytes`, unbuffered; false after any failure, also of an earlier call. Of a stream in a regular file a
  // failure leaves the whole lines.
  bool write(std::string_view bytes);
  // False when this or any earlier call failed; of a whole file nothing is left then. A second call repeats the answer.
  [[nodiscard]] bool close();

  // A whole file that is written, but for its place: what could still fail is behind us. For files that belong
  // together, which are closed when all of them have got here.
  [[nodiscard]] bool settle();
  // Gives up: a whole file is never seen.
  void discard();

  bool is_open() const { return descriptor_ >= 0; }
  // "cannot write `out/a.csv`: the directory `out` does not exist"; empty while all is well.
  const std::string& failure() const { return failure_; }

 private:
  bool fail(int error_number);
  bool fail(std::string reason);
  bool find_folder(Links links);
  bool make_nameless();
  void keep_whole_lines(std::string_view written);

  std::string path_;
  std::string failure_;
  int descriptor_ = -1;
  // Of a whole file.
  int folder_ = -1;
  std::string name_;       // in the folder
  std::string temporary_;  // its name until then; "": it has none
  unsigned mode_ = 0;      // of what it replaces
  bool is_replacing_ = false;
  bool is_settled_ = false;
};

// A whole file with this text. False, with the reason in `failure`.
[[nodiscard]] bool write_whole(const std::string& path, std::string_view text, std::string& failure);

}  // namespace trace
