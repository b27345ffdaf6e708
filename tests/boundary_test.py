#!/usr/bin/env python3
"""Boundary values at other times against closed forms and independent shooting.

    boundary_test.py PATH_OF_TACTUS

The search integrates at 1e-10 or better whatever the run's own tolerance, so starts are held to 1e-8 or what the problem's
condition makes of 1e-10, as each test says.
"""
import csv
import json
import math
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "reference"))
from solve import bisect, rk4  # noqa: E402

TACTUS = sys.argv.pop(1) if len(sys.argv) > 1 else "tactus"

BRATU = "simulation ending_time = 1 parameter guess = 0; boundary u(0) = 0; u'(0) ~ guess; u(1) = 0; system u'' + exp(u) = 0;"
PENDULUM = """simulation ending_time = 1 tolerance = 1e-9
boundary x(0) = 0.6; y(0) ~ -0.8; x(1) = -0.2;
system x'' = -F * x; y'' = -F * y - 9.81; x^2 + y^2 = 1;"""


def layers(rate):
    return f"simulation ending_time = 1 boundary y with y(0) = 1, y(1) = 1; system y'' = {rate**2} * y;"


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def tactus(self, command, text, *words):
        (self.folder / "model.tact").write_text(text)
        return subprocess.run([TACTUS, *command.split(), str(self.folder / "model.tact"), *map(str, words)],
                              capture_output=True, text=True, timeout=120)

    def run_model(self, text, *words):
        done = self.tactus("run", text, "--json", *words)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def start(self, text, *words):
        """The values at the start, and what is told of the search."""
        told = self.run_model(text, "--until", 0, *words)
        return told["values"], told["boundary"]

    def rows(self, text, *words):
        self.run_model(text, "--out", self.folder / "rows.csv", *words)
        with open(self.folder / "rows.csv", newline="") as file:
            return [[float(x) for x in row] for row in list(csv.reader(file))[1:]]

    def near(self, got, expected, tolerance, where=""):
        got = got if isinstance(got, list) else [got]
        expected = expected if isinstance(expected, list) else [expected]
        for g, e in zip(got, expected, strict=True):
            self.assertLessEqual(abs(g - e), tolerance, f"{where}: {got}, not {expected}")


class ClosedForms(Folder):
    def test_oscillator_with_every_solver(self):
        for words in (["--solver", "tsit5"], ["--solver", "bs3", "--tolerance", 1e-7], ["--solver", "dop853"], ["--step", 0.01],
                      ["--solver", "rosenbrock"], ["--solver", "cvode"], ["--solver", "rosenbrock", "--step", 0.001]):
            # x = 2 sin(t) + cos(t); pi / 2 is no multiple of the steps
            model = "simulation ending_time = 2 boundary x with x(0) = 1, x(pi / 2) = 2; system x'' = -x;"
            got, told = self.start(model, *words)
            # rk4 at 0.01 is off by 1e-9; rosenbrock, of order 4, at 0.001 by 1e-8 at most
            self.near(got["x'"], 2, 1e-7 if "rosenbrock" in words and "--step" in words else 1e-8, words)
            self.assertEqual(told["segments"], 1)
            end = self.run_model(model, *words)["values"]["x"]
            self.near(end, 2 * math.sin(2) + math.cos(2), 1e-4, words)

    def test_fixed_steps_meet_the_value_on_their_own_grid(self):
        # Euler's own motion is far from the oscillator's, but it is the one that has to meet the value.
        model = "simulation ending_time = 1 boundary x with x(0) = 0, x(1) = 1; system x'' = -x;"
        told = self.run_model(model, "--solver", "euler", "--step", 0.05)
        self.near(told["values"]["x"], 1, 1e-12)
        self.assertLess(told["boundary"]["residual"], 1e-12)

    def test_both_solutions_of_bratu(self):
        # u'(0) = a, u = -2 log(cosh((t - 1/2) b / 2) / cosh(b / 4)) with b = sqrt(2) cosh(b / 4) and a = b tanh(b / 4)
        for guess, low, high in ((0, 1, 2), (9, 10, 12)):
            b = bisect(lambda b: b - math.sqrt(2) * math.cosh(b / 4), low, high)
            got, _ = self.start(BRATU, "--set", f"guess={guess}")
            self.near(got["u'"], b * math.tanh(b / 4), 1e-8, guess)
        self.near(self.start(BRATU)[0]["u'"], 0.549352728, 1e-8)
        self.near(self.start(BRATU, "--set", "guess=9")[0]["u'"], 10.846899, 1e-5)

    def test_boundary_layers_need_several_segments(self):
        # y = cosh(w (t - 1/2)) / cosh(w / 2): an error at the start grows 5e8-fold (w = 20) or 3e43-fold (w = 100) until the end.
        for w, words in ((20, []), (100, []), (20, ["--step", 0.001]), (20, ["--solver", "rosenbrock"])):
            exact = lambda t: math.cosh(w * (t - 0.5)) / math.cosh(w / 2)  # noqa: E731, B023
            got, told = self.start(layers(w), *words)
            self.near(got["y'"], -w * math.tanh(w / 2), 1e-5, (w, words))
            self.assertGreater(told["segments"], 1)
            for row in self.rows(layers(w), "--every", 0.01, *words):
                # the run is put back at the nodes; between them errors of 1e-10 a step (rk4: 1e-7) grow a thousandfold
                self.near(row[1], exact(row[0]), 1e-4 if words else 1e-6, (w, words, row[0]))

    def test_across_a_relation(self):
        # A spring of stiffness 1 on the left and 4 on the right: x = -cos(t) + v sin(t) until it passes 0 at tau, with the speed c.
        def miss(v):
            tau, c = math.atan2(1, v), math.hypot(1, v)
            return c / 2 * math.sin(2 * (2 - tau)) - 0.5

        model = "simulation ending_time = 3 boundary x with x(0) = -1, x(2) = 0.5; system x'' = if x > 0 then -4 * x else -x;"
        got, _ = self.start(model)
        self.near(got["x'"], bisect(miss, 0, 1), 1e-7)
        self.assertEqual(self.run_model(model)["crossings"], 2)

    def test_across_a_bounce(self):
        # Thrown down with 2 m/s it falls with w and comes up with 0.7 w: where it is at 0.8 s is what is asked for.
        w = math.sqrt(4 + 2 * 9.81)
        flight = 0.8 - (w - 2) / 9.81
        model = f"""simulation ending_time = 0.8
boundary y with y(0) = 1, y'(0) ~ -1.9, y(0.8) = {0.7 * w * flight - 9.81 / 2 * flight ** 2!r};
system
  y'' = -9.81;
  transition Bounce when y <= 0 && y' < 0 {{ next(y') = -0.7 * y'; }}
"""
        got, _ = self.start(model)
        self.near(got["y'"], -2, 1e-7)

    def test_a_block_that_comes_to_rest_where_it_must(self):
        """Friction holds it from v0 / mu on; there are no sensitivities of a motion that is held."""
        text = "simulation ending_time = 5 boundary x(0) = 0; x(5) = 1; v(0) ~ 1; system x' = v; v' = -0.7 * sign(v);"
        values, _ = self.start(text)
        self.near(values["v"], math.sqrt(2 * 0.7), 1e-8)
        # A search whose first try begins where friction holds.
        text = "boundary v(1e-9) = 1, x(0) = 1; system v' = -0.7 * sign(v) + t; x' = -x;"
        for command in ("run", "linearize"):
            done = self.tactus(command, text)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_eigenvalues_by_a_memory(self):
        model = "parameter guess = 8; boundary y(0) = 0; y'(0) = 1; y(1) = 0; k(0) ~ guess; system y'' + k * y = 0; k' = 0;"
        for guess, n in ((8, 1), (38, 2), (90, 3)):
            self.near(self.start(model, "--set", f"guess={guess}")[0]["k"], (n * math.pi) ** 2, 1e-6, n)

    def test_periodic_motion_by_a_memory(self):
        # x' = -x + cos(t) has one motion of period 2 pi: (cos(t) + sin(t)) / 2.
        model = "boundary c(0) = x; x(2 * pi) = c; system x' = -x + cos(t); c' = 0;"
        got, _ = self.start(model)
        self.near([got["x"], got["c"]], [0.5, 0.5], 1e-9)

    def test_algebraic_names_and_right_sides_at_their_time(self):
        model = """boundary p(0) = (0, 0); E(0) = 50; p[2](1.5) = h; p'(0) ~ (1, 1);
                   system p'' = (0, -9.81); E = dot(p', p') / 2; h = 0.1 + 0.01 * p[1];"""
        u, v = self.start(model)[0]["p'"]
        self.near(u * u + v * v, 100, 1e-8)
        self.near(1.5 * v - 9.81 * 1.5**2 / 2, 0.1 + 0.015 * u, 1e-8)

    def test_derivatives_of_what_is_worked_out(self):
        # E = x^2 / 2, so E' = x x' = a^2 sin(t) cos(t) for x = a sin(t): at t = 1 it is 2
        got, _ = self.start("boundary x with x(0) = 0, x'(0) ~ 1; E'(1) = 2; system x'' = -x; E = x^2 / 2;")
        self.near(got["x'"], math.sqrt(2 / (math.sin(1) * math.cos(1))), 1e-8)

    def test_several_times(self):
        # x''' = 0: the parabola through three points
        got, told = self.start("boundary x(1) = 2; x(2) = 3; x(4) = -1; system x''' = 0;")
        self.near([got["x"], got["x'"], got["x''"]], [-1, 4, -2], 1e-8)
        self.assertEqual(told["until"], 4)

    def test_another_starting_time(self):
        model = "simulation starting_time = 5 ending_time = 7 boundary x with x(5) = 1, x(6) = 0; system x'' = 2;"
        told = self.run_model(model, "--until", 5)
        self.near(told["values"]["x'"], -2, 1e-9)

    def test_a_parameter_may_say_when(self):
        # x = x'(0) t + t^2 / 2
        model = "parameter T = 2; boundary x(0) = 0; x(T) = 1; system x'' = 1;"
        self.near(self.start(model)[0]["x'"], -0.5, 1e-9)
        self.near(self.start(model, "--set", "T=4")[0]["x'"], -1.75, 1e-9)

    def test_an_input_counts(self):
        # u goes from 0 to 1 at t = 1, and on: x' = x'(0) + t^2 / 2
        (self.folder / "u.csv").write_text("t,u\n0,0\n2,2\n")
        model = "external hand reads u boundary x(0) = 0; x(1) = 2; system x'' = u;"
        for words in ([], ["--step", 0.01]):
            got, _ = self.start(model, "--device", f"hand=file:{self.folder / 'u.csv'}", *words)
            self.near(got["x'"], 2 - 1 / 6, 1e-8)

    def test_a_sampled_behaviour_counts(self):
        # The clock holds v for 0.1 s at a time: x(1) is the sum of v(0.1 k) 0.1, and v = a e^-t
        model = """event clock every 0.1; boundary x(0) = 0; x(1) = 3;
                   system x' = held; v' = -v; reactive held = init 0 in { clock => v }"""
        got, _ = self.start(model)
        self.near(got["v"], 30 / sum(math.exp(-0.1 * k) for k in range(10)), 1e-8)

    def test_the_time_of_an_event_counts(self):
        # x falls to 0 at tau = sqrt(2 / g); y = tau / 2 + 2 (3 - tau) is 2 when tau = 8 / 3
        model = """event hit when x < 0; boundary x(0) = 1; x'(0) = 0; y(0) = 0; y(3) = 2; g(0) ~ 0.4;
                   system x'' = -g; g' = 0; y' = if n > 0.5 then 2 else 0.5; reactive n = init 0 in { hit => 1 }"""
        self.near(self.start(model)[0]["g"], 2 / (8 / 3) ** 2, 1e-8)

    def test_a_stiff_model(self):
        # y follows z within 1e-5 s; z = a sin(t) with a cos(1) = 1 at t = 1, which is said of y: (1e10 cos(1) + ..) / (1e10 + 1)
        model = "simulation ending_time = 1 boundary z(0) = 0; y(0) = 0; y(1) = 1; system z'' = -z; y' = 1e5 * (z - y);"
        k = 1e5
        exact = 1 / ((k * k * math.sin(1) - k * math.cos(1)) / (k * k + 1))
        self.near(self.start(model)[0]["z'"], exact, 1e-6)
        self.near(self.start(model, "--solver", "rosenbrock")[0]["z'"], exact, 1e-6)


class PublishedNumbers(Folder):
    def test_troesch(self):
        # u'' = n sinh(n u): Troesch, J. Comput. Phys. 21, 1976; u'(0) as Scott, and Ascher and others, give it
        model = "parameter n = 5; function sinh(z) = (exp(z) - exp(-z)) / 2; boundary u(0) = 0; u(1) = 1; system u'' = n * sinh(n * u);"
        for n, slope in ((5, 4.57504614e-2), (10, 3.583378e-4)):
            self.near(self.start(model, "--set", f"n={n}")[0]["u'"] / slope, 1, 1e-6, n)

    def test_limit_cycle_of_van_der_pol(self):
        # its period and amplitude for mu = 1; time is scaled so that the period is 1
        model = """boundary x(0) ~ 2; c(0) = x; v(0) = 0; T(0) ~ 6.5; x(1) = c; v(1) = 0;
                   system x' = T * v; v' = T * ((1 - x^2) * v - x); T' = 0; c' = 0;"""
        got, _ = self.start(model)
        self.near([got["T"], got["x"]], [6.66328686, 2.00861986], 2e-8)

    def test_least_effort(self):
        # From rest to rest in a second with the least integral of u^2, by Pontryagin's costates: u = 6 - 12 t
        model = """boundary x(0) = 0; v(0) = 0; x(1) = 1; v(1) = 0; system x' = v; v' = u; a' = 0; b' = -a; u = -b;"""
        got, told = self.start(model)
        self.near([got["a"], got["b"]], [-12, -6], 1e-9)
        self.assertEqual(told["iterations"], 1)


class IndependentMotions(Folder):
    def test_a_thrown_ball_with_drag(self):
        model = """boundary p(0) = (0, 0); p(1.5) = (10, 2); system p'' = (0, -9.81) - 0.05 * norm(p') * p';"""

        def rate(s):
            speed = math.hypot(s[2], s[3])
            return [s[2], s[3], -0.05 * speed * s[2], -9.81 - 0.05 * speed * s[3]]

        got, _ = self.start(model)
        end = rk4(rate, [0, 0, *got["p'"]], 1.5, 3000)
        self.near(end[:2], [10, 2], 1e-9)

    def test_a_pendulum_in_cartesian_coordinates(self):
        got, _ = self.start(PENDULUM)
        x, y, u, v = (got[name] for name in ("x", "y", "x'", "y'"))
        self.near([x, x * x + y * y, x * u + y * v], [0.6, 1, 0], 1e-9)
        # by its angle: x = sin(a), y = -cos(a)
        angle, turning = rk4(lambda s: [s[1], -9.81 * math.sin(s[0])], [math.atan2(x, -y), x * v - y * u], 1, 4000)
        self.near(math.sin(angle), -0.2, 1e-8)

    def test_a_pendulum_kept_upright_for_long(self):
        # A small error at the start grows e^(3.1 * 3)-fold until the top and as much again behind it.
        got, _ = self.start("boundary a(0) = 3; a(6) = 3; a'(0) ~ 0.443; system a'' = -9.81 * sin(a);")
        # The motion is symmetric about t = 3, where it stands still: half of it is followed, backwards, from there.
        energy = got["a'"] ** 2 / 2 - 9.81 * math.cos(3)
        top = math.acos(-energy / 9.81)
        angle, turning = rk4(lambda s: [s[1], -9.81 * math.sin(s[0])], [top, 0], 3, 4000)
        self.near([angle, abs(turning)], [3, abs(got["a'"])], 1e-4)


class TheRunItself(Folder):
    LORENZ = """boundary x(0) = 1; y(0) = 1; x(20) = 5;
                system x' = 10*(y - x); y' = x*(28 - z) - y; z' = x*y - 8/3*z;"""

    def test_a_chaotic_motion_meets_what_is_told(self):
        # Errors of 1e-6 a step grow to some hundredths in 20 s, by chance more or less: the run has to be finer than that.
        for words in ([], ["--solver", "dop853"], ["--tolerance", 1e-8]):
            told = self.run_model(self.LORENZ, "--until", 20, *words)
            self.near(told["values"]["x"], 5, 1e-4, words)
            self.near(abs(told["values"]["x"] - 5), told["boundary"]["residual"], 1e-9, words)
        notes = " ".join(self.run_model(self.LORENZ, "--until", 20)["notes"])
        off = re.search(r"at the tolerance of 1e-06 the run would be off by ([\d.e-]+\d)", notes)
        self.assertTrue(off, notes)
        self.assertTrue(1e-3 < float(off.group(1)) < 1, notes)
        self.assertIn("tolerance 1e-10", self.tactus("run", self.LORENZ, "--until", 20).stdout)

    def test_for_longer_it_is_cut(self):
        told = self.run_model(self.LORENZ.replace("20", "35"), "--until", 35)
        self.near(told["values"]["x"], 5, 1e-6)
        self.assertLess(told["boundary"]["residual"], 1e-6)
        self.assertGreater(told["boundary"]["segments"], 1)

    def test_a_tame_one_goes_at_its_own_tolerance(self):
        model = "simulation ending_time = 2 boundary x with x(0) = 0, x(2) = 1; system x'' = -x;"
        told = self.run_model(model)
        self.assertEqual(len(told["notes"]), 1)
        self.near(abs(told["values"]["x"] - 1), told["boundary"]["residual"], 1e-12)
        self.assertIn("tolerance 1e-06", self.tactus("run", model).stdout)


class ManySolutions(Folder):
    def test_every_speed_fits(self):
        for guess in ("", " x'(0) ~ 3;"):
            told = self.run_model(f"simulation ending_time = pi boundary x(0) = 0; x(pi) = 0;{guess} system x'' = -x;", "--until", 0)
            self.assertIn("do not determine `x'(0) = ", " ".join(told["notes"]))
            self.near(told["values"]["x'"], 3 if guess else 0, 1e-6)

    def test_one_of_two_is_named(self):
        told = self.run_model("boundary x(0) = 0; x(pi) = 0; y(1) = 2; system x'' = -x; y' = y;", "--until", 0)
        self.assertIn("do not determine `x'(0) = 0`: it is one", " ".join(told["notes"]))

    def test_only_in_the_limit(self):
        # x(1) = 1 - e^-T
        told = self.run_model("boundary v(0) = 1; x(0) = 0; x(1) = 1; system x' = T*v; v' = -T*v; T' = 0;", "--until", 0)
        self.assertIn("may meet them only in the limit", " ".join(told["notes"]))

    def test_what_is_determined_is_not_named(self):
        for text in (PENDULUM, BRATU, layers(20), "boundary x(0) = 0; x(3) = 0; x'(0) ~ 1; system x'' = -x;"):
            self.assertNotIn("determine", " ".join(self.run_model(text, "--until", 0)["notes"]))


class Words(Folder):
    def test_notes_and_initial(self):
        text = "simulation ending_time = 1 boundary x with x(0) = 0, x(2) = 1; system x'' = 0;"
        done = self.tactus("run", text)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"note: boundary values up to t = 2 met: \d iterations?, 1 segment, off by at most ")
        told = json.loads(self.tactus("explain --initial", text, "--json").stdout)
        found = {value["name"]: (value["value"], value["how"]) for value in told["initial"]}
        self.near(found["x'"][0], 0.5, 1e-10)
        self.assertEqual((found["x"][1], found["x'"][1]), ("given", "found"))

    def test_what_has_no_solution_names_the_line(self):
        for text, words in (("simulation ending_time = 1\nboundary\n  x(0) = 0;\n  x(pi) = 1;\nsystem x'' = -x;", "it hardly depends on `x'`"),
                            ("boundary\n  u(0) = 0;\n\n  u(1) = 0;\nsystem u'' + 5 * exp(u) = 0;", "no start was found")):
            done = self.tactus("run", text, "--json")
            self.assertEqual(done.returncode, 4, done.stdout)
            failure = json.loads(done.stdout)["failure"]
            self.assertEqual((failure["kind"], failure["line"]), ("no_boundary_values", 4))
            self.assertIn(words, failure["text"])
            self.assertIn("'(0) ~ ..` under `boundary`", failure["hint"])

    def test_a_motion_that_does_not_get_there_says_why(self):
        done = self.tactus("run", "boundary x(0) = 3; y(2) = 1; system x' = x^2; y' = x;", "--json")
        self.assertEqual(done.returncode, 4)
        failure = json.loads(done.stdout)["failure"]
        self.assertIn("does not get there", failure["text"])
        self.assertIn("at t = 0.33333", failure["text"])

    def test_a_time_that_is_too_far_off_ends_the_search(self):
        for command in ("run", "export c"):
            done = self.tactus(command, "boundary q(1e15) = 0; system q' = -q;", *(["-o", self.folder / "out"] if command == "export c" else []))
            self.assertIn(done.returncode, (0, 4), done.stdout + done.stderr)
            if command == "run":
                self.assertIn("takes too many steps", done.stdout + done.stderr)

    def test_one_condition_too_few_is_a_warning(self):
        done = self.tactus("check", "boundary x(2) = 1; system x'' = -x;")
        self.assertEqual(done.returncode, 0)
        self.assertIn("warning[S008]: no start is given for `x'`; 0 is assumed", done.stderr)
        self.near(self.start("boundary x(1) = 1; system x'' = -x;")[0]["x"], 1 / math.cos(1), 1e-8)

    @unittest.skipUnless(shutil.which("cc") and shutil.which("make"), "no C compiler")
    def test_exported_c_starts_from_what_was_found(self):
        directory = self.folder / "c"
        done = self.tactus("export c", PENDULUM, "-o", directory)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("does not follow parameters", done.stderr)
        subprocess.run(["make", "-s", "-C", str(directory)], check=True, capture_output=True)
        last = subprocess.run([str(directory / "model")], check=True, capture_output=True, text=True).stdout.splitlines()[-1]
        self.near(float(last.split(",")[1]), -0.2, 1e-7)
        # What is asked for at the start alone is still found by the exported program.
        shutil.rmtree(directory)
        thrown = "simulation ending_time = 1 boundary p(0) = (0, 0); E(0) = 50; p'(0) ~ (1, 1); system p'' = (0, -9.81); E = dot(p', p') / 2;"
        self.assertEqual(self.tactus("export c", thrown, "-o", directory).returncode, 0)
        subprocess.run(["make", "-s", "-C", str(directory)], check=True, capture_output=True)
        last = subprocess.run([str(directory / "model")], check=True, capture_output=True, text=True).stdout.splitlines()[-1]
        x, y = (float(value) for value in last.split(",")[1:3])
        self.near(x**2 + (y + 9.81 / 2) ** 2, 100, 1e-6)
        shutil.rmtree(directory)
        told = self.tactus("export c", TheRunItself.LORENZ, "-o", directory)
        self.assertIn("only at a finer tolerance: --tolerance 1e-10", told.stderr)
        subprocess.run(["make", "-s", "-C", str(directory)], check=True, capture_output=True)
        fine = [str(directory / "model"), "--until", "20", "--tolerance", "1e-10"]
        last = subprocess.run(fine, check=True, capture_output=True, text=True).stdout.splitlines()[-1]
        self.near(float(last.split(",")[1]), 5, 1e-4)
        refused = self.tactus("export c", layers(20), "-o", directory)
        self.assertEqual(refused.returncode, 4)
        self.assertIn("cannot be exported", refused.stderr)


if __name__ == "__main__":
    unittest.main()
