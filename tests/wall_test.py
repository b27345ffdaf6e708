#!/usr/bin/env python3
"""tactus wall, against closed forms.

    python3 tests/wall_test.py build/bin/tactus [TEST..]

The physics is held to account in src/haptic and src/analysis; here is what the command makes of it.
"""
import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

TACTUS = ""
FREE = ("--mass", "0.1", "--damping", "0.5")


class Wall(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = pathlib.Path(self.folder.name)

    def tactus(self, *options, code=0):
        done = subprocess.run([TACTUS, "wall", *options], cwd=self.at, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def points(self, *options):
        return json.loads(self.tactus(*options, "--json").stdout)["points"]

    def test_figures_of_the_reference(self):
        for delay, expected in enumerate((1000.8, 333.8, 200.4)):
            point, = self.points(*FREE, "--rate", "1000", "--delay", str(delay), "--at", "0")
            self.assertAlmostEqual(point["simulated"], expected, delta=1e-3 * expected)
            self.assertAlmostEqual(point["linear"], expected, delta=0.05)
            self.assertAlmostEqual(point["theory"], 0.5 / (0.0005 + 0.001 * delay), places=6)
            self.assertAlmostEqual(point["passive"], 0.5 / (0.0005 + 0.001 * delay), places=6)

    def test_theory_beside_simulation(self):
        for point in self.points(*FREE, "--rate", "2000", "--delay", "1", "--at", "0,0.2,0.5,1"):
            self.assertAlmostEqual(point["theory"], (0.5 + point["damping"]) / (0.00025 + 0.0005), places=6)
            self.assertAlmostEqual(point["simulated"] / point["theory"], 1, delta=0.03)
            self.assertAlmostEqual(point["simulated"] / point["linear"], 1, delta=1e-3)

    def test_friction_needs_an_amplitude(self):
        found = []
        for amplitude in (1e-4, 1e-3, 1e-2):
            point, = self.points(*FREE, "--coulomb", "0.05", "--delay", "1", "--at", "0", "--amplitude", str(amplitude))
            swing = math.sqrt(point["simulated"] / 0.1)
            told = (0.5 + 4 * 0.05 / (math.pi * swing * amplitude)) / 0.0015
            self.assertAlmostEqual(point["simulated"] / told, 1, delta=0.06)
            found.append(point["simulated"])
        self.assertEqual(found, sorted(found, reverse=True))
        self.assertIn("amplitude of 10 mm", self.tactus(*FREE, "--coulomb", "0.05", "--at", "0", "--amplitude", "0.01").stderr)

    def test_the_whole_of_it(self):
        options = (*FREE, "--delay", "1", "--out", "wall.svg", "--out", "wall.png", "--csv", "wall.csv")
        got = json.loads(self.tactus(*options, "--json").stdout)
        self.assertEqual(got["files"], ["wall.csv", "wall.svg", "wall.png"])
        svg = (self.at / "wall.svg").read_text()
        for word in ("simulated", "eigenvalues", "passive", "delay of 1 tick"):
            self.assertIn(word, svg)
        self.assertTrue((self.at / "wall.png").read_bytes().startswith(b"\x89PNG"))
        with open(self.at / "wall.csv", newline="") as file:
            rows = list(csv.reader(file))
        self.assertEqual(rows[0][0], "damping [N*s/m]")
        self.assertEqual(len(rows) - 1, len(got["points"]))
        for row, point in zip(rows[1:], got["points"]):
            self.assertEqual([float(row[0]), float(row[5])], [point["damping"], point["simulated"]])
        # Rises, turns, and falls to nothing before the end.
        found = [point["simulated"] for point in got["points"]]
        self.assertGreater(max(found), 10 * found[0])
        self.assertLess(found[-1], max(found) / 2)
        self.assertLess(got["points"][-1]["damping"], got["most_wall_damping"])
        again = json.loads(self.tactus(*options, "--json").stdout)
        self.assertEqual(got, again)

    def test_presets(self):
        listed = json.loads(self.tactus("--list-presets", "--json").stdout)["presets"]
        self.assertEqual([preset["name"] for preset in listed], ["touch", "omni", "premium", "omega", "falcon"])
        for preset in listed:
            done = self.tactus("--preset", preset["name"], "--rate", "1000", "--delay", "1", "--at", "0,0.5,1", "--out", "wall.png", "--out", "wall.svg")
            self.assertTrue((self.at / "wall.png").read_bytes().startswith(b"\x89PNG"))
            self.assertIn(preset["title"], (self.at / "wall.svg").read_text())
            self.assertIn(preset["title"], done.stdout)
            self.assertIn(f"note: {preset['name']}: {preset['estimate']}", done.stderr)
            self.assertIn("force limit", done.stderr)
            # Without friction, encoder and limit the line is the theory's, within its 3%: the mass of all of them is large beside (b + B) (T/2 + t_d) there.
            bare = json.loads(self.tactus("--preset", preset["name"], "--rate", "1000", "--delay", "1", "--coulomb", "0", "--encoder", "0",
                                          "--force-limit", "1e9", "--at", "0,0.5,1", "--json").stdout)
            for point in bare["points"]:
                told = (bare["device"]["damping"] + point["damping"]) / 0.0015
                self.assertAlmostEqual(point["theory"], told, places=6)
                self.assertAlmostEqual(point["simulated"] / told, 1, delta=0.03, msg=preset["name"])
        self.assertIn("3D Systems Touch", self.tactus("--list-presets").stdout)
        # A preset's figures can be given otherwise.
        heavy = json.loads(self.tactus("--preset", "touch", "--mass", "0.5", "--at", "0", "--json").stdout)
        self.assertEqual(heavy["device"]["mass"], 0.5)
        self.assertEqual(heavy["device"]["coulomb"], 0.26)

    def test_force_limit(self):
        point, = self.points(*FREE, "--force-limit", "0.01", "--at", "0")
        self.assertTrue(point["cut_off"])
        point, = self.points(*FREE, "--force-limit", "1000", "--at", "0")
        self.assertFalse(point["cut_off"])
        self.assertAlmostEqual(point["simulated"], 1000.8, delta=1.1)

    def test_guard(self):
        for point in self.points(*FREE, "--delay", "1", "--at", "0,1,5", "--guard"):
            self.assertGreater(point["guarded"], 3 * point["simulated"])
        point, = self.points("--preset", "touch", "--delay", "1", "--at", "0", "--guard")
        self.assertGreater(point["guarded"], 2 * point["simulated"])
        self.assertIn("guarded", self.tactus(*FREE, "--at", "0", "--guard").stdout)

    def test_one_side(self):
        arm = ("--arm", "0.5,4,300")
        both, = self.points(*FREE, *arm, "--delay", "1", "--at", "0")
        self.assertAlmostEqual(both["theory"], 4.5 / 0.0015, places=6)
        one, = self.points(*FREE, *arm, "--delay", "1", "--at", "0", "--unilateral")
        self.assertAlmostEqual(one["simulated"] / both["simulated"], 1, delta=0.01)

    def test_mistakes(self):
        for options, text, hint in (
            (("--preset", "toch"), "there is no preset `toch`", "did you mean `touch`? there are touch, omni, premium, omega, falcon"),
            (("--preset", "xyzzy"), "there is no preset `xyzzy`", "there are touch"),
            ((), "it is not said which device is meant", "--mass"),
            (("--mass", "0.1"), "it is not said which device is meant", "--damping"),
            ((*FREE, "--mass", "0"), "--mass", "once"),
            (("--mass", "0", "--damping", "1"), "--mass cannot be 0", "above 0"),
            ((*FREE, "--coulomb", "-1"), "--coulomb cannot be -1", "not below 0"),
            ((*FREE, "--rate", "0"), "a rate of 0 Hz", "1 to"),
            ((*FREE, "--delay", "-1"), "a delay of -1 ticks", "0 to 100"),
            ((*FREE, "--amplitude", "0"), "an amplitude of 0 m", "0.001"),
            ((*FREE, "--arm", "1,2"), "--arm needs three numbers", "--arm 0.15,3,400"),
            ((*FREE, "--arm", "a,2,3"), "is not a number", "--help"),
            ((*FREE, "--delay", "0.5"), "`0.5` is not a whole number in digits, which --delay needs", "--help"),
            ((*FREE, "--unilateral"), "needs an arm", "--arm 0.15,3,400"),
            ((*FREE, "--out", "wall.gif"), "wall.gif", ".svg"),
            ((*FREE, "--at", "0,1", "--out", "wall.svg"), "there is nothing to draw", "--at 0.1,1,10"),
            ((*FREE, "--encodr", "1"), "there is no option `--encodr`", "--encoder"),
        ):
            with self.subTest(options):
                done = self.tactus(*options, code=2)
                self.assertIn(text, done.stderr)
                self.assertIn(hint, done.stderr)
        told = json.loads(self.tactus("--preset", "toch", "--json", code=2).stdout)
        self.assertEqual(told["status"], "usage")

    def test_help(self):
        text = self.tactus("--help").stdout
        for word in ("--preset", "--guard", "--amplitude", "tactus wall --preset touch --rate 1000 --delay 1 --out wall.svg"):
            self.assertIn(word, text)


if __name__ == "__main__":
    TACTUS = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
