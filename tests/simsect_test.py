"""SimSect's files: a run that is set up by an initialisation file, and what it leaves.

    python3 tests/simsect_test.py build/bin/tactus [TEST..]
"""
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TACTUS = ""

# x = cos(w t), released at 1; the sign of x switches what y gathers.
OSCILLATOR = """
parameter w = 2 in 0..10, gain = 1;
constant c = 3;
boundary x with x(0) = 1, x'(0) = 0;  y with y(0) = 0;  p with p(0) = (0, 0);
system
  x'' = -w^2 * x;
  y' = if x < 0 then gain else 0;
  p' = (c, 2 * c);
"""

BALL = """
parameter e = 0.7 in 0..1, g = 10;
boundary y with y(0) = 1, y'(0) = 0;
system
  y'' = -g;
  transition Bounce when y <= 0 && y' < 0 { next(y') = -e * y'; }
"""

PENDULUM = """
boundary x(0) = 1; y(0) = 0; y'(0) = 0;
system
  x'' = f * x;
  y'' = f * y - 9.81;
  x^2 + y^2 = 1;
"""


def numbers(path):
    return [[float(word) for word in line.split()] for line in path.read_text().splitlines()]


def symbols(path):
    return dict(re.findall(r"^(\S+) = (\S+);$", path.read_text(), re.M))


class SimSect(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def run_model(self, model, init=None, *options, name="model.tact"):
        (self.path / name).write_text(model)
        words = [TACTUS, "run", name, *options]
        for number, text in enumerate([init] if isinstance(init, str) else init or []):
            (self.path / f"{number}.rc").write_text(text)
            words += ["--init", f"{number}.rc"]
        return subprocess.run(words, cwd=self.path, capture_output=True, text=True, timeout=120, check=False)

    def result(self, *arguments, **more):
        done = self.run_model(*arguments, "--json", **more)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def test_settings_parameters_and_starts(self):
        init = "finalTime = 3; tolerance = 1e-9; power = 0.2;\nw = 1.5; gain = 4; c = -1;\nx = 2; xdot = 3; p_2 = 7;\n"
        result = self.result(OSCILLATOR, init)
        self.assertEqual(result["time"], 3)
        self.assertEqual(result["solver"], "tsit5")
        self.assertAlmostEqual(result["values"]["x"], 2 * math.cos(4.5) + 2 * math.sin(4.5), delta=1e-6)
        # x < 0 from w t = 3 pi / 4 on
        self.assertAlmostEqual(result["values"]["y"], 4 * (3 - 0.75 * math.pi / 1.5), delta=1e-6)
        self.assertAlmostEqual(result["values"]["p"][0], -3, delta=1e-9)
        self.assertAlmostEqual(result["values"]["p"][1], 7 - 6, delta=1e-9)

    def test_defaults_are_those_of_the_manual(self):
        result = self.result(OSCILLATOR, "# nothing\n")
        self.assertEqual(result["time"], 1)
        self.assertEqual(result["solver"], "bs3")
        self.assertGreaterEqual(result["steps"], 100)  # none is longer than 1e-2
        # What the model says comes before that, what the file says before both, and the command line before all.
        timed = "simulation ending_time = 2 solver = dop853\n" + OSCILLATOR
        self.assertEqual(self.result(timed, "# nothing\n")["time"], 2)
        self.assertEqual(self.result(timed, "# nothing\n")["solver"], "dop853")
        self.assertEqual(self.result(timed, "finalTime = 3; power = 0.33;")["time"], 3)
        self.assertEqual(self.result(timed, "finalTime = 3; power = 0.33;")["solver"], "bs3")
        last = self.result(timed, "finalTime = 3; w = 5;", "--until", "4", "--set", "w=1", "--solver", "tsit5")
        self.assertEqual((last["time"], last["solver"]), (4, "tsit5"))
        self.assertAlmostEqual(last["values"]["x"], math.cos(4), delta=1e-3)

    def test_files_that_are_left(self):
        init = 'dataBaseName = "first"; recordPeriod = 0.25; finalTime = 2; w = 3; xdot = 0.5; tolerance = 1e-8;'
        result = self.result(OSCILLATOR, init, "--show", "x,x',p")
        self.assertEqual(result["status"], "done")
        rows = numbers(self.path / "first.data")
        self.assertEqual([row[0] for row in rows], [0.25 * k for k in range(9)])
        for t, x, rate, p1, p2 in rows:
            self.assertAlmostEqual(x, math.cos(3 * t) + 0.5 / 3 * math.sin(3 * t), delta=1e-6)
            self.assertAlmostEqual(rate, -3 * math.sin(3 * t) + 0.5 * math.cos(3 * t), delta=1e-5)
            self.assertAlmostEqual(p1, 3 * t, delta=1e-9)
            self.assertAlmostEqual(p2, 6 * t, delta=1e-9)
        self.assertEqual(symbols(self.path / "first.initial"), {"x": "1", "xdot": "0.5", "y": "0", "p_1": "0", "p_2": "0"})
        self.assertEqual(symbols(self.path / "first.param"), {"w": "3", "gain": "1"})
        self.assertIn("# columns of first.data: t x x' p[1] p[2]", (self.path / "first.initial").read_text())
        # From these files the same run begins again, to the last bit.
        again = self.run_model(OSCILLATOR, ["recordPeriod = 0.25; finalTime = 2; tolerance = 1e-8;"], "--base", "second", "--init",
                               "first.initial", "--init", "first.param", "--show", "x,x',p")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual((self.path / "first.data").read_text(), (self.path / "second.data").read_text())

    def test_base_alone(self):
        done = self.run_model(OSCILLATOR, None, "--base", "out", "--until", "1", "--every", "0.5", "--out", "out.csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(numbers(self.path / "out.data")), 3)
        self.assertEqual((self.path / "out.data").read_text(), "".join(
            line.replace(",", " ") for line in (self.path / "out.csv").read_text().splitlines(True)[1:]))
        self.assertIn("wrote out.data (3 rows)", done.stdout)

    def test_every_step_is_recorded(self):
        result = self.result(OSCILLATOR, "finalTime = 1; tolerance = 1e-3; maxTimeStep = 0.5;", "--base", "all")
        rows = numbers(self.path / "all.data")
        self.assertGreaterEqual(len(rows), result["steps"])
        self.assertTrue(all(a[0] < b[0] for a, b in zip(rows, rows[1:])))

    def test_stop_precision_is_of_the_guard(self):
        # The guard's slope at the change is 1e6: to a nanosecond it would be off by 1e-3.
        model = """
boundary x(0) = 0; hit(0) = 0;
system x' = 1; hit' = 0;
  transition Hit when 1e6 * (x - 0.3) >= 0 && hit < 0.5 { next(hit) = 1; }
reactive at = init 0 in { Hit => 1e6 * (x - 0.3) }
"""
        for precision in (1e-3, 1e-6, 1e-9):
            result = self.result(model, f"stopPrecision = {precision}; finalTime = 1;")
            self.assertLessEqual(0, result["values"]["at"])
            self.assertLessEqual(result["values"]["at"], max(precision, 2e-10))
        done = self.run_model(model, "maxStopIter = 1; finalTime = 1;", "--json")
        self.assertEqual(done.returncode, 4)
        self.assertEqual(json.loads(done.stdout)["failure"]["kind"], "not_located")

    def test_charts_are_counted(self):
        done = self.run_model(OSCILLATOR, "finalTime = 30; maxChartCount = 4;", "--json", "--base", "kept")
        self.assertEqual(done.returncode, 4)
        failure = json.loads(done.stdout)["failure"]
        self.assertEqual(failure["kind"], "too_many_changes")
        self.assertAlmostEqual(failure["time"], (4.5 * math.pi) / 2, delta=1e-2)
        self.assertAlmostEqual(numbers(self.path / "kept.data")[-1][0], failure["time"], delta=1e-9)
        # A model with transitions: these.
        done = self.run_model(BALL, "finalTime = 2; maxChartCount = 2; tolerance = 1e-8;", "--json")
        self.assertEqual(done.returncode, 4)
        t = math.sqrt(2 / 10) * (1 + 2 * 0.7 + 2 * 0.49)
        self.assertAlmostEqual(json.loads(done.stdout)["failure"]["time"], t, delta=1e-6)

    def test_shortest_step(self):
        done = self.run_model("boundary x(0) = 1; system x' = x^2;", "finalTime = 2; minTimeStep = 1e-3;", "--json")
        self.assertEqual(done.returncode, 4)
        failure = json.loads(done.stdout)["failure"]
        self.assertEqual(failure["kind"], "step_too_small")
        self.assertLess(failure["time"], 1)

    def test_progress_is_told(self):
        done = self.run_model(OSCILLATOR, "finalTime = 1; measurePeriod = 0.25;")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(re.findall(r"^t = (\S+)$", done.stderr, re.M), ["0.25", "0.5", "0.75", "1"])
        quiet = self.run_model(OSCILLATOR, "finalTime = 1; measurePeriod = 0.25;", "--quiet")
        self.assertEqual(quiet.stderr, "")

    def test_the_file_of_the_manual(self):
        """Figure 1 as printed, but for a shorter run: `rkPower` and `maxStopIterations` stand for `power` and `maxStopIter`."""
        here = pathlib.Path(__file__).parent
        figure = (here / "reference" / "simsect_figure_1.rc").read_text().replace("finalTime = 5;", "finalTime = 0.5;")
        slip = (here.parent / "examples" / "slip.tact").read_text()
        done = self.run_model(slip, figure, name="slip.tact")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("steps of bs3", done.stdout)
        self.assertEqual([row[0] for row in numbers(self.path / "hexapod.data")], [0.01 * k for k in range(51)])
        self.assertEqual(re.findall(r"^t = (\S+)$", done.stderr, re.M), ["0.1", "0.2", "0.3", "0.4", "0.5"])
        for ending in ("initial", "param"):
            self.assertTrue((self.path / f"hexapod.{ending}").exists())
        steps = int(re.search(r"(\d+) steps of bs3", done.stdout).group(1))
        self.assertGreaterEqual(steps, 500)  # none is longer than maxTimeStep
        short = self.run_model(slip, figure.replace("rkPower = 0.33", "rkPower = 0.7"), name="slip.tact")
        self.assertEqual(short.returncode, 2)
        few = self.run_model(slip, figure.replace("maxStopIterations = 128", "maxStopIterations = 1"), "--json", name="slip.tact")
        self.assertEqual(json.loads(few.stdout)["failure"]["kind"], "not_located")

    def test_starts_that_constraints_determine(self):
        result = self.run_model(PENDULUM, None, "--base", "rod", "--until", "1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(symbols(self.path / "rod.initial")["x"], "1")
        again = self.run_model(PENDULUM, [], "--init", "rod.initial", "--json")
        self.assertEqual(again.returncode, 0, again.stdout + again.stderr)

    def test_notes(self):
        result = self.result(OSCILLATOR, 'systemName = "hexapod"; useGeomview = 1; framerate = 30; gian = 2;')
        notes = "\n".join(result["notes"])
        for part in ("this file is for the model `hexapod`", "Geomview", "`framerate` is neither", "did you mean `gain`?"):
            self.assertIn(part, notes)

    def test_mistakes(self):
        for text, code, line in (("a = 1;\nb 2;", "I001", 2), ("power = 0.7;", "I009", 1), ("tolerance = 0;", "I008", 1)):
            done = self.run_model(OSCILLATOR, text, "--json")
            self.assertEqual(done.returncode, 2, done.stdout)
            told = json.loads(done.stdout)["diagnostics"][0]
            self.assertEqual((told["code"], told["line"]), (code, line))
            self.assertIn(code, done.stderr)
        missing = self.run_model(OSCILLATOR, None, "--init", "nowhere.rc")
        self.assertEqual(missing.returncode, 2)
        self.assertIn("nowhere.rc", missing.stderr)

    def test_nothing_that_is_read_is_written_over(self):
        (self.path / "a.initial").write_text("x = 1;\n")
        done = self.run_model(OSCILLATOR, None, "--init", "a.initial", "--base", "a")
        self.assertEqual(done.returncode, 2)
        self.assertEqual((self.path / "a.initial").read_text(), "x = 1;\n")
        named = self.run_model(OSCILLATOR, 'dataBaseName = "b";', "--init", "a.initial", "--base", "a")
        self.assertEqual(named.returncode, 2)
        (self.path / "c.param").write_text("dataBaseName = \"c\";\n")
        own = self.run_model(OSCILLATOR, None, "--init", "c.param")
        self.assertEqual(own.returncode, 2)
        self.assertEqual((self.path / "c.param").read_text(), "dataBaseName = \"c\";\n")

    def test_a_model_from_standard_input(self):
        (self.path / "s.rc").write_text("finalTime = 2; x = 3;")
        done = subprocess.run([TACTUS, "run", "-", "--init", "s.rc", "--json"], cwd=self.path, input=OSCILLATOR,
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertAlmostEqual(json.loads(done.stdout)["values"]["x"], 3 * math.cos(4), delta=1e-2)


if __name__ == "__main__":
    TACTUS = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
