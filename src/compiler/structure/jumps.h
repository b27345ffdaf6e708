// Whether an expression can jump where one of its comparisons, floor or ceil changes. What has a derivative in time
// between jumps loses them when it is differentiated: of u = if t < 1 then 0 else 1 the derivative is 0, and its
// integral is not u.
//
// Method: a witness. For each comparison a point where it changes is looked for along one of its names, the others at
// some numbers, by scanning and bisection; the expression jumps when its values on both sides differ. None found: not
// said to jump.
#pragma once

#include "compiler/expr/pool.h"

namespace structure {

[[nodiscard]] bool can_jump(expr::Pool& pool, expr::ExprId e);

}  // namespace structure
