#include "process/child.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "process/diagnostics.h"
#include "process/worker.h"

namespace process {
namespace {

using namespace std::chrono_literals;

TEST(Child, IsWrittenToAndReadFrom) {
  Child child({}, "/bin/cat");
  ASSERT_TRUE(child.is_started());
  const std::string sent(1 << 20, 'x');  // more than a pipe holds
  std::thread writer([&] { EXPECT_TRUE(write_message(child.to(), sent)); });
  std::string heard;
  EXPECT_TRUE(read_message(child.from(), heard));
  writer.join();
  EXPECT_EQ(heard, sent);
  child.close_input();
  EXPECT_FALSE(read_message(child.from(), heard)) << "it has ended";
  const int status = child.wait();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(child.wait(), status) << "a second time";
  child.kill();  // nobody
}

TEST(Child, IsKilledAtADeadlineAndByAnyThread) {
  Child late({"60"}, "/bin/sleep");
  ASSERT_TRUE(late.is_started());
  EXPECT_EQ(WTERMSIG(late.wait(Clock::now() + 20ms)), SIGKILL);
  Child other({"60"}, "/bin/sleep");
  std::thread killer([&] { other.kill(); });
  EXPECT_EQ(WTERMSIG(other.wait()), SIGKILL);
  killer.join();
}

TEST(Child, EndsWithWhoStartedIt) {
  pid_t pid = -1;
  {
    Child child({"60"}, "/bin/sleep");
    pid = child.pid();
    ASSERT_EQ(::kill(pid, 0), 0);
    EXPECT_EQ(::getpgid(pid), pid) << "a ctrl-C at the terminal is not meant for it";
  }
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST(Child, ThatCannotBeStarted) {
  Child nobody({}, "/nowhere/tactus");
  EXPECT_FALSE(nobody.is_started());
  nobody.kill();
}

// As waitpid gives them: the signal below, an exit code above.
TEST(Child, EndsInWords) {
  EXPECT_EQ(ending_in_words(SIGXCPU, 10), "it took more than 10 s");
  EXPECT_EQ(ending_in_words(SIGSEGV, 10), "it crashed (Segmentation fault)");
  EXPECT_EQ(ending_in_words(out_of_memory_code << 8, 10), "it ran out of memory");
  EXPECT_EQ(ending_in_words(3 << 8, 10), "it ended with code 3");
}

TEST(Diagnostics, OfAWorkerThatEnded) { EXPECT_EQ(compiler_stopped.code, "K001"); }

}  // namespace
}  // namespace process
