// The parent's side of a rehearsal; tests/edits_test.py has the whole of it.
#include "play/rehearsal.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>

namespace play {
namespace {

const Attempt attempt = {
    {{"m.tact", "simulation step_size = 0.01\nboundary x with x(0) = 1;\nsystem\n  x' = -x;\n"}}, {}, {}, 0};

TEST(Rehearsal, WhereNoChildCanBeStartedAnEditIsPreparedWithout) {
  Rehearsal rehearsal("/nowhere/tactus");
  const Prepared prepared = rehearsal.prepare(attempt);
  EXPECT_TRUE(prepared.running);
  EXPECT_FALSE(prepared.items);
  std::string why;
  EXPECT_EQ(rehearsal.optimised(why), Rehearsal::Optimised::not_yet);
}

TEST(Rehearsal, AChildThatEndsIsSaidOfTheText) {
  std::signal(SIGPIPE, SIG_IGN);  // as the program does
  Rehearsal rehearsal("/bin/false");
  for (int i = 0; i < 3; ++i) {
    const Prepared prepared = rehearsal.prepare(attempt);
    EXPECT_FALSE(prepared.running);
    ASSERT_TRUE(prepared.items);
    const Json& item = prepared.items->at(0);
    EXPECT_EQ(item["code"], "K001");
    EXPECT_EQ(item["file"], "m.tact");
    EXPECT_NE(item["text"].get<std::string>().find("it ended with code 1"), std::string::npos) << item;
  }
}

TEST(Rehearsal, AChildThatSaysNothingIsLate) {
  const std::string silent = testing::TempDir() + "tactus_says_nothing.sh";
  std::ofstream(silent) << "#!/bin/sh\nexec sleep 60\n";
  std::filesystem::permissions(silent, std::filesystem::perms::owner_all);
  Rehearsal rehearsal(silent, 0.1);
  const Prepared prepared = rehearsal.prepare(attempt);
  ASSERT_TRUE(prepared.items);
  EXPECT_NE(prepared.items->at(0)["text"].get<std::string>().find("no answer came in 0.1 s"), std::string::npos);
}

TEST(CompiledModel, IsOptimisedWhenTold) {
  Prepared prepared = prepare(attempt.texts, {}, {}, 0, Optimising::when_told);
  ASSERT_TRUE(prepared.code);
  EXPECT_EQ(prepared.code->wait_optimised(), prepared.code->quick());
  prepared.code->begin_optimising();
  prepared.code->begin_optimising();  // once is enough
  EXPECT_NE(prepared.code->wait_optimised(), prepared.code->quick());
}

}  // namespace
}  // namespace play
