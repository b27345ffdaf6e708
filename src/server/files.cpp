#include "server/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "server/limits.h"

namespace server {
namespace {

struct Type {
  std::string_view ending;
  std::string_view name;
};

// None of these is a script: what lies in the folder of a model is never run.
constexpr Type types[] = {
    {".stl", "model/stl"},        {".obj", "model/obj"},         {".mtl", "model/mtl"},
    {".ply", "model/ply"},        {".off", "model/off"},         {".dae", "model/vnd.collada+xml"},
    {".gltf", "model/gltf+json"}, {".glb", "model/gltf-binary"}, {".bin", "application/octet-stream"},
    {".png", "image/png"},        {".jpg", "image/jpeg"},        {".jpeg", "image/jpeg"},
    {".gif", "image/gif"},        {".webp", "image/webp"},       {".svg", "image/svg+xml"},
};

std::string_view find_type(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return {};
  std::string ending(name.substr(dot));
  std::ranges::transform(ending, ending.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const auto* found = std::ranges::find(types, ending, &Type::ending);
  return found == std::end(types) ? std::string_view{} : found->name;
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The name that a component stands for; nothing when no file that we show can have it.
std::optional<std::string> decode(std::string_view component) {
  std::string name;
  for (std::size_t i = 0; i < component.size(); ++i) {
    if (component[i] != '%') {
      name += component[i];
      continue;
    }
    if (i + 2 >= component.size()) return std::nullopt;
    const int high = digit(component[i + 1]);
    const int low = digit(component[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    name += static_cast<char>(high * 16 + low);
    i += 2;
  }
  // The dot: `.`, `..` and hidden names.
  if (name.empty() || name[0] == '.' || name.find('/') != std::string::npos || name.find('\0') != std::string::npos) {
    return std::nullopt;
  }
  return name;
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

Descriptor::~Descriptor() {
  if (valid()) close(number_);
}

Descriptor open_folder(const std::string& path) {
  return Descriptor(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

std::optional<OpenFile> open_beneath(const Descriptor& folder, std::string_view path) {
  Descriptor inner;
  int here = folder.number();
  for (;;) {
    const std::size_t slash = path.find('/');
    const auto name = decode(path.substr(0, slash));
    if (!name) return std::nullopt;
    if (slash != std::string_view::npos) {
      inner = Descriptor(openat(here, name->c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!inner.valid()) return std::nullopt;
      here = inner.number();
      path.remove_prefix(slash + 1);
      continue;
    }
    const std::string_view type = find_type(*name);
    if (type.empty()) return std::nullopt;
    // O_NONBLOCK: a pipe without a writer would keep us.
    Descriptor file(openat(here, name->c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    struct stat about{};
    if (!file.valid() || fstat(file.number(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
    if (std::cmp_greater(about.st_size, max_file_bytes)) return std::nullopt;
    return OpenFile{std::move(file), static_cast<std::size_t>(about.st_size), type};
  }
}

Allowed::Allowed(const std::string& path) : folder_(open_folder(path)) {
  if (folder_.valid()) return;
  const std::size_t slash = path.find_last_of('/');
  folder_ = open_folder(slash == path.npos ? "." : path.substr(0, slash + 1));
  only_ = path.substr(slash == path.npos ? 0 : slash + 1);
}

std::optional<OpenFile> Allowed::open(std::string_view path) const {
  if (!folder_.valid() || (!only_.empty() && decode(path) != only_)) return std::nullopt;
  return open_beneath(folder_, path);
}

}  // namespace server
