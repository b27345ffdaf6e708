// Kinds of diagnostic and the sink that collects them. A kind is a typed constant in its phase's diagnostics.h,
// declared once; its arguments are checked by the compiler:
//
//   inline constexpr diag::Kind<std::string_view> undetermined{"S002", "no equation determines `{}`"};
//   diags.report(span, undetermined, name).hint("add an equation for it, or `external .. reads {}`", name);
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/span.h"
#include "diag/source_map.h"

namespace diag {

enum class Severity { error, warning };

template <class... Arguments>
struct Kind {
  std::string_view code;
  fmt::format_string<const Arguments&...> text;
  Severity severity = Severity::error;

  consteval Kind(std::string_view code_, fmt::format_string<const Arguments&...> text_,
                 Severity severity_ = Severity::error)
      : code(code_), text(text_), severity(severity_) {}
};

// Another place that explains the first: "first defined here".
struct Related {
  base::Span span;
  std::string text;
};

struct Diagnostic {
  std::string_view code;
  Severity severity = Severity::error;
  base::Span span;
  std::string text;
  std::vector<Related> related;
  std::vector<std::string> hints;
  std::size_t repeated = 0;  // others like it that were not kept
};

// A mistake in a module shows once for each instance, and one in a loop once for each round. Of diagnostics of one kind
// and place whose texts differ in digits and in the paths of instances only, the first is kept and says how many there
// were; the same text at the same place is one diagnostic.
class Sink {
 public:
  // Refers to the last reported diagnostic; valid until the next report.
  class Reported {
   public:
    explicit Reported(Diagnostic* diagnostic) : diagnostic_(diagnostic) {}
    // Whether it was kept, so that it is worth advising.
    explicit operator bool() const { return diagnostic_ != nullptr; }
    template <class... A>
    Reported& hint(fmt::format_string<const A&...> text, const A&... arguments) {
      if (diagnostic_) diagnostic_->hints.push_back(fmt::format(text, arguments...));
      return *this;
    }
    template <class... A>
    Reported& related(base::Span span, fmt::format_string<const A&...> text, const A&... arguments) {
      if (diagnostic_) diagnostic_->related.push_back({span, fmt::format(text, arguments...)});
      return *this;
    }

   private:
    Diagnostic* diagnostic_;  // null: dropped, the limit is reached or it repeats another
  };

  // After `limit` errors further ones are counted, not kept; and so with warnings.
  explicit Sink(std::size_t limit = 20) : limit_(limit) {}

  template <class... Arguments>
  Reported report(base::Span span, const Kind<Arguments...>& kind,
                  const std::type_identity_t<Arguments>&... arguments) {
    return add({kind.code, kind.severity, span, fmt::format(kind.text, arguments...), {}, {}});
  }

  bool has_errors() const { return error_count_ > 0; }
  std::size_t error_count() const { return error_count_; }
  std::size_t dropped() const { return dropped_; }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  Reported add(Diagnostic diagnostic);

  std::size_t limit_;
  std::size_t error_count_ = 0;
  std::size_t kept_errors_ = 0;
  std::size_t kept_warnings_ = 0;
  std::size_t dropped_ = 0;
  std::vector<Diagnostic> diagnostics_;
  std::unordered_set<std::string> texts_;               // with code and place
  std::unordered_map<std::string, std::size_t> likes_;  // the kept diagnostic, by code, place and what texts share
};

// For a terminal: "file:3:7: error[S002]: ..", the line, a caret, hints; ordered by file and place. `color` adds ANSI
// colours. A file without text (it could not be read) is named without line and column.
std::string render_text(const Sink& sink, const SourceMap& sources, bool color);
// An array of {"code","severity","file","line","column","end_line","end_column","text","hints":[..],"repeated",
// "related":[..]}.
std::string render_json(const Sink& sink, const SourceMap& sources);

}  // namespace diag
