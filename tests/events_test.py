#!/usr/bin/env python3
"""Events and relations against closed forms.

    events_test.py PATH_OF_TACTUS

Times of events are held to event_precision (1e-9) and, where a solver finds the motion, to what its tolerance or step earns.
"""
import json
import math
import subprocess
import sys
import tempfile
import unittest

TACTUS = sys.argv.pop(1) if len(sys.argv) > 1 else "tactus"
PRECISION = 1e-9
TIME = "boundary u(0) = 0; system u' = 1; "  # so that time passes
OSCILLATOR = "boundary x(0) = 0; v(0) = 1; system x' = v; v' = -x; "  # x = sin(t)
SOLVERS = [["--solver", "tsit5"], ["--solver", "bs3", "--tolerance", "1e-7"], ["--solver", "dop853"], ["--step", "0.01"], ["--solver", "euler", "--step", "0.003"],
           ["--solver", "tsit5", "--step", "3"], ["--step", "0.7"]]


def tactus(text, *words, command="run"):
    with tempfile.NamedTemporaryFile("w", suffix=".tact") as file:
        file.write(text)
        file.flush()
        return subprocess.run([TACTUS, command, file.name, *words], capture_output=True, text=True, timeout=60)


def until(end):
    return f"simulation ending_time = {end} "


class Events(unittest.TestCase):
    def run_model(self, text, *words):
        done = tactus(text, "--json", "--quiet", *words)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def times(self, told, name):
        return [event["time"] for event in told["events"] if event["name"] == name]

    def near(self, found, expected, tolerance, where=""):
        self.assertEqual(len(found), len(expected), f"{where}: {found}, not {expected}")
        for f, e in zip(found, expected):
            self.assertLessEqual(abs(f - e), tolerance, f"{where}: {found}, not {expected}")

    # --- where events are ------------------------------------------------------------------------------------------------

    def test_crossings_of_a_sine_of_time(self):
        rises = [math.asin(0.5) + 2 * math.pi * k for k in range(5)]
        for words in SOLVERS:
            told = self.run_model(until(30) + TIME + "event e when sin(t) > 0.5;", *words)
            self.near(self.times(told, "e"), rises, PRECISION, words)
            self.assertEqual(told["events_total"], 5)
            self.assertEqual(told["crossings"], 10)  # and back

    def test_times_converge_with_the_tolerance(self):
        rises = [math.asin(0.5) + 2 * math.pi * k for k in range(3)]
        for solver in ["bs3", "tsit5", "dop853"]:
            errors = []
            for tolerance in [1e-4, 1e-6, 1e-8, 1e-10]:
                told = self.run_model("simulation ending_time = 15 event_precision = 1e-13 step_size = 10 " + OSCILLATOR + "event e when x > 0.5;",
                                      "--tolerance", str(tolerance), "--solver", solver)
                times = self.times(told, "e")
                self.near(times, rises, 100 * tolerance, (solver, tolerance))
                errors.append(max(abs(t - r) for t, r in zip(times, rises)))
            self.assertLess(errors[3], 1e-4 * errors[0], (solver, errors))

    def test_times_of_rk4_have_order_four(self):
        rises = [math.asin(0.5) + 2 * math.pi * k for k in range(3)]
        errors = []
        for h in [0.1, 0.05, 0.025]:
            told = self.run_model("simulation ending_time = 15 event_precision = 1e-13 " + OSCILLATOR + "event e when x > 0.5;", "--step", str(h))
            errors.append(max(abs(t - r) for t, r in zip(self.times(told, "e"), rises)))
        for coarse, fine in zip(errors, errors[1:]):
            self.assertGreater(math.log2(coarse / fine), 3.7)

    def test_event_precision(self):
        for precision in [1e-3, 1e-6, 1e-12]:
            told = self.run_model(f"simulation ending_time = 1 event_precision = {precision} " + TIME + "event e when sin(t) > 0.5;")
            (time,) = self.times(told, "e")
            self.assertLessEqual(abs(time - math.asin(0.5)), precision + 1e-15)

    def test_fixed_steps_keep_their_grid(self):
        text = until(1) + TIME + "event e when u > 0.33; reactive n = init a = 0 in { e => a + 1 };"
        with tempfile.TemporaryDirectory() as folder:
            done = tactus(text, "--quiet", "--step", "0.1", "--out", folder + "/run.csv")
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(folder + "/run.csv") as file:
                rows = [row.split(",") for row in file.read().split()[1:]]
        self.assertEqual([float(row[0]) for row in rows], [k * 0.1 for k in range(11)])
        told = self.run_model(text, "--step", "0.1")
        self.assertEqual(told["steps"], 10)
        self.near(self.times(told, "e"), [0.33], PRECISION)

    def test_there_and_back_within_a_step(self):
        """x > 0.999 lasts 0.09 of steps up to 2 long."""
        rises = [math.asin(0.999) + 2 * math.pi * k for k in range(16)]
        for words in [["--tolerance", "1e-9"], ["--solver", "tsit5", "--step", "2", "--tolerance", "1e-9"], ["--solver", "dop853", "--step", "2", "--tolerance", "1e-9"]]:
            told = self.run_model(until(100) + OSCILLATOR + "event e when x > 0.999;", *words)
            self.near(self.times(told, "e"), rises, 1e-5, words)
        for words in [["--step", "0.25"], ["--step", "0.4"], ["--step", "1"], ["--solver", "tsit5", "--step", "50"]]:
            told = self.run_model(until(100) + TIME + "event e when sin(t) > 0.999;", *words)
            self.near(self.times(told, "e"), rises, PRECISION, words)

    def test_there_and_back_of_a_cubic(self):
        """(t - 0.3) (t - 0.32) (t + 1) dips below zero for 0.02 of a step of 1."""
        for words in [["--step", "1"], ["--solver", "tsit5", "--step", "1"]]:
            told = self.run_model(until(2) + TIME + "event down when (u - 0.3) * (u - 0.32) * (u + 1) < 0; event up when (u - 0.3) * (u - 0.32) * (u + 1) >= 0;", *words)
            self.near(self.times(told, "down"), [0.3], PRECISION, words)
            self.near(self.times(told, "up"), [0.32], PRECISION, words)

    def test_a_fast_oscillation_within_a_step(self):
        rises = [(math.asin(0.5) + 2 * math.pi * k) / 20 for k in range(32)]
        for words in [["--step", "1"], ["--step", "0.3"], ["--solver", "tsit5", "--step", "10"]]:
            told = self.run_model(until(10) + TIME + "event e when sin(20 * u) > 0.5;", *words)
            self.near(self.times(told, "e"), rises, PRECISION, words)

    # --- in what order ---------------------------------------------------------------------------------------------------

    def test_the_earliest_comes_first(self):
        for a, b in [("0.31", "0.32"), ("0.32", "0.31"), ("0.05", "0.95"), ("0.95", "0.05")]:
            for words in [["--step", "1"], ["--solver", "tsit5"]]:
                told = self.run_model(until(1) + TIME + f"event a when u > {a}; event b when u^3 > {b}^3;", *words)
                found = [(event["name"], event["time"]) for event in told["events"]]
                expected = sorted([("a", float(a)), ("b", float(b))], key=lambda event: event[1])
                self.assertEqual([name for name, _ in found], [name for name, _ in expected])
                self.near([time for _, time in found], [time for _, time in expected], PRECISION)

    def test_simultaneous_events_fire_in_source_order(self):
        for order in ["ab", "ba"]:
            declared = {"a": "event a when u > 0.5; ", "b": "event b when 2 * u >= 1; "}
            told = self.run_model(until(1) + TIME + declared[order[0]] + declared[order[1]]
                                  + "reactive n = init o = 0 in { a => o + 1, b => 10 * o };", "--step", "0.3")
            self.assertEqual("".join(event["name"] for event in told["events"]), order)
            self.assertEqual(len({event["time"] for event in told["events"]}), 1)
            self.assertEqual(told["values"]["n"], 10 if order == "ab" else 1)

    def test_at_and_when_together(self):
        told = self.run_model(until(1) + TIME + "event a at 0.25, 0.75; event b when u >= 0.5; event c every 0.5;", "--step", "0.2")
        self.assertEqual([event["name"] for event in told["events"]], ["c", "a", "b", "c", "a", "c"])
        self.near([event["time"] for event in told["events"]], [0, 0.25, 0.5, 0.5, 0.75, 1], PRECISION)

    def test_one_crossing_one_event(self):
        """A guard that is zero where a grid point, a tick or a start is."""
        for words in [["--step", "0.1"], ["--step", "0.125"], ["--solver", "tsit5"]]:
            for relation in ["u > 0.5", "u >= 0.5", "0.5 < u", "0.5 <= u", "!(u < 0.5)", "u - 0.5 > 0"]:
                told = self.run_model(until(1) + TIME + f"event tick every 0.5; event e when {relation};", *words)
                self.near(self.times(told, "e"), [0.5], PRECISION, (words, relation))
            # x = t (1 - t) touches 0.25 at the grid: >= may see it, but never twice.
            told = self.run_model(until(1) + TIME + "event e when u * (1 - u) >= 0.25; event f when u * (1 - u) > 0.25;", *words)
            self.assertLessEqual(len(self.times(told, "e")), 1)
            self.assertEqual(self.times(told, "f"), [])
        told = self.run_model(until(1) + TIME + "event e when u > 0; event f when u >= 0; event g when u < 0;")
        self.near(self.times(told, "e"), [0], PRECISION)
        self.assertEqual(self.times(told, "f") + self.times(told, "g"), [])  # true from the start, and never

    def test_a_condition_made_true_by_an_event(self):
        told = self.run_model(until(1) + TIME + "reactive n = init a = 0 in { e => a + 1 }, m = init a = 0 in { f => a + n }; "
                              "event f when n * u > 0.2; event e when u > 0.5;", "--step", "0.3")
        self.assertEqual([event["name"] for event in told["events"]], ["e", "f"])
        self.assertEqual(told["events"][0]["time"], told["events"][1]["time"])
        self.assertEqual(told["values"]["m"], 1)

    # --- equations -------------------------------------------------------------------------------------------------------

    def test_a_thermostat_with_hysteresis(self):
        """T' = -T + 30 heater, on below 19, off above 21: T - 30 and T shrink by exp(-t)."""
        text = until(20) + "simulation tolerance = 1e-9 boundary T(0) = 15; system T' = -T + 30 * heater; " \
            "event cold when T < 19; event hot when T > 21; reactive heater = init 1 in { cold => 1, hot => 0 };"
        times, t = [], math.log(15 / 9)
        while t < 20:
            times.append(t)
            t += math.log(21 / 19) if len(times) % 2 else math.log(11 / 9)
        told = self.run_model(text)
        self.near([event["time"] for event in told["events"]], times, 1e-7)
        self.assertEqual([event["name"] for event in told["events"]], [("hot", "cold")[k % 2] for k in range(len(times))])

    def test_dry_friction_that_never_sticks(self):
        """v' = 5 sin(t) - sign(v) from v = 0 at t0, where the motion is periodic and v changes sign at t0 + k pi."""
        # v over a half period: 5 (cos t0 - cos t) - (t - t0) = 0 at t0 + pi: 10 cos t0 = pi.
        t0 = math.acos(math.pi / 10)
        for words, tolerance in [(["--tolerance", "1e-9"], 1e-7), (["--step", "0.05"], 1e-5), (["--step", "0.025"], 1e-6)]:
            told = self.run_model(f"simulation starting_time = {t0} ending_time = {t0 + 10} boundary v({t0}) = 0; "
                                  "system v' = 5 * sin(t) - sign(v); event turn when v < 0; event back when v > 0;", *words)
            turns = [event["time"] - t0 for event in told["events"]]
            self.near(turns, [0, math.pi, 2 * math.pi, 3 * math.pi], tolerance, words)

    def test_a_rectifier(self):
        """The integral of |sin t| over [0, T]."""
        end = 20.0
        exact = 2 * math.floor(end / math.pi) + 1 - math.cos(end - math.pi * math.floor(end / math.pi))
        for words, tolerance in [(["--tolerance", "1e-10"], 1e-8), (["--step", "0.01"], 1e-8), (["--step", "0.1"], 1e-5)]:
            for rectified in ["abs(sin(t))", "max(sin(t), -sin(t))", "sin(t) * sign(sin(t))", "if sin(t) >= 0 then sin(t) else -sin(t)",
                              "clamp(sin(t), 0, 2) - clamp(sin(t), -2, 0)", "-min(sin(t), -sin(t))"]:
                told = self.run_model(until(end) + f"boundary y(0) = 0; system y' = {rectified};", *words)
                self.assertLessEqual(abs(told["values"]["y"] - exact), tolerance, (words, rectified))
                self.assertGreaterEqual(told["crossings"], 6)

    def test_fixed_steps_across_a_corner_keep_their_order(self):
        """x' = if x < 1 then 1 else exp(1 - t): the corner at t = 1 falls inside steps; x(2) = 2 - exp(-1)."""
        errors = []
        for h in [0.15, 0.075, 0.0375]:
            told = self.run_model("simulation event_precision = 1e-14 " + "boundary x(0) = 0; system x' = if x < 1 then 1 else exp(1 - t);",
                                  "--until", "2.1", "--step", str(h))
            errors.append(abs(told["values"]["x"] - (2 - math.exp(-1.1))))
        for coarse, fine in zip(errors, errors[1:]):
            self.assertGreater(math.log2(coarse / fine), 3.5, errors)

    def test_staircases(self):
        end, rate = 9.9, 3.7
        steps = math.floor(end * rate)
        down = sum(end - k / rate for k in range(1, steps + 1))  # the integral of floor
        up = sum(end - k / rate for k in range(0, steps + 1))
        for words in [[], ["--step", "0.01"], ["--step", "1.1"], ["--solver", "dop853"]]:
            told = self.run_model(until(end) + f"boundary a(0) = 0; b(0) = 0; c(0) = 0; system a' = floor({rate} * t); b' = ceil({rate} * t); c' = floor(-{rate} * t);", *words)
            for name, exact in [("a", down), ("b", up), ("c", -up)]:
                self.assertLessEqual(abs(told["values"][name] - exact), 1e-7, (words, name))

    def test_a_staircase_of_a_motion_that_turns(self):
        """floor(2 sin t) over a period: 0, 1, 0, -1, -2, -1; its integral is -pi."""
        for words, tolerance in [(["--tolerance", "1e-9"], 1e-7), (["--step", "0.1"], 1e-4)]:
            told = self.run_model(f"simulation ending_time = {4 * math.pi} " + OSCILLATOR + "boundary y(0) = 0; system y' = floor(2 * x);", *words)
            self.assertLessEqual(abs(told["values"]["y"] + 2 * math.pi), tolerance)

    def test_no_step_is_rejected_for_a_jump(self):
        friction = "if v > 0 then 0.3 else -0.3"
        free, held, smooth = (self.run_model(until(30) + "simulation step_size = 1 tolerance = 1e-8 boundary x(0) = 1; v(0) = 40; system x' = v; "
                                             f"v' = -x - ({force});", "--solver", "tsit5") for force in ["0", friction, f"smooth({friction})"])
        self.assertEqual((free["crossings"], held["crossings"], smooth["crossings"]), (0, 10, 0))
        self.assertLessEqual(held["rejected"], free["rejected"] + 5)  # what the method rejects of its own accord
        self.assertGreater(smooth["rejected"], free["rejected"] + 100)
        self.assertLessEqual(held["steps"], free["steps"] + 2 * held["crossings"])

    def test_relations_that_depend_on_each_other(self):
        """b reads a, c reads b: all change at one instant, and are consistent there and at the start."""
        told = self.run_model(until(2) + TIME + "a = if u > 1 then 1 else 0; b = if a + 0 * u > 0.5 then 2 else 0; c = if b + 0.1 * u > 1 then 3 else 0; "
                              "event e when c > 2;", "--step", "0.3")
        self.assertEqual([told["values"][name] for name in "abc"], [1, 2, 3])
        self.near(self.times(told, "e"), [1], PRECISION)
        told = self.run_model(until(0.5) + "boundary u(0) = 2; system u' = 1; a = if u > 1 then 1 else 0; b = if a + 0 * u > 0.5 then 2 else 0; "
                              "c = if b + 0.1 * u > 1 then 3 else 0; event e when c > 2;", "--step", "0.3")
        self.assertEqual([told["values"][name] for name in "abc"], [1, 2, 3])
        self.assertEqual((told["events"], told["crossings"]), ([], 0))

    def test_relations_of_a_loop_are_evaluated(self):
        """y = max(y, 0) - 1 + t / 2 solved with the branch that fits: 3 y' .. no crossing is counted."""
        told = self.run_model(until(4) + TIME + "2 * y + abs(y) = u - 2;", "--step", "0.5")
        self.assertAlmostEqual(told["values"]["y"], 2 / 3, delta=1e-9)
        self.assertEqual(told["crossings"], 0)

    def test_what_keeps_a_function_inside_its_domain(self):
        """x' = -sqrt(x) empties a tank at t = 2: x = (1 - t / 2)^2."""
        for outflow in ["if x > 0 then sqrt(x) else 0", "sqrt(max(x, 0))", "sqrt(y); y = max(x, 0)", "sqrt(abs(x)) * (if x > 0 then 1 else 0)"]:
            for words in [["--step", "0.01"], ["--solver", "tsit5"]]:
                told = self.run_model(until(3) + f"boundary x(0) = 1; system x' = -q; q = {outflow};", *words)
                self.assertLessEqual(abs(told["values"]["x"]), 1e-4, (outflow, words))

    def test_smooth_is_not_located(self):
        told = self.run_model(until(3) + TIME + "y = smooth(if u > 1 then 1 else 0); z = smooth(abs(u - 1) + floor(u + 0.1) + min(u, 2)); ", "--step", "0.3")
        self.assertEqual((told["values"]["y"], told["values"]["z"], told["crossings"]), (1, 7, 0))
        # The condition of an event is located all the same.
        told = self.run_model(until(3) + TIME + "y = smooth(if u > 1 then 1 else 0); event e when smooth(u > 1.5); event f when y > 0.5;", "--step", "0.4")
        self.near(self.times(told, "e") + self.times(told, "f"), [1.5, 1], PRECISION)

    def test_what_only_changes_at_events_needs_no_guard(self):
        told = self.run_model(until(1) + "parameter k = 2; event c every 0.1; reactive n = init a = 0 in { c => a + 1 } " + TIME + "y = if n > 5 then 1 else 0; z = if k < 3 then 7 else 8;")
        self.assertEqual((told["values"]["y"], told["values"]["z"], told["crossings"]), (1, 7, 0))

    def test_guards_of_inputs(self):
        """u goes 0, 2, 0, 2, -2 at t = 0 .. 4; one crossing is one event also where a sample or step falls on it."""
        text = until(4) + "external hand reads u boundary y(0) = 0; system y' = max(u, 1); event e when u > 1; event f when u < 1; event g when u' > 0;"
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/hand.csv", "w") as file:
                file.write("t,u\n0,0\n1,2\n2,0\n3,2\n4,-2\n")
            for words in [[], ["--solver", "dop853"], ["--step", "0.25"], ["--step", "0.1"]]:
                told = self.run_model(text, "--device", f"hand=file:{folder}/hand.csv", *words)
                self.assertEqual([event["name"] for event in told["events"]], ["e", "f", "g", "e", "f"], words)
                self.near([event["time"] for event in told["events"]], [0.5, 1.5, 2, 2.5, 3.25], PRECISION, words)
                self.assertAlmostEqual(told["values"]["y"], 4.875, delta=1e-8)

    def test_guards_of_the_past(self):
        text = until(6) + OSCILLATOR + "boundary y(0) = 0; system late = delay(x, 1); w = if x > 0.5 then 1 else 0; " \
            "y' = delay(w, 1) + abs(delay(x, 0.5)); event e when late > 0.5;"
        exact = math.pi - 2 * math.asin(0.5) + 2 + math.cos(5.5) + 1
        for words, tolerance in [(["--tolerance", "1e-9"], 1e-8), (["--step", "0.01"], 1e-8)]:
            told = self.run_model(text, *words)
            self.near(self.times(told, "e"), [1 + math.asin(0.5)], tolerance, words)
            self.assertLessEqual(abs(told["values"]["y"] - exact), tolerance, words)

    def test_chattering_slides_and_is_told(self):
        done = tactus("boundary v(0) = 1; system v' = -2 * sign(v);", "--json", "--until", "1")
        told = json.loads(done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertLess(abs(told["values"]["v"]), 1e-12)
        self.assertIn("slides", " ".join(told["notes"]))

    def test_what_can_be_missed(self):
        """The example of docs/language.md."""
        text = until(10) + TIME + "event e when exp(-((t - 3.3) / 0.001)^2) > 0.5;"
        self.assertEqual(self.run_model(text, "--step", "0.5")["events_total"], 0)
        told = self.run_model(text, "--step", "0.001")
        self.near(self.times(told, "e"), [3.3 - 0.001 * math.sqrt(math.log(2))], PRECISION)

    def test_the_list_of_events_is_bounded(self):
        told = self.run_model(until(20) + TIME + "event c every 0.001;", "--step", "0.1")
        self.assertEqual((len(told["events"]), told["events_total"]), (10000, 20001))


if __name__ == "__main__":
    unittest.main()
