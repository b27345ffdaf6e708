#!/usr/bin/env python3
"""Modes, jumps, sequences, plans, rest and sliding against closed forms.

    modes_test.py PATH_OF_TACTUS

Times of jumps are held to event_precision (1e-9) and to what the solver's tolerance earns.
"""
import csv
import io
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
TACTUS = sys.argv.pop(1) if len(sys.argv) > 1 else "tactus"
SOLVERS = [["--solver", "tsit5", "--tolerance", "1e-10"], ["--solver", "dop853", "--tolerance", "1e-10"], ["--step", "0.001"],
           ["--solver", "rosenbrock", "--tolerance", "1e-10"]]

BOUNCE = """
simulation ending_time = 6
parameter e = 0.7 in 0..1, g = 9.81;
boundary y with y(0) = 1, y'(0) = 0;
system
  y'' = -g;
  transition Bounce when y <= 0 && y' < 0 { next(y') = -e * y'; }
reactive
  bounces = init n = 0 in { Bounce => n + 1 },
  speed   = init 0 in { Bounce => y' }
"""

ROLL = """
simulation ending_time = 3
constant m = 0.5, r = 0.1, I = 2/5 * m * r^2, g = 9.81;
automaton ball in Flying, Rolling;
boundary p with p(0) = (0, 0.6), p'(0) = (0.7, 0);  w with w(0) = 0;
system
  gap  = p[2] - r;
  slip = p'[1] - r * w;
  m * p'' = (T, N - m * g);
  I * w'  = -r * T;
  in ball.Flying  { N = 0;    T = 0;    }
  in ball.Rolling { gap = 0;  slip = 0; }
  transition Land in ball.Flying when gap <= 0 && gap' < 0 { goto ball.Rolling;  enforce velocities; }
"""


def tactus(text, *words, command="run"):
    with tempfile.NamedTemporaryFile("w", suffix=".tact") as file:
        file.write(text)
        file.flush()
        return subprocess.run([TACTUS, command, file.name, *words], capture_output=True, text=True, timeout=120)


class Worlds(unittest.TestCase):
    def run_model(self, text, *words):
        done = tactus(text, "--json", "--quiet", *words)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def rows(self, text, *words):
        done = tactus(text, "--out", "-", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        table = list(csv.reader(io.StringIO(done.stdout)))
        return [dict(zip(table[0], map(float, row))) for row in table[1:]]

    def times(self, told, name):
        return [event["time"] for event in told["events"] if event["name"] == name]

    def failed(self, text, *words):
        done = tactus(text, "--json", "--quiet", *words)
        self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
        return json.loads(done.stdout)["failure"]

    def refused(self, text, code):
        done = tactus(text, "--json", command="check")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        found = {d["code"]: d for d in json.loads(done.stdout)["diagnostics"]}
        self.assertIn(code, found, found)
        return found[code]


class Modes(Worlds):
    def test_a_plan_of_as_many_numbers_as_there_may_be(self):
        # In half a second each p goes from what was chosen to 2, at the rate 1: 1.5.
        told = self.run_model("""
            simulation ending_time = 1.25
            automaton b in H, F;
            boundary for i in 1..24 { p[i](0) = 0; }
            system
              for i in 1..24 { in b.H { p[i]' = 0; }  in b.F { p[i]' = 1; } }
              event go at 1;
              one[i in 1..24] = 1;
              plan P in b.H when go choose v = one { goto b.F; next(p) = v; } for 0.5 reaching p = 2 * one { goto b.H; }
        """)
        for value in told["values"]["p"]:
            self.assertLess(abs(value - 1.75), 1e-6)

    # --- jumps -----------------------------------------------------------------------------------------------------------

    def bounces(self, count, e=0.7, g=9.81, h=1.0):
        """Times of the first bounces: half a fall, then flights that shorten by e."""
        fall = math.sqrt(2 * h / g)
        times, t = [], fall
        for k in range(count):
            times.append(t)
            t += 2 * fall * e ** (k + 1)
        return times

    def test_bounces_come_when_they_must(self):
        for words in SOLVERS:
            told = self.run_model(BOUNCE, *words)
            for found, expected in zip(self.times(told, "Bounce"), self.bounces(15)):
                self.assertLess(abs(found - expected), 3e-9, words)

    def test_a_ball_comes_to_rest_exactly_and_stays(self):
        fall = math.sqrt(2 / 9.81)
        limit = fall * (1 + 0.7) / (1 - 0.7)
        for words in SOLVERS:
            rows = self.rows(BOUNCE, "--every", "0.1", *words)
            resting = [row for row in rows if row["t"] > limit + 1e-3]
            self.assertGreater(len(resting), 30)
            for row in resting:
                self.assertEqual(row["y"], 0, words)
            self.assertLess(rows[-1]["bounces"], 80)

    def test_rest_ends_when_the_floor_falls_away(self):
        # The floor accelerates downwards faster than the ball falls from t = 4 on.
        text = BOUNCE.replace("y'' = -g;", "y'' = -g + (if t > 4 then 12 else 0);")
        rows = self.rows(text, "--every", "0.5", "--tolerance", "1e-10")
        for row in rows:
            if 3 <= row["t"] <= 4:
                self.assertEqual(row["y"], 0)
        self.assertAlmostEqual(rows[-1]["y"], 0.5 * (12 - 9.81) * 4, delta=1e-6)

    def test_a_jump_is_solved_with_unknowns(self):
        # Two masses collide: momentum and restitution in any form, an impulse of its own.
        text = """simulation ending_time = 2
boundary x(0) = 0, x'(0) = 2, y(0) = 1, y'(0) = 0;
constant m = 3, M = 1, e = 0.5;
system x'' = 0; y'' = 0;
transition Hit when x >= y && x' > y' { unknown J; m * (next(x') - x') = -J; M * (next(y') - y') = J; next(y') - next(x') = e * (x' - y'); }"""
        told = self.run_model(text)["values"]
        v = (3 * 2 - 1 * 0.5 * 2) / 4
        self.assertAlmostEqual(told["x'"], v, delta=1e-12)
        self.assertAlmostEqual(told["y'"], v + 1, delta=1e-12)

    def test_a_nonlinear_reset(self):
        text = """simulation ending_time = 2
boundary x(0) = 0, x'(0) = 1;
system x'' = 0;
transition Slow when x >= 1 && x' > 0.9 { next(x')^3 + next(x') = 0.25 * (x'^3 + x') + 0.125; }"""
        v = self.run_model(text)["values"]["x'"]
        self.assertAlmostEqual(v ** 3 + v, 0.625, delta=1e-12)

    def test_values_after_a_jump_of_what_is_algebraic(self):
        # The energy after the jump is given; the speed follows.
        text = """simulation ending_time = 2
boundary x(0) = 0, x'(0) = 2;
system x'' = 0; H = x'^2 / 2;
transition Lose when x >= 1 && H > 1.5 { unknown s; next(H) = H / 4; next(x') = s * x'; }"""
        self.assertAlmostEqual(self.run_model(text)["values"]["x'"], 1, delta=1e-10)

    # --- modes -----------------------------------------------------------------------------------------------------------

    def test_landing_is_an_impact_along_the_forces(self):
        # Without bounce and skidding: the angular momentum about the point of contact stays, m v r = (m r^2 + I) w: v to 5/7.
        for words in SOLVERS:
            told = self.run_model(ROLL, *words)
            fall = math.sqrt(2 * 0.5 / 9.81)
            self.assertLess(abs(self.times(told, "Land")[0] - fall), 3e-9)
            v = told["values"]["p'"][0]
            self.assertAlmostEqual(v, 0.7 * 5 / 7, delta=1e-9)
            self.assertAlmostEqual(told["values"]["w"], v / 0.1, delta=1e-8)
            self.assertAlmostEqual(told["values"]["N"], 0.5 * 9.81, delta=1e-9)
            self.assertAlmostEqual(told["values"]["p"][0], 0.7 * fall + v * (3 - fall), delta=1e-7)
            self.assertEqual(told["values"]["ball"], 1)

    def test_positions_are_enforced_where_that_is_said(self):
        """A body falls through a hoop of radius 1 and is caught 0.1 outside of it: off the constraint by all of that, and, after the jump, at
        rest at the lowest point."""
        text = """simulation ending_time = 1
automaton body in Free, Caught;
boundary p with p(0) = (0, 0), p'(0) = (0, 0);
system
  p'' = (0, -9.81) + N * p;
  in body.Free   { N = 0; }
  in body.Caught { dot(p, p) = 1; }
  transition Catch in body.Free when dot(p, p) >= 1.21 { goto body.Caught;  enforce velocities;  enforce positions; }"""
        told = self.run_model(text, "--show", "p,N")
        self.assertEqual(told["values"]["p"][0], 0)
        self.assertAlmostEqual(told["values"]["p"][1], -1, delta=1e-15)
        self.assertAlmostEqual(told["values"]["N"], -9.81, delta=1e-9)
        self.assertAlmostEqual(self.times(told, "Catch")[0], math.sqrt(2 * 1.1 / 9.81), delta=3e-9)
        failure = self.failed(text.replace("enforce positions;", ""))
        self.assertEqual(failure["kind"], "off_entry")
        self.assertIn("Catch", failure["text"])

    def test_constraints_hold_in_the_mode_that_has_them(self):
        for row in self.rows(ROLL, "--every", "0.05", "--tolerance", "1e-9"):
            if row["ball"] == 1:
                self.assertLess(abs(row["p[2]"] - 0.1), 1e-14)

    def test_modes_that_say_the_same_share_a_structure(self):
        text = """simulation ending_time = 10.5
automaton a in Up, Down;
boundary x(0) = 0;
system in a.Up { x' = 1; } in a.Down { x' = -2; }
transition Top in a.Up when x >= 1 { goto a.Down; }
transition Bottom in a.Down when x <= 0 { goto a.Up; }"""
        told = self.run_model(text)
        self.assertEqual(len(self.times(told, "Top")), 7)
        for k, t in enumerate(self.times(told, "Top")):
            self.assertAlmostEqual(t, 1 + 1.5 * k, delta=3e-9)
        shown = tactus(text, "--dump=modes", command="explain").stdout
        self.assertEqual(shown.count("structure"), 1, shown)

    def test_a_state_of_the_new_mode_takes_what_its_name_was(self):
        # Carried on a circle, let go: position and velocity follow from what they were, algebraic both.
        text = """simulation ending_time = 2 tolerance = 1e-10
automaton ball in Held, Free;
system
  hand = (cos(3 * t), sin(3 * t));
  in ball.Held { p = hand; }
  in ball.Free { p'' = (0, 0); }
  transition Release in ball.Held when t >= 1 { goto ball.Free; }"""
        p = self.run_model(text)["values"]["p"]
        self.assertAlmostEqual(p[0], math.cos(3) - 3 * math.sin(3), delta=1e-7)
        self.assertAlmostEqual(p[1], math.sin(3) + 3 * math.cos(3), delta=1e-7)

    def test_the_first_mode_is_chosen_by_the_start(self):
        text = """simulation ending_time = 1
automaton a in Low, High from High when x > 2;
boundary x(0) = {};
system in a.Low {{ x' = 1; }} in a.High {{ x' = -1; }}"""
        self.assertEqual(self.run_model(text.format(3))["values"]["x"], 2)
        self.assertEqual(self.run_model(text.format(1))["values"]["x"], 2)

    def test_a_mode_that_only_exists_elsewhere_is_nan(self):
        rows = self.rows("""simulation ending_time = 2
automaton a in One, Two;
boundary x(0) = 0;
system x' = 1; in a.Two { y = 2 * x; } transition Go in a.One when x >= 1 { goto a.Two; }""", "--every", "0.5", "--show", "x,y")
        self.assertTrue(math.isnan(rows[0]["y"]))
        self.assertEqual(rows[-1]["y"], 4)

    # --- require, expect, stop -------------------------------------------------------------------------------------------

    def test_a_requirement_that_breaks_is_located(self):
        failure = self.failed("simulation ending_time = 5 boundary x(0) = 0; system x' = 1; require x < 2 else \"too far\";")
        self.assertEqual(failure["kind"], "breached")
        self.assertAlmostEqual(failure["time"], 2, delta=3e-9)
        self.assertIn("too far", failure["text"])

    def test_stop_ends_well(self):
        told = self.run_model("simulation ending_time = 5 boundary x(0) = 0; system x' = 1; stop when x >= 2 \"there\";")
        self.assertEqual(told["status"], "stopped")
        self.assertAlmostEqual(told["time"], 2, delta=3e-9)

    # --- sequences and plans ---------------------------------------------------------------------------------------------

    def test_phases_follow_each_other(self):
        text = """simulation ending_time = 10
automaton arm in Rest, Turn, Hold;
boundary angle with angle(0) = 0.25;
system
  in arm.Turn { angle' = 0.5; }
  in !arm.Turn { angle' = 0; }
  event go at 1;
  sequence Wave in arm.Rest when go { goto arm.Turn; }
    until angle >= at(start, angle) + 1 { goto arm.Hold; }
    until since(phase1) >= 1.5          { goto arm.Rest; }"""
        told = self.run_model(text)
        self.assertAlmostEqual(told["values"]["angle"], 1.25, delta=1e-8)
        self.assertAlmostEqual(self.times(told, "Wave")[0], 1, delta=1e-12)
        self.assertAlmostEqual(self.times(told, "Wave.phase1")[0], 3, delta=3e-9)
        self.assertAlmostEqual(self.times(told, "Wave.phase2")[0], 4.5, delta=6e-9)

    PLAN = """simulation ending_time = 4 tolerance = 1e-10
automaton ball in Held, Thrown;
boundary p with p(0) = (0, 0);
system
  in ball.Held   { p' = (0, 0); }
  in ball.Thrown { p'' = (0, -9.81); }
  event go at 1;
  plan Throw in ball.Held when go
    choose v = (1, 1) { goto ball.Thrown;  next(p') = v; }
    for 1.5 reaching p = (6, 1) { goto ball.Held; }"""

    def test_a_plan_hits_its_target(self):
        for words in [*SOLVERS[:3], ["--solver", "cvode"]]:  # the search has a solver of its own
            told = self.run_model(self.PLAN, *words)
            p = told["values"]["p"]
            self.assertAlmostEqual(p[0], 6, delta=1e-6)
            self.assertAlmostEqual(p[1], 1, delta=1e-6)
            self.assertAlmostEqual(self.times(told, "Throw.phase1")[0], 2.5, delta=3e-9)

    def test_a_plan_that_cannot_be_is_told(self):
        text = self.PLAN.replace("p = (6, 1)", "p[1]^2 = -1, p[2] = 1")
        failure = self.failed(text)
        self.assertEqual(failure["kind"], "no_plan")
        self.assertRegex(failure["text"], r"^at t = 1, the plan `Throw` \(line \d+\) found no values for `v` with which its targets are "
                                          r"reached\n  nearest: v\[1\] = \S+, v\[2\] = \S+; the targets, in their order, are then off by "
                                          r"1(\.\d+)?, \S+\n  in `ball\.Held`")
        self.assertEqual(failure["hint"], "begin the search nearer to a solution: the values behind `choose` are where it begins; or "
                                          "say what happens then: `else { .. }`, and the run goes on")
        told = self.run_model(text + " else { }")
        self.assertEqual(told["values"]["p"], [0, 0])
        self.assertEqual(len(self.times(told, "Throw.failed")), 1)

    # --- sliding ---------------------------------------------------------------------------------------------------------

    def test_dry_friction_sticks_and_lets_go(self):
        text = """simulation ending_time = 4
boundary x(0) = 0, v(0) = 1;
system x' = v; v' = -0.5 * sign(v) + (if t > 3 then 1 else 0);"""
        for words in SOLVERS:
            rows = self.rows(text, "--every", "0.25", *words)
            for row in rows:
                if 2.2 < row["t"] < 2.9:
                    self.assertLess(abs(row["v"]), 1e-12, words)
                    self.assertAlmostEqual(row["x"], 1, delta=1e-7)
            self.assertAlmostEqual(rows[-1]["x"], 1.25, delta=1e-6)

    def test_friction_that_holds_is_what_the_other_forces_ask_for(self):
        # v = 0.5 - 0.7 t + 0.15 t^2 until it stands still; it is let go when the pull is 0.7. Steps of tsit5 are longer than the rows are apart, so
        # that rows inside the last part before the friction lets go are among them.
        text = """simulation ending_time = 4
boundary x(0) = 0, v(0) = 0.5;
system x' = v;  pull = 0.3 * t;  rub = -0.7 * sign(v);  v' = pull + rub;  a = v';  both = (rub, 2 * rub + 1);"""
        stands, leaves = (0.7 - math.sqrt(0.49 - 0.3)) / 0.3, 0.7 / 0.3
        for words in [*SOLVERS, ["--solver", "cvode"], ["--solver", "tsit5", "--step", "0.5"]]:
            held = 0
            for row in self.rows(text, "--every", "0.01", *words):
                t = row["t"]
                holds = stands + 1e-6 < t < leaves - 1e-6
                held += holds
                rub = -row["pull"] if holds else -0.7
                self.assertAlmostEqual(row["rub"], rub, delta=1e-9, msg=f"{words} at {t}")
                self.assertAlmostEqual(row["a"], row["pull"] + rub, delta=1e-9)
                self.assertAlmostEqual(row["both[2]"], 2 * rub + 1, delta=1e-9)
            self.assertEqual(held, 145)

    def test_friction_whose_value_reaches_a_root_sticks(self):
        text = """simulation ending_time = 4
boundary v(0) = 0.5;
system rub = -0.7 * sign(v);  v' = rub + 0.3 * t;  spent = integration(norm((rub, 1)));"""
        for words in SOLVERS:
            for row in self.rows(text, "--every", "0.05", *words):
                if 0.9 < row["t"] < 2.3:
                    self.assertLess(abs(row["v"]), 1e-10, words)
                    self.assertAlmostEqual(row["rub"], -0.3 * row["t"], delta=1e-9)

    def test_equal_blocks_stick_each_for_itself(self):
        # Both velocities are the same until they are 0, and yet two surfaces; the second is pulled harder, but not hard enough.
        text = """simulation ending_time = 5
boundary v(0) = (0.2, 0.2);
system rub = -0.7 * sign(v);  pull = (0.1, 0.1 + 0.2 * max(t - 1, 0));  v' = rub + pull;"""
        for words in SOLVERS:
            for row in self.rows(text, "--every", "0.1", *words):
                if 0.4 < row["t"] < 3.9:
                    self.assertLess(max(abs(row["v[1]"]), abs(row["v[2]"])), 1e-10, words)  # rosenbrock between its steps; else rounding
                    self.assertAlmostEqual(row["rub[2]"], -row["pull[2]"], delta=1e-9)
            self.assertAlmostEqual(row["v[1]"], 0, delta=1e-12)
            self.assertAlmostEqual(row["v[2]"], 0.1, delta=1e-6)  # from t = 4 on, 0.2 (t - 4)

    def test_friction_beside_modes_that_take_turns(self):
        # The modes slide first, and then the friction holds from below.
        text = """simulation ending_time = 3
automaton h in On, Off;
boundary T(0) = 19.9, v(0) = -0.6;
system T' = (if h.On then 2 else 0) - 0.5;  rub = -0.7 * sign(v);  v' = rub + 0.2;
transition TOff in h.On when T >= 20 { goto h.Off; }
transition TOn in h.Off when T < 20 { goto h.On; }"""
        for words in SOLVERS:
            for row in self.rows(text, "--every", "0.1", *words):
                self.assertAlmostEqual(row["rub"], 0.7 if row["t"] < 0.6 / 0.9 else -0.2, delta=1e-9)

    def test_a_delay_of_friction_that_lets_go(self):
        # Several jumps of the past at one instant: time stood still where they were looked back at.
        text = """simulation ending_time = 4
boundary v(0) = 0.5, W(0) = 0;
system pull = 0.3 * t;  rub = -0.7 * sign(v);  v' = pull + rub;  W' = delay(rub, 0.4);
check c: rub < 0.71;"""
        self.assertAlmostEqual(self.run_model(text)["values"]["v"], 0.15 * (4 - 0.7 / 0.3) ** 2, delta=1e-6)

    def test_two_blocks_stick_at_once(self):
        # Two blocks with dry friction on two floors, joined by a spring too weak to move either: both rest.
        text = """simulation ending_time = 10 tolerance = 1e-9
boundary x(0) = 0, v(0) = 1, y(0) = 1, w(0) = -0.7;
system x' = v; y' = w;
  v' = -2 * sign(v) + 0.5 * (y - x - 1);
  w' = -2 * sign(w) - 0.5 * (y - x - 1);"""
        told = self.run_model(text)["values"]
        self.assertLess(abs(told["v"]), 1e-10)
        self.assertLess(abs(told["w"]), 1e-10)
        self.assertLess(told["x"], 0.3)

    # --- two surfaces at once, and points in which switching accumulates ---------------------------------------------------

    FULLER = """simulation ending_time = 8
constant C = 0.4446236;
boundary x(0) = 1, v(0) = 0;
system
  x' = v;
  v' = u + push;
  push = if t > 6 then 1.5 else if t > 4 then 0.3 else 0;
  u = -sign(x + C * v * abs(v));"""

    FULLER_BY_MODES = """simulation ending_time = 4
constant C = 0.4446236;
automaton drive in Forth, Back;
boundary x(0) = 1, v(0) = 0;
system
  x' = v;
  v' = if drive.Forth then 1 else -1;
  s = x + C * v * abs(v);
  transition ToBack  in drive.Forth when s > 0 { goto drive.Back; }
  transition ToForth in drive.Back  when s < 0 { goto drive.Forth; }
reactive
  last = init 0 in { ToBack => t, ToForth => t }"""

    def fuller_limit(self):
        """Between two switchings the speed v becomes k v and the time is (1 + k) v: sums of geometric series."""
        c = 0.4446236
        k = math.sqrt((1 - 2 * c) / (1 + 2 * c))
        first = 1 / math.sqrt(c + 0.5)
        return first * (1 + (1 + k) / (1 - k))

    def test_switching_that_accumulates_in_a_point_ends_there(self):
        # Fuller's problem: infinitely many switchings until the origin is reached, which the control then holds against a push less
        # than its own.
        limit = self.fuller_limit()
        for words in SOLVERS:
            done = tactus(self.FULLER, "--every", "0.25", "--out", "-", *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            told = [float(word) for line in done.stderr.splitlines() if "changes to and fro" in line
                    for word in line.split("by t = ")[1].split()[:1]]
            self.assertEqual(len(told), 1, done.stderr)
            self.assertGreater(told[0], limit - 1e-6)
            self.assertLess(told[0], limit + 0.25)  # fixed steps tell where a row is made
            table = list(csv.reader(io.StringIO(done.stdout)))
            for row in (dict(zip(table[0], map(float, line))) for line in table[1:]):
                t = row["t"]
                if limit + 0.01 < t <= 4:
                    self.assertEqual((row["x"], row["v"]), (0, 0), words)
                if limit + 0.01 < t <= 6:
                    self.assertLess(abs(row["x"]) + abs(row["v"]), 1e-9, words)
                if t > 6:
                    self.assertAlmostEqual(row["x"], 0.25 * (t - 6) ** 2, delta=1e-6)

    def test_modes_that_accumulate_in_a_point_rest_there(self):
        for words in SOLVERS:
            told = self.run_model(self.FULLER_BY_MODES, *words)
            self.assertAlmostEqual(told["values"]["last"], self.fuller_limit(), delta=1e-6)
            self.assertLess(abs(told["values"]["x"]), 1e-12, words)
            self.assertLess(abs(told["values"]["v"]), 1e-7, words)
            self.assertTrue(any("without end" in note for note in told["notes"]), told["notes"])

    TANKS = """simulation ending_time = 14
parameter more = 0 in 0..2;
constant a = 0.5, b = 0.4;
automaton pipe in First, Second;
boundary x(0) = 0.3, y(0) = 0.5;
system
  w = 0.6 + (if t > 10 then more else 0);
  x' = (if pipe.First then w else 0) - a;
  y' = (if pipe.Second then w else 0) - b;
  transition ToFirst  in pipe.Second when x <= 0 { goto pipe.First; }
  transition ToSecond in pipe.First  when y <= 0 { goto pipe.Second; }
reactive
  last = init 0 in { ToFirst => t, ToSecond => t }"""

    def test_two_tanks_run_dry_at_once_and_stay_so(self):
        # What flows out of both in all, less what flows in, empties them at t = (x(0) + y(0)) / (a + b - w), by ever faster switching.
        limit = 0.8 / 0.3
        for words in SOLVERS:
            told = self.run_model(self.TANKS, *words)
            self.assertAlmostEqual(told["values"]["last"], limit, delta=3e-8)
            self.assertEqual((told["values"]["x"], told["values"]["y"]), (0, 0), words)
            self.assertTrue(any("without end" in note for note in told["notes"]), told["notes"])
            for row in self.rows(self.TANKS, "--every", "0.1", *words):
                if row["t"] < limit:  # nothing is lost before
                    self.assertAlmostEqual(row["x"] + row["y"], 0.8 - 0.3 * row["t"], delta=1e-8)
                elif row["t"] > limit + 0.01:
                    self.assertEqual((row["x"], row["y"]), (0, 0), words)

    def test_tanks_that_ran_dry_fill_again(self):
        # From t = 10 on more flows in than out: w - a - b = 0.2, whichever tank it goes to.
        for words in SOLVERS:
            for row in self.rows(self.TANKS, "--set", "more=0.5", "--every", "0.5", *words):
                if 3 < row["t"] <= 10:
                    self.assertEqual((row["x"], row["y"]), (0, 0), words)
                if row["t"] > 10.1:
                    self.assertAlmostEqual(row["x"] + row["y"], 0.2 * (row["t"] - 10), delta=1e-6)
                    self.assertGreater(min(row["x"], row["y"]), -1e-7)

    def test_modes_without_hysteresis_slide(self):
        # A heater that is off above 20 and on below: on the average it gives what is lost. From t = 3 on that is more than it has.
        text = """simulation ending_time = 5
automaton heater in On, Off;
boundary T(0) = 18, used(0) = 0;
system
  loss = if t > 3 then 3 else 0.5;
  given = if heater.On then 2 else 0;
  T' = given - loss;
  used' = given;
  transition TurnOff in heater.On  when T >= 20 { goto heater.Off; }
  transition TurnOn  in heater.Off when T < 20  { goto heater.On; }"""
        for words in SOLVERS:
            rows = self.rows(text, "--every", "0.1", *words)
            for row in rows:
                if 1.4 < row["t"] <= 3:
                    self.assertAlmostEqual(row["T"], 20, delta=1e-7)
                    self.assertAlmostEqual(row["used"], 2 * 4 / 3 + 0.5 * (row["t"] - 4 / 3), delta=1e-6)
                    if row["t"] < 2.95:
                        self.assertAlmostEqual(row["given"], 0.5, delta=1e-9)
                    self.assertIn(row["heater"], (0, 1))
            self.assertAlmostEqual(rows[-1]["T"], 18, delta=1e-6)
            told = self.run_model(text, *words)
            self.assertTrue(any("to and fro" in note for note in told["notes"]), told["notes"])

    # --- what is wrong ---------------------------------------------------------------------------------------------------

    def test_two_that_disagree_are_named(self):
        failure = self.failed("""simulation ending_time = 5
boundary x(0) = 0;
system x' = 1;
transition One when x > 1 { next(x) = 0; }
transition Two when x > 1 { next(x) = -1; }""")
        self.assertEqual(failure["kind"], "conflict")
        self.assertEqual(failure["line"], 4)
        self.assertRegex(failure["text"], r"^at t = 1\.0\d*, the transitions `One` \(line 4\) and `Two` \(line 5\) are both enabled and "
                                          r"disagree\n  the state then: x = 1\.0\d*$")
        self.assertEqual(failure["hint"], "let their guards exclude each other: `tactus check` shows where both hold")

    def test_a_cycle_at_one_instant_is_told(self):
        failure = self.failed("""simulation ending_time = 5
automaton a in One, Two;
boundary x(0) = 0;
system x' = 1;
transition There in a.One when x > 1 { goto a.Two; }
transition Back in a.Two when x > 1 { goto a.One; }""")
        self.assertEqual(failure["kind"], "endless_events")
        self.assertIn("`There` (line 5) -> `Back` (line 6) -> `There`", failure["text"])

    def test_a_longer_cycle_shows_its_chain_and_nothing_before_it(self):
        """Two structures, a way in that is no part of the cycle, and a jump that changes a state on the way round."""
        failure = self.failed("""simulation ending_time = 5
automaton a in Start, One, Two, Three;
boundary x(0) = 0, n(0) = 0, y(0) = 1, y'(0) = 0;
system
  x' = 1;
  n' = 0;
  in a.Two { y = x; }
  in !a.Two { y'' = -1; }
  transition In   in a.Start when x > 1 { goto a.One; }
  transition Up   in a.One   when x > 1 { goto a.Two; }
  transition Over in a.Two   when x > 1 { goto a.Three;  next(n) = 1 - n; }
  transition Down in a.Three when x > 1 { goto a.One; }""")
        self.assertEqual(failure["kind"], "endless_events")
        self.assertEqual(failure["line"], 10)
        self.assertIn("`Up` (line 10) -> `Over` (line 11) -> `Down` (line 12) -> `Up`", failure["text"])
        self.assertNotIn("`In`", failure["text"])

    def test_a_jump_off_a_constraint_is_told(self):
        failure = self.failed(ROLL.replace("enforce velocities;", ""))
        self.assertEqual(failure["kind"], "off_entry")
        self.assertIn("Land", failure["text"])

    def test_an_event_moves_each_automaton_once(self):
        text = """simulation ending_time = 3.5
event tick every 1 from 1;
automaton light in Red, Green, Amber;  automaton walk in Stop, Go;
boundary v(0) = 0;
system
  v' = 0;
  transition A in light.Red   when tick { goto light.Green; }
  transition B in light.Green when tick { goto light.Amber; }
  transition C in light.Amber when tick { goto light.Red; }
  transition D in walk.Stop   when tick { goto walk.Go; }
  transition E in walk.Go     when tick { goto walk.Stop; }
  transition K when tick { next(v) = v + 1; }"""
        rows = [(row["light"], row["walk"], row["v"]) for row in self.rows(text, "--every", "0.5")]
        self.assertEqual(rows[1::2], [(0, 0, 0), (1, 1, 1), (2, 0, 2), (0, 1, 3)])

    def test_a_name_set_to_a_number_is_a_constraint_of_its_mode(self):
        text = """simulation ending_time = 2 step_size = 0.01
automaton b in Fly, Rest;
boundary p(0) = (0, 1), p'(0) = (1, 0);
system
  p'' = (0, N - 9.81);
  in b.Fly { N = 0; }
  in b.Rest { p[2] = 0; }
  transition Land in b.Fly when p[2] <= 0 && p'[2] < 0 { goto b.Rest; }"""
        failure = self.failed(text)
        self.assertEqual(failure["kind"], "off_entry")
        self.assertIn("`p'[2] = 0` (line 7)", failure["text"])
        values = self.run_model(text.replace("goto b.Rest;", "goto b.Rest; enforce velocities;"))["values"]
        for found, expected in zip(values["p"] + values["p'"] + [values["N"]], (2, 0, 1, 0, 9.81)):
            self.assertAlmostEqual(found, expected, delta=1e-12)

    def test_an_impulse_goes_through_friction(self):
        # The ground's impulse L = v stops the fall; friction takes mu L of the motion along it and turns a wheel by as much.
        text = """simulation ending_time = 1
automaton b in Fly, Slide;
constant mu = 0.1;
boundary p(0) = (0, 1), p'(0) = (5, 0), w(0) = 0;
system
  p'' = (T, N - 9.81);
  w'  = 3 * T;
  in b.Fly   { N = 0;  T = 0; }
  in b.Slide { p[2] = 0;  T = -mu * N; }
  transition Land in b.Fly when p[2] <= 0 && p'[2] < 0 { goto b.Slide;  enforce velocities; }"""
        values = self.run_model(text + "\nstop when b.Slide;")["values"]
        fall = math.sqrt(2 * 9.81)
        self.assertAlmostEqual(values["p'"][0], 5 - 0.1 * fall, delta=1e-6)
        self.assertAlmostEqual(values["p'"][1], 0, delta=1e-12)
        self.assertAlmostEqual(values["w"], -3 * 0.1 * fall, delta=1e-6)

    def test_a_reset_one_equation_short(self):
        told = self.refused("boundary x(0) = 0, x'(0) = 0, y(0) = 0, y'(0) = 0; system x'' = -1; y'' = -1; "
                            "transition T when x < 0 { next(x') + next(y') = 1; }", "J001")
        self.assertEqual(told["text"], "no equation of `T` determines `next(y')`")
        self.assertEqual(told["hints"], ["it has 1 equation for 2 unknowns: `next(x')`, `next(y')`",
                                         "add an equation for it; or, where it does not change, `keep y';`"])

    def test_a_mode_that_there_is_not(self):
        told = self.refused("automaton ball in Flying, Rolling; boundary x(0) = 0; system x' = 1; "
                            "transition Land in ball.Flying when x > 1 { goto ball.Rollin; }", "E014")
        self.assertEqual(told["text"], "the automaton `ball` has no mode `Rollin`")
        self.assertEqual(told["hints"], ["did you mean `ball.Rolling`?", "its modes are `Flying`, `Rolling`"])

    def test_a_reset_with_one_too_many(self):
        self.refused("boundary x(0) = 0, x'(0) = 0; system x'' = -1; "
                     "transition T when x < 0 { next(x') = 1; next(x') = 2; }", "J002")

    def test_a_state_without_a_value(self):
        self.refused("automaton a in One, Two; boundary x(0) = 0; system x' = 1; in a.Two { y'' = -1; } "
                     "transition T in a.One when x > 1 { goto a.Two; }", "J003")

    def test_velocities_without_forces(self):
        self.refused("automaton a in One, Two; boundary x(0) = 0, x'(0) = 0; system in a.One { x'' = -1; } in a.Two { x = 0; } "
                     "transition T in a.One when x < 0 { goto a.Two; enforce velocities; }", "J004")


class Rest(Worlds):
    """Jumps that repeat, rest on surfaces that move, and what cannot be held."""
    def test_a_jump_that_repeats_at_one_instant_is_no_accumulation(self):
        wrap = """simulation ending_time = 3
boundary a(0) = 0.3, w(0) = 0.1;
system
  a' = w; w' = 0;
  transition Kick when t >= 1 && w < 0.15 { next(w) = 0.2; next(a) = a + 7; }
  transition Wrap when a >= 1 { next(a) = a - 1; }"""
        count = """simulation ending_time = 3
boundary x(0) = 0, n(0) = 0;
system
  x' = 1; n' = 0;
  transition T when x > 1 && n < 5.5 { next(n) = n + 1; }"""
        change = """simulation ending_time = 3
boundary owed(0) = 0, x(0) = 0;
system
  x' = 1;  owed' = 0;
  transition Note when owed >= 7 { next(owed) = owed - 7; }
  transition Bill when x >= 1 { next(owed) = 100; next(x) = -100; }"""
        for words in SOLVERS:
            told = self.run_model(wrap, *words)
            self.assertAlmostEqual(told["values"]["a"], 0.8, delta=1e-8)
            self.assertEqual(told["notes"], [])
            self.assertEqual(self.run_model(count, *words)["values"]["n"], 6)
            self.assertEqual(self.run_model(change, *words)["values"]["owed"], 100 % 7)

    def test_at_rest_the_reaction_follows_the_surface(self):
        # A bead in a bowl: once at rest on it, it swings, and its energy stays.
        text = """simulation ending_time = 10 step_size = 0.005
boundary p(0) = (0.5, 0), p'(0) = (0, 0);
system
  gap = 1 - norm(p);
  n = -p / norm(p);
  p'' = (0, -9.81);
  E = dot(p', p') / 2 + 9.81 * p[2];
  transition Hit when gap <= 0 && gap' < 0 { unknown J; next(p') = p' + J * n; next(gap') = -0.3 * gap'; }"""
        for words in [["--step", "0.005"], ["--solver", "dop853", "--tolerance", "1e-10"]]:
            rows = [row for row in self.rows(text, "--every", "0.05", *words) if row["t"] > 0.7]
            for row in rows:
                self.assertLess(abs(row["gap"]), 1e-7, words)
                self.assertAlmostEqual(row["E"], rows[0]["E"], delta=1e-6)

    def test_a_kink_of_the_surface_is_an_impact_or_ends_the_rest(self):
        # A floor that turns about the origin from t = 4 to 4.3. Impacts with e = 0.4 until 4.2424706, then it slides on the turning floor; when
        # that stops, it flies off with the speed it has across it: from there in closed form, for bounces leave what is along the floor alone.
        # The motion before was computed with a program of its own.
        text = """simulation ending_time = 8 step_size = 0.01
boundary p(0) = (0, 1), p'(0) = (0.5, 0);
system
  a = clamp((t - 4) / 1, 0, 0.3);
  n = (-sin(a), cos(a));
  gap = dot(p, n);
  vn = dot(p', n) + dot(p, n');
  p'' = (0, -9.81);
  transition Hit when gap <= 0 && vn < 0 { unknown J; next(p') = p' + J * n; dot(next(p'), n) + dot(p, n') = -0.4 * vn; }"""
        for words in [["--step", "0.01"], ["--solver", "dop853", "--tolerance", "1e-10"]]:
            told = self.run_model(text, *words)
            self.assertLess(abs(told["values"]["gap"]), 1e-12, words)
            for found, expected in zip(told["values"]["p"], (-14.406581011, -4.456477740)):
                self.assertAlmostEqual(found, expected, delta=3e-7)
            times = [float(note.split("by t = ")[1].split()[0]) for note in told["notes"] if "by t = " in note]
            expected = [1.0535551621, 4, 4.2424706379, 4.3, 5.0842627930]
            self.assertEqual(len(times), len(expected), told["notes"])
            for found, right in zip(times, expected):
                self.assertAlmostEqual(found, right, delta=2e-7)

    def test_rest_on_a_table_that_tilts(self):
        # a = t^2 / 50: s'' = s a'^2 - g sin a along it, integrated by itself from where the bounces end.
        text = """simulation ending_time = 5.5 step_size = 0.01
boundary p(0) = (0, 1), p'(0) = (0.5, 0);
system
  a = 0.02 * t^2;
  n = (-sin(a), cos(a));
  gap = dot(p, n);
  s = dot(p, (cos(a), sin(a)));
  v = s';
  p'' = (0, -9.81);
  transition Hit when gap <= 0 && gap' < 0 { unknown J; next(p') = p' + J * n; next(gap') = -0.4 * gap'; }"""
        rows = [row for row in self.rows(text, "--every", "0.1", "--show", "s", "--show", "v", "--show", "gap") if row["t"] > 1.15]
        self.assertLess(max(abs(row["gap"]) for row in rows), 1e-10)
        t, s, v = rows[0]["t"], rows[0]["s"], rows[0]["v"]
        steps = 4000
        h = (rows[-1]["t"] - t) / steps
        force = lambda t, s: s * (0.04 * t) ** 2 - 9.81 * math.sin(0.02 * t * t)
        for _ in range(steps):
            k1, l1 = force(t, s), v
            k2, l2 = force(t + h / 2, s + h / 2 * l1), v + h / 2 * k1
            k3, l3 = force(t + h / 2, s + h / 2 * l2), v + h / 2 * k2
            k4, l4 = force(t + h, s + h * l3), v + h * k3
            s, v, t = s + h / 6 * (l1 + 2 * l2 + 2 * l3 + l4), v + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), t + h
        self.assertAlmostEqual(rows[-1]["s"], s, delta=1e-7)

    def test_what_jumps_change_without_an_approach(self):
        # A count stays finite; a spin of which each bounce takes a half is gone when there have been infinitely many.
        text = BOUNCE.replace("boundary y", "boundary n(0) = 0, w(0) = 5; y").replace("y'' = -g;", "y'' = -g; n' = 0; w' = 0;").replace(
            "-e * y';", "-e * y'; next(n) = n + 1; next(w) = w / 2;")
        for words in SOLVERS:
            told = self.run_model(text, *words)["values"]
            self.assertEqual(told["y"], 0)
            self.assertTrue(30 < told["n"] < 80, told)
            self.assertLess(abs(told["w"]), 1e-8)

    def test_notes_tell_when_it_happened(self):
        text = """simulation ending_time = 10 step_size = 0.01
boundary a(0) = 1, a'(0) = 0;
system
  F = if t < 5 then 0 else (t - 5) * 4;
  a'' = -9.81 + F;
  transition Floor when a <= 0 && a' < 0 { next(a') = -0.5*a'; }"""
        for words in [[], ["--every", "0.1", "--out", "-"]]:
            done = tactus(text, *words)
            found = [float(line.split("by t = ")[1].split()[0]) for line in done.stderr.splitlines() if "by t = " in line]
            self.assertEqual(len(found), 2, done.stderr)
            self.assertAlmostEqual(found[0], 3 * math.sqrt(2 / 9.81), delta=1e-6)
            self.assertAlmostEqual(found[1], 5 + 9.81 / 4, delta=1e-8)

    def test_solvers_that_keep_energy_slide_as_well(self):
        # A block slides up a slope, v^2 / 2 = (g sin a + mu g cos a) x, and is held there.
        text = """simulation ending_time = 5 step_size = 0.01
constant g = 9.81, a = 0.2, mu = 0.5;
boundary x(0) = 0, p(0) = 1;
system
  x' = p; p' = -g*sin(a) - mu*g*cos(a)*sign(p);
  energy H = p^2/2 + g*sin(a)*x;
check always(book.invented < 1e-12);"""
        for solver in ("discrete_gradient", "midpoint", "rk4"):
            told = self.run_model(text, "--solver", solver)["values"]
            self.assertAlmostEqual(told["x"], 0.5 / (9.81 * (math.sin(0.2) + 0.5 * math.cos(0.2))), delta=1e-9)
            self.assertLess(abs(told["p"]), 1e-12)

    def test_many_surfaces_at_once(self):
        balls = """simulation ending_time = 10
module Ball = ( ports y; parameter h = 1; boundary y(0) = h; y'(0) = 0; system y'' = -9.81;
  transition B when y <= 0 && y' < 0 { next(y') = -0.5*y'; } )
system b[i in 1..8] = Ball(h = i / 4);"""
        joints = """simulation ending_time = 5
module Joint = ( ports v; parameter mu = 1; boundary v(0) = 1; system v' = -mu * sign(v); )
system j[i in 1..%d] = Joint(mu = i / 2);"""
        told = self.run_model(balls)["values"]
        self.assertEqual([told["b[%d].y" % i] for i in range(1, 9)], [0] * 8)
        told = self.run_model(joints % 32)["values"]
        self.assertEqual([told["j[%d].v" % i] for i in range(1, 33)], [0] * 32)
        done = tactus(joints % 33)
        self.assertEqual(done.returncode, 4)
        self.assertIn("at most 32 surfaces", done.stderr)

    def test_walls_that_cross(self):
        done = tactus("""simulation ending_time = 2
boundary x(0) = 0.5, x'(0) = 1;
system
  x'' = 0;
  c = 1 - t;
  transition Low when x <= 0 && x' < 0 { next(x') = -x'; }
  transition Top when x >= c && x' > c' { next(x') = 2*c' - x'; }""")
        self.assertEqual(done.returncode, 4)
        self.assertIn("`Low`", done.stderr)

    def test_switchings_that_accumulate_slowly(self):
        for c in (0.49, 0.35, 0.2, 0.1):
            text = "simulation ending_time = 30 boundary x(0) = 1, v(0) = 0; system x' = v; v' = -sign(x + %g*v*abs(v));" % c
            told = self.run_model(text)
            self.assertEqual((told["values"]["x"], told["values"]["v"]), (0, 0))
            k = math.sqrt((1 - 2 * c) / (1 + 2 * c))
            limit = (1 + (1 + k) / (1 - k)) / math.sqrt(c + 0.5)
            self.assertAlmostEqual(float(told["notes"][0].split("by t = ")[1].split()[0]), limit, delta=1e-4)

    def test_a_slide_that_never_holds_ends_the_run(self):
        done = tactus("simulation ending_time = 10 boundary x(0) = 1, w(0) = 0; "
                      "system x' = -2*sqrt(abs(x))*sign(x) + w + sin(t); w' = -3*sign(x);")
        self.assertEqual(done.returncode, 4)
        self.assertIn("to and fro without end", done.stderr)

    def test_a_jump_that_leaves_everything_as_it_is(self):
        failure = self.failed("""simulation ending_time = 3
boundary x1(0) = 0, v1(0) = 2, x2(0) = 1, v2(0) = 0;
system
  x1' = v1; x2' = v2; v1' = 0; v2' = 0;
  transition Hit when x1 >= x2 && v1 > v2 {
    next(v1) + 3*next(v2) = v1 + 3*v2;
    next(v1)^2 + 3*next(v2)^2 = v1^2 + 3*v2^2;
  }""")
        self.assertIn("leaves everything as it is", json.dumps(failure))


class Bdf(Worlds):
    """cvode has a memory for each structure: a world with modes goes as by any other solver, through rest and release too."""
    def test_between_structures(self):
        text = (ROOT / "examples" / "ball_on_steps.tact").read_text()
        expected = self.run_model(text, "--solver", "dop853", "--tolerance", "1e-10")
        told = self.run_model(text, "--solver", "cvode", "--tolerance", "1e-9")
        self.assertEqual(told["solver"], "cvode")
        self.assertEqual(len(told["events"]), len(expected["events"]))
        # Some ten jumps, each of which starts anew at order 1: errors of some 100 tolerances.
        for a, b in zip(told["values"]["p"], expected["values"]["p"]):
            self.assertAlmostEqual(a, b, delta=1e-6)

    def test_to_rest(self):
        text = (ROOT / "examples" / "bouncing_ball.tact").read_text()
        rows = self.rows(text, "--solver", "cvode", "--tolerance", "1e-8", "--every", "0.01", "--show", "y")
        self.assertEqual(rows[-1]["t"], 10)
        self.assertLess(max(abs(row["y [m]"]) for row in rows if row["t"] > 2.56), 1e-9)  # the bounces accumulate at 2.5586


if __name__ == "__main__":
    unittest.main()
