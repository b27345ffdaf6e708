#include "lsp/text.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "diag/utf8.h"

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

// Characters of one to four bytes, bytes that begin none, long lines and empty ones.
std::string mixed_text(std::size_t pieces) {
  constexpr const char* kinds[] = {"y+",       "\u00e9",      "\u20ac", "\U0001f600", "\xff",
                                   "\xe2\x82", "abcdefghijk", "\r\n",   "\n\n"};
  std::string all;
  std::uint32_t random = 1;
  for (std::size_t i = 0; i < pieces; ++i) {
    random = random * 1664525 + 1013904223;
    all += kinds[(random >> 16) % (i % 2000 < 1900 ? 7 : 9)];
  }
  return all;
}

TEST(Text, PlacesOnLongLinesAreThoseOfAWalkFromTheBeginning) {
  const Text text(mixed_text(3000));
  for (const Encoding encoding : {Encoding::utf16, Encoding::utf8}) {
    for (std::uint32_t line = 0; line < text.line_count(); ++line) {
      const std::string_view content = text.line(line);
      std::uint32_t units = 0;
      for (std::uint32_t at = 0; at < content.size();) {
        const std::uint32_t offset = text.line_start(line) + at;
        EXPECT_EQ(text.position_of(offset, encoding), (Position{line, units}));
        EXPECT_EQ(text.offset_of({line, units}, encoding), offset);
        const diag::CodePoint point = diag::decode(content, at);
        units += length_of(content.substr(at, point.length), encoding);
        at += point.length;
      }
      EXPECT_EQ(text.offset_of({line, units + 1000}, encoding), text.line_start(line) + content.size());
    }
  }
}

TEST(Text, APlaceCostsTheSameOnALongLine) {
  std::string content;
  for (int i = 0; i < 25'000; ++i) content += i % 100 == 99 ? "\u00e9+" : "y+";
  const Text text(content);
  const std::uint64_t before = text.walked();
  for (std::uint32_t at = 0; at < text.size(); at += 2) {
    const Position place = text.position_of(at, Encoding::utf16);
    (void)text.offset_of(place, Encoding::utf16);
  }
  const std::uint64_t places = text.size();  // two for every other byte
  EXPECT_LE(text.walked() - before, 3 * places * Text::between_marks);
}

TEST(Text, IsEditedInPlace) {
  Text text("one\ntwo\nthree\n");
  text.replace(text.offset_of({1, 0}, Encoding::utf16), text.offset_of({1, 3}, Encoding::utf16), "2\n2b");
  EXPECT_EQ(text.content(), "one\n2\n2b\nthree\n");
  EXPECT_EQ(text.line(2), "2b");
  text.replace(1000, 5, "end");
  EXPECT_EQ(text.content(), "one\n2\n2b\nthree\nend");
}

// Bytes of any kind, line ends in halves, characters cut through: after each edit all is as in a text that was never edited.
TEST(Text, AnEditedTextIsThatOfItsContent) {
  const char* const pieces[] = {"",
                                "\r",
                                "\n",
                                "\r\n",
                                "y",
                                "\u00e9",
                                "\U0001d4b3",
                                "\xf0",
                                "\x9d\x92",
                                "\x80\x80\x80",
                                "a longer piece of text, "};
  std::uint32_t random = 7;
  const auto next = [&](std::uint32_t bound) {
    random = random * 1664525 + 1013904223;
    return (random >> 8) % bound;
  };
  Text text(mixed_text(400));
  for (int i = 0; i < 500; ++i) {
    const std::uint32_t begin = next(text.size() + 1);
    const std::uint32_t end = begin + next(i % 50 == 49 ? 900 : 5);
    std::string with;
    for (std::uint32_t k = next(4); k > 0; --k) with += pieces[next(11)];
    if (i % 70 == 69) with += mixed_text(150);
    text.replace(begin, end, with);
    const Text fresh(text.content());
    ASSERT_EQ(text.line_count(), fresh.line_count()) << i;
    for (std::uint32_t line = 0; line < fresh.line_count(); ++line)
      ASSERT_EQ(text.line_start(line), fresh.line_start(line)) << i;
    for (std::uint32_t at = next(7); at <= fresh.size(); at += 7) {
      const Position place = fresh.position_of(at, Encoding::utf16);
      ASSERT_EQ(text.position_of(at, Encoding::utf16), place) << i << ' ' << at;
      ASSERT_EQ(text.offset_of(place, Encoding::utf16), fresh.offset_of(place, Encoding::utf16)) << i << ' ' << at;
    }
  }
}

TEST(Text, AnEditCostsTheSameInALongText) {
  Text text(mixed_text(100'000));
  const std::uint64_t before = text.walked();
  for (std::uint32_t i = 0; i < 1000; ++i) text.replace(100 * i, 100 * i + 1, "x");
  EXPECT_LE(text.walked() - before, 1000 * 4 * Text::between_marks);
}

}  // namespace
}  // namespace lsp
