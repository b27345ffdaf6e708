#!/usr/bin/env python3
"""linearize and equilibrium, against closed forms.

    python3 tests/control_test.py build/bin/tactus [TEST..]

Derivatives are exact, so matrices are held to 1e-12 of their size; poles and zeros to 1e-9, which leaves room for multiple ones
only where that is said.
"""
import cmath
import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
TACTUS = ""

OSCILLATOR = """\
simulation ending_time = 10
external shaker reads F
external GUI writes x
parameter m = 2, c = 0.8, k = 50;
boundary x(0) = 0, x'(0) = 0;
system
  m*x'' + c*x' + k*x = F;
"""
MOTOR = """\
use "electrical.tact";
external supply reads u
external GUI writes motor.a
system
  motor = DCMotor(u, R = 2, L = 2e-3, k = 0.05, J = 2e-4, b = 1e-4);
"""
# The second state hears nothing of u; what it does reaches y.
UNCONTROLLABLE = """\
external hand reads u
boundary p(0) = 0; q(0) = 0;
system
  p' = -p + u + q;
  q' = -3*q;
  y = p + q;
"""
# Two modes of one pole each are driven alike and subtracted: the zero is to the right.
WRONG_WAY = """\
external hand reads u
boundary p(0) = 0; q(0) = 0;
system
  p' = -p + u;
  q' = -2*q + u;
  y = -p + 3*q;
"""
THROUGH = """\
external hand reads u
boundary p(0) = 0;
system
  p' = -4*p + u;
  y = 3*p + 0.5*u;
"""
CHAIN = """\
external hand reads u
boundary p(0) = 0, p'(0) = 0, p''(0) = 0;
system
  p''' = u;
"""
MEASURED = """\
simulation ending_time = 1
external hand reads u
boundary x(0) = 0;
system
  x' = -x + u + 2*u';
"""
PENDULUM = """\
parameter g = 9.81, L = 2, c = 0.3, tau = 0;
boundary a(0) = 1, a'(0) = 0;
system
  L*L*a'' = -g*L*sin(a) - c*a' + tau;
"""


class ControlTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def tactus(self, command, program, *options, code=0):
        if isinstance(program, str):
            path = self.folder / "model.tact"
            path.write_text(program)
        else:
            path = program
        done = subprocess.run([TACTUS, command, str(path), *map(str, options)], capture_output=True, text=True,
                              timeout=120, check=False, cwd=self.folder)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def linearize(self, program, *options):
        return json.loads(self.tactus("linearize", program, "--json", *options).stdout)

    def rest(self, program, *options):
        return json.loads(self.tactus("equilibrium", program, "--json", *options).stdout)["equilibria"]

    def assert_close(self, got, expected, tolerance=1e-9, what=""):
        self.assertLessEqual(abs(got - expected), tolerance * max(1, abs(expected)), f"{what}: {got}, not {expected}")

    def assert_matrix(self, got, expected):
        self.assertEqual([len(row) for row in got], [len(row) for row in expected])
        for i, row in enumerate(expected):
            for j, value in enumerate(row):
                self.assert_close(got[i][j], value, 1e-12, f"entry {i + 1}, {j + 1}")

    def assert_complex(self, got, expected, tolerance=1e-9):
        """As sets: each of one has its own of the other."""
        left = [complex(value["re"], value["im"]) for value in got]
        self.assertEqual(len(left), len(expected), f"{left}, not {expected}")
        for value in expected:
            nearest = min(left, key=lambda other: abs(other - value))
            self.assertLessEqual(abs(nearest - value), tolerance * max(1, abs(value)), f"{left}, not {expected}")
            left.remove(nearest)

    def table(self, name):
        with open(self.folder / name, newline="") as file:
            rows = list(csv.reader(file))
        return rows[0], rows[1:]


class Oscillator(ControlTest):
    M, C, K = 2, 0.8, 50

    def test_matrices_and_poles(self):
        got = self.linearize(OSCILLATOR)
        self.assertEqual((got["states"], got["inputs"], got["outputs"]), (["x", "x'"], ["F"], ["x"]))
        self.assert_matrix(got["A"], [[0, 1], [-self.K / self.M, -self.C / self.M]])
        self.assert_matrix(got["B"], [[0], [1 / self.M]])
        self.assert_matrix(got["C"], [[1, 0]])
        self.assert_matrix(got["D"], [[0]])
        w, damping = math.sqrt(self.K / self.M), self.C / (2 * math.sqrt(self.K * self.M))
        self.assert_complex(got["poles"], [complex(-damping * w, s * w * math.sqrt(1 - damping**2)) for s in (1, -1)])
        for pole in got["poles"]:
            self.assert_close(pole["frequency"], w)
            self.assert_close(pole["damping"], damping)
            self.assert_close(pole["time_constant"], 1 / (damping * w))
        self.assertEqual(got["stability"], "stable")
        self.assertEqual((got["controllable"], got["observable"]), (2, 2))
        transfer, = got["transfers"]
        self.assertEqual(transfer["zeros"], [])
        self.assert_close(transfer["gain_at_rest"], 1 / self.K)
        # A second-order step overshoots by exp(-pi z / sqrt(1 - z^2)); the grid of time has 40 points a swing at least.
        overshoot = 100 * math.exp(-math.pi * damping / math.sqrt(1 - damping**2))
        self.assert_close(transfer["step"]["overshoot"], overshoot, 2e-3)

    def test_bode(self):
        self.tactus("linearize", OSCILLATOR, "--plot", "bode.csv", "--plot", "bode.svg", "--plot", "bode.png")
        head, rows = self.table("bode.csv")
        self.assertEqual(head, ["frequency [rad/s]", "x / F magnitude [dB]", "x / F phase [deg]"])
        peak = -math.inf
        for row in rows:
            w, decibels, degrees = map(float, row)
            value = 1 / complex(self.K - self.M * w * w, self.C * w)
            self.assert_close(decibels, 20 * math.log10(abs(value)))
            self.assert_close(degrees, math.degrees(cmath.phase(value)), 1e-7)
            peak = max(peak, decibels)
        # At resonance 1 / (2 z sqrt(1 - z^2)) above the gain at rest; the grid is fine there.
        damping = self.C / (2 * math.sqrt(self.K * self.M))
        self.assert_close(peak, 20 * math.log10(1 / self.K / (2 * damping * math.sqrt(1 - damping**2))), 1e-3)
        svg = (self.folder / "bode.svg").read_text()
        for text in ("frequency [rad/s]", "magnitude [dB]", "phase [deg]", "0.1", "100"):
            self.assertTrue(f">{text}</text>" in svg, text)
        self.assertTrue((self.folder / "bode.png").read_bytes().startswith(b"\x89PNG"))

    def test_step(self):
        self.tactus("linearize", OSCILLATOR, "--step-plot", "step.csv", "--step-plot", "step.svg")
        head, rows = self.table("step.csv")
        self.assertEqual(head, ["t [s]", "x"])
        w, damping = math.sqrt(self.K / self.M), self.C / (2 * math.sqrt(self.K * self.M))
        swing = w * math.sqrt(1 - damping**2)
        for t, x in (map(float, row) for row in rows):
            decay = math.exp(-damping * w * t) * (math.cos(swing * t) + damping * w / swing * math.sin(swing * t))
            self.assert_close(x, (1 - decay) / self.K, 1e-12)

    def test_parameter_as_input(self):
        # At rest under F = 5 (x = F / k) the stiffness moves it by -x / m.
        got = self.linearize(OSCILLATOR, "--at", "equilibrium", "--hold", "F=5", "--inputs", "k,F")
        self.assertEqual(got["inputs"], ["k", "F"])
        self.assert_matrix(got["B"], [[0, 0], [-5 / self.K / self.M, 1 / self.M]])
        self.assert_close(got["point"]["x"], 5 / self.K, 1e-12)

    def test_table_of_matrices(self):
        self.tactus("linearize", OSCILLATOR, "--csv", "abcd.csv", "--quiet")
        head, rows = self.table("abcd.csv")
        self.assertEqual(head, ["row", "x", "x'", "F"])
        self.assertEqual([row[0] for row in rows], ["x'", "x''", "x"])
        self.assertEqual([float(v) for v in rows[1][1:]], [-25, -0.4, 0.5])

    def test_after_a_run(self):
        # Linear: the same matrices anywhere. The point is where the run under a held force is.
        got = self.linearize(OSCILLATOR, "--at", "0.7", "--hold", "F=5")
        self.assert_matrix(got["A"], [[0, 1], [-25, -0.4]])
        w, decay = math.sqrt(25 - 0.04), 0.2
        x = 0.1 * (1 - math.exp(-decay * 0.7) * (math.cos(w * 0.7) + decay / w * math.sin(w * 0.7)))
        self.assert_close(got["point"]["x"], x, 1e-5)  # the run's own tolerance is 1e-6
        self.assertIn("not at rest", " ".join(got["notes"]))
        self.assertNotIn("rate of an input", " ".join(got["notes"]))

    def test_after_a_run_inputs_are_those_of_the_time(self):
        (self.folder / "ramp.csv").write_text("t,F\n0,0\n2,10\n")
        got = self.linearize(OSCILLATOR, "--at", "0.7", "--device", "shaker=file:ramp.csv")
        self.assert_close(got["point"]["F"], 3.5, 1e-12)


class Plants(ControlTest):
    def test_motor_of_the_library(self):
        r, l, k, j, b = 2, 2e-3, 0.05, 2e-4, 1e-4
        got = self.linearize(MOTOR)
        middle, root = (r / l + b / j) / 2, cmath.sqrt(((r / l - b / j) / 2) ** 2 - k * k / (l * j))
        self.assert_complex(got["poles"], [0, -middle + root, -middle - root])
        self.assertEqual(got["stability"], "marginal")
        transfer, = got["transfers"]
        self.assertEqual(transfer["zeros"], [])
        self.assertEqual(transfer["gain_at_rest"], "inf")
        # The phase is -180 degrees where w^2 = (r b + k^2) / (l j), and there |G| = k / (w^2 (r j + l b)).
        w2 = (r * b + k * k) / (l * j)
        self.assert_close(transfer["gain_margin"]["frequency"], math.sqrt(w2))
        self.assert_close(transfer["gain_margin"]["dB"], 20 * math.log10(w2 * (r * j + l * b) / k))
        margin = transfer["phase_margin"]
        w = margin["frequency"]
        value = k / (1j * w * ((1j * l * w + r) * (1j * j * w + b) + k * k))
        self.assert_close(abs(value), 1)
        self.assert_close(margin["degrees"], 180 + math.degrees(cmath.phase(value)))
        self.assertTrue(transfer["closed_loop_stable"])

    def test_gain_margin_at_the_ends_of_the_axis(self):
        # The loop x' = a x + b k u, u = -c x loses its stability where a = k b c: a pole passes through 0.
        for equations, limit in (("x' = -x + 2*u; y = -x/4", 2), ("x' = x + 2*u; y = x", 0.5)):
            program = f"external a reads u external b writes y boundary x(0) = 0; system {equations};"
            transfer, = self.linearize(program)["transfers"]
            self.assertTrue(transfer["closed_loop_stable"])
            self.assert_close(transfer["gain_margin"]["dB"], 20 * math.log10(limit), 1e-12)
            self.assertEqual(transfer["gain_margin"]["frequency"], 0)
            self.assertIn(f"{20 * math.log10(limit):.4g} dB at 0 rad/s", self.tactus("linearize", program).stdout)
        # y = p - 0.25 u with p' = -p + u / 2: at infinite frequency only -0.25 is left.
        program = "external a reads u external b writes y boundary p(0) = 0; system p' = -p + u/2; y = p - u/4;"
        self.assertEqual(self.linearize(program)["transfers"][0]["gain_margin"]["frequency"], "inf")
        self.assertIn("12.04 dB at infinite frequency", self.tactus("linearize", program).stdout)

    def test_balanced_cart_of_the_docs(self):
        text = (ROOT / "docs" / "control.md").read_text()
        program = next(part.split("```")[0] for part in text.split("```tact file=balanced.tact\n") if "F = 3.67" in part.split("```")[0])
        cart = self.linearize(program, "--at", "equilibrium")["transfers"][0]
        # The spring -3.67 x of the loop at rest is what push meets: x / push = -1 / 3.67 there.
        self.assert_close(cart["gain_at_rest"], -1 / 3.67)
        self.assertTrue(cart["closed_loop_stable"])
        self.assert_close(cart["gain_margin"]["dB"], 20 * math.log10(3.67))

    def test_cart_pole_upright(self):
        M, m, l, g = 2, 0.5, 0.8, 9.81
        got = self.linearize(EXAMPLES / "cart_pole.tact", "--at", "equilibrium")
        self.assertEqual(got["states"], ["x", "x'", "a", "a'"])
        self.assert_matrix(got["A"], [[0, 1, 0, 0], [0, 0, -m * g / M, 0], [0, 0, 0, 1], [0, 0, (M + m) * g / (M * l), 0]])
        self.assert_matrix(got["B"], [[0], [1 / M], [0], [-1 / (M * l)]])
        fall = math.sqrt((M + m) * g / (M * l))
        self.assert_complex(got["poles"], [0, 0, fall, -fall])
        self.assertEqual(got["stability"], "unstable")
        self.assertEqual((got["controllable"], got["observable"]), (4, 4))
        to_cart, to_pole = got["transfers"]
        self.assert_complex(to_cart["zeros"], [math.sqrt(g / l), -math.sqrt(g / l)])
        self.assertEqual(to_pole["zeros"], [])
        self.assert_complex(to_pole["poles"], [fall, -fall])
        self.assert_close(to_pole["gain_at_rest"], 1 / ((M + m) * g))

    def test_seed_pendulum_on_a_spring(self):
        # M x'' = k (h - x) - m g a, M l a'' = (M + m) g a - k (h - x), linearised by hand about upright.
        M, m, l, g, k = 10, 1, 4, 9.81, 200
        got = self.linearize(EXAMPLES / "inverted_pendulum.tact", "--at", "equilibrium", "--outputs", "x,a")
        # s^4 M l + s^2 (k l - (M + m) g) - k g = 0
        p, q = (k * l - (M + m) * g) / (M * l), -k * g / (M * l)
        squares = [(-p + s * math.sqrt(p * p - 4 * q)) / 2 for s in (1, -1)]
        self.assert_complex(got["poles"], [s * cmath.sqrt(square) for square in squares for s in (1, -1)])

    def test_cartesian_pendulum_hangs(self):
        got = self.linearize(EXAMPLES / "pendulum_cartesian.tact", "--at", "equilibrium", "--guess", "x=0.1", "--guess", "y=-1")
        self.assertEqual(got["states"], ["x", "x'"])
        self.assertEqual(got["states_of_the_model"], 4)
        w = math.sqrt(9.81)
        self.assert_complex(got["poles"], [1j * w, -1j * w])
        self.assertEqual(got["stability"], "marginal")
        for pole in got["poles"]:
            self.assertEqual(pole["re"], 0)
        self.assert_close(got["point"]["y"], -1)

    def test_uncontrollable(self):
        got = self.linearize(UNCONTROLLABLE, "--outputs", "y")
        self.assertEqual((got["controllable"], got["observable"]), (1, 2))
        self.assertEqual([(p["re"], p["controllable"]) for p in got["poles"]], [(-1, True), (-3, False)])
        # y / u has only the pole that u moves.
        self.assert_complex(got["transfers"][0]["poles"], [-1])
        self.assert_close(got["transfers"][0]["gain_at_rest"], 1)
        text = self.tactus("linearize", UNCONTROLLABLE, "--outputs", "y").stdout
        self.assertIn("not controllable", text)
        self.assertIn("controllable: 1 of 2; observable: 2 of 2", text)

    def test_zero_to_the_right(self):
        # -1 / (s + 1) + 3 / (s + 2) = (2 s + 1) / ..: to the left; with outputs exchanged 3 / (s + 1) - 1 / (s + 2), too;
        # the sum of gains changes sign for -2 / (s + 1) + 3 / (s + 2) = (s - 1) / ((s + 1) (s + 2)).
        got = self.linearize(WRONG_WAY, "--outputs", "y")
        self.assert_complex(got["transfers"][0]["zeros"], [-0.5])
        got = self.linearize(WRONG_WAY.replace("y = -p", "y = -2*p"), "--outputs", "y")
        self.assert_complex(got["transfers"][0]["zeros"], [1])
        self.assert_close(got["transfers"][0]["gain_at_rest"], -0.5)

    def test_through(self):
        got = self.linearize(THROUGH, "--outputs", "y")
        self.assertEqual(got["D"], [[0.5]])
        transfer, = got["transfers"]
        # 0.5 + 3 / (s + 4) = 0.5 (s + 10) / (s + 4)
        self.assert_complex(transfer["zeros"], [-10])
        self.assert_close(transfer["gain_at_rest"], 1.25)

    def test_differentiator(self):
        # s / (s + 4)
        got = self.linearize("external hand reads u\nboundary p(0) = 0;\nsystem\n  p' = -4*p + u;\n  y = p';\n", "--outputs", "y")
        transfer, = got["transfers"]
        self.assertEqual(got["D"], [[1]])
        self.assert_complex(transfer["zeros"], [0])
        self.assertEqual(transfer["gain_at_rest"], 0)

    def test_integrators(self):
        got = self.linearize(CHAIN, "--outputs", "p")
        self.assertEqual([(p["re"], p["im"]) for p in got["poles"]], [(0, 0)] * 3)
        self.assertEqual(got["stability"], "drifting")
        self.assertEqual(got["transfers"][0]["gain_at_rest"], "inf")
        self.tactus("linearize", CHAIN, "--outputs", "p", "--plot", "bode.csv")
        _, rows = self.table("bode.csv")
        for w, decibels, degrees in (map(float, row) for row in rows):
            self.assert_close(decibels, -60 * math.log10(w), 1e-9)
            self.assert_close((degrees - 90) % 360, 0, 1e-6)

    def test_rate_of_an_input_is_told(self):
        got = self.linearize(MEASURED)
        self.assert_matrix(got["B"], [[1]])
        self.assertIn("rate of an input", " ".join(got["notes"]))

    def test_chain_of_masses(self):
        # Normal modes of a chain between walls: 2 sqrt(k / m) sin(j pi / (2 (n + 1))).
        program = """\
external hand reads u
boundary for i in 1..8 { q[i](0) = 0; v[i](0) = 0; }
system
  for i in 1..8 {
    q[i]' = v[i];
  }
  v[1]' = q[2] - 2*q[1] + u;
  for i in 2..7 {
    v[i]' = q[i - 1] - 2*q[i] + q[i + 1];
  }
  v[8]' = q[7] - 2*q[8];
"""
        got = self.linearize(program, "--outputs", "q[8]")
        modes = [2 * math.sin(j * math.pi / 18) for j in range(1, 9)]
        self.assert_complex(got["poles"], [s * 1j * w for w in modes for s in (1, -1)])
        self.assertEqual((got["controllable"], got["observable"]), (16, 16))
        self.assertEqual(got["transfers"][0]["zeros"], [])
        self.assert_close(got["transfers"][0]["gain_at_rest"], 1 / 9)


class Rest(ControlTest):
    def test_pendulum_hangs(self):
        found, = self.rest(PENDULUM)
        self.assert_close(found["states"]["a"], 0, 1e-12)
        self.assertEqual(found["stability"], "stable")
        self.assertTrue(found["isolated"])

    def test_pendulum_stands(self):
        found, = self.rest(PENDULUM, "--guess", "a=3")
        self.assert_close(found["states"]["a"], math.pi, 1e-12)
        self.assertEqual(found["stability"], "unstable")
        # L^2 s^2 + c s - g L = 0
        disc = math.sqrt(0.3**2 + 4 * 4 * 9.81 * 2)
        self.assert_complex(found["poles"], [(-0.3 + disc) / 8, (-0.3 - disc) / 8])

    def test_under_a_torque(self):
        found, = self.rest(PENDULUM, "--set", "tau=5", "--guess", "a=0")
        self.assert_close(found["states"]["a"], math.asin(5 / (2 * 9.81)), 1e-12)

    def test_which_torque(self):
        # Free: the guess is the nearest way to rest, so the pair found is on the curve tau = g L sin(a).
        found, = self.rest(PENDULUM, "--free", "tau", "--guess", "a=0.5")
        self.assert_close(found["free"]["tau"], 9.81 * 2 * math.sin(found["states"]["a"]), 1e-10)
        self.assertEqual(found["freedom"], 1)
        self.assertIn("not the only one", " ".join(found["notes"]))

    def test_all(self):
        found = self.rest(PENDULUM, "--all")
        self.assertGreaterEqual(len(found), 3)
        for one in found:
            turns = one["states"]["a"] / math.pi
            self.assert_close(turns, round(turns), 1e-12)
            self.assertEqual(one["stability"], "stable" if round(turns) % 2 == 0 else "unstable")

    def test_cart_may_stand_anywhere(self):
        found, = self.rest(EXAMPLES / "cart_pole.tact")
        self.assertFalse(found["isolated"])
        self.assert_close(found["states"]["a"], 0, 1e-12)
        self.assertEqual(len(self.rest(EXAMPLES / "cart_pole.tact", "--all")), len({
            round(one["states"]["a"] / math.pi) for one in self.rest(EXAMPLES / "cart_pole.tact", "--all")}))

    def test_on_constraints(self):
        found, = self.rest(EXAMPLES / "pendulum_cartesian.tact", "--guess", "x=0.5", "--guess", "y=-0.8")
        self.assert_close(found["states"]["x"], 0, 1e-12)
        self.assert_close(found["states"]["y"], -1, 1e-12)
        self.assert_close(found["values"]["lambda"], -9.81, 1e-10)
        found, = self.rest(EXAMPLES / "pendulum_cartesian.tact", "--guess", "x=0.3", "--guess", "y=0.9")
        self.assert_close(found["states"]["y"], 1, 1e-12)
        self.assertEqual(found["stability"], "unstable")

    def test_start_between_two_states_of_rest(self):
        # The start is to the side: nothing draws the search up or down, so it begins anew beside it.
        found, = self.rest(EXAMPLES / "pendulum_cartesian.tact")
        self.assert_close(abs(found["states"]["y"]), 1, 1e-12)
        self.assertEqual(len(self.rest(EXAMPLES / "pendulum_cartesian.tact", "--all")), 2)

    def test_through_limits(self):
        # The controller begins at its limit of 24 V; at rest, without load, the shaft is where it is wanted and no current flows.
        found, = self.rest(EXAMPLES / "dc_motor_position.tact")
        self.assert_close(found["states"]["motor.a"], 3, 1e-9)
        self.assert_close(found["states"]["motor.i"], 0, 1e-9)
        self.assertEqual(found["stability"], "stable")

    def test_nonlinear_circuit(self):
        # Diode and resistor: i = I (exp(v / V) - 1) = (5 - v) / R, here found by bisection.
        program = """\
boundary v(0) = 0;
system
  1e-6*v' = (5 - v)/1000 - 1e-12*(exp(v/0.025) - 1);
"""
        low, high = 0.0, 1.0
        for _ in range(200):
            middle = (low + high) / 2
            if (5 - middle) / 1000 > 1e-12 * math.expm1(middle / 0.025):
                low = middle
            else:
                high = middle
        found, = self.rest(program)
        self.assert_close(found["states"]["v"], low, 1e-12)

    def test_delay_at_rest(self):
        found, = self.rest("boundary x(0) = 0.2;\nsystem\n  x' = 1 - x*delay(x, 0.5);\n")
        self.assert_close(found["states"]["x"], 1, 1e-9)

    def test_relations_are_those_of_the_point(self):
        found, = self.rest("boundary x(0) = 5;\nsystem\n  x' = if x > 2 then -1 - x else 1 - 2*x;\n")
        self.assert_close(found["states"]["x"], 0.5, 1e-12)

    def test_none(self):
        done = self.tactus("equilibrium", "boundary x(0) = 1; v(0) = 0;\nsystem\n  x' = v - x;\n  v' = x^2 + 3;\n", code=4)
        self.assertIn("no state of rest was found", done.stderr)
        self.assertIn("derivative of `v`", done.stderr)
        done = self.tactus("equilibrium", "boundary x(0) = 1;\nsystem\n  x' = x^2 + 3;\n", "--json", code=4)
        got = json.loads(done.stdout)
        self.assertEqual(got["failure"]["kind"], "no_rest")
        self.assert_close(got["derivatives"]["x"], 3, 1e-3)

    def test_time_itself(self):
        found, = self.rest("boundary x(0) = 1;\nsystem\n  x' = sin(t) - x;\n")
        self.assertIn("depends on the time", " ".join(found["notes"]))

    def test_table(self):
        self.tactus("equilibrium", PENDULUM, "--csv", "rest.csv", "--quiet")
        head, rows = self.table("rest.csv")
        self.assertEqual(head, ["name", "value"])
        self.assertEqual([row[0] for row in rows][:2], ["a", "a'"])


class EveryKindOfModel(ControlTest):
    """What is asked of a model that is more than equations is answered for the piece in which it is, or refused in words."""

    def test_boundary_values_at_later_times(self):
        # x'' = -x with x(0) = 0, x(1) = 1: the start is x' = 1 / sin 1.
        program = "simulation ending_time = 2\nboundary x with x(0) = 0, x(1) = 1;\nsystem x'' = -x;\n"
        told = self.linearize(program)
        self.assert_matrix(told["A"], [[0, 1], [-1, 0]])
        self.assert_close(told["point"]["x'"], 1 / math.sin(1), 1e-6)
        for at in (0.5, 1.5):
            self.assert_close(self.linearize(program, "--at", at)["point"]["x"], math.sin(at) / math.sin(1), 1e-5)
        self.assert_close(self.rest(program)[0]["states"]["x"], 0)
        self.linearize(program, "--at", "equilibrium")

    def test_a_matrix_that_falls_into_zero_blocks(self):
        # Falling balls: of each three states the rates depend on one, and there is no rest.
        balls = "".join(f"boundary p{k} with p{k}(0) = (1, 2, 3), p{k}'(0) = (1, 0, {k}); w{k}(0) = (1, 2, 3);\n"
                        f"system p{k}'' = (0, 0, -9.81); w{k}' = 0;\n" for k in range(4))
        done = self.tactus("equilibrium", balls, code=4)
        self.assertIn("no state of rest", done.stderr)

    MODES = """\
automaton a in Free, Bound from Bound when start > 0.5;
parameter start = 0;
boundary p with p(0) = (2, 0), p'(0) = (0, 0);
system
  in a.Free  { p'' = -9 * p;  pull = 0; }
  in a.Bound { p'' = -9 * p - (0.1, 0.1) * p' + pull * p;  dot(p, p) = 4; }
  transition Catch in a.Free when p[1] < -10 { goto a.Bound; enforce velocities; }
"""

    def test_modes(self):
        """The structure of the mode at the point, with as many constraints as that has."""
        told = self.linearize(self.MODES)
        self.assertEqual(len(told["A"]), 4)
        self.assertTrue(any("`a.Free`" in note for note in told["notes"]))
        told = self.linearize(self.MODES, "--set", "start=1")
        self.assertEqual(len(told["A"]), 2)
        self.assertTrue(any("`a.Bound`" in note for note in told["notes"]))
        self.assert_close(self.rest(self.MODES)[0]["states"]["p[1]"], 0)
        found = self.rest(self.MODES, "--set", "start=1")[0]["states"]
        self.assert_close(found["p[1]"] ** 2 + found["p[2]"] ** 2, 4)

    def test_jumps_stay_out(self):
        done = self.tactus("equilibrium", EXAMPLES / "bouncing_ball.tact", code=4)
        self.assertIn("no transition is taken", done.stderr)

    def test_without_states(self):
        program = "external hand reads u\nexternal GUI writes y\nsystem y = 3 * u;\n"
        self.assert_matrix(self.linearize(program)["D"], [[3]])
        self.assertEqual(self.rest(program)[0]["states"], {})

    def test_rates_are_refused(self):
        for command in ("linearize", "equilibrium"):
            self.assertIn("rates", self.tactus(command, EXAMPLES / "multirate_pair.tact", code=2).stderr)


class Mistakes(ControlTest):
    def mistake(self, command, program, *options):
        done = self.tactus(command, program, *options, code=2)
        return done.stderr

    def test_names(self):
        text = self.mistake("linearize", OSCILLATOR, "--inputs", "f")
        self.assertIn("did you mean `F`?", text)
        self.assertIn("did you mean `x`?", self.mistake("linearize", OSCILLATOR, "--outputs", "xx"))
        self.assertIn("did you mean `F`?", self.mistake("linearize", OSCILLATOR, "--hold", "f=1"))
        self.assertIn("did you mean `a`?", self.mistake("equilibrium", PENDULUM, "--guess", "aa=1"))
        self.assertIn("written as `parameter g = ..`", self.mistake("linearize", EXAMPLES / "cart_pole.tact", "--inputs", "g"))

    def test_places(self):
        self.assertIn("neither a time nor `equilibrium`", self.mistake("linearize", OSCILLATOR, "--at", "rest"))
        self.assertIn("add --at equilibrium", self.mistake("linearize", OSCILLATOR, "--guess", "x=1"))
        self.assertIn("cannot end at", self.mistake("linearize", OSCILLATOR, "--at", "-1"))

    def test_files(self):
        self.assertIn("unknown kind of picture", self.mistake("linearize", OSCILLATOR, "--plot", "bode.txt"))
        self.assertIn("no curve to draw", self.mistake("linearize", PENDULUM, "--plot", "bode.svg"))

    def test_a_failure_names_its_equation(self):
        run_away = "boundary x(0) = 1;\nsystem\n  x' = x^2;\n"
        told = json.loads(self.tactus("linearize", run_away, "--at", "5", "--json", code=4).stdout)["failure"]
        self.assertEqual((told["line"], told["equations"]), (3, "x' = x^2"))
        self.assertAlmostEqual(told["time"], 1, delta=1e-4)
        negative = "boundary x(0) = -1;\nsystem\n  r = sqrt(x);\n  x' = 1 - r;\n"
        for command in ["equilibrium", "linearize"]:
            done = self.tactus(command, negative, code=4)
            self.assertIn("`r = sqrt(x)` (line 3) gives r = nan with x = -1", done.stderr)
        nowhere = "parameter k = 0;\nboundary x(0) = 1 / k;\nsystem\n  x' = -x;\n"
        for command, *options in [("equilibrium",), ("linearize",), ("explain", "--initial"), ("run", "--until", "1")]:
            done = self.tactus(command, nowhere, *options, code=4)
            self.assertIn("(line 2) gives x = inf", done.stderr)

    def test_model_with_errors(self):
        self.tactus("linearize", "system\n  x' = y;\n", code=1)

    def test_help_has_examples(self):
        for command in ("linearize", "equilibrium"):
            done = subprocess.run([TACTUS, command, "--help"], capture_output=True, text=True, check=True)
            self.assertIn(f"tactus {command} ", done.stdout)


if __name__ == "__main__":
    TACTUS = str(pathlib.Path(sys.argv[1]).resolve())
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
