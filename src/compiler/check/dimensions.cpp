#include "compiler/check/dimensions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/growth.h"
#include "compiler/check/builtins.h"
#include "compiler/check/diagnostics.h"
#include "compiler/check/dimension_solver.h"
#include "compiler/check/events.h"
#include "compiler/check/numbers.h"
#include "compiler/parse/parse.h"

namespace check {
namespace {

using expr::Shape;
using parse::Dimension;
using parse::NodeId;
using parse::NodeKind;
using parse::Rational;

// The dimensions of an expression, one a component.
struct Value {
  Shape shape;
  std::vector<Form> items = {Form{}};
  bool spreads = false;  // the literal 0, and what was given up

  // Scalars spread.
  const Form& item(std::size_t i) const {
    static const Form unknown;
    if (items.size() == 1) return items[0];
    return i < items.size() ? items[i] : unknown;
  }
};

// Names bound by functions and sums: to dimensions for this pass, and to numbers for exponents and indices.
struct Frame {
  const Binding<Value>* values = nullptr;
  const Scope* numbers = nullptr;
};

// Where a constraint comes from.
struct Origin {
  enum Kind { equation, definition, range, start, sum, comparison, branches, arguments, parts, inside, pure } kind;
  NodeId left = {};   // of which the dimensions are compared; for `definition`, `inside`, `pure` the expression
  NodeId right = {};  // not valid for these
  std::string_view what = {};  // definition: the name; arguments, parts, inside, pure: of what
  std::uint32_t component = 0;
  NodeId call = {};  // the function's call whose body this stands in; not valid outside
};

struct Constraint {
  Origin origin;
  Form left;
  Form right;
};

class Dimensions {
 public:
  Dimensions(Model& model, base::Names& names, diag::Sink& diags)
      : model_(model),
        tree_(*model.tree),
        names_(names),
        diags_(diags),
        numbers_(model, names),
        time_(names.intern("t")),
        pi_(names.intern("pi")) {}

  void run() {
    if (!has_units()) return;
    for (const Symbol& symbol : model_.symbols) {
      first_unknown_.push_back(solver_unknowns_);
      const bool has_value = symbol.role != Role::function;
      for (std::uint32_t i = 0; has_value && i < symbol.shape.size(); ++i) solver_unknowns_ = solver_.add_unknown() + 1;
    }
    collect();
    if (work_ > most_work()) return;  // shapes has refused the program, or it is a very large sum
    const std::vector<std::uint32_t> contradictions = solver_.solve();
    for (std::uint32_t c : contradictions) report(c);
    keep();
  }

 private:
  bool has_units() const {
    for (std::size_t i = 1; i < tree_.units.size(); ++i) {
      if (!tree_.units[static_cast<std::uint16_t>(i)].measure.dimension.pure()) return true;
    }
    return false;
  }

  // --- What the program says -------------------------------------------------------------------------------------------

  void collect() {
    for (std::size_t i = 0; i < model_.symbols.size(); ++i) collect_declaration(SymbolId(i));
    for (const parse::Condition& condition : tree_.conditions) {
      relate(Origin::start, condition.variable, condition.value);
      need_time(condition.time, "the time of a start");
    }
    for (const parse::Equation& equation : tree_.equations) relate(Origin::equation, equation.left, equation.right);
    for (const Port& port : model_.ports) {
      if (port.value.valid()) define(port.symbol, port.value);
    }
    for (const parse::Setting& setting : tree_.settings) collect_setting(setting);
    for (const parse::External& external : tree_.externals) {
      if (external.period.valid()) need_time(external.period, "the period of an external");
      for (const parse::ObservedEvent& event : external.events) {
        if (event.rate.valid() && !is_frequency(tree_, event.rate)) need_time(event.rate, "the period of an event");
        if (event.time.valid()) need_time(event.time, "the time of an event");
      }
    }
    for (const parse::Event& event : tree_.events) collect_event(event);
    for (const parse::Behaviour& behaviour : tree_.behaviours) collect_behaviour(behaviour);
  }

  void collect_event(const parse::Event& event) {
    if (event.period.valid()) need_time(event.period, "the period of an event");
    if (event.from.valid()) need_time(event.from, "the first tick of an event");
    for (NodeId time : event.times) need_time(time, "the time of an event");
    if (event.condition.valid()) evaluate(event.condition, {}, 0);
  }

  // A behaviour has one dimension: of its first value and of what every handler gives it.
  void collect_behaviour(const parse::Behaviour& behaviour) {
    const SymbolId symbol = *model_.find(behaviour.name);
    if (behaviour.value.valid()) return define(symbol, behaviour.value);
    define(symbol, behaviour.start);
    Value own{model_.symbols[symbol].shape, {}, false};
    for (std::uint32_t i = 0; i < own.shape.size(); ++i) own.items.push_back(unknown_of(symbol, i));
    const Binding<Value> bound{nullptr, behaviour.own, own};
    Frame frame;
    if (behaviour.own.valid()) frame.values = &bound;
    for (const parse::Handler& handler : behaviour.handlers) define(symbol, handler.value, frame);
  }

  void collect_declaration(SymbolId id) {
    const Symbol& symbol = model_.symbols[id];
    if (symbol.role == Role::constant) define(id, tree_.constants[symbol.declaration].value);
    if (symbol.role != Role::parameter) return;
    const parse::Parameter& parameter = tree_.parameters[symbol.declaration];
    define(id, parameter.value);
    for (NodeId end : {parameter.low, parameter.high}) {
      if (!end.valid()) continue;
      const Value value = evaluate(end, {}, 0);
      const NodeId against = value.item(0).is_rigid() ? parameter.value : NodeId();
      if (against.valid()) constrain({Origin::range, end, against, {}}, value.item(0), unknown_of(id, 0));
    }
  }

  // The symbol has the dimensions of its value; of bare numbers it has whatever its uses ask for.
  void define(SymbolId id, NodeId node, const Frame& frame = {}) {
    const Value value = evaluate(node, frame, 0);
    for (std::uint32_t i = 0; i < model_.symbols[id].shape.size(); ++i) {
      if (!value.item(i).is_rigid()) continue;
      const std::string& name = names_.text(model_.symbols[id].name);
      constrain({Origin::definition, node, {}, name, component(value, i)}, unknown_of(id, i), value.item(i));
    }
    keep_written_unit(id, node);
  }

  // `f = 50 [Hz]` is shown in Hz, not in 1/s, if that is what the number is kept in.
  void keep_written_unit(SymbolId id, NodeId node) {
    while (tree_[node].kind == NodeKind::negate) node = tree_.child(node, 0);
    if (tree_[node].kind != NodeKind::number || tree_[node].unit == 0) return;
    const parse::Unit& unit = tree_.units[tree_[node].unit];
    if (unit.measure.dimension.pure() || parse::to_si(1, unit.measure.scale) != 1) return;
    std::string& text = model_.symbols[id].written_unit;
    text.clear();
    for (char c : unit.text) {
      if (c != ' ' && c != '\t' && c != '\n' && c != '\r') text += c;
    }
  }

  void collect_setting(const parse::Setting& setting) {
    const std::string& name = names_.text(setting.name);
    if (name == "starting_time" || name == "ending_time" || name == "step_size" || name == "record_period")
      need_time(setting.value, fmt::format("`{}`", name));
    else if (name == "tolerance")
      need(setting.value, {}, fmt::format("`{}`", name), "has no unit");
  }

  void need_time(NodeId id, std::string_view what) {
    Dimension seconds;
    seconds.exponents[Dimension::second] = {1, 1};
    const auto rate = numbers_.value(id);
    need(id, seconds, what, "is in s", is_frequency(tree_, id) && rate && *rate > 0 ? 1 / *rate : 0);
  }

  // For what is known before the run.
  void need(NodeId id, const Dimension& wanted, std::string_view what, std::string_view rule, double instead = 0) {
    const Form form = evaluate(id, {}, 0).item(0);
    if (!form.is_rigid() || !form.terms.empty() || form.constant == wanted || !is_new(tree_[id].span)) return;
    auto report = diags_.report(tree_[id].span, dimension_of_setting, what, std::string(rule), quote(id),
                                describe(form.constant));
    if (instead > 0) report.hint("write `{:g} [s]`", instead);
  }

  void relate(Origin::Kind kind, NodeId left, NodeId right) {
    const Value a = evaluate(left, {}, 0);
    const Value b = evaluate(right, {}, 0);
    const Value& longer = a.items.size() >= b.items.size() ? a : b;
    for (std::uint32_t i = 0; i < longer.items.size(); ++i) {
      Agreement agreement(*this, {kind, {}, {}, {}, component(longer, i)}, i);
      agreement.add(left, a.item(i));
      agreement.add(right, b.item(i));
    }
    if (kind == Origin::equation && tree_[left].kind == NodeKind::name) {
      if (auto found = model_.find(tree_[left].name); found && model_.symbols[*found].shape.is_scalar())
        keep_written_unit(*found, right);
    }
  }

  static std::uint32_t component(const Value& value, std::uint32_t i) { return value.shape.is_scalar() ? 0 : i + 1; }

  Form unknown_of(SymbolId id, std::uint32_t i) const { return Form::of_unknown(first_unknown_[id.value] + i); }

  void constrain(Origin origin, const Form& left, const Form& right) {
    if (!left.is_rigid() || !right.is_rigid()) return;
    origin.call = call_;
    work_ += 1 + static_cast<long long>(left.terms.size() + right.terms.size());
    solver_.add(left, right, origin.kind == Origin::pure);
    constraints_.push_back({origin, left, right});
  }

  // An input fits any dimension; it is shown in that of what it is added to or set equal with, if that is one.
  struct InputUse {
    SymbolId symbol;
    std::uint32_t item = 0;
    std::uint32_t order = 0;
    Form form = {};
  };

  // Things that must have one dimension: the terms of a sum, the sides of an equation.
  class Agreement {
   public:
    Agreement(Dimensions& dimensions, Origin origin, std::uint32_t item)
        : dimensions_(dimensions), origin_(origin), item_(item) {}

    void add(NodeId node, const Form& form) {
      if (!form.is_rigid()) {
        if (form.kind == Form::any) dimensions_.note_input(node, item_, inputs_);
        if (!form_.is_rigid() && (first_ || form.kind == Form::any)) form_ = form;
        first_ = false;
        return;
      }
      first_ = false;
      if (!form_.is_rigid()) {
        form_ = form;
        node_ = node;
        return;
      }
      Origin origin = origin_;
      origin.left = node_;
      origin.right = node;
      dimensions_.constrain(origin, form_, form);
    }
    // The dimension they have in common.
    const Form& form() const { return form_; }

    ~Agreement() {
      if (!form_.is_rigid()) return;
      for (InputUse& use : inputs_) {
        use.form = form_;
        dimensions_.input_uses_.push_back(std::move(use));
      }
    }

   private:
    Dimensions& dimensions_;
    Origin origin_;
    std::uint32_t item_;
    bool first_ = true;
    Form form_;
    NodeId node_;
    std::vector<InputUse> inputs_;
  };

  // --- Inputs ----------------------------------------------------------------------------------------------------------

  void note_input(NodeId id, std::uint32_t item, std::vector<InputUse>& uses) {
    std::uint32_t order = 0;
    while (tree_[id].kind == NodeKind::negate || tree_[id].kind == NodeKind::prime) {
      order += tree_[id].count;
      id = tree_.child(id, 0);
    }
    if (tree_[id].kind != NodeKind::name && tree_[id].kind != NodeKind::member) return;
    const std::optional<SymbolId> found = symbol_of(id);
    if (!found || model_.symbols[*found].role != Role::input || item >= model_.symbols[*found].shape.size()) return;
    uses.push_back({*found, item, order});
  }

  std::optional<SymbolId> symbol_of(NodeId id) const {
    if (tree_[id].kind == NodeKind::name) return model_.find(tree_[id].name);
    return model_.find(names_.find(parse::print(tree_, names_, id)));
  }

  // --- Expressions -----------------------------------------------------------------------------------------------------

  long long most_work() const { return 4'000'000 + 100 * static_cast<long long>(tree_.nodes.size()); }

  static Value given_up() { return {Shape::scalar(), {Form{}}, true}; }
  static Value scalar(Form form) { return {Shape::scalar(), {std::move(form)}, false}; }

  Value evaluate(NodeId id, const Frame& frame, int depth) {
    const parse::Node& node = tree_[id];
    if (depth > 500 || ++work_ > most_work()) return given_up();
    auto child = [&](std::uint32_t i) { return evaluate(tree_.child(id, i), frame, depth + 1); };
    auto walk_children = [&] {
      for (const parse::Child& part : tree_.children_of(id)) evaluate(part.node, frame, depth + 1);
    };
    switch (node.kind) {
      case NodeKind::number:
        return number(node);
      case NodeKind::boolean:
        return scalar(Form::of_bare());
      case NodeKind::name:
      case NodeKind::member:
        return name(id, frame);
      case NodeKind::prime:
        return in_time(child(0),
                       Rational{static_cast<std::int16_t>(-static_cast<int>(std::min(node.count, 10000u))), 1});
      case NodeKind::negate:
        return child(0);
      case NodeKind::tuple:
        return tuple(id, frame, depth);
      case NodeKind::sum:
        return agreeing(Origin::sum, "", id, 0, frame, depth);
      case NodeKind::product: {
        Value result = child(0);
        for (std::uint32_t i = 1; i < node.child_count; ++i) {
          const bool divide = tree_.children[node.first_child + i].op == parse::Op::divide;
          result = divide ? component_wise(result, child(i), {-1, 1}) : product(result, child(i), id);
        }
        return result;
      }
      case NodeKind::power:
        return power(tree_.child(id, 0), tree_.child(id, 1), frame, depth);
      case NodeKind::compare:
        agreeing(Origin::comparison, "", id, 0, frame, depth);
        return scalar(Form::of_bare());
      case NodeKind::in_range:
        agreeing(Origin::comparison, "", id, 0, frame, depth);
        return scalar(Form::of_bare());
      case NodeKind::in_set:
        in_set(id, frame, depth);
        return scalar(Form::of_bare());
      case NodeKind::logical_not:
      case NodeKind::logical_and:
      case NodeKind::logical_or:
      case NodeKind::implies:
        walk_children();
        return scalar(Form::of_bare());
      case NodeKind::conditional:
        child(0);
        if (const auto chosen = numbers_.truth(tree_.child(id, 0), frame.numbers)) return child(*chosen ? 1 : 2);
        return agreeing(Origin::branches, "", id, 1, frame, depth);
      case NodeKind::sum_over:
        return sum_over(id, frame, depth);
      case NodeKind::index:
        return index(id, frame, depth);
      case NodeKind::call:
        return call(id, frame, depth);
      case NodeKind::string:
      case NodeKind::argument:
        break;
    }
    return given_up();
  }

  Value number(const parse::Node& node) const {
    if (node.unit != 0) {
      const Dimension& dimension = tree_.units[node.unit].measure.dimension;
      return {Shape::scalar(), {dimension.valid() ? Form::of_literal(dimension) : Form{}}, node.number == 0};
    }
    if (node.number == 0) return {Shape::scalar(), {Form{}}, true};
    return scalar(Form::of_bare());
  }

  Value name(NodeId id, const Frame& frame) {
    const parse::Node& node = tree_[id];
    if (node.kind == NodeKind::name) {
      if (auto bound = find_binding(frame.values, node.name)) return bound->what;
      if (node.name == time_) return scalar({});
      if (node.name == pi_) return scalar(Form::of_bare());
    }
    const std::optional<SymbolId> found = symbol_of(id);
    if (!found || model_.symbols[*found].role == Role::function) return given_up();
    const Symbol& symbol = model_.symbols[*found];
    Value value{symbol.shape, {}, false};
    value.items.reserve(symbol.shape.size());
    work_ += symbol.shape.size();
    for (std::uint32_t i = 0; i < symbol.shape.size(); ++i)
      value.items.push_back(symbol.role == Role::input ? Form{} : unknown_of(*found, i));
    if (symbol.role == Role::constant) free_zeros(*found, value);
    return value;
  }

  // The zeros in a constant vector or matrix fit any, as they would in its place.
  void free_zeros(SymbolId id, Value& value) {
    const parse::Constant& constant = tree_.constants[model_.symbols[id].declaration];
    const parse::Node& node = tree_[constant.value];
    if (node.kind != NodeKind::tuple && node.kind != NodeKind::number) return;
    const auto is_zero = [&](NodeId part) {
      return tree_[part].kind == NodeKind::number && tree_[part].number == 0 && tree_[part].unit == 0;
    };
    if (node.kind == NodeKind::number) {
      if (is_zero(constant.value) && !model_.overrides.contains(constant.name)) value.items[0] = {};
      return;
    }
    const std::size_t width = value.items.size() / node.child_count;
    for (std::uint32_t i = 0; i < node.child_count; ++i) {
      const NodeId row = tree_.child(constant.value, i);
      for (std::size_t j = 0; j < width; ++j) {
        const bool nested = tree_[row].kind == NodeKind::tuple && tree_[row].child_count == width;
        const NodeId part = nested ? tree_.child(row, static_cast<std::uint32_t>(j)) : row;
        if (is_zero(part)) value.items[i * width + j] = {};
      }
    }
  }

  // Times seconds to a power. The derivative of a number is zero.
  static Value in_time(Value value, Rational seconds) {
    for (Form& form : value.items) {
      if (form.is_rigid())
        form.constant.exponents[Dimension::second] = form.constant.exponents[Dimension::second] + seconds;
      else
        form = {};
      if (!form.constant.valid()) form = {};
    }
    return value;
  }

  static Form raised(const Form& form, Rational exponent) {
    return form.is_rigid() ? multiply(Form{Form::rigid}, form, exponent) : form;
  }

  // a times b^factor, of any kinds.
  static Form times(const Form& a, const Form& b, Rational factor) {
    if (a.kind == Form::any || b.kind == Form::any) return {};
    if (b.kind == Form::bare) return a;
    if (a.kind == Form::bare) return raised(b, factor);
    return multiply(a, b, factor);
  }

  Value component_wise(const Value& a, const Value& b, Rational factor) {
    const Value& longer = a.items.size() >= b.items.size() ? a : b;
    Value result{longer.shape, {}, false};
    result.items.reserve(longer.items.size());
    work_ += static_cast<long long>(longer.items.size());
    for (std::size_t i = 0; i < longer.items.size(); ++i) result.items.push_back(times(a.item(i), b.item(i), factor));
    return result;
  }

  Value product(const Value& a, const Value& b, NodeId id) {
    if (!a.shape.is_matrix() || b.shape.is_scalar()) return component_wise(a, b, {1, 1});
    const std::uint32_t inner = a.shape.columns, columns = b.shape.columns;
    work_ += static_cast<long long>(a.shape.rows) * inner * columns;
    if (work_ > most_work()) return given_up();
    Value result{b.shape.is_vector() ? Shape::vector(a.shape.rows) : Shape::matrix(a.shape.rows, columns), {}, false};
    for (std::uint32_t i = 0; i < a.shape.rows; ++i) {
      for (std::uint32_t j = 0; j < columns; ++j) {
        Agreement sum(*this, {Origin::inside, {}, {}, "this product"}, 0);
        for (std::uint32_t k = 0; k < inner; ++k)
          sum.add(id, times(a.item(i * inner + k), b.item(k * columns + j), {1, 1}));
        result.items.push_back(sum.form());
      }
    }
    return result;
  }

  // The children from `first` on have one dimension, component by component; scalars spread.
  Value agreeing(Origin::Kind kind, std::string_view what, NodeId id, std::uint32_t first, const Frame& frame,
                 int depth) {
    std::vector<Value> values;
    std::size_t widest = 0;
    for (std::uint32_t i = first; i < tree_[id].child_count; ++i) {
      values.push_back(evaluate(tree_.child(id, i), frame, depth + 1));
      if (values.back().items.size() > values[widest].items.size()) widest = values.size() - 1;
    }
    Value result{values[widest].shape, {}, false};
    const std::size_t size = values[widest].items.size();
    work_ += static_cast<long long>(size * values.size());
    for (std::uint32_t i = 0; i < size; ++i) {
      Agreement agreement(*this, {kind, {}, {}, what, component(result, i)}, i);
      for (std::uint32_t k = 0; k < values.size(); ++k) agreement.add(tree_.child(id, first + k), values[k].item(i));
      result.items.resize(1 + i);
      result.items[i] = agreement.form();
    }
    return result;
  }

  Value tuple(NodeId id, const Frame& frame, int depth) {
    std::vector<Value> parts;
    Shape part_shape;
    for (const parse::Child& child : tree_.children_of(id)) {
      parts.push_back(evaluate(child.node, frame, depth + 1));
      if (parts.back().shape.is_vector()) part_shape = parts.back().shape;
    }
    const auto count = static_cast<std::uint32_t>(parts.size());
    Value result{part_shape.is_scalar() ? Shape::vector(count) : Shape::matrix(count, part_shape.rows), {}, false};
    for (const Value& part : parts) {
      for (std::uint32_t i = 0; i < part_shape.size(); ++i) result.items.push_back(part.item(i));
    }
    return result;
  }

  Value power(NodeId base_node, NodeId exponent_node, const Frame& frame, int depth) {
    Value base = evaluate(base_node, frame, depth + 1);
    const Value exponent = evaluate(exponent_node, frame, depth + 1);
    need_pure(exponent, exponent_node, "an exponent");
    if (exponent.items.size() == 1 && tree_[exponent_node].kind != NodeKind::tuple) {
      if (auto number = numbers_.value(exponent_node, frame.numbers)) {
        const std::optional<Rational> factor = parse::to_rational(*number);
        for (Form& form : base.items) form = factor ? raised(form, *factor) : form.is_rigid() ? Form{} : form;
        return base;
      }
    }
    need_pure(base, base_node, "the base of a power whose exponent can change");
    Value result = component_wise(base, exponent, {1, 1});
    for (Form& form : result.items) form = pure_like(form);
    return result;
  }

  // The result of a function that gives a pure number.
  static Form pure_like(const Form& argument) { return argument.is_rigid() ? Form::of(Dimension{}) : Form::of_bare(); }

  void need_pure(const Value& value, NodeId node, std::string_view what) {
    for (std::uint32_t i = 0; i < value.items.size(); ++i) {
      constrain({Origin::pure, node, {}, what, component(value, i)}, value.items[i], Form::of(Dimension{}));
    }
  }

  // All components of one dimension, which is returned.
  Form uniform(const Value& value, NodeId node, std::string_view what) {
    Agreement agreement(*this, {Origin::parts, {}, {}, what}, 0);
    for (const Form& form : value.items) agreement.add(node, form);
    return agreement.form();
  }

  void in_set(NodeId id, const Frame& frame, int depth) {
    const NodeId point_node = tree_.child(id, 0);
    const NodeId set = tree_.child(id, 1);
    const Value point = evaluate(point_node, frame, depth + 1);
    std::vector<NodeId> others = {set};
    if (tree_[set].kind == NodeKind::call && tree_[set].child_count == 3 && names_.text(callee(set)) == "box")
      others = {tree_.child(set, 1), tree_.child(set, 2)};
    std::vector<Value> values;
    for (NodeId other : others) values.push_back(evaluate(other, frame, depth + 1));
    for (std::uint32_t i = 0; i < point.items.size(); ++i) {
      Agreement agreement(*this, {Origin::comparison, {}, {}, {}, component(point, i)}, i);
      agreement.add(point_node, point.items[i]);
      for (std::size_t k = 0; k < others.size(); ++k) agreement.add(others[k], values[k].item(i));
    }
  }

  Value sum_over(NodeId id, const Frame& frame, int depth) {
    const parse::Node& node = tree_[id];
    const auto low = numbers_.whole(tree_.child(id, 0), frame.numbers);
    const auto high = numbers_.whole(tree_.child(id, 1), frame.numbers);
    if (!low || !high) return given_up();
    const NodeId body = tree_.child(id, 2);
    Value result = given_up();
    for (long long i = *low; i <= *high && work_ <= most_work(); ++i) {
      Bound number;
      number.number = static_cast<double>(i);
      const Scope numbers{frame.numbers, node.name, number};
      const Binding<Value> values{frame.values, node.name, scalar(Form::of_bare())};
      const Value part = evaluate(body, {&values, &numbers}, depth + 1);
      if (part.items.size() > result.items.size()) result.items.resize(part.items.size(), result.items[0]);
      if (!part.shape.is_scalar()) result.shape = part.shape;
      for (std::size_t k = 0; k < result.items.size(); ++k) {
        Form& sum = result.items[k];
        if (!part.item(k).is_rigid()) {
          if (!sum.is_rigid() && i == *low) sum = part.item(k);
          continue;
        }
        if (sum.is_rigid())
          constrain({Origin::inside, body, {}, "this sum"}, sum, part.item(k));
        else
          sum = part.item(k);
      }
    }
    result.spreads = false;
    return result;
  }

  static Value row(const Value& base, long long i) {
    const auto at = static_cast<std::size_t>(i);
    if (!base.shape.is_matrix()) return scalar(base.item(at));
    Value result{Shape::vector(base.shape.columns), {}, false};
    for (std::uint32_t j = 0; j < base.shape.columns; ++j)
      result.items.push_back(base.item(at * base.shape.columns + j));
    return result;
  }

  Value index(NodeId id, const Frame& frame, int depth) {
    const Value base = evaluate(tree_.child(id, 0), frame, depth + 1);
    const auto i = numbers_.whole(tree_.child(id, 1), frame.numbers);
    if (!i) return given_up();
    if (tree_[id].child_count < 3) return row(base, *i - 1);
    const auto j = numbers_.whole(tree_.child(id, 2), frame.numbers);
    if (!j) return given_up();
    return scalar(base.item(static_cast<std::size_t>((*i - 1) * base.shape.columns + *j - 1)));
  }

  // --- Calls -----------------------------------------------------------------------------------------------------------

  base::NameId callee(NodeId id) const { return tree_[tree_.child(id, 0)].name; }

  Value call(NodeId id, const Frame& frame, int depth) {
    if (tree_[tree_.child(id, 0)].kind != NodeKind::name) return given_up();
    const auto found = model_.find(callee(id));
    if (found && model_.symbols[*found].role == Role::function)
      return expand(id, tree_.functions[model_.symbols[*found].declaration], frame, depth);
    const BuiltinRow* builtin = find_builtin(names_.text(callee(id)));
    return builtin ? apply(id, *builtin, frame, depth) : given_up();
  }

  Value expand(NodeId id, const parse::Function& function, const Frame& frame, int depth) {
    const std::size_t count = function.arguments.size();
    if (tree_[id].child_count - 1 != count) return given_up();
    std::vector<Binding<Value>> values(count);
    std::vector<Scope> numbers(count);
    Frame inner;
    for (std::uint32_t i = 0; i < count; ++i) {
      Bound bound;
      bound.node = tree_.child(id, i + 1);
      bound.scope = frame.numbers;
      numbers[i] = {inner.numbers, function.arguments[i], bound};
      values[i] = {inner.values, function.arguments[i], evaluate(bound.node, frame, depth + 1)};
      inner = {&values[i], &numbers[i]};
    }
    const NodeId outer = call_;
    if (!call_.valid()) call_ = id;
    Value result = evaluate(function.value, inner, depth + 1);
    call_ = outer;
    return result;
  }

  // The sum of products of two vectors.
  Form dot(const Value& a, const Value& b, NodeId id, std::string_view what) {
    Agreement sum(*this, {Origin::inside, {}, {}, what}, 0);
    const std::size_t size = std::max(a.items.size(), b.items.size());
    for (std::size_t i = 0; i < size; ++i) sum.add(id, times(a.item(i), b.item(i), {1, 1}));
    return sum.form();
  }

  Value apply(NodeId id, const BuiltinRow& builtin, const Frame& frame, int depth) {
    const std::uint32_t count = tree_[id].child_count - 1;
    auto node = [&](std::uint32_t i) { return tree_.child(id, i + 1); };
    auto argument = [&](std::uint32_t i) { return evaluate(node(i), frame, depth + 1); };
    auto each = [](Value value, auto make) {
      for (Form& form : value.items) form = make(form);
      return value;
    };
    switch (builtin.id) {
      case Builtin::sin:
      case Builtin::cos:
      case Builtin::tan:
      case Builtin::asin:
      case Builtin::acos:
      case Builtin::atan:
      case Builtin::exp:
      case Builtin::log:
      case Builtin::floor:
      case Builtin::ceil: {
        const Value value = argument(0);
        need_pure(value, node(0), builtin.name);
        return each(value, pure_like);
      }
      case Builtin::square_root:
        return each(argument(0), [](const Form& form) { return raised(form, {1, 2}); });
      case Builtin::absolute:
      case Builtin::smooth:
        return argument(0);
      case Builtin::sign:
        return each(argument(0), pure_like);
      case Builtin::atan2:
        return each(agreeing(Origin::arguments, builtin.name, id, 1, frame, depth), pure_like);
      case Builtin::minimum:
      case Builtin::maximum:
      case Builtin::clamp:
        return agreeing(Origin::arguments, builtin.name, id, 1, frame, depth);
      case Builtin::power:
        return power(node(0), node(1), frame, depth);
      case Builtin::norm:
        return scalar(uniform(argument(0), node(0), builtin.name));
      case Builtin::direction: {
        const Value value = argument(0);
        const Form form = pure_like(uniform(value, node(0), builtin.name));
        return {value.shape, std::vector<Form>(value.items.size(), form), false};
      }
      case Builtin::dot:
        return scalar(dot(argument(0), argument(1), id, "this inner product"));
      case Builtin::distance: {
        const Value difference = agreeing(Origin::arguments, builtin.name, id, 1, frame, depth);
        return scalar(uniform(difference, node(0), builtin.name));
      }
      case Builtin::cross:
        return cross(argument(0), argument(1), id);
      case Builtin::proj: {
        const Value a = argument(0);
        const Value b = argument(1);
        const Form factor = times(dot(a, b, id, "this projection"), dot(b, b, id, "this projection"), {-1, 1});
        return each(b, [&](const Form& form) { return times(form, factor, {1, 1}); });
      }
      case Builtin::rotate: {
        const Value value = argument(0);
        if (count == 3) uniform(argument(1), node(1), "the axis of `rotate`");
        need_pure(argument(count - 1), node(count - 1), "the angle of `rotate`");
        const Form form = uniform(value, node(0), builtin.name);
        return {value.shape, std::vector<Form>(value.items.size(), form), false};
      }
      case Builtin::transpose: {
        const Value value = argument(0);
        Value result{Shape::matrix(value.shape.columns, value.shape.rows), {}, false};
        for (std::uint32_t j = 0; j < value.shape.columns; ++j) {
          for (std::uint32_t i = 0; i < value.shape.rows; ++i)
            result.items.push_back(value.item(i * value.shape.columns + j));
        }
        return result;
      }
      case Builtin::det:
      case Builtin::inverse:
        return determinant_or_inverse(argument(0), id, builtin.id == Builtin::det);
      case Builtin::skew: {
        const Value v = argument(0);
        const Form zero;
        return {Shape::matrix(3, 3),
                {zero, v.item(2), v.item(1), v.item(2), zero, v.item(0), v.item(1), v.item(0), zero},
                false};
      }
      case Builtin::diag: {
        std::vector<Form> items;
        if (count == 1) {
          const Value value = argument(0);
          items = value.items;
        } else {
          for (std::uint32_t i = 0; i < count; ++i) items.push_back(argument(i).item(0));
        }
        return diagonal(items);
      }
      case Builtin::identity: {
        const auto n = numbers_.whole(node(0), frame.numbers);
        if (!n || *n < 1 || *n > base::longest_side) return given_up();
        return diagonal(std::vector<Form>(static_cast<std::size_t>(*n), Form::of_bare()));
      }
      case Builtin::index: {
        const auto i = numbers_.whole(node(1), frame.numbers);
        return i ? row(argument(0), *i - 1) : given_up();
      }
      case Builtin::integration:
        return each(argument(0),
                    [](const Form& form) { return form.is_rigid() ? in_time(scalar(form), {1, 1}).items[0] : Form{}; });
      case Builtin::diff: {
        const Form by = argument(1).item(0);
        return each(argument(0), [&](const Form& form) { return form.is_rigid() ? times(form, by, {-1, 1}) : Form{}; });
      }
      case Builtin::delay:
        need_time(tree_.child(id, 2), "the length of a delay");
        return argument(0);
      case Builtin::noise:
        if (tree_[id].child_count > 2) {
          Dimension frequency;
          frequency.exponents[Dimension::second] = {-1, 1};
          need(tree_.child(id, 2), frequency, "the bandwidth of noise", "is in Hz");
        }
        break;
      case Builtin::box:
      case Builtin::table:
        break;
    }
    return given_up();
  }

  Value cross(const Value& a, const Value& b, NodeId id) {
    auto part = [&](std::uint32_t i, std::uint32_t j) {
      Agreement sum(*this, {Origin::inside, {}, {}, "this cross product"}, 0);
      sum.add(id, times(a.item(i), b.item(j), {1, 1}));
      sum.add(id, times(a.item(j), b.item(i), {1, 1}));
      return sum.form();
    };
    if (a.items.size() == 2 || b.items.size() == 2) return scalar(part(0, 1));
    return {Shape::vector(3), {part(1, 2), part(2, 0), part(0, 1)}, false};
  }

  Value diagonal(const std::vector<Form>& items) {
    const auto n = static_cast<std::uint32_t>(items.size());
    work_ += static_cast<long long>(n) * n;
    Value result{Shape::matrix(n, n), std::vector<Form>(std::size_t{n} * n), false};
    for (std::size_t i = 0; i < n; ++i) result.items[i * n + i] = items[i];
    return result;
  }

  // All products of a determinant have one dimension when a_ij is r_i c_j; then it is the product of all r and c, and the
  // inverse has 1 / (r_j c_i).
  Value determinant_or_inverse(const Value& a, NodeId id, bool determinant) {
    const std::uint32_t n = a.shape.rows;
    if (!a.shape.is_matrix() || a.shape.columns != n) return given_up();
    const bool any_rigid =
        std::any_of(a.items.begin(), a.items.end(), [](const Form& form) { return form.is_rigid(); });
    if (!any_rigid) {
      if (determinant) return scalar(Form::of_bare());
      return {a.shape, std::vector<Form>(a.items.size(), Form::of_bare()), false};
    }
    std::vector<Form> rows, columns;
    for (std::uint32_t i = 0; i < n; ++i) {
      rows.push_back(Form::of_unknown(solver_.add_unknown()));
      columns.push_back(Form::of_unknown(solver_.add_unknown()));
    }
    Form all{Form::rigid};
    for (std::uint32_t i = 0; i < n; ++i) {
      all = times(times(all, rows[i], {1, 1}), columns[i], {1, 1});
      for (std::uint32_t j = 0; j < n; ++j) {
        constrain({Origin::inside, id, {}, determinant ? "this determinant" : "this inverse"},
                  times(rows[i], columns[j], {1, 1}), a.item(i * n + j));
      }
    }
    if (determinant) return scalar(all);
    Value result{a.shape, {}, false};
    for (std::uint32_t i = 0; i < n; ++i) {
      for (std::uint32_t j = 0; j < n; ++j) result.items.push_back(raised(times(rows[j], columns[i], {1, 1}), {-1, 1}));
    }
    return result;
  }

  // --- Reports ---------------------------------------------------------------------------------------------------------

  static std::string describe(const Dimension& dimension) {
    const std::string unit = parse::print_unit(dimension);
    return unit.empty() ? "a pure number" : "in " + unit;
  }

  // The expression in backticks, shortened.
  std::string quote(NodeId id) const {
    std::string text = parse::print(tree_, names_, id);
    constexpr std::size_t most = 48;
    if (text.size() > most) {
      std::size_t cut = text.rfind(' ', most);
      text = text.substr(0, cut == std::string::npos || cut < most / 2 ? most : cut) + " ..";
    }
    return "`" + text + "`";
  }

  // What gives this component (from 1) of a vector, as far as it is written apart.
  NodeId part(NodeId id, std::uint32_t component) const {
    const bool is_flat_tuple = component > 0 && id.valid() && tree_[id].kind == NodeKind::tuple &&
                               component <= tree_[id].child_count && tree_[tree_.child(id, 0)].kind != NodeKind::tuple;
    return is_flat_tuple ? tree_.child(id, component - 1) : id;
  }

  // A function's body is expanded many times, and so are the items of a module: each place is told once.
  bool is_new(base::Span span) { return told_.insert({span.file, span.begin, span.end}).second; }

  static std::string complaint(const Origin& origin) {
    switch (origin.kind) {
      case Origin::equation:
        return "the sides of this equation differ";
      case Origin::definition:
        return fmt::format("the value of `{}` does not fit", origin.what);
      case Origin::range:
        return "the range does not fit";
      case Origin::start:
        return "the start does not fit";
      case Origin::sum:
        return "these cannot be added";
      case Origin::comparison:
        return "these cannot be compared";
      case Origin::branches:
        return "the branches of `if` differ";
      case Origin::arguments:
        return fmt::format("the arguments of `{}` differ", origin.what);
      case Origin::parts:
        return fmt::format("`{}` needs components of one dimension", origin.what);
      case Origin::inside:
      case Origin::pure:
        break;
    }
    return fmt::format("{} adds what cannot be added", origin.what);
  }

  base::Span place(const Origin& origin) const {
    switch (origin.kind) {
      case Origin::equation:
      case Origin::start:
        return spanning(tree_[origin.left].span, tree_[origin.right].span);
      case Origin::sum:
      case Origin::comparison:
      case Origin::branches:
      case Origin::arguments:
        return tree_[part(origin.right, origin.component)].span;
      default:
        return tree_[origin.left].span;
    }
  }

  static base::Span spanning(base::Span a, base::Span b) {
    if (a.file != b.file) return b;
    return {a.file, std::min(a.begin, b.begin), std::max(a.end, b.end)};
  }

  void report(std::uint32_t c) {
    const Constraint& constraint = constraints_[c];
    const Origin& origin = constraint.origin;
    const base::Span span = place(origin);
    if (!is_new(span)) return;
    const std::optional<Dimension> left = solver_.value(constraint.left);
    const std::optional<Dimension> right = solver_.value(constraint.right);
    std::string where = complaint(origin);
    if (origin.component > 0) where += fmt::format(", component {}", origin.component);
    auto reported = [&] {
      if (origin.kind == Origin::pure) {
        const std::string what = origin.what.find(' ') == origin.what.npos
                                     ? fmt::format("the argument of `{}`", origin.what)
                                     : std::string(origin.what);
        return diags_.report(span, not_pure, what, quote(origin.left), describe(solver_.quotient(c)));
      }
      const bool unnamed = origin.kind == Origin::inside || origin.kind == Origin::parts;
      if (!left || !right) {
        const std::string quotient = describe(solver_.quotient(c));
        return diags_.report(
            span, dimensions_differ, where,
            unnamed || !origin.right.valid()
                ? fmt::format("one divided by another is {}", quotient)
                : fmt::format("{} divided by {} is {}", quote(origin.left), quote(origin.right), quotient));
      }
      if (unnamed) {
        return diags_.report(span, dimensions_differ, where,
                             fmt::format("one is {}, another {}", describe(*left), describe(*right)));
      }
      if (origin.kind == Origin::definition) {
        return diags_.report(
            span, dimensions_differ, where,
            fmt::format("the name is {}, {} {}", describe(*left), quote(origin.left), describe(*right)));
      }
      // In the order in which they are written.
      const bool in_order = tree_[origin.left].span.begin <= tree_[origin.right].span.begin;
      const NodeId first = part(in_order ? origin.left : origin.right, origin.component);
      const NodeId second = part(in_order ? origin.right : origin.left, origin.component);
      return diags_.report(span, dimensions_differ, where,
                           fmt::format("{} is {}, {} {}", quote(first), describe(in_order ? *left : *right),
                                       quote(second), describe(in_order ? *right : *left)));
    }();
    if (origin.call.valid()) reported.related(tree_[origin.call].span, "in this call");
    std::set<std::uint32_t> told;
    for (const Form* form : {&constraint.left, &constraint.right}) explain(*form, told, reported);
    hint(constraint, reported);
  }

  // Why the names of a form have their dimensions, back to the literals; of a long chain the beginning and the end.
  void explain(const Form& form, std::set<std::uint32_t>& told, diag::Sink::Reported& reported) {
    std::vector<std::pair<base::Span, std::string>> notes;
    std::vector<std::uint32_t> rest;
    const auto queue = [&](const Form& next) {
      for (auto term = next.terms.rbegin(); term != next.terms.rend(); ++term) rest.push_back(term->unknown);
    };
    queue(form);
    while (!rest.empty()) {
      const std::uint32_t unknown = rest.back();
      rest.pop_back();
      const std::optional<std::uint32_t> reason = solver_.reason(unknown);
      const std::optional<Dimension> value = solver_.value(Form::of_unknown(unknown));
      if (!reason || !value || !told.insert(unknown).second) continue;
      const Constraint& by = constraints_[*reason];
      if (unknown < solver_unknowns_) notes.push_back(note(unknown, *value, by));
      queue(multiply(by.left, by.right, {1, 1}));
    }
    constexpr std::size_t first = 3, last = 3;
    for (std::size_t i = 0; i < notes.size(); ++i) {
      if (i >= first && i + last < notes.size()) continue;
      reported.related(notes[i].first, "{}", notes[i].second);
    }
  }

  std::pair<base::Span, std::string> note(std::uint32_t unknown, const Dimension& value, const Constraint& by) const {
    const std::string name = fmt::format("`{}` is {}", unknown_name(unknown), describe(value));
    const bool direct = std::all_of(by.left.terms.begin(), by.left.terms.end(),
                                    [&](const Term& term) { return term.unknown == unknown; }) &&
                        std::all_of(by.right.terms.begin(), by.right.terms.end(),
                                    [&](const Term& term) { return term.unknown == unknown; });
    if (direct) {
      if (const NodeId literal = only_literal(by.origin); literal.valid())
        return {tree_[literal].span, fmt::format("{} because of {}", name, quote(literal))};
    }
    switch (by.origin.kind) {
      case Origin::pure:
        return {tree_[by.origin.left].span, fmt::format("{} because it is {} here", name, purpose(by.origin.what))};
      case Origin::equation:
        return {place(by.origin), fmt::format("{} by this equation", name)};
      case Origin::definition:
        return {place(by.origin), fmt::format("{} by its value", name)};
      case Origin::start:
        return {place(by.origin), fmt::format("{} by this start", name)};
      default:
        return {place(by.origin), fmt::format("{} because of its place here", name)};
    }
  }

  static std::string purpose(std::string_view what) {
    return what.find(' ') == what.npos ? fmt::format("an argument of `{}`", what) : std::string(what);
  }

  // The one literal with a dimension below a constraint's nodes; not valid when there are several or none.
  NodeId only_literal(const Origin& origin) const {
    NodeId found;
    std::vector<NodeId> rest;
    for (NodeId id : {origin.left, origin.right}) {
      if (id.valid()) rest.push_back(part(id, origin.component));
    }
    while (!rest.empty()) {
      const NodeId id = rest.back();
      rest.pop_back();
      const parse::Node& node = tree_[id];
      if (node.unit != 0 && !tree_.units[node.unit].measure.dimension.pure()) {
        if (found.valid()) return {};
        found = id;
      }
      for (const parse::Child& child : tree_.children_of(id)) rest.push_back(child.node);
    }
    return found;
  }

  std::string unknown_name(std::uint32_t unknown) const {
    const auto after = std::upper_bound(first_unknown_.begin(), first_unknown_.end(), unknown);
    const SymbolId id(static_cast<std::size_t>(after - first_unknown_.begin()) - 1);
    const Symbol& symbol = model_.symbols[id];
    const std::uint32_t i = unknown - first_unknown_[id.value];
    if (symbol.shape.is_scalar()) return names_.text(symbol.name);
    if (symbol.shape.is_vector()) return fmt::format("{}[{}]", names_.text(symbol.name), i + 1);
    return fmt::format("{}[{}, {}]", names_.text(symbol.name), i / symbol.shape.columns + 1,
                       i % symbol.shape.columns + 1);
  }

  // What is often meant: a number without a unit has lost it, or a factor was left out because it is one.
  void hint(const Constraint& constraint, diag::Sink::Reported& reported) const {
    const Origin& origin = constraint.origin;
    const std::optional<Dimension> left = solver_.value(constraint.left);
    const std::optional<Dimension> right = solver_.value(constraint.right);
    if (!left || !right || (!origin.right.valid() && origin.kind != Origin::pure)) return;
    Dimension quotient = *left;
    quotient.multiply(*right, {-1, 1});
    if (hint_at_number(origin.left, inverted(quotient), reported)) return;
    if (origin.kind == Origin::pure) {
      const std::string unit = parse::print_unit(*left);
      reported.hint("divide it by a quantity in {}, such as `1 [{}]`", unit, unit);
      return;
    }
    if (hint_at_number(origin.right, quotient, reported)) return;
    Dimension without_time = quotient;
    without_time.exponents[Dimension::second] = {};
    if (without_time.pure() && (origin.kind == Origin::equation || origin.kind == Origin::sum))
      reported.hint("has {} too few primes or too many, or does it lack a factor in {}?",
                    quote(part(origin.right, origin.component)), parse::print_unit(quotient));
  }

  static Dimension inverted(const Dimension& dimension) {
    Dimension result;
    result.multiply(dimension, {-1, 1});
    return result;
  }

  // For a product that lacks a unit and has a number without one among its factors, as `5 * sin(a)` has.
  bool hint_at_number(NodeId id, Dimension missing, diag::Sink::Reported& reported) const {
    while (tree_[id].kind == NodeKind::negate) id = tree_.child(id, 0);
    if (tree_[id].kind != NodeKind::product) return false;
    for (const parse::Child& child : tree_.children_of(id)) {
      const parse::Node& node = tree_[child.node];
      if (node.kind != NodeKind::number || node.unit != 0) continue;
      if (child.op == parse::Op::divide) missing = inverted(missing);
      reported.hint("a number without a unit is a pure number as a factor; is it `{} [{}]`?",
                    parse::print(tree_, names_, child.node), parse::print_unit(missing));
      return true;
    }
    return false;
  }

  // --- Results ---------------------------------------------------------------------------------------------------------

  void keep() {
    for (std::size_t s = 0; s < model_.symbols.size(); ++s) {
      Symbol& symbol = model_.symbols[SymbolId(s)];
      if (symbol.role == Role::function) continue;
      symbol.dimensions.resize(symbol.shape.size());
      for (std::uint32_t i = 0; i < symbol.shape.size(); ++i) {
        if (symbol.role != Role::input) symbol.dimensions[i] = solver_.value(unknown_of(SymbolId(s), i));
      }
    }
    keep_inputs();
  }

  void keep_inputs() {
    std::set<std::pair<std::uint32_t, std::uint32_t>> disputed;
    for (const InputUse& use : input_uses_) {
      std::optional<Dimension> value = solver_.value(use.form);
      if (!value) continue;
      value->exponents[Dimension::second] =
          value->exponents[Dimension::second] + Rational{static_cast<std::int16_t>(use.order), 1};
      std::optional<Dimension>& kept = model_.symbols[use.symbol].dimensions[use.item];
      if (kept && !(*kept == *value)) disputed.insert({use.symbol.value, use.item});
      kept = value;
    }
    for (const auto& [symbol, item] : disputed) model_.symbols[SymbolId(symbol)].dimensions[item].reset();
  }

  Model& model_;
  const parse::Tree& tree_;
  base::Names& names_;
  diag::Sink& diags_;
  Numbers numbers_;
  base::NameId time_;
  base::NameId pi_;
  DimensionSolver solver_;
  std::uint32_t solver_unknowns_ = 0;         // of symbols; further ones are of determinants
  std::vector<std::uint32_t> first_unknown_;  // by symbol
  std::vector<Constraint> constraints_;       // as the solver's
  std::vector<InputUse> input_uses_;
  NodeId call_;  // the outermost call of a function being expanded
  long long work_ = 0;
  std::set<std::array<std::uint32_t, 3>> told_;
};

}  // namespace

void infer_dimensions(Model& model, base::Names& names, diag::Sink& diags) { Dimensions(model, names, diags).run(); }

}  // namespace check
