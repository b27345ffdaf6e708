#include "compiler/energy/book.h"

namespace energy {
namespace {

using expr::ExprId;

class Book {
 public:
  explicit Book(flat::Model& model) : model_(model), pool_(model.pool), span_(model.energies.front().span) {
    for (const flat::Group& group : model.groups) {
      if (group.first == model.energies.front().variable) quantity_ = group.quantity;
    }
  }

  void write() {
    ExprId stored = pool_.constant(0);
    for (const flat::Energy& energy : model_.energies) stored = pool_.add(stored, leaf(energy.variable));
    ExprId power = pool_.constant(0);
    for (const flat::Power& port : model_.powers) {
      if (port.is_joined) continue;
      for (const flat::Power::Pair& pair : port.pairs) power = pool_.add(power, pool_.multiply(pair.in, pair.out));
    }

    const flat::VariableId total = shown("book.stored");
    equate(leaf(total), stored);
    const ExprId supplied = integral("book.supplied", power);
    const ExprId dissipated = integral("book.dissipated", pool_.subtract(power, leaf(total, 1)));
    const flat::VariableId start = variable("stored at the start");
    equate(leaf(start, 1), pool_.constant(0));
    model_.conditions.push_back({start, 0, leaf(total), false, true, span_});

    model_.ledger = model_.discrete_count + 1;
    const ExprId booked = held("book.booked", quantity_);
    held("book.leaps", {});
    held("book.escapes", {});
    const ExprId grown = pool_.subtract(leaf(total), leaf(start));
    equate(leaf(shown("book.invented")),
           pool_.subtract(pool_.add(pool_.subtract(grown, supplied), dissipated), booked));
  }

 private:
  ExprId leaf(flat::VariableId variable, std::uint32_t order = 0) { return pool_.variable(variable.value, order); }

  flat::VariableId variable(const char* name) {
    return model_.variables.push({name, span_});
  }

  // What a person can look at.
  flat::VariableId shown(const char* name) {
    const flat::VariableId added = variable(name);
    model_.groups.push_back({name, {}, added, false, quantity_});
    return added;
  }

  void equate(ExprId left, ExprId right) { model_.equations.push({left, right, span_}); }

  // A state from 0 on; what never changes is no state.
  ExprId integral(const char* name, ExprId rate) {
    const flat::VariableId added = shown(name);
    if (pool_.is_constant(rate, 0)) {
      equate(leaf(added), rate);
    } else {
      equate(leaf(added, 1), rate);
      model_.conditions.push_back({added, 0, pool_.constant(0), false, true, span_});
    }
    return leaf(added);
  }

  // A place of the ledger, which the kernel writes.
  ExprId held(const char* name, const flat::Quantity& quantity) {
    const std::uint32_t place = model_.discrete_count++;
    model_.discrete.push_back({name, {}, place, span_, {pool_.constant(0)}, quantity});
    model_.discrete_names.emplace_back(name);
    return pool_.discrete(place);
  }

  flat::Model& model_;
  expr::Pool& pool_;
  base::Span span_;
  flat::Quantity quantity_;
};

}  // namespace

void keep_book(flat::Model& model) {
  if (!model.energies.empty()) Book(model).write();
}

}  // namespace energy
