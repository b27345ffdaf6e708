// The tree as text: as source for messages, as s-expressions for --dump=tree. Recursive; the parser bounds the depth.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "compiler/parse/parse.h"

namespace parse {
namespace {

std::string_view spelling(Op op) {
  switch (op) {
    case Op::none:
      return "";
    case Op::plus:
      return "+";
    case Op::minus:
      return "-";
    case Op::times:
      return "*";
    case Op::divide:
      return "/";
    case Op::less:
      return "<";
    case Op::less_equal:
      return "<=";
    case Op::greater:
      return ">";
    case Op::greater_equal:
      return ">=";
    case Op::equal:
      return "=";
    case Op::not_equal:
      return "!=";
  }
  return "";
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '\n')
      result += "\\n";
    else if (c == '\t')
      result += "\\t";
    else if (c == '"' || c == '\\')
      (result += '\\') += c;
    else
      result += c;
  }
  return result + "\"";
}

// How tightly a production binds; an operand that binds less tightly than its place asks for takes parentheses.
enum Binding {
  formula,
  expression,
  disjunction,
  conjunction,
  negation,
  comparison,
  arithmetic,
  term,
  sign,
  power,
  postfix
};

Binding binding(NodeKind kind) {
  switch (kind) {
    case NodeKind::until:
      return formula;
    case NodeKind::implies:
    case NodeKind::conditional:
    case NodeKind::argument:
      return expression;
    case NodeKind::logical_or:
      return disjunction;
    case NodeKind::logical_and:
      return conjunction;
    case NodeKind::logical_not:
      return negation;
    case NodeKind::compare:
    case NodeKind::in_set:
    case NodeKind::in_range:
      return comparison;
    case NodeKind::sum:
      return arithmetic;
    case NodeKind::product:
      return term;
    case NodeKind::negate:
      return sign;
    case NodeKind::power:
      return power;
    default:
      return postfix;
  }
}

class Printer {
 public:
  Printer(const Tree& tree, const base::Names& names) : tree_(tree), names_(names) {}

  std::string take() { return std::move(out_); }

  void print(NodeId id, Binding place = formula) {
    const bool parentheses = binding(tree_[id].kind) < place;
    if (parentheses) out_ += '(';
    print_bare(id);
    if (parentheses) out_ += ')';
  }

 private:
  void print_bare(NodeId id) {
    const Node& node = tree_[id];
    const std::span<const Child> children = tree_.children_of(id);
    switch (node.kind) {
      case NodeKind::number:
        if (const Unit& unit = tree_.units[node.unit]; node.unit != 0)
          out_ += fmt::format("{} [{}]", from_si(node.number, unit.measure.scale), unit.text);
        else
          out_ += fmt::format("{}", node.number);
        return;
      case NodeKind::string:
        out_ += quoted(tree_.texts[node.text]);
        return;
      case NodeKind::boolean:
        out_ += node.number != 0 ? "true" : "false";
        return;
      case NodeKind::name:
        out_ += names_.text(node.name);
        return;
      case NodeKind::prime:
        print_primary(children[0].node);
        out_.append(node.count, '\'');
        return;
      case NodeKind::index:
        print_primary(children[0].node);
        out_ += '[';
        print_list(children.subspan(1), expression);
        out_ += ']';
        return;
      case NodeKind::call:
        print_primary(children[0].node);
        out_ += '(';
        print_arguments(children.subspan(1));
        out_ += ')';
        return;
      case NodeKind::argument:
        out_ += names_.text(node.name) + " = ";
        print(children[0].node);
        return;
      case NodeKind::member:
        print_primary(children[0].node);
        out_ += "." + names_.text(node.name);
        return;
      case NodeKind::tuple:
        out_ += '(';
        print_list(children, expression);
        out_ += ')';
        return;
      case NodeKind::negate:
        out_ += '-';
        print(children[0].node, sign);
        return;
      case NodeKind::sum:
        print_operands(children, term, " ");
        return;
      case NodeKind::product:
        print_operands(children, sign, " ");
        return;
      case NodeKind::power:
        // A number is a whole base: no suffix can follow it, but a power can.
        print(children[0].node, postfix);
        out_ += '^';
        print(children[1].node, sign);
        return;
      case NodeKind::logical_not:
        out_ += '!';
        print(children[0].node, negation);
        return;
      case NodeKind::logical_and:
        print_list(children, negation, " && ");
        return;
      case NodeKind::logical_or:
        print_list(children, conjunction, " || ");
        return;
      case NodeKind::implies:
        print(children[0].node, disjunction);
        out_ += " -> ";
        print(children[1].node);
        return;
      case NodeKind::compare:
        print(children[0].node, arithmetic);
        out_ += fmt::format(" {} ", spelling(node.op));
        print(children[1].node, arithmetic);
        return;
      case NodeKind::in_set:
        print(children[0].node, arithmetic);
        out_ += " in ";
        print(children[1].node, arithmetic);
        return;
      case NodeKind::in_range:
        print(children[0].node, arithmetic);
        out_ += " in ";
        print_range(children[1].node, children[2].node);
        return;
      case NodeKind::conditional:
        out_ += "if ";
        print(children[0].node);
        out_ += " then ";
        print(children[1].node);
        out_ += " else ";
        print(children[2].node);
        return;
      case NodeKind::always:
      case NodeKind::eventually:
        out_ += node.kind == NodeKind::always ? "always" : "eventually";
        if (children.size() == 3) print_bounds(children[1].node, children[2].node);
        out_ += '(';
        print(children[0].node);
        out_ += ')';
        return;
      case NodeKind::until:
        print(children[0].node, expression);
        out_ += " until";
        if (children.size() == 4) print_bounds(children[2].node, children[3].node);
        out_ += ' ';
        print(children[1].node, expression);
        return;
      case NodeKind::sum_over:
        out_ += fmt::format("sum({} in ", names_.text(node.name));
        print_range(children[0].node, children[1].node);
        out_ += ": ";
        print(children[2].node);
        out_ += ')';
        return;
    }
  }

  // What a suffix may follow: no number, since `2'` and `2[..]` are no suffixes.
  void print_primary(NodeId id) {
    const bool number = tree_[id].kind == NodeKind::number;
    if (number) out_ += '(';
    print(id, postfix);
    if (number) out_ += ')';
  }

  void print_list(std::span<const Child> children, Binding place, std::string_view separator = ", ") {
    for (std::size_t i = 0; i < children.size(); ++i) {
      if (i > 0) out_ += separator;
      print(children[i].node, place);
    }
  }

  // `f((a = b))` is a comparison, `f(a = b)` a named argument.
  void print_arguments(std::span<const Child> children) {
    for (std::size_t i = 0; i < children.size(); ++i) {
      if (i > 0) out_ += ", ";
      const Node& node = tree_[children[i].node];
      const bool equality = node.kind == NodeKind::compare && node.op == Op::equal;
      print(children[i].node, equality ? arithmetic : expression);
    }
  }

  void print_operands(std::span<const Child> children, Binding place, std::string_view blank) {
    for (std::size_t i = 0; i < children.size(); ++i) {
      if (i > 0) out_ += fmt::format("{0}{1}{0}", blank, spelling(children[i].op));
      print(children[i].node, place);
    }
  }

  void print_bounds(NodeId low, NodeId high) {
    out_ += '[';
    print_range(low, high);
    out_ += ']';
  }

  void print_range(NodeId low, NodeId high) {
    print(low, arithmetic);
    out_ += "..";
    print(high, arithmetic);
  }

  const Tree& tree_;
  const base::Names& names_;
  std::string out_;
};

class Dumper {
 public:
  Dumper(const Tree& tree, const base::Names& names) : tree_(tree), names_(names) {}

  std::string items() {
    for (const Setting& setting : tree_.settings) {
      open("setting", setting.name);
      field(setting.value);
      close();
      add(setting.span);
    }
    for (const External& external : tree_.externals) {
      dump_external(external);
      add(external.span);
    }
    for (const Use& use : tree_.uses) {
      out_ += "(use " + quoted(use.path);
      if (use.alias.valid()) out_ += " " + names_.text(use.alias);
      close();
      add(use.span);
    }
    return body(tree_);
  }

 private:
  using Lines = std::vector<std::pair<base::Span, std::string>>;

  void add(base::Span span) { lines_.emplace_back(span, std::exchange(out_, "")); }

  // The items of a body and those in lines_ already, one a line in the order of the text.
  std::string body(const Body& body) {
    for (const Condition& condition : body.conditions) {
      out_ += condition.guess ? "(guess" : "(condition";
      for (const NodeId id : {condition.variable, condition.time, condition.value}) field(id);
      close();
      add(condition.span);
    }
    for (const Equation& equation : body.equations) {
      dump_equation(equation.left.valid() ? "equation" : "instance", equation);
      add(equation.span);
    }
    dump_hybrid_items(body);
    dump_energies(body);
    for (const Parameter& parameter : body.parameters) {
      open("parameter", parameter.name);
      for (const NodeId id : {parameter.value, parameter.low, parameter.high}) field(id);
      close();
      add(parameter.span);
    }
    for (const Constant& constant : body.constants) {
      open("constant", constant.name);
      field(constant.value);
      close();
      add(constant.span);
    }
    for (const Function& function : body.functions) {
      open("function", function.name);
      out_ += " (";
      for (std::size_t i = 0; i < function.arguments.size(); ++i)
        out_ += (i > 0 ? " " : "") + names_.text(function.arguments[i]);
      out_ += ')';
      field(function.value);
      close();
      add(function.span);
    }
    for (const Event& event : body.events) dump_event(event);
    for (const Behaviour& behaviour : body.behaviours) dump_behaviour(behaviour);
    for (const Module& module : body.modules) {
      open("module", module.name);
      for (const ModulePort& port : module.ports) {
        out_ += ' ';
        open("port", port.name);
        field(port.shape);
        close();
      }
      nested(tree_.bodies[module.body]);
      add(module.span);
    }
    for (const Drawing& drawing : body.drawings) {
      open("draw", drawing.kind);
      for (const NodeId value : drawing.values) field(value);
      for (const DrawingOption& option : drawing.options) {
        out_ += ' ';
        open("", option.name);
        field(option.value);
        close();
      }
      close();
      add(drawing.span);
    }
    for (const Loop& loop : body.loops) {
      open("for", loop.name);
      field(loop.low);
      field(loop.high);
      nested(tree_.bodies[loop.body]);
      add(loop.span);
    }
    std::stable_sort(lines_.begin(), lines_.end(), [](const auto& a, const auto& b) {
      return std::pair(a.first.file, a.first.begin) < std::pair(b.first.file, b.first.begin);
    });
    std::string all;
    for (const auto& [span, line] : std::exchange(lines_, {})) all += line + "\n";
    return all;
  }

  // The lines of a body inside another item, two blanks further in; ends that item.
  void nested(const Body& inner) {
    std::string before = std::exchange(out_, "");
    Lines lines = std::exchange(lines_, {});
    const std::string text = body(inner);
    lines_ = std::move(lines);
    out_ = std::move(before);
    std::size_t from = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', from)) {
      out_ += "\n  " + text.substr(from, end - from);
      from = end + 1;
    }
    close();
  }

  void family(const Family& family) {
    if (!family.valid()) return;
    out_ += ' ';
    open("family", family.index);
    field(family.low);
    field(family.high);
    close();
  }

  void dump_equation(std::string_view kind, const Equation& equation) {
    out_ += fmt::format("({}", kind);
    field(equation.left);
    family(equation.family);
    field(equation.right);
    dump_mode(equation.mode);
    if (equation.rate.valid()) {
      out_ += " (rate";
      field(equation.rate);
      close();
    }
    close();
  }

  void dump_mode(NodeId mode) {
    if (!mode.valid()) return;
    out_ += " (in";
    field(mode);
    close();
  }

  void dump_hybrid_items(const Body& body) {
    for (const Automaton& automaton : body.automata) {
      open("automaton", automaton.name);
      family(automaton.family);
      for (const ModeName& mode : automaton.modes) out_ += " " + names_.text(mode.name);
      for (const AutomatonStart& start : automaton.starts) {
        out_ += ' ';
        open("from", start.mode);
        field(start.condition);
        close();
      }
      close();
      add(automaton.span);
    }
    for (const InBlock& block : body.in_blocks) {
      out_ += "(in";
      field(block.condition);
      nested(tree_.bodies[block.body]);
      add(block.span);
    }
    for (const Must& must : body.musts) {
      static constexpr const char* kinds[] = {"require", "expect", "stop"};
      out_ += fmt::format("({}", kinds[static_cast<int>(must.kind)]);
      field(must.condition);
      if (!must.text.empty()) out_ += " " + quoted(must.text);
      dump_mode(must.mode);
      close();
      add(must.span);
    }
    for (const Transition& item : body.transitions) {
      dump_head("transition", item);
      close();
      add(item.span);
    }
    for (const Sequence& item : body.sequences) {
      dump_head("sequence", item);
      for (const SequencePhase& phase : item.phases) {
        out_ += " (until";
        field(phase.until);
        dump_jump(phase.jump);
        close();
      }
      close();
      add(item.span);
    }
    for (const Plan& item : body.plans) dump_plan(item);
    for (const Equation& invariant : body.invariants) {
      dump_equation("invariant", invariant);
      add(invariant.span);
    }
    for (const Property& property : body.properties) {
      out_ += "(property";
      if (property.name.valid()) out_ += " " + names_.text(property.name) + ":";
      field(property.formula);
      close();
      add(property.span);
    }
  }

  void dump_energies(const Body& body) {
    for (const Energy& energy : body.energies) {
      out_ += "(energy";
      field(energy.variable);
      field(energy.value);
      close();
      add(energy.span);
    }
    for (const Power& power : body.powers) {
      out_ += "(power";
      if (power.name.valid()) out_ += " " + names_.text(power.name) + ":";
      field(power.in);
      field(power.out);
      close();
      add(power.span);
    }
    for (const Join& join : body.joins) {
      static constexpr const char* manners[] = {"", " hold", " extrapolate", " passive"};
      out_ += "(join";
      field(join.first);
      field(join.second);
      out_ += manners[static_cast<int>(join.manner)];
      close();
      add(join.span);
    }
    for (const Storage& storage : body.storages) {
      out_ += "(storage";
      for (const NodeId state : storage.states) field(state);
      field(storage.variable);
      for (const NodeId matrix : {storage.j, storage.r, storage.g, storage.in, storage.out}) {
        if (matrix.valid())
          field(matrix);
        else
          out_ += " -";
      }
      close();
      add(storage.span);
    }
    for (const Guard& guard : body.guards) {
      out_ += "(guard";
      field(guard.port);
      if (guard.reserve.valid()) field(guard.reserve);
      close();
      add(guard.span);
    }
  }

  void dump_plan(const Plan& item) {
    dump_head("plan", item);
    for (const Chosen& chosen : item.chosen) {
      out_ += ' ';
      open("choose", chosen.name);
      field(chosen.value);
      close();
    }
    for (const PlanPhase& phase : item.phases) {
      out_ += " (for";
      field(phase.duration);
      for (const Target& target : phase.targets) {
        out_ += " (reaching";
        field(target.left);
        field(target.right);
        close();
      }
      dump_jump(phase.jump);
      close();
    }
    if (item.has_otherwise) {
      out_ += " (else";
      dump_jump(item.otherwise);
      close();
    }
    close();
    add(item.span);
  }

  void dump_head(std::string_view kind, const Transition& item) {
    open(kind, item.name);
    family(item.family);
    dump_mode(item.mode);
    if (item.condition.valid()) {
      out_ += " (when";
      field(item.condition);
      close();
    }
    dump_jump(item.jump);
  }

  void dump_jump(const Jump& jump) {
    for (const Goto& item : jump.gotos) {
      out_ += " (goto";
      field(item.target);
      close();
    }
    for (const NodeId kept : jump.keeps) {
      out_ += " (keep";
      field(kept);
      close();
    }
    if (jump.enforce_velocities) out_ += " (enforce velocities)";
    if (jump.enforce_positions) out_ += " (enforce positions)";
    for (const JumpUnknown& unknown : jump.unknowns) {
      out_ += ' ';
      open("unknown", unknown.name);
      field(unknown.guess);
      close();
    }
    for (const Equation& equation : jump.equations) {
      out_ += ' ';
      dump_equation("equation", equation);
    }
    for (const JumpLoop& loop : jump.loops) {
      out_ += ' ';
      open("for", loop.name);
      field(loop.low);
      field(loop.high);
      dump_jump(tree_.jumps[loop.jump]);
      close();
    }
  }

  void dump_event(const Event& event) {
    static constexpr const char* kinds[] = {"every", "when", "at", "transition"};
    open("event", event.name);
    family(event.family);
    out_ += fmt::format(" {}", kinds[static_cast<int>(event.kind)]);
    for (const NodeId id : {event.period, event.from, event.condition}) field(id);
    for (const NodeId id : event.times) field(id);
    close();
    add(event.span);
  }

  void dump_behaviour(const Behaviour& behaviour) {
    open(behaviour.start.valid() ? "behaviour" : "passive", behaviour.name);
    family(behaviour.family);
    if (behaviour.own.valid()) out_ += " " + names_.text(behaviour.own);
    field(behaviour.start);
    field(behaviour.value);
    for (const Handler& handler : behaviour.handlers) {
      out_ += handler.later ? " (later" : " (on";
      field(handler.event);
      field(handler.value);
      close();
    }
    close();
    add(behaviour.span);
  }

  void open(std::string_view kind, base::NameId name) {
    out_ += fmt::format("({}{}{}", kind, kind.empty() ? "" : " ", names_.text(name));
  }
  void close() { out_ += ')'; }

  // Nothing when the field is not given.
  void field(NodeId id) {
    if (!id.valid()) return;
    out_ += ' ';
    node(id);
  }

  void dump_accesses(std::string_view kind, const std::vector<Access>& accesses) {
    if (accesses.empty()) return;
    out_ += fmt::format(" ({}", kind);
    for (const Access& access : accesses) {
      if (!access.value.valid()) {
        field(access.variable);
        continue;
      }
      out_ += " (=";
      field(access.variable);
      field(access.value);
      close();
    }
    close();
  }

  void dump_external(const External& external) {
    open("external", external.name);
    dump_accesses("reads", external.reads);
    dump_accesses("writes", external.writes);
    for (const ObservedEvent& event : external.events) {
      out_ += ' ';
      open("event", event.name);
      field(event.rate);
      field(event.time);
      close();
    }
    if (external.period.valid()) {
      out_ += " (every";
      field(external.period);
      close();
    }
    close();
  }

  void node(NodeId id) {
    const Node& node = tree_[id];
    switch (node.kind) {
      case NodeKind::number:
        out_ += fmt::format("{}", node.number);
        return;
      case NodeKind::string:
        out_ += quoted(tree_.texts[node.text]);
        return;
      case NodeKind::boolean:
        out_ += node.number != 0 ? "true" : "false";
        return;
      case NodeKind::name:
        out_ += names_.text(node.name);
        return;
      case NodeKind::prime:
        out_ += "(prime";
        break;
      case NodeKind::index:
        out_ += "(index";
        break;
      case NodeKind::call:
        out_ += "(call";
        break;
      case NodeKind::argument:
        open("argument", node.name);
        break;
      case NodeKind::member:
        out_ += "(member";
        break;
      case NodeKind::tuple:
        out_ += "(tuple";
        break;
      case NodeKind::negate:
        out_ += "(negate";
        break;
      case NodeKind::sum:
        out_ += "(sum";
        break;
      case NodeKind::product:
        out_ += "(product";
        break;
      case NodeKind::power:
        out_ += "(power";
        break;
      case NodeKind::logical_not:
        out_ += "(not";
        break;
      case NodeKind::logical_and:
        out_ += "(and";
        break;
      case NodeKind::logical_or:
        out_ += "(or";
        break;
      case NodeKind::implies:
        out_ += "(implies";
        break;
      case NodeKind::compare:
        out_ += fmt::format("({}", spelling(node.op));
        break;
      case NodeKind::in_set:
        out_ += "(in";
        break;
      case NodeKind::in_range:
        out_ += "(in_range";
        break;
      case NodeKind::conditional:
        out_ += "(if";
        break;
      case NodeKind::sum_over:
        open("sum_over", node.name);
        break;
      case NodeKind::always:
        out_ += "(always";
        break;
      case NodeKind::eventually:
        out_ += "(eventually";
        break;
      case NodeKind::until:
        out_ += "(until";
        break;
    }
    const std::span<const Child> children = tree_.children_of(id);
    for (std::size_t i = 0; i < children.size(); ++i) {
      if (i > 0 && children[i].op != Op::none) out_ += fmt::format(" {}", spelling(children[i].op));
      field(children[i].node);
    }
    if (node.kind == NodeKind::prime) out_ += fmt::format(" {}", node.count);
    if (node.kind == NodeKind::member) out_ += " " + names_.text(node.name);
    close();
  }

  const Tree& tree_;
  const base::Names& names_;
  std::string out_;
  Lines lines_;
};

}  // namespace

std::string print(const Tree& tree, const base::Names& names, NodeId node) {
  Printer printer(tree, names);
  printer.print(node);
  return printer.take();
}

std::string dump(const Tree& tree, const base::Names& names) { return Dumper(tree, names).items(); }

}  // namespace parse
