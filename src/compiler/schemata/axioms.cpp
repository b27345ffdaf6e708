#include "compiler/schemata/axioms.h"

#include <fmt/format.h>

#include "compiler/parse/parse.h"

namespace schemata {
namespace {

using parse::NodeId;

class Axioms {
 public:
  Axioms(const parse::Tree& tree, const base::Names& names) : tree_(tree), names_(names) {}

  std::string write() {
    for (const parse::Transition& item : tree_.transitions) {
      begin(item, "EquationalReset");
      text_ += fmt::format("  next( v+ . {} )\n", jump(item.jump));
    }
    for (const parse::Sequence& item : tree_.sequences) {
      begin(item, "SpecifiedTermination");
      text_ += fmt::format("  next( v+ . {}", jump(item.jump));
      for (std::size_t k = 0; k < item.phases.size(); ++k) {
        const std::string until = print(item.phases[k].until);
        text_ += fmt::format("\n  and ( (t . not ({1}))  until  (t{0}- . {1}  and  next( t{0}+ . {2}", k + 1, until,
                             jump(item.phases[k].jump));
      }
      close(item.phases.size());
    }
    for (const parse::Plan& item : tree_.plans) {
      begin(item, "TemporalProjection");
      std::string chosen;
      for (const parse::Chosen& value : item.chosen) chosen += (chosen.empty() ? "" : ", ") + names_.text(value.name);
      text_ += fmt::format("  exists {}:  next( v+ . {}", chosen, jump(item.jump));
      for (std::size_t k = 0; k < item.phases.size(); ++k) {
        const parse::PlanPhase& phase = item.phases[k];
        std::string targets;
        for (const parse::Target& target : phase.targets)
          targets += fmt::format("  and  {} = {}", print(target.left), print(target.right));
        text_ += fmt::format("\n  and eventually ( t{0}- . t{0}- = {1} + {2}{3}  and  next( t{0}+ . {4}", k + 1,
                             k == 0 ? "v" : fmt::format("t{}", k), print(phase.duration), targets, jump(phase.jump));
      }
      text_ += std::string(2 * item.phases.size(), ')') + " )\n";
    }
    return std::move(text_);
  }

 private:
  std::string print(NodeId id) const { return parse::print(tree_, names_, id); }

  void begin(const parse::Transition& item, const char* schema) {
    std::string guard;
    for (NodeId part : {item.mode, item.condition}) {
      if (part.valid()) guard += (guard.empty() ? "" : " && ") + print(part);
    }
    text_ += fmt::format("{}: {}\n  v- . {}  ->\n", names_.text(item.name), schema, guard.empty() ? "true" : guard);
  }

  void close(std::size_t phases) { text_ += std::string(3 * phases, ')') + " )\n"; }

  std::string jump(const parse::Jump& jump) const {
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "  and  ") + part; };
    for (const parse::Goto& to : jump.gotos) add(print(to.target));
    for (const parse::Equation& equation : jump.equations) add(print(equation.left) + " = " + print(equation.right));
    if (jump.enforce_velocities) add("the constraints of this mode hold for the velocities");
    if (jump.enforce_positions) add("the constraints of this mode hold for the positions");
    return text.empty() ? "true" : text;
  }

  const parse::Tree& tree_;
  const base::Names& names_;
  std::string text_;
};

}  // namespace

std::string axioms(const parse::Tree& tree, const base::Names& names) { return Axioms(tree, names).write(); }

}  // namespace schemata
