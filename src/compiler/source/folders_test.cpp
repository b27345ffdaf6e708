#include "compiler/source/folders.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

namespace source {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t plenty = 1 << 20;

class FoldersTest : public testing::Test {
 protected:
  FoldersTest() {
    std::string name = fs::temp_directory_path() / "tactus_folders_XXXXXX";
    top_ = fs::canonical(mkdtemp(name.data()));
    model_ = top_ / "model";
    fs::create_directories(model_ / "parts");
    put(top_ / "secret.csv", "secret");
    put(model_ / "inside.csv", "inside");
    put(model_ / "parts" / "deep.csv", "deep");
  }
  ~FoldersTest() override { fs::remove_all(top_); }

  static void put(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

  Reading read(const fs::path& path, const std::vector<std::string>& allowed = {}) const {
    return Folders({(model_ / "m.tact").string()}, allowed).read(path.string(), plenty);
  }
  // "outside", "none", or what stands in the file.
  std::string outcome(const fs::path& path, const std::vector<std::string>& allowed = {}) const {
    const Reading reading = read(path, allowed);
    if (reading.file) return reading.file->text;
    if (reading.refusal.empty()) return "none";
    return reading.refusal == "it lies outside of the model's folder" ? "outside" : reading.refusal;
  }

  fs::path top_, model_;
};

TEST_F(FoldersTest, WhatLiesInTheModelsFolderIsRead) {
  EXPECT_EQ(outcome(model_ / "inside.csv"), "inside");
  EXPECT_EQ(outcome(model_ / "parts" / "deep.csv"), "deep");
  EXPECT_EQ(outcome(model_ / "parts" / ".." / "inside.csv"), "inside");
  EXPECT_EQ(outcome(model_ / "gone.csv"), "none");
  fs::create_symlink("inside.csv", model_ / "link.csv");
  EXPECT_EQ(outcome(model_ / "link.csv"), "inside");
}

TEST_F(FoldersTest, NoSpellingLeadsOut) {
  put(top_ / "model_too.csv", "secret");  // a name that begins like the folder's
  fs::create_symlink(top_ / "secret.csv", model_ / "link.csv");
  fs::create_directory_symlink(top_, model_ / "up");
  fs::create_symlink(top_ / "gone.csv", model_ / "dangling.csv");
  for (const fs::path& path :
       {model_ / ".." / "secret.csv", top_ / "secret.csv", top_ / "model_too.csv", model_ / "link.csv",
        model_ / "up" / "secret.csv", model_ / "parts" / ".." / ".." / "secret.csv", fs::path("/etc/passwd"),
        fs::path("/proc/self/mem"), fs::path("/proc/self/environ"), fs::path("/dev/zero"), top_,
        // Whether a file outside exists is not told, either.
        top_ / "gone.csv", fs::path("/gone"), model_ / "dangling.csv"})
    EXPECT_EQ(outcome(path), "outside") << path;
}

TEST_F(FoldersTest, WhatAPersonAllowedIsRead) {
  EXPECT_EQ(outcome(top_ / "secret.csv", {top_.string()}), "secret");
  EXPECT_EQ(outcome(model_ / ".." / "secret.csv", {(top_ / "secret.csv").string()}), "secret");
  put(top_ / "other.csv", "other");
  EXPECT_EQ(outcome(top_ / "other.csv", {(top_ / "secret.csv").string()}), "outside");
  EXPECT_EQ(outcome(top_ / "gone.csv", {top_.string()}), "none");
  EXPECT_EQ(outcome(top_ / "secret.csv", {(top_ / "no such folder").string()}), "outside");
  EXPECT_NE(read(top_ / "secret.csv").hint.find("--allow"), std::string::npos);
}

TEST_F(FoldersTest, OnlyRegularFilesAreRead) {
  ASSERT_EQ(::mkfifo((model_ / "pipe.csv").c_str(), 0600), 0);
  EXPECT_EQ(outcome(model_ / "pipe.csv"), "it is a device or a pipe, not a regular file");  // and nobody waits for it
  EXPECT_EQ(outcome(model_ / "parts"), "it is a directory");
  EXPECT_EQ(outcome("/dev/zero", {"/dev"}), "it is a device or a pipe, not a regular file");
}

TEST_F(FoldersTest, AReadErrorIsARefusal) {
  // At address 0 nothing is mapped.
  EXPECT_EQ(outcome("/proc/self/mem", {"/proc"}), "a read error: Input/output error");
}

TEST_F(FoldersTest, LargeFilesAreRefused) {
  fs::resize_file(model_ / "inside.csv", plenty + 1);
  EXPECT_EQ(outcome(model_ / "inside.csv"), "it is larger than 1 MB");
  // The size of some files says nothing.
  const Reading none = Folders({}, {"/proc"}).read("/proc/self/smaps", 16);
  EXPECT_FALSE(none.file);
}

TEST_F(FoldersTest, NothingLeadsOutWhileNamesChange) {
  // Somebody turns a name into a link that leads out and back, as fast as they can.
  const fs::path name = model_ / "swapped.csv";
  fs::create_symlink(top_ / "secret.csv", model_ / "bad");
  put(model_ / "good", "inside");
  std::atomic<bool> is_over{false};
  std::thread other([&] {
    for (bool bad = false; !is_over; bad = !bad) {
      fs::remove(model_ / "next");
      bad ? fs::create_symlink(top_ / "secret.csv", model_ / "next")
          : fs::create_hard_link(model_ / "good", model_ / "next");
      fs::rename(model_ / "next", name);
    }
  });
  const Folders folders({(model_ / "m.tact").string()}, {});
  int read = 0, refused = 0;
  for (int i = 0; i < 20000 || ((read == 0 || refused == 0) && i < 10'000'000); ++i) {
    const Reading reading = folders.read(name.string(), plenty);
    if (reading.file) {
      ++read;
      ASSERT_EQ(reading.file->text, "inside");
    } else {
      ++refused;
    }
  }
  is_over = true;
  other.join();
  EXPECT_GT(read, 0);
  EXPECT_GT(refused, 0);
}

TEST_F(FoldersTest, FilesToBeWrittenStayInsideToo) {
  const Folders folders({(model_ / "m.tact").string()}, {});
  fs::create_symlink(top_ / "secret.csv", model_ / "link.data");
  fs::create_symlink(top_ / "gone.csv", model_ / "dangling.data");
  EXPECT_TRUE(folders.holds((model_ / "new.data").string()));
  EXPECT_TRUE(folders.holds((model_ / "parts" / "new.data").string()));
  for (const fs::path& path : {top_ / "new.data", model_ / ".." / "new.data", model_ / "link.data",
                               model_ / "dangling.data", model_ / "gone" / "new.data", model_ / "parts" / ".."})
    EXPECT_FALSE(folders.holds(path.string())) << path;
}

TEST_F(FoldersTest, ARefusalIsReportedWhereTheFileIsNamed) {
  diag::SourceMap sources;
  diag::Sink diags;
  const base::Span written{sources.add("m.tact", "use \"../x.tact\";"), 4, 15};
  EXPECT_FALSE(report_refusal(Reading(), "../x.tact", written, diags));
  EXPECT_TRUE(report_refusal(read(top_ / "secret.csv"), "../x.tact", written, diags));
  ASSERT_EQ(diags.diagnostics().size(), 1u);
  EXPECT_EQ(diags.diagnostics()[0].code, "F007");
  EXPECT_EQ(diags.diagnostics()[0].text, "the file `../x.tact` is not read: it lies outside of the model's folder");
}

}  // namespace
}  // namespace source
