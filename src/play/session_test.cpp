// A session as pages meet it: their messages in, what they are told out. Motions are compared with closed forms at the time of each
// frame, so that no test depends on how fast the machine is.
#include "play/session.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <thread>

#include "play/describe.h"

namespace play {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr Listener alice{1}, bob{2};

// x = exp(-k t) while k stays.
constexpr const char* decay = R"(simulation step_size = 0.001
external hand reads u
parameter k = 1 in 0..10, free = 2;
boundary x with x(0) = 1;
system
  v = -k * x;
  x' = v;
  y = u + free;
)";
constexpr const char* explosion = R"(simulation step_size = 0.001
boundary x with x(0) = 1;
system
  x' = x^2;
)";

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string example(const std::string& name) {
  std::ifstream file(std::string(TACTUS_SOURCE_DIR) + "/examples/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Frame {
  std::uint32_t kind = 0, generation = 0, flags = 0, count = 0;
  double time = 0;
  double position[3] = {}, velocity[3] = {}, force[3] = {};
  std::vector<double> values;
};

// Byte by byte as docs/protocol.md lays it out.
Frame decode(const std::vector<std::byte>& bytes) {
  Frame frame;
  const auto read = [&](std::size_t at, void* to, std::size_t size) {
    ASSERT_LE(at + size, bytes.size());
    std::memcpy(to, bytes.data() + at, size);
  };
  read(0, &frame.kind, 4);
  read(4, &frame.generation, 4);
  read(8, &frame.flags, 4);
  read(12, &frame.count, 4);
  read(16, &frame.time, 8);
  read(24, frame.position, 24);
  read(48, frame.velocity, 24);
  read(72, frame.force, 24);
  EXPECT_EQ(bytes.size(), 96 + 8 * std::size_t{frame.count});
  frame.values.resize(frame.count);
  read(96, frame.values.data(), 8 * std::size_t{frame.count});
  return frame;
}

class Hall : public Audience {
 public:
  void tell(Listener listener, std::string text) override { told[listener].push_back(Json::parse(text)); }
  void tell_all(std::string text) override {
    for (const Listener listener : listeners) told[listener].push_back(Json::parse(text));
  }
  void show(std::span<const std::byte> bytes) override { frame.assign(bytes.begin(), bytes.end()); }
  std::size_t size() const override { return listeners.size(); }

  std::vector<Listener> listeners = {alice, bob};
  std::map<Listener, std::vector<Json>> told;
  std::vector<std::byte> frame;
};

struct Played {
  explicit Played(const std::string& text, SessionOptions options = {}, const std::string& path = "/nowhere/m.tact") {
    options.loop.real_time = false;
    Prepared first = prepare({{path, text}}, options.overrides, {}, options.period);
    if (!first.running) {
      ADD_FAILURE() << diagnostic_items(first.compiled, first.texts).dump(2)
                    << (first.failure ? first.failure->text : "");
      return;
    }
    session = std::make_unique<Session>(std::move(first), std::vector<SourceText>{{path, text, text}}, options, hall);
  }

  void say(const Json& message, Listener from = alice) { session->message(from, message.dump()); }
  void edit(const std::string& text, std::int64_t version, Listener from = alice) {
    say({{"type", "edit"}, {"file", "m.tact"}, {"text", text}, {"version", version}}, from);
  }

  // The messages of a type that this listener was told, in their order.
  std::vector<Json> told(const std::string& type, Listener listener = alice) {
    std::vector<Json> found;
    for (const Json& message : hall.told[listener]) {
      if (message["type"] == type) found.push_back(message);
    }
    return found;
  }
  Json last(const std::string& type, Listener listener = alice) {
    const std::vector<Json> all = told(type, listener);
    return all.empty() ? Json::object() : all.back();
  }

  // Goes on until it holds, or long enough to say that it never will.
  template <class Condition>
  bool until(Condition condition) {
    for (int i = 0; i < 4000; ++i) {
      session->go_on();
      if (condition()) return true;
      std::this_thread::sleep_for(5ms);
    }
    return false;
  }
  // The next frame of the world that runs, after the messages so far.
  Frame frame(double not_before = 0) {
    Frame found;
    hall.frame.clear();
    EXPECT_TRUE(until([&] {
      if (hall.frame.empty()) return false;
      found = decode(hall.frame);
      return found.generation == generation() && found.time >= not_before;
    }));
    return found;
  }
  std::uint32_t generation() {
    say({{"type", "hello"}, {"version", 1}}, Listener{99});
    const std::uint32_t found = last("world", Listener{99})["generation"];
    hall.told.erase(Listener{99});
    return found;
  }
  Json world() {
    say({{"type", "hello"}, {"version", 1}});
    return last("world");
  }
  double value(const Frame& frame, const std::string& name) {
    const Json now = world();
    for (const Json& entry : now["values"]) {
      if (entry["name"] == name) return frame.values.at(entry["at"].get<std::size_t>());
    }
    ADD_FAILURE() << "no value " << name;
    return NAN;
  }
  Json parameter(const std::string& name) {
    const Json now = world();
    for (const Json& entry : now["parameters"]) {
      if (entry["name"] == name) return entry;
    }
    return {};
  }

  Hall hall;
  std::unique_ptr<Session> session;
};

// --- What a page is told ----------------------------------------------------------------------------------------------

TEST(Session, HelloIsAnsweredByWorldStateAndDiagnostics) {
  Played played(decay);
  played.say({{"type", "hello"}, {"version", 1}}, bob);
  const std::vector<Json>& told = played.hall.told[bob];
  ASSERT_GE(told.size(), 3u);
  EXPECT_EQ(told[0]["type"], "world");
  EXPECT_EQ(told[1]["type"], "state");
  EXPECT_EQ(told[2]["type"], "diagnostics");
  EXPECT_EQ(told[2]["items"], Json::array());
  EXPECT_EQ(told[1]["paused"], false);
  EXPECT_EQ(told[1]["failure"], nullptr);
  EXPECT_EQ(told[0]["files"][0]["name"], "m.tact");
  EXPECT_EQ(told[0]["files"][0]["text"], decay);
  EXPECT_EQ(told[0]["files"][0]["edited"], false);
  EXPECT_TRUE(played.hall.told[alice].empty());
}

TEST(Session, TheTwoBallWorldIsDescribedAsItsTextSays) {
  Played played(example("two_ball.tact"), {}, "/nowhere/two_ball.tact");
  const Json world = played.world();
  EXPECT_EQ(world["name"], "two_ball");
  EXPECT_EQ(world["dimensions"], 2);
  EXPECT_EQ(world["rate"], 1000);
  EXPECT_EQ(world["generation"], 1);

  ASSERT_EQ(world["parameters"].size(), 3u);
  EXPECT_EQ(world["parameters"][0],
            (Json{{"name", "k"}, {"unit", ""}, {"value", 4}, {"initial", 4}, {"low", 0}, {"high", 50}}));
  EXPECT_EQ(world["parameters"][2]["low"], 0.1);

  const Json& hand = world["hand"];
  EXPECT_EQ(hand["device"], "hand");
  EXPECT_EQ(hand["components"], 2);
  EXPECT_EQ(hand["handle"], "white_ball");
  EXPECT_EQ(hand["limit"], live::mouse_limits.force);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(hand["scale"][i].get<double>(), 1, 1e-9);
    EXPECT_NEAR(hand["offset"][i].get<double>(), 0, 1e-9);
  }

  std::vector<std::string> kinds;
  for (const Json& drawing : world["drawings"]) kinds.push_back(drawing["kind"]);
  EXPECT_EQ(kinds, (std::vector<std::string>{"box", "box", "text", "text", "spring", "sphere", "sphere", "arrow"}));
  const Frame frame = played.frame();
  const Json& box = world["drawings"][0];
  EXPECT_EQ(box["color"], "steelblue");
  ASSERT_EQ(box["at"]["count"], 2);
  EXPECT_EQ(frame.values.at(box["at"]["at"].get<std::size_t>()), 350);
  EXPECT_EQ(frame.values.at(box["at"]["at"].get<std::size_t>() + 1), -300);
  EXPECT_EQ(world["drawings"][5]["at"]["at"], [&] {
    for (const Json& entry : world["values"])
      if (entry["name"] == "white_ball") return entry["at"];
    return Json();
  }());
}

TEST(Session, ValuesStandWhereTheModelsChannelsDo) {
  const std::string text = example("two_ball.tact");
  Prepared prepared = prepare({{"two_ball.tact", text}}, {}, {}, 1e-3);
  ASSERT_TRUE(prepared.running);
  const tactus_model& model = prepared.running->world->model();
  const Json world = describe(*prepared.running->world, prepared.running->world->parameters());
  std::size_t told = 0;
  for (std::uint32_t i = 0; i < model.channel_count; ++i) {
    const tactus_channel& channel = model.channels[i];
    if (channel.flags & (TACTUS_CHANNEL_SCENE | TACTUS_CHANNEL_DERIVATIVE)) continue;
    const Json& value = world["values"][told++];
    EXPECT_EQ(value["name"], channel.name);
    EXPECT_EQ(value["at"], channel.at);
    EXPECT_EQ(value["rows"], channel.rows);
    EXPECT_EQ(value["columns"], channel.columns);
    EXPECT_EQ(value["unit"], channel.unit);
  }
  EXPECT_EQ(told, world["values"].size());
}

TEST(Session, TheHandsScaleIsFoundByMovingIt) {
  Played played(R"(external hand writes force = (0, 0, 0)
boundary p with p(0) = (0, 0);
system
  white = 4000 * (hand.position[1], hand.position[2]) + (10, -20);
  p' = white - p;
scene
  sphere at p;
  sphere at white;
)");
  const Json hand = played.world()["hand"];
  EXPECT_EQ(hand["components"], 3);
  EXPECT_EQ(hand["handle"], "white");
  EXPECT_NEAR(hand["scale"][0].get<double>(), 4000, 1e-6);
  EXPECT_NEAR(hand["scale"][1].get<double>(), 4000, 1e-6);
  EXPECT_NEAR(hand["offset"][0].get<double>(), 10, 1e-9);
  EXPECT_NEAR(hand["offset"][1].get<double>(), -20, 1e-9);
}

TEST(Session, AHandOfOneComponentAndAWorldWithoutAny) {
  Played pendulum(example("inverted_pendulum.tact"));
  const Json hand = pendulum.world()["hand"];
  EXPECT_EQ(hand["components"], 1);
  EXPECT_EQ(hand["handle"], nullptr);  // drawn as (hand_x, 0), which has no name
  EXPECT_NEAR(hand["scale"][0].get<double>(), 1, 1e-9);
  Played alone(explosion);
  EXPECT_EQ(alone.world()["hand"], nullptr);
}

TEST(Session, FramesAreTheOutputs) {
  Played played(decay);
  const Json world = played.world();
  double before = -1;
  for (int i = 0; i < 5; ++i) {
    const Frame frame = played.frame(before + 1e-9);
    EXPECT_EQ(frame.kind, 1u);
    EXPECT_EQ(frame.generation, 1u);
    EXPECT_GT(frame.time, before);
    before = frame.time;
    EXPECT_NEAR(played.value(frame, "x"), std::exp(-frame.time), 1e-9);
    EXPECT_NEAR(played.value(frame, "v"), -std::exp(-frame.time), 1e-9);
    EXPECT_EQ(played.value(frame, "y"), 2);
  }
}

TEST(Session, StatisticsComeFourTimesASecond) {
  Played played(decay);
  for (int i = 0; i < 60; ++i) played.session->go_on();
  const std::vector<Json> told = played.told("statistics");
  ASSERT_EQ(told.size(), 4u);
  for (const char* name :
       {"ticks", "late", "compute", "missed", "slipped", "steal", "steps", "scheduling", "frames", "clients"})
    EXPECT_TRUE(told[0].contains(name)) << name;
  EXPECT_EQ(told[0]["clients"], 2);
}

// --- What a page says -------------------------------------------------------------------------------------------------

TEST(Session, AParameterChangesTheMotionAndIsToldToAll) {
  Played played(decay);
  played.say({{"type", "set"}, {"name", "k"}, {"value", 3}});
  for (const Listener listener : {alice, bob})
    EXPECT_EQ(played.last("parameter", listener), (Json{{"type", "parameter"}, {"name", "k"}, {"value", 3.0}}));
  ASSERT_TRUE(played.until([&] {
    const Frame frame = played.frame();
    return std::abs(played.value(frame, "v") / played.value(frame, "x") + 3) < 1e-9;
  }));
  EXPECT_EQ(played.parameter("k")["value"], 3);
  EXPECT_EQ(played.parameter("k")["initial"], 1);
}

TEST(Session, WhatCannotBeSetIsRefusedInWords) {
  Played played(decay);
  const auto refused = [&](const Json& message) {
    const std::size_t before = played.told("note").size();
    played.say(message);
    const std::vector<Json> notes = played.told("note");
    return notes.size() == before + 1 ? notes.back()["text"].get<std::string>() : std::string();
  };
  EXPECT_EQ(refused({{"type", "set"}, {"name", "kk"}, {"value", 3}}), "there is no parameter `kk`");
  EXPECT_EQ(refused({{"type", "set"}, {"name", "k"}}), "`k` needs a number");
  EXPECT_EQ(refused({{"type", "set"}, {"name", "k"}, {"value", "3"}}), "`k` needs a number");
  EXPECT_EQ(refused({{"type", "set"}, {"name", "k"}, {"value", 11}}), "`k` is between 0 and 10, not 11");
  EXPECT_EQ(refused({{"type", "speed"}, {"value", nullptr}}), "a speed needs a number");
  EXPECT_NE(refused({{"type", "edit"}, {"text", "x"}}), "");
  EXPECT_NE(refused({{"type", "edit"}, {"file", 3}, {"text", "x"}, {"version", 1}}), "");
  EXPECT_NE(refused({{"type", "edit"}, {"file", "other.tact"}, {"text", "x"}, {"version", 1}}), "");
  EXPECT_NE(refused({{"type", "edit"}, {"file", "m.tact"}, {"text", std::string(600'000, ' ')}, {"version", 1}}), "");
  EXPECT_NE(refused({{"type", "dance"}}), "");
  EXPECT_NE(refused({{"no", "type"}}), "");
  EXPECT_NE(refused(Json::array({1, 2})), "");
  EXPECT_TRUE(played.told("parameter").empty());
  const Frame frame = played.frame(0.05);
  EXPECT_NEAR(played.value(frame, "x"), std::exp(-frame.time), 1e-9);
}

TEST(Session, SpeedIsKeptWithinItsBounds) {
  Played played(decay);
  played.say({{"type", "speed"}, {"value", 1e300}});
  EXPECT_EQ(played.last("state", bob)["speed"], 100);
  played.say({{"type", "speed"}, {"value", -1}});
  EXPECT_EQ(played.last("state", bob)["speed"], 0.01);
}

TEST(Session, ASlowWorldHearsCommandsBetweenItsTicks) {
  SessionOptions options;
  options.period = 0.1;
  Played played(decay, options);  // at a hundredth of the speed a tick comes every ten seconds
  played.say({{"type", "speed"}, {"value", 0.01}});
  const auto before = std::chrono::steady_clock::now();
  played.say({{"type", "pause"}});
  ASSERT_TRUE(played.until([&] { return played.last("state")["paused"] == true; }));
  played.say({{"type", "reset"}});
  EXPECT_LT(std::chrono::steady_clock::now() - before, 9s);
  EXPECT_EQ(played.generation(), 2u);
}

TEST(Session, PauseStepResumeReset) {
  Played played(decay);
  ASSERT_GT(played.frame(0.03).time, 0.02);
  played.say({{"type", "pause"}});
  ASSERT_TRUE(played.until([&] { return played.last("state", bob)["paused"] == true; }));
  const double time = played.frame().time;
  played.say({{"type", "step"}});
  EXPECT_NEAR(played.frame(time + 1e-4).time, time + 1e-3, 1e-9);
  played.say({{"type", "set"}, {"name", "k"}, {"value", 2}});
  played.say({{"type", "reset"}});
  const Frame start = played.frame();
  EXPECT_EQ(start.generation, 2u);
  EXPECT_EQ(start.time, 0);  // it stays paused
  EXPECT_EQ(start.flags & 1u, 1u);
  played.say({{"type", "resume"}});
  const Frame frame = played.frame(0.01);
  EXPECT_NEAR(played.value(frame, "x"), std::exp(-2 * frame.time), 1e-9);  // what a person moved stays moved
}

TEST(Session, NothingAPageSaysEndsTheProgram) {
  Played played(decay);
  const std::string deep(400'000, '[');
  std::string objects;
  for (int i = 0; i < 50'000; ++i) objects += R"({"a":)";
  const std::string closed = deep + std::string(deep.size(), ']');
  for (const std::string& text : {std::string(),
                                  std::string("null"),
                                  std::string("\xff\xfe"),
                                  std::string("{\"type\":\"\\ud800\"}"),
                                  deep,
                                  objects,
                                  closed,
                                  R"({"type":"hand","position":[0,0,0],"button":)" + closed + "}",
                                  R"({"type":)" + closed + "}",
                                  R"({"type":"set","name":"k","value":)" + closed + "}",
                                  std::string(R"({"type":"set","name":"k","value":1e400})"),
                                  std::string(R"({"type":"set","name":"k","value":NaN})"),
                                  std::string(R"({"type":"hand","position":[1e308,1e308,-1e308]})"),
                                  std::string(R"({"type":"hand","position":["a",{},[]]})"),
                                  std::string(R"({"type":"hand","position":{"0":1}})"),
                                  std::string(R"({"type":"edit","file":["m.tact"],"text":"","version":1})"),
                                  std::string(R"({"type":"edit","file":"m.tact","text":5,"version":"x"})"),
                                  std::string(R"({"type":"save","file":{}})"),
                                  std::string(R"({"type":"save"})"),
                                  std::string(R"({"type":"speed","value":[]})"),
                                  std::string(R"({"type":"speed","value":-0.0})")}) {
    played.session->message(alice, text);
    played.session->go_on();
  }
  played.say({{"type", "speed"}, {"value", 1}});
  played.say({{"type", "reset"}});
  const Frame frame = played.frame(0.02);
  EXPECT_NEAR(played.value(frame, "x"), std::exp(-frame.time), 1e-9);
  EXPECT_EQ(frame.position[0], 0);
}

TEST(Session, MutatedMessagesDoNoHarm) {
  Played played(decay);
  const std::string messages[] = {
      R"({"type":"hello","version":1})",
      R"({"type":"pause"})",
      R"({"type":"resume"})",
      R"({"type":"step"})",
      R"({"type":"reset"})",
      R"({"type":"speed","value":0.5})",
      R"({"type":"set","name":"k","value":4})",
      R"({"type":"set","name":"free","value":-4e3})",
      R"({"type":"hand","position":[0.1,-0.2,0.3],"button":true})",
      R"({"type":"leave"})",
      R"({"type":"edit","file":"m.tact","text":"boundary x with x(0) = 1; system x' = -x;","version":7})",
      R"({"type":"save","file":"m.tact"})",
  };
  const std::string pieces[] = {"1e999", "null", "[[[[",  "}",    "\"", "-",   "\\u0000",
                                "\xc3",  "{}",   "1e308", "true", ",",  "NaN", "18446744073709551615"};
  std::mt19937 random(20240607);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (int i = 0; i < 2000; ++i) {
    std::string text = messages[below(std::size(messages))];
    for (std::size_t k = 1 + below(3); k > 0 && !text.empty(); --k) {
      const std::size_t at = below(text.size());
      switch (below(5)) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, 1 + below(8));
          break;
        case 2:
          text.insert(at, pieces[below(std::size(pieces))]);
          break;
        case 3:
          text.replace(at, 1 + below(6), pieces[below(std::size(pieces))]);
          break;
        default:
          text.resize(at);
          break;
      }
    }
    played.session->message(below(2) ? alice : bob, text);
    if (i % 8 == 0) played.session->go_on();
    if (i % 64 == 0) played.hall.told.clear();
  }
  played.hall.told.clear();
  played.edit(decay, 99);
  ASSERT_TRUE(played.until([&] { return played.last("diagnostics")["version"] == 99; }));
  EXPECT_EQ(played.last("diagnostics")["items"], Json::array());
  played.say({{"type", "set"}, {"name", "k"}, {"value", 1}});
  played.say({{"type", "speed"}, {"value", 1}});
  played.say({{"type", "reset"}});
  played.say({{"type", "resume"}});
  const Frame frame = played.frame(0.02);
  EXPECT_NEAR(played.value(frame, "x"), std::exp(-frame.time), 1e-9);
}

// --- Edits ------------------------------------------------------------------------------------------------------------

TEST(Session, AnEditGoesOnWithStatesAndTime) {
  Played played(decay);
  const double before = played.frame(0.05).time;
  // Another start of x does not count: it is already on its way.
  played.edit(with(with(decay, "x(0) = 1;", "x(0) = 50; z with z(0) = 7;"), "y = u", "z' = 0 * x;\n  y = 3 + u"), 7);
  ASSERT_TRUE(played.until([&] { return played.last("diagnostics")["version"] == 7; }));
  const Frame frame = played.frame();
  EXPECT_EQ(frame.generation, 2u);
  EXPECT_GE(frame.time, before);
  EXPECT_NEAR(played.value(frame, "x"), std::exp(-frame.time), 1e-9);
  EXPECT_EQ(played.value(frame, "z"), 7);
  EXPECT_EQ(played.value(frame, "y"), 5);
  for (const Listener listener : {alice, bob}) {
    EXPECT_EQ(played.last("world", listener)["generation"], 2);
    EXPECT_EQ(played.last("world", listener)["files"][0]["edited"], true);
  }
}

// Counters and modes go on by name, too, when events or other counters come or go.
TEST(Session, AnEditGoesOnWithCountersAndModes) {
  const std::string counting = R"(simulation step_size = 0.001
external beat writes n observes event clock rate 0.01
boundary x with x(0) = 1;
automaton way in Up, Down;
system
  x' = if way.Up then 10 else -10;
  transition Turn in way.Up when x > 2 { goto way.Down; }
reactive
  n = init a = 0 in { clock => a + 1 }
)";
  Played played(counting);
  const Frame before = played.frame(0.3);
  EXPECT_EQ(played.value(before, "way"), 1);
  const double n = played.value(before, "n");
  EXPECT_NEAR(n, before.time / 0.01, 1.01);
  played.edit(with(with(counting, "writes n", "writes n, more"), "a + 1 }",
                   "a + 1 },\n  more = init a = 40 in { clock => a + 1 }"),
              3);
  ASSERT_TRUE(played.until([&] { return played.last("diagnostics")["version"] == 3; }));
  const Frame after = played.frame();
  EXPECT_EQ(after.generation, 2u) << played.last("diagnostics").dump();
  EXPECT_GE(played.value(after, "n"), n);
  EXPECT_NEAR(played.value(after, "n"), after.time / 0.01, 1.01);
  EXPECT_GE(played.value(after, "more"), 40);
  EXPECT_EQ(played.value(after, "way"), 1);
  // Other modes are other modes, though the variable is called the same.
  played.edit(with(counting, "automaton way in Up, Down", "automaton way in Up, Aside, Down"), 4);
  ASSERT_TRUE(played.until([&] { return played.last("diagnostics")["version"] == 4; }));
  const Frame last = played.frame();
  EXPECT_EQ(last.generation, 3u) << played.last("diagnostics").dump();
  EXPECT_NEAR(played.value(last, "n"), last.time / 0.01, 1.01);
}

TEST(Session, AnEditWithAMistakeChangesNothingButTheDiagnostics) {
  Played played(decay);
  const std::string text = std::string(decay) + "scene\n  text \"\u00e4\U0001F600\" at (qq, 0);\n";
  played.edit(text, 8, bob);
  ASSERT_TRUE(played.until([&] { return !played.told("diagnostics", bob).empty(); }));
  const Json told = played.last("diagnostics", bob);
  EXPECT_EQ(told["version"], 8);
  ASSERT_EQ(told["items"].size(), 1u);
  const Json& item = told["items"][0];
  EXPECT_EQ(item["file"], "m.tact");
  EXPECT_EQ(item["severity"], "error");
  EXPECT_EQ(item["line"], 10);
  EXPECT_EQ(item["column"], 18);  // two blanks, `text "`, one unit, two units, `" at (`
  EXPECT_EQ(item["end_line"], 10);
  EXPECT_EQ(item["end_column"], 20);
  EXPECT_FALSE(item["text"].get<std::string>().empty());
  EXPECT_EQ(played.generation(), 1u);
  const Frame frame = played.frame(0.02);
  EXPECT_EQ(frame.generation, 1u);
  EXPECT_NEAR(played.value(frame, "x"), std::exp(-frame.time), 1e-9);
  EXPECT_EQ(played.world()["files"][0]["text"], text);
}

TEST(Session, OfManyEditsTheLastWinsAndEveryEditorIsAnswered) {
  Played played(decay);
  for (int i = 1; i <= 5; ++i) played.edit(with(decay, "free;", fmt::format("free + {};", i)), i, alice);
  for (int i = 6; i <= 8; ++i) played.edit(with(decay, "free;", fmt::format("free + {};", i)), i, bob);
  ASSERT_TRUE(played.until([&] {
    return played.last("diagnostics", alice).value("version", 0) == 5 &&
           played.last("diagnostics", bob).value("version", 0) == 8;
  }));
  for (const Listener listener : {alice, bob}) {
    std::int64_t before = 0;
    for (const Json& message : played.told("diagnostics", listener)) {
      if (message["version"] == 0) continue;  // another's edit compiled
      EXPECT_GT(message["version"].get<std::int64_t>(), before);
      before = message["version"];
    }
  }
  EXPECT_EQ(played.value(played.frame(), "y"), 10);
  EXPECT_EQ(played.world()["files"][0]["text"], with(decay, "free;", "free + 8;"));
}

TEST(Session, AMovedParameterSurvivesAnEditUnlessTheTextSaysAnother) {
  Played played(decay);
  played.say({{"type", "set"}, {"name", "k"}, {"value", 5}});
  played.say({{"type", "set"}, {"name", "free"}, {"value", 9}});
  played.edit(with(decay, "u + free", "u + 1 * free"), 1);
  ASSERT_TRUE(played.until([&] { return played.generation() == 2u; }));
  EXPECT_EQ(played.parameter("k")["value"], 5);
  EXPECT_EQ(played.parameter("free")["value"], 9);
  Frame frame = played.frame();
  EXPECT_NEAR(played.value(frame, "v") / played.value(frame, "x"), -5, 1e-9);

  played.edit(with(decay, "k = 1", "k = 2"), 2);
  ASSERT_TRUE(played.until([&] { return played.generation() == 3u; }));
  EXPECT_EQ(played.parameter("k")["value"], 2);
  EXPECT_EQ(played.parameter("k")["initial"], 2);
  EXPECT_EQ(played.parameter("free")["value"], 9);
  frame = played.frame();
  EXPECT_NEAR(played.value(frame, "v") / played.value(frame, "x"), -2, 1e-9);
}

TEST(Session, AParameterThatMovesWhileAnEditCompilesIsKept) {
  Played played(decay);
  played.edit(with(decay, "u + free", "u + 1 * free"), 1);
  played.say({{"type", "set"}, {"name", "k"}, {"value", 7}});
  ASSERT_TRUE(played.until([&] { return played.generation() == 2u; }));
  EXPECT_EQ(played.parameter("k")["value"], 7);
  ASSERT_TRUE(played.until([&] {
    const Frame frame = played.frame();
    return std::abs(played.value(frame, "v") / played.value(frame, "x") + 7) < 1e-9;
  }));
}

TEST(Session, WhatTheCommandLineSetStaysSetAndMayVanishFromTheText) {
  SessionOptions options;
  options.overrides = {{"k", 3}};
  Played played(decay, options);
  EXPECT_EQ(played.parameter("k")["value"], 3);
  played.edit(with(decay, "k = 1", "k = 2"), 1);
  ASSERT_TRUE(played.until([&] { return played.generation() == 2u; }));
  EXPECT_EQ(played.parameter("k")["value"], 3);
  played.edit("boundary x with x(0) = 1;\nsystem\n  x' = -x;\n", 2);
  ASSERT_TRUE(played.until([&] { return played.last("diagnostics")["version"] == 2; }));
  ASSERT_EQ(played.last("diagnostics")["items"].size(), 1u);
  EXPECT_EQ(played.last("diagnostics")["items"][0]["line"], 1);
  EXPECT_EQ(played.generation(), 2u);
}

TEST(Session, AnEditedWorldThatDoesNotStartIsANoteAndTheOldGoesOn) {
  Played played(decay);
  played.edit(R"(simulation step_size = 0.01
boundary x with x(0) = 2; z with z(0) ~ 1;
system
  x' = 1 + z / 10;
  z^2 + sin(z) / 1000 = 1 - x;
)",
              1);
  ASSERT_TRUE(played.until([&] { return !played.told("note", bob).empty(); }));
  EXPECT_EQ(played.last("note", bob)["text"].get<std::string>().rfind("the edited world does not start: ", 0), 0u);
  EXPECT_EQ(played.generation(), 1u);
  const Frame frame = played.frame(0.02);
  EXPECT_NEAR(played.value(frame, "x"), std::exp(-frame.time), 1e-9);
}

// --- Failures, hands, files -------------------------------------------------------------------------------------------

TEST(Session, AFailureIsToldAndResetBringsTheWorldBack) {
  Played played(explosion);
  played.say({{"type", "speed"}, {"value", 20}});
  ASSERT_TRUE(played.until([&] { return !played.last("state", bob).value("failure", Json()).is_null(); }));
  const Json failure = played.last("state", bob)["failure"];
  EXPECT_EQ(failure["kind"], "not_finite");
  EXPECT_FALSE(failure["text"].get<std::string>().empty());
  EXPECT_NEAR(played.last("state", bob)["time"].get<double>(), 1, 0.01);  // x = 1 / (1 - t)
  EXPECT_TRUE(played.session->failure());

  played.say({{"type", "speed"}, {"value", 0.1}});
  played.say({{"type", "reset"}});
  EXPECT_FALSE(played.session->failure());
  EXPECT_EQ(played.last("state", bob)["failure"], nullptr);
  const Frame frame = played.frame(1e-3);
  EXPECT_NEAR(played.value(frame, "x"), 1 / (1 - frame.time), 1e-6);
}

TEST(Session, AnEditMendsAFailedWorld) {
  Played played(explosion);
  played.say({{"type", "speed"}, {"value", 20}});
  ASSERT_TRUE(played.until([&] { return played.session->failure().has_value(); }));
  played.edit(with(explosion, "x^2", "-x"), 1);
  ASSERT_TRUE(played.until([&] { return played.generation() == 2u; }));
  EXPECT_FALSE(played.session->failure());
  const Frame frame = played.frame(1e-3);
  EXPECT_NEAR(played.value(frame, "x"), std::exp(-frame.time),
              1e-9);  // from its start: there was nothing to go on with
}

TEST(Session, OneListenerHoldsTheHand) {
  Played played(decay);
  const auto moves = [&](Listener who, double x) {
    played.say({{"type", "hand"}, {"position", {x, 0, 0}}, {"button", false}}, who);
  };
  // Both send on and on, as pages do; the hand is where its holder is.
  const auto settles_at = [&](double x) {
    return played.until([&] {
      moves(alice, 0.1);
      moves(bob, 0.5);
      return !played.hall.frame.empty() && std::abs(decode(played.hall.frame).position[0] - x) < 1e-6;
    });
  };
  played.say({{"type", "hand"}, {"position", "here"}}, bob);  // takes nothing
  EXPECT_TRUE(settles_at(0.1));
  played.say({{"type", "leave"}}, bob);  // has nothing to leave
  EXPECT_TRUE(settles_at(0.1));
  played.say({{"type", "leave"}}, alice);
  moves(bob, 0.5);
  EXPECT_TRUE(settles_at(0.5));
  played.session->left(bob);
  EXPECT_TRUE(settles_at(0.1));
}

class Saving : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt::format("tactus_session_test.{}", ::getpid());
    fs::create_directories(folder_);
    path_ = (folder_ / "m.tact").string();
    std::ofstream(path_) << decay;
  }
  void TearDown() override {
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }
  std::string on_disk() {
    std::ifstream in(path_);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  fs::path folder_;
  std::string path_;
};

TEST_F(Saving, WritesTheLastTextAsAWhole) {
  fs::permissions(path_, fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
  Played played(decay, {}, path_);
  const std::string edited = with(decay, "k = 1", "k = 2");
  played.edit(edited, 1);
  EXPECT_EQ(on_disk(), decay);
  EXPECT_EQ(played.world()["files"][0]["edited"], true);
  played.say({{"type", "save"}, {"file", "m.tact"}});
  EXPECT_EQ(played.last("saved"), (Json{{"type", "saved"}, {"file", "m.tact"}, {"failure", nullptr}}));
  EXPECT_EQ(on_disk(), edited);
  EXPECT_EQ(played.world()["files"][0]["edited"], false);
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);  // nothing is left beside it
}

TEST_F(Saving, WhatAnotherProgramWroteIsNotLostUnasked) {
  Played played(decay, {}, path_);
  const auto failure = [&] {
    played.say({{"type", "save"}, {"file", "m.tact"}});
    return played.last("saved")["failure"];
  };
  const std::string mine = with(decay, "k = 1", "k = 2"), theirs = with(decay, "k = 1", "k = 3");
  played.edit(mine, 1);
  std::ofstream(path_) << theirs;
  ASSERT_TRUE(failure().is_string());
  EXPECT_EQ(on_disk(), theirs);
  EXPECT_EQ(failure(), nullptr);  // asked twice, it is meant
  EXPECT_EQ(on_disk(), mine);
  // One that wrote the same, or a byte order mark before it, is no conflict; one that took it away neither.
  std::ofstream(path_) << "\xef\xbb\xbf" << mine;
  played.edit(theirs, 2);
  EXPECT_EQ(failure(), nullptr);
  EXPECT_EQ(on_disk(), theirs);
  fs::remove(path_);
  EXPECT_EQ(failure(), nullptr);
  EXPECT_EQ(on_disk(), theirs);
}

// Two files of one name in different folders are two files.
TEST_F(Saving, FilesOfOneNameAreKeptApart) {
  const std::string rest = "parameter q = 5;\n";
  fs::create_directories(folder_ / "b");
  const std::string other = (folder_ / "b" / "m.tact").string();
  std::ofstream(other) << rest;
  SessionOptions options;
  options.loop.real_time = false;
  Hall hall;
  Prepared first = prepare({{path_, decay}, {other, rest}}, {}, {}, 0);
  ASSERT_TRUE(first.running);
  Session session(std::move(first), {{path_, decay, decay}, {other, rest, rest}}, options, hall);
  const auto say = [&](const Json& message) { session.message(alice, message.dump()); };
  say({{"type", "edit"}, {"file", other}, {"text", "parameter q = 6;\n"}, {"version", 1}});
  say({{"type", "save"}, {"file", other}});
  say({{"type", "save"}, {"file", "m.tact"}});  // which of them?
  EXPECT_TRUE(hall.told[alice].back()["failure"].is_string());
  say({{"type", "hello"}, {"version", 1}});
  for (const Json& message : hall.told[alice]) {
    if (message["type"] != "world") continue;
    EXPECT_EQ(message["files"][0]["name"], path_);
    EXPECT_EQ(message["files"][1]["name"], other);
  }
  EXPECT_EQ(on_disk(), decay);
  std::ifstream in(other);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "parameter q = 6;\n");
}

TEST_F(Saving, TellsWhyNot) {
  Played played(decay, {}, path_);
  const auto failure = [&](const std::string& name) {
    played.say({{"type", "save"}, {"file", name}});
    return played.last("saved")["failure"];
  };
  EXPECT_TRUE(failure("../m.tact").is_string());
  EXPECT_TRUE(failure("other.tact").is_string());
  if (::geteuid() != 0) {  // root may write anywhere
    fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_TRUE(failure("m.tact").is_string());
    fs::permissions(folder_, fs::perms::owner_all);
    EXPECT_EQ(on_disk(), decay);
  }
  EXPECT_EQ(failure("m.tact"), nullptr);
  fs::remove_all(folder_);
  EXPECT_TRUE(failure("m.tact").is_string());
  fs::create_directories(folder_);
}

// --- Boundary values at other times -----------------------------------------------------------------------------------

// x'' = -x with x(0) = 0 and x(1) = 1 is sin t / sin 1.
TEST(Session, BoundaryValuesAtOtherTimesAreMet) {
  constexpr const char* text = R"(simulation step_size = 0.001 ending_time = 1
boundary x with x(0) = 0, x(1) = goal;
parameter goal = 1;
system
  x'' = -x;
)";
  Played played(text);
  Frame frame = played.frame(0.1);
  EXPECT_NEAR(played.value(frame, "x"), std::sin(frame.time) / std::sin(1), 1e-6);
  ASSERT_EQ(played.world()["notes"].size(), 1u);
  played.say({{"type", "set"}, {"name", "goal"}, {"value", 2}});
  played.say({{"type", "reset"}});
  frame = played.frame(0.1);
  EXPECT_NEAR(played.value(frame, "x"), 2 * std::sin(frame.time) / std::sin(1), 1e-6);
}

TEST(Session, ASearchForAStartEnds) {
  const Prepared prepared = prepare({{"m.tact", R"(boundary x with x(1e15) = 1;
system
  x' = -x;
)"}},
                                    {}, {}, 1e-3);
  EXPECT_FALSE(prepared.running);
  ASSERT_TRUE(prepared.failure);
  EXPECT_EQ(prepared.failure->kind, "no_start");
}

TEST(Session, BoundaryValuesThatCannotBeMetAreAFailureInWords) {
  const Prepared prepared = prepare({{"m.tact", R"(simulation step_size = 0.001 ending_time = 2
boundary x with x(0) = 0, x(1) = 1, x(2) = 5;
system
  x'' = 0 * x;
)"}},
                                    {}, {}, 1e-3);
  EXPECT_FALSE(prepared.running);
  EXPECT_TRUE(prepared.failure || prepared.compiled.diags.has_errors());
  if (prepared.failure) {
    EXPECT_FALSE(prepared.failure->text.empty());
  }
}

}  // namespace
}  // namespace play
