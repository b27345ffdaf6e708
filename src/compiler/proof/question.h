// Can two guards hold at once? The question, and what can be answered. Data only.
//
// `exclusive` is said of real numbers: there is no point at which both hold, rounding left aside. `overlap` is said of
// doubles: at the witness both were evaluated with the kernel's own functions, and both hold.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/expr/pool.h"

namespace proof {

using expr::ExprId;

// A leaf is never outside.
struct Range {
  ExprId leaf;
  double low;
  double high;
};

// `leaf` is what `value` says: an algebraic variable. Definitions may read each other, but not in a circle.
struct Definition {
  ExprId leaf;
  ExprId value;
};

struct Question {
  const expr::Pool* pool = nullptr;
  ExprId first, second;                  // truth values
  std::vector<ExprId> assumptions = {};  // truth values that always hold
  // Equations, as truth values of the form a = b, that always hold but for what a run leaves over: a point within 1e-6
  // of their size fulfils them.
  std::vector<ExprId> ties = {};
  std::vector<Definition> definitions = {};
  std::vector<Range> ranges = {};
  expr::LeafNames names = [](const expr::Node&) { return std::string(); };
  // The value of sampled data or noise at its operands, where that is known; without it no witness can rest on them.
  std::function<std::optional<double>(const expr::Node&, double a, double b)> sample = {};
};

enum class Answer { exclusive, overlap, unknown };

// What decided, or, of what is unknown, was tried last.
enum class Method { structure, polynomial, intervals };

struct Coordinate {
  ExprId leaf;
  std::string name;
  double value;
  std::string text = {};  // what the value means, if that says more: a mode
};

struct Verdict {
  Answer answer = Answer::unknown;
  Method by = Method::structure;
  std::vector<Coordinate> witness = {};  // of an overlap: every leaf that the guards read, by name
  std::string why = {};                  // of what is unknown: for people
};

const char* name(Answer answer);  // "exclusive"
const char* name(Method method);  // "structure", "polynomial (Z3)", "intervals"

}  // namespace proof
