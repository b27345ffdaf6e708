#include "base/nearest.h"

#include <gtest/gtest.h>

#include <string>

namespace base {
namespace {

TEST(Nearest, FindsWhatWasMeant) {
  std::vector<std::string> names = {"white_ball", "black_ball", "k"};
  EXPECT_EQ(nearest("white_bal", names), "white_ball");
  EXPECT_EQ(nearest("balck_ball", names), "black_ball");  // swapped neighbours are one edit
  EXPECT_EQ(nearest("K", names), "k");
  EXPECT_FALSE(nearest("force", names));
  EXPECT_FALSE(nearest("", names));
}

TEST(Nearest, OneLetterIsNotAnother) {
  std::vector<std::string> names = {"x", "km"};
  EXPECT_EQ(nearest("m", names), "km");
  EXPECT_FALSE(nearest("y", names));
}

}  // namespace
}  // namespace base
