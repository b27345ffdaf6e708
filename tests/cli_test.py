"""The command line, as a person or a script meets it: every option, exit codes, JSON, bad input, streams and signals.

    python3 tests/cli_test.py build/bin/tactus [TEST..]
"""
import json
import math
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TACTUS = ""

DECAY = """\
simulation ending_time = 2 step_size = 0.01
parameter k = 1 in 0..10;
boundary x with x(0) = 1;
system
  x' = -k * x;
  y = 2 * x;
"""
OSCILLATOR = """\
simulation ending_time = 1 step_size = 0.001
parameter w = 2;
constant scale = 3;
boundary p with p(0) = (1, 2), p'(0) = (0, 0);
system
  p'' = -w^2 * p;
  q = scale * p[1];
"""
HAND = """\
simulation ending_time = 2 step_size = 0.01
external hand reads u
boundary q with q(0) = (0, 0);
system
  q' = u;
  x = q[1] + q[2];
"""
# z^2 = 1 - x has no solution once x passes 1; x' = 1 + z / 10, so x = 1 at t = 0.94 or so.
DIVERGES = """\
simulation ending_time = 2 step_size = 0.01 record_period = 0.1
boundary x with x(0) = 0; z with z(0) ~ 1;
system
  x' = 1 + z / 10;
  z^2 + sin(z) / 1000 = 1 - x;
"""
EXPLODES = """\
simulation ending_time = 2 step_size = 0.01 record_period = 0.1
boundary x with x(0) = 1;
system
  x' = x^2;
"""
LONG = """\
simulation ending_time = 1e9 step_size = 0.001 record_period = 1
boundary x with x(0) = 1, x'(0) = 0;
system
  x'' = -x;
"""


class CommandLineTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tactus_cli_"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, name, text):
        path = self.folder / name
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(text, encoding="utf-8")
        return str(path)

    def tactus(self, *words, exit_code=0, stdin=None, timeout=120):
        """Runs it in its folder, expects the exit code."""
        done = subprocess.run([TACTUS, *map(str, words)], capture_output=True, text=True, errors="replace", cwd=self.folder,
                              timeout=timeout, input=stdin, check=False)
        self.assertEqual(done.returncode, exit_code, f"tactus {words}\n{done.stdout}\n{done.stderr}")
        return done

    def json(self, *words, exit_code=0):
        done = self.tactus(*words, "--json", exit_code=exit_code)
        return json.loads(done.stdout)  # exactly one object

    def rows(self, name):
        lines = (self.folder / name).read_text().splitlines()
        return lines[0].split(","), [[float(cell) for cell in line.split(",")] for line in lines[1:]]

    def usage(self, *words, says):
        """A mistake in the command line: exit 2, all the words, and JSON when asked."""
        done = self.tactus(*words, exit_code=2)
        for word in says:
            self.assertIn(word, done.stderr)
        told = self.json(*words, exit_code=2)
        self.assertEqual(told["status"], "usage")
        return done


class Run(CommandLineTest):
    def test_json_has_the_promised_shape(self):
        told = self.json("run", self.write("m.tact", DECAY))
        for key, kind in [("status", str), ("time", float), ("values", dict), ("events", list), ("events_total", int),
                          ("notes", list), ("steps", int), ("compile_seconds", float), ("run_seconds", float)]:
            self.assertIsInstance(told[key], kind, key)
        self.assertEqual(told["status"], "done")
        self.assertEqual(told["time"], 2)
        self.assertEqual(told["steps"], 200)
        self.assertEqual((told["events"], told["events_total"]), ([], 0))
        self.assertAlmostEqual(told["values"]["x"], math.exp(-2), delta=1e-9)
        self.assertAlmostEqual(told["values"]["y"], 2 * math.exp(-2), delta=1e-9)

    def test_vectors_are_arrays(self):
        values = self.json("run", self.write("m.tact", OSCILLATOR))["values"]
        self.assertEqual(len(values["p"]), 2)
        self.assertAlmostEqual(values["p"][1], 2 * math.cos(2), delta=1e-9)

    def test_summary_for_people(self):
        done = self.tactus("run", self.write("m.tact", OSCILLATOR))
        self.assertRegex(done.stdout, r"p +\S* *= \(-0\.416\d*, -0\.832\d*\)")
        self.assertIn("1000 steps of rk4", done.stdout)

    def test_quiet_prints_nothing(self):
        done = self.tactus("run", self.write("m.tact", OSCILLATOR), "--quiet")
        self.assertEqual((done.stdout, done.stderr), ("", ""))

    def test_until(self):
        told = self.json("run", self.write("m.tact", DECAY), "--until", "0.505")
        self.assertEqual(told["time"], 0.505)
        self.assertEqual(told["steps"], 51)
        self.assertAlmostEqual(told["values"]["x"], math.exp(-0.505), delta=1e-9)

    def test_without_an_end_there_is_a_note(self):
        told = self.json("run", self.write("m.tact", DECAY.replace("ending_time = 2", "")))
        self.assertEqual(told["time"], 10)
        self.assertIn("ending_time", " ".join(told["notes"]))

    def test_set_a_parameter(self):
        told = self.json("run", self.write("m.tact", DECAY), "--set", "k=3")
        self.assertAlmostEqual(told["values"]["x"], math.exp(-6), delta=1e-8)

    def test_set_a_constant(self):
        told = self.json("run", self.write("m.tact", OSCILLATOR), "--set", "scale=5", "--set", "w=1")
        self.assertAlmostEqual(told["values"]["q"], 5 * math.cos(1), delta=1e-9)

    def test_set_mistakes(self):
        model = self.write("m.tact", OSCILLATOR)
        self.usage("run", model, "--set", "ww=1", says=["ww", "w"])
        self.usage("run", model, "--set", "w", says=["--set w"])
        self.usage("run", model, "--set", "w=abc", says=["abc", "not a number"])
        self.usage("run", model, "--set", "w=nan", says=["not a number"])
        self.usage("run", model, "--set", "=1", says=["--set"])

    def test_solvers(self):
        model = self.write("m.tact", DECAY.replace("step_size = 0.01", ""))
        exact = math.exp(-2)
        for solver, options, tolerance in [("euler", ["--step", "0.001"], 1e-3), ("rk4", ["--step", "0.01"], 1e-9),
                                           ("bs3", ["--step", "0.01"], 1e-6), ("bs3", ["--tolerance", "1e-8"], 1e-6),
                                           ("tsit5", [], 1e-5), ("dop853", ["--tolerance", "1e-12"], 1e-10),
                                           ("rosenbrock", ["--step", "0.1"], 1e-6),
                                           ("rosenbrock", ["--tolerance", "1e-8"], 1e-7),
                                           ("cvode", ["--tolerance", "1e-8"], 1e-6)]:
            told = self.json("run", model, "--solver", solver, *options)
            self.assertAlmostEqual(told["values"]["x"], exact, delta=tolerance, msg=solver)
            self.assertEqual(told["solver"], solver)
        self.assertEqual(self.json("run", model, "--step", "0.01")["solver"], "rk4")
        self.assertEqual(self.json("run", model)["solver"], "tsit5")
        self.usage("run", model, "--solver", "rk5", says=["rk5", "rk4"])
        self.usage("run", model, "--solver", "rk4", says=["--step"])

    STIFF = "simulation ending_time = 10\nboundary x(0) = 2; y(0) = 1;\nsystem x' = -100000 * (x - cos(t)); y' = x - y;\n"

    def test_a_stiff_system_switches_and_says_so(self):
        model = self.write("stiff.tact", self.STIFF)
        told = self.json("run", model)
        # x = cos t but for 1e-5; y' = cos t - y: y = (cos t + sin t + e^-t) / 2, once x has come down from 2 in 1e-5 s.
        self.assertAlmostEqual(told["values"]["x"], math.cos(10), delta=3e-5)
        self.assertAlmostEqual(told["values"]["y"], (math.cos(10) + math.sin(10) + math.exp(-10)) / 2, delta=3e-5)
        self.assertEqual(told["solver"], "rosenbrock")
        self.assertLess(told["switched_at"], 0.01)
        self.assertLess(told["steps"], 1000)
        self.assertTrue(any("stiff" in note and "`rosenbrock` took over" in note for note in told["notes"]), told["notes"])
        chosen = self.json("run", model, "--solver", "tsit5", "--until", "0.1")
        self.assertEqual(chosen["solver"], "tsit5")
        self.assertNotIn("switched_at", chosen)
        self.assertTrue(any("--solver rosenbrock" in note for note in chosen["notes"]), chosen["notes"])
        self.assertEqual(self.json("run", model, "--step", "0.00001", "--until", "0.01")["notes"], [])

    def test_a_port_is_shown_by_either_name(self):
        model = self.write("two.tact", """simulation ending_time = 1
module M = ( ports x, p; boundary x(0) = 1; p(0) = (0, 0); system x' = 2; p' = (1, 3); )
module N = ( ports x, p, y, q; system y = 2*x + p[2]; q = x; )
system a = M(); b = N(x = a.x, p = a.p, q = z);
""")
        values = self.json("run", model, "--show", "b.x,b.p,b.p[2],b.x',b.q,z")["values"]
        self.assertEqual(list(values), ["b.x", "b.p", "b.p[2]", "b.x'", "b.q", "z"])
        for name, value in (("b.x", 3), ("b.p[2]", 3), ("b.x'", 2), ("b.q", 3), ("z", 3)):
            self.assertAlmostEqual(values[name], value, delta=1e-9, msg=name)
        self.json("run", model, "--show", "b.x,b.p", "--out", self.folder / "rows.csv")
        self.assertEqual((self.folder / "rows.csv").read_text().splitlines()[0], "t,b.x,b.p[1],b.p[2]")

    def test_many_stiff_states(self):
        # Heat in a rod of 300 cells between cold ends, in its slowest mode, which decays alone; the fastest decays at 3.6e5.
        n = 300
        cells = ["0", *(f"x{i}" for i in range(1, n + 1)), "0"]
        start = "".join(f"x{i}(0) = sin({i} * pi / {n + 1}); " for i in range(1, n + 1))
        flow = "".join(f"x{i}' = {(n + 1) ** 2} * ({cells[i - 1]} - 2 * {cells[i]} + {cells[i + 1]}); "
                       for i in range(1, n + 1))
        model = self.write("rod.tact", f"simulation ending_time = 0.1\nboundary {start}\nsystem {flow}\n")
        exact = math.exp(-(2 * (n + 1) * math.sin(math.pi / (2 * (n + 1)))) ** 2 * 0.1)
        exact *= math.sin(150 * math.pi / (n + 1))
        for solver in ["rosenbrock", "cvode"]:
            told = self.json("run", model, "--solver", solver, "--show", "x150")
            self.assertAlmostEqual(told["values"]["x150"], exact, delta=1e-4, msg=solver)
            self.assertLess(told["steps"], 300, solver)
        switched = self.json("run", model, "--show", "x150")
        self.assertEqual(switched["solver"], "cvode")
        self.assertAlmostEqual(switched["values"]["x150"], exact, delta=1e-4)

    def test_stiff_solvers_with_events_and_rows(self):
        # A relay that is fed by a stiff follower of cos t: it closes when x falls below 0.5, first at pi / 3.
        model = self.write("relay.tact", """simulation ending_time = 5
boundary x(0) = 1;
system x' = -100000 * (x - cos(t)) - sin(t);
event Falls when x < 0.5;
reactive
  n = init k = 0 in { Falls => k + 1 },
  moment = init s = 0 in { Falls => t }
""")
        for options in [["--solver", "rosenbrock"], ["--solver", "cvode"], ["--solver", "rosenbrock", "--step", "0.05"]]:
            told = self.json("run", model, *options)
            self.assertEqual(told["values"]["n"], 1, options)
            self.assertAlmostEqual(told["values"]["moment"], math.pi / 3, delta=3e-5, msg=options)

    def test_bad_numbers(self):
        model = self.write("m.tact", DECAY)
        for option in ["--until", "--step", "--tolerance", "--every"]:
            self.usage("run", model, option, "abc", says=["abc"])
            self.usage("run", model, option, "-1", says=["-1"])
        self.usage("run", model, "--step", "0", says=["positive"])
        self.usage("run", model, "--every", "0", says=["positive"])
        self.usage("run", model, "--until", "nan", says=["nan"])

    def test_every_and_out(self):
        self.tactus("run", self.write("m.tact", OSCILLATOR), "--every", "0.25", "--out", "run.csv")
        header, rows = self.rows("run.csv")
        self.assertEqual(header, ["t", "p[1]", "p[2]", "q"])
        self.assertEqual([row[0] for row in rows], [0, 0.25, 0.5, 0.75, 1])
        for t, p1, p2, q in rows:
            self.assertAlmostEqual(p1, math.cos(2 * t), delta=1e-9)
            self.assertAlmostEqual(p2, 2 * p1, delta=1e-12)
            self.assertAlmostEqual(q, 3 * p1, delta=1e-12)

    def test_rows_off_the_grid(self):
        self.tactus("run", self.write("m.tact", DECAY), "--every", "0.0333", "--out", "run.csv", "--until", "1")
        _, rows = self.rows("run.csv")
        self.assertEqual(len(rows), 32)
        for k, (t, x, _) in enumerate(rows[:-1]):
            self.assertAlmostEqual(t, 0.0333 * k, delta=1e-15)
            self.assertAlmostEqual(x, math.exp(-t), delta=1e-9)

    def test_about_a_thousand_rows_without_every(self):
        self.tactus("run", self.write("m.tact", OSCILLATOR), "--until", "20", "--out", "run.csv")
        self.assertEqual(len(self.rows("run.csv")[1]), 1001)

    def test_out_to_standard_output(self):
        done = self.tactus("run", self.write("m.tact", DECAY), "--every", "1", "--out", "-")
        self.assertEqual(done.stdout.splitlines()[0], "t,x,y")
        self.assertEqual(len(done.stdout.splitlines()), 4)
        self.assertIn("200 steps", done.stderr)
        self.usage("run", self.write("m.tact", DECAY), "--out", "-", "--json", says=["--json"])

    def test_show(self):
        model = self.write("m.tact", OSCILLATOR)
        self.tactus("run", model, "--show", "p[2],p'", "--show", "q", "--out", "run.csv")
        self.assertEqual(self.rows("run.csv")[0], ["t", "p[2]", "p'[1]", "p'[2]", "q"])
        told = self.json("run", model, "--show", "p[2],p'")
        self.assertEqual(list(told["values"]), ["p[2]", "p'"])
        self.assertAlmostEqual(told["values"]["p'"][0], -2 * math.sin(2), delta=1e-9)

    def test_show_mistakes(self):
        model = self.write("m.tact", OSCILLATOR.replace("q =", "quantity ="))
        self.usage("run", model, "--show", "quantiti", says=["quantiti", "did you mean `quantity`"])
        self.usage("run", model, "--show", "p[3]", says=["p[3]", "p[2]"])
        self.usage("run", model, "--show", "nothing_like_it", says=["quantity"])

    def test_plots(self):
        self.tactus("run", self.write("m.tact", OSCILLATOR), "--plot", "run.svg", "--plot", "run.png")
        self.assertIn("<svg", (self.folder / "run.svg").read_text())
        self.assertTrue((self.folder / "run.png").read_bytes().startswith(b"\x89PNG"))
        self.usage("run", self.write("m.tact", OSCILLATOR), "--plot", "run.bmp", says=["bmp"])

    def test_inputs_are_not_written_over(self):
        model = self.write("m.tact", HAND)
        self.write("hand.csv", "t,u[1],u[2]\n0,1,2\n2,1,2\n")
        os.symlink("hand.csv", self.folder / "link.csv")
        os.link(model, self.folder / "same.svg")
        device = ["--device", "hand=file:hand.csv"]
        for words in [["--out", "m.tact"], ["--out", "./hand.csv"], ["--out", "link.csv"], ["--plot", "same.svg"]]:
            self.usage("run", model, *device, *words, says=["written over", words[1]])
        self.assertEqual(pathlib.Path(model).read_text(), HAND)
        self.assertEqual(len(self.rows("hand.csv")[1]), 2)
        self.tactus("run", model, *device, "--out", "other.csv")
        self.write("used.tact", "constant g = 1;")
        self.write("data.csv", "0,1\n1,2\n")
        model = self.write("uses.tact", 'use "used.tact"; system y = g * table("data.csv")(t);')
        for name in ["used.tact", "data.csv"]:
            before = (self.folder / name).read_text()
            self.usage("run", model, "--out", name, says=["written over", name])
            self.assertEqual((self.folder / name).read_text(), before)

    def test_two_used_files_may_not_declare_one_name(self):
        self.write("a.tact", "constant g = 1;")
        self.write("b.tact", "constant g = 2;")
        for first, exit_code in [('use "a.tact";', 1), ('use "a.tact" as a;', 0)]:
            model = self.write("m.tact", first + ' use "b.tact"; system y = g * t;')
            self.tactus("check", model, exit_code=exit_code)

    def test_a_narrow_peak_of_a_slow_motion_is_an_event(self):
        model = self.write("m.tact", "simulation ending_time = 100 event w when x > 0.999; boundary x(0) = 0; v(0) = 1; "
                           "system x' = v; v' = -x; reactive k = init o = 0 in { w => o + 1 };")
        # asin(0.999) + 2 pi n <= 100 for n = 0 .. 15.
        self.assertEqual(self.json("run", model)["values"]["k"], 16)

    def test_an_integral_takes_no_name(self):
        model = self.write("m.tact", "simulation ending_time = 4 system integration_1 = 5 * t; y = integration(t);")
        final = self.json("run", model)["values"]
        self.assertEqual(set(final), {"integration_1", "y"})
        self.assertEqual(final["integration_1"], 20)

    def test_record_periods_and_tolerances_that_make_no_sense(self):
        model = self.write("m.tact", DECAY)
        for solver in ["rk4", "tsit5"]:
            words = ["run", model, "--solver", solver, "--out", "run.csv", "--every"]
            self.usage(*words, "1e-300", says=["1e-300", "rounding"])
            self.usage(*words, "1e-10", says=["2e+10 rows"])
        self.usage("run", model, "--solver", "tsit5", "--tolerance", "1e-15", says=["1e-15", "16 digits"])
        self.assertFalse((self.folder / "run.csv").exists())

    def test_a_step_longer_than_the_run(self):
        done = self.tactus("run", self.write("m.tact", DECAY), "--step", "5", "--out", "run.csv")
        self.assertIn("1 step of rk4, h = 2;", done.stdout)

    def test_shows_something(self):
        model = self.write("m.tact", DECAY)
        self.usage("run", model, "--show", "", says=["--show names nothing"])
        self.usage("run", model, "--show", "x,t", says=["always the first column"])

    def test_unwritable_output(self):
        model = self.write("m.tact", DECAY)
        self.usage("run", model, "--out", "missing/run.csv", says=["missing/run.csv"])
        self.usage("run", model, "--plot", "missing/run.svg", "--until", "1e9", says=["`missing` does not exist"])  # no run
        if pathlib.Path("/dev/full").exists():
            done = self.tactus("run", model, "--out", "/dev/full", "--every", "0.001", exit_code=4)  # it is there, and takes nothing: no mistake of the command line
            self.assertIn("/dev/full", done.stderr)

    def test_several_files_are_one_program(self):
        head, tail = DECAY.split("system\n")
        told = self.json("run", self.write("a.tact", head), self.write("b.tact", "system\n" + tail))
        self.assertEqual(told["status"], "done")

    def test_from_standard_input(self):
        done = self.tactus("run", "-", "--json", stdin=DECAY)
        self.assertEqual(json.loads(done.stdout)["steps"], 200)

    def test_warnings_and_notes_do_not_spoil_standard_output(self):
        done = self.tactus("run", self.write("m.tact", "system x' = -x;"), "--json")
        told = json.loads(done.stdout)
        self.assertEqual(told["status"], "done")


class Devices(CommandLineTest):
    def setUp(self):
        super().setUp()
        self.model = self.write("m.tact", HAND)

    def test_a_file_is_a_hand(self):
        # The sum of both is 3 t for t <= 1, then stays 3: x = 1.5, then 3 more.
        self.write("hand.csv", "t,u[1],u[2]\n0,0,0\n1,1,2\n")
        for solver in [[], ["--solver", "tsit5"]]:
            told = self.json("run", self.model, "--device", "hand=file:hand.csv", *solver)
            self.assertAlmostEqual(told["values"]["x"], 4.5, delta=1e-9)
            self.assertEqual(told["values"]["u"], [1, 2])
            self.assertEqual(told["notes"], [])

    def test_columns_by_name_or_in_order(self):
        self.write("swapped.csv", "t,u.2,u.1\n0,2,1\n")
        self.assertEqual(self.json("run", self.model, "--device", "hand=file:swapped.csv")["values"]["u"], [1, 2])
        self.write("bare.csv", "0,1,2\n")
        self.assertEqual(self.json("run", self.model, "--device", "hand=file:bare.csv")["values"]["u"], [1, 2])
        self.write("other.csv", "time;a;b\n0;1;2\n")
        told = self.json("run", self.model, "--device", "hand=file:other.csv")
        self.assertEqual(told["values"]["u"], [1, 2])
        self.assertIn("in order", told["notes"][0])

    def test_what_nothing_feeds_reads_zero_with_a_note(self):
        told = self.json("run", self.model)
        self.assertEqual(told["values"]["x"], 0)
        self.assertEqual(len(told["notes"]), 1)
        self.assertIn("--device hand=file:", told["notes"][0])
        self.assertIn("note: ", self.tactus("run", self.model).stderr)

    def test_mistakes(self):
        self.write("hand.csv", "t,u[1],u[2]\n0,0,0\n1,1,2\n")
        self.write("narrow.csv", "t,a\n0,0\n")
        self.write("half.csv", "t,u[1],b\n0,0,0\n")
        self.write("broken.csv", "t,u[1],u[2]\n0,0,0\n1,x,2\n")
        self.write("back.csv", "t,u[1],u[2]\n1,0,0\n0,1,2\n")
        for word, says in [("hnad=file:hand.csv", ["hnad", "did you mean `hand`"]), ("hand", ["hand"]),
                           ("hand=file:", ["names no file"]), ("hand=mouse", ["not built yet", "file"]),
                           ("hand=fil:hand.csv", ["fil", "did you mean `file`"]), ("hand=file:none.csv", ["none.csv"]),
                           ("hand=file:narrow.csv", ["narrow.csv", "1 column"]), ("hand=file:half.csv", ["u[2]"]),
                           ("hand=file:broken.csv", ["line 3"]), ("hand=file:back.csv", ["line 3"])]:
            self.usage("run", self.model, "--device", word, says=says)
        self.usage("run", self.model, "--device", "hand=file:hand.csv", "--device", "hand=file:hand.csv", says=["twice"])


class Units(CommandLineTest):
    MODEL = """\
simulation ending_time = 2 [s] step_size = 10 [ms]
external hand reads u
parameter k = 2 [kN/m], m = 4 [kg];
boundary x with x(0) = 5 [cm], x'(0) = 0;
system
  m * x'' = k * (u - x);
  E = m / 2 * x'^2 + k / 2 * (u - x)^2;
"""

    def test_units_stand_behind_the_names_of_columns(self):
        model = self.write("units.tact", self.MODEL)
        self.tactus("run", model, "--out", "run.csv", "--show", "x,x',x'',E,u")
        header = (self.folder / "run.csv").read_text().splitlines()[0]
        self.assertEqual(header, "t,x [m],x' [m/s],x'' [m/s^2],E [J],u [m]")
        self.tactus("plot", "run.csv", "-o", "run.svg", "--show", "x',E")
        figure = (self.folder / "run.svg").read_text()
        for label in ["x' [m/s]", "E [J]"]:
            self.assertIn(f">{label}<", figure)
        self.assertIn("x", self.json("run", model)["values"])

    def test_set_is_in_si(self):
        model = self.write("units.tact", self.MODEL)
        self.assertEqual(self.json("run", model, "--set", "k=2000")["values"], self.json("run", model)["values"])

    def test_a_recorded_run_is_a_device_again(self):
        model = self.write("units.tact", self.MODEL)
        self.write("hand.csv", "t,u [m]\n0,0.05\n2,0.05\n")
        told = self.json("run", model, "--device", "hand=file:hand.csv")
        self.assertAlmostEqual(told["values"]["x"], 0.05)
        self.write("mm.csv", "t,u [mm]\n0,50\n2,50\n")
        self.usage("run", model, "--device", "hand=file:mm.csv", says=["`u`", "is in mm", "in m"])


class OtherCommands(CommandLineTest):
    def test_version_and_help(self):
        self.assertRegex(self.tactus("--version").stdout, r"^tactus \d+\.\d+\.\d+$")
        self.assertIn("tactus run", self.tactus("--help").stdout)
        for command in [["run"], ["check"], ["explain"], ["plot"], ["export"], ["export", "c"]]:
            shown = self.tactus(*command, "--help").stdout
            self.assertIn("Examples:", shown)
            self.assertIn(f"Usage: tactus {' '.join(command)} ", shown)

    def test_usage_mistakes(self):
        model = self.write("m.tact", DECAY)
        self.usage(says=["command is missing"])
        self.usage("rum", model, says=["rum", "did you mean `tactus run`"])
        self.usage("run", says=["no model is named", "`tactus run --help`"])
        self.usage("run", model, "--step", "abc", says=["`abc` is not a number", "--step"])
        self.usage("run", model, "--step", "1", "--step", "2", says=["--step is given more than once"])
        self.usage("run", model, "--untill", "3", says=["--untill", "did you mean --until"])
        self.usage("run", model, "--until", says=["--until needs a value"])
        self.usage("check", model, "--solver", "rk4", says=["--solver"])
        self.usage("export", "c", model, says=["--out", "`tactus export c --help`"])
        self.usage("export", "py", model, says=["`py`", "only `c` is known"])
        self.usage("export", says=["only `c` is known"])

    def test_a_file_that_is_not_there(self):
        done = self.tactus("run", "missing.tact", exit_code=2)
        self.assertIn("missing.tact", done.stderr)
        self.write("ball.tact", DECAY)
        self.assertIn("ball.tact", self.tactus("check", "ball.phydl", exit_code=2).stderr)
        self.tactus("run", self.folder, exit_code=2)
        self.assertEqual(self.json("run", "missing.tact", exit_code=2)["diagnostics"][0]["file"], "missing.tact")

    def test_check(self):
        model = self.write("m.tact", OSCILLATOR)
        self.assertIn("4 states", self.tactus("check", model).stdout)
        told = self.json("check", model)
        self.assertEqual((told["status"], told["states"], told["parameters"]), ("ok", 4, 1))
        self.assertEqual(self.tactus("check", model, "--quiet").stdout, "")

    def test_check_rate(self):
        told = self.json("check", self.write("m.tact", OSCILLATOR), "--rate", 1000)["rate"]
        self.assertEqual((told["rate"], told["solver"], told["steps_a_tick"], told["newton_blocks"]), (1000, "rk4", 1, 0))
        # x'' = -w^2 x twice: four evaluations, some dozen operations each, and the sums of rk4 over four states.
        self.assertTrue(4 * 8 < told["operations"]["most"] < 400, told["operations"])
        self.assertEqual(told["operations"]["usual"], told["operations"]["most"])
        self.assertGreater(told["ticks"], 100)
        self.assertAlmostEqual(told["share"], told["seconds"]["median"] * 1000, places=9)
        # What a scene shows is computed at every tick, too.
        drawn = self.write("drawn.tact", OSCILLATOR + "scene\n  sphere at (sin(7 * p[1]), cos(3 * p[2]));\n")
        self.assertGreater(self.json("check", drawn, "--rate", 1000)["rate"]["operations"]["usual"], told["operations"]["usual"] + 50)
        # A stiff method's matrix costs a tangent for each column, and its elimination.
        stiff = self.write("stiff.tact", OSCILLATOR.replace("step_size", "solver = rosenbrock step_size"))
        matrix = self.json("check", stiff, "--rate", 1000)["rate"]["operations"]["most"]
        self.assertTrue(2 * 4**3 / 3 + 16 * 4**2 < matrix < 3000, matrix)
        # An event is looked for in five places of a step as a rule, and at most in pieces of a 64th of it; then within 1 ns of 1 ms.
        bounces = self.write("event.tact", OSCILLATOR.replace("boundary", "event low when p[1] < 0;\nboundary") + "reactive\n  n = init a = 0 in { low => a + 1 }\n")
        events = self.json("check", bounces, "--rate", 1000)["rate"]["operations"]
        self.assertGreater(events["usual"], told["operations"]["usual"])
        self.assertGreater(events["most"], events["usual"] + 64 * 4)
        self.assertGreater(events["each_event"], 22 * 8 * 4)
        # A step of a quarter of the tick, four of them.
        fine = self.write("fine.tact", OSCILLATOR.replace("step_size = 0.001", "step_size = 0.00025"))
        four = self.json("check", fine, "--rate", 1000)["rate"]
        self.assertEqual(four["steps_a_tick"], 4)
        self.assertGreater(four["operations"]["most"], 2.5 * told["operations"]["most"])

    def test_check_rate_bounds_newton_and_tells_failures(self):
        slow = self.write("newton.tact", DIVERGES)
        done = self.tactus("check", slow, "--rate", 100, exit_code=3)  # no solution from x = 1 on
        self.assertIn("at most 50 iterations of 30 halvings", done.stdout)
        self.assertIn("failed", done.stdout)
        told = self.json("check", slow, "--rate", 100, exit_code=3)["rate"]
        self.assertEqual(told["newton_blocks"], 1)
        self.assertGreater(told["operations"]["most"], 100 * told["operations"]["usual"])
        self.usage("check", slow, "--rate", "0", says=["--rate"])

    def test_model_errors(self):
        model = self.write("bad.tact", DECAY.replace("y = 2 * x", "y = 2 * z").replace("-k * x", "-k * x + foo(3)"))
        for command in ["run", "check", "explain"]:
            done = self.tactus(command, model, exit_code=1)
            self.assertRegex(done.stderr, r"bad\.tact:\d+:\d+: error\[")
            self.assertIn("^", done.stderr)
        told = self.json("run", model, exit_code=1)
        self.assertEqual(told["status"], "error")
        first = told["diagnostics"][0]
        for key in ["code", "severity", "file", "line", "column", "text", "hints"]:
            self.assertIn(key, first)

    def test_explain(self):
        model = self.write("m.tact", OSCILLATOR)
        done = self.tactus("explain", model)
        stages = ["tokens", "tree", "expanded", "model", "flat", "blocks", "ir", "c", "llvm"]
        for stage in stages:
            self.assertIn(f"== {stage}: ", done.stdout)
            self.assertTrue(self.tactus("explain", model, f"--dump={stage}").stdout.strip(), stage)
        told = self.json("explain", model, "--dump=blocks")
        self.assertEqual([stage["name"] for stage in told["stages"]], ["blocks"])
        self.usage("explain", model, "--dump=block", says=["did you mean `blocks`"])

    def test_plot(self):
        self.tactus("run", self.write("m.tact", OSCILLATOR), "--out", "run.csv")
        self.tactus("plot", "run.csv")
        self.assertIn("<svg", (self.folder / "run.svg").read_text())
        self.tactus("plot", "run.csv", "-o", "p.png", "--show", "p,q")
        self.assertTrue((self.folder / "p.png").exists())
        self.assertEqual(self.json("plot", "run.csv", "--show", "p")["curves"], 2)
        self.usage("plot", "run.csv", "--show", "r", says=["`r`"])
        self.usage("plot", "none.csv", says=["none.csv"])

    def test_export_c(self):
        model = self.write("decay.tact", DECAY)
        self.tactus("export", "c", model, "-o", "out")
        names = sorted(path.name for path in (self.folder / "out").iterdir())
        self.assertIn("Makefile", names)
        self.assertEqual(len(names), 3)
        if shutil.which("make") and shutil.which("cc"):
            subprocess.run(["make", "-C", self.folder / "out"], check=True, capture_output=True)
            program = next(path for path in (self.folder / "out").iterdir() if os.access(path, os.X_OK))
            exported = subprocess.run([program], check=True, capture_output=True, text=True).stdout
            self.tactus("run", model, "--out", "run.csv")
            numbers = [[float(cell) for cell in line.split(",")] for line in exported.splitlines()[1:]]
            self.assertEqual(numbers, self.rows("run.csv")[1])

    def test_exported_c_writes_the_csv_of_a_run(self):
        """Columns, units and digits: what is inside an instance or in a scene only is no column, numbers are as short as they can be."""
        model = self.write("m.tact", """
            simulation ending_time = 2 [s] record_period = 0.1 [s]
            module Spring = (ports x, F; parameter k = 4 [N/m]; system F = -k * x; twice = 2 * F;)
            parameter m = 3 [kg], small = 1e-7, large = 1e+23;
            boundary x(0) = 10 [cm], x'(0) = 0, p(0) = (0.1, 100000), n(0) = 0;
            system m * x'' = F;  spring = Spring(x, F);  p' = small * p;  n' = large;
            scene sphere at (x, 0 [m]) radius 1 [cm];
        """)
        self.tactus("run", model, "--solver", "rk4", "--step", "0.01", "--out", "run.csv")
        self.tactus("export", "c", model, "-o", "out")
        subprocess.run(["make", "-C", self.folder / "out"], check=True, capture_output=True)
        exported = subprocess.run([self.folder / "out" / "m", "--solver", "rk4", "--step", "0.01"], check=True, capture_output=True, text=True)
        text = (self.folder / "run.csv").read_text()
        self.assertEqual(exported.stdout, text)
        self.assertEqual(text.splitlines()[0], "t,x [m],p[1],p[2],n,F [N]")

    def test_exported_names_do_not_clash(self):
        for name, exported in [("tactus", "model_tactus"), ("TK_x", "model_TK_x"), ("run", "model_run"), ("\u03c9", "model")]:
            self.tactus("export", "c", self.write(f"{name}.tact", DECAY), "-o", exported)
            self.assertTrue((self.folder / exported / f"{exported}.c").exists(), exported)
            if shutil.which("make") and shutil.which("cc"):
                subprocess.run(["make", "-C", self.folder / exported], check=True, capture_output=True)


class BadInput(CommandLineTest):
    """Nothing crashes or hangs; every mistake has a place and a reason."""

    def refused(self, text, says=(), name="bad.tact", timeout=60):
        path = self.write(name, text)
        done = self.tactus("check", path, exit_code=1, timeout=timeout)
        self.assertIn(name, done.stderr)
        self.assertLess(len(done.stderr), 20_000)
        for word in says:
            self.assertIn(word, done.stderr)
        return done

    def test_invalid_utf8(self):
        self.refused(DECAY.encode() + b"// caf\xe9\n", ["UTF-8", "bad.tact:7:"])

    def test_nul_bytes(self):
        self.refused(DECAY.encode().replace(b"y = 2", b"y = \x002"), ["NUL", "bad.tact:6:"])

    def test_binary(self):
        self.refused(bytes(range(256)) * 64)

    def test_empty(self):
        self.refused("")
        self.refused("   \n// nothing\n")

    def test_nested_parentheses(self):
        deep = "(" * 100_000 + "1" + ")" * 100_000
        self.refused(f"system x = {deep};")
        self.refused(f"system x = {'(' * 100_000};")
        self.refused(f"system x = {'-' * 100_000}1 + ;")
        self.refused(f"system x = {'sin(' * 100_000}1;")

    def test_a_large_file(self):
        line = "  y = 2 * x; // the same again\n"
        self.refused(DECAY + line * (10_000_000 // len(line)), timeout=110)

    def test_a_large_comment(self):
        path = self.write("large.tact", "/*" + "x" * 10_000_000 + "*/\n" + DECAY)
        self.tactus("check", path)

    def test_nan_in_a_boundary(self):
        for value in ["0/0", "log(-1)", "sqrt(-1)", "1/0"]:
            path = self.write("nan.tact", DECAY.replace("x(0) = 1", f"x(0) = {value}"))
            done = subprocess.run([TACTUS, "run", path], capture_output=True, text=True, timeout=60, check=False)
            self.assertIn(done.returncode, (1, 4), done.stderr)
            self.assertIn("x", done.stderr)
            self.assertRegex(done.stderr, r"nan\.tact:\d+|at the start")

    def test_nan_from_a_parameter_at_the_start(self):
        path = self.write("nan.tact", "parameter c = 1; boundary x with x(0) = sqrt(c); system x' = -x;")
        self.tactus("run", path, "--until", "1")
        told = self.json("run", path, "--until", "1", "--set", "c=-1", exit_code=4)
        self.assertEqual(told["status"], "failed")
        self.assertIn("at the start", told["failure"]["text"])


class Failures(CommandLineTest):
    def test_a_newton_block_that_diverges(self):
        path = self.write("m.tact", DIVERGES)
        done = self.tactus("run", path, "--out", "run.csv", exit_code=4)
        self.assertIn("sin(z) / 1000 = 1 - x", done.stderr)
        self.assertRegex(done.stderr, r"line 5")
        self.assertRegex(done.stderr, r"at t = 0\.9\d")
        self.assertRegex(done.stderr, r"z = -?[\d.e-]+")
        self.assertRegex(done.stderr, r"x = (0\.99|1)")
        self.assertIn("hint", done.stderr)
        _, rows = self.rows("run.csv")
        self.assertGreaterEqual(len(rows), 10)
        self.assertAlmostEqual(rows[9][0], 0.9, delta=1e-12)

        told = self.json("run", path, exit_code=4)
        self.assertEqual(told["status"], "failed")
        self.assertIn(told["failure"]["kind"], ("diverged", "singular"))
        self.assertEqual(told["failure"]["line"], 5)
        self.assertIn("z", told["failure"]["unknowns"])
        self.assertAlmostEqual(told["failure"]["states"]["x"], 1, delta=0.02)

    def test_growth_without_bound(self):
        path = self.write("m.tact", EXPLODES)
        for options in [[], ["--solver", "tsit5"]]:
            done = self.tactus("run", path, "--out", "run.csv", *options, exit_code=4)
            self.assertIn("x", done.stderr)
            _, rows = self.rows("run.csv")
            self.assertGreaterEqual(len(rows), 10)
            self.assertTrue(all(math.isfinite(value) for row in rows for value in row))


class Streams(CommandLineTest):
    def start(self, *words, **options):
        process = subprocess.Popen([TACTUS, *map(str, words)], cwd=self.folder, **options)
        self.addCleanup(lambda: (process.poll() is None and process.kill(), process.wait()))
        return process

    def wait_for_rows(self, name, count, seconds=60):
        deadline = time.time() + seconds
        path = self.folder / name
        while time.time() < deadline:
            if path.exists() and path.read_bytes().count(b"\n") > count:
                return
            time.sleep(0.05)
        self.fail(f"no {count} rows in {name} after {seconds} s")

    def test_kill_keeps_the_rows(self):
        process = self.start("run", self.write("m.tact", LONG), "--out", "run.csv", "--quiet")
        self.wait_for_rows("run.csv", 1000)
        process.kill()
        self.assertEqual(process.wait(), -signal.SIGKILL)
        lines = (self.folder / "run.csv").read_text().splitlines()
        self.assertGreater(len(lines), 1000)
        for k, line in enumerate(lines[1:1000]):
            t, x = map(float, line.split(","))
            self.assertAlmostEqual(t, k, delta=1e-9 * (1 + k))
            self.assertAlmostEqual(x, math.cos(t), delta=1e-6)

    def test_ctrl_c_ends_the_run_well(self):
        process = self.start("run", self.write("m.tact", LONG), "--out", "run.csv", "--json", stdout=subprocess.PIPE, text=True)
        self.wait_for_rows("run.csv", 100)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130)
        told = json.loads(output)
        self.assertEqual(told["status"], "interrupted")
        _, rows = self.rows("run.csv")
        self.assertEqual(rows[-1][0], told["time"])
        self.assertAlmostEqual(told["values"]["x"], rows[-1][1], delta=0)

    def test_rows_stream_to_a_pipe(self):
        process = self.start("run", self.write("m.tact", LONG), "--out", "-", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        ready, _, _ = select.select([process.stdout], [], [], 60)
        self.assertTrue(ready)
        self.assertEqual(process.stdout.readline().strip(), b"t,x")
        process.stdout.close()  # a reader that leaves, such as head: the run ends, and nothing crashes
        self.assertEqual(process.wait(timeout=60), 4)
        process.stderr.close()

    def shell(self, command):
        return subprocess.run(["bash", "-c", command, TACTUS], cwd=self.folder, capture_output=True, text=True, timeout=60,
                              check=False)

    def test_streams_that_take_nothing(self):
        self.write("m.tact", DECAY)
        self.write("bad.tact", "system x = ;")
        for lost in ["2>/dev/full", "2>&-"]:
            self.assertEqual(self.shell(f"$0 check bad.tact {lost}").returncode, 1, lost)
            self.assertEqual(self.shell(f"$0 run m.tact --step x {lost}").returncode, 2, lost)
            self.assertEqual(self.shell(f"$0 run m.tact --until 1e3 {lost}").returncode, 0, lost)
        for lost in [">/dev/full", ">&-"]:
            for words in ["run m.tact", "run m.tact --json", "check m.tact", "explain m.tact", "--help"]:
                done = self.shell(f"$0 {words} {lost}")
                self.assertEqual(done.returncode, 4, words)
                self.assertIn("cannot write to standard output", done.stderr)
            self.assertEqual(self.shell(f"$0 check bad.tact --json {lost}").returncode, 1)
        # Messages never land in a file that took the number of a closed stream.
        self.assertEqual(self.shell("$0 run m.tact --out run.csv --until 1 >&- 2>&-").returncode, 4)
        self.assertEqual(len(self.rows("run.csv")[1]), 101)
        done = self.shell("$0 run m.tact --until 1e6 --out - --every 0.01 2>&1 | head -1; exit ${PIPESTATUS[0]}")
        self.assertEqual((done.returncode, done.stdout), (4, "t,x,y\n"))

    def test_interrupts_within_one_long_step(self):
        process = self.start("run", self.write("m.tact", DECAY), "--solver", "euler", "--step", "1e-3", "--until", "1e-3",
                             "--every", "1e-12", "--out", "run.csv", stdout=subprocess.DEVNULL)
        self.wait_for_rows("run.csv", 100)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=30), 130)

    def test_no_progress_bar_in_a_pipe(self):
        done = self.tactus("run", self.write("m.tact", LONG), "--until", "3e5")
        self.assertNotIn("\r", done.stderr)
        self.assertNotIn("%", done.stderr)

    def on_a_terminal(self, *words):
        """What a terminal gets from stderr."""
        main, sub = pty.openpty()
        process = self.start(*words, stderr=sub, stdout=subprocess.PIPE)
        os.close(sub)
        shown = b""
        deadline = time.time() + 60
        while time.time() < deadline:
            ready, _, _ = select.select([main], [], [], 0.5)
            if ready:
                try:
                    piece = os.read(main, 65536)
                except OSError:
                    break
                if not piece:
                    break
                shown += piece
            elif process.poll() is not None:
                break
        process.stdout.read()
        process.stdout.close()
        self.assertEqual(process.wait(), 0)
        os.close(main)
        return shown.decode()

    def test_a_progress_bar_on_a_terminal(self):
        model = self.write("m.tact", LONG)
        shown = self.on_a_terminal("run", model, "--until", "2e5")  # 2e8 steps
        bars = re.findall(r"\r([^\r]*?)\x1b\[K", shown)
        self.assertTrue(any(re.search(r"\[#*\.*\] +\d+ %.*left", bar) for bar in bars), shown)
        self.assertTrue(shown.endswith("\r\x1b[K"), repr(shown[-100:]))  # erased

    def test_quiet_shows_no_progress_bar(self):
        self.assertEqual(self.on_a_terminal("run", self.write("m.tact", LONG), "--until", "2e4", "--quiet"), "")


class Format(CommandLineTest):
    UGLY = "system\nx'=-x;  // decays\n"
    NEAT = "system\n  x' = -x;  // decays\n"

    def test_rewrites_in_place(self):
        ugly, neat = self.write("ugly.tact", self.UGLY), self.write("neat.tact", self.NEAT)
        os.chmod(ugly, 0o640)
        before = os.stat(neat).st_mtime_ns
        done = self.tactus("format", ugly, neat)
        self.assertEqual(done.stdout, f"formatted {ugly}\n")
        self.assertEqual(pathlib.Path(ugly).read_text(), self.NEAT)
        self.assertEqual(os.stat(ugly).st_mode & 0o777, 0o640)
        self.assertEqual(os.stat(neat).st_mtime_ns, before)
        self.assertEqual(sorted(os.listdir(self.folder)), ["neat.tact", "ugly.tact"])

    def test_follows_a_link(self):
        target = self.write("target.tact", self.UGLY)
        os.symlink(target, self.folder / "link.tact")
        self.tactus("format", "link.tact", "--quiet")
        self.assertTrue(os.path.islink(self.folder / "link.tact"))
        self.assertEqual(pathlib.Path(target).read_text(), self.NEAT)

    def test_check_names_the_files_and_writes_nothing(self):
        ugly, neat = self.write("ugly.tact", self.UGLY), self.write("neat.tact", self.NEAT)
        self.assertEqual(self.tactus("format", "--check", ugly, neat, exit_code=1).stdout, f"{ugly}\n")
        self.assertEqual(pathlib.Path(ugly).read_text(), self.UGLY)
        self.assertEqual(self.tactus("format", "--check", neat).stdout, "")

    def test_standard_input_and_output(self):
        self.assertEqual(self.tactus("format", "-", stdin=self.UGLY).stdout, self.NEAT)
        ugly = self.write("ugly.tact", self.UGLY)
        self.assertEqual(self.tactus("format", "--stdout", ugly).stdout, self.NEAT)
        self.assertEqual(pathlib.Path(ugly).read_text(), self.UGLY)
        done = self.tactus("format", "-", "--name", "a.ridl", stdin="plan=init 0 in{clock=>x}\n")
        self.assertEqual(done.stdout, "plan = init 0 in { clock => x }\n")
        self.assertEqual(self.tactus("format", "-", "--check", stdin=self.UGLY, exit_code=1).stdout, "<stdin>\n")

    def test_refuses_what_it_cannot_read_and_goes_on(self):
        bad, ugly = self.write("bad.tact", "system\nx == 1;\n"), self.write("ugly.tact", self.UGLY)
        done = self.tactus("format", bad, ugly, exit_code=1)
        self.assertIn("error[L", done.stderr)
        self.assertIn(f"{bad} is left as it is", done.stderr)
        self.assertEqual(pathlib.Path(bad).read_text(), "system\nx == 1;\n")
        self.assertEqual(pathlib.Path(ugly).read_text(), self.NEAT)

    def test_json(self):
        bad, ugly = self.write("bad.tact", b"\xff\xfe"), self.write("ugly.tact", self.UGLY)
        told = self.json("format", bad, ugly, exit_code=1)
        self.assertEqual(told["status"], "error")
        self.assertEqual([file["status"] for file in told["files"]], ["refused", "formatted"])
        self.assertEqual(told["diagnostics"][0]["code"], "F005")
        self.assertEqual(self.json("format", ugly)["files"], [{"file": ugly, "status": "unchanged"}])

    def test_usage(self):
        self.usage("format", "missing.tact", says=["no such file"])
        self.usage("format", "--check", "--stdout", "a.tact", says=["do not go together"])
        self.usage("format", says=["no model is named"])

    def test_a_file_that_may_not_be_written_is_kept(self):
        if os.geteuid() == 0:
            self.skipTest("root may write everything")
        ugly = self.write("ugly.tact", self.UGLY)
        os.chmod(ugly, 0o444)
        self.assertIn("permission denied", self.tactus("format", ugly, exit_code=2).stderr)
        self.assertEqual(pathlib.Path(ugly).read_text(), self.UGLY)

    def test_the_examples_keep_their_meaning(self):
        for example in sorted((pathlib.Path(__file__).parent.parent / "examples").glob("*.tact")):
            copy = self.folder / example.name
            shutil.copy(example, copy)
            for data in example.parent.glob("*.csv"):
                shutil.copy(data, self.folder)
            before = self.tactus("explain", copy, "--dump=ir").stdout
            self.tactus("format", copy, "--quiet")
            self.assertEqual(self.tactus("explain", copy, "--dump=ir").stdout, before)
            self.tactus("format", copy, "--check")


if __name__ == "__main__":
    TACTUS = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
