// A session as pages meet it: their messages in, what they are told out. Motions are compared with closed forms at the
// time of each frame, so that no test depends on how fast the machine is.
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
#include <numbers>
#include <random>
#include <thread>

#include "play/describe.h"
#include "play/meshes.h"

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

  // Among others: a busy machine has notes of its own.
  bool has_note(const std::string& says, Listener listener = alice) {
    return std::ranges::any_of(told("note", listener), [&](const Json& note) {
      return note["text"].get<std::string>().find(says) != std::string::npos;
    });
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

// --- What a page is told
// ----------------------------------------------------------------------------------------------

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
            (Json{{"name", "k"}, {"unit", ""}, {"size", 1}, {"value", 4}, {"initial", 4}, {"low", 0}, {"high", 50}}));
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

// A parameter is shown in the unit that the text writes; the numbers that go to and fro are SI.
TEST(Session, ParametersHaveTheUnitInWhichTheyAreWritten) {
  Played played(R"(simulation step_size = 0.001
parameter tilt = 20 [deg] in 0 [deg]..90 [deg], turn = 2 [rad], length = -20 [cm], free = 0 in -45 [deg]..45 [deg];
parameter speed = 72 [km / h], spring = 3 [N/m], inferred = 2, pure = 7;
boundary x(0) = 0 [m]; a(0) = 30 [deg];
system
  x' = speed * sin(tilt) + inferred;
  y = turn * free * pure;
  f = spring * length;
  a' = 1 [1/s];
  fixed = 15 [deg];
)");
  const auto expect = [&](const char* name, const char* unit, double shown) {
    const Json parameter = played.parameter(name);
    EXPECT_EQ(parameter["unit"], unit) << name;
    EXPECT_NEAR(parameter["value"].get<double>() / parameter["size"].get<double>(), shown, 1e-12) << name;
  };
  expect("tilt", "deg", 20);
  expect("turn", "rad", 2);
  expect("length", "cm", -20);
  expect("free", "deg", 0);
  expect("speed", "km/h", 72);
  expect("spring", "N/m", 3);
  expect("inferred", "m/s", 2);
  expect("pure", "", 7);
  // What starts at an angle, or is one, is in radians.
  const Json world = played.world();
  for (const Json& value : world["values"]) {
    const std::string name = value["name"];
    EXPECT_EQ(value["unit"], name == "a" || name == "fixed" ? "rad"
                             : name == "x"                  ? "m"
                             : name == "f"                  ? "N"
                                                            : "")
        << name;
  }
  EXPECT_NEAR(played.parameter("tilt")["high"].get<double>(), std::numbers::pi / 2, 1e-15);
  played.say({{"type", "set"}, {"name", "tilt"}, {"value", std::numbers::pi}});
  EXPECT_EQ(played.last("note")["text"], "`tilt` is between 0 and 90 deg, not 180");
  // They stay so over a reset.
  played.say({{"type", "reset"}});
  expect("tilt", "deg", 20);
}

TEST(Session, ValuesStandWhereTheModelsChannelsDo) {
  const std::string text = example("two_ball.tact");
  Prepared prepared = prepare({{"two_ball.tact", text}}, {}, {}, 1e-3);
  ASSERT_TRUE(prepared.running);
  const tactus_model& model = prepared.running->world->model();
  const Json world = describe(*prepared.running->world, prepared.running->world->parameters(), {});
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

// --- What a page says
// -------------------------------------------------------------------------------------------------

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
  // Whoever is refused a value, or a speed, hears which is in force; others hear nothing.
  const std::vector<Json> values = played.told("parameter");
  ASSERT_EQ(values.size(), 3u);
  for (const Json& value : values)
    EXPECT_EQ(value, (Json{{"type", "parameter"}, {"name", "k"}, {"value", 1.0}, {"refused", true}}));
  EXPECT_EQ(played.last("state")["speed"], 1);
  EXPECT_TRUE(played.told("parameter", bob).empty());
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

// --- Edits
// ------------------------------------------------------------------------------------------------------------

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
  ASSERT_TRUE(played.until([&] { return played.has_note("the edited world does not start: ", bob); }));
  EXPECT_EQ(played.generation(), 1u);
  // The text is not what moves, and its page says so for as long as that is so.
  ASSERT_TRUE(played.until([&] { return played.last("diagnostics")["version"] == 1; }));
  ASSERT_EQ(played.last("diagnostics")["items"].size(), 1u);
  EXPECT_EQ(played.last("diagnostics")["items"][0]["code"], "K002");
  EXPECT_EQ(played.last("diagnostics")["items"][0]["severity"], "error");
  const Frame frame = played.frame(0.02);
  EXPECT_NEAR(played.value(frame, "x"), std::exp(-frame.time), 1e-9);
}

// --- Failures, hands, files
// -------------------------------------------------------------------------------------------

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

// --- The end of a world
// -----------------------------------------------------------------------------------------------

std::string ending(const std::string& setting, const std::string& more = "") {
  return with(decay, "step_size = 0.001", "step_size = 0.001 " + setting) + more;
}

TEST(Session, AWorldEndsAtItsEndingTimeAndResetBeginsItAgain) {
  Played played(ending("ending_time = 0.2"));
  ASSERT_TRUE(played.until([&] { return !played.last("state")["ended"].is_null(); }));
  for (const Listener listener : {alice, bob}) {
    const Json state = played.last("state", listener);
    EXPECT_EQ(state["ended"]["text"], "ended at t = 0.2: `ending_time = 0.2`");
    EXPECT_FALSE(state["ended"]["hint"].get<std::string>().empty());
    EXPECT_EQ(state["failure"], nullptr);
    EXPECT_EQ(state["paused"], false);
  }
  ASSERT_TRUE(played.session->ended());
  // The last picture stays, and whoever comes later hears of the end.
  Frame frame = played.frame();
  EXPECT_NEAR(frame.time, 0.2, 1e-12);
  EXPECT_TRUE(frame.flags & 16);
  EXPECT_NEAR(played.value(frame, "x"), std::exp(-0.2), 1e-9);
  played.say({{"type", "hello"}, {"version", 1}}, Listener{3});
  EXPECT_FALSE(played.last("state", Listener{3})["ended"].is_null());
  // No step goes beyond, and the one who asked for it hears why.
  played.say({{"type", "step"}});
  EXPECT_EQ(played.last("note")["text"], "the world has ended: a reset begins it again");
  EXPECT_NEAR(played.frame().time, 0.2, 1e-12);
  // A parameter is still shown as it is set.
  played.say({{"type", "set"}, {"name", "k"}, {"value", 3}});
  ASSERT_TRUE(played.until([&] { return std::abs(played.value(played.frame(), "v") + 3 * std::exp(-0.2)) < 1e-9; }));
  played.say({{"type", "reset"}});
  EXPECT_EQ(played.last("state")["ended"], nullptr);
  frame = played.frame(0.01);
  EXPECT_NEAR(played.value(frame, "x"), std::exp(-3 * frame.time), 1e-9);
  ASSERT_TRUE(played.until([&] { return !played.last("state")["ended"].is_null(); }));
  EXPECT_NEAR(played.frame().time, 0.2, 1e-12);
}

TEST(Session, AnEditLetsAnEndedWorldGoOn) {
  Played played(ending("ending_time = 0.1"));
  const auto ends = [&] { return played.until([&] { return played.session->ended().has_value(); }); };
  ASSERT_TRUE(ends());
  played.edit(ending("ending_time = 0.15"), 1);
  ASSERT_TRUE(played.until([&] { return played.session->time() > 0.12; }));
  ASSERT_TRUE(ends());
  Frame frame = played.frame();
  EXPECT_NEAR(frame.time, 0.15, 1e-9);
  EXPECT_NEAR(played.value(frame, "x"), std::exp(-frame.time), 1e-9);
  // An earlier end is no way back: it stays where it is.
  played.edit(ending("ending_time = 0.05"), 2);
  ASSERT_TRUE(played.until([&] { return played.generation() == 3; }));
  ASSERT_TRUE(ends());
  EXPECT_NEAR(played.frame().time, 0.15, 1e-9);
  // Without one it has none.
  played.edit(decay, 3);
  ASSERT_TRUE(played.until([&] { return played.session->time() > 0.3; }));
  EXPECT_FALSE(played.session->ended());
  EXPECT_EQ(played.last("state")["ended"], nullptr);
}

TEST(Session, StopWhenEndsAWorldWell) {
  const std::string stops = ending("", "  stop when x < 0.9 \"low enough\";\n");
  Played played(stops);
  ASSERT_TRUE(played.until([&] { return !played.last("state")["ended"].is_null(); }));
  EXPECT_EQ(played.last("state")["failure"], nullptr);
  EXPECT_FALSE(played.session->failure());
  const std::string text = played.last("state")["ended"]["text"];
  EXPECT_TRUE(text.starts_with("stopped at t = 0.105")) << text;  // -log(0.9)
  EXPECT_TRUE(text.ends_with(": low enough")) << text;
  const Frame frame = played.frame();
  EXPECT_NEAR(frame.time, -std::log(0.9), 1e-6);
  EXPECT_NEAR(played.value(frame, "x"), 0.9, 1e-6);
  // Without it the world goes on from there.
  played.edit(decay, 1);
  const Frame after = played.frame(0.15);
  EXPECT_NEAR(played.value(after, "x"), std::exp(-after.time), 1e-6);
  EXPECT_EQ(played.last("state")["ended"], nullptr);
  // With it, it stops again at once; what holds at the start stops it there.
  played.edit(stops, 2);
  ASSERT_TRUE(played.until([&] { return played.generation() == 3 && played.session->ended(); }));
  played.edit(ending("", "  stop when x > 0 \"at once\";\n"), 3);
  ASSERT_TRUE(played.until([&] { return played.generation() == 4; }));
  played.say({{"type", "reset"}});
  ASSERT_TRUE(played.until([&] { return played.session->ended() && played.session->time() == 0; }));
  EXPECT_EQ(played.session->ended()->text, "stopped at t = 0: at once");
}

// --- The hand
// -----------------------------------------------------------------------------------------------------------

TEST(Session, WhoseHandIsRefusedHearsWhyOnceAndWhenItIsFree) {
  Played played(decay);
  const auto moves = [&](Listener who) {
    played.say({{"type", "hand"}, {"position", {0.1, 0, 0}}, {"button", false}}, who);
  };
  for (int i = 0; i < 5; ++i) {
    moves(alice);
    moves(bob);
  }
  EXPECT_TRUE(played.told("hand", alice).empty());
  ASSERT_EQ(played.told("hand", bob).size(), 1u);
  EXPECT_TRUE(played.last("hand", bob)["refused"].get<std::string>().starts_with("another page holds the hand"));
  played.say({{"type", "leave"}}, alice);
  EXPECT_EQ(played.told("hand", bob).size(), 2u);
  EXPECT_EQ(played.last("hand", bob)["refused"], nullptr);
  moves(bob);
  moves(alice);
  EXPECT_EQ(played.told("hand", bob).size(), 2u);
  ASSERT_EQ(played.told("hand", alice).size(), 1u);
  EXPECT_TRUE(played.last("hand", alice)["refused"].is_string());
  // One that gave up is not told; once more, and it is told again.
  played.say({{"type", "leave"}}, alice);
  moves(alice);
  EXPECT_EQ(played.told("hand", alice).size(), 2u);
  played.session->left(bob);
  EXPECT_EQ(played.last("hand", alice)["refused"], nullptr);
}

TEST(Session, OneListenerHoldsTheHand) {
  SessionOptions options;
  auto now = std::chrono::steady_clock::time_point();
  options.now = [&] { return now; };
  Played played(decay, options);
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
  // Whoever has it and is silent for a quarter of a second has it no longer.
  now += 249ms;
  moves(bob, 0.5);
  EXPECT_TRUE(settles_at(0.1));
  now += 251ms;
  moves(bob, 0.5);
  EXPECT_TRUE(settles_at(0.5));
}

// --- What a hand feels
// ------------------------------------------------------------------------------------------------

// A force of 100 N on a hand that is there, and how large it is in the frames.
const std::string pushing = R"(simulation step_size = 0.001
external hand writes force = (100, 0, 0)
boundary x(0) = 0;
system
  x' = -x + hand.position[1];
)";

TEST(Session, AFrameTellsTheForceThatThePortGives) {
  Played played(pushing);
  const auto touch = [&] { played.say({{"type", "hand"}, {"position", {0, 0, 0}}, {"button", false}}); };
  const auto shown = [&] { return played.hall.frame.empty() ? NAN : decode(played.hall.frame).force[0]; };
  EXPECT_TRUE(played.until([&] {
    touch();
    return std::abs(shown() - 8) < 1e-9;
  }));
  // A reset goes on from the force that is there; a hand that leaves has none.
  played.say({{"type", "reset"}});
  EXPECT_TRUE(played.until([&] {
    touch();
    return std::abs(shown() - 8) < 1e-9;
  }));
  played.say({{"type", "leave"}});
  EXPECT_TRUE(played.until([&] { return shown() == 0; }));
}

TEST(Session, WorkThatNoTickCanDoIsRefusedAndTheWorldGoesOn) {
  Played played(decay);
  const std::uint32_t generation = played.generation();
  std::int64_t version = 0;
  const auto refused = [&](const std::string& text, const std::string& says) {
    played.hall.told.clear();
    played.edit(text, ++version);
    EXPECT_TRUE(played.until([&] { return played.has_note(says); })) << text;
    EXPECT_EQ(played.generation(), generation);
  };
  refused("simulation step_size = 1e-12\nboundary x(0) = 1;\nsystem x' = -x;\n", "steps of 1e-12 s");
  refused("event e every 1e-300;\nboundary x(0) = 0;\nsystem x' = 1;\nreactive n = init a = 0 in { e => a + 1 }\n",
          "`e` every 1e-300 s");
  refused("simulation max_transitions = 1e6\nboundary x(0) = 0;\nsystem x' = 1;\n", "max_transitions");
  refused("external hand writes force = (1, 0, 0) every 1e-9\nboundary x(0) = 0;\nsystem x' = 1;\n",
          "more often than a clock can keep");
}

TEST(Session, TicksTooFarApartForAForceAreTold) {
  Played played(pushing);
  played.say({{"type", "speed"}, {"value", 0.01}});
  EXPECT_TRUE(played.has_note("every 0.1 s: too far apart for a force"));
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

// --- Boundary values at other times
// -----------------------------------------------------------------------------------

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

// --- Files
// ------------------------------------------------------------------------------------------------------------

class InAFolder : public testing::Test {
 protected:
  InAFolder() {
    std::string name = fs::temp_directory_path() / "tactus_session_XXXXXX";
    top_ = fs::canonical(mkdtemp(name.data()));
    fs::create_directories(top_ / "model");
    std::ofstream(top_ / "secret.csv") << "0, hunter2\n1, hunter3\n";
    std::ofstream(top_ / "model" / "t.csv") << "0, 1\n1, 2\n";
  }
  ~InAFolder() override { fs::remove_all(top_); }
  fs::path top_;
};

TEST_F(InAFolder, AnEditReadsWhatTheModelMay) {
  const std::string path = top_ / "model" / "m.tact";
  const auto reading = [](const std::string& file) {
    return with(decay, "y = u + free", "y = u + table(\"" + file + "\")(free)");
  };
  for (const bool is_allowed : {false, true}) {
    SessionOptions options;
    if (is_allowed) options.allow = {top_.string()};
    Played played(decay, options, path);
    const auto answer = [&](const std::string& file, int version) {
      played.edit(reading(file), version);
      EXPECT_TRUE(played.until([&] { return played.last("diagnostics")["version"] == version; }));
      return played.last("diagnostics")["items"];
    };
    EXPECT_TRUE(answer("t.csv", 1).empty());
    const Json outside = answer("../secret.csv", 2);
    ASSERT_EQ(outside.size(), 1u);
    EXPECT_EQ(outside[0]["code"], is_allowed ? "D002" : "F007");
    EXPECT_EQ(outside.dump().find("hunter") != std::string::npos, is_allowed);
    const Json system = answer("/proc/self/mem", 3);
    EXPECT_EQ(system[0]["code"], "F007");
  }
}

TEST(Meshes, ThePageAsksForWhatTheServerShows) {
  const auto path = [](const std::string& file, const std::vector<std::string>& allow = {}) {
    return mesh_path(file, "/home/me/model/m.tact", allow);
  };
  EXPECT_EQ(path("arm.stl"), "arm.stl");
  EXPECT_EQ(path("parts/../meshes/arm.stl"), "meshes/arm.stl");
  EXPECT_EQ(path("/home/me/model/arm.stl"), "arm.stl");
  EXPECT_EQ(path("../arm.stl"), "../arm.stl");
  EXPECT_EQ(path("../arm.stl", {"/data", "/home/me"}), "@1/arm.stl");
  EXPECT_EQ(path("../arm.stl", {"/home/me/arm.stl"}), "@0/arm.stl");
  EXPECT_EQ(path("/data/deep/arm.stl", {"/data/"}), "@0/deep/arm.stl");
  EXPECT_EQ(path("/database/arm.stl", {"/data"}), "/database/arm.stl");
  EXPECT_EQ(mesh_path("arm.stl", "m.tact", {}), "arm.stl");
  EXPECT_EQ(mesh_path("../arm.stl", "m.tact", {".."}), "@0/arm.stl");
}

// --- The energy's book
// ------------------------------------------------------------------------------------------------

// Another world with another x comes and goes, another constant changes what is stored: none of it is the method's
// doing.
TEST(Session, AnEditLeavesTheBookClosed) {
  const std::string swing = R"(simulation step_size = 0.01 solver = discrete_gradient
constant k = 40;
boundary x(0) = 0.1; v(0) = 0;
system
  x' = v;
  v' = -k * x - v;
energy H = v^2 / 2 + k / 2 * x^2;
)";
  const std::string other = R"(simulation step_size = 0.01 solver = discrete_gradient
boundary x(0) = 7; y(0) = 1;
system
  x' = y;
  y' = -x;
energy H = x^2 / 2 + y^2 / 2;
)";
  const std::string none = "boundary x(0) = 3;\nsystem x' = 1;\n";
  Played played(swing);
  std::int64_t version = 0;
  for (const std::string& text : {other, swing, with(swing, "k = 40", "k = 90"), none, swing}) {
    played.edit(text, ++version);
    ASSERT_TRUE(played.until([&] { return played.last("diagnostics")["version"] == version; }));
    for (int i = 0; text != none && i < 3; ++i) {
      const Frame frame = played.frame();
      EXPECT_NEAR(played.value(frame, "book.invented"), 0, 1e-9) << text;
    }
  }
}

// Who moves a mass or a spring's stiffness puts energy in, or takes it out: that is not the method's doing, either.
TEST(Session, AParameterLeavesTheBookClosed) {
  for (const char* solver : {"discrete_gradient", "passive", "rk4"}) {
    Played played(with(R"(simulation step_size = 0.001 solver = discrete_gradient
parameter m = 1 in 0.1..5, k = 40 in 1..100;
boundary x(0) = 0.1; v(0) = 0;
system
  x' = v;
  m * v' = -k * x - v;
energy H = m * v^2 / 2 + k / 2 * x^2;
)",
                       "discrete_gradient", solver));
    for (double value : {2.0, 3.0, 1.0, 5.0}) {
      for (const char* name : {"m", "k"}) {
        played.say({{"type", "set"}, {"name", name}, {"value", value}});
        ASSERT_TRUE(played.until(
            [&] { return played.last("parameter")["value"] == value && played.last("parameter")["name"] == name; }));
        for (int i = 0; i < 3; ++i) {
          const Frame frame = played.frame();
          // rk4 keeps the balance to its order alone.
          EXPECT_NEAR(played.value(frame, "book.invented"), 0, 1e-9) << solver;
        }
      }
    }
  }
}

}  // namespace
}  // namespace play
