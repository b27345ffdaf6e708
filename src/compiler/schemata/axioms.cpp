#include "compiler/schemata/axioms.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/parse/parse.h"

namespace schemata {
namespace {

using parse::NodeId;

class Axioms {
 public:
  Axioms(const parse::Tree& tree, const base::Names& names) : tree_(tree), names_(names) {
    std::size_t phases = 0;
    for (const parse::Sequence& item : tree.sequences) phases = std::max(phases, item.phases.size());
    for (const parse::Plan& item : tree.plans) phases = std::max(phases, item.phases.size());
    bool is_taken = false;
    for (std::size_t k = 0; k <= phases; ++k) is_taken = is_taken || names.find(instant(k)).valid();
    if (is_taken) mark_ = "@";
  }

  std::string write() {
    for (const parse::Transition& item : tree_.transitions) {
      begin(item, "EquationalReset");
      text_ += fmt::format("  next( {}+ . {} )\n", instant(0), jump(item.jump));
    }
    for (const parse::Sequence& item : tree_.sequences) {
      begin(item, "SpecifiedTermination");
      text_ += fmt::format("  next( {}+ . {}", instant(0), jump(item.jump));
      for (std::size_t k = 0; k < item.phases.size(); ++k) {
        const std::string until = print(item.phases[k].until);
        text_ += fmt::format("\n  and ( (t . not ({1}))  until  ({0}- . {1}  and  next( {0}+ . {2}", instant(k + 1),
                             until, jump(item.phases[k].jump));
      }
      close(item.phases.size());
    }
    for (const parse::Plan& item : tree_.plans) {
      begin(item, "TemporalProjection");
      std::string chosen;
      for (const parse::Chosen& value : item.chosen) chosen += (chosen.empty() ? "" : ", ") + names_.text(value.name);
      text_ += fmt::format("  exists {}:  next( {}+ . {}", chosen, instant(0), jump(item.jump));
      for (std::size_t k = 0; k < item.phases.size(); ++k) {
        const parse::PlanPhase& phase = item.phases[k];
        std::string targets;
        for (const parse::Target& target : phase.targets)
          targets += fmt::format("  and  {} = {}", print(target.left), print(target.right));
        text_ += fmt::format("\n  and eventually ( {0}- . {0}- = {1}+ + {2}{3}  and  next( {0}+ . {4}", instant(k + 1),
                             instant(k), print(phase.duration), targets, jump(phase.jump));
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
    text_ += fmt::format("{}: {}\n  {}- . {}  ->\n", names_.text(item.name), schema, instant(0),
                         guard.empty() ? "true" : guard);
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

  // The one at which it begins, and the ends of its phases.
  std::string instant(std::size_t k) const { return mark_ + (k == 0 ? "v" : fmt::format("t{}", k)); }

  const parse::Tree& tree_;
  const base::Names& names_;
  std::string mark_;  // no name has it: where the program has names like those of instants
  std::string text_;
};

}  // namespace

std::string axioms(const parse::Tree& tree, const base::Names& names) { return Axioms(tree, names).write(); }

}  // namespace schemata
