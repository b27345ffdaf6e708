// The inside of flatten: one object that walks a checked model and writes a flat one. Evaluating an expression can need everything else (a
// name may be a behaviour of an event that is being worked out, an equation that defines it, a table), so it is one class; its concerns
// stand in files of their own, named below.
//
//   enters: check::Model (a tree whose names, shapes and units are known)     leaves: flat::Model (scalars)
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "compiler/check/builtins.h"
#include "compiler/check/numbers.h"
#include "compiler/check/scope.h"
#include "compiler/flatten/diagnostics.h"
#include "compiler/flatten/flatten.h"
#include "compiler/flatten/linear_algebra.h"
#include "compiler/parse/parse.h"
#include "compiler/symbolic/symbolic.h"

namespace flatten {

using check::Builtin;
using check::Role;
using check::SymbolId;
using expr::ExprId;
using expr::Op;
using expr::Shape;
using parse::NodeId;
using parse::NodeKind;

using Scope = check::Binding<Value>;

class Flattener {
 public:
  Flattener(const check::Model& model, const base::Names& names, diag::Sink& diags)
      : model_(model), tree_(*model.tree), names_(names), diags_(diags), numbers_(model, names), algebra_(flat_.pool) {}

  flat::Model run(Axioms axioms);

 private:
  // --- Names, equations, ports (flatten.cpp) ---

  struct Sides {
    Value left, right;
    enum { not_yet, in_progress, done } state = not_yet;
    const Shape& shape() const { return left.zero ? right.shape : left.shape; }
  };

  Value scalar(ExprId id) { return {Shape::scalar(), {id}, false}; }
  Value number(double value) { return scalar(flat_.pool.constant(value)); }
  static flat::Quantity quantity(const check::Symbol& symbol) {
    return {check::common_dimension(symbol), symbol.written_unit};
  }
  // Gives every symbol its scalars.
  void place(SymbolId id);
  // Constants may use each other in any order.
  Value constant_value(SymbolId id);
  double constant(NodeId node);
  static std::string component_name(const std::string& name, const Shape& shape, std::uint32_t index);
  flat::VariableId add_group(const std::string& name, const Shape& shape, base::Span span);
  // A variable of its own for what is needed at events only; not a channel.
  flat::VariableId add_hidden(std::string name, ExprId value, base::Span span);
  std::uint32_t add_discrete(std::string name);
  void add_equation(std::size_t equation);
  // Both sides of an equation, evaluated when they are first asked for; none while they are being evaluated.
  const Sides* sides_of(std::size_t equation);
  void add_condition(const parse::Condition& condition);
  void add_port(const check::Port& port);
  void add_invariant(const parse::Equation& invariant);
  void add_energy(const parse::Energy& energy);
  void add_power(const parse::Power& power);
  void add_storage(const parse::Storage& storage);
  void add_drawing(const check::Drawing& drawing);

  // --- diff(e, x) (definitions.cpp) ---

  struct Definition {
    std::size_t equation = 0;
    std::uint32_t item = 0;
    bool from_left = true;  // the name stands on the left
  };

  bool is_of_names(NodeId id) const;
  void find_definitions();
  // All components of the names in p', p[i]', (x, y)'.
  void add_coordinates(NodeId id);
  // What an equation says a leaf is; invalid when none does, or while that equation is being evaluated.
  ExprId definition_of(ExprId leaf);
  // Names that an equation of all modes makes numbers, `M = x * identity(3)` most of M, as these numbers.
  Value with_known_numbers(Value value);
  // e with the definitions of all names behind which `by` is found.
  ExprId follow_definitions(ExprId e, ExprId by, base::Span span);
  std::string leaf_name(ExprId leaf) const;
  bool has_start(std::uint32_t variable) const;
  void report_held(ExprId leaf, ExprId by, base::Span span);
  // A name that is found again, with more primes, behind its own definition.
  void report_circle(ExprId leaf, ExprId by, base::Span span);
  // diff(V, x), where V is neither defined by an equation V = .. nor a coordinate: how it depends on x is not known.
  void report_differentiated_without_definition();

  // --- Expressions (expressions.cpp) ---

  // Component by component; scalars and the literal 0 spread.
  template <class Make>
  Value component_wise(const Value& a, const Value& b, Make make) {
    const Shape& shape = (a.zero || a.shape.is_scalar()) && !b.zero ? b.shape : a.shape;
    Value result{shape, {}, false};
    for (std::uint32_t i = 0; i < shape.size(); ++i)
      result.items.push_back(make(as_number(a.item(i)), as_number(b.item(i))));
    return result;
  }
  template <class Make>
  Value each(const Value& a, Make make) {
    Value result{a.shape, {}, false};
    for (ExprId item : a.items) result.items.push_back(make(as_number(item)));
    return result;
  }
  ExprId truth_of(NodeId id, const Scope* scope) { return as_truth(evaluate(id, scope).items[0]); }
  ExprId number_of(NodeId id, const Scope* scope) { return as_number(evaluate(id, scope).items[0]); }
  ExprId as_number(ExprId id);
  ExprId as_truth(ExprId id);
  Value component_wise(Op op, const Value& a, const Value& b);
  Value evaluate_in(const check::Scope* counted, NodeId id, const Scope* scope);
  Value evaluate(NodeId id, const Scope* scope);
  // v[i], m[i, j], v'[i]. Of a name that has its place nothing but the component is touched: a loop over all of them stays linear.
  Value component(NodeId id, const Scope* scope);
  // What a name means, where that is kept as it is; else nothing.
  const Value* kept_value(NodeId id, const Scope* scope) const;
  double constant_in(NodeId id, const Scope* scope);
  Value row(const Value& base, std::uint32_t i);
  Value symbol_value(base::NameId name);
  Value device_value(NodeId id);
  Value derivative(Value value, std::uint32_t count, base::Span span);
  void report_noise_differentiated(base::Span span);
  // Empty of everything but zeros, after reporting, where it would outgrow the model.
  Value product(const Value& a, const Value& b, base::Span span);
  Value compare(parse::Op op, ExprId a, ExprId b);
  ExprId between(ExprId low, ExprId x, ExprId high);
  // A plain vector used as a box is its bottom-left corner; the side is 50, as in seed 000 section 4.1.
  Value in_set(NodeId id, const Scope* scope);

  // --- Calls (functions.cpp) ---

  Value call(NodeId id, const Scope* scope);
  Value apply(const check::BuiltinRow& builtin, std::vector<Value>& arguments, base::Span span);
  // integration(e): a state of its own that starts at zero.
  Value integration(const Value& integrand, base::Span span);

  // --- Delays, noise, tables (data.cpp) ---

  Value delay(const Value& value, ExprId duration, base::Span span);
  // Samples lie 1 / (2 bandwidth) apart, counted from t = 0.
  Value noise(const std::vector<Value>& arguments, base::Span span);
  Value table_value(NodeId id, std::uint32_t index, const Scope* scope);
  // Known arguments give a known value, so that constants may be read from tables.
  ExprId sampled(std::uint32_t column, ExprId a, ExprId b);
  // The flat tables of a table's columns.
  const std::vector<std::uint32_t>& place_table(std::uint32_t index);
  // Along x; in two dimensions along y, for each x.
  static std::vector<double> slopes_of(const flat::Table& table);

  // --- Reactive behaviours and events (reactions.cpp) ---

  struct Handling {
    const parse::Behaviour* behaviour;
    const parse::Handler* handler;
    Value value;
    enum { not_yet, in_progress, done } state;
  };

  void add_behaviour(const parse::Behaviour& behaviour);
  void add_event(const check::Event& event);
  std::string handler_code(const Handling& handling) const;
  // `cur = 0; prev = 0;` before the events' code.
  void write_starts();
  // The value of a behaviour behind the event that is being worked out.
  const Value& new_value(SymbolId symbol);
  void report_cycle(SymbolId symbol);
  // A behaviour's name inside a handler.
  Value behaviour_value(SymbolId symbol);

  // --- Modes and jumps (jumps.cpp) ---

  ExprId mode_of(NodeId mode) { return mode.valid() ? truth_of(mode, nullptr) : ExprId(); }
  void add_automaton(const check::Automaton& automaton);
  // The first modes, asked for with the start of all automata in their first.
  void add_starts_of_automata();
  // A truth value as a number that is positive where it holds and crosses zero where it begins or ends to.
  ExprId signed_distance(ExprId truth);
  std::vector<ExprId> conjuncts(ExprId truth) const;
  // What is watched of a guard: whether it holds, and how far it is from where that changes.
  void watch(flat::Event& event, ExprId mode, ExprId truth);
  void add_transition(std::uint32_t index);
  void add_plan(std::uint32_t index);
  void add_must(const parse::Must& must);
  // Whether an event happens now.
  Value event_value(base::NameId name);
  // What an expression is after a jump.
  Value after_jump(Value value);

  // --- Checks (checks.cpp) ---

  static constexpr double for_ever = 1e300;
  struct Window {
    double from = 0, to = for_ever;  // after the start
  };

  // A formula that speaks of next(..), as it is right behind one transition.
  struct Verdict {
    std::uint32_t transition = 0;
    ExprId truth;                // over variables before (as they are) and after (twins)
    std::uint32_t discrete = 0;  // becomes 1 ..
    bool if_true = false;        // .. where the formula holds, or where it does not
    base::Span span;
  };

  struct Monitor {
    std::string name;
    base::Span span;
    std::vector<flat::Event>& events;
  };

  template <class Wanted>
  bool has_part(NodeId id, Wanted wanted) const {
    if (wanted(id)) return true;
    const auto children = tree_.children_of(id);
    return std::any_of(children.begin(), children.end(),
                       [&](const parse::Child& child) { return has_part(child.node, wanted); });
  }
  bool is_of_no_jump(NodeId id) const { return jumping_ == nothing_jumps && has_next(id); }
  static bool is_all(const Window& window) { return window.from == 0 && window.to == for_ever; }
  ExprId negation(ExprId truth) { return flat_.pool.make(Op::logical_not, truth); }
  ExprId both(ExprId a, ExprId b) { return flat_.pool.make(Op::logical_and, a, b); }
  ExprId either(ExprId a, ExprId b) { return flat_.pool.make(Op::logical_or, a, b); }
  ExprId is_inside(const Window& window) { return both(has_begun(window), negation(has_ended(window))); }
  bool is_temporal(NodeId id) const;
  bool looks_ahead(NodeId id) const;
  bool has_next(NodeId id) const;
  Window window_of(NodeId id);
  ExprId is_set(std::uint32_t discrete);
  // t >= t0 + from, and t > t0 + to
  ExprId has_begun(const Window& window);
  ExprId has_ended(const Window& window);
  // t >= t0 + to, whatever rounding does to a window that ends with the run; without an end, always.
  ExprId is_at_end(const Window& window);
  ExprId is_over();
  // `located` is where `whole` can begin to hold between events; both may differ in what is remembered.
  void watch_monitor(flat::Event& event, ExprId located, ExprId whole);
  std::uint32_t add_memory(const Monitor& monitor, const char* what);
  // While `located` and `besides` hold: discrete := value.
  void add_note(Monitor& monitor, ExprId located, ExprId besides,
                std::initializer_list<std::pair<std::uint32_t, ExprId>> updates);
  // The energy book is kept step by step, and means nothing inside of one: what reads it is asked for where steps end, without a guard.
  bool reads_book(ExprId e) const;
  // Broken while `located` holds, or `at_last`.
  void add_breach(Monitor& monitor, ExprId located, ExprId at_last);
  void add_check(const parse::Property& property, std::vector<flat::Event>& events);
  void refuse(const Monitor& monitor, NodeId part, const std::string& hint);
  void add_always(Monitor& monitor, NodeId formula, const Window& window);
  void refuse_next(const Monitor& monitor, NodeId part);
  // Whether what stands under an operator speaks of now alone.
  bool is_plain(const Monitor& monitor, NodeId id);
  void add_eventually(Monitor& monitor, NodeId formula, const Window& window);
  void add_until(Monitor& monitor, NodeId first, NodeId second, const Window& window);
  // Whenever `when` holds, `f` does within `most` seconds.
  void add_response(Monitor& monitor, ExprId when, ExprId f, double most);
  // Whenever `when` holds, what `ahead` says of the time from then on.
  void add_obligation(Monitor& monitor, ExprId when, NodeId ahead);
  // A formula that speaks of next(..): `discrete` becomes 1 right behind each jump where it holds, or does not. What it is where nothing
  // jumps is returned.
  template <class Make>
  ExprId add_verdicts_of_jumps(const Monitor& monitor, std::uint32_t discrete, bool if_true, Make make);

  // --- What holds across a jump (axioms.cpp) ---

  static constexpr double axiom_tolerance = 1e-6;  // of both sides of an equation; and seconds
  // |a - b| <= 1e-6 (1 + |a| + |b|)
  ExprId nearly_equal(ExprId a, ExprId b);
  ExprId nearly_equal(const Sides& sides);
  bool has_own_unknowns(ExprId truth) const;
  void add_axiom_of_jump(std::uint32_t transition, ExprId truth, const char* schema, std::vector<flat::Event>& events);
  void add_axioms(std::vector<flat::Event>& events);
  // S.phase1, heard in S.Phase1: schemata has written it.
  bool is_end_of_phase(const parse::Transition& item) const;
  // What the jump remembers of the time before it.
  void add_memories_of_before(std::uint32_t transition, flat::Event& event);
  // What formulas say right behind a jump, where its handlers are about to answer it.
  void add_verdicts(std::uint32_t transition, flat::Event& after);

  // --- What is known so far ---

  const check::Model& model_;
  const parse::Tree& tree_;
  const base::Names& names_;
  diag::Sink& diags_;
  check::Numbers numbers_;
  const check::Scope* counted_ = nullptr;  // what check knows of the names that are bound here
  flat::Model flat_;
  LinearAlgebra algebra_;
  symbolic::Rewrite smooth_{flat_.pool, [](ExprId) { return ExprId(); },
                            [this](const expr::Node& node, ExprId a, ExprId b, ExprId c) {
                              return flat_.pool.evaluated(flat_.pool.remake(node, a, b, c));
                            }};
  base::NameId time_;
  base::NameId pi_;
  std::unordered_map<std::string, std::uint32_t>
      pulses_;  // of events that are asked for as truth values: discrete scalars
  // An event moves an automaton once, and makes a transition without `goto` once: whether (who, event) has answered the last one.
  std::map<std::pair<std::string, std::string>, std::uint32_t> answers_;
  std::vector<std::string> answering_;        // whose guard is being evaluated: automata, or the transition itself
  std::set<std::uint32_t> answers_of_guard_;  // discrete scalars that it reads
  std::unordered_map<std::uint32_t, std::uint32_t> nexts_;  // by variable, the one that is its value after a jump
  std::vector<Value> places_;                               // by symbol
  std::vector<bool> evaluating_;
  std::vector<Sides> sides_;  // by equation of the tree
  // For diff(e, x), once it stands somewhere.
  bool has_definitions_ = false;
  std::unordered_map<std::uint32_t, Definition> definitions_;  // by variable: the first equation v = e, or else e = v
  std::set<std::uint32_t> coordinates_;                        // variables whose derivatives are written
  std::set<std::uint32_t> held_;                               // those of them of which that was said
  struct BareInDiff {
    ExprId leaf, by;
    base::Span span;
  };
  std::vector<BareInDiff> bare_in_diff_;
  int integrations_ = 0;
  std::unordered_map<ExprId, flat::VariableId> delayed_;                         // hidden variables, by what they are
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> placed_tables_;  // by index in model_.tables
  // While checks are worked out.
  static constexpr std::uint32_t nobody = 0xffffffffu;         // events are what they are
  static constexpr std::uint32_t nothing_jumps = 0xfffffffeu;  // no transition happens, and next(..) is nothing
  std::uint32_t jumping_ = nobody;                             // of the tree's transitions the one that happens, alone
  std::vector<Verdict> verdicts_;
  std::unordered_map<ExprId, std::uint32_t> before_;  // by leaf, the discrete value that remembers it
  std::unordered_map<std::uint32_t, std::uint32_t>
      next_discretes_;  // by variable, the discrete value that it is after a jump
  std::optional<std::uint32_t> over_, noted_;
  // While an event is worked out.
  bool reacting_ = false;
  int passive_depth_ = 0;
  std::unordered_map<std::uint32_t, Handling> handlers_;  // by symbol
  std::vector<SymbolId> open_handlers_;
  std::vector<SymbolId> done_handlers_;  // in data-flow order
};

}  // namespace flatten
