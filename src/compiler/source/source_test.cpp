#include "compiler/source/source.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace source {
namespace {

namespace fs = std::filesystem;

class SourceTest : public testing::Test {
 protected:
  SourceTest() {
    folder_ = fs::temp_directory_path() / ("tactus_source_test_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  ~SourceTest() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }

  // The code of the only diagnostic.
  std::string code() const {
    return diags_.diagnostics().size() == 1 ? std::string(diags_.diagnostics()[0].code) : "not one";
  }
  base::Span span() const { return diags_.diagnostics().at(0).span; }

  fs::path folder_;
  diag::SourceMap sources_;
  diag::Sink diags_;
};

TEST_F(SourceTest, KeepsTheTextAndItsName) {
  const std::string path = write("a.tact", "system\r\n  größe = 1;\r\n");
  const auto file = load(path, sources_, diags_);
  ASSERT_TRUE(file);
  EXPECT_EQ(sources_.name(*file), path);
  EXPECT_EQ(sources_.text(*file), "system\r\n  größe = 1;\r\n");
}

TEST_F(SourceTest, SkipsAByteOrderMark) {
  const auto file = load(write("a.tact", "\xef\xbb\xbfsystem"), sources_, diags_);
  ASSERT_TRUE(file);
  EXPECT_EQ(sources_.text(*file), "system");
}

TEST_F(SourceTest, AcceptsAnEmptyFile) { EXPECT_TRUE(load(write("a.tact", ""), sources_, diags_)); }

TEST_F(SourceTest, ReportsAMissingFileAndOneWithASimilarName) {
  write("ball.phydl", "");
  EXPECT_FALSE(load((folder_ / "ball.tact").string(), sources_, diags_));
  EXPECT_EQ(code(), "F001");
  EXPECT_NE(diags_.diagnostics()[0].hints.at(0).find("ball.phydl"), std::string::npos);
  EXPECT_NE(diag::render_text(diags_, sources_, false).find("ball.tact: error[F001]"), std::string::npos);
}

TEST_F(SourceTest, ReportsADirectory) {
  EXPECT_FALSE(load(folder_.string(), sources_, diags_));
  EXPECT_EQ(code(), "F002");
}

// A link to itself: nobody can open it, not even one who may read everything.
TEST_F(SourceTest, ReportsAnUnreadableFile) {
  fs::create_symlink("loop.tact", folder_ / "loop.tact");
  EXPECT_FALSE(load((folder_ / "loop.tact").string(), sources_, diags_));
  EXPECT_EQ(code(), "F003");
}

TEST_F(SourceTest, ReportsAFileThatIsTooLarge) {
  EXPECT_FALSE(load(write("a.tact", std::string(max_bytes + 1, ' ')), sources_, diags_));
  EXPECT_EQ(code(), "F004");
}

TEST_F(SourceTest, AcceptsAFileOfTheGreatestSize) {
  EXPECT_TRUE(load(write("a.tact", std::string(max_bytes, ' ')), sources_, diags_));
}

TEST_F(SourceTest, ReportsTheFirstByteThatIsNotUtf8) {
  EXPECT_FALSE(load(write("a.tact", "ab\ngr\xf6\xdf"), sources_, diags_));
  EXPECT_EQ(code(), "F005");
  EXPECT_EQ(span().begin, 5u);
  EXPECT_NE(diag::render_text(diags_, sources_, false).find("a.tact:2:3: error[F005]: byte 0xF6"), std::string::npos);
}

TEST_F(SourceTest, RejectsOverlongFormsSurrogatesAndCutCharacters) {
  for (const char* text :
       {"\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\xf0\x9f\x98", "\x80"}) {
    diag::Sink diags;
    EXPECT_FALSE(add("a.tact", text, sources_, diags));
    EXPECT_EQ(diags.diagnostics().at(0).code, "F005");
  }
  EXPECT_TRUE(add("a.tact", "\xf0\x9f\x98\x80 \xed\x9f\xbf \xf4\x8f\xbf\xbf", sources_, diags_));
}

TEST_F(SourceTest, ReportsUtf16AsSuch) {
  EXPECT_FALSE(add("a.tact", std::string("\xff\xfes\0y\0", 6), sources_, diags_));
  EXPECT_EQ(code(), "F005");
  EXPECT_NE(diags_.diagnostics()[0].hints.at(0).find("UTF-16"), std::string::npos);
}

TEST_F(SourceTest, ReportsANulByte) {
  EXPECT_FALSE(add("a.tact", std::string("ab\0c", 4), sources_, diags_));
  EXPECT_EQ(code(), "F006");
  EXPECT_EQ(span().begin, 2u);
}

}  // namespace
}  // namespace source
