"""Devices in simulated time behind a model's hand, by the real program.

    python3 tests/device_test.py build/bin/tactus [TEST..]

Rest positions against the balance of two springs, stability against (b + B)/(T/2 + t_d), motions that are written down against themselves.
"""
import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TACTUS = ""
# A wall at 0 that is felt on both sides, so that nothing but the spring acts.
WALL = """simulation ending_time = {end} step_size = 0.001 solver = rk4
external hand reads u writes force = -{k} * u every 0.001
boundary s(0) = 0;
system s' = u - s;
"""
BARE = "mass=0.1,damping=0.5,coulomb=0,encoder=0"


class Devices(unittest.TestCase):
    def start(self, text, command, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "m.tact"
            path.write_text(text, encoding="utf-8")
            return subprocess.run([TACTUS, command, str(path), *map(str, options)], capture_output=True, text=True, timeout=300, check=False)

    def rows(self, text, device, *options):
        done = self.start(text, "run", "--quiet", "--out", "-", "--device", f"hand={device}", *options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return [{name.split(" ")[0]: float(cell) for name, cell in row.items()} for row in csv.DictReader(io.StringIO(done.stdout))]

    def test_it_rests_where_both_springs_pull_alike(self):
        # 400 N/m towards 2 cm, 200 N/m towards 0; friction and encoder left out. The arm damps with 3 N s/m: e^(-3/0.5 5 s) is lost.
        rows = self.rows(WALL.format(end=5, k=200), f"simulated:touch,{BARE},target=(0.02,0)")
        self.assertAlmostEqual(rows[-1]["u"], 0.02 * 400 / 600, delta=1e-6)
        self.assertAlmostEqual(rows[-1]["hand.force"], -200 * 0.02 * 400 / 600, delta=1e-3)

    def test_the_encoder_and_the_force_limit(self):
        rows = self.rows(WALL.format(end=1, k=200), "simulated:touch,target=(0.02*sin(9*t),0)")
        for row in rows:
            self.assertAlmostEqual(row["u"] / 55e-6, round(row["u"] / 55e-6), delta=1e-6)
        self.assertGreater(max(row["u"] for row in rows), 0.005)
        held = self.rows(WALL.format(end=3, k=4000), f"simulated:touch,{BARE},force=1,target=(0.02,0)")
        # 400 N/m pull against 1 N, which is all that the device can give.
        self.assertAlmostEqual(held[-1]["u"], 0.02 - 1 / 400, delta=2e-4)

    def test_nobody_holds_a_wall_beyond_the_limit_without_the_guard_acting(self):
        # A bare device of 0.1 kg and 0.5 N s/m, let go at 1 mm: 2 b / T = 1000 N/m. Three times that wall would shake ever more; the guard keeps
        # what the hand gets below what the spring stored at the start, K x^2 / 2 = 1.5 mJ.
        rows = self.rows(WALL.format(end=3, k=3000), f"simulated:touch,{BARE},arm=(0,0,0),target=(0.001,0)")
        # So it never comes further than from where it was let go, and nearly all of the 1.5 mJ ends in the guard: friction is what the device has, little.
        self.assertLessEqual(max(abs(row["u"]) for row in rows), 0.001)
        done = self.start(WALL.format(end=3, k=3000), "run", "--json", "--device", f"hand=simulated:touch,{BARE},arm=(0,0,0),target=(0.001,0)")
        note = next(n for n in json.loads(done.stdout)["notes"] if n.startswith("the hand"))
        self.assertAlmostEqual(float(note.split("the guard ")[1].split(" J")[0]), 1.5e-3, delta=0.1e-3)

    def test_a_motion_that_is_written_down(self):
        rows = self.rows(WALL.format(end=1, k=1), "script:(0.3*sin(2*t),0)")
        import math
        for row in rows:
            self.assertAlmostEqual(row["u"], 0.3 * math.sin(2 * row["t"]), delta=1e-12)

    def test_the_same_bits_twice(self):
        device = "simulated:omega,target=(0.02*sin(9*t),0),delay=1"
        self.assertEqual(self.rows(WALL.format(end=0.5, k=500), device), self.rows(WALL.format(end=0.5, k=500), device))

    def test_play_takes_it_too(self):
        done = self.start(WALL.format(end=1, k=200), "play", "--headless", "--for", 1, "--json", "--device", "hand=simulated:touch")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout)
        self.assertGreater(told["ticks"], 0)
        wrong = self.start(WALL.format(end=1, k=200), "play", "--headless", "--for", 1, "--device", "GUI=simulated:touch")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("its hand is `hand`", wrong.stderr)

    def test_mistakes(self):
        for device, expected in {
            "simulated:tuch": "there is no preset `tuch`",
            "simulated:touch,dely=1": "a simulated device has no `dely`",
            "simulated:touch,delay=0.5": "a delay is a whole number of ticks",
            "simulated:touch,arm=(1,2)": "`arm=(1,2)` is no arm",
            "simulated:touch,mass=-1": "`mass=-1` is no mass",
            "script:(sin(t),": "is no motion",
            "script:": "`--device hand=script:` names no",
            "haply": "devices of kind `haply` are not built yet",
            "smulated:touch": "did you mean `simulated`?",
        }.items():
            done = self.start(WALL.format(end=1, k=200), "run", "--device", f"hand={device}")
            self.assertEqual(done.returncode, 2, device)
            self.assertIn(expected, done.stderr, device)


if __name__ == "__main__":
    TACTUS = str(pathlib.Path(sys.argv[1]).resolve())
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:])
