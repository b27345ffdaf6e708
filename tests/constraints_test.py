"""Equations that tie states together: index reduction, consistent starts, redundant and contradictory constraints, by the real program.

    python3 tests/constraints_test.py build/bin/tactus [TEST..]

Motions are compared with the same physics in coordinates of its own (an angle), integrated here by an RK4 in plain Python whose
error is below what a test allows, or with closed forms.
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "reference")]
from solve import rk4  # noqa: E402

TACTUS = ""
G = 9.81
SOLVERS = ["bs3", "tsit5", "dop853", "rosenbrock", "cvode"]
PENDULUM = """boundary {boundary};
system
  x'' = lambda * x;
  y'' = lambda * y - 9.81;
  x^2 + y^2 = 1;
  E = (x'^2 + y'^2) / 2 + 9.81 * y;
  off = x^2 + y^2 - 1;
"""
FROM_THE_SIDE = "x(0) = 1, y(0) = 0, y'(0) = 0"


def swing(angle, speed, end, steps=20000):
    """Angle from the vertical and its rate of a pendulum of length 1, after `end` seconds."""
    return rk4(lambda s: [s[1], -G * math.sin(s[0])], [angle, speed], end, steps)


class ConstraintsTest(unittest.TestCase):
    def tactus(self, text, command, *options, exit_code=0):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "m.tact"
            path.write_text(text, encoding="utf-8")
            done = subprocess.run([TACTUS, command, str(path), *map(str, options)], capture_output=True, text=True, timeout=300,
                                  check=False)
        self.assertEqual(done.returncode, exit_code, done.stdout + done.stderr)
        return done

    def run_json(self, text, *options, exit_code=0):
        return json.loads(self.tactus(text, "run", "--json", *options, exit_code=exit_code).stdout)

    def pendulum(self, boundary, *options):
        return self.run_json(PENDULUM.format(boundary=boundary), *options)


class Pendulum(ConstraintsTest):
    PERIOD = 2.367841947576237

    def test_period_with_every_solver(self):
        # After whole periods it stands where it began. Errors of a tolerance of 1e-10 add up over 4 periods; cvode's control is looser.
        for solver in SOLVERS:
            with self.subTest(solver=solver):
                told = self.pendulum(FROM_THE_SIDE, "--until", 4 * self.PERIOD, "--solver", solver, "--tolerance", "1e-10")
                self.assertLess(abs(told["values"]["y"]), 2e-6 if solver == "cvode" else 2e-7)
                self.assertLess(abs(told["values"]["off"]), 1e-15)
                self.assertLess(told["constraint_residual"], 1e-5)

    def test_fixed_steps_have_their_order(self):
        errors = {}
        for solver, order in [("euler", 1), ("bs3", 3), ("rk4", 4), ("rosenbrock", 5)]:
            angle, _ = swing(math.pi / 2, 0, 2)
            for h in [0.01, 0.005]:
                got = self.pendulum(FROM_THE_SIDE, "--until", 2, "--solver", solver, "--step", h)["values"]
                errors[h] = math.hypot(got["x"] - math.sin(angle), got["y"] + math.cos(angle))
                # Two iterations of Newton's method from what a step drifts: rounding, but for euler's (20 h^2)^4 / 16.
                self.assertLess(abs(got["off"]), 2e-12 if solver == "euler" else 4e-16)
            self.assertGreater(math.log2(errors[0.01] / errors[0.005]), order - 0.4, solver)

    def test_over_the_top(self):
        # Upwards at 5 m/s from the side: the top is passed at sqrt(25 - 2 g) m/s, in the same sense again and again.
        for options in [("--tolerance", "1e-10"), ("--step", "0.001")]:
            told = self.pendulum("x(0) = 1, y(0) = 0, y'(0) = 5", "--until", 7.3, *options)
            angle, speed = swing(math.pi / 2, 5, 7.3)
            self.assertGreater(angle, 4 * math.pi)
            got = told["values"]
            for name, expected in [("x", math.sin(angle)), ("y", -math.cos(angle)), ("x'", speed * math.cos(angle)),
                                   ("y'", speed * math.sin(angle))]:
                self.assertLess(abs(got[name] - expected), 2e-7, name)
            self.assertLess(abs(got["E"] - 12.5), 1e-7)

    def test_long(self):
        # Ten minutes of fixed steps: off the rod by rounding, the energy where RK4 leaves it (h^5 a period, 254 periods).
        told = self.pendulum(FROM_THE_SIDE, "--until", 600, "--step", "0.001")
        self.assertLess(abs(told["values"]["off"]), 4e-16)
        self.assertLess(told["constraint_residual"], 1e-12)
        self.assertLess(abs(told["values"]["E"]), 1e-8)

    def test_rows_between_steps_keep_to_the_rod(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "rows.csv"
            self.pendulum(FROM_THE_SIDE, "--until", 3, "--every", "0.01", "--out", out, "--show", "off")
            rows = [float(line.split(",")[1]) for line in out.read_text().splitlines()[1:]]
        self.assertEqual(len(rows), 301)
        self.assertLess(max(map(abs, rows)), 1e-11)  # two iterations from 1e-6


class Starts(ConstraintsTest):
    def initial(self, text, exit_code=0):
        told = json.loads(self.tactus(text, "explain", "--initial", "--json", exit_code=exit_code).stdout)
        return told, {item["name"]: (item["value"], item["how"]) for item in told["initial"]}

    def test_given_are_kept_and_free_are_found(self):
        _, values = self.initial(PENDULUM.format(boundary="x(0) = 0.6, y(0) ~ -1, y'(0) = 3"))
        self.assertEqual(values["x"], (0.6, "given"))
        self.assertEqual(values["y'"], (3, "given"))
        self.assertEqual(values["y"][1], "found")
        self.assertAlmostEqual(values["y"][0], -0.8, delta=1e-14)
        self.assertAlmostEqual(values["x'"][0], 4, delta=1e-13)  # 0.6 x' - 0.8 * 3 = 0

    def test_a_guess_says_which_solution(self):
        _, values = self.initial(PENDULUM.format(boundary="x(0) = 0.6, y(0) ~ 1, y'(0) = 3"))
        self.assertAlmostEqual(values["y"][0], 0.8, delta=1e-14)

    def test_what_is_no_state_may_be_given(self):
        # Energy 2 at height -0.8, moving to the right: v^2 = 2 (2 + 0.8 g).
        _, values = self.initial(PENDULUM.format(boundary="y(0) = -0.8, x(0) ~ 1, x'(0) ~ 1, E(0) = 2"))
        self.assertAlmostEqual(values["x"][0], 0.6, delta=1e-12)
        speed = math.sqrt(2 * (2 + 0.8 * G))
        self.assertAlmostEqual(values["x'"][0], 0.8 * speed, delta=1e-10)
        self.assertAlmostEqual(values["y'"][0], 0.6 * speed, delta=1e-10)
        self.assertAlmostEqual(values["E"][0], 2, delta=1e-12)

    def test_one_start_by_way_of_another(self):
        # y = x + 0.2 on the circle, both to be found: x^2 + (x + 0.2)^2 = 1.
        _, values = self.initial(PENDULUM.format(boundary="x(0) ~ 1, y(0) = x + 0.2, y'(0) = 0"))
        x = (-0.2 + math.sqrt(2 - 0.04)) / 2
        self.assertAlmostEqual(values["x"][0], x, delta=1e-12)
        self.assertAlmostEqual(values["y"][0], x + 0.2, delta=1e-12)

    def test_more_than_needed_is_fine_when_it_agrees(self):
        told, values = self.initial(PENDULUM.format(boundary="x(0) = 0.6, y(0) = 0.8, x'(0) = 4, y'(0) = -3"))
        self.assertEqual(told["status"], "ok")
        self.assertEqual({values[name][1] for name in ["x", "y", "x'", "y'"]}, {"given"})

    def test_contradictions_name_the_line_and_what_to_drop(self):
        for boundary, line, names in [("x(0) = 0.6, y(0) = 0.9", "x^2 + y^2 = 1", ["`x`", "`y`"]),
                                      ("x(0) = 0.6, y(0) = 0.8, x'(0) = 1, y'(0) = 1", "x * x'", ["`x'`", "`y'`"])]:
            told, _ = self.initial(PENDULUM.format(boundary=boundary), exit_code=4)
            failure = told["failure"]
            self.assertEqual(failure["kind"], "no_start")
            self.assertEqual(failure["line"], 5)
            self.assertIn(line, failure["text"])
            for name in names:
                self.assertIn(name, failure["hint"])
            self.assertEqual(self.run_json(PENDULUM.format(boundary=boundary), exit_code=4)["failure"]["kind"], "no_start")

    def test_no_start_exists(self):
        told, _ = self.initial(PENDULUM.format(boundary="x(0) = 1.5"), exit_code=4)
        self.assertIn("guess", told["failure"]["hint"])

    def test_what_is_missing_is_assumed_and_said(self):
        done = self.tactus(PENDULUM.format(boundary="x(0) = 1, y(0) = 0"), "explain", "--initial")
        self.assertIn("S008", done.stderr)
        self.assertIn("assumed", done.stdout)

    def test_without_starts_it_rests(self):
        # At x = y = 0 the circle's derivative vanishes; what is found from elsewhere has no reason to move.
        told, values = self.initial(PENDULUM.format(boundary="lambda(0) ~ 0"))
        self.assertAlmostEqual(math.hypot(values["x"][0], values["y"][0]), 1, delta=1e-14)
        self.assertEqual((values["x'"][0], values["y'"]), (0, (0, "assumed")))
        self.assertEqual(told["status"], "ok")

    def test_a_guess_is_kept_where_a_condition_is_flat(self):
        # lambda depends on the squares of x' and y', which begin at 0; y = -0.8 is right from the beginning.
        # -20 = lambda = -(x'^2 + y'^2) + g y.
        _, values = self.initial(PENDULUM.format(boundary="x(0) = 0.6, y(0) ~ -0.8, lambda(0) = -20"))
        self.assertAlmostEqual(values["y"][0], -0.8, delta=1e-13)
        self.assertAlmostEqual(math.hypot(values["x'"][0], values["y'"][0]), math.sqrt(20 - 0.8 * G), delta=1e-10)

    def test_guesses_are_missed_by_the_least(self):
        # On the circle, the nearest to (0.6, -0.3) in the norm weighted with 1 / (1 + |guess|).
        _, values = self.initial(PENDULUM.format(boundary="x(0) ~ 0.6, y(0) ~ -0.3"))
        best = min((((math.cos(a) - 0.6) / 1.6) ** 2 + ((math.sin(a) + 0.3) / 1.3) ** 2, a)
                   for a in (i * 1e-5 for i in range(-314160, 314160)))[1]
        self.assertAlmostEqual(math.atan2(values["y"][0], values["x"][0]), best, delta=1e-4)
        self.assertEqual((values["x"][1], values["y"][1]), ("found", "found"))

    def test_how_a_start_came_about(self):
        _, values = self.initial("system x' + y' = 1; 2*x' + 2*y' = 2 - z; w' = x - z; x - y = w;")
        self.assertEqual((values["x"], values["y"]), ((0, "assumed"), (0, "assumed")))
        _, values = self.initial("boundary x(0) ~ 2; system x' = -x; y' = -y;")
        self.assertEqual((values["x"], values["y"]), ((2, "assumed"), (0, "assumed")))
        _, values = self.initial(PENDULUM.format(boundary="x(0) = 1.5"), exit_code=4)
        self.assertEqual({values[name][1] for name in ["y", "x'", "y'"]}, {"not found"})

    def test_initial_and_dump_exclude_each_other(self):
        self.tactus(PENDULUM.format(boundary="x(0) = 1"), "explain", "--initial", "--dump=blocks", exit_code=2)


class Invariants(ConstraintsTest):
    ROTATION = """boundary R with R(0) = ((1, 0, 0), (0, 1, 0), (0, 0, 1));
system
  w = (sin(t), cos(2 * t), 0.5);
  hat = ((0, -w[3], w[2]), (w[3], 0, -w[1]), (-w[2], w[1], 0));
  R' = R * hat;
  off = transpose(R) * R - identity(3);
  {invariant}
"""
    KEPT = "invariant transpose(R) * R = identity(3);"

    def drift(self, told):
        return max(abs(value) for row in told["values"]["off"] for value in (row if isinstance(row, list) else [row]))

    def test_a_rotation_matrix_stays_one(self):
        for options in (["--solver", "rk4", "--step", "0.02"], ["--solver", "tsit5", "--tolerance", "1e-6"]):
            run = ["--until", "1000", *options]
            free = self.run_json(self.ROTATION.format(invariant=""), *run)
            kept = self.run_json(self.ROTATION.format(invariant=self.KEPT), *run)
            self.assertGreater(self.drift(free), 1e-8)
            self.assertLess(self.drift(kept), 1e-12)

    def test_the_motion_is_no_worse(self):
        # About one axis the angle is known: R turns by t.
        text = self.ROTATION.replace("(sin(t), cos(2 * t), 0.5)", "(0, 0, 1)").format(invariant=self.KEPT)
        R = self.run_json(text, "--until", "50", "--tolerance", "1e-10")["values"]["R"]
        flat = [value for row in R for value in (row if isinstance(row, list) else [row])]
        for got, expected in zip(flat, (math.cos(50), -math.sin(50), 0, math.sin(50), math.cos(50), 0, 0, 0, 1)):
            self.assertAlmostEqual(got, expected, delta=2e-8)

    def test_an_energy_is_kept(self):
        text = "boundary x(0) = 1, v(0) = 0;\nsystem\n  x' = v;\n  v' = -x;\n  invariant x^2 + v^2 = 1;\n"
        told = self.run_json(text, "--until", "1000", "--solver", "rk4", "--step", "0.1")["values"]
        self.assertAlmostEqual(told["x"] ** 2 + told["v"] ** 2, 1, delta=1e-14)

    def test_a_start_off_it_is_told(self):
        text = "boundary x(0) = 1, v(0) = 1;\nsystem\n  x' = v;\n  v' = -x;\n  invariant x^2 + v^2 = 1;\n"
        done = self.tactus(text, "run", "--until", "1", exit_code=4)
        self.assertIn("x^2 + v^2 = 1", done.stderr)

    def test_in_a_mode(self):
        text = """simulation ending_time = 20 step_size = 0.1
automaton a in Turning, Still;
boundary x(0) = 1, v(0) = 0;
system
  in a.Turning { x' = v;  v' = -x;  invariant x^2 + v^2 = 1; }
  in a.Still   { x' = 0;  v' = 0; }
  transition Stop in a.Turning when t >= 15 { goto a.Still;  next(x) = 3; }
"""
        told = self.run_json(text, "--until", "14.9")["values"]
        self.assertAlmostEqual(told["x"] ** 2 + told["v"] ** 2, 1, delta=1e-14)
        self.assertEqual(self.run_json(text)["values"]["x"], 3)


class Indices(ConstraintsTest):
    def test_index_of_four_in_closed_form(self):
        # x = sin^4 t = 3/8 - cos(2t)/2 + cos(4t)/8 by a force on the second mass.
        told = self.run_json("system x'' = y - x; y'' = x - y + u; x = sin(t)^4;", "--until", 1.3, "--step", "0.01")
        c2, c4 = math.cos(2.6), math.cos(5.2)
        x, x2, x4 = 3 / 8 - c2 / 2 + c4 / 8, 2 * c2 - 2 * c4, -8 * c2 + 32 * c4
        self.assertAlmostEqual(told["values"]["y"], x + x2, delta=1e-12)
        self.assertAlmostEqual(told["values"]["u"], x4 + x2 - x + (x + x2), delta=1e-11)

    def test_index_two_with_a_moving_constraint(self):
        # Two tanks whose levels are held sin(t) apart by a flow q: a' = 1 - q, b' = q, a - b = sin t.
        told = self.run_json("boundary a(0) = 1; system a' = 1 - q; b' = q; a - b = sin(t);", "--until", 2, "--step", "0.01")
        self.assertAlmostEqual(told["values"]["a"], 1 + 1 + math.sin(2) / 2, delta=1e-12)
        self.assertAlmostEqual(told["values"]["q"], (1 - math.cos(2)) / 2, delta=1e-12)

    def test_derivatives_that_cancel_leave_an_equation(self):
        # z = 0 follows, hence x' = 0 and y' = 1.
        told = self.run_json("boundary x(0) = 1, y(0) ~ 1; system x' + y' = 1; 2*x' + 2*y' = 2 - z; z = x - y + t;", "--until", 3)
        self.assertAlmostEqual(told["values"]["x"], 1, delta=1e-12)
        self.assertAlmostEqual(told["values"]["y"], 4, delta=1e-12)

    def test_an_input_comes_with_one_derivative(self):
        text = "external hand reads u; boundary x(0) ~ 0; system x'' = F; x = u + 0 * x'; y' = F;"
        done = self.tactus(text, "check", exit_code=1)
        self.assertIn("S009", done.stderr)

    def test_double_pendulum_is_the_one_in_angles(self):
        # Unit masses and rods, from 1 and 2 rad at rest, against Lagrange's equations in angles.
        def rate(s):
            a, b, va, vb = s
            d = a - b
            # (2, cos d; cos d, 1) (a'', b'') = (-vb^2 sin d - 2 g sin a, va^2 sin d - g sin b)
            p, q = -vb * vb * math.sin(d) - 2 * G * math.sin(a), va * va * math.sin(d) - G * math.sin(b)
            det = 2 - math.cos(d) ** 2
            return [va, vb, (p - math.cos(d) * q) / det, (2 * q - math.cos(d) * p) / det]

        a, b, _, _ = rk4(rate, [1, 2, 0, 0], 2, 20000)
        told = self.run_json(
            f"""boundary p(0) = ({math.sin(1)!r}, {-math.cos(1)!r}), q(0) = ({math.sin(1) + math.sin(2)!r}, {-math.cos(1) - math.cos(2)!r});
            p'(0) = (0, 0), q'(0) = (0, 0);
            constant g = (0, -9.81);
            system
              p'' = g + l * p + m * (p - q);
              q'' = g - m * (p - q);
              dot(p, p) = 1;
              dot(p - q, p - q) = 1;""", "--until", 2, "--tolerance", "1e-11")
        for got, expected in zip(told["values"]["p"] + told["values"]["q"],
                                 [math.sin(a), -math.cos(a), math.sin(a) + math.sin(b), -math.cos(a) - math.cos(b)]):
            self.assertAlmostEqual(got, expected, delta=1e-7)


class FirstOrderForms(ConstraintsTest):
    """x' = v; v' = ..: the same as x'' = .., whatever of v is given."""
    OSCILLATOR = "system y' = v; v' = -y;"

    def ends_at(self, text, expected, **options):
        told = self.run_json(text, "--until", 1, "--tolerance", "1e-11", **options)
        for name, value in expected.items():
            self.assertAlmostEqual(told["values"][name], value, delta=1e-9, msg=text)

    def test_oscillator_with_any_start(self):
        c, s = math.cos(1), math.sin(1)
        free = (3 - math.cos(2)) / math.sin(2)  # y(2) = 3
        for boundary, y0, v0 in [("y(0) = 1;", 1, 0), ("y(0) = 1; y'(0) = 3;", 1, 3), ("y(0) = 1; v(0) = 3;", 1, 3),
                                 ("y(0) = 1; v(0) ~ 3;", 1, 3), ("y(0) = 1; y(2) = 3;", 1, free), ("v(0) = 2;", 0, 2),
                                 ("y'(0) = 2;", 0, 2)]:
            for system in [self.OSCILLATOR, "system v = y'; -y = v';", "system v = y'; a = v'; a = -y;",
                           "system y' = v; w = v; w' = -y;"]:
                if "v(0) ~" in boundary and "w" in system:
                    continue  # a guess of what follows from y'
                self.ends_at("boundary " + boundary + system, {"y": y0 * c + v0 * s, "v": v0 * c - y0 * s})

    def test_what_is_missing_is_said_once(self):
        for text, names in [("boundary y(0) = 1; " + self.OSCILLATOR, ["v"]), (self.OSCILLATOR, ["y", "v"]),
                            ("boundary x(0) = 0; system x' = v; v' = 0;", ["v"]),
                            ("boundary y(0) = 1; system y' = v; v' = -sin(y);", ["v"]),
                            ("boundary y(0) = 1; y'(0) = 0; " + self.OSCILLATOR, [])]:
            done = self.tactus(text, "check")
            self.assertEqual([line.split("`")[1] for line in done.stderr.splitlines() if "S008" in line], names, text)

    def test_rates_of_each_other(self):
        self.ends_at("boundary x(0) = 1; system x = y'; y = x';", {"x": math.cosh(1), "y": math.sinh(1)})

    def test_pendulum(self):
        system = "system x' = vx; y' = vy; vx' = l * x; vy' = l * y - 9.81; x^2 + y^2 = 1;"
        angle = math.asin(0.6)
        for boundary, speed in [("x(0) = 0.6; y(0) ~ -1; vx(0) = 0.4;", 0.5), ("x(0) = 0.6; y(0) ~ -1; y'(0) = 0.3;", 0.5),
                                ("x(0) = 0.6; y(0) = -0.8; vx(0) = 0; vy(0) = 0;", 0)]:
            at, _ = swing(angle, speed, 1)
            self.ends_at("boundary " + boundary + system, {"x": math.sin(at), "y": -math.cos(at)})


class Jumps(ConstraintsTest):
    def test_a_lost_jump_is_told_and_a_ramp_is_not_lost(self):
        text = "boundary q(0) = 0; system u = {}; i = u'; q' = i;"
        self.assertIn("S023", self.tactus(text.format("if t < 1 then 0 else 1"), "check").stderr)
        steep = text.format("clamp((t - 1) / 0.01, 0, 1)")
        self.assertNotIn("S023", self.tactus(steep, "check").stderr)
        self.assertAlmostEqual(self.run_json(steep, "--until", 2, "--tolerance", "1e-9")["values"]["q"], 1, delta=1e-7)


class Potentials(ConstraintsTest):
    def test_force_of_a_potential_that_has_a_name(self):
        for system in ["V = 2 * x^2; x'' = -diff(V, x);", "x'' = -diff(V, x); V = U + 0 * t; U = w^2 / 2; w = 2 * x;",
                       "L = T - V; T = v^2 / 2; v = x'; 2 * x^2 = V; p = diff(L, v); x'' = diff(L, x);",
                       "p' = -diff(H, x); x' = diff(H, p); H = p^2 / 2 + V; V = 2 * x^2;"]:
            boundary = "boundary x(0) = 1; " + ("p(0) = 0; " if "p'" in system else "x'(0) = 0; ")
            told = self.run_json(boundary + "system " + system, "--until", 1, "--tolerance", "1e-11")
            self.assertAlmostEqual(told["values"]["x"], math.cos(2), delta=1e-9, msg=system)

    def test_a_bead_on_a_wire_moves_in_both_coordinates(self):
        # y = x^2 / 2 from rest at x = 1: x'' (1 + x^2) = -x (g + x'^2).
        x, _ = rk4(lambda s: [s[1], -s[0] * (G + s[1] ** 2) / (1 + s[0] ** 2)], [1, 0], 1, 20000)
        told = self.run_json("""boundary x(0) = 1, x'(0) = 0, y(0) = 0.5;
            system U = 9.81 * y; y = x^2 / 2; x'' = -diff(U, x) - l * x; y'' = -diff(U, y) + l;""", "--until", 1, "--tolerance", "1e-11")
        self.assertAlmostEqual(told["values"]["x"], x, delta=1e-8)


class Redundant(ConstraintsTest):
    TWICE = """boundary x(0) = 1, y(0) = 0, y'(0) = 0;
    system
      x'' = (l + m) * x;
      y'' = (l + m) * y - 9.81;
      x^2 + y^2 = 1;
      {second};
    """

    def test_the_same_rod_twice_is_one_rod(self):
        told = self.run_json(self.TWICE.format(second="(x^2 + y^2)^2 = 1"), "--until", 2, "--tolerance", "1e-10")
        angle, _ = swing(math.pi / 2, 0, 2)
        self.assertAlmostEqual(told["values"]["x"], math.sin(angle), delta=1e-7)
        self.assertTrue(any("redundant" in note for note in told["notes"]), told["notes"])

    def test_contradicting_rods_are_named(self):
        told = self.run_json(self.TWICE.format(second="(x^2 + y^2)^2 = 2"), "--until", 2, exit_code=4)
        self.assertEqual(told["failure"]["kind"], "no_start")
        self.assertIn(told["failure"]["line"], [5, 6])

    def test_contradicting_constraints_are_both_named(self):
        told = self.run_json(self.TWICE.format(second="2 * x^2 + 2 * y^2 = 3"), "--until", 2, exit_code=4)
        said = told["failure"]["text"] + told["failure"]["hint"]
        self.assertIn("`x^2 + y^2 = 1`", said)
        self.assertIn("`2 * x^2 + 2 * y^2 = 3`", said)

    def test_what_a_step_cannot_keep_is_named(self):
        jump = "boundary x(0) = 0.5; system x' = f; y' = -2 * f; x + y = if t < 1 then 1 else 2;"
        for text, options, name in [(jump, ["--solver", "tsit5"], "x + y = if"), (jump, ["--solver", "rosenbrock"], "x + y = if"),
                                    (jump, ["--step", "0.3"], "x + y = if"),
                                    (PENDULUM.format(boundary=FROM_THE_SIDE), ["--solver", "euler", "--step", "0.3"], "x^2 + y^2")]:
            failure = self.run_json(text, "--until", 5, *options, exit_code=4)["failure"]
            self.assertEqual(failure["kind"], "off_constraints")
            self.assertIn(name, failure["text"], options)
            self.assertEqual(failure["text"].count("x = "), 1, failure["text"])

    def test_the_parallelogram_swings_like_a_pendulum(self):
        text = (ROOT / "examples" / "parallelogram.tact").read_text()
        told = self.run_json(text, "--tolerance", "1e-10")
        angle, _ = swing(math.asin(0.6), 0, 3)
        for got, expected in zip(told["values"]["B"] + told["values"]["C"],
                                 [math.sin(angle), -math.cos(angle), 0, 2 + math.sin(angle), -math.cos(angle), 0]):
            self.assertAlmostEqual(got, expected, delta=1e-7)
        self.assertTrue(any("dot(N - M, N - M)" in note for note in told["notes"]), told["notes"])


class Circuits(ConstraintsTest):
    def test_a_current_through_a_capacitor_may_have_a_name(self):
        # Two equations say what i is, one of them by derivatives: hidden is x + y = t, so y = 1 - exp(-t / 2).
        told = self.run_json("boundary x(0) = 0; y(0) ~ 0;\nsystem i = x' - y'; i = t - x; i = y;\n", "--until", 1, "--tolerance", "1e-10")
        self.assertAlmostEqual(told["values"]["x"], math.exp(-0.5), delta=1e-9)
        self.assertAlmostEqual(told["values"]["i"], 1 - math.exp(-0.5), delta=1e-9)


class Exported(ConstraintsTest):
    def assert_same_rows(self, text):
        """The program of `tactus export c` writes the numbers of `tactus run`, also between steps."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "m.tact"
            path.write_text(text, encoding="utf-8")
            subprocess.run([TACTUS, "export", "c", str(path), "-o", folder], check=True, capture_output=True)
            subprocess.run(["make", "-s", "-C", folder, "CFLAGS=-O1"], check=True)
            there = subprocess.run([f"{folder}/m"], capture_output=True, text=True, check=False)
            here = subprocess.run([TACTUS, "run", str(path), "--out", "-"], capture_output=True, text=True, check=True)
        self.assertEqual(there.returncode, 0, there.stderr)
        rows = [[[float(cell) for cell in line.split(",")] for line in text.splitlines()[1:]] for text in (there.stdout, here.stdout)]
        self.assertGreater(len(rows[0]), 100)
        self.assertEqual(rows[0], rows[1])

    def test_rows_between_steps_lie_on_the_constraints(self):
        for solver in ["tsit5", "rosenbrock"]:
            with self.subTest(solver):
                self.assert_same_rows(f"simulation ending_time = 3 solver = {solver}\n" + PENDULUM.format(boundary=FROM_THE_SIDE))

    def test_a_start_given_for_what_is_no_state(self):
        self.assert_same_rows("simulation ending_time = 1 solver = rosenbrock\nboundary x(0) = 1; E(0) = 3;\n"
                              "system x'' = -x; E = x^2 / 2 + x'^2 / 2;\n")


class Circles(ConstraintsTest):
    def test_definitions_that_ask_for_each_others_derivatives(self):
        # With d = x - u: d' = -2 d / 3, and x + u stays what it was.
        told = self.run_json("boundary x(0) = 1;\nsystem u = x - y; u' = i; x' = -i; y = 3 * i;", "--until", 1, "--tolerance", 1e-10)
        d = math.exp(-2 / 3)
        for name, value in [("u", (1 - d) / 2), ("x", (1 + d) / 2), ("y", d), ("i", d / 3)]:
            self.assertAlmostEqual(told["values"][name], value, delta=1e-8)

    def test_derivatives_that_cancel_by_factors_of_time(self):
        # Brenan, Campbell and Petzold: the difference of the first and of the second's derivative is y2 = exp(-t) - cos(t).
        told = self.run_json("boundary y1(0) ~ 1;\nsystem\n  y1' + 2 * t * y2' + 3 * y2 = exp(-t);\n  y1 + 2 * t * y2 = sin(t);",
                             "--until", 1, "--tolerance", 1e-10)
        y2 = math.exp(-1) - math.cos(1)
        self.assertAlmostEqual(told["values"]["y2"], y2, delta=1e-9)
        self.assertAlmostEqual(told["values"]["y1"], math.sin(1) - 2 * y2, delta=1e-9)

    def test_derivatives_that_cancel_by_a_parameter(self):
        # 2 C (x' + y') cancels, y = x + 1 is left, and then 2 C x' = -x.
        text = "parameter C = 2;\nboundary x(0) = 1;\nsystem\n  C * x' + C * y' = -x;\n  C * x' + C * y' = 1 - y;"
        told = self.run_json(text, "--until", 1, "--set", "C=3", "--tolerance", 1e-10)
        self.assertAlmostEqual(told["values"]["x"], math.exp(-1 / 6), delta=1e-9)

    def test_ties_that_contradict_each_other_end(self):
        # z + u = sin(t) by the first, and then z + u = cos(t): said, instead of differentiated without end.
        text = "system\n  u + y = x;\n  i = u';\n  i = z - y;\n  i = sin(t) - x;\n  z' = x;"
        told = self.run_json(text, exit_code=1)
        self.assertEqual([item["code"] for item in told["diagnostics"] if item["severity"] == "error"], ["S019"])

    def test_numbers_behind_a_contradiction_are_named(self):
        told = self.run_json("system\n  x = 3;\n  x^2 + y^2 = 1;", "--until", 1, exit_code=4)
        self.assertEqual(told["failure"]["equations"], "x^2 + y^2 = 1 with x = 3 (line 2)")
        done = self.tactus("system\n  x = 3;\n  x^2 + y^2 = 1;\n  x'' = l * x;\n  y'' = l * y - 9.81;", "run", exit_code=1)
        self.assertIn("`x` is 3 by this one", done.stderr)

    def test_each_the_derivative_of_the_other(self):
        # b'' = b - t and a = b', from a = a' = 0: a'' = a - 1.
        told = self.run_json("system a = b'; b = a' + t;", "--until", 1, "--tolerance", 1e-10)
        self.assertAlmostEqual(told["values"]["a"], 1 - math.cosh(1), delta=1e-8)


if __name__ == "__main__":
    TACTUS = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
