#include "compiler/expr/budget.h"

namespace expr {
namespace {

thread_local Budget* current = nullptr;

}  // namespace

Budget::Budget() : outer_(current) { current = this; }
Budget::~Budget() { current = outer_; }

void Budget::work_on(base::Span place) {
  if (current) current->place_ = place;
}

bool Budget::has_room(std::size_t count) {
  return !current || (count <= most_expressions && current->made_ <= most_expressions - count);
}

void Budget::request() {
  if (current && ++current->requests_ > most_requests) throw Outgrown{current->place_};
}

void Budget::spend(std::size_t count) {
  if (!current) return;
  if (!has_room(count)) throw Outgrown{current->place_};
  current->made_ += count;
}

}  // namespace expr
