#include "compiler/expand/declarations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "base/nearest.h"
#include "compiler/expand/members.h"
#include "compiler/expand/numbers.h"
#include "compiler/expand/paths.h"
#include "compiler/parse/parse.h"

namespace expand {
namespace {

using parse::NodeKind;

class Declarations {
 public:
  explicit Declarations(Program& program)
      : program_(program), tree_(program.tree), names_(program.names), diags_(program.diags) {}

  Scope& run() {
    Scope& top = add_scope(program_.items);
    declare_files(top);
    declare(top, program_.items, nullptr, nullptr);
    settle_elements(top);
    return top;
  }

 private:
  // An `in` block around an item.
  struct Mode {
    const Mode* outer;
    NodeId condition;
  };

  Scope& add_scope(const Body& body) {
    program_.scopes.push_back(std::make_unique<Scope>());
    program_.scopes.back()->body = &body;
    return *program_.scopes.back();
  }

  // Used files: what they declare is seen, what they simulate is not.
  void declare_files(Scope& top) {
    std::unordered_map<std::uint32_t, Scope*> files;
    for (const parse::Use& use : tree_.uses) {
      if (use.file == parse::no_body || files.contains(use.file)) continue;
      Scope& file = add_scope(program_.bodies[use.file]);
      file.is_file = true;
      file.prefix = use.name + ".";
      files.emplace(use.file, &file);
      declare(file, *file.body, nullptr, nullptr);
    }
    for (const parse::Use& use : tree_.uses) {
      if (use.file == parse::no_body) continue;
      Scope& user = use.in == parse::no_body ? top : *files.at(use.in);
      if (!use.alias.valid()) {
        import(user, *files.at(use.file), use);
        continue;
      }
      Entry entry{What::file, use.span};
      entry.scope = files.at(use.file);
      enter(user, use.alias, std::move(entry));
    }
  }

  // A name that two used files declare would mean either.
  void import(Scope& user, Scope& file, const parse::Use& use) {
    if (std::find(user.imports.begin(), user.imports.end(), &file) != user.imports.end()) return;
    std::vector<std::string> both;
    for (const auto& [name, entry] : file.entries) {
      for (const Scope* other : user.imports) {
        if (entry.what != What::file && other->entries.contains(name)) both.push_back(names_.text(name));
      }
    }
    std::sort(both.begin(), both.end());
    if (!both.empty()) {
      diags_.report(use.span, name_taken, both.front())
          .hint("another used file declares it too; give one of them a name: `use \"{}\" as a;`, and write `a.{}`",
                use.path, both.front());
    }
    user.imports.push_back(&file);
  }

  // Null after reporting.
  Entry* enter(Scope& scope, NameId name, Entry entry) {
    auto [found, fresh] = scope.entries.emplace(name, entry);
    if (!fresh) {
      auto report = diags_.report(entry.span, name_taken, names_.text(name));
      const base::Span before = found->second.span;
      if (before.file == entry.span.file && before.begin == entry.span.begin)
        report.hint("a loop declares it in every turn; number it by the loop's counter: `{}[i]`", names_.text(name));
      else
        report.related(found->second.span, "declared here before");
      return nullptr;
    }
    return &found->second;
  }

  // Elements that are written one by one, `n[i]` in a loop, join the family that others made; those that do not fit on
  // at once wait until all names of the scope are declared. What says more about all elements than a name and a number
  // (the modes of an automaton, the phases of a sequence) comes from one line of the text. The entry; null after
  // reporting, and while it waits.
  Entry* enter_element(Scope& scope, NameId name, Entry entry) {
    auto found = scope.entries.find(name);
    if (found == scope.entries.end()) return enter(scope, name, std::move(entry));
    Entry& family = found->second;
    const bool is_same_line = family.span.file == entry.span.file && family.span.begin == entry.span.begin;
    const bool is_loose = entry.what == What::behaviour || entry.what == What::event || entry.what == What::instance;
    if (!family.is_family || family.what != entry.what || !(is_same_line || is_loose))
      return enter(scope, name, std::move(entry));
    if (entry.low >= family.low && entry.low <= family.high) {
      auto report = diags_.report(entry.span, name_taken, fmt::format("{}[{}]", names_.text(name), entry.low));
      if (!is_same_line) report.related(family.span, "`{}` begins here", names_.text(name));
      report.hint("each element is written once: `for i in 1..3 {{ {}[i] = ..; }}`", names_.text(name));
      return nullptr;
    }
    if (entry.low == family.high + 1) {
      family.high = entry.high;
      family.elements.insert(family.elements.end(), entry.elements.begin(), entry.elements.end());
      return &family;
    }
    if (entry.low == family.low - 1) {
      family.low = entry.low;
      family.elements.insert(family.elements.begin(), entry.elements.begin(), entry.elements.end());
      return &family;
    }
    waiting_.push_back({&scope, name, std::move(entry)});
    return nullptr;
  }

  // All names of the scope are declared: elements that waited find their place, or have none.
  void settle_elements(const Scope& scope) {
    if (waiting_.empty()) return;
    std::vector<Waiting> open, others;
    for (Waiting& each : std::exchange(waiting_, {})) (each.scope == &scope ? open : others).push_back(std::move(each));
    std::stable_sort(open.begin(), open.end(),
                     [](const Waiting& a, const Waiting& b) { return a.entry.low < b.entry.low; });
    for (bool is_upward : {true, false}) {  // what continues the family upward, then what does downward
      for (Waiting& each : open) enter_element(*each.scope, each.name, std::move(each.entry));
      open = std::exchange(waiting_, {});
      if (is_upward) std::reverse(open.begin(), open.end());
    }
    waiting_ = std::move(others);
    for (const Waiting& each : open) {
      const Entry& family = each.scope->entries.at(each.name);
      diags_.report(each.entry.span, elements_apart, fmt::format("{}[{}]", names_.text(each.name), each.entry.low))
          .hint("the others are numbered from {1} to {2}, and there are no gaps: `for i in 1..3 {{ {0}[i] = ..; }}`",
                names_.text(each.name), family.low, family.high);
    }
  }

  bool is_element(const parse::Family& family) const { return family.valid() && family.low == family.high; }

  // Every name that a body declares, and the instances in it. `locals`: counters of the loops around; `modes`: the `in`
  // blocks around.
  void declare(Scope& scope, const Body& body, const Local* locals, const Mode* modes) {
    for (const parse::Constant& item : body.constants) {
      Entry entry{What::constant, item.name_span};
      entry.value = item.value;
      enter(scope, item.name, std::move(entry));
    }
    for (const parse::Parameter& item : body.parameters) {
      Entry entry{What::parameter, item.name_span};
      entry.value = item.value;
      if (auto given = scope.arguments.find(item.name); given != scope.arguments.end()) {
        entry.argument = given->second;
        scope.arguments.erase(given);
      }
      enter(scope, item.name, std::move(entry));
    }
    for (const parse::Function& item : body.functions) enter(scope, item.name, Entry{What::function, item.name_span});
    for (const parse::Module& item : body.modules) {
      Entry entry{What::module, item.name_span};
      entry.module = &item;
      entry.scope = &scope;
      enter(scope, item.name, std::move(entry));
    }
    if (scope.is_file) return;
    for (const parse::Event& item : body.events) {
      declare_one_or_many(scope, item.name, item.name_span, item.family, What::event, locals);
      one_or_many(program_, item.family, item.name, scope, locals,
                  [&](const Local* inner, NameId) { fix_timing(item, scope, inner); });
    }
    for (const parse::Behaviour& item : body.behaviours) {
      if (is_port(scope, item.name) && !item.family.valid()) continue;
      declare_one_or_many(scope, item.name, item.name_span, item.family, What::behaviour, locals);
    }
    for (const parse::Condition& item : body.conditions) (void)number(program_, item.time, scope, locals);
    for (const parse::Automaton& item : body.automata) declare_automaton(scope, item, locals);
    for (const parse::Transition& item : body.transitions) declare_transition(scope, item, 0, false, locals);
    for (const parse::Sequence& item : body.sequences)
      declare_transition(scope, item, item.phases.size(), false, locals);
    for (const parse::Plan& item : body.plans) declare_transition(scope, item, item.phases.size(), true, locals);
    for (const parse::Equation& item : body.equations) declare_equation(scope, item, locals, modes);
    for (const parse::Loop& loop : body.loops) {
      repeat(program_, loop.low, loop.high, loop.name, scope, locals,
             [&](const Local* inner, long long) { declare(scope, program_.bodies[loop.body], inner, modes); });
    }
    for (const parse::InBlock& block : body.in_blocks) {
      const Mode inner{modes, block.condition};
      declare(scope, program_.bodies[block.body], locals, &inner);
    }
  }

  void declare_automaton(Scope& scope, const parse::Automaton& item, const Local* locals) {
    for (const parse::AutomatonStart& start : item.starts) {
      const auto is_it = [&](const parse::ModeName& mode) { return mode.name == start.mode; };
      if (std::any_of(item.modes.begin(), item.modes.end(), is_it)) continue;
      std::vector<std::string_view> known;
      for (const parse::ModeName& mode : item.modes) known.push_back(names_.text(mode.name));
      auto report = diags_.report(start.span, no_mode, names_.text(item.name), names_.text(start.mode));
      if (auto near = base::nearest(names_.text(start.mode), known)) report.hint("did you mean `{}`?", *near);
      report.hint("its modes are {}", list(known));
    }
    Entry* entry = declare_one_or_many(scope, item.name, item.name_span, item.family, What::automaton, locals);
    if (entry) entry->automaton = &item;
  }

  void declare_transition(Scope& scope, const parse::Transition& item, std::size_t phases, bool can_fail,
                          const Local* locals) {
    Entry* entry = declare_one_or_many(scope, item.name, item.name_span, item.family, What::transition, locals);
    if (!entry) return;
    entry->phases = static_cast<std::uint32_t>(phases);
    entry->can_fail = can_fail;
  }

  // Parameters that say when an event happens are fixed before the run, as are those of the times of conditions.
  void fix_timing(const parse::Event& item, Scope& scope, const Local* locals) {
    for (NodeId id : {item.period, item.from}) {
      if (id.valid()) (void)number(program_, id, scope, locals);
    }
    for (NodeId time : item.times) (void)number(program_, time, scope, locals);
  }

  // The entry; null after reporting.
  Entry* declare_one_or_many(Scope& scope, NameId name, base::Span span, const parse::Family& family, What what,
                             const Local* locals) {
    Entry entry{what, span};
    if (family.valid()) {
      auto range = range_of(program_, family.low, family.high, scope, locals);
      if (!range) return nullptr;
      entry.is_family = true;
      std::tie(entry.low, entry.high) = *range;
    }
    return is_element(family) ? enter_element(scope, name, std::move(entry)) : enter(scope, name, std::move(entry));
  }

  void declare_equation(Scope& scope, const parse::Equation& item, const Local* locals, const Mode* modes) {
    auto called = called_module(program_, item, scope);
    if (!called) {
      if (item.rate.valid() && item.left.valid() && tree_[item.right].kind == NodeKind::call)
        diags_
            .report(tree_[item.rate].span, rate_without_module, parse::print(tree_, names_, tree_.child(item.right, 0)))
            .hint("an instance of a module may have a step of its own: `s = Spring() rate 1 [kHz];`");
      if (!item.left.valid() || is_meant_as_instance(item, scope))
        report_no_module(item, scope);
      else if (item.family.valid())
        declare_one_or_many(scope, tree_[item.left].name, tree_[item.left].span, item.family, What::quantity, locals);
      return;
    }
    if (!item.left.valid()) {
      const int number = ++scope.anonymous[called->module];
      const std::string name = fmt::format("{}[{}]", names_.text(called->module->name), number);
      add_instance(scope, *called, item, name, locals, modes);
      return;
    }
    NodeId left = item.left;
    parse::Family family = item.family;
    if (tree_[left].kind == NodeKind::index) {  // c[i] = C(..) in a loop
      family.index = program_.names.intern("[]");
      family.low = family.high = tree_.child(left, 1);
      left = tree_.child(left, 0);
    }
    const NameId name = tree_[left].name;
    Entry entry{What::instance, tree_[left].span};
    if (!family.valid()) {
      entry.scope = add_instance(scope, *called, item, names_.text(name), locals, modes);
      enter(scope, name, std::move(entry));
      return;
    }
    auto range = range_of(program_, family.low, family.high, scope, locals);
    if (!range) return;
    entry.is_family = true;
    std::tie(entry.low, entry.high) = *range;
    repeat(program_, family.low, family.high, family.index, scope, locals, [&](const Local* inner, long long i) {
      const std::string path = fmt::format("{}[{}]", names_.text(name), i);
      entry.elements.push_back(add_instance(scope, *called, item, path, inner, modes));
    });
    if (is_element(family))
      enter_element(scope, name, std::move(entry));
    else
      enter(scope, name, std::move(entry));
  }

  // `s = Sprng(x, y)` where the program speaks of `s.force`.
  bool is_meant_as_instance(const parse::Equation& item, Scope& scope) {
    if (tree_[item.left].kind != NodeKind::name || tree_[item.right].kind != NodeKind::call) return false;
    const parse::Node& callee = tree_[tree_.child(item.right, 0)];
    if (callee.kind != NodeKind::name || find(scope, callee.name).entry) return false;
    if (!bases_known_) {
      bases_known_ = true;
      for (const parse::Node& node : tree_.nodes) {
        if (node.kind != NodeKind::member) continue;
        NodeId base = tree_.children[node.first_child].node;
        if (tree_[base].kind == NodeKind::index) base = tree_.child(base, 0);
        if (tree_[base].kind == NodeKind::name) bases_.insert(tree_[base].name);
      }
    }
    return bases_.contains(tree_[item.left].name);
  }

  // What a statement of another language that has the form of an instance is here; empty for anything else.
  std::string foreign_statement(const std::string& name, NodeId call) const {
    auto argument = [&](std::uint32_t i) {
      return i < tree_[call].child_count ? parse::print(tree_, names_, tree_.child(call, i)) : std::string("..");
    };
    if (name == "connect")
      return fmt::format("ports are joined by an equation, `{} = {};`, or by giving both instances the same name",
                         argument(1), argument(2));
    if (name == "annotation") return "settings stand under `simulation`: `simulation ending_time = 10`";
    if (name == "reinit")
      return fmt::format("what jumps is said in a transition: `transition T when c {{ next({}) = {}; }}`", argument(1),
                         argument(2));
    if (name == "assert") return fmt::format("write `require {} else \"..\";`", argument(1));
    if (name == "terminate") return "write `stop when c;`";
    if (name == "print" || name == "printf" || name == "disp" || name == "plot")
      return "every name is recorded; `external GUI writes x` shows one";
    return "";
  }

  void report_no_module(const parse::Equation& item, Scope& scope) {
    const NodeId callee = tree_.child(item.right, 0);
    const std::string name = parse::print(tree_, names_, callee);
    std::vector<std::string_view> known;
    for (Scope* s = &scope; s; s = s->outer) {
      auto add = [&](const Scope& from) {
        for (const auto& [id, entry] : from.entries) {
          if (entry.what == What::module) known.push_back(names_.text(id));
        }
      };
      add(*s);
      for (const Scope* file : s->imports) add(*file);
    }
    std::sort(known.begin(), known.end());
    auto report = diags_.report(tree_[callee].span, no_module, name);
    if (const std::string advice = foreign_statement(name, item.right); !advice.empty())
      report.hint("{}", advice);
    else if (auto near = base::nearest(name, known))
      report.hint("did you mean `{}`?", *near);
    else
      report.hint(
          "declare it, `module {} = ( ports a, b; system .. )`, or `use` the file that does; an equation has a `=`",
          name);
  }

  // The instance's scope with its ports; null after reporting.
  Scope* add_instance(Scope& parent, const Called& called, const parse::Equation& item, const std::string& path,
                      const Local* locals, const Mode* modes) {
    const std::string& module_name = names_.text(called.module->name);
    if (parent.depth >= deepest_instance) {
      if (!program_.is_too_large)
        diags_.report(item.span, contains_itself, module_name).hint("a module is made of other modules");
      program_.is_too_large = true;
      return nullptr;
    }
    if (program_.is_too_large) return nullptr;
    if (program_.scopes.size() > most_instances) {
      program_.report_too_large(item.span);
      return nullptr;
    }
    Scope& scope = add_scope(program_.bodies[called.module->body]);
    scope.outer = called.declared_in;
    scope.prefix = parent.prefix + path + ".";
    scope.parent = &parent;
    scope.module = called.module;
    scope.depth = parent.depth + 1;
    copy_locals(locals, scope.locals);
    for (; modes; modes = modes->outer) scope.modes.push_back(modes->condition);
    bind_arguments(scope, item, module_name);
    scope.rate = parent.rate;
    if (item.rate.valid()) set_rate(scope, item, locals);
    program_.instances.push_back(&scope);
    declare(scope, *scope.body, nullptr, nullptr);
    settle_elements(scope);
    for (std::uint32_t i = 1; i < tree_[item.right].child_count && !scope.arguments.empty(); ++i) {
      const parse::Node& argument = tree_[tree_.child(item.right, i)];
      if (argument.kind != NodeKind::argument || scope.arguments.erase(argument.name) == 0) continue;
      const std::string& name = names_.text(argument.name);
      const base::Span span{argument.span.file, argument.span.begin,
                            argument.span.begin + static_cast<std::uint32_t>(name.size())};
      auto report = diags_.report(span, no_such_argument, module_name, name);
      if (auto near = base::nearest(name, given_by_name(program_, *called.module)))
        report.hint("did you mean `{}`?", *near);
      report.hint("{}", ports_and_parameters(program_, *called.module));
    }
    return &scope;
  }

  // The literal that a rate is, here or as a constant; null: it is computed.
  const parse::Node* literal_of(NodeId id, Scope& scope) {
    const parse::Node* node = &tree_[id];
    if (node->kind == NodeKind::name) {
      const Found found = find(scope, node->name);
      if (!found.entry || !found.entry->value.valid()) return nullptr;
      node = &tree_[found.entry->value];
    }
    return node->kind == NodeKind::number ? node : nullptr;
  }

  void set_rate(Scope& scope, const parse::Equation& item, const Local* locals) {
    const base::Span span = tree_[item.rate].span;
    const std::string path = scope.prefix.substr(0, scope.prefix.size() - 1);
    const auto hertz = number(program_, item.rate, *scope.parent, locals);
    if (!hertz || !(*hertz > 0) || !std::isfinite(*hertz)) {
      diags_.report(span, rate_not_constant)
          .hint("for example `{} = {}() rate 1 [kHz];`", path, names_.text(scope.module->name));
      return;
    }
    const auto written = [](double rate) {
      return rate >= 1000 ? fmt::format("{:g} [kHz]", rate / 1000) : fmt::format("{:g} [Hz]", rate);
    };
    const parse::Node* literal = literal_of(item.rate, *scope.parent);
    parse::Dimension per_second;
    per_second.exponents[parse::Dimension::second] = {-1, 1};
    if (literal && literal->unit == 0) {
      diags_.report(span, rate_without_unit)
          .hint("{0:g} a second are `rate {1}`; a step of {0:g} s is `rate {2}`", *hertz, written(*hertz),
                written(1 / *hertz));
    } else if (literal && tree_.units[literal->unit].measure.dimension != per_second) {
      diags_.report(span, rate_in_unit, tree_.units[literal->unit].text)
          .hint("a step of {:g} s is `rate {}`", *hertz, written(1 / *hertz));
    }
    program_.tree.rates.push_back({span, path, *hertz});
    scope.rate = static_cast<std::uint32_t>(program_.tree.rates.size());
  }

  static void copy_locals(const Local* locals, std::deque<Local>& into) {
    std::vector<const Local*> chain;
    for (; locals; locals = locals->outer) chain.push_back(locals);
    for (auto local = chain.rbegin(); local != chain.rend(); ++local) {
      const Local* outer = into.empty() ? nullptr : &into.back();
      into.push_back({outer, (*local)->name, (*local)->number});
    }
  }

  void bind_arguments(Scope& scope, const parse::Equation& item, const std::string& module_name) {
    const std::vector<parse::ModulePort>& ports = scope.module->ports;
    for (const parse::ModulePort& port : ports) enter(scope, port.name, Entry{What::port, port.span});
    std::size_t next = 0;
    const std::uint32_t count = tree_[item.right].child_count;
    for (std::uint32_t i = 1; i < count; ++i) {
      const NodeId argument = tree_.child(item.right, i);
      const parse::Node& node = tree_[argument];
      if (node.kind != NodeKind::argument) {
        if (next == ports.size()) {
          diags_
              .report(node.span, too_many_arguments, module_name,
                      ports.size() == 1 ? "1 port" : fmt::format("{} ports", ports.size()))
              .hint("{}", advise_argument(argument, *scope.module));
          return;
        }
        scope.entries.at(ports[next++].name).argument = argument;
        continue;
      }
      auto port = scope.entries.find(node.name);
      const bool is_port = port != scope.entries.end();
      if (is_port ? port->second.argument.valid() : scope.arguments.contains(node.name)) {
        diags_.report(node.span, bound_twice, names_.text(node.name)).hint("drop one of the two");
      } else if (is_port) {
        port->second.argument = tree_.child(argument, 0);
      } else {
        scope.arguments.emplace(node.name, tree_.child(argument, 0));
      }
    }
  }

  std::string advise_argument(NodeId argument, const parse::Module& module) const {
    const auto& parameters = program_.bodies[module.body].parameters;
    if (parameters.empty()) return "drop what is too many; " + ports_and_parameters(program_, module);
    return fmt::format("a parameter is given by its name: `{} = {}`; {}", names_.text(parameters.front().name),
                       parse::print(tree_, names_, argument), ports_and_parameters(program_, module));
  }

  Program& program_;
  const parse::Tree& tree_;
  const base::Names& names_;
  diag::Sink& diags_;
  std::unordered_set<NameId> bases_;  // names that stand before a dot
  bool bases_known_ = false;
  struct Waiting {
    Scope* scope;
    NameId name;
    Entry entry;
  };
  std::vector<Waiting> waiting_;  // elements that do not follow those declared so far
};

}  // namespace

Scope& declare(Program& program) { return Declarations(program).run(); }

}  // namespace expand
