#include "lsp/text.h"

#include <gtest/gtest.h>

namespace lsp {
namespace {

TEST(Text, CountsUtf16UnitsAndBytes) {
  const Text text("a\u00e9\U0001f600b\r\nzwei\rdrei");  // 1 + 2 + 4 + 1 bytes; 1 + 1 + 2 + 1 units
  EXPECT_EQ(text.line_count(), 3u);
  EXPECT_EQ(text.position_of(7, Encoding::utf16), (Position{0, 4}));
  EXPECT_EQ(text.position_of(7, Encoding::utf8), (Position{0, 7}));
  EXPECT_EQ(text.offset_of({0, 4}, Encoding::utf16), 7u);
  EXPECT_EQ(text.offset_of({0, 3}, Encoding::utf16), 3u) << "inside the surrogate pair";
  EXPECT_EQ(text.offset_of({0, 99}, Encoding::utf16), 8u) << "behind the end of the line";
  EXPECT_EQ(text.offset_of({9, 0}, Encoding::utf16), text.size());
  EXPECT_EQ(text.line(1), "zwei");
  EXPECT_EQ(text.offset_of({2, 0}, Encoding::utf16), 15u);
}

TEST(Text, PositionsAndOffsetsAreInverse) {
  const Text text("x' = \u03b1;\n\n\U0001d465 = 1;\n");
  for (std::uint32_t offset = 0; offset <= text.size(); ++offset) {
    if (offset < text.size() && (static_cast<unsigned char>(text.content()[offset]) & 0xc0) == 0x80) continue;
    for (const Encoding encoding : {Encoding::utf16, Encoding::utf8})
      EXPECT_EQ(text.offset_of(text.position_of(offset, encoding), encoding), offset);
  }
}

TEST(Text, IsEditedInPlace) {
  Text text("one\ntwo\nthree\n");
  text.replace(text.offset_of({1, 0}, Encoding::utf16), text.offset_of({1, 3}, Encoding::utf16), "2\n2b");
  EXPECT_EQ(text.content(), "one\n2\n2b\nthree\n");
  EXPECT_EQ(text.line(2), "2b");
  text.replace(1000, 5, "end");
  EXPECT_EQ(text.content(), "one\n2\n2b\nthree\nend");
}

}  // namespace
}  // namespace lsp
