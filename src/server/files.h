// Files under one folder, for the page: enters a path as a browser wrote it, leaves an open file or nothing.
//
// The path is taken apart at its slashes, each component is decoded once and opened in the directory before it without
// following links (openat with O_NOFOLLOW), so no spelling and no change of the folder meanwhile leads out of it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace server {

// A file descriptor, closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  int number() const { return number_; }
  bool valid() const { return number_ >= 0; }

 private:
  int number_;
};

struct OpenFile {
  Descriptor descriptor;
  std::size_t size = 0;
  std::string_view type;
};

// Not valid when there is no such folder.
Descriptor open_folder(const std::string& path);

// Meshes and pictures only, by the end of their names; regular files of at most max_file_bytes. `path` is relative and
// percent-encoded.
std::optional<OpenFile> open_beneath(const Descriptor& folder, std::string_view path);

// A folder, or one file, that a person allowed.
class Allowed {
 public:
  explicit Allowed(const std::string& path);
  std::optional<OpenFile> open(std::string_view path) const;

 private:
  Descriptor folder_;
  std::string only_;  // "": all of it
};

}  // namespace server
