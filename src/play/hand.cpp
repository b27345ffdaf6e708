#include "play/hand.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "api/load.h"
#include "compiler/emit_llvm/jit.h"
#include "haptic/presets.h"
#include "kernel/kernel.h"
#include "runtime/sim/evaluate.h"
#include "runtime/sim/instance.h"

namespace play {

struct Script::Code {
  explicit Code(ir::Program program) : jit(std::move(program), {.optimise = false}), instance(*jit.current()) {}
  emit_llvm::CompiledModel jit;
  sim::Instance instance;
  std::vector<double> warm;
  std::uint32_t place = 0;
};

Script::Script() = default;
Script::~Script() = default;

std::unique_ptr<Script> Script::read(const std::string& text, std::string& failure) {
  api::Compiled compiled = api::compile_text("script.tact", "system value = " + text + ";\n", {});
  if (!compiled.program) {
    failure = fmt::format("`{}` is no motion: {}", text,
                          compiled.diags.diagnostics().empty() ? "" : compiled.diags.diagnostics().front().text);
    return nullptr;
  }
  std::unique_ptr<Script> script(new Script());
  script->code_ = std::make_unique<Code>(std::move(*compiled.program));
  const tactus_model& model = *script->code_->jit.current();
  const auto* channel = std::find_if(model.channels, model.channels + model.channel_count,
                                     [](const tactus_channel& c) { return std::string_view(c.name) == "value"; });
  if (channel == model.channels + model.channel_count || channel->columns != 1 || channel->rows > 3 ||
      model.state_count > 0 || model.input_count > 0) {
    failure = fmt::format("`{}` is no motion: a place has one to three components, which depend on t alone", text);
    return nullptr;
  }
  script->code_->place = channel->at;
  script->code_->warm.resize(model.warm_count);
  script->components_ = channel->rows;
  if (tk_reset(&model, script->code_->instance.get()) != TACTUS_OK ||
      tk_start(&model, script->code_->instance.get()) != TACTUS_OK) {
    failure = fmt::format("`{}` cannot be computed at the start", text);
    return nullptr;
  }
  return script;
}

std::array<double, 3> Script::at(double t) {
  const tactus_model& model = *code_->jit.current();
  std::array<double, 3> value = {};
  tactus_instance* instance = code_->instance.get();
  instance->time = t;
  if (sim::evaluate_outputs(model, instance, t, code_->instance.section(model.layout.states), code_->warm) != TACTUS_OK)
    return value;
  const double* outputs = code_->instance.section(model.layout.outputs);
  for (std::uint32_t i = 0; i < components_; ++i) {
    const double component = outputs[code_->place + i];
    value[i] = std::isfinite(component) ? component : 0;
  }
  return value;
}

namespace {

class ScriptedHand : public live::Hand {
 public:
  explicit ScriptedHand(std::unique_ptr<Script> script) : script_(std::move(script)) {}
  live::Pointer at(double t) override {
    live::Pointer pointer;
    pointer.position = script_->at(t);
    pointer.is_present = true;
    return pointer;
  }
  void feel(const std::array<double, 3>&, double) override {}

 private:
  std::unique_ptr<Script> script_;
};

class SimulatedHand : public live::Hand {
 public:
  SimulatedHand(const HandSpec& spec, std::unique_ptr<Script> target, double period, double start)
      : target_(std::move(target)) {
    const std::array<double, 3> begin = target_->at(start);
    for (int i = 0; i < 3; ++i) {
      axes_.emplace_back(spec.device, spec.arm, period, spec.delay);
      axes_.back().hold_at(begin[static_cast<std::size_t>(i)], 0, begin[static_cast<std::size_t>(i)]);
    }
  }
  live::Pointer at(double) override {
    live::Pointer pointer;
    for (std::size_t i = 0; i < 3; ++i) pointer.position[i] = axes_[i].reading().position;
    pointer.is_present = true;
    return pointer;
  }
  void feel(const std::array<double, 3>& force, double t) override {
    const std::array<double, 3> target = target_->at(t);
    for (std::size_t i = 0; i < 3; ++i) axes_[i].tick(force[i], target[i]);
  }

 private:
  std::unique_ptr<Script> target_;
  std::vector<haptic::SimulatedDevice> axes_;
};

// "touch,delay=1,target=(a,b)" -> its parts, commas in parentheses left alone.
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (c == ',' && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

bool read_number(std::string_view text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

constexpr const char* form = "such as simulated:touch,delay=1,arm=(0.15,3,400),target=(0.03*sin(3*t),0)";

std::optional<HandSpec> read_simulated(const std::string& argument, std::string& failure, std::string& hint) {
  HandSpec spec;
  spec.kind = "simulated";
  spec.script = "(0.03 * sin(pi * t), 0, 0)";
  const std::vector<std::string> parts = parts_of(argument);
  const haptic::Preset* preset = haptic::find_preset(parts.front());
  if (preset == nullptr) {
    std::string names;
    for (const haptic::Preset& each : haptic::presets()) names += fmt::format(" {}", each.name);
    failure = fmt::format("there is no preset `{}`", parts.front());
    hint = fmt::format("presets:{}; {}", names, form);
    return std::nullopt;
  }
  spec.device = preset->device;
  spec.title = preset->title;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    const std::string name = parts[i].substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : parts[i].substr(equals + 1);
    const auto number = [&](double& into, double least) {
      double read = 0;
      if (!read_number(value, read) || !(read >= least)) {
        failure = fmt::format("`{}` is no {}", parts[i], name);
        hint = form;
        return false;
      }
      into = read;
      return true;
    };
    double delay = 0;
    if (name == "delay") {
      if (!number(delay, 0) || delay != std::floor(delay) || delay > 1000) {
        failure = fmt::format("`{}`: a delay is a whole number of ticks", parts[i]);
        hint = form;
        return std::nullopt;
      }
      spec.delay = static_cast<int>(delay);
    } else if (name == "target") {
      spec.script = value;
    } else if (name == "arm") {
      const std::vector<std::string> of =
          value.size() > 2 && value.front() == '(' ? parts_of(value.substr(1, value.size() - 2)) : parts_of("");
      if (of.size() != 3 || !read_number(of[0], spec.arm.mass) || !read_number(of[1], spec.arm.damping) ||
          !read_number(of[2], spec.arm.stiffness) || spec.arm.mass < 0 || spec.arm.damping < 0 ||
          spec.arm.stiffness < 0) {
        failure = fmt::format("`{}` is no arm", parts[i]);
        hint = "an arm is its mass [kg], damping [N s/m] and stiffness [N/m]: arm=(0.15,3,400)";
        return std::nullopt;
      }
    } else if (name == "mass") {
      if (!number(spec.device.mass, 1e-6)) return std::nullopt;
    } else if (name == "damping") {
      if (!number(spec.device.damping, 0)) return std::nullopt;
    } else if (name == "coulomb") {
      if (!number(spec.device.coulomb, 0)) return std::nullopt;
    } else if (name == "encoder") {
      if (!number(spec.device.encoder, 0)) return std::nullopt;
    } else if (name == "force") {
      if (!number(spec.device.force_limit, 0)) return std::nullopt;
    } else {
      failure = fmt::format("a simulated device has no `{}`", name);
      hint = fmt::format("it has delay, arm, target, mass, damping, coulomb, encoder, force; {}", form);
      return std::nullopt;
    }
  }
  spec.notes.push_back(fmt::format("{} in simulated time: {}", preset->title, preset->estimate));
  return spec;
}

}  // namespace

std::optional<HandSpec> read_hand(const std::string& kind, const std::string& argument, std::string& failure,
                                  std::string& hint) {
  if (kind == "simulated") return read_simulated(argument, failure, hint);
  if (argument.empty()) {
    failure = "a script says where the hand is";
    hint = "such as script:(0.02*sin(3*t),0)";
    return std::nullopt;
  }
  HandSpec spec;
  spec.kind = "script";
  spec.script = argument;
  spec.title = "a motion that is written down";
  return spec;
}

std::shared_ptr<live::Hand> make_hand(const HandSpec& spec, double period, double start, std::string& failure) {
  std::unique_ptr<Script> script = Script::read(spec.script, failure);
  if (!script) return nullptr;
  if (spec.kind == "script") return std::make_shared<ScriptedHand>(std::move(script));
  return std::make_shared<SimulatedHand>(spec, std::move(script), period, start);
}

}  // namespace play
