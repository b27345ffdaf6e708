#include "compiler/expand/expand.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/growth.h"
#include "base/nearest.h"
#include "compiler/expand/diagnostics.h"
#include "compiler/parse/parse.h"

namespace expand {
namespace {

using base::NameId;
using parse::Body;
using parse::NodeId;
using parse::NodeKind;

// Nodes and instances after expansion, at most, turns of all loops, families and sums, and instances inside instances.
constexpr std::size_t most_nodes = 20'000'000 / base::growth_divisor;
constexpr std::size_t most_instances = 200'000 / base::growth_divisor;
constexpr std::size_t most_turns = 5'000'000 / base::growth_divisor;
constexpr int deepest_instance = 64;
constexpr long long longest_range = 1'000'000 / base::growth_divisor;

// Counters of loops, families and sums with their numbers; names bound by a function or a sum that stays, without.
struct Local {
  const Local* outer = nullptr;
  NameId name;
  std::optional<double> number;
};

const Local* find_local(const Local* locals, NameId name) {
  for (; locals; locals = locals->outer) {
    if (locals->name == name) return locals;
  }
  return nullptr;
}

struct Scope;

enum class What { constant, parameter, function, module, event, behaviour, quantity, port, instance, file };

struct Entry {
  What what;
  base::Span span;
  bool is_family = false;  // x[i in low..high]: `what` is each of them
  long long low = 0;
  long long high = -1;
  const parse::Module* module = nullptr;  // module
  Scope* scope = nullptr;                 // module: where it is declared; instance, file: its inside
  std::vector<Scope*> elements = {};      // a family of instances, from `low` on
  NodeId value = {};                      // constant, parameter: as written here
  NodeId argument = {};                   // port, parameter: what the call gives, as written around the instance
  enum { not_yet, in_progress, done } state = not_yet;
  NodeId bound = {};       // done: what the name stands for; not valid: it is a name of the instance
  bool is_fixed = false;   // a parameter that a range reads
  bool is_wanted = false;  // in a used file: something reads it
  bool is_emitted = false;
  // Constant, parameter, port: its number, without and with parameters counting as numbers.
  struct Number {
    enum { not_yet, in_progress, done } state = not_yet;
    std::optional<double> value = {};
  } numbers[2] = {};
};

// What names mean inside a program, a used file or an instance.
struct Scope {
  Scope* outer = nullptr;  // where the module is declared
  std::string prefix;
  const Body* body = nullptr;
  std::unordered_map<NameId, Entry> entries;
  std::vector<Scope*> imports;  // used files without a name of their own
  bool is_file = false;
  std::unordered_map<const parse::Module*, int> anonymous;  // instances without a name, so far
  // An instance: what made it, and where.
  Scope* parent = nullptr;
  const parse::Module* module = nullptr;
  std::deque<Local> locals;  // the counters around the call
  std::unordered_map<NameId, NodeId> arguments;
  int depth = 0;

  const Local* counters() const { return locals.empty() ? nullptr : &locals.back(); }
};

class Expander {
 public:
  Expander(parse::Tree tree, base::Names& names, const std::unordered_map<NameId, double>& overrides, diag::Sink& diags)
      : tree_(std::move(tree)),
        names_(names),
        overrides_(overrides),
        diags_(diags),
        time_(names.intern("t")),
        pi_(names.intern("pi")) {}

  parse::Tree run() {
    items_ = std::move(static_cast<Body&>(tree_));
    static_cast<Body&>(tree_) = {};
    bodies_ = std::exchange(tree_.bodies, {});
    Scope& top = add_scope(items_);
    declare_files(top);
    declare(top, items_, nullptr);
    for (parse::External& external : tree_.externals) expand_external(external, top);
    for (parse::Setting& setting : tree_.settings) {
      if (tree_[setting.value].kind != NodeKind::name) setting.value = expand(setting.value, top, nullptr);
    }
    emit(top, items_, nullptr);
    for (Scope* instance : instances_) emit_instance(*instance);
    while (emit_wanted()) {
    }
    return std::move(tree_);
  }

 private:
  // --- What names mean --------------------------------------------------------------------------------------------------

  Scope& add_scope(const Body& body) {
    scopes_.push_back(std::make_unique<Scope>());
    scopes_.back()->body = &body;
    return *scopes_.back();
  }

  // Used files: what they declare is seen, what they simulate is not.
  void declare_files(Scope& top) {
    std::unordered_map<std::uint32_t, Scope*> files;
    for (const parse::Use& use : tree_.uses) {
      if (use.file == parse::no_body || files.contains(use.file)) continue;
      Scope& file = add_scope(bodies_[use.file]);
      file.is_file = true;
      file.prefix = use.name + ".";
      files.emplace(use.file, &file);
      declare(file, *file.body, nullptr);
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

  void enter(Scope& scope, NameId name, Entry entry) {
    auto [found, fresh] = scope.entries.emplace(name, entry);
    if (!fresh) {
      diags_.report(entry.span, name_taken, names_.text(name)).related(found->second.span, "declared here before");
    }
  }

  // Every name that a body declares, and the instances in it. `locals`: counters of the loops around.
  void declare(Scope& scope, const Body& body, const Local* locals) {
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
      one_or_many(item.family, item.name, scope, locals,
                  [&](const Local* inner, NameId) { fix_timing(item, scope, inner); });
    }
    for (const parse::Behaviour& item : body.behaviours) {
      if (is_port(scope, item.name) && !item.family.valid()) continue;
      declare_one_or_many(scope, item.name, item.name_span, item.family, What::behaviour, locals);
    }
    for (const parse::Equation& item : body.equations) declare_equation(scope, item, locals);
    for (const parse::Loop& loop : body.loops) {
      repeat(loop.low, loop.high, loop.name, scope, locals,
             [&](const Local* inner, long long) { declare(scope, bodies_[loop.body], inner); });
    }
  }

  // Parameters that say when an event happens are fixed before the run.
  void fix_timing(const parse::Event& item, Scope& scope, const Local* locals) {
    for (NodeId id : {item.period, item.from}) {
      if (id.valid()) number(id, scope, locals);
    }
    for (NodeId time : item.times) number(time, scope, locals);
  }

  static bool is_port(const Scope& scope, NameId name) {
    auto found = scope.entries.find(name);
    return found != scope.entries.end() && found->second.what == What::port;
  }

  void declare_one_or_many(Scope& scope, NameId name, base::Span span, const parse::Family& family, What what,
                           const Local* locals) {
    Entry entry{what, span};
    if (family.valid()) {
      auto range = range_of(family.low, family.high, scope, locals);
      if (!range) return;
      entry.is_family = true;
      std::tie(entry.low, entry.high) = *range;
    }
    enter(scope, name, std::move(entry));
  }

  struct Called {
    const parse::Module* module;
    Scope* declared_in;
  };

  // The module that an instance's right side calls.
  std::optional<Called> called_module(const parse::Equation& item, Scope& scope) {
    const parse::Node& right = tree_[item.right];
    if (right.kind != NodeKind::call) return std::nullopt;
    if (item.left.valid() && tree_[item.left].kind != NodeKind::name) return std::nullopt;
    const parse::Node& callee = tree_[tree_.child(item.right, 0)];
    Found found;
    if (callee.kind == NodeKind::name) {
      found = find(scope, callee.name);
    } else if (callee.kind == NodeKind::member) {
      if (Scope* inside = instance_of(tree_.child(tree_.child(item.right, 0), 0), scope, nullptr))
        found = find_own(*inside, callee.name);
    }
    if (!found.entry || found.entry->what != What::module) return std::nullopt;
    return Called{found.entry->module, found.entry->scope};
  }

  void declare_equation(Scope& scope, const parse::Equation& item, const Local* locals) {
    auto called = called_module(item, scope);
    if (!called) {
      if (!item.left.valid() || is_meant_as_instance(item, scope))
        report_no_module(item, scope);
      else if (item.family.valid())
        declare_one_or_many(scope, tree_[item.left].name, tree_[item.left].span, item.family, What::quantity, locals);
      return;
    }
    if (!item.left.valid()) {
      const int number = ++scope.anonymous[called->module];
      const std::string name = fmt::format("{}[{}]", names_.text(called->module->name), number);
      add_instance(scope, *called, item, name, locals);
      return;
    }
    const NameId name = tree_[item.left].name;
    Entry entry{What::instance, tree_[item.left].span};
    if (!item.family.valid()) {
      entry.scope = add_instance(scope, *called, item, names_.text(name), locals);
    } else {
      auto range = range_of(item.family.low, item.family.high, scope, locals);
      if (!range) return;
      entry.is_family = true;
      std::tie(entry.low, entry.high) = *range;
      repeat(item.family.low, item.family.high, item.family.index, scope, locals, [&](const Local* inner, long long i) {
        const std::string path = fmt::format("{}[{}]", names_.text(name), i);
        entry.elements.push_back(add_instance(scope, *called, item, path, inner));
      });
    }
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
    if (name == "reinit" || name == "assert" || name == "terminate")
      return "what happens at an instant is an event: `event E when c;`, answered under `reactive`";
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
                      const Local* locals) {
    const std::string& module_name = names_.text(called.module->name);
    if (parent.depth >= deepest_instance) {
      if (!is_too_large_)
        diags_.report(item.span, contains_itself, module_name).hint("a module is made of other modules");
      is_too_large_ = true;
      return nullptr;
    }
    if (is_too_large_) return nullptr;
    if (scopes_.size() > most_instances) {
      report_too_large(item.span);
      return nullptr;
    }
    Scope& scope = add_scope(bodies_[called.module->body]);
    scope.outer = called.declared_in;
    scope.prefix = parent.prefix + path + ".";
    scope.parent = &parent;
    scope.module = called.module;
    scope.depth = parent.depth + 1;
    copy_locals(locals, scope.locals);
    bind_arguments(scope, item, module_name);
    instances_.push_back(&scope);
    declare(scope, *scope.body, nullptr);
    for (std::uint32_t i = 1; i < tree_[item.right].child_count && !scope.arguments.empty(); ++i) {
      const parse::Node& argument = tree_[tree_.child(item.right, i)];
      if (argument.kind != NodeKind::argument || scope.arguments.erase(argument.name) == 0) continue;
      const std::string& name = names_.text(argument.name);
      const base::Span span{argument.span.file, argument.span.begin,
                            argument.span.begin + static_cast<std::uint32_t>(name.size())};
      auto report = diags_.report(span, no_such_argument, module_name, name);
      if (auto near = base::nearest(name, given_by_name(*called.module))) report.hint("did you mean `{}`?", *near);
      report.hint("{}", ports_and_parameters(*called.module));
    }
    return &scope;
  }

  static void copy_locals(const Local* locals, std::deque<Local>& into) {
    std::vector<const Local*> chain;
    for (; locals; locals = locals->outer) chain.push_back(locals);
    for (auto local = chain.rbegin(); local != chain.rend(); ++local) {
      const Local* outer = into.empty() ? nullptr : &into.back();
      into.push_back({outer, (*local)->name, (*local)->number});
    }
  }

  std::vector<std::string_view> given_by_name(const parse::Module& module) const {
    std::vector<std::string_view> known;
    for (const parse::ModulePort& port : module.ports) known.push_back(names_.text(port.name));
    for (const parse::Parameter& parameter : bodies_[module.body].parameters)
      known.push_back(names_.text(parameter.name));
    return known;
  }

  // The names that an instance's equations, behaviours and events define, then its ports and parameters.
  std::vector<std::string_view> members(const parse::Module& module) const {
    std::vector<std::string_view> known;
    auto add = [&](NameId name) {
      const std::string_view text = names_.text(name);
      if (std::find(known.begin(), known.end(), text) == known.end()) known.push_back(text);
    };
    const Body& body = bodies_[module.body];
    for (const parse::Equation& equation : body.equations) {
      NodeId left = equation.left;
      while (left.valid() && (tree_[left].kind == NodeKind::prime || tree_[left].kind == NodeKind::index))
        left = tree_.child(left, 0);
      if (left.valid() && tree_[left].kind == NodeKind::name) add(tree_[left].name);
    }
    for (const parse::Behaviour& behaviour : body.behaviours) add(behaviour.name);
    for (const parse::Event& event : body.events) add(event.name);
    for (const parse::ModulePort& port : module.ports) add(port.name);
    for (const parse::Parameter& parameter : body.parameters) add(parameter.name);
    return known;
  }

  static std::string list(const std::vector<std::string_view>& names) {
    std::string out;
    for (std::string_view name : names) out += fmt::format("{}`{}`", out.empty() ? "" : ", ", name);
    return out;
  }

  std::string ports_and_parameters(const parse::Module& module) const {
    const std::vector<std::string_view> known = given_by_name(module);
    return known.empty() ? "it has no ports and no parameters" : fmt::format("it has {}", list(known));
  }

  // `s.force`, for the name of an instance that was used as a value.
  std::string some_member(const std::string& path, const Entry& entry) const {
    const Scope* inside = !entry.elements.empty() ? entry.elements.front() : entry.scope;
    const std::vector<std::string_view> known =
        inside && inside->module ? members(*inside->module) : std::vector<std::string_view>{};
    const std::string index = entry.is_family && !path.ends_with(']') ? fmt::format("[{}]", entry.low) : "";
    return fmt::format("{}{}.{}", path, index, known.empty() ? "x" : known.front());
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
    const auto& parameters = bodies_[module.body].parameters;
    if (parameters.empty()) return "drop what is too many; " + ports_and_parameters(module);
    return fmt::format("a parameter is given by its name: `{} = {}`; {}", names_.text(parameters.front().name),
                       parse::print(tree_, names_, argument), ports_and_parameters(module));
  }

  struct Found {
    Entry* entry = nullptr;
    Scope* scope = nullptr;
  };

  static bool is_seen_from_inside(const Entry& entry) {
    return entry.what == What::constant || entry.what == What::parameter || entry.what == What::function ||
           entry.what == What::module || entry.what == What::event || entry.what == What::file;
  }

  // In the scope itself or in what it uses.
  static Found find_own(Scope& scope, NameId name) {
    if (auto found = scope.entries.find(name); found != scope.entries.end()) return {&found->second, &scope};
    for (Scope* file : scope.imports) {
      auto found = file->entries.find(name);
      if (found != file->entries.end() && found->second.what != What::file) return {&found->second, file};
    }
    return {};
  }

  static Found find(Scope& scope, NameId name) {
    if (Found found = find_own(scope, name); found.entry) return found;
    for (Scope* outer = scope.outer; outer; outer = outer->outer) {
      Found found = find_own(*outer, name);
      if (found.entry && is_seen_from_inside(*found.entry)) return found;
    }
    return {};
  }

  // The inside of `s`, `leg[2]`, `a.b`, or of a used file; null when the expression is no such path. With `reported`, says why an index
  // does not fit.
  Scope* instance_of(NodeId id, Scope& scope, const Local* locals, bool* reported = nullptr) {
    const parse::Node& node = tree_[id];
    if (node.kind == NodeKind::name) {
      if (find_local(locals, node.name)) return nullptr;
      Found found = find(scope, node.name);
      const bool is_inside = found.entry && !found.entry->is_family &&
                             (found.entry->what == What::instance || found.entry->what == What::file);
      return is_inside ? found.entry->scope : nullptr;
    }
    if (node.kind == NodeKind::member) {
      Scope* inside = instance_of(tree_.child(id, 0), scope, locals, reported);
      if (!inside) return nullptr;
      Found found = find_own(*inside, node.name);
      return found.entry && found.entry->what == What::instance && !found.entry->is_family ? found.entry->scope
                                                                                           : nullptr;
    }
    if (node.kind != NodeKind::index || node.child_count != 2) return nullptr;
    Found family = family_of(tree_.child(id, 0), scope, locals);
    if (!family.entry || family.entry->what != What::instance) return nullptr;
    auto element = element_of(id, *family.entry, scope, locals);
    if (!element) {
      if (reported) *reported = true;
      return nullptr;
    }
    const auto at = static_cast<std::size_t>(*element - family.entry->low);
    return at < family.entry->elements.size() ? family.entry->elements[at] : nullptr;
  }

  // The family that `x`, `s.x` names.
  Found family_of(NodeId id, Scope& scope, const Local* locals) {
    const parse::Node& node = tree_[id];
    Found found;
    if (node.kind == NodeKind::name && !find_local(locals, node.name)) {
      found = find(scope, node.name);
    } else if (node.kind == NodeKind::member) {
      if (Scope* inside = instance_of(tree_.child(id, 0), scope, locals)) found = find_own(*inside, node.name);
    }
    return found.entry && found.entry->is_family ? found : Found{};
  }

  // The number in the brackets of `id`, if the family has it; else reports.
  std::optional<long long> element_of(NodeId id, const Entry& family, Scope& scope, const Local* locals) {
    const NodeId index = tree_.child(id, 1);
    auto number = whole(index, scope, locals);
    if (!number) {
      diags_.report(tree_[index].span, range_not_constant, "indices")
          .hint("an index is made of numbers, constants and counters");
      return std::nullopt;
    }
    if (*number >= family.low && *number <= family.high) return number;
    diags_.report(tree_[index].span, no_element, *number, parse::print(tree_, names_, tree_.child(id, 0)))
        .hint("its elements are numbered from {} to {}", family.low, family.high);
    return std::nullopt;
  }

  // --- Numbers ---------------------------------------------------------------------------------------------------------

  // Of literals, constants, counters, parameters that a range has read, and, with `parameters`, all others, which are fixed by that.
  std::optional<double> number(NodeId id, Scope& scope, const Local* locals, bool parameters = true, int depth = 0) {
    if (depth > 200) return std::nullopt;
    const parse::Node& node = tree_[id];
    auto child = [&](std::uint32_t i) { return number(tree_.child(id, i), scope, locals, parameters, depth + 1); };
    switch (node.kind) {
      case NodeKind::number:
        return node.number;
      case NodeKind::negate:
        if (auto a = child(0)) return -*a;
        return std::nullopt;
      case NodeKind::name:
        return number_of_name(node.name, scope, locals, parameters, depth);
      case NodeKind::index: {  // of a constant that is a tuple
        const parse::Node& base = tree_[tree_.child(id, 0)];
        if (base.kind != NodeKind::name || node.child_count != 2) return std::nullopt;
        Found found = find(scope, base.name);
        auto at = child(1);
        if (!found.entry || found.entry->what != What::constant || !at) return std::nullopt;
        const NodeId tuple = found.entry->value;
        if (tree_[tuple].kind != NodeKind::tuple || *at != std::floor(*at) || *at < 1 || *at > tree_[tuple].child_count)
          return std::nullopt;
        return number(tree_.child(tuple, static_cast<std::uint32_t>(*at) - 1), *found.scope, nullptr, parameters,
                      depth + 1);
      }
      case NodeKind::sum:
      case NodeKind::product: {
        std::optional<double> result;
        for (std::uint32_t i = 0; i < node.child_count; ++i) {
          auto a = child(i);
          if (!a) return std::nullopt;
          const parse::Op op = tree_.children[tree_[id].first_child + i].op;
          if (i == 0)
            result = *a;
          else if (op == parse::Op::plus)
            *result += *a;
          else if (op == parse::Op::minus)
            *result -= *a;
          else if (op == parse::Op::times)
            *result *= *a;
          else
            *result /= *a;
        }
        return result;
      }
      case NodeKind::power: {
        auto a = child(0);
        auto b = child(1);
        if (!a || !b) return std::nullopt;
        return std::pow(*a, *b);
      }
      default:
        return truth(id, scope, locals, parameters, depth);
    }
  }

  // Of conditions among numbers: 1 or 0.
  std::optional<double> truth(NodeId id, Scope& scope, const Local* locals, bool parameters, int depth) {
    const parse::Node& node = tree_[id];
    auto child = [&](std::uint32_t i) { return number(tree_.child(id, i), scope, locals, parameters, depth + 1); };
    switch (node.kind) {
      case NodeKind::boolean:
        return node.number;
      case NodeKind::compare: {
        auto a = child(0);
        auto b = child(1);
        if (!a || !b) return std::nullopt;
        return compare(node.op, *a, *b);
      }
      case NodeKind::in_range: {
        auto x = child(0);
        auto low = child(1);
        auto high = child(2);
        if (!x || !low || !high) return std::nullopt;
        return *low <= *x && *x <= *high;
      }
      case NodeKind::logical_not:
        if (auto a = child(0)) return *a == 0;
        return std::nullopt;
      case NodeKind::logical_and:
      case NodeKind::logical_or: {
        const bool is_and = node.kind == NodeKind::logical_and;
        for (std::uint32_t i = 0; i < node.child_count; ++i) {
          auto a = child(i);
          if (!a) return std::nullopt;
          if ((*a != 0) != is_and) return !is_and;
        }
        return is_and;
      }
      default:
        return std::nullopt;
    }
  }

  static bool compare(parse::Op op, double a, double b) {
    switch (op) {
      case parse::Op::less:
        return a < b;
      case parse::Op::less_equal:
        return a <= b;
      case parse::Op::greater:
        return a > b;
      case parse::Op::greater_equal:
        return a >= b;
      case parse::Op::equal:
        return a == b;
      default:
        return a != b;
    }
  }

  std::optional<double> number_of_name(NameId name, Scope& scope, const Local* locals, bool parameters, int depth) {
    if (name == pi_) return 3.14159265358979323846;
    if (const Local* local = find_local(locals, name)) return local->number;
    Found found = find(scope, name);
    if (!found.entry || found.entry->is_family) return std::nullopt;
    Entry& entry = *found.entry;
    const bool is_number = entry.what == What::parameter ? parameters || entry.is_fixed
                                                         : entry.what == What::constant || entry.what == What::port;
    if (!is_number) return std::nullopt;
    if (entry.what != What::port) {
      auto given = overrides_.find(names_.find(found.scope->prefix + names_.text(name)));
      if (given != overrides_.end()) {
        entry.is_fixed = true;
        return given->second;
      }
    }
    // Once for each name: a chain of names that are each used twice would take exponential time.
    Entry::Number& known = entry.numbers[parameters];
    if (known.state != Entry::Number::not_yet) return known.value;
    known.state = Entry::Number::in_progress;
    std::optional<double> result;
    if (entry.argument.valid())
      result = number(entry.argument, *found.scope->parent, found.scope->counters(), parameters, depth + 1);
    else if (entry.value.valid())
      result = number(entry.value, *found.scope, nullptr, parameters, depth + 1);
    known = {Entry::Number::done, result};
    if (result) entry.is_fixed = true;
    return result;
  }

  std::optional<long long> whole(NodeId id, Scope& scope, const Local* locals) {
    auto value = number(id, scope, locals);
    if (!value || *value != std::floor(*value) || std::abs(*value) > 1e9) return std::nullopt;
    return static_cast<long long>(*value);
  }

  std::optional<std::pair<long long, long long>> range_of(NodeId low, NodeId high, Scope& scope, const Local* locals) {
    const base::Span span = tree_[low].span.to(tree_[high].span);
    auto from = whole(low, scope, locals);
    auto to = whole(high, scope, locals);
    if (!from || !to) {
      diags_.report(span, range_not_constant, "the ends of a range")
          .hint("a range is made of numbers, constants and parameters: `1..6`");
      return std::nullopt;
    }
    if (*to - *from >= longest_range) {
      report_too_large(span);
      return std::nullopt;
    }
    return std::pair(*from, *to);
  }

  template <class Do>
  void repeat(NodeId low, NodeId high, NameId counter, Scope& scope, const Local* locals, Do each) {
    auto range = range_of(low, high, scope, locals);
    if (!range) return;
    for (long long i = range->first; i <= range->second && !is_too_large_; ++i) {
      if (++turns_ > most_turns) report_too_large(tree_[low].span.to(tree_[high].span));
      const Local inner{locals, counter, static_cast<double>(i)};
      each(&inner, i);
    }
  }

  void report_too_large(base::Span span) {
    if (!is_too_large_) {
      diags_.report(span, too_large)
          .hint("at most {} nodes, {} instances and ranges of {} are written out", most_nodes, most_instances,
                longest_range);
    }
    is_too_large_ = true;
  }

  // --- Expressions -----------------------------------------------------------------------------------------------------

  NodeId add(parse::Node node, std::span<const parse::Child> children = {}) {
    if (tree_.nodes.size() >= most_nodes) report_too_large(node.span);
    // `children` may be a part of what grows here.
    std::vector<parse::Child> copy(children.begin(), children.end());
    node.first_child = static_cast<std::uint32_t>(tree_.children.size());
    node.child_count = static_cast<std::uint32_t>(copy.size());
    tree_.children.insert(tree_.children.end(), copy.begin(), copy.end());
    tree_.nodes.push_back(node);
    return NodeId(tree_.nodes.size() - 1);
  }
  NodeId add_name(const std::string& name, base::Span span) {
    return add({.kind = NodeKind::name, .span = span, .name = names_.intern(name)});
  }
  NodeId add_number(double number, base::Span span) {
    return add({.kind = NodeKind::number, .span = span, .number = number});
  }

  // The expression as it reads outside of all modules and loops; the same node when nothing changes.
  NodeId expand(NodeId id, Scope& scope, const Local* locals) {
    if (is_too_large_ || !id.valid()) return id;
    switch (tree_[id].kind) {
      case NodeKind::name:
        return expand_name(id, scope, locals);
      case NodeKind::member:
        return expand_member(id, scope, locals);
      case NodeKind::index:
        return expand_index(id, scope, locals);
      case NodeKind::call:
        return expand_call(id, scope, locals);
      case NodeKind::sum_over:
        return expand_sum_over(id, scope, locals);
      case NodeKind::conditional:  // what is not chosen need not exist: `if i < n then x[i + 1] else 0`
        if (auto chosen = number(tree_.child(id, 0), scope, locals, false))
          return expand(tree_.child(id, *chosen != 0 ? 1 : 2), scope, locals);
        return expand_children(id, 0, scope, locals);
      default:
        return expand_children(id, 0, scope, locals);
    }
  }

  NodeId expand_children(NodeId id, std::uint32_t from, Scope& scope, const Local* locals) {
    const parse::Node node = tree_[id];
    std::vector<parse::Child> children;
    bool changed = false;
    for (std::uint32_t i = 0; i < node.child_count; ++i) {
      const parse::Child child = tree_.children[node.first_child + i];
      const NodeId made = i < from ? child.node : expand(child.node, scope, locals);
      changed = changed || made != child.node;
      children.push_back({made, child.op});
    }
    return changed ? add(node, children) : id;
  }

  NodeId expand_name(NodeId id, Scope& scope, const Local* locals) {
    const parse::Node node = tree_[id];
    if (const Local* local = find_local(locals, node.name))
      return local->number ? add_number(*local->number, node.span) : id;
    if (node.name == time_ || node.name == pi_) return id;
    Found found = find(scope, node.name);
    if (!found.entry) return scope.prefix.empty() ? id : add_name(scope.prefix + names_.text(node.name), node.span);
    return meaning_of(id, node.name, found);
  }

  // What a declared name stands for, written at `id`.
  NodeId meaning_of(NodeId id, NameId name, Found found) {
    const base::Span span = tree_[id].span;
    Entry& entry = *found.entry;
    const std::string full = found.scope->prefix + names_.text(name);
    switch (entry.what) {
      case What::instance:
      case What::file:
        diags_.report(span, instance_not_a_value, parse::print(tree_, names_, id))
            .hint("name what is meant in it, such as `{}`", some_member(parse::print(tree_, names_, id), entry));
        return id;
      case What::module:
        diags_.report(span, module_not_a_value, names_.text(name))
            .hint("an instance is an item of its own: `s = {}(..);`, and its values are `s.x`", names_.text(name));
        return id;
      case What::port:
      case What::parameter: {
        const NodeId bound = bound_to(name, found);
        if (bound.valid()) return bound;
        break;
      }
      default:
        break;
    }
    entry.is_wanted = true;
    if (entry.is_family) {
      std::vector<parse::Child> children;
      for (long long i = entry.low; i <= entry.high && !is_too_large_; ++i)
        children.push_back({add_name(fmt::format("{}[{}]", full, i), span)});
      if (children.size() == 1) return children.front().node;
      if (children.empty()) return add_number(0, span);
      return add({.kind = NodeKind::tuple, .span = span}, children);
    }
    return full == names_.text(name) && tree_[id].kind == NodeKind::name ? id : add_name(full, span);
  }

  // What an argument of the instance gives the name; not valid when it is a name of its own.
  NodeId bound_to(NameId name, Found found) {
    Entry& entry = *found.entry;
    if (!entry.argument.valid()) return {};
    if (entry.state == Entry::done) return entry.bound;
    if (entry.state == Entry::in_progress) {  // ports bound to each other: one of them is a name
      entry.state = Entry::done;
      return {};
    }
    entry.state = Entry::in_progress;
    Scope& parent = *found.scope->parent;
    const Local* counters = found.scope->counters();
    if (entry.what == What::parameter && number(entry.argument, parent, counters, entry.is_fixed)) {
      entry.state = Entry::done;
      return {};
    }
    const NodeId value = expand(entry.argument, parent, counters);
    const bool is_cycle = entry.state == Entry::done;
    entry.state = Entry::done;
    if (!is_cycle && is_reference(value)) return entry.bound = value;
    const base::Span span = tree_[entry.argument].span;
    const NodeId own = add_name(found.scope->prefix + names_.text(name), span);
    if (tree_[value].kind == NodeKind::name && tree_[value].name == tree_[own].name) return {};
    tree_.equations.push_back({span, own, value, {}});
    return {};
  }

  // Names, numbers, derivatives and components of names, and tuples of them.
  bool is_reference(NodeId id) const {
    const parse::Node& node = tree_[id];
    switch (node.kind) {
      case NodeKind::name:
      case NodeKind::number:
        return true;
      case NodeKind::prime:
      case NodeKind::member:
        return is_reference(tree_.child(id, 0));
      case NodeKind::index:
        return tree_[tree_.child(id, 0)].kind != NodeKind::call && is_reference(tree_.child(id, 0));
      case NodeKind::tuple:
        return std::all_of(tree_.children_of(id).begin(), tree_.children_of(id).end(),
                           [&](const parse::Child& child) { return is_reference(child.node); });
      default:
        return false;
    }
  }

  NodeId expand_member(NodeId id, Scope& scope, const Local* locals) {
    const parse::Node node = tree_[id];
    bool reported = false;
    Scope* inside = instance_of(tree_.child(id, 0), scope, locals, &reported);
    if (reported) return id;
    if (!inside) return expand_device_value(id, scope, locals);
    Found found = find_own(*inside, node.name);
    if (found.entry) return meaning_of(id, node.name, found);
    if (inside->is_file || !mentions(*inside->body, node.name)) {
      const std::string path = parse::print(tree_, names_, tree_.child(id, 0));
      auto report = diags_.report(node.span, no_member, path, names_.text(node.name));
      if (!inside->module) return id;
      const std::vector<std::string_view> known = members(*inside->module);
      if (auto near = base::nearest(names_.text(node.name), known)) report.hint("did you mean `{}.{}`?", path, *near);
      report.hint("it has {}", known.empty() ? "nothing" : list(known));
      return id;
    }
    return add_name(inside->prefix + names_.text(node.name), node.span);
  }

  // `hand.position` stays as it is; anything else before a dot is a mistake, which check reports.
  NodeId expand_device_value(NodeId id, Scope& scope, const Local* locals) {
    const NodeId base = tree_.child(id, 0);
    if (tree_[base].kind == NodeKind::name && !find(scope, tree_[base].name).entry) return id;
    return expand_children(id, 0, scope, locals);
  }

  // Whether a body's items use a name, so that an instance has it.
  bool mentions(const Body& body, NameId name) {
    auto [known, fresh] = mentioned_.try_emplace(&body);
    if (fresh) {
      std::vector<NodeId> open;
      auto look_into = [&](const Body& items, auto& self) -> void {
        for (const parse::Equation& item : items.equations) {
          if (item.left.valid()) open.push_back(item.left);
          open.push_back(item.right);
        }
        for (const parse::Condition& item : items.conditions) open.push_back(item.variable);
        for (const parse::Loop& item : items.loops) self(bodies_[item.body], self);
      };
      look_into(body, look_into);
      while (!open.empty()) {
        const NodeId id = open.back();
        open.pop_back();
        if (tree_[id].kind == NodeKind::name) known->second.insert(tree_[id].name);
        for (const parse::Child& child : tree_.children_of(id)) open.push_back(child.node);
      }
    }
    return known->second.contains(name);
  }

  NodeId expand_index(NodeId id, Scope& scope, const Local* locals) {
    const parse::Node node = tree_[id];
    NodeId base = tree_.child(id, 0);
    std::uint32_t primes = 0;
    if (tree_[base].kind == NodeKind::prime) {
      primes = tree_[base].count;
      base = tree_.child(base, 0);
    }
    Found family = family_of(base, scope, locals);
    if (!family.entry) return expand_children(id, 0, scope, locals);
    if (family.entry->what == What::instance) {
      diags_.report(node.span, instance_not_a_value, parse::print(tree_, names_, id))
          .hint("name what is meant in it, such as `{}`", some_member(parse::print(tree_, names_, id), *family.entry));
      return id;
    }
    auto element = element_of(id, *family.entry, scope, locals);
    if (!element) return id;
    const NameId name = tree_[base].name;
    NodeId made = add_name(fmt::format("{}{}[{}]", family.scope->prefix, names_.text(name), *element), node.span);
    if (primes > 0) {
      const parse::Child child{made};
      made = add({.kind = NodeKind::prime, .span = node.span, .count = primes}, {&child, 1});
    }
    if (node.child_count == 2) return made;
    // x[i, j]: component j of element i.
    std::vector<parse::Child> children = {{made}};
    for (std::uint32_t i = 2; i < node.child_count; ++i)
      children.push_back({expand(tree_.child(id, i), scope, locals)});
    return add(node, children);
  }

  NodeId expand_call(NodeId id, Scope& scope, const Local* locals) {
    const NodeId callee = tree_.child(id, 0);
    const NodeKind kind = tree_[callee].kind;
    if (kind == NodeKind::name && names_.text(tree_[callee].name) == "table" && !find(scope, tree_[callee].name).entry)
      return expand_table(id, scope, locals);
    NodeId function = callee;
    if (kind == NodeKind::name) {
      Found found = find(scope, tree_[callee].name);
      const bool is_declared =
          found.entry && (found.entry->what == What::function || found.entry->what == What::module ||
                          found.entry->what == What::instance);
      if (is_declared) function = meaning_of(callee, tree_[callee].name, found);
    } else {
      function = expand(callee, scope, locals);
    }
    const NodeId made = expand_children(id, 1, scope, locals);
    if (function == callee) return made;
    const parse::Node called = tree_[made];
    std::vector<parse::Child> children(tree_.children_of(made).begin(), tree_.children_of(made).end());
    children.front().node = function;
    return add(called, children);
  }

  // Of `table("x.csv", cubic, column = i)` all but the column are words.
  NodeId expand_table(NodeId id, Scope& scope, const Local* locals) {
    std::vector<parse::Child> children(tree_.children_of(id).begin(), tree_.children_of(id).end());
    bool changed = false;
    for (parse::Child& child : children) {
      const parse::Node& node = tree_[child.node];
      if (node.kind != NodeKind::argument || names_.text(node.name) != "column") continue;
      const NodeId made = expand(child.node, scope, locals);
      changed = changed || made != child.node;
      child.node = made;
    }
    return changed ? add(parse::Node(tree_[id]), children) : id;
  }

  NodeId expand_sum_over(NodeId id, Scope& scope, const Local* locals) {
    const parse::Node node = tree_[id];
    auto low = whole(tree_.child(id, 0), scope, locals);
    auto high = whole(tree_.child(id, 1), scope, locals);
    if (!low || !high || *high - *low >= longest_range) {  // check says what is wrong
      const Local inner{locals, node.name, std::nullopt};
      return expand_children(id, 0, scope, &inner);
    }
    std::vector<parse::Child> terms;
    for (long long i = *low; i <= *high && !is_too_large_; ++i) {
      if (++turns_ > most_turns) report_too_large(node.span);
      const Local inner{locals, node.name, static_cast<double>(i)};
      terms.push_back({expand(tree_.child(id, 2), scope, &inner), parse::Op::plus});
    }
    if (terms.empty()) return add_number(0, node.span);
    if (terms.size() == 1) return terms.front().node;
    return add({.kind = NodeKind::sum, .span = node.span}, terms);
  }

  // --- Items -----------------------------------------------------------------------------------------------------------

  void expand_external(parse::External& external, Scope& scope) {
    for (std::vector<parse::Access>* list : {&external.reads, &external.writes}) {
      for (parse::Access& access : *list) {
        if (!access.value.valid()) access.variable = expand(access.variable, scope, nullptr);
        access.value = expand(access.value, scope, nullptr);
      }
    }
    for (parse::ObservedEvent& event : external.events) {
      event.rate = expand(event.rate, scope, nullptr);
      event.time = expand(event.time, scope, nullptr);
    }
    external.period = expand(external.period, scope, nullptr);
  }

  void emit_instance(Scope& scope) {
    if (is_too_large_) return;
    for (const parse::ModulePort& port : scope.module->ports) {
      Found found = find_own(scope, port.name);
      NodeId value = bound_to(port.name, found);
      if (!port.shape.valid()) continue;
      if (!value.valid()) value = add_name(scope.prefix + names_.text(port.name), port.span);
      tree_.shapes.push_back({port.span, value, expand(port.shape, scope, nullptr)});
    }
    for (const parse::Parameter& parameter : scope.body->parameters)
      bound_to(parameter.name, find_own(scope, parameter.name));
    emit(scope, *scope.body, nullptr);
  }

  // Constants, parameters and functions of used files that something reads. Whether there were any.
  bool emit_wanted() {
    bool any = false;
    for (std::size_t i = 0; i < scopes_.size(); ++i) {
      Scope& scope = *scopes_[i];
      if (!scope.is_file) continue;
      auto is_due = [&](NameId name) {
        Entry& entry = scope.entries.at(name);
        if (!entry.is_wanted || entry.is_emitted) return false;
        return any = entry.is_emitted = true;
      };
      for (const parse::Constant& item : scope.body->constants)
        if (is_due(item.name)) emit_constant(item, scope);
      for (const parse::Parameter& item : scope.body->parameters)
        if (is_due(item.name)) emit_parameter(item, scope);
      for (const parse::Function& item : scope.body->functions)
        if (is_due(item.name)) emit_function(item, scope);
    }
    return any;
  }

  NameId full_name(const Scope& scope, NameId name) { return names_.intern(scope.prefix + names_.text(name)); }

  void emit_constant(parse::Constant item, Scope& scope) {
    item.name = full_name(scope, item.name);
    item.value = expand(item.value, scope, nullptr);
    tree_.constants.push_back(item);
  }

  void emit_parameter(parse::Parameter item, Scope& scope) {
    Entry& entry = find_own(scope, item.name).entry[0];
    if (entry.bound.valid()) return;
    const bool is_given = entry.argument.valid();
    if (is_given) {
      Scope& parent = *scope.parent;
      if (!number(entry.argument, parent, scope.counters(), entry.is_fixed)) return;  // it has an equation
      item.value = expand(entry.argument, parent, scope.counters());
    } else {
      item.value = expand(item.value, scope, nullptr);
    }
    item.name = full_name(scope, item.name);
    if (entry.is_fixed) {
      tree_.constants.push_back({item.span, item.name, item.name_span, item.value});
      return;
    }
    item.low = expand(item.low, scope, nullptr);
    item.high = expand(item.high, scope, nullptr);
    tree_.parameters.push_back(item);
  }

  void emit_function(parse::Function item, Scope& scope) {
    std::deque<Local> arguments;
    for (NameId argument : item.arguments)
      arguments.push_back({arguments.empty() ? nullptr : &arguments.back(), argument, std::nullopt});
    item.name = full_name(scope, item.name);
    item.value = expand(item.value, scope, arguments.empty() ? nullptr : &arguments.back());
    tree_.functions.push_back(std::move(item));
  }

  void emit(Scope& scope, const Body& body, const Local* locals) {
    if (is_too_large_) return;
    for (const parse::Constant& item : body.constants) emit_constant(item, scope);
    for (const parse::Parameter& item : body.parameters) emit_parameter(item, scope);
    for (const parse::Function& item : body.functions) emit_function(item, scope);
    for (const parse::Condition& item : body.conditions) emit_condition(item, scope, locals);
    for (const parse::Equation& item : body.equations) emit_equation(item, scope, locals);
    for (const parse::Event& item : body.events) {
      one_or_many(item.family, item.name, scope, locals,
                  [&](const Local* inner, NameId name) { emit_event(item, name, scope, inner); });
    }
    for (const parse::Behaviour& item : body.behaviours) {
      one_or_many(item.family, item.name, scope, locals,
                  [&](const Local* inner, NameId name) { emit_behaviour(item, name, scope, inner); });
    }
    for (const parse::Loop& loop : body.loops) {
      repeat(loop.low, loop.high, loop.name, scope, locals,
             [&](const Local* inner, long long) { emit(scope, bodies_[loop.body], inner); });
    }
  }

  template <class Do>
  void one_or_many(const parse::Family& family, NameId name, Scope& scope, const Local* locals, Do each) {
    if (!family.valid()) return each(locals, full_name(scope, name));
    repeat(family.low, family.high, family.index, scope, locals, [&](const Local* inner, long long i) {
      each(inner, names_.intern(fmt::format("{}{}[{}]", scope.prefix, names_.text(name), i)));
    });
  }

  void emit_equation(const parse::Equation& item, Scope& scope, const Local* locals) {
    if (!item.left.valid() || called_module(item, scope)) return;
    if (!item.family.valid()) {
      const NodeId left = expand(item.left, scope, locals);
      tree_.equations.push_back({item.span, left, expand(item.right, scope, locals), {}});
      return;
    }
    one_or_many(item.family, tree_[item.left].name, scope, locals, [&](const Local* inner, NameId name) {
      const NodeId left = add_name(names_.text(name), tree_[item.left].span);
      tree_.equations.push_back({item.span, left, expand(item.right, scope, inner), {}});
    });
  }

  void emit_condition(const parse::Condition& item, Scope& scope, const Local* locals) {
    parse::Condition made = item;
    made.variable = expand(item.variable, scope, locals);
    made.time = expand(item.time, scope, locals);
    made.value = expand(item.value, scope, locals);
    NodeId base = made.variable;
    const bool is_primed = tree_[base].kind == NodeKind::prime;
    if (is_primed) base = tree_.child(base, 0);
    if (tree_[base].kind != NodeKind::tuple) {
      tree_.conditions.push_back(made);
      return;
    }
    // A family, or a port that is a tuple: a condition for each part.
    const std::uint32_t count = tree_[base].child_count;
    const NodeId value = made.value;
    for (std::uint32_t i = 0; i < count; ++i) {
      parse::Child part{tree_.child(base, i)};
      if (is_primed) {
        parse::Node prime = tree_[made.variable];
        prime.count = tree_[item.variable].count;
        part.node = add(prime, {&part, 1});
      }
      parse::Condition component = made;
      component.variable = part.node;
      if (tree_[value].kind == NodeKind::tuple && tree_[value].child_count == count) {
        component.value = tree_.child(value, i);
      } else if ((tree_[value].kind != NodeKind::number || tree_[value].number != 0) &&
                 !is_parameter(item.value, scope)) {
        const parse::Child children[] = {{value}, {add_number(i + 1, tree_[value].span)}};
        component.value = add({.kind = NodeKind::index, .span = tree_[value].span}, children);
      }
      tree_.conditions.push_back(component);
    }
  }

  // A parameter that is a number of its own: as a start it spreads over all parts.
  bool is_parameter(NodeId id, Scope& scope) {
    if (tree_[id].kind != NodeKind::name) return false;
    Found found = find(scope, tree_[id].name);
    return found.entry && found.entry->what == What::parameter && !bound_to(tree_[id].name, found).valid();
  }

  void emit_event(parse::Event item, NameId name, Scope& scope, const Local* locals) {
    item.name = name;
    item.family = {};
    item.period = expand(item.period, scope, locals);
    item.from = expand(item.from, scope, locals);
    item.condition = expand(item.condition, scope, locals);
    for (NodeId& time : item.times) time = expand(time, scope, locals);
    tree_.events.push_back(std::move(item));
  }

  // A behaviour that is a port is what the call gives when that is a name; any other reference equals it.
  NameId behaviour_name(const parse::Behaviour& item, NameId name, Scope& scope) {
    if (item.family.valid() || !is_port(scope, item.name)) return name;
    const NodeId bound = bound_to(item.name, find_own(scope, item.name));
    if (!bound.valid()) return name;
    if (tree_[bound].kind == NodeKind::name) return tree_[bound].name;
    tree_.equations.push_back({item.span, bound, add_name(names_.text(name), item.name_span), {}});
    return name;
  }

  void emit_behaviour(parse::Behaviour item, NameId name, Scope& scope, const Local* locals) {
    item.name = behaviour_name(item, name, scope);
    item.family = {};
    item.start = expand(item.start, scope, locals);
    item.value = expand(item.value, scope, locals);
    const Local own{locals, item.own, std::nullopt};
    for (parse::Handler& handler : item.handlers) {
      handler.event = expand(handler.event, scope, locals);
      handler.value = expand(handler.value, scope, item.own.valid() ? &own : locals);
    }
    tree_.behaviours.push_back(std::move(item));
  }

  parse::Tree tree_;
  Body items_;                // of the program, as written
  std::vector<Body> bodies_;  // of modules, loops and used files, as written
  base::Names& names_;
  const std::unordered_map<NameId, double>& overrides_;
  diag::Sink& diags_;
  NameId time_;
  NameId pi_;
  std::vector<std::unique_ptr<Scope>> scopes_;
  std::vector<Scope*> instances_;
  std::unordered_map<const Body*, std::unordered_set<NameId>> mentioned_;
  std::unordered_set<NameId> bases_;  // names that stand before a dot
  bool bases_known_ = false;
  std::size_t turns_ = 0;
  bool is_too_large_ = false;
};

// Whether some `s` of `s = F(..)` stands before a dot, so that it was meant to be an instance.
bool has_instance_of_nothing(const parse::Tree& tree) {
  std::unordered_set<NameId> made;
  for (const parse::Equation& item : tree.equations) {
    if (item.left.valid() && tree[item.left].kind == NodeKind::name && tree[item.right].kind == NodeKind::call)
      made.insert(tree[item.left].name);
  }
  return !made.empty() && std::any_of(tree.nodes.begin(), tree.nodes.end(), [&](const parse::Node& node) {
    if (node.kind != NodeKind::member) return false;
    const parse::Node& base = tree[tree.children[node.first_child].node];
    return base.kind == NodeKind::name && made.contains(base.name);
  });
}

bool mentions_parameter(const parse::Tree& tree, NodeId id) {
  if (!id.valid()) return false;
  const parse::Node& node = tree[id];
  if (node.kind == NodeKind::name) {
    return std::any_of(tree.parameters.begin(), tree.parameters.end(),
                       [&](const parse::Parameter& parameter) { return parameter.name == node.name; });
  }
  const auto children = tree.children_of(id);
  return std::any_of(children.begin(), children.end(),
                     [&](const parse::Child& child) { return mentions_parameter(tree, child.node); });
}

bool is_timed_by_parameters(const parse::Tree& tree, const parse::Event& item) {
  return mentions_parameter(tree, item.period) || mentions_parameter(tree, item.from) ||
         std::any_of(item.times.begin(), item.times.end(), [&](NodeId id) { return mentions_parameter(tree, id); });
}

bool is_plain(const parse::Tree& tree) {
  return !has_instance_of_nothing(tree) && tree.modules.empty() && tree.loops.empty() && tree.uses.empty() &&
         std::all_of(tree.equations.begin(), tree.equations.end(),
                     [](const parse::Equation& item) { return item.left.valid() && !item.family.valid(); }) &&
         std::all_of(
             tree.events.begin(), tree.events.end(),
             [&](const parse::Event& item) { return !item.family.valid() && !is_timed_by_parameters(tree, item); }) &&
         std::all_of(tree.behaviours.begin(), tree.behaviours.end(),
                     [](const parse::Behaviour& item) { return !item.family.valid(); });
}

}  // namespace

parse::Tree expand(parse::Tree tree, base::Names& names, const std::unordered_map<NameId, double>& overrides,
                   diag::Sink& diags) {
  if (is_plain(tree)) return tree;
  return Expander(std::move(tree), names, overrides, diags).run();
}

}  // namespace expand
