// Plans in real time: searched for on a thread of their own, begun at an instant that was settled when they were asked
// for (docs/decisions/0016). The loop's thread never waits for a search.
//
//   t            a plan's guard holds behind a tick: a copy of the Instance goes to the worker, the world goes on
//   the worker   lets the copy run on to t + budget as the loop will, inputs standing still and no plan beginning, and
//   searches there
//   t + budget   the plan begins at that tick with what was found, whatever its guard says by then; or it has failed
//
// Where no values are found for t + budget, the worker goes back to the tick in which the guard held: from there the
// copy runs as a batch run does, the plan beginning at its very instant, up to t + budget. If that succeeds, the world
// is put there: from then on it is where it would be had nobody waited. A car that must leave the road at the foot of a
// ramp cannot leave it 20 ms later.
//
// An answer that is not there at t + budget is late: the plan is asked for again from where the world is then, with
// twice the budget. One found for other modes than the world is in (something happened that the copy did not know of)
// is asked for again while its guard holds, else it is dropped. When the eighth, with 2.56 s, is not in time either, or
// a late answer does not come within the budgets of all eight, the world stands still until it is answered: ticks pass,
// time does not.
//
// Functions marked RT are for the loop's thread: no allocation, lock or system call. The worker looks for work a
// thousand times a second, since waking it would be a system call.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "abi/model.h"
#include "runtime/sim/instance.h"

namespace live {

inline constexpr double plan_budget = 0.02;  // s of the first question: on the clock, and of the world's time at most
inline constexpr int most_questions = 8;     // each with twice the budget of the one before

// How the loop steps, which the worker does alike.
struct Pace {
  double period = 1e-3;
  std::int64_t substeps = 1;
  int solver = TACTUS_RK4;
};

class Planner {
 public:
  enum class Worker { own_thread, nobody };  // nobody: whoever calls `work`, for tests
  Planner(const tactus_model& model, const Pace& pace, Worker worker = Worker::own_thread);
  ~Planner();
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  // RT. Before each tick: what is to begin now does. A status like a tick's.
  int begin_due(const tactus_model* table, tactus_instance* instance);
  // RT. Behind begin_due: the world must not move in this tick, since a plan that begins now is still searched for.
  bool is_waiting() const { return is_waiting_; }
  // RT. Behind each tick: what is asked for is sent off. `speed`: world seconds a second of the clock.
  void send(const tactus_model* table, const tactus_instance* instance, double speed);

  // The worker's: answers what has been sent. Whether there was anything.
  bool work();

  struct Counts {
    // `put_back`: those of `begun` that began when their guard held, the world being put where that leads.
    // `waited`: ticks in which the world stood still.
    std::atomic<std::int64_t> begun = 0, put_back = 0, failed = 0, late = 0, dropped = 0, waited = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  enum State : int { idle, sent, answered };
  struct Question {
    std::atomic<int> state = idle;
    // The loop's, written before it is sent.
    bool is_wanted = false;  // not: its answer is thrown away
    bool is_late = false;
    int asked = 0;            // so often
    std::int64_t begins = 0;  // before this tick
    std::int64_t ahead = 0;   // ticks from the copy on
    std::int64_t first = 0;   // the same of a first question
    bool is_last = false;     // the world waits for its answer
    const tactus_model* table = nullptr;
    std::vector<double> copy;  // header and snapshot
    // The state before the tick in which the guard began to hold, and how many ticks lie between it and `begins`.
    bool has_origin = false;
    std::int64_t origin_tick = 0;
    std::int64_t from_origin = 0;
    std::vector<double> origin;
    // The worker's, written before it is answered.
    int status = TACTUS_OK;
    bool is_cancelled = false;  // its search was ended from outside: it says nothing
    std::array<double, TACTUS_MOST_CHOSEN> values = {};
    std::vector<double> modes;
    bool is_motion = false;      // `motion` is the answer, not `values`
    std::vector<double> motion;  // header and snapshot at `begins`, the plan having begun when its guard held
  };

  void answer(std::uint32_t plan, Question& question);
  int look_ahead(Question& question);
  bool begin_on_time(Question& question);
  int take_motion(const tactus_model* table, tactus_instance* instance, Question& question);
  int take_answer(const tactus_model* table, tactus_instance* instance, std::uint32_t plan, Question& question);
  int refuse(const tactus_model* table, tactus_instance* instance, std::uint32_t plan, Question& question);
  bool is_in_modes(const tactus_instance* instance, const std::vector<double>& modes) const;

  const tactus_model& model_;
  Pace pace_;
  std::uint32_t snapshot_;                            // doubles
  std::vector<std::unique_ptr<Question>> questions_;  // one a plan
  std::int64_t tick_ = 0;                             // that moved the world
  bool is_waiting_ = false;
  std::vector<double> before_;  // header and snapshot before the present tick
  Counts counts_;
  sim::Instance copy_;  // the worker's
  std::atomic<bool> is_over_ = false;
  std::thread worker_;  // last: it uses all of the above
};

}  // namespace live
