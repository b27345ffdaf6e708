// Numbers as fmt, printf and std::to_chars write them; texts that are cut.
#include "words/text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

template <typename Put>
std::string written(Put put) {
  std::array<char, 64> room;
  tk_text text = tk_text_in(room.data(), room.size());
  put(&text);
  return {room.data(), text.length};
}

std::string by_to_chars(double value) {
  std::array<char, 64> room;
  return {room.data(), std::to_chars(room.data(), room.data() + room.size(), value).ptr};
}

std::string by_printf(double value, int digits) {
  std::array<char, 64> room;
  const int length = std::snprintf(room.data(), room.size(), "%.*g", digits, value);
  return {room.data(), static_cast<std::size_t>(length)};
}

// Every power of two and of ten with its neighbours, numbers of a few digits, ties, and random bits.
std::vector<double> numbers() {
  std::vector<double> all = {
      0.0, -0.0, 0.1, 0.3, 1.0 / 3, 2.5, 0.5, 1e22, 1e23, 123456789012345680000.0, 9007199254740993.0};
  const auto with_neighbours = [&](double value) {
    for (double near : {value, std::nextafter(value, 0), std::nextafter(value, INFINITY)})
      if (std::isfinite(near)) all.push_back(near);
  };
  for (int k = -1074; k < 1024; ++k) with_neighbours(std::ldexp(1.0, k));
  for (int k = -323; k <= 308; ++k) with_neighbours(std::strtod(fmt::format("1e{}", k).c_str(), nullptr));
  with_neighbours(std::numeric_limits<double>::max());
  std::mt19937_64 random(1);
  for (int i = 0; i < 50000; ++i) {
    const double value = std::bit_cast<double>(random());
    if (std::isfinite(value)) all.push_back(value);
    all.push_back(static_cast<double>(static_cast<std::int64_t>(random() % 2000001) - 1000000) / 1000);
    all.push_back(std::ldexp(static_cast<double>(random() % 4096), static_cast<int>(random() % 80) - 20));
  }
  return all;
}

TEST(Text, NumbersAreThoseOfFmtPrintfAndToChars) {
  for (const double value : numbers()) {
    ASSERT_EQ(written([&](tk_text* to) { tk_put_number(to, value); }), fmt::format("{}", value));
    ASSERT_EQ(written([&](tk_text* to) { tk_put_cell(to, value); }), by_to_chars(value));
    for (const int digits : {1, 3, 6, 9, 17})
      ASSERT_EQ(written([&](tk_text* to) { tk_put_rounded(to, value, digits); }), by_printf(value, digits));
  }
}

TEST(Text, WhatIsNoNumberHasAName) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto cell = [](double value) { return written([&](tk_text* to) { tk_put_cell(to, value); }); };
  EXPECT_EQ(cell(nan), "nan");
  EXPECT_EQ(cell(-nan), "nan");
  EXPECT_EQ(cell(INFINITY), "inf");
  EXPECT_EQ(cell(-INFINITY), "-inf");
  EXPECT_EQ(cell(-0.0), "-0");
}

TEST(Text, IntegersHaveAllTheirDigits) {
  for (const std::int64_t value : {INT64_MIN, INT64_MAX, std::int64_t{0}, std::int64_t{-7}, std::int64_t{1000000}})
    EXPECT_EQ(written([&](tk_text* to) { tk_put_integer(to, value); }), std::to_string(value));
}

TEST(Text, WhatDoesNotFitIsCutAndCounted) {
  std::array<char, 5> room;
  tk_text text = tk_text_in(room.data(), room.size());
  tk_put(&text, "abc");
  EXPECT_STREQ(room.data(), "abc");
  tk_put(&text, "defg");
  EXPECT_STREQ(room.data(), "abcd");
  EXPECT_EQ(text.length, 7u);
  tk_text nothing = tk_text_in(nullptr, 0);
  tk_put(&nothing, "abc");
  EXPECT_EQ(nothing.length, 3u);
}

TEST(Text, ShorteningKeepsCharactersWhole) {
  const auto shortened = [](const char* words, std::uint64_t limit) {
    return written([&](tk_text* to) { tk_put_shortened(to, words, limit); });
  };
  EXPECT_EQ(shortened("abcd", 4), "abcd");
  EXPECT_EQ(shortened("abcde", 4), "abcd ..");
  EXPECT_EQ(shortened("ab\xc3\xa9x", 3), "ab ..");
}

}  // namespace
