#include "diag/sink.h"

#include <utility>

namespace diag {

Sink::Reported Sink::add(Diagnostic diagnostic) {
  if (diagnostic.severity == Severity::error) ++error_count_;
  std::size_t& kept = diagnostic.severity == Severity::error ? kept_errors_ : kept_warnings_;
  if (kept >= limit_) {
    ++dropped_;
    return Reported(nullptr);
  }
  ++kept;
  diagnostics_.push_back(std::move(diagnostic));
  return Reported(&diagnostics_.back());
}

}  // namespace diag
