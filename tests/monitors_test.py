#!/usr/bin/env python3
"""Checks that look ahead, and what jumps promise, watched while a model runs; against closed forms.

    monitors_test.py PATH_OF_TACTUS

A falling ball bounces at t1 = sqrt(2 h / g) for the first time; sin(t) crosses what it crosses at asin. A broken check ends with exit
code 3, and tells when and which.
"""
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest

TACTUS = sys.argv.pop(1) if len(sys.argv) > 1 else "tactus"
PRECISE = 1e-6

WAVE = """
simulation ending_time = 10
boundary x with x(0) = 0, x'(0) = 1;
system
  x'' = -x;
  event tick at 1, 3;
  event high when x > 0.5;
check
"""

BALL = """
simulation ending_time = 3 solver = dop853 tolerance = 1e-11
parameter e = 0.5, g = 9.81;
automaton ball in Fresh, Used;
boundary y with y(0) = 1, y'(0) = 0;
system
  y'' = -g;
  E = y'^2/2 + g*y;
  transition Bounce when y <= 0 && y' < 0 { next(y') = -e * y';  goto ball.Used; }
reactive
  bounces = init n = 0 in { Bounce => n + 1 }
check
"""
FIRST = math.sqrt(2 / 9.81)

SEQUENCE = """
simulation ending_time = 5
automaton arm in Rest, Turn;
boundary angle with angle(0) = 0;  w with w(0) = 0;
system
  in arm.Turn { angle' = w; }
  in arm.Rest { angle' = 0; }
  w' = 0;
  event go at 1;
  sequence Wave in arm.Rest when go { goto arm.Turn;  next(w) = 2;  next(angle) = angle; }
    until angle >= at(start, angle) + 0.5 { goto arm.Rest;  next(w) = 0; }
"""


class Monitors(unittest.TestCase):
    def run_model(self, text, *words):
        with tempfile.NamedTemporaryFile("w", suffix=".tact") as file:
            file.write(text)
            file.flush()
            done = subprocess.run([TACTUS, "run", file.name, "--json", "--quiet", *words], capture_output=True, text=True,
                                  timeout=120)
        self.assertIn(done.returncode, (0, 3), done.stdout + done.stderr)
        told = json.loads(done.stdout)
        self.assertEqual(done.returncode == 3, bool(told.get("broken_checks")), told)
        return told

    def holds(self, model, formula, *words):
        told = self.run_model(model + "  " + formula + ";\n", *words)
        self.assertEqual(told.get("broken_checks", []), [], formula)
        return told

    def broken(self, model, formula, when, *words):
        told = self.run_model(model + "  named: " + formula + ";\n", *words)
        found = told.get("broken_checks", [])
        self.assertEqual(len(found), 1, (formula, told))
        self.assertLess(abs(found[0]["time"] - when), PRECISE, (formula, found, when))
        self.assertTrue(found[0]["check"].startswith("named: "), found)
        return told

    def refused(self, model, formula, hint):
        with tempfile.NamedTemporaryFile("w", suffix=".tact") as file:
            file.write(model + "  " + formula + ";\n")
            file.flush()
            done = subprocess.run([TACTUS, "check", file.name, "--json"], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 1, done.stdout)
        found = [d for d in json.loads(done.stdout)["diagnostics"] if d["code"] == "T012"]
        self.assertEqual(len(found), 1, done.stdout)
        self.assertIn(hint, json.dumps(found[0]))

    def test_always_in_a_window(self):
        self.holds(WAVE, "always[0..0.5](x < 0.5)")
        self.broken(WAVE, "always[0..1](x < 0.5)", math.asin(0.5))
        self.broken(WAVE, "always[0.7..1](x < 0.5)", 0.7)
        self.holds(WAVE, "always[3.2..6.2](x < 0)")

    def test_eventually_by_its_deadline(self):
        self.holds(WAVE, "eventually[0..1.6](x > 0.99)")
        self.broken(WAVE, "eventually[0..1](x > 0.99)", 1)
        self.broken(WAVE, "eventually[2..5](x > 0.99)", 5)
        self.holds(WAVE, "eventually[7..8](x > 0.99)")
        self.holds(WAVE, "eventually[0..1](x < 0.1)")  # at the start, and never again inside
        self.holds(WAVE, "eventually[0..2](tick)")
        self.broken(WAVE, "eventually[1.5..2](tick)", 2)
        self.holds(WAVE, "eventually[1..2](tick)")
        self.holds(WAVE, "eventually[2..3](tick)")

    def test_eventually_by_the_end_of_the_run(self):
        self.holds(WAVE, "eventually(x > 0.99)")
        self.broken(WAVE, "eventually(x > 1.01)", 10)
        self.holds(WAVE, "eventually[0..20](x > 1.01)")  # it may still come
        self.broken(WAVE, "eventually[0..20](x > 1.01)", 20, "--until", "20")
        self.broken(WAVE, "eventually[0..10](x > 1.01)", 10)
        self.broken(WAVE, "eventually(x < -0.5)", 3, "--until", "3")
        self.holds(WAVE, "eventually(x < -0.5)", "--until", "4")

    def test_until(self):
        self.holds(WAVE, "x < 0.6 until high")
        self.broken(WAVE, "x < 0.4 until high", math.asin(0.4))
        self.holds(WAVE, "x > -0.1 until x > 0.9")   # weak, and afterwards it may be broken
        self.holds(WAVE, "x < 1.1 until x > 2")      # weak: g never comes
        self.broken(WAVE, "x < 0.99 until x > 2", math.asin(0.99))
        self.broken(WAVE, "x < 0.99 until[1.5..2] x > 0.5", math.asin(0.99))
        self.holds(WAVE, "x < 0.99 until[1.2..2] x > 0.5")
        self.holds(WAVE, "x < 0.99 until[0..1] x > 2")  # only up to 1

    def test_answers_in_time(self):
        self.holds(WAVE, "tick -> eventually[0..0.6](x > 0.99 || x < 0)")
        self.broken(WAVE, "tick -> eventually[0..0.4](x > 0.99)", 1.4)
        self.broken(WAVE, "tick -> eventually[0..0.5](x > 0.99)", 3.5)
        self.holds(WAVE, "tick -> eventually[0..9](x > 0.99)", "--until", "4")  # still in time
        self.broken(WAVE, "tick -> eventually[0..3](x > 0.99)", 6)  # the tick at 1 is answered, that at 3 is not
        # From the first instant that is not answered.
        self.broken(WAVE, "x > 0.5 -> eventually[0..2](x < 0)", math.asin(0.5) + 2)
        self.holds(WAVE, "x > 0.5 -> eventually[0..2.7](x < 0)")
        self.broken(WAVE, "eventually[0..6](x > 0.99)".join(("always(", ")")), math.pi - math.asin(0.99) + 6)
        self.broken(WAVE, "x > 0.5 -> eventually(x > 2)", 10)
        self.broken(WAVE, "always[5..8](x > 0.5 -> eventually[0..2](x < 0))", 2 * math.pi + math.asin(0.5) + 2)

    def test_what_then_stays(self):
        self.holds(WAVE, "tick -> always[0..0.1](x > 0)")
        self.broken(WAVE, "tick -> always[0..1](x > 0)", math.pi)
        self.holds(WAVE, "x > 0.5 -> always[0..0.5](x > 0)")
        self.broken(WAVE, "x > 0.5 -> always[0..0.6](x > 0)", math.pi)
        self.broken(WAVE, "x > 0.5 -> always(x > -0.5)", math.pi + math.asin(0.5))

    def test_obligations_until(self):
        # At every instant: as long as x has not been above 0.5, it is below 0.6.
        self.holds(WAVE, "always(x < 0.6 until x > 0.5)")
        self.broken(WAVE, "always(x > -0.7 until x > 0.5)", math.pi + math.asin(0.7))
        self.holds(WAVE, "always[0..1](x > -0.7 until x < -0.6)")
        self.broken(WAVE, "always[4..5](x < 0.5 until x > 0.6)", 2 * math.pi + math.asin(0.5))
        self.holds(WAVE, "always(tick -> x > 0.8 until x > 2)", "--until", "2")
        self.broken(WAVE, "always(tick -> x > 0.8 until x > 2)", 3)

    def test_what_is_after_a_jump(self):
        self.holds(BALL, "Bounce -> next(y') >= 0")  # 0 where it comes to rest
        self.holds(BALL, "Bounce -> abs(next(y') + e * y') < 1e-6 && abs(next(E) - e^2 * E) < 1e-6")
        self.broken(BALL, "Bounce -> next(E) > E", FIRST)
        # The second bounce is half as fast: after 1 + 2 e flights up.
        self.broken(BALL, "Bounce -> next(y') > 1.5", FIRST * (1 + 2 * 0.5))
        self.holds(BALL, "always[0..1](Bounce -> next(y') > 1.5)", "--set", "e=0.6")
        self.broken(BALL, "always[1..3](Bounce -> next(y') > 1.5)", FIRST * 2.5)
        self.holds(BALL, "Bounce -> next(ball.Used)")
        self.broken(BALL, "Bounce -> next(ball.Used) && ball.Used", FIRST)
        self.holds(BALL, "Bounce -> next(bounces) = bounces + 1")
        self.broken(BALL, "next(E) < E", 0)  # false where nothing jumps
        self.holds(BALL, "eventually[0..0.5](next(E) < E)")
        self.broken(BALL, "eventually[0..0.4](next(E) < E)", 0.4)

    def test_fixed_steps_tell_the_same_times(self):
        step = ("--step", "0.001")
        self.broken(WAVE, "eventually[0..1](x > 0.99)", 1, *step)
        self.broken(WAVE, "tick -> eventually[0..0.4](x > 0.99)", 1.4, *step)
        self.broken(WAVE, "x < 0.4 until high", math.asin(0.4), *step)
        self.broken(WAVE, "x < 0.5", math.asin(0.5), *step)

    def test_what_cannot_be_kept_is_refused(self):
        self.refused(WAVE, "tick -> eventually[1..2](x > 0)", "eventually[0..2]")
        self.refused(WAVE, "tick -> always[1..2](x > 0)", "always[0..2]")
        self.refused(WAVE, "eventually[0..1](always[0..1](x > 0))", "always(c -> eventually[0..2](f))")
        self.refused(WAVE, "eventually[0..1](x > 1) -> x > 0", "behind `->`")
        self.refused(WAVE, "always(x > 0 until[0..1] x < 0)", "always(f until g)")
        self.refused(BALL, "Bounce -> eventually[0..1](next(E) < E)", "check of its own")

    def test_memory_is_constant(self):
        """Thousands of asks and answers have one place in the Instance, and none is lost."""
        text = """
simulation ending_time = 2000 step_size = 0.01
boundary x with x(0) = 0, x'(0) = 1;
system
  x'' = -100 * x;
check
  x > 0.05 -> eventually[0..0.4](x < -0.05);
"""
        self.assertEqual(self.run_model(text).get("broken_checks", []), [])

    def test_notes_are_no_events(self):
        told = self.holds(WAVE, "tick -> eventually[0..3](x < 0)")
        self.assertEqual({event["name"] for event in told["events"]}, {"tick", "high"})

    def test_a_sequence_is_an_event(self):
        checks = "check\n"
        self.holds(SEQUENCE + checks, "Wave -> next(w) = 2 && w = 0")
        self.broken(SEQUENCE + checks, "Wave -> next(w) = 0", 1)
        self.broken(SEQUENCE + checks, "!Wave", 1)
        self.holds(SEQUENCE + checks, "Wave -> eventually[0..0.25001](Wave.phase1)")
        self.broken(SEQUENCE + checks, "Wave -> eventually[0..0.24](Wave.phase1)", 1.24)

    def test_exported_c_watches_alike(self):
        formulas = ["late: tick -> eventually[0..0.4](x > 0.99)", "fine: tick -> eventually[0..0.45](x > 0.99 || x < 0.2)",
                    "never: eventually(x > 1.01)", "once: eventually(x > 0.99)"]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "wave.tact")
            with open(path, "w") as file:
                file.write(WAVE + "".join(f"  {formula};\n" for formula in formulas))
            subprocess.run([TACTUS, "export", "c", path, "-o", folder, "--quiet"], check=True, timeout=120)
            subprocess.run(["make", "-C", folder], check=True, capture_output=True, timeout=300)
            done = subprocess.run([os.path.join(folder, "wave")], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 3, done.stderr)
        broken = sorted(line.split("): ")[1].split(":")[0] for line in done.stderr.splitlines() if "check broken" in line)
        self.assertEqual(broken, ["late", "never"])

    def test_modes_are_names(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "ball.tact")
            with open(path, "w") as file:
                file.write(BALL + "  y > -1;\n")
            done = subprocess.run([TACTUS, "run", path, "--show", "ball.Used,ball.Fresh", "--every", "0.1", "--out", "-", "--quiet"],
                                  capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [line.split(",") for line in done.stdout.split()]
        self.assertEqual(rows[0], ["t", "ball.Used", "ball.Fresh"])
        self.assertEqual(len(rows), 32)
        for t, used, fresh in rows[1:]:
            self.assertEqual((used, fresh), ("1", "0") if float(t) > FIRST else ("0", "1"), t)

    def test_axioms(self):
        for model in (BALL.replace("check\n", ""), SEQUENCE):
            told = self.run_model(model, "--monitor-axioms")
            self.assertEqual(told.get("broken_checks", []), [])
        # What the axioms say is said of the run: they are listed as checks.
        with tempfile.NamedTemporaryFile("w", suffix=".tact") as file:
            file.write(SEQUENCE)
            file.flush()
            dump = subprocess.run([TACTUS, "explain", file.name, "--axioms"], capture_output=True, text=True, timeout=60).stdout
        self.assertIn("SpecifiedTermination", dump)


if __name__ == "__main__":
    unittest.main()
