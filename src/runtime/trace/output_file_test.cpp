#include "runtime/trace/output_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "runtime/trace/csv_writer.h"
#include "runtime/trace/replace_file.h"

namespace trace {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public testing::Test {
 protected:
  OutputFileTest() {
    std::string name = fs::temp_directory_path() / "tactus_output_XXXXXX";
    top_ = fs::canonical(mkdtemp(name.data()));
    folder_ = top_ / "folder";
    fs::create_directories(folder_);
  }
  ~OutputFileTest() override { fs::remove_all(top_); }

  static void put(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
  static std::string get(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  static unsigned mode(const fs::path& path) {
    struct stat info = {};
    return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 07777u : 0;
  }
  // In a process whose files may have `bytes` at most; whether `work` returned true.
  template <class Work>
  static bool with_small_files(rlim_t bytes, Work work) {
    const pid_t child = fork();
    if (child == 0) {
      ::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{bytes, bytes};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      _exit(work() ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  fs::path top_, folder_;
  std::string failure_;
};

TEST_F(OutputFileTest, AWholeFileTakesItsPlaceWhenItIsClosed) {
  const fs::path path = folder_ / "a.svg";
  put(path, "old");
  OutputFile file;
  ASSERT_TRUE(file.open_whole(path));
  ASSERT_TRUE(file.write("new "));
  ASSERT_TRUE(file.write("text"));
  EXPECT_EQ(get(path), "old");
  ASSERT_TRUE(file.close());
  EXPECT_EQ(get(path), "new text");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(OutputFileTest, AWholeFileThatIsGivenUpIsNeverSeen) {
  put(folder_ / "old", "old");
  {
    OutputFile abandoned, moved;
    ASSERT_TRUE(abandoned.open_whole(folder_ / "new") && abandoned.write("half"));
    ASSERT_TRUE(moved.open_whole(folder_ / "old") && moved.write("half"));
    OutputFile elsewhere = std::move(moved);
    ASSERT_TRUE(elsewhere.settle());
    elsewhere.discard();
  }
  EXPECT_EQ(get(folder_ / "old"), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(OutputFileTest, PermissionsStay) {
  const mode_t before = ::umask(027);
  for (unsigned bits : {0600u, 0640u, 0666u, 0755u}) {
    put(folder_ / "a", "old");
    fs::permissions(folder_ / "a", fs::perms(bits));
    EXPECT_TRUE(write_whole(folder_ / "a", "new", failure_));
    EXPECT_EQ(mode(folder_ / "a"), bits);
  }
  EXPECT_TRUE(write_whole(folder_ / "fresh", "new", failure_));
  EXPECT_EQ(mode(folder_ / "fresh"), 0640u);
  ::umask(before);
}

TEST_F(OutputFileTest, AFullDiskLeavesWhatWasThere) {
  put(folder_ / "old.svg", "old");
  EXPECT_TRUE(with_small_files(1000, [&] {
    const std::string text(2000, 'x');
    const bool failed =
        !write_whole(folder_ / "old.svg", text, failure_) && !write_whole(folder_ / "new.svg", text, failure_);
    return failed &&
           failure_ == "cannot write `" + (folder_ / "new.svg").string() + "`: the file would exceed the size limit";
  }));
  EXPECT_EQ(get(folder_ / "old.svg"), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(OutputFileTest, AFullDiskLeavesWholeRows) {
  for (rlim_t most : {100u, 1000u, 5001u, 70000u}) {
    const fs::path path = folder_ / "run.csv";
    EXPECT_TRUE(with_small_files(most, [&] {
      CsvWriter writer;
      const std::vector<std::string> names = {"t", "x"};
      if (!writer.open(path, names)) return false;
      bool good = true;
      for (int i = 0; good && i < 100'000; ++i) good = writer.write_row(std::vector<double>{i / 3.0, -i / 7.0});
      good = writer.close() && good;
      return !good && writer.failure() == "cannot write `" + path.string() + "`: the file would exceed the size limit";
    }));
    const std::string text = get(path);
    ASSERT_FALSE(text.empty());
    EXPECT_LE(text.size(), most);
    EXPECT_GT(text.size() + 60, most);  // no more than one row is missing
    EXPECT_EQ(text.back(), '\n');
    const std::size_t last = text.find_last_of('\n', text.size() - 2) + 1;
    EXPECT_EQ(std::count(text.begin() + static_cast<std::ptrdiff_t>(last), text.end(), ','), 1);
  }
}

TEST_F(OutputFileTest, DevicesAreWrittenAsTheyStand) {
  EXPECT_FALSE(write_whole("/dev/full", "text", failure_));
  EXPECT_EQ(failure_, "cannot write `/dev/full`: the disk is full");
  EXPECT_TRUE(write_whole("/dev/null", "text", failure_));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_FALSE(replace_file("/dev/null", "text", failure_));
}

TEST_F(OutputFileTest, ALinkStaysAndLeadsNotOutWhenASaveFollowsIt) {
  put(folder_ / "target.tact", "old");
  put(top_ / "outside.tact", "old");
  fs::create_symlink("target.tact", folder_ / "inside.tact");
  fs::create_symlink(top_ / "outside.tact", folder_ / "out.tact");
  fs::create_symlink(folder_ / "gone.tact", folder_ / "nowhere.tact");
  EXPECT_TRUE(replace_file(folder_ / "inside.tact", "new", failure_)) << failure_;
  EXPECT_TRUE(fs::is_symlink(folder_ / "inside.tact"));
  EXPECT_EQ(get(folder_ / "target.tact"), "new");
  EXPECT_FALSE(replace_file(folder_ / "out.tact", "new", failure_));
  EXPECT_EQ(failure_, "cannot write `" + (folder_ / "out.tact").string() +
                          "`: it is a link that leads out of its folder; name the file that it leads to");
  EXPECT_EQ(get(top_ / "outside.tact"), "old");
  EXPECT_FALSE(replace_file(folder_ / "nowhere.tact", "new", failure_));
  // What a person names as an output may lead anywhere.
  EXPECT_TRUE(write_whole(folder_ / "out.tact", "new", failure_));
  EXPECT_TRUE(fs::is_symlink(folder_ / "out.tact"));
  EXPECT_EQ(get(top_ / "outside.tact"), "new");
  EXPECT_EQ(entries(), 4u);
}

// Another user with access to the folder puts links in the place of whatever appears there, as fast as they can.
TEST_F(OutputFileTest, NobodyRedirectsASave) {
  const fs::path victim = top_ / "victim", path = folder_ / "model.tact";
  put(victim, "untouched");
  put(path, "old");
  std::atomic<bool> is_over{false};
  std::thread adversary([&] {
    while (!is_over) {
      std::error_code error;
      for (fs::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error)) {
        const fs::path name = entry->path();
        std::error_code ignored;
        if (fs::is_symlink(name, ignored)) continue;
        fs::create_symlink(victim, top_ / "bait", ignored);
        fs::rename(top_ / "bait", name, ignored);
      }
    }
  });
  int saved = 0, refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string failure;
    (replace_file(path, "text " + std::to_string(i), failure) ? saved : refused)++;
    ASSERT_EQ(get(victim), "untouched") << "save " << i;
    if (i % 16 == 0) {  // the owner puts things right now and then
      fs::remove(path);
      put(path, "old");
    }
  }
  is_over = true;
  adversary.join();
  EXPECT_EQ(saved + refused, 2000);
  EXPECT_EQ(get(victim), "untouched");
}

TEST_F(OutputFileTest, AFolderThatCannotBeWrittenIsSaid) {
  EXPECT_FALSE(write_whole(folder_ / "no" / "a.svg", "x", failure_));
  EXPECT_EQ(failure_, "cannot write `" + (folder_ / "no" / "a.svg").string() + "`: the directory `" +
                          (folder_ / "no").string() + "` does not exist");
  EXPECT_FALSE(write_whole(folder_, "x", failure_));
  EXPECT_EQ(failure_, "cannot write `" + folder_.string() + "`: it is a directory; give the name of a file");
  EXPECT_FALSE(write_whole("/proc/version", "x", failure_));
  if (::geteuid() == 0) return;  // who may everything
  put(folder_ / "a.svg", "old");
  fs::permissions(folder_, fs::perms(0555));
  EXPECT_FALSE(write_whole(folder_ / "a.svg", "x", failure_));
  EXPECT_EQ(get(folder_ / "a.svg"), "old");
  fs::permissions(folder_, fs::perms(0755));
}

}  // namespace
}  // namespace trace
