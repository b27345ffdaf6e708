// Every status has words of its own, whatever the indices of a failed call are: they are of blocks, states, events,
// constraints or nothing.
#include "words/failure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace {

int watch_nothing(const tactus_model*, tactus_instance*, double, const double*) { return TACTUS_OK; }
int fire_nothing(const tactus_model*, tactus_instance*, std::uint32_t) { return TACTUS_OK; }
int rest(const tactus_model* model, tactus_instance*, double, const double*, double* dx) {
  std::fill(dx, dx + model->state_count, 0.0);
  return TACTUS_OK;
}

// A table filled by hand: two states, a block, two transitions, a relation, a constraint and a condition. Nothing
// moves.
class Failure : public testing::Test {
 protected:
  Failure() {
    model_.abi = TACTUS_ABI;
    model_.name = "m";
    model_.state_count = 2;
    model_.state_names = state_names_;
    model_.blocks = blocks_;
    model_.block_count = 1;
    model_.events = events_;
    model_.event_count = 2;
    model_.relations = relations_;
    model_.relation_count = 1;
    model_.watch_count = 2;
    model_.constraints = constraints_;
    model_.constraint_count = 1;
    model_.constraint_jacobian = {constraint_start_, constraint_index_};
    model_.conditions = conditions_;
    model_.condition_count = 1;
    model_.location_steps = 7;
    model_.discrete_count = 1;
    model_.watch = watch_nothing;
    model_.fire = fire_nothing;
    model_.derivative = rest;
    tk_layout(&model_, &model_.layout);
    memory_.resize(tactus_instance_bytes(&model_) / sizeof(double));
    room_.resize(tk_words_room(&model_) / sizeof(double) + 1);
    instance_ = reinterpret_cast<tactus_instance*>(memory_.data());
    instance_->time = 1.5;
    tactus_data(instance_)[model_.layout.states + 1] = 0.1;
  }

  std::string describe(int status, int block, int index, bool is_starting = false) {
    instance_->failed_block = block;
    instance_->failed_index = index;
    tk_text text = tk_text_in(words_, sizeof words_);
    tk_text hint = tk_text_in(hint_, sizeof hint_);
    line_ = tk_describe_failure(&model_, instance_, status, is_starting ? 1 : 0, room_.data(), &text, &hint);
    return words_;
  }

  static constexpr const char* state_names_[] = {"x", "y'[1]"};
  static constexpr tactus_block blocks_[] = {{"a + b = 1; a = b", "a; b", 3, 2, UINT32_MAX}};
  static constexpr tactus_event events_[] = {{"One", TACTUS_TRANSITION, 0, 1, 4, 0, 0, 0, 0},
                                             {"Two", TACTUS_TRANSITION, 1, 1, 5, 0, 0, 0, 0}};
  static constexpr tactus_relation relations_[] = {{TACTUS_TRUTH, 0, 0, 0, 0, 6}};
  static constexpr tactus_constraint constraints_[] = {{"x = y", 7, 0}};
  static constexpr std::uint32_t constraint_start_[] = {0, 2};
  static constexpr std::uint32_t constraint_index_[] = {0, 1};
  static constexpr tactus_condition conditions_[] = {{"x(0) = 2", 8, 0}};
  tactus_model model_ = {};
  std::vector<double> memory_;
  std::vector<double> room_;
  tactus_instance* instance_ = nullptr;
  char words_[2048];
  char hint_[1024];
  std::uint32_t line_ = 0;
};

TEST_F(Failure, EveryStatusHasWords) {
  std::set<std::string> names;
  for (int status = TACTUS_OK; status <= TACTUS_NOT_LOCATED; ++status) {
    const std::string name = tk_status_name(status);
    EXPECT_NE(name, "unknown") << status;
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_STREQ(tk_status_name(TACTUS_NOT_LOCATED + 1), "unknown");

  const std::string state = "\n  the state then: x = 0, y'[1] = 0.1";
  EXPECT_EQ(describe(TACTUS_NOT_FINITE, -1, 1), "at t = 1.5, y'[1] ceased to be a finite number" + state);
  EXPECT_EQ(describe(TACTUS_NOT_FINITE, -1, 1, true), "at the start, t = 1.5, y'[1] is not a finite number");
  EXPECT_EQ(describe(TACTUS_DIVERGED, 0, -1),
            "at t = 1.5, no solution was found for a, b in the equations (line 3)\n  a + b = 1; a = b" + state);
  EXPECT_EQ(line_, 3u);
  EXPECT_EQ(
      describe(TACTUS_SINGULAR, 0, -1),
      "at t = 1.5, the equations (line 3) do not determine a, b: their matrix is singular\n  a + b = 1; a = b" + state);
  EXPECT_EQ(describe(TACTUS_SINGULAR, -1, -1), "at t = 1.5, the equations of an implicit step were not solved" + state);
  EXPECT_EQ(describe(TACTUS_STEP_TOO_SMALL, -1, 0),
            "at t = 1.5, the step shrank to nothing because of x: no step is short enough for the tolerance" + state);
  EXPECT_EQ(describe(TACTUS_ENDLESS_EVENTS, -1, 2),
            "at t = 1.5, a comparison (line 6) changes to and fro without end and time stands still: each side drives "
            "the motion to the other" +
                state);
  EXPECT_EQ(describe(TACTUS_OFF_CONSTRAINTS, -1, 0),
            "at t = 1.5, a step left the constraint `x = y` (line 7) so far behind that it cannot be put back" + state);
  EXPECT_EQ(describe(TACTUS_NO_START, -1, 1, true),
            "at the start, t = 1.5, no start was found that satisfies `x(0) = 2` (line 8)\n  the states: x = 0, y'[1] "
            "= 0.1");
  EXPECT_EQ(
      describe(TACTUS_NO_SOLVER, -1, -1),
      "at t = 1.5, the solver asks for the model's Jacobian or its energy, and this table has neither or no room" +
          state);
  EXPECT_EQ(describe(TACTUS_BREACHED, -1, 1), "at t = 1.5, what line 5 requires does not hold: Two" + state);
  EXPECT_EQ(describe(TACTUS_CONFLICT, 1, 0),
            "at t = 1.5, the transitions `One` (line 4) and `Two` (line 5) are both enabled and disagree" + state);
  EXPECT_EQ(line_, 4u);
  EXPECT_EQ(
      describe(TACTUS_OFF_ENTRY, 1, 0),
      "at t = 1.5, `Two` leads to where `x = y` (line 7) does not hold, and that must hold in the mode it enters" +
          state);
  EXPECT_EQ(describe(TACTUS_NOT_LOCATED, -1, 2),
            "at t = 1.5, where a comparison (line 6) changes was not found in 7 trials" + state);
  EXPECT_EQ(describe(99, -1, -1), "at t = 1.5, the run failed (unknown)" + state);
}

// What a call left behind from an earlier failure, or of another kind, is never read past the tables.
TEST_F(Failure, NoIndexIsTakenForAnother) {
  for (int status = -1; status <= TACTUS_NOT_LOCATED + 1; ++status) {
    for (const int block : {-1, 0, 1, 2, 1000000, INT32_MAX}) {
      for (const int index : {-1, 0, 1, 2, 3, 1000000, INT32_MAX}) {
        for (const bool is_starting : {false, true})
          EXPECT_NE(describe(status, block, index, is_starting).find("t = 1.5, "), std::string::npos);
      }
    }
  }
}

TEST_F(Failure, ManyValuesAreCut) {
  const std::vector<const char*> names(20, "z");
  model_.state_count = 20;
  model_.state_names = names.data();
  model_.constraint_count = 0;
  tk_layout(&model_, &model_.layout);
  memory_.assign(tactus_instance_bytes(&model_) / sizeof(double), 0);
  room_.resize(tk_words_room(&model_) / sizeof(double) + 1);
  instance_ = reinterpret_cast<tactus_instance*>(memory_.data());
  const std::string words = describe(TACTUS_NO_SOLVER, -1, -1);
  EXPECT_EQ(words.substr(words.find("z = ")), "z = 0, z = 0, z = 0, z = 0, z = 0, z = 0, z = 0, z = 0, .. (20 in all)");
}

TEST_F(Failure, NotesNameWhatTheyAreAbout) {
  const auto note = [&](auto write) {
    tk_text text = tk_text_in(words_, sizeof words_);
    write(&text);
    return std::string(words_);
  };
  instance_->failed_index = 1;
  instance_->expectations = 3;
  instance_->dense_step = 0.001234567;
  EXPECT_EQ(note([&](tk_text* text) { tk_note_stop(&model_, instance_, text); }), "stopped at t = 1.5: Two");
  EXPECT_EQ(note([&](tk_text* text) { tk_note_check(&model_, 0, 2, text); }), "by t = 2 (line 4): One");
  EXPECT_EQ(note([&](tk_text* text) { tk_note_expectations(instance_, text); }),
            "what an `expect` says did not hold at 3 instants");
  EXPECT_EQ(note([&](tk_text* text) { tk_note_stiffness(instance_, TACTUS_TSIT5, text); }),
            "the system is stiff: at t = 1.5 stability and not the tolerance sets the steps of `tsit5`, 0.00123 long");
  const tk_tie_told rest = {1, TK_TOLD_REST, 0};
  EXPECT_EQ(note([&](tk_text* text) { tk_note_tie(&model_, &rest, text); }),
            "by t = 1 the jumps of `One` follow each other without end: the motion rests on its surface");
  const tk_tie_told slide = {1, TK_TOLD_SLIDE, 2};
  EXPECT_EQ(note([&](tk_text* text) { tk_note_tie(&model_, &slide, text); }),
            "by t = 1 the comparison in line 6 changes to and fro: the motion slides along it");
}

}  // namespace
