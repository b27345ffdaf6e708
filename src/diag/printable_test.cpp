#include "diag/printable.h"

#include <gtest/gtest.h>

#include "diag/sink.h"

namespace diag {
namespace {

TEST(Printable, WhatSteersATerminalIsSpelledOut) {
  EXPECT_EQ(printable("a\x1b[31m.tact"), "a\\x1b[31m.tact");
  EXPECT_EQ(printable("a\x1b]0;title\x07"), "a\\x1b]0;title\\x07");
  EXPECT_EQ(printable("a\r\n\tb\x7f"), "a\\x0d\\n\\tb\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u009b31m");  // CSI as one character
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "tcat.elif"),
            "\\u202etcat.elif");                                       // right to left
  EXPECT_EQ(printable("\xe2\x81\xa6\xe2\x80\x8b"), "\\u2066\\u200b");  // isolate, zero width
  EXPECT_EQ(printable("\xff\xc3("), "\\xff\\xc3(");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(Printable, WhatIsTextStays) {
  EXPECT_EQ(printable("größe 二 \\n `x`"), "größe 二 \\n `x`");
  EXPECT_EQ(printable_lines("a\n\tb\x1b\n"), "a\n\tb\\x1b\n");
}

TEST(Printable, DiagnosticsAreShownSo) {
  SourceMap sources;
  Sink sink;
  const std::uint32_t file = sources.add("m\x1b[2J.tact", "system x = \x1b[2J;\n");
  constexpr Kind<std::string_view> kind{"Z001", "`{}` is odd"};
  sink.report({file, 11, 12}, kind, "a\x1b]52;c;x\x07")
      .hint("{}", "not \x9b, and not \x1b")
      .related({file, 0, 6}, "{}", "by \x1b");
  const std::string text = render_text(sink, sources, false);
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
  EXPECT_NE(text.find("m\\x1b[2J.tact:1:12: error[Z001]: `a\\x1b]52;c;x\\x07` is odd"), std::string::npos) << text;
  // For programs the names stay what they are.
  EXPECT_NE(render_json(sink, sources).find("m\\u001b[2J.tact"), std::string::npos);
}

}  // namespace
}  // namespace diag
