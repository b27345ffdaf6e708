#include "compiler/expand/scope.h"

namespace expand {
namespace {

bool is_seen_from_inside(const Entry& entry) {
  return entry.what == What::constant || entry.what == What::parameter || entry.what == What::function ||
         entry.what == What::module || entry.what == What::event || entry.what == What::transition ||
         entry.what == What::file;
}

}  // namespace

Found find_own(Scope& scope, NameId name) {
  if (auto found = scope.entries.find(name); found != scope.entries.end()) return {&found->second, &scope};
  for (Scope* file : scope.imports) {
    auto found = file->entries.find(name);
    if (found != file->entries.end() && found->second.what != What::file) return {&found->second, file};
  }
  return {};
}

Found find(Scope& scope, NameId name) {
  if (Found found = find_own(scope, name); found.entry) return found;
  for (Scope* outer = scope.outer; outer; outer = outer->outer) {
    Found found = find_own(*outer, name);
    if (found.entry && is_seen_from_inside(*found.entry)) return found;
  }
  return {};
}

}  // namespace expand
