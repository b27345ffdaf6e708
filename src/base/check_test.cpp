#include "base/check.h"

#include <gtest/gtest.h>

namespace base {
namespace {

TEST(Check, ThatFailsThrowsWhatToReport) {
  const int two = 2;
  EXPECT_NO_THROW(TACTUS_CHECK(two == 2));
  try {
    TACTUS_CHECK(two == 3);
    FAIL();
  } catch (const std::logic_error& failed) {
    const std::string_view what = failed.what();
    EXPECT_TRUE(what.starts_with("internal error: two == 3 (base/check_test.cpp:")) << what;
    EXPECT_TRUE(what.ends_with("); please report it with the model")) << what;
  }
}

TEST(Check, NamesFilesAsTheHouseDoes) {
  EXPECT_EQ(file_in_house("/somewhere/src/project/src/compiler/lower/lower.cpp"), "compiler/lower/lower.cpp");
  EXPECT_EQ(file_in_house("../src/base/check.h"), "base/check.h");
  EXPECT_EQ(file_in_house("generated.cpp"), "generated.cpp");
}

}  // namespace
}  // namespace base
