// Pairs of guards with known answers, those of the design's programs among them; random polynomials against dense
// samples.
#include "compiler/proof/decide.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>

#include "compiler/proof/contradiction.h"
#include "compiler/proof/guards_for_test.h"
#include "compiler/proof/intervals.h"
#include "compiler/proof/polynomial.h"
#include "compiler/proof/tape.h"

namespace proof {

void PrintTo(Answer answer, std::ostream* to) { *to << name(answer); }
void PrintTo(Method method, std::ostream* to) { *to << name(method); }

namespace {

std::string text_of(const Verdict& verdict) {
  std::string text = std::string(name(verdict.answer)) + " by " + name(verdict.by);
  for (const Coordinate& at : verdict.witness) text += " " + at.name + "=" + std::to_string(at.value);
  return text + " " + verdict.why;
}

class Pairs : public ::testing::Test {
 protected:
  Guards g;

  // The witness of an overlap is put back into both guards, by a way of its own.
  void expect(Term first, Term second, Answer answer, std::optional<Method> by = {}) {
    Prover prover({.seconds = 60, .first_boxes = 0});  // on a busy machine Z3 may be slow
    const Question question = g.ask(first, second);
    const Verdict verdict = prover.decide(question);
    EXPECT_EQ(verdict.answer, answer) << text_of(verdict);
    if (by) {
      EXPECT_EQ(verdict.by, *by) << text_of(verdict);
    }
    EXPECT_TRUE(verdict.answer == Answer::overlap || verdict.witness.empty());
    EXPECT_EQ(verdict.answer == Answer::unknown, !verdict.why.empty());
    if (verdict.answer == Answer::overlap) {
      expr::Pool pool = g.pool;
      for (const Term guard : {first, second}) EXPECT_TRUE(put_in(pool, guard.id, verdict)) << text_of(verdict);
    }
    // The other way round nothing changes.
    EXPECT_EQ(prover.decide(g.ask(second, first)).answer, answer);
  }

  // Folding by the pool.
  bool put_in(expr::Pool& pool, ExprId id, const Verdict& verdict) const {
    std::vector<ExprId> made(id.value + 1);
    std::vector<bool> visited;
    std::vector<ExprId> roots = {id};
    for (const Definition& definition : g.definitions) roots.insert(roots.begin(), definition.value);
    made.resize(pool.size());
    expr::visit_postorder(pool, roots, visited, [&](ExprId each) {
      const expr::Node node = pool[each];
      made[each.value] = each;
      for (const Coordinate& at : verdict.witness)
        if (at.leaf == each) made[each.value] = pool.constant(at.value);
      for (const Definition& definition : g.definitions)
        if (definition.leaf == each) made[each.value] = made[definition.value.value];
      if (!expr::is_leaf(node.op))
        made[each.value] = pool.remake(node, made[node.a.value], node.b.valid() ? made[node.b.value] : ExprId(),
                                       node.c.valid() ? made[node.c.value] : ExprId());
    });
    return made[id.value] == pool.truth(true);
  }
};

// --- As they are written --------------------------------------------------------------------------------------------

TEST_F(Pairs, OppositeRelations) {
  const Term x = g.leaf("x"), y = g.leaf("y");
  expect(x <= 0, x > 0, Answer::exclusive, Method::structure);
  expect(x < y, y < x, Answer::exclusive, Method::structure);
  expect(x - y <= 1, y - x < -1, Answer::exclusive, Method::structure);
  expect(x * y > 3, y * x <= 3, Answer::exclusive, Method::structure);
  expect(sin(x + y) > 0, sin(y + x) < 0, Answer::exclusive, Method::structure);
  expect(2 * x < 1, x >= 0.5, Answer::exclusive, Method::structure);
  expect(x == 1, x == 2, Answer::exclusive, Method::structure);
  expect(x == 1, x != 1, Answer::exclusive, Method::structure);
  expect(!(x < y), !(x >= y), Answer::exclusive, Method::structure);
}

TEST_F(Pairs, TouchingRelationsOverlap) {
  const Term x = g.leaf("x"), y = g.leaf("y");
  expect(x <= 0, x >= 0, Answer::overlap);
  expect(x <= y, y <= x, Answer::overlap);
  expect(x < 1, x > 0, Answer::overlap);
  expect(x < 1, y < 1, Answer::overlap);
}

TEST_F(Pairs, WideOverlapsShowAtOnce) {
  const Term x = g.leaf("x"), y = g.leaf("y");
  Prover with_look({.seconds = 60, .solver = "/no/z3"});
  const Verdict wide = with_look.decide(g.ask(x <= 0 && y < 0, x * x + y * y > 5));
  EXPECT_EQ(wide.answer, Answer::overlap) << text_of(wide);
  EXPECT_TRUE(with_look.notes().empty());  // Z3 was not looked for
  EXPECT_EQ(with_look.decide(g.ask(x * y > 3, y * x * x <= 3 * x && x > 0)).answer, Answer::unknown);
  EXPECT_FALSE(with_look.notes().empty());
}

TEST_F(Pairs, BouncesAndLandings) {  // ball_on_steps.tact
  const Term gap = g.leaf("gap"), rate = g.leaf("gap'"), vx = g.leaf("p'[1]"), vy = g.leaf("p'[2]");
  const Term e_min = g.leaf("E_min", 0, 0.2), mode = g.leaf("ball"), along = g.leaf("along");
  const Term across = std::sin(0.5 / 57) * vx + std::cos(0.5 / 57) * vy;
  const Term impact = 0.25 * square(across);
  const Term bouncing = mode == 1, rolling = mode == 2;
  const Term bounce = bouncing && gap <= 0 && rate < 0 && impact > e_min;
  const Term land = bouncing && gap <= 0 && rate < 0 && impact <= e_min;
  const Term roll_off = rolling && along > 1.5, pass = bouncing && along > 1.5;
  expect(bounce, land, Answer::exclusive, Method::structure);
  expect(roll_off, pass, Answer::exclusive, Method::structure);
  expect(roll_off, land, Answer::exclusive, Method::structure);
  expect(bounce, pass, Answer::overlap, Method::polynomial);
  expect(land, pass, Answer::overlap, Method::polynomial);
}

TEST_F(Pairs, ModesByBooleansAndAssumptions) {
  const Term flight = 0.5 < g.leaf("foot.Flight", 0, 1), stance = 0.5 < g.leaf("foot.Stance", 0, 1);
  const Term f_n = g.leaf("f_n");
  expect(flight && f_n < 1, stance && f_n < 0, Answer::overlap);
  g.assumptions.push_back((!(flight && stance)).id);
  expect(flight && f_n < 1, stance && f_n < 0, Answer::exclusive, Method::structure);
}

TEST_F(Pairs, GaitsByTime) {  // hexapod.tact: one phase each, so told apart by mode; within a phase by time alone
  const Term s = g.leaf("s", 0, 10), ts = g.leaf("ts", 0, 3), tc = g.leaf("tc", 0, 3), phase = g.leaf("phase");
  expect(phase == 1 && s >= ts / 2, phase == 2 && s >= (tc - ts) / 2, Answer::exclusive, Method::structure);
  expect(s >= ts / 2, s < (tc - ts) / 2, Answer::overlap, Method::polynomial);
  expect(s >= ts / 2 && ts > tc, s < (tc - ts) / 2, Answer::exclusive, Method::polynomial);
}

TEST_F(Pairs, TouchDownAndLiftOff) {  // hexapod.tact on waves
  const Term x = g.leaf("f[1]"), y = g.leaf("f[2]"), z = g.leaf("f[3]"), a = g.leaf("a1", 0, 0.1);
  const Term height = a * sin(15 * x) * cos(15 * y);
  expect(z <= height, z > 0.1, Answer::exclusive, Method::polynomial);
  expect(z <= height, z > 0.01, Answer::overlap);
  expect(z <= height, z > height, Answer::exclusive, Method::structure);
}

TEST_F(Pairs, StancesOfSlip) {  // slip.tact
  const Term px = g.leaf("p[1]"), py = g.leaf("p[2]"), fx = g.leaf("foot[1]"), fy = g.leaf("foot[2]");
  const Term vy = g.leaf("p'[2]"), theta = g.leaf("theta"), ql = g.leaf("q_l", 0.5, 1.5);
  const Term q = sqrt(square(px - fx) + square(py - fy));
  expect(py < cos(theta) && vy < 0, vy >= 0, Answer::exclusive, Method::structure);
  expect(py < cos(theta), py > 1, Answer::exclusive, Method::polynomial);
  expect(py < cos(theta), py > 0.99, Answer::overlap, Method::polynomial);
  expect(q >= ql, square(px - fx) + square(py - fy) < 0.25, Answer::exclusive, Method::polynomial);
  expect(q >= ql, square(px - fx) + square(py - fy) < 0.36, Answer::overlap, Method::polynomial);
}

TEST_F(Pairs, RobotOnItsTrack) {  // robot_chain.tact
  const Term shoulder = g.leaf("shoulder"), start = g.leaf("at1"), grip = g.leaf("grip"), t = g.leaf("t"),
             since = g.leaf("at2");
  expect(shoulder >= start + std::acos(0.0), shoulder <= start, Answer::exclusive, Method::structure);
  expect(grip >= 0.9, grip <= 0.1, Answer::exclusive, Method::structure);
  expect(t - since >= 1.5, t - since < 1.5, Answer::exclusive, Method::structure);
  expect(t - since >= 1.5, grip >= 0.9, Answer::overlap, Method::polynomial);
}

TEST_F(Pairs, ShipsInReach) {  // dueling_ships.tact: distance
  const Term dx = g.leaf("x"), dy = g.leaf("y"), dz = g.leaf("z");
  const Term distance = sqrt(square(dx) + square(dy) + square(dz));
  expect(distance < 12, dx > 12, Answer::exclusive, Method::polynomial);
  expect(distance < 12, dx > 11, Answer::overlap, Method::polynomial);
  expect(distance < 12, distance > 12, Answer::exclusive, Method::structure);
}

// --- Polynomials ----------------------------------------------------------------------------------------------------

TEST_F(Pairs, Polynomials) {
  const Term x = g.leaf("x"), y = g.leaf("y"), z = g.leaf("z");
  expect(x * x < 0, y > 0, Answer::exclusive, Method::polynomial);
  expect(square(x) + square(y) < 1, x + y > 1.4143, Answer::exclusive, Method::polynomial);
  expect(square(x) + square(y) < 1, x + y > 1.4142, Answer::overlap, Method::polynomial);
  expect(x * y > 0 && y * z > 0, x * z < 0, Answer::exclusive, Method::polynomial);
  expect(square(x) * square(y) * (square(x) + square(y)) + 1 < 3 * square(x) * square(y), z > 0, Answer::exclusive,
         Method::polynomial);                      // Motzkin's polynomial is never negative, and no sum of squares
  expect(square(x) == 2, x > 0, Answer::unknown);  // only at a number that no double is
  expect(power(x, 7) > 1, x < 1, Answer::exclusive, Method::polynomial);
  expect(power(x, 6) < 64, x < -2, Answer::exclusive, Method::polynomial);
}

TEST_F(Pairs, RootsAbsolutesAndCases) {
  const Term x = g.leaf("x"), y = g.leaf("y");
  expect(abs(x) < 1, square(x) > 1, Answer::exclusive, Method::polynomial);
  expect(min(x, y) > 0, max(x, y) < 0, Answer::exclusive, Method::polynomial);
  expect(min(x, y) < 0, max(x, y) > 0, Answer::overlap, Method::polynomial);
  expect(max(g.number(0), min(x, g.number(1))) > 1, y > 0, Answer::exclusive, Method::polynomial);
  expect(select(x < 0, -x, square(x)) < 0, y > 0, Answer::exclusive, Method::polynomial);
  expect(sqrt(x) < 2, x > 4, Answer::exclusive, Method::polynomial);
  expect(power(x, 1.5) > 8, x < 4, Answer::exclusive, Method::polynomial);
}

TEST_F(Pairs, QuotientsAndWhereTheyAreNone) {
  const Term x = g.leaf("x"), y = g.leaf("y");
  expect(1 / x > 1, x < 0, Answer::exclusive, Method::polynomial);
  expect(y / x > 1 && x > 0, y < x, Answer::exclusive, Method::polynomial);
  // A root of something negative is in no relation, as in doubles, so its negation holds.
  expect(sqrt(x) < 1, x < -1, Answer::exclusive, Method::polynomial);
  expect(!(sqrt(x) >= 1), x < -1, Answer::overlap, Method::polynomial);
  expect(!(sqrt(x) >= 0), !(sqrt(x) < 0), Answer::overlap);
  // At 0 the quotient is infinite, and both hold.
  expect(1 / x > 0, x <= 0, Answer::overlap, Method::polynomial);
}

TEST_F(Pairs, SineAndCosineOnTheCircle) {
  const Term a = g.leaf("a"), x = g.leaf("x");
  expect(sin(a) > 0.8, cos(a) > 0.8, Answer::exclusive, Method::polynomial);
  expect(sin(a) > 0.7, cos(a) > 0.7, Answer::overlap, Method::polynomial);
  expect(sin(-a) > 0.8, cos(a) > 0.8, Answer::exclusive, Method::polynomial);
  expect(x > cos(a) + sin(a), x < -1.5, Answer::exclusive, Method::polynomial);
  expect(sin(2 * a + 1) > 0.99, cos(2 * a + 1) < 0.1, Answer::overlap, Method::polynomial);
  expect(tan(a) > 1 && cos(a) > 0, sin(a) < 0, Answer::exclusive, Method::polynomial);
}

TEST_F(Pairs, DefinitionsArePutIn) {
  const Term x = g.leaf("x"), y = g.leaf("y"), z = g.leaf("z");
  expect(x > 1, y < 1, Answer::overlap);
  g.definitions.push_back({z.id, (y + 1).id});
  g.definitions.push_back({y.id, square(x).id});
  expect(x > 1, y < 1, Answer::exclusive, Method::polynomial);
  expect(z > 5, z < 4, Answer::exclusive, Method::structure);
  expect(z > 5, x < 2, Answer::overlap, Method::polynomial);
}

TEST_F(Pairs, TiesHoldNearly) {
  const Term x = g.leaf("x", -5, 5), y = g.leaf("y", -5, 5);
  g.ties.push_back((square(x) + square(y) == 2).id);
  expect(x > 1, y > 1, Answer::exclusive, Method::polynomial);
  expect(x > 0.9, y > 1, Answer::overlap, Method::polynomial);
  g.ties.push_back((x == y).id);
  expect(x - y > 0.001, y > 0, Answer::exclusive, Method::structure);
  expect(x > 0.5, y < 2, Answer::overlap, Method::polynomial);  // at (1, 1)
  Prover alone({60, 20000, "/nowhere/z3"});
  EXPECT_EQ(alone.decide(g.ask(x > 0.5, y < 2)).answer, Answer::overlap);
  EXPECT_EQ(alone.decide(g.ask(x > 0.5, y < 0.5)).answer, Answer::exclusive);
}

TEST_F(Pairs, RangesCount) {
  const Term k = g.leaf("k", 0, 50), x = g.leaf("x");
  expect(k > 51, x > 0, Answer::exclusive, Method::structure);
  expect(k * x > 51, x < 1, Answer::exclusive, Method::polynomial);
  expect(k * x > 49, x < 1, Answer::overlap, Method::polynomial);
}

// --- Over boxes -----------------------------------------------------------------------------------------------------

TEST_F(Pairs, FunctionsThatZ3DoesNotKnow) {
  const Term x = g.leaf("x"), y = g.leaf("y"), u = g.leaf("u", -3, 3);
  expect(exp(x) > 3, x < 1, Answer::exclusive, Method::intervals);
  expect(exp(x) > 2.5, x < 1, Answer::overlap);
  expect(exp(x) < 0, y > 0, Answer::exclusive, Method::polynomial);  // its bounds are told to Z3
  expect(log(x) > 2, x < 7, Answer::exclusive, Method::intervals);
  expect(sin(u) > 0.9, abs(u) < 1, Answer::exclusive, Method::intervals);
  expect(sin(u) > 0.9, u > 2.1, Answer::exclusive, Method::intervals);
  expect(sin(u) > 0.9, u > 2, Answer::overlap);
  expect(sin(u) + u > 1.9, u < 1, Answer::exclusive, Method::intervals);
  expect(atan(x) > 1, x < 1.5, Answer::exclusive, Method::intervals);
  expect(atan2(y, x) > 1.6, x > 0, Answer::exclusive, Method::polynomial);
  expect(atan2(y, x) > 0, y <= 0, Answer::overlap);  // behind: half a turn at y = 0, x < 0
  expect(atan2(y, x) > 0.8, y < 0.5 * x && x > 1 && x < 5, Answer::exclusive, Method::intervals);
  expect(exp(x) + exp(y) < 1, x + y > 0, Answer::exclusive, Method::polynomial);  // exp(x) >= 1 + x is told, too
  expect(exp(x) + exp(y) < 3.2, x + y > 1, Answer::exclusive, Method::intervals);
  expect(exp(x) + exp(y) < 3.4, x + y > 1, Answer::overlap);
  expect(floor(u) > 1, u < 1.9, Answer::exclusive);
}

TEST_F(Pairs, NothingIsSaidOfWhatCannotBeKnown) {
  const Term x = g.leaf("x");
  const Term noisy = {&g, g.pool.noise(1, x.id)};
  expect(noisy > 1, x > 0, Answer::unknown);
  expect(noisy > 1, noisy < 0, Answer::exclusive, Method::structure);
  expect(noisy * noisy > 4, noisy < 1 && noisy > -1, Answer::exclusive, Method::polynomial);
}

TEST_F(Pairs, SampledDataAreAskedFor) {
  const Term x = g.leaf("x", 0, 10);
  const Term height = {&g, g.pool.table(0, x.id)};
  Question question = g.ask(height > 3, x > 2);
  EXPECT_EQ(Prover({60}).decide(question).answer, Answer::unknown);
  question.sample = [](const expr::Node&, double a, double) { return std::optional(a * 2); };
  EXPECT_EQ(Prover({60}).decide(question).answer, Answer::overlap);
}

TEST_F(Pairs, WithoutZ3) {
  const Term x = g.leaf("x", -5, 5), y = g.leaf("y", -5, 5), z = g.leaf("z");
  Prover prover({60, 20000, "/nowhere/z3"});
  EXPECT_TRUE(prover.notes().empty());
  EXPECT_EQ(prover.decide(g.ask(x > 0, x <= 0)).by, Method::structure);
  EXPECT_TRUE(prover.notes().empty()) << "nobody missed it";
  const Verdict circle = prover.decide(g.ask(square(x) + square(y) < 1, x + y > 1.5));
  EXPECT_EQ(circle.answer, Answer::exclusive) << text_of(circle);
  EXPECT_EQ(circle.by, Method::intervals);
  const Verdict overlap = prover.decide(g.ask(square(x) + square(y) < 1, x + y > 1.4));
  EXPECT_EQ(overlap.answer, Answer::overlap) << text_of(overlap);
  const Verdict open = prover.decide(g.ask(square(z) < 4, z > 2));
  EXPECT_EQ(open.answer, Answer::exclusive) << text_of(open);
  EXPECT_EQ(prover.notes().size(), 1u);
}

TEST_F(Pairs, UnboundedLeavesAreCutWhereItMatters) {
  Prover prover({60, 20000, "/nowhere/z3"});
  const Term x = g.leaf("x"), y = g.leaf("y");
  const Verdict far = prover.decide(g.ask(x > 1000, x * x < 999000));
  EXPECT_EQ(far.answer, Answer::exclusive) << text_of(far);
  const Verdict witness = prover.decide(g.ask(x > 1000 && y < -20 * x, x * x < 1001000));
  EXPECT_EQ(witness.answer, Answer::overlap) << text_of(witness);
  const Verdict three = prover.decide(g.ask(square(x) + square(y) < 1, x * y > 0.5));
  EXPECT_NE(three.answer, Answer::overlap) << text_of(three);
}

// --- Random polynomials ---------------------------------------------------------------------------------------------

// Coefficients are small whole numbers and samples multiples of 1/4, so both guards are evaluated without rounding.
class RandomPairs {
 public:
  explicit RandomPairs(unsigned seed) : random_(seed) {}

  Term guard(Guards& g, const std::vector<Term>& leaves) {
    Term made = relation(g, leaves);
    for (int more = pick(3); more > 0; --more) {
      const Term other = relation(g, leaves);
      made = pick(3) == 0 ? made || other : made && other;
    }
    return pick(8) == 0 ? !made : made;
  }

 private:
  int pick(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }
  Term polynomial(Guards& g, const std::vector<Term>& leaves) {
    Term sum = g.number(pick(7) - 3);
    for (int terms = 1 + pick(3); terms > 0; --terms) {
      Term product = g.number(pick(5) - 2);
      for (int degree = pick(3); degree >= 0; --degree)
        product = product * leaves[pick(static_cast<int>(leaves.size()))];
      sum = sum + product;
    }
    switch (pick(6)) {
      case 0:
        return abs(sum);
      case 1:
        return max(sum, leaves[0]);
      default:
        return sum;
    }
  }
  Term relation(Guards& g, const std::vector<Term>& leaves) {
    const Term left = polynomial(g, leaves), right = g.number(pick(9) - 4);
    return pick(2) == 0 ? left < right : right <= left;
  }
  std::mt19937 random_;
};

TEST(RandomPolynomials, NeverExclusiveWhereASampleHolds) {
  const SolverProcess solver;
  ASSERT_TRUE(solver.is_there());
  int exclusive = 0, overlaps = 0, by_boxes = 0;
  for (unsigned seed = 0; seed < 120; ++seed) {
    Guards g;
    const std::vector<Term> leaves = {g.leaf("x", -4, 4), g.leaf("y", -4, 4)};
    RandomPairs pairs(seed);
    const Term first = pairs.guard(g, leaves), second = pairs.guard(g, leaves);
    const Question question = g.ask(first, second);
    const Tape tape = make_tape(question);
    bool is_found = false;
    for (int i = -16; i <= 16 && !is_found; ++i)
      for (int j = -16; j <= 16 && !is_found; ++j) {
        std::vector<double> point;
        for (const Leaf& leaf : tape.leaves) point.push_back((leaf.id == leaves[0].id ? i : j) / 4.0);
        is_found = holds(question, tape, point);
      }
    // Each method for itself.
    std::string why;
    const bool contradicts = is_contradictory(tape);
    const auto polynomial = decide_by_polynomials(question, tape, solver, 30, why);
    const auto boxes = decide_by_intervals(question, tape, 3000, 30, why);
    EXPECT_FALSE(is_found && contradicts) << seed;
    for (const auto& verdict : {polynomial, boxes}) {
      if (!verdict) continue;
      EXPECT_FALSE(is_found && verdict->answer == Answer::exclusive) << seed << " " << text_of(*verdict);
      EXPECT_FALSE(contradicts && verdict->answer == Answer::overlap) << seed << " " << text_of(*verdict);
    }
    if (polynomial && boxes) {
      EXPECT_EQ(polynomial->answer, boxes->answer) << seed;
    }
    if (polynomial) (polynomial->answer == Answer::exclusive ? exclusive : overlaps) += 1;
    if (boxes && boxes->answer == Answer::exclusive) by_boxes += 1;
    if (is_found) {
      ASSERT_TRUE(polynomial) << seed << " " << why;
      EXPECT_EQ(polynomial->answer, Answer::overlap) << seed;
    }
  }
  // The test would say nothing if all pairs were alike.
  EXPECT_GT(exclusive, 20);
  EXPECT_GT(overlaps, 50);
  EXPECT_GT(by_boxes, 20);
}

// Any operations on numbers with many digits: that a sample holds by rounding alone is as good as impossible.
class RandomFunctions {
 public:
  explicit RandomFunctions(unsigned seed) : random_(seed) {}

  Term guard(Guards& g, const std::vector<Term>& leaves) {
    Term made = relation(g, leaves);
    for (int more = pick(3); more > 0; --more) {
      const Term other = relation(g, leaves);
      made = pick(3) == 0 ? made || other : made && other;
    }
    return pick(6) == 0 ? !made : made;
  }

 private:
  int pick(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }
  double digits() { return std::uniform_real_distribution<double>(-3, 3)(random_); }
  Term value(Guards& g, const std::vector<Term>& leaves, int depth) {
    if (depth == 0) return pick(4) == 0 ? g.number(digits()) : leaves[pick(static_cast<int>(leaves.size()))];
    const Term a = value(g, leaves, depth - 1);
    switch (pick(18)) {
      case 0:
        return sin(a);
      case 1:
        return cos(a);
      case 2:
        return exp(a);
      case 3:
        return log(a);
      case 4:
        return sqrt(a);
      case 5:
        return abs(a);
      case 6:
        return atan(a);
      case 7:
        return asin(a);
      case 8:
        return tan(a);
      case 9:
        return floor(a);
      case 10:
        return power(a, pick(2) == 0 ? 5 : -1.5);
      case 11:
        return a / value(g, leaves, depth - 1);
      case 12:
        return atan2(a, value(g, leaves, depth - 1));
      case 13:
        return max(a, value(g, leaves, depth - 1));
      case 14:
        return select(a < digits(), value(g, leaves, depth - 1), a);
      case 15:
        return a * value(g, leaves, depth - 1);
      default:
        return a + digits() * value(g, leaves, depth - 1);
    }
  }
  Term relation(Guards& g, const std::vector<Term>& leaves) {
    const Term left = value(g, leaves, 1 + pick(3));
    return pick(2) == 0 ? left < digits() : left >= digits();
  }
  std::mt19937 random_;
};

TEST(RandomGuards, NeverExclusiveWhereASampleHolds) {
  const SolverProcess solver;
  int by_z3 = 0, by_boxes = 0, overlaps = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    Guards g;
    const std::vector<Term> leaves = {g.leaf("x", -4, 4), g.leaf("y", -4, 4)};
    RandomFunctions guards(seed);
    const Term first = guards.guard(g, leaves), second = guards.guard(g, leaves);
    const Question question = g.ask(first, second);
    const Tape tape = make_tape(question);
    bool is_found = false;
    for (int i = -40; i <= 40 && !is_found; ++i)
      for (int j = -40; j <= 40 && !is_found; ++j) {
        std::vector<double> point;
        for (const Leaf& leaf : tape.leaves) point.push_back((leaf.id == leaves[0].id ? i : j) / 10.0 + 0.0);
        is_found = holds(question, tape, point);
      }
    std::string why;
    EXPECT_FALSE(is_found && is_contradictory(tape)) << seed;
    const auto boxes = decide_by_intervals(question, tape, 2000, 30, why);
    // Z3 takes its time: one in four.
    const auto abstract = seed % 4 == 0 ? decide_by_polynomials(question, tape, solver, 5, why) : std::nullopt;
    for (const auto& verdict : {boxes, abstract})
      if (verdict) {
        EXPECT_FALSE(is_found && verdict->answer == Answer::exclusive) << seed << " " << text_of(*verdict);
      }
    by_boxes += boxes && boxes->answer == Answer::exclusive;
    overlaps += boxes && boxes->answer == Answer::overlap;
    by_z3 += abstract && abstract->answer == Answer::exclusive;
  }
  EXPECT_GT(by_boxes, 30);
  EXPECT_GT(by_z3, 5);
  EXPECT_GT(overlaps, 150);
}

}  // namespace
}  // namespace proof
