// A person plays with a world: messages of pages in, worlds, frames and notes out (docs/protocol.md). One thread owns
// it; another compiles what was edited, and the loop's runs.
//
//   edit -> prepare, on a thread of its own -> loop.replace: the world goes on with the states of the same name
//   set, pause, .. -> loop
//   loop -> frames, sixty a second; statistics, four a second
//
// An edit that does not compile changes nothing but the diagnostics.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "play/rehearsal.h"
#include "runtime/live/loop.h"

namespace play {

enum class Listener : std::uint64_t {};

// How a world came to its end, for people.
struct Ended {
  std::string text;
  std::string hint;
};

// Where it all goes.
class Audience {
 public:
  virtual ~Audience() = default;
  virtual void tell(Listener listener, std::string text) = 0;
  virtual void tell_all(std::string text) = 0;
  virtual void show(std::span<const std::byte> frame) = 0;
  virtual std::size_t size() const = 0;
};

struct SourceText {
  std::string path;
  std::string text;
  std::string on_disk;
};

struct SessionOptions {
  double period = 0;               // 0: as the text says
  Overrides overrides;             // --set
  std::vector<std::string> allow;  // --allow
  live::LoopOptions loop;
  // What stands behind the hand in a person's place, for a period; empty, or null: a person.
  std::function<std::shared_ptr<live::Hand>(double period)> make_hand;
  bool begins_paused = false;
  bool waits_for_page = false;  // paused until the first page is there, so that it sees the beginning
  // The time by which a hand is silent; empty: the system's.
  std::function<std::chrono::steady_clock::time_point()> now = nullptr;
  // Called, on another thread, when an edit is compiled: call take_edits then, else it waits for the next go_on.
  std::function<void()> when_compiled = nullptr;
  // Edits are tried there first; null: they are compiled without, and one that ends the compiler ends us.
  std::shared_ptr<Rehearsal> rehearsal = nullptr;
};

class Session {
 public:
  // `first` has a running world and comes from the texts.
  Session(Prepared first, std::vector<SourceText> texts, SessionOptions options, Audience& audience);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // A message as the page sent it; what it does not understand it answers with a note.
  void message(Listener from, std::string_view text);
  void left(Listener from);
  // What is new goes out; call it sixty times a second.
  void go_on();
  // What became of edits goes out, at any time between.
  void take_edits();

  const live::Loop& loop() const { return *loop_; }
  double time() { return newest().time; }
  // The numbers of the protocol's `statistics`.
  Json statistics();
  std::optional<sim::Failure> failure() const { return failure_; }
  // The world that runs has come to its text's `ending_time`, or a `stop when` held.
  std::optional<Ended> ended();
  const std::vector<std::string>& notes() const { return notes_; }
  // To everybody, unless it was the last that was told so: a failure of our own, which need not end the world.
  void tell_trouble(const std::string& text);

 private:
  const live::Shown& newest();
  std::chrono::steady_clock::time_point time_now() const {
    return options_.now ? options_.now() : std::chrono::steady_clock::now();
  }
  void edit(Listener from, const Json& message);
  void save(Listener from, const std::string& name);
  void set(Listener from, const std::string& name, double value);
  void set_speed(Listener from, double value);
  void hand(Listener from, const Json& message);
  void step(Listener from);
  void reset(Listener from);
  void free_hand();
  void refuse_hand(Listener from, const std::string& why);
  void refuse(Listener from, const std::string& why);
  void begin_compiling();
  void give_up_if_late();
  void optimise_what_went_well();
  void finish_compiling();
  void adopt(Prepared prepared, bool goes_on);
  void finish_adopting(std::chrono::microseconds at_most);
  void give_hand(live::World& world);
  void free_aside(std::shared_ptr<emit_llvm::CompiledModel> code);
  void note_overrun();
  void note_stall();
  void note_slow_ticks();
  void tell_note(const std::string& text);
  void show_frame();

  std::vector<Moved> moved_parameters() const;
  Json world_message();
  Json state_message();
  SourceText* find_text(const std::string& name);

  Audience& audience_;
  SessionOptions options_;
  std::vector<SourceText> texts_;
  std::shared_ptr<emit_llvm::CompiledModel> code_;
  std::shared_ptr<const std::vector<live::Named>> discrete_;         // of code_
  std::shared_ptr<const std::vector<compiler::WrittenUnit>> units_;  // of its parameters
  std::vector<api::Text> code_texts_;                                // what it was compiled from
  std::vector<double> parameters_;                                   // by place, as they are now
  std::unique_ptr<live::Loop> loop_;
  std::uint32_t generation_ = 1;

  std::map<Listener, std::int64_t> waiting_;  // who edited since the last compilation began, and which version
  std::map<Listener, std::int64_t> compiling_for_;
  std::future<Prepared> compiling_;
  std::chrono::steady_clock::time_point compiling_since_;
  std::jthread compiler_;  // fulfils it
  // What the loop has been given and may not have begun: it ends its tick first.
  struct Adopting {
    Prepared prepared;
    std::vector<double> parameters;
    std::vector<double> started_with;
  };
  std::optional<Adopting> adopting_;
  std::optional<Prepared> ready_;  // while the loop has not yet taken what came before
  bool ready_goes_on_ = true;
  std::vector<std::future<void>> freeing_;
  Json diagnostics_ = Json::array();

  std::shared_ptr<live::Hand> simulated_;  // in a person's place
  double simulated_period_ = 0;
  std::optional<Listener> holder_;    // who has the hand
  std::set<Listener> refused_hands_;  // who was told that somebody else has it
  std::chrono::steady_clock::time_point holder_heard_ = {};
  live::Force felt_shown_ = {};
  std::int64_t stalls_told_ = 0;
  bool told_slow_ = false;
  double speed_ = 1;
  bool was_paused_ = false;
  bool was_ended_ = false;
  std::optional<sim::Failure> failure_;
  bool told_failure_ = false;
  std::vector<std::string> notes_;
  std::string trouble_;
  std::int64_t passes_ = 0;
  double slipped_told_ = 0;  // s
  std::int64_t frames_ = 0;
  double frames_a_second_ = 0;
  std::int64_t frames_before_ = 0;
  double steal_ = 0;
  std::int64_t stolen_before_ = 0;
  std::int64_t jiffies_before_ = 0;
};

}  // namespace play
