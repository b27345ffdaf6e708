"""Energies, ports that carry power and joins, by the real program.

    python3 tests/ports_test.py build/bin/tactus [TEST..]

Motions are compared with closed forms, and with the same physics written without modules and ports.
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

TACTUS = ""
K, M = 1.0, 2.0
PARTS = """simulation ending_time = 100 step_size = 0.001 solver = rk4
constant k = 1, m = 2;
module Spring = (
  boundary q(0) = {zero};
  system   q' = v;  F = k * q;
  energy H = k / 2 * {q_squared};
  power end: v -> F;
)
module Mass = (
  boundary p(0) = {two};
  system   p' = F;  v = p / m;
  energy H = {p_squared} / (2 * m);
  power end: F -> v;
)
"""
SCALAR = PARTS.format(zero="0", two="2", q_squared="q^2", p_squared="p^2")
PLANE = PARTS.format(zero="(0, 1)", two="(2, 0)", q_squared="dot(q, q)", p_squared="dot(p, p)")


class Ports(unittest.TestCase):
    def tactus(self, text, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "m.tact"
            path.write_text(text, encoding="utf-8")
            command = [TACTUS, options[0], str(path), *map(str, options[1:])]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def run_json(self, text, *options):
        return json.loads(self.tactus(text, "run", "--json", *options))

    def test_a_mass_joined_to_a_spring_swings(self):
        got = self.run_json(SCALAR + "system a = Spring(); b = Mass(); join a.end to b.end; total = a.H + b.H;")["values"]
        w = math.sqrt(K / M)
        # RK4's error a unit of time is (w h)^4 / 120 w of the amplitude: 2e-13 after 100.
        self.assertAlmostEqual(got["a.q"], 2 / (M * w) * math.sin(100 * w), delta=1e-10)
        self.assertAlmostEqual(got["b.p"], 2 * math.cos(100 * w), delta=1e-10)
        self.assertAlmostEqual(got["total"], 1, delta=1e-11)

    def test_a_join_is_the_two_equations(self):
        joined = self.run_json(SCALAR + "system a = Spring(); b = Mass(); join a.end to b.end;")["values"]
        written = self.run_json(SCALAR + "system a = Spring(); b = Mass(); a.v = b.v; b.F = -a.F;")["values"]
        for values in joined, written:  # of ports that are not joined the book counts what is supplied
            for name in [name for name in values if name.startswith("book.")]:
                del values[name]
        self.assertEqual(joined, written)

    def test_ends_may_be_exchanged(self):
        one = self.run_json(SCALAR + "system a = Spring(); b = Mass(); join a.end to b.end;")["values"]
        other = self.run_json(SCALAR + "system a = Spring(); b = Mass(); join b.end to a.end;")["values"]
        self.assertAlmostEqual(one["a.H"], other["a.H"], delta=1e-9)
        self.assertAlmostEqual(one["b.H"], other["b.H"], delta=1e-9)

    def test_ports_of_vectors(self):
        text = PLANE + "system a = Spring(); b = Mass(); join a.end to b.end; total = a.H + b.H;"
        got = self.run_json(text)["values"]
        w = math.sqrt(K / M)
        self.assertAlmostEqual(got["total"], 1.5, delta=1e-11)
        self.assertAlmostEqual(got["a.q"][0], 2 / (M * w) * math.sin(100 * w), delta=1e-10)
        self.assertAlmostEqual(got["a.q"][1], math.cos(100 * w), delta=1e-10)
        flat = self.tactus(text, "explain", "--dump=flat")
        self.assertIn("power a.end: a.v[1] -> a.F[1], a.v[2] -> a.F[2], joined\n", flat)

    def test_joins_in_a_module_and_in_a_loop(self):
        pair = SCALAR + """module Pair = ( system s = Spring(); w = Mass(); join s.end to w.end; total = s.H + w.H; )
system
  pair = Pair();
  a[i in 1..2] = Spring();  b[i in 1..2] = Mass();
  for i in 1..2 { join a[i].end to b[i].end; }
"""
        got = self.run_json(pair)["values"]
        self.assertAlmostEqual(got["pair.total"], 1, delta=1e-11)
        for name in ["a[1].q", "a[2].q"]:
            self.assertEqual(got[name], got["pair.s.q"])

    def test_the_flat_model_lists_energies_and_ports(self):
        flat = self.tactus(SCALAR + "external hand reads u\nsystem b = Mass(); b.F = u - d; d = b.v; power drag: -d -> b.v;",
                           "explain", "--dump=flat")
        self.assertEqual([line for line in flat.splitlines() if line.startswith(("energy", "power"))],
                         ["energy b.H", "power drag: -d -> b.v", "power b.end: b.F -> b.v"])


if __name__ == "__main__":
    TACTUS = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
