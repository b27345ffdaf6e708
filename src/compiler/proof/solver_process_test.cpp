// The real Z3, none, and children that misbehave: each is a script in a folder of its own.
#include "compiler/proof/solver_process.h"

#include <dirent.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "compiler/proof/decide.h"
#include "compiler/proof/guards_for_test.h"
#include "compiler/proof/polynomial.h"

namespace proof {
namespace {

namespace fs = std::filesystem;
using End = SolverProcess::End;

class Fake : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "proof-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    // Whatever a child did, it was waited for.
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
    fs::remove_all(folder_);
  }
  std::string script(const std::string& text) {
    const fs::path path = folder_ / "z3";
    std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
  static std::size_t open_files() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& each : fs::directory_iterator("/proc/self/fd")) ++count;
    return count;
  }

  fs::path folder_;
};

class PathOf {
 public:
  explicit PathOf(const std::string& path) : old_(getenv("PATH")) { setenv("PATH", path.c_str(), 1); }
  ~PathOf() { setenv("PATH", old_.c_str(), 1); }
  PathOf(const PathOf&) = delete;
  PathOf& operator=(const PathOf&) = delete;

 private:
  std::string old_;
};

TEST_F(Fake, TheRealOneAnswers) {
  const SolverProcess solver;
  ASSERT_TRUE(solver.is_there()) << "the package z3 is not installed";
  const auto reply =
      solver.ask("(declare-fun x () Real)(assert (= (* x x) 4.0))(assert (< 0.0 x))(check-sat)(get-value (x))", 20);
  EXPECT_EQ(reply.end, End::answered);
  EXPECT_EQ(reply.text, "sat\n((x 2.0))\n");
}

TEST_F(Fake, NotInPath) {
  const std::string here = script("echo unsat");
  {
    const PathOf none("");
    EXPECT_FALSE(SolverProcess().is_there());
    EXPECT_EQ(SolverProcess().ask("(check-sat)", 1).end, End::failed);
  }
  {
    // Neither "" nor "." are folders to start programs from.
    const auto before = fs::current_path();
    fs::current_path(folder_);
    const PathOf relative(":.:");
    EXPECT_FALSE(SolverProcess().is_there());
    fs::current_path(before);
  }
  const PathOf ours("/nowhere:" + folder_.string());
  EXPECT_TRUE(SolverProcess().is_there());
  EXPECT_EQ(SolverProcess().ask("", 20).text, "unsat\n");
}

TEST_F(Fake, NotAProgram) {
  fs::create_directory(folder_ / "z3");
  EXPECT_FALSE(SolverProcess((folder_ / "z3").string()).is_there());
  std::ofstream(folder_ / "text") << "unsat";
  EXPECT_FALSE(SolverProcess((folder_ / "text").string()).is_there());
  // Executable, but of no kind that this machine starts.
  std::ofstream(folder_ / "odd") << "\x7f"
                                    "ELF, or not";
  fs::permissions(folder_ / "odd", fs::perms::owner_all);
  EXPECT_EQ(SolverProcess((folder_ / "odd").string()).ask("", 5).text, "");
}

TEST_F(Fake, AHangingChildIsKilledWithAllItStarted) {
  const std::string mark = (folder_ / "pids").string();
  const SolverProcess solver(script("sleep 1000 &\necho $! > " + mark + "\necho $$ >> " + mark + "\nwait"));
  EXPECT_EQ(solver.ask("(check-sat)", 2).end, End::late);
  std::ifstream file(mark);
  pid_t pid = 0;
  int count = 0;
  while (file >> pid) {
    ++count;
    // The grandchild is init's to reap: it may take a moment until it is gone, but it runs no more.
    bool is_gone = false;
    for (int tries = 0; tries < 1000 && !is_gone; ++tries) {
      std::ifstream state("/proc/" + std::to_string(pid) + "/stat");
      std::string number, name, letter;
      is_gone = !(state >> number >> name >> letter) || letter == "Z";
      if (!is_gone) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_TRUE(is_gone) << pid;
  }
  EXPECT_EQ(count, 2);
}

TEST_F(Fake, OneThatEndsItsOutputAndGoesOnIsKilledToo) {
  const SolverProcess solver(script("echo unsat\nexec >&-\nsleep 1000"));
  const auto reply = solver.ask("(check-sat)", 20);
  EXPECT_EQ(reply.end, End::answered);
  EXPECT_EQ(reply.text, "unsat\n");
}

TEST_F(Fake, GigabytesAreNotRead) {
  const SolverProcess solver(script("exec cat /dev/zero"));
  const auto reply = solver.ask("(check-sat)", 60);
  EXPECT_EQ(reply.end, End::too_long);
  EXPECT_LE(reply.text.size(), SolverProcess::longest_reply + (1 << 14));
}

TEST_F(Fake, ALongScriptThatNobodyReads) {
  const SolverProcess solver(script("echo unsat"));
  EXPECT_EQ(solver.ask(std::string(50 << 20, ' '), 60).text, "unsat\n");
}

TEST_F(Fake, NothingIsLeftOpen) {
  const SolverProcess solver(script("echo unsat"));
  const std::size_t before = open_files();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(solver.ask("", 20).end, End::answered);
  EXPECT_EQ(open_files(), before);
}

TEST_F(Fake, VerdictsSurviveBadAnswers) {
  Guards g;
  const Term x = g.leaf("x", -10, 10), y = g.leaf("y", -10, 10);
  const Question apart = g.ask(square(x) < 4, x > 2.1), together = g.ask(square(x) < y, x > 2);
  const char* const answers[] = {
      "echo garbage",
      "echo sat",
      "echo sat\necho '((x0 (- (- (- (- (- (- (- (- (- (- (- 1)))))))))))'",
      "echo sat\necho '((x0 (root-obj (+ (^ x 2) (- 2)) 2)) (x1 1.0))'",
      "echo sat\necho '((x0 nan) (x1 inf))'",
      "echo sat\necho '((x0 (/ 1.0 0.0)) (x1 1e999))'",
      "echo sat\necho '((x0 7.0) (x1 7.0))'",  // a lie: it does not hold there
      "echo unknown",
      "echo '(error \"line 1\")'",
      "exit 3",
      "kill -9 $$",
      "head -c 3000000 /dev/urandom",
  };
  for (const char* answer : answers) {
    Prover prover({60, 20000, script(answer)});
    EXPECT_EQ(prover.decide(apart).answer, Answer::exclusive) << answer;
    EXPECT_EQ(prover.decide(apart).by, Method::intervals) << answer;
    EXPECT_EQ(prover.decide(together).answer, Answer::overlap) << answer;
    EXPECT_TRUE(prover.notes().empty()) << answer;
  }
}

TEST_F(Fake, ALateAnswerIsTold) {
  Guards g;
  const Term x = g.leaf("x");
  const Question question = g.ask(square(x) == 2, x > 0);  // over boxes undecided
  Prover prover({0.4, 1000, script("sleep 1000")});
  const Verdict verdict = prover.decide(question);
  EXPECT_EQ(verdict.answer, Answer::unknown);
  EXPECT_NE(verdict.why.find("Z3 had no answer within 0.2 s"), std::string::npos) << verdict.why;
}

TEST(Values, AreReadInAllTheirForms) {
  const auto values =
      read_values("\n((x0 (- 1.4142135623730950488?))\n (x1 (/ 1.0 4.0)) (x2 (- (/ 3.0 2.0))) (x3 12))\n", 4);
  ASSERT_TRUE(values);
  EXPECT_DOUBLE_EQ((*values)[0], -1.4142135623730951);
  EXPECT_EQ((*values)[1], 0.25);
  EXPECT_EQ((*values)[2], -1.5);
  EXPECT_EQ((*values)[3], 12);
  EXPECT_FALSE(read_values("((x0 1.0))", 2));
  EXPECT_FALSE(read_values("((x0 1.0) (x1 2.0)", 2));
  EXPECT_FALSE(read_values("", 1));
}

}  // namespace
}  // namespace proof
