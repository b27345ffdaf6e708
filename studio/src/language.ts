// Highlighting of Tactus texts. Enters: a line and what was open before it. Leaves: kinds of words, coloured by the page's own variables so that light and
// dark need no second table. Reserved words: docs/language.md, "Text"; a .phydl or .ridl file reserves fewer.

import { HighlightStyle, StreamLanguage, type StreamParser, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { tags } from "@lezer/highlight";

const words_of_2009 =
  "simulation external boundary system module ports reads writes observes event rate when with if then else init in later";
const words_since =
  "reactive scene check parameter constant function automaton transition sequence plan energy mechanism use for goto keep enforce " +
  "unknown require expect stop join interact apply invariant until choose reaching every true false";
const sections = new Set("simulation external boundary system reactive scene check module".split(" "));
const functions = new Set(
  ("sin cos tan asin acos atan atan2 sqrt exp log power abs sign min max clamp floor ceil norm dot cross direction rotate proj distance " +
    "transpose inverse det skew diag identity index integration diff smooth delay noise table sum box next at since").split(" "),
);
const scene_words = new Set("sphere box cylinder spring arrow trace text robot ground mesh camera plot".split(" "));
const scene_options = new Set("at radius color size rotation from to along scale height follow".split(" "));

interface LineState {
  in_comment: boolean;
  in_scene: boolean;
  after_number: boolean;
}

function make_parser(reserved: ReadonlySet<string>): StreamParser<LineState> {
  return {
    name: "tactus",
    startState: () => ({ in_comment: false, in_scene: false, after_number: false }),
    token(stream, state) {
      if (state.in_comment) {
        if (stream.skipTo("*/")) {
          stream.match("*/");
          state.in_comment = false;
        } else {
          stream.skipToEnd();
        }
        return "comment";
      }
      if (stream.eatSpace()) return null;
      if (stream.match("//")) {
        stream.skipToEnd();
        return "comment";
      }
      if (stream.match("/*")) {
        state.in_comment = true;
        return "comment";
      }
      // A bracket after a number is a unit, after anything else an index.
      if (state.after_number && stream.match(/^\[[^\]\n]*\]?/)) {
        state.after_number = false;
        return "unit";
      }
      state.after_number = false;
      if (stream.match(/^"(?:[^"\\\n]|\\.)*"?/)) return "string";
      if (stream.match(/^(?:\d+(?:\.(?!\.)\d+)?|\.\d+)(?:[eE][+-]?\d+)?/)) {
        state.after_number = true;
        return "number";
      }
      const word = stream.match(/^[\p{L}_][\p{L}\p{M}\p{N}_]*/u);
      if (word && word !== true) {
        const name = word[0];
        if (reserved.has(name)) {
          if (sections.has(name)) state.in_scene = name === "scene";
          return sections.has(name) ? "heading" : name === "true" || name === "false" ? "bool" : "keyword";
        }
        if (state.in_scene && (scene_words.has(name) || scene_options.has(name))) return "scene";
        if (functions.has(name) && stream.match(/^\s*\(/, false)) return "function";
        return "variableName";
      }
      if (stream.match(/^'+/)) return "prime";
      if (stream.match(/^(?:=>|[<>!]=|&&|\|\||\.\.|[-+*/^=<>!~≥≤≠¬‖])/)) return "operator";
      stream.next();
      return "punctuation";
    },
    languageData: {
      commentTokens: { line: "//", block: { open: "/*", close: "*/" } },
      closeBrackets: { brackets: ["(", "[", "{", '"'] },
    },
    tokenTable: {
      heading: tags.definitionKeyword,
      unit: tags.unit,
      function: tags.function(tags.variableName),
      prime: tags.special(tags.variableName),
      scene: tags.attributeName,
      bool: tags.bool,
    },
  };
}

const colors = HighlightStyle.define([
  { tag: tags.definitionKeyword, color: "var(--syntax-section)", fontWeight: "600" },
  { tag: tags.keyword, color: "var(--syntax-keyword)" },
  { tag: tags.bool, color: "var(--syntax-keyword)" },
  { tag: tags.attributeName, color: "var(--syntax-keyword)" },
  { tag: tags.comment, color: "var(--syntax-comment)" },
  { tag: tags.number, color: "var(--syntax-number)" },
  { tag: tags.unit, color: "var(--syntax-unit)" },
  { tag: tags.string, color: "var(--syntax-string)" },
  { tag: tags.function(tags.variableName), color: "var(--syntax-function)" },
  { tag: tags.special(tags.variableName), color: "var(--syntax-prime)", fontWeight: "600" },
  { tag: tags.operator, color: "var(--syntax-operator)" },
]);

const tactus = StreamLanguage.define(make_parser(new Set(`${words_of_2009} ${words_since}`.split(" "))));
const of_2009 = StreamLanguage.define(make_parser(new Set(words_of_2009.split(" "))));

export function language_for(file: string): Extension {
  return [/\.(phydl|ridl)$/.test(file) ? of_2009 : tactus, syntaxHighlighting(colors)];
}
