; Later patterns win where an editor lets several match.

(name) @variable

((name) @constant.builtin
  (#any-of? @constant.builtin "t" "pi"))

((name) @function.builtin
  . (group)
  (#any-of? @function.builtin
    "sin" "cos" "tan" "asin" "acos" "atan" "sqrt" "exp"
    "log" "abs" "sign" "floor" "ceil" "atan2" "power" "min"
    "max" "clamp" "norm" "dot" "cross" "direction" "rotate" "proj"
    "distance" "transpose" "inverse" "det" "skew" "diag" "identity" "index"
    "integration" "diff" "smooth" "box" "delay" "noise" "table" "next"
    "at" "since" "sum" "always" "eventually" "point" "inverse_dynamics"))

((keyword) @_declares . (name) @function
  (#eq? @_declares "function"))

((keyword) @_declares . (name) @type
  (#any-of? @_declares "module" "mechanism" "automaton"))

((keyword) @_declares . (name) @function.method
  (#any-of? @_declares "transition" "sequence" "plan" "event"))

((keyword) @_declares . (name) @constant
  (#any-of? @_declares "parameter" "constant"))

((delimiter) @_dot . (name) @property
  (#eq? @_dot "."))

; Words that are names elsewhere.
((name) @keyword . (name)
  (#any-of? @keyword "power" "guard" "structure" "reserve"))
((name) @keyword . (number)
  (#eq? @keyword "reserve"))
((name) @keyword . (group) . (keyword)
  (#eq? @keyword "storage"))
([(name) (bracket)] . (name) @keyword . (delimiter)
  (#any-of? @keyword "hold" "extrapolate" "passive"))

(section_keyword) @keyword
(keyword) @keyword
(boolean) @boolean
(number) @number
((number) . (bracket) @type)
(string) @string
(operator) @operator
(prime) @operator
(delimiter) @punctuation.delimiter
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
(line_comment) @comment
(block_comment) @comment
