#include "base/nesting.h"

#include <gtest/gtest.h>

#include <string>

namespace base {
namespace {

TEST(Nesting, CountsWhatIsOpenAtOnce) {
  EXPECT_FALSE(nests_deeper("", 0));
  EXPECT_FALSE(nests_deeper("1", 0));
  EXPECT_TRUE(nests_deeper("[]", 0));
  EXPECT_FALSE(nests_deeper(R"([{"a": [1]}, [2], {}])", 3));
  EXPECT_TRUE(nests_deeper(R"([{"a": [1]}, [2], {}])", 2));
  EXPECT_TRUE(nests_deeper(std::string(400'000, '['), 128));
}

TEST(Nesting, BracketsInStringsCountNothing) {
  EXPECT_FALSE(nests_deeper(R"(["[[[[\"[[[["])", 1));
  EXPECT_FALSE(nests_deeper(R"(["\\", "["])", 1));
  EXPECT_TRUE(nests_deeper(R"(["\\", ["\\"]])", 1));
  EXPECT_FALSE(nests_deeper("\"\\", 0));  // it ends inside of an escape
}

}  // namespace
}  // namespace base
