"""Energies kept: the solvers `passive`, `discrete_gradient` and `midpoint`, and the energy book, by the real program.

    python3 tests/energy_test.py build/bin/tactus [TEST..]

Figures are those of seed 001 worked through by hand (closed forms, or the algorithm written again in a few lines of Python); the pendulum's period is
an elliptic integral, motions with friction and motors are compared with dop853.
"""
import json
import math
import pathlib
import tempfile

import tactus_program
from tactus_program import ProgramTest

# Example 1 of the paper, and the pair of its section IV.
EULER = """simulation ending_time = 20 step_size = 0.2 solver = euler
constant k = 0.5, m = 1;
boundary q(0) = 1; p(0) = 0;
system q' = p / m; p' = -k * q;
energy H = k / 2 * q^2 + p^2 / (2 * m);
"""
PAIR = """simulation ending_time = 100 step_size = 0.1 solver = passive
constant k = 1, m = 2;
boundary q(0) = 0; p(0) = 2;
system q' = p / m; p' = -k * q;
energy H = k / 2 * q^2 + p^2 / (2 * m);
"""
PENDULUM = """simulation ending_time = 100 step_size = 0.1 solver = discrete_gradient
boundary a(0) = 2; p(0) = 0;
system a' = p; p' = -sin(a);
energy H = p^2 / 2 - cos(a);
"""
DRIVEN = """simulation ending_time = 20 step_size = 0.05 solver = discrete_gradient
boundary a(0) = 2; p(0) = 0;
system
  a' = p;
  p' = -sin(a) - 0.1 * p + torque;
  torque = 0.5 * sin(0.7 * t);
energy H = p^2 / 2 - cos(a);
power motor: torque -> p;
"""
# Two arms of 1 m and 1 kg at their ends, in angles and angular velocities: the mass matrix depends on the angles.
DOUBLE = """simulation ending_time = 50 step_size = 0.01 solver = discrete_gradient
constant g = 9.81;
boundary a(0) = 2; b(0) = 1; a'(0) = 0; b'(0) = 0;
system
  2 * a'' + cos(a - b) * b'' + sin(a - b) * b'^2 + 2 * g * sin(a) = {torque};
  cos(a - b) * a'' + b'' - sin(a - b) * a'^2 + g * sin(b) = {friction};
energy H = a'^2 + b'^2 / 2 + cos(a - b) * a' * b' - 2 * g * cos(a) - g * cos(b);
"""


class Energy(ProgramTest):
    def explain(self, text):
        return self.tactus(text, "explain", "--dump=energy")

    def order(self, text, solver, steps, until, show):
        """Of the convergence of `show`, by how the error against dop853 falls."""
        asked = ("--until", until, "--show", show)
        true = self.values(text, *asked, "--solver", "dop853", "--tolerance", 1e-12)[show]
        errors = [abs(self.values(text, *asked, "--solver", solver, "--step", h)[show] - true) for h in steps]
        return math.log(errors[0] / errors[1]) / math.log(steps[0] / steps[1])


class SeedFigures(Energy):
    def test_euler_makes_two_per_cent_a_step(self):
        rows = self.rows(EULER, "--every", 0.2, "--show", "H,book.invented")
        self.assertEqual(len(rows), 101)
        for before, after in zip(rows, rows[1:]):
            self.assertAlmostEqual(after["H"] / before["H"], 1.02, delta=1e-13)
        self.assertAlmostEqual(rows[-1]["H"], 1.811161530, delta=5e-10)
        for row in rows:
            self.assertAlmostEqual(row["book.invented"], row["H"] - 0.25, delta=1e-13)

    def lag(self, solver, periods):
        """How far the pair is behind, in radians, at the step that is nearest to the end of so many periods."""
        w = math.sqrt(0.5)
        steps = round(periods * 2 * math.pi / w / 0.1)
        got = self.values(PAIR, "--solver", solver, "--until", steps * 0.1, "--show", "q,p,book.stored,book.leaps,book.escapes")
        self.assertAlmostEqual(got["book.stored"], 1, delta=1e-11)
        self.assertEqual((got["book.leaps"], got["book.escapes"]), (0, 0))
        angle = math.atan2(got["q"] / math.sqrt(2), got["p"] / 2)
        return (w * steps * 0.1 - angle + math.pi) % (2 * math.pi) - math.pi

    def test_the_pair_lags_and_keeps_its_energy(self):
        self.assertAlmostEqual(self.lag("passive", 10), 0.1092, delta=1e-4)
        self.assertAlmostEqual(self.lag("passive", 100), 1.1014, delta=1e-3)
        # tan(angle / 2) = w h / 2: (w h)^3 / 12 a step.
        self.assertAlmostEqual(self.lag("midpoint", 10), 0.0262, delta=1e-4)
        self.assertAlmostEqual(self.lag("midpoint", 100), 0.2616, delta=1e-4)
        self.assertAlmostEqual(self.lag("discrete_gradient", 100), 0.2616, delta=1e-4)  # the same, for a quadratic energy

    def test_the_ledger_holds_over_1e5_steps(self):
        for tolerance, most in ((0, 1e-11), (1e-5, 1e-5)):
            text = PAIR if tolerance == 0 else PAIR.replace("solver = passive", f"solver = passive tolerance = {tolerance}")
            rows = self.rows(text, "--until", 1e4, "--every", 10, "--show", "book.stored,book.booked")
            for row in rows:
                self.assertAlmostEqual(row["book.stored"] - row["book.booked"], 1, delta=1e-10)
                self.assertAlmostEqual(row["book.stored"], 1, delta=2 * most)

    def test_a_leap_over_the_minimum(self):
        # Friction that would take more than there is: q -> -q, and what was not taken is booked, until H - booked is due again.
        text = """simulation ending_time = 2 step_size = 0.5 solver = passive
boundary q(0) = 1;
system q' = -3 * q;
energy H = q^2 / 2;
"""
        rows = self.rows(text, "--every", 0.5, "--show", "q,book.booked,book.leaps,book.invented")
        self.assertAlmostEqual(rows[1]["q"], -1, delta=1e-12)
        self.assertAlmostEqual(rows[1]["book.booked"], 1.5, delta=1e-12)
        self.assertEqual(rows[1]["book.leaps"], 1)
        for row in rows:
            self.assertAlmostEqual(row["book.invented"], 0, delta=1e-10)

    def test_the_deadlock_at_rest_is_escaped_and_booked(self):
        # A force on a mass at rest: no gradient, no power. Euler's step, p = 0.3 h, books p^2 / 4.
        text = """simulation ending_time = 2 step_size = 0.1 solver = passive
boundary p(0) = 0;
system p' = 0.3; v = p / 2;
energy H = p^2 / 4;
power end: 0.3 -> v;
"""
        rows = self.rows(text, "--every", 0.1, "--show", "p,book.booked,book.escapes,book.invented")
        self.assertAlmostEqual(rows[1]["p"], 0.03, delta=1e-15)
        self.assertAlmostEqual(rows[1]["book.booked"], 0.03**2 / 4, delta=1e-15)
        self.assertGreaterEqual(rows[1]["book.escapes"], 1)
        for row in rows:
            self.assertAlmostEqual(row["book.invented"], 0, delta=1e-14)


class Pendulum(Energy):
    def test_ten_million_steps(self):
        # Rounding of H itself is 2e-16; what is searched for ends there at each step, and nothing adds up.
        for solver, most in (("discrete_gradient", 1e-14), ("passive", 1e-14)):
            with self.subTest(solver):
                until = 10**7 * 0.1
                rows = self.rows(PENDULUM, "--solver", solver, "--until", until, "--every", until / 1000, "--show", "H")
                self.assertEqual(len(rows), 1001)
                self.assertLess(max(abs(row["H"] + math.cos(2)) for row in rows), most)

    def test_period(self):
        # T = 2 pi / M(1, cos(a0 / 2)). Where the phase is off by d, p is by sin(2) d.
        a, b = 1.0, math.cos(1.0)
        while a - b > 1e-15:
            a, b = (a + b) / 2, math.sqrt(a * b)
        period = 2 * math.pi / a
        for solver, most in (("discrete_gradient", 1e-4), ("midpoint", 1e-4), ("passive", 2e-2)):
            got = self.values(PENDULUM, "--solver", solver, "--until", period, "--step", period / 1000, "--show", "a,p")
            self.assertAlmostEqual(got["a"], 2, delta=most, msg=solver)
            self.assertAlmostEqual(got["p"], 0, delta=most, msg=solver)

    def test_orders(self):
        for solver, order in (("discrete_gradient", 2), ("midpoint", 2), ("passive", 1)):
            with self.subTest(solver):
                self.assertAlmostEqual(self.order(PENDULUM, solver, (0.01, 0.005), 5, "a"), order, delta=0.1)

    def test_orders_with_motor_and_friction(self):
        for solver, order in (("discrete_gradient", 2), ("midpoint", 2), ("passive", 1)):
            with self.subTest(solver):
                self.assertAlmostEqual(self.order(DRIVEN, solver, (0.01, 0.005), 5, "a"), order, delta=0.15)


class Book(Energy):
    SHOWN = "book.stored,book.supplied,book.dissipated,book.booked,book.start,book.invented"

    def test_the_balance_with_motor_and_friction(self):
        for solver in ("discrete_gradient", "passive"):
            with self.subTest(solver):
                for row in self.rows(DRIVEN, "--solver", solver, "--every", 0.05, "--show", self.SHOWN):
                    due = row["book.start"] + row["book.supplied"] - row["book.dissipated"] + row["book.booked"]
                    self.assertAlmostEqual(row["book.stored"], due, delta=1e-12)
                    self.assertAlmostEqual(row["book.invented"], 0, delta=1e-12)

    def test_supplied_and_dissipated_are_integrals(self):
        text = DRIVEN.replace("energy", "  w' = torque * p; r' = 0.1 * p^2;\nboundary w(0) = 0; r(0) = 0;\nenergy")
        for solver, most in (("discrete_gradient", 1e-12), ("dop853", 1e-7)):
            got = self.values(text, "--solver", solver, "--show", "w,r,book.supplied,book.dissipated")
            self.assertAlmostEqual(got["book.supplied"], got["w"], delta=most)
            self.assertAlmostEqual(got["book.dissipated"], got["r"], delta=most)

    def test_other_methods_are_found_out(self):
        # RK4 makes (w h)^6 / 72 of it a step, of a linear system; here only that it is not nothing, and that euler makes much more.
        rk4 = self.values(PENDULUM, "--solver", "rk4", "--show", "book.invented")["book.invented"]
        euler = self.values(PENDULUM, "--solver", "euler", "--show", "book.invented")["book.invented"]
        self.assertGreater(abs(rk4), 1e-6)
        self.assertGreater(euler, 100 * abs(rk4))

    def test_a_check_reads_it(self):
        text = PENDULUM + "check always(book.invented < 1e-9 && book.invented > -1e-9);\n"
        self.assertEqual(self.start(text, "run", "--quiet").returncode, 0)
        self.assertEqual(self.start(text, "run", "--quiet", "--solver", "euler").returncode, 3)

    def test_explain_names_parameters_in_sums_and_ports(self):
        # q' = b p and p' = -k q - c p + c F with H = (p^2 + q^2)/2: J has (b + k)/2 and R (k - b)/2 beside the diagonal, R has c on it, G too.
        text = """simulation ending_time = 1 step_size = 0.01 solver = rk4
parameter b = 2, k = 3, c = 0.5;
boundary q(0) = 1;  p(0) = 0;
system
  q' = b * p;  p' = -k * q - c * p + c * F;  F = sin(t);  v = c * p;
  energy H = p^2 / 2 + q^2 / 2;
  power motor: F -> v;
"""
        told = self.tactus(text, "explain", "--dump=energy")
        self.assertIn("J  [0, 0.5 * b + 0.5 * k; -(0.5 * b) - 0.5 * k, 0]", told)
        self.assertIn("R  [0, 0.5 * k - 0.5 * b; 0.5 * k - 0.5 * b, c]", told)
        self.assertIn("G  [0; c]", told)

    def test_a_check_may_leave_book_out(self):
        text = PENDULUM + "check always(invented < 1e-9);\n  small: always(invented > -1e-9 && stored - supplied + dissipated - booked < 10);\n"
        self.assertEqual(self.start(text, "run", "--quiet").returncode, 0)
        broken = self.start(text, "run", "--quiet", "--solver", "euler")
        self.assertEqual(broken.returncode, 3)
        self.assertIn("invented < 1e-09", broken.stderr)
        # A name of the program's own is that.
        own = PENDULUM + "system invented = 2;\ncheck always(invented < 1e-9);\n"
        self.assertEqual(self.start(own, "run", "--quiet").returncode, 3)
        # Without energy there is no book.
        none = self.start("simulation ending_time = 1\nboundary x(0) = 0;\nsystem x' = 1;\ncheck always(invented < 1);\n", "run")
        self.assertIn("there is no `invented`", none.stderr)

    def test_the_summary_and_json_have_it(self):
        self.assertIn("energy: stored 1, supplied 0, dissipated 0, booked ", self.tactus(PAIR, "run"))
        book = self.run_json(PAIR)["energy"]
        self.assertAlmostEqual(book["stored"], 1, delta=1e-12)
        self.assertLess(abs(book["invented"]), 1e-12)

    def test_events_do_not_upset_the_ledger(self):
        # A located comparison takes the step again; what was booked must not count twice.
        text = """simulation ending_time = 60 step_size = 0.01 solver = passive
boundary x(0) = 0.5; v(0) = 0;
system x' = v; v' = 10000 * depth - 1; depth = max(0, -x);
energy H = v^2 / 2 + x + 5000 * depth^2;
"""
        rows = self.rows(text, "--every", 0.01, "--show", "book.invented,book.escapes")
        self.assertGreater(rows[-1]["book.escapes"], 0)
        self.assertLess(max(abs(row["book.invented"]) for row in rows), 1e-12)


class Ties(Energy):
    """At rest and sliding the solvers that keep the balance keep to the surface, too."""

    def test_a_block_stays_where_friction_holds_it(self):
        text = """simulation ending_time = 60 step_size = 0.01 solver = discrete_gradient
constant g = 9.81, a = 10 [deg], mu = 0.5;
boundary x(0) = 0, p(0) = 1;
system x' = p; p' = -g * sin(a) - mu * g * cos(a) * sign(p);
energy H = p^2 / 2 + g * sin(a) * x;
"""
        told = self.values(text)
        a = math.radians(10)
        self.assertAlmostEqual(told["x"], 0.5 / (9.81 * (math.sin(a) + 0.5 * math.cos(a))), delta=1e-9)
        self.assertEqual(told["p"], 0)
        self.assertLess(abs(told["book.invented"]), 1e-12)

    def test_an_oscillator_with_dry_friction_stops(self):
        # Each half swing loses 1.4 of its amplitude, from 3 to 1.6 to 0.2, where the spring no longer pulls it off.
        text = """simulation ending_time = 100 step_size = 0.01 solver = discrete_gradient
boundary q(0) = 3, p(0) = 0;
system q' = p; p' = -q - 0.7 * sign(p);
energy H = p^2 / 2 + q^2 / 2;
"""
        told = self.values(text)
        self.assertAlmostEqual(told["q"], 0.2, delta=1e-9)
        self.assertEqual(told["p"], 0)
        self.assertLess(abs(told["book.invented"]), 1e-12)

    def test_a_ball_at_rest_does_not_sink(self):
        text = """simulation ending_time = 30 step_size = 0.01 solver = discrete_gradient
boundary y(0) = 1, p(0) = 0;
system y' = p / 2; p' = -2 * 9.81;
energy H = p^2 / 4 + 2 * 9.81 * y;
transition B when y <= 0 && p < 0 { next(p) = -0.5 * p; }
"""
        for solver in ("discrete_gradient", "gonzalez", "mean_value"):
            told = self.values(text, "--solver", solver)
            self.assertEqual((told["y"], told["p"]), (0, 0), solver)

    def test_the_book_is_kept_between_modes(self):
        # Slides to (0.5, 0) along p + q = 0.5 between a push and a pull. Being put back onto the surface is booked; without that, `passive`
        # invented 5e-4 J. The second energy is not quadratic, so that the midpoint rule along the surface does not keep it by itself.
        text = """simulation ending_time = 20 step_size = 0.01
automaton h in Push, Pull;
boundary q(0) = 2, p(0) = 0;
system
  F = if h.Push then 3 else -3;
  q' = p; p' = FORCE - 2 * p + F;
  energy H = p^2 / 2 + STORED;
  power act: F -> v; v = p;
  transition A in h.Push when p + q > 0.5 { goto h.Pull; }
  transition B in h.Pull when p + q < 0.5 { goto h.Push; }
"""
        for force, stored in (("-q", "q^2 / 2"), ("-q^3", "q^4 / 4"), ("-sin(q)", "1 - cos(q)")):
            model = text.replace("FORCE", force).replace("STORED", stored)
            for solver in ("passive", "discrete_gradient"):
                rows = self.rows(model, "--solver", solver, "--every", 0.01, "--show", "q,p,book.invented")
                self.assertAlmostEqual(rows[-1]["q"], 0.5, delta=1e-6)
                self.assertLess(max(abs(row["q"] + row["p"] - 0.5) for row in rows[100:]), 1e-12)
                self.assertLess(max(abs(row["book.invented"]) for row in rows), 1e-9, (force, solver))

    def test_energy_that_no_port_supplied_is_told(self):
        text = """simulation ending_time = 3 step_size = 0.001 solver = passive
boundary q(0) = 1, p(0) = 0;
system q' = p; p' = -q + 3 * cos(t);
energy H = p^2 / 2 + q^2 / 2;
"""
        notes = self.run_json(text)["notes"]
        self.assertEqual(len([note for note in notes if "no port supplied" in note]), 1)
        self.assertEqual(self.run_json(PENDULUM)["notes"], [])


class Models(Energy):
    CHAIN = """simulation ending_time = 50 step_size = 0.05 solver = {solver}
constant n = 8;
module Spring = ( ports a, b; system F = b - a; energy H = (b - a)^2 / 2; )
module Mass = ( ports F; parameter x0 = 0; boundary x(0) = x0; x'(0) = 0; system x'' = F; energy H = x'^2 / 2; )
system
  ball[i in 1..n] = Mass(F = link[i].F - link[i - 1].F, x0 = exp(-(i - 2)^2));
  link[i in 0..n] = Spring(if i = 0 then 0 else ball[i].x, if i = n then 0 else ball[i + 1].x);
  E = sum(i in 1..n: ball[i].H) + sum(i in 0..n: link[i].H);
"""

    def test_energies_of_modules_in_a_loop_add_up(self):
        for solver in ("discrete_gradient", "passive"):
            with self.subTest(solver):
                rows = self.rows(self.CHAIN.format(solver=solver), "--show", "E,book.stored,book.invented")
                for row in rows:
                    self.assertAlmostEqual(row["E"], row["book.stored"], delta=1e-14)
                    self.assertAlmostEqual(row["E"], rows[0]["E"], delta=1e-12)
                    self.assertAlmostEqual(row["book.invented"], 0, delta=1e-12)

    def test_angles_and_angular_velocities(self):
        text = DOUBLE.format(torque="0", friction="0")
        rows = self.rows(text, "--show", "H,book.invented")
        for row in rows:
            self.assertAlmostEqual(row["H"], rows[0]["H"], delta=1e-10)
            self.assertAlmostEqual(row["book.invented"], 0, delta=1e-10)
        self.assertAlmostEqual(self.order(text, "discrete_gradient", (0.002, 0.001), 1, "a"), 2, delta=0.1)

    def test_angles_with_motor_and_friction(self):
        text = DOUBLE.format(torque="u", friction="-0.2 * b'") + "system u = sin(t);\npower motor: u -> a';\n"
        for row in self.rows(text, "--every", 0.01, "--show", Book.SHOWN):
            due = row["book.start"] + row["book.supplied"] - row["book.dissipated"] + row["book.booked"]
            self.assertAlmostEqual(row["book.stored"], due, delta=1e-10)
        text = text.replace("energy", "  r' = 0.2 * b'^2;\nboundary r(0) = 0;\nenergy")
        got = self.values(text, "--show", "r,book.dissipated")
        self.assertAlmostEqual(got["book.dissipated"], got["r"], delta=1e-10)

    # --- other predictors, Gonzalez, the mean value ---

    def test_predictors_keep_their_order_and_the_ledger(self):
        exact = self.values(DRIVEN, "--solver", "dop853", "--tolerance", "1e-13")
        for solver, order in (("passive", 1), ("passive_bs3", 3), ("passive_rk4", 4), ("gonzalez", 2), ("mean_value", 2)):
            errors = []
            for step in (0.02, 0.01):
                got = self.run_json(DRIVEN, "--solver", solver, "--step", step)
                errors.append(math.dist((got["values"]["a"], got["values"]["p"]), (exact["a"], exact["p"])))
                # 2,000 steps, a rounding of an energy of 1 each; the mean value's quadrature errs below that.
                self.assertLess(abs(got["energy"]["invented"]), 1e-12, solver)
            self.assertAlmostEqual(math.log2(errors[0] / errors[1]), order, delta=0.15, msg=solver)

    PARAMETERS = """simulation ending_time = 10 step_size = 0.01 solver = gonzalez
parameter b = 0.3 in 0..5, k = 2 in 0.1..10, m = 1.5 in 0.1..10;
boundary q(0) = 1, p(0) = 0;
system
  q' = p / m;  p' = -k * q - b * p / m + F;
  F = 0.1 * sin(t);
  energy H = p^2 / (2 * m) + k * q^2 / 2;
  power end: F -> p / m;
"""

    def test_matrices_that_depend_on_parameters(self):
        self.assertIn("J  [0, 1; -1, 0]\nR  [0, 0; 0, b]\nG  [0; 1]\n", self.explain(self.PARAMETERS))
        # What friction takes is b v^2, whatever b is; 1,000 steps of second order beside dop853.
        text = self.PARAMETERS.replace("energy", "  r' = b * (p / m)^2;\nboundary r(0) = 0;\nenergy")
        for b in (0.3, 1.2):
            got = self.values(text, "--set", f"b={b}", "--show", "p,book.dissipated,book.invented")
            true = self.values(text, "--set", f"b={b}", "--solver", "dop853", "--show", "p,r")
            self.assertAlmostEqual(got["p"], true["p"], delta=1e-4)
            self.assertAlmostEqual(got["book.dissipated"], true["r"], delta=1e-4)
            self.assertAlmostEqual(got["book.invented"], 0, delta=1e-12)

    def test_they_come_to_rest(self):
        # Near rest the energy's own rounding is all that the discrete gradient of Gonzalez sees.
        text = """simulation ending_time = 300 step_size = 0.01
boundary q(0) = 1;  p(0) = 0;
system
  storage (q, p) energy H = p^2 / 2 - cos(q) structure J = ((0, 1), (-1, 0)), R = ((0, 0), (0, 0.2));
"""
        for solver in ("gonzalez", "mean_value", "discrete_gradient"):
            told = self.values(text, "--solver", solver)
            self.assertLess(max(abs(told["q"]), abs(told["p"])), 1e-6, solver)
            self.assertLess(abs(told["book.invented"]), 1e-12, solver)
            self.assertAlmostEqual(told["book.dissipated"], 1 - math.cos(1), delta=1e-12)

    def test_a_step_that_is_not_solved_says_so(self):
        wall = (pathlib.Path(__file__).parent.parent / "examples" / "stiff_wall.tact").read_text()
        done = self.start(wall, "run", "--json", "--solver", "gonzalez")
        self.assertEqual(done.returncode, 4)
        failure = json.loads(done.stdout)["failure"]
        self.assertIn("implicit step", failure["text"])
        self.assertIn("smaller --step", failure["hint"])

    def test_a_quartic_spring_by_the_mean_value(self):
        text = """simulation ending_time = 5000 step_size = 0.5 solver = mean_value
boundary q(0) = 1; p(0) = 0;
system q' = p; p' = -q^3;
energy H = p^2 / 2 + q^4 / 4;
"""
        for solver in ("mean_value", "gonzalez"):
            self.assertAlmostEqual(self.values(text, "--solver", solver)["H"], 0.25, delta=1e-11, msg=solver)
        self.assertGreater(abs(self.values(text, "--solver", "midpoint")["H"] - 0.25), 1e-4)

    def test_without_a_known_structure_they_say_so(self):
        text = DOUBLE.format(torque="0", friction="0")
        done = self.start(text, "run", "--solver", "gonzalez")
        self.assertEqual(done.returncode, 2)
        self.assertIn("take --solver discrete_gradient, which does without", done.stderr)

    # --- storages ---

    STORED = """simulation ending_time = 20 step_size = 0.05 solver = discrete_gradient
parameter b = 0.1 in 0..1;
boundary a(0) = 2; p(0) = 0;
system
  storage (a, p) energy H = p^2 / 2 - cos(a)
    structure J = ((0, 1), (-1, 0)), R = ((0, 0), (0, b)), G = (0, 1) power motor: torque -> v;
  torque = 0.5 * sin(0.7 * t);
"""

    def test_a_storage_is_its_equations(self):
        for solver in ("rk4", "discrete_gradient", "gonzalez"):
            stored = self.values(self.STORED, "--solver", solver)
            written = self.values(DRIVEN, "--solver", solver)
            for name in ("a", "p", "book.supplied", "book.dissipated"):
                self.assertAlmostEqual(stored[name], written[name], delta=1e-12, msg=(solver, name))
            self.assertEqual(stored["v"], stored["p"])

    def test_explain_shows_a_storage(self):
        text = self.explain(self.STORED)
        self.assertIn("storage  x' = (J - R) dH/dx + G u, y = G' dH/dx\nx  (a, p)\nJ  [0, 1; -1, 0]\nR  [0, 0; 0, b]\nG  [0; 1]\n", text)

    BODY = """simulation ending_time = 20 step_size = 0.05 solver = {solver}
constant A = 1, B = 2, C = 3;
boundary x(0) = 0.3; y(0) = 1; z(0) = 0.2;
system
{equations}
  length = x^2 + y^2 + z^2;
"""
    FREE = """  x' = y * z / C - z * y / B;  y' = z * x / A - x * z / C;  z' = x * y / B - y * x / A;
  energy H = x^2 / (2 * A) + y^2 / (2 * B) + z^2 / (2 * C);"""
    STORED_BODY = """  storage (x, y, z) energy H = x^2 / (2 * A) + y^2 / (2 * B) + z^2 / (2 * C)
    structure J = ((0, -z, y), (z, 0, -x), (-y, x, 0));"""

    def test_a_rigid_body_by_a_structure_that_changes(self):
        got = self.values(self.BODY.format(solver="gonzalez", equations=self.STORED_BODY))
        # Both invariants of Euler's equations; 400 steps.
        self.assertAlmostEqual(got["H"], 0.045 + 0.25 + 0.02 / 3, delta=1e-13)
        self.assertAlmostEqual(got["length"], 1.13, delta=1e-12)
        fine = self.values(self.BODY.format(solver="gonzalez", equations=self.STORED_BODY), "--step", "0.001")
        exact = self.values(self.BODY.format(solver="dop853", equations=self.FREE), "--tolerance", "1e-12")
        for name in "xyz":
            self.assertAlmostEqual(fine[name], exact[name], delta=2e-5)

    def test_one_state_that_bends(self):
        """x' = -3 x with H = x: R = 3 x, found among forms without any J."""
        text = self.explain("boundary x(0) = 1; system x' = -3 * x; energy H = x;")
        self.assertIn("form  x' = (J(x) - R(x)) dH/dx\nx  (x)\nJ  [0]\nR  [3*x]\n", text)

    def test_explain_finds_the_structure_of_a_rigid_body(self):
        text = self.explain(self.BODY.format(solver="rk4", equations=self.FREE))
        self.assertIn("form  x' = (J(x) - R(x)) dH/dx\nx  (x, y, z)\n", text)
        self.assertIn("J  [0, -z, y; z, 0, -x; -y, x, 0]\nR  [0, 0, 0; 0, 0, 0; 0, 0, 0]\n", text)

    def test_an_r_that_changes_is_watched(self):
        text = """simulation ending_time = 10 step_size = 0.01 solver = rk4
boundary q(0) = 2; p(0) = 0;
system
  storage (q, p) energy H = q^2 / 2 + p^2 / 2 structure J = ((0, 1), (-1, 0)), R = ((0, 0), (0, q));
"""
        done = self.start(text, "run")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("R of the storage is not positive semidefinite here", done.stdout + done.stderr)
        fine = text.replace("(0, q)))", "(0, q^2)))").replace("(0, q));", "(0, q^2));")
        self.assertLess(self.values(fine)["H"], 2)

    # --- guards ---

    ACTIVE = """simulation ending_time = 5 step_size = 0.001 solver = {solver}
module Wall = (
  boundary q(0) = 0;
  system q' = v;  F = 40 * q - 0.5 * v;
  power end: v -> F;
)
module Mass = (
  boundary p(0) = 1;
  system p' = F;  v = p;
  energy H = p^2 / 2;
  power end: F -> v;
)
system
  wall = Wall();  mass = Mass();
  join wall.end to mass.end;
  {guard}
"""

    def test_an_active_part_behind_a_guard_gives_no_energy(self):
        free = self.run_json(self.ACTIVE.format(solver="rk4", guard=""))["values"]
        # Damping -0.5 of a mass of 1: amplitudes grow as exp(t / 4), energies as exp(t / 2).
        self.assertGreater(free["mass.H"] + 20 * free["wall.q"] ** 2, 0.5 * math.exp(2))
        rows = self.rows(self.ACTIVE.format(solver="rk4", guard="guard wall.end;"), "--show", "mass.H,wall.end.energy,wall.end.removed")
        kept = self.run_json(self.ACTIVE.format(solver="discrete_gradient", guard="guard wall.end;"))
        self.assertLess(kept["values"]["mass.H"], 0.5 + 1e-8)
        self.assertLess(abs(kept["energy"]["invented"]), 1e-13)
        for row in rows:
            # What is left in the wall is what the mass has lost: nothing came from the wall itself. Located to 1e-9 s.
            self.assertLessEqual(row["mass.H"], 0.5 + 1e-8)
            self.assertGreaterEqual(row["wall.end.energy"], -1e-8)
            self.assertAlmostEqual(row["mass.H"] + row["wall.end.energy"], 0.5, delta=1e-7)
        self.assertGreater(rows[-1]["wall.end.removed"], 0.01)

    def test_a_reserve_may_be_given_out(self):
        rows = self.rows(self.ACTIVE.format(solver="rk4", guard="guard wall.end reserve 0.2;"), "--show", "mass.H")
        most = max(row["mass.H"] for row in rows)
        self.assertLessEqual(most, 0.7 + 1e-7)
        self.assertGreater(most, 0.6)

    # --- the book ---

    def test_a_check_of_the_book_changes_no_bit(self):
        text = PENDULUM.replace("discrete_gradient", "midpoint")
        plain = self.run_json(text)
        checked = self.start(text + "check always(book.invented < 1e-9);", "run", "--json")
        self.assertEqual(checked.returncode, 3)
        got = json.loads(checked.stdout)
        self.assertEqual(got["values"], plain["values"])
        self.assertEqual(got["steps"], plain["steps"])

    def test_the_book_has_a_unit(self):
        text = """simulation ending_time = 1 step_size = 0.01 solver = rk4
boundary x(0) = 1 [m]; v(0) = 0 [m/s];
system x' = v; 2 [kg] * v' = -3 [N/m] * x;
energy H = 2 [kg] * v^2 / 2 + 3 [N/m] * x^2 / 2;
"""
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "o.csv"
            self.start(text, "run", "--out", str(out), "--show", "book.stored,book.dissipated,book.invented", folder=folder)
            header = out.read_text().splitlines()[0]
        for name in ("stored", "dissipated", "invented"):
            self.assertIn(f"book.{name} [J]", header)

    def test_a_model_without_energy_is_refused(self):
        text = "simulation ending_time = 1 step_size = 0.1\nboundary x(0) = 1;\nsystem x' = -x;\n"
        for solver in ("passive", "discrete_gradient"):
            done = self.start(text, "run", "--solver", solver)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("energy", done.stderr)
        # The midpoint rule needs none: (1 - h/2) / (1 + h/2) a step.
        self.assertAlmostEqual(self.values(text, "--solver", "midpoint")["x"], (0.95 / 1.05) ** 10, delta=1e-14)

    def test_exported_c_computes_the_same_rows(self):
        for text in (DRIVEN, self.CHAIN.format(solver="discrete_gradient"), DOUBLE.format(torque="0", friction="0")):
            with self.subTest(text=text[:80]):
                self.assert_exported_c_agrees(text.replace("ending_time = 50", "ending_time = 10"), ("passive", "discrete_gradient", "midpoint"))

    def test_the_other_solvers_in_exported_c(self):
        self.assert_exported_c_agrees(DRIVEN, ("passive_bs3", "passive_rk4", "gonzalez", "mean_value"))


if __name__ == "__main__":
    tactus_program.main(__doc__)
