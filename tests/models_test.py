#!/usr/bin/env python3
"""Small models with closed forms: every expression and function of the language, and what once went wrong.

    models_test.py PATH_OF_TACTUS

Each row is a model, options, and what the names must be at the end. Values that only pass through functions are held to 1e-12
of their size (functions are within 1 ulp, a formula has a few operations); values that a solver found to its tolerance, with the
factor that the span of time earns it.
"""
import json
import math
import subprocess
import sys
import tempfile
import unittest

TACTUS = sys.argv.pop(1) if len(sys.argv) > 1 else "tactus"
EXACT = 1e-12
STATE = "boundary u(0) = 0; system u' = 1; "  # so that time passes

VALUES = [
    # vectors and matrices
    ("rotate", "system a = rotate((1, 0), pi / 6); b = rotate((1, 2, 3), (0, 0, 2), pi / 2);", {"a": [math.cos(math.pi / 6), 0.5], "b": [-2, 1, 3]}),
    ("cross", "system a = cross((1, 2, 3), (4, 5, 6)); b = cross((1, 2), (3, 4));", {"a": [-3, 6, -3], "b": -2}),
    ("products", "system m = ((1, 2), (3, 4)); a = m * (5, 6); b = m * m; c = transpose(m); d = det(m); e = inverse(m); f = (1, 2) * (3, 4);",
     {"a": [17, 39], "b": [[7, 10], [15, 22]], "c": [[1, 3], [2, 4]], "d": -2, "e": [[-2, 1], [1.5, -0.5]], "f": [3, 8]}),
    ("skew, diag, identity", "system s = skew((1, 2, 3)) * (4, 5, 6); d = diag(1, 2); i = identity(2);", {"s": [-3, 6, -3], "d": [[1, 0], [0, 2]], "i": [[1, 0], [0, 1]]}),
    ("lengths", "system n = norm((3, 4)); d = direction((3, 4)); z = direction((0, 0)); p = proj((3, 4), (2, 0)); q = distance((1, 1), (4, 5)); i = index((7, 8), 2);",
     {"n": 5, "d": [0.6, 0.8], "z": [0, 0], "p": [3, 0], "q": 5, "i": 8}),
    ("a scalar is a vector of one", "system a = dot(-3, 2); b = direction(-3); c = direction(0 * t); d = proj(-3, 2); e = dot((1, 2), 0);",
     {"a": -6, "b": -1, "c": 0, "d": -3, "e": 0}),
    ("sum", "constant n = 4; system a = sum(i in 1..n: i^2);", {"a": 30}),
    ("an unknown behind a matrix", "system ((2, 1), (1, 3)) * p = (3, 5);", {"p": [0.8, 1.4]}),
    # scalars
    ("steps and kinks", "system a = min(3, 1, 2); b = max(1, 2); c = clamp(7, 0, 5); d = sign(-2); e = floor(-1.5); f = ceil(-1.5); g = abs(-3); h = sign(0);",
     {"a": 1, "b": 2, "c": 5, "d": -1, "e": -2, "f": -1, "g": 3, "h": 0}),
    ("functions", "system a = atan2(-1, -1); b = power(-2, 3); c = 2^-2; d = -2^2; e = log(exp(1.5)); f = asin(1) + acos(1) + atan(1); g = tan(0.5); h = 2^3^2;",
     {"a": -0.75 * math.pi, "b": -8, "c": 0.25, "d": -4, "e": 1.5, "f": 0.75 * math.pi, "g": math.tan(0.5), "h": 512}),
    ("conditions", "system a = if 1 < 2 && !(2 <= 1) then 5 else 6; b = if(1 = 2, 3, 4); c = if (360, -260) in (350, -300) then 1 else 0; d = if 3 in 1..2 then 1 else 0; e = 1 < 2; f = if (1, 1) in box((0, 0), (2, 2)) || false then 1 else 0;",
     {"a": 5, "b": 4, "c": 1, "d": 0, "e": 1, "f": 1}),
    ("units", "system a = 30 [deg]; b = 2 [kHz]; c = 3 [km/h]; d = 4 [N/m];", {"a": math.pi / 6, "b": 2000, "c": 3 / 3.6, "d": 4}),
    ("a function chooses before the run", "function left(v, k) = if k = 1 then 7 else v[k - 1]; system v = (1, 2); a = left(v, 1); b = left(v, 2); c = sum(i in 1..2: if i < 2 then v[i + 1] else 0);",
     {"a": 7, "b": 1, "c": 2}),
    ("functions of functions", "function f(x) = x^2 + 1; function g(x) = f(f(x)); system a = g(2); b = f((1, 2));", {"a": 26, "b": [2, 5]}),
    # calculus, exact
    ("diff", "parameter k = 3; system x = 1 + t; a = diff(k * x^3, x);", {"a": 36}),
    ("derivatives of given functions", STATE + "w = (sin(t), t^2); v = w'; a = w'';", {"v": [math.cos(1), 2], "a": [-math.sin(1), 2]}),
    ("loops of two to five", STATE + "a + b = 3; a - b = 1; c + d + e = 6; c - d = 0; e = 2 * c - d + t; "
     + " ".join(f"{'+'.join(f'{(5 if i == j else 1)}*y{j}' for j in range(1, 6))} = {4 * i + 15};" for i in range(1, 6)),
     {"a": 2, "b": 1, "c": 5 / 3, "d": 5 / 3, "e": 8 / 3, "y1": 1, "y2": 2, "y3": 3, "y4": 4, "y5": 5}),
    # Newton
    ("Kepler's equation", STATE + "E - 0.5 * sin(E) = 1 + 0 * t;", {"E": 1.4987011335178482}),
    ("a guess chooses the root", "boundary u(0) = 0, x(0) ~ -2, y(0) ~ 5; system u' = 1; x^2 = 4; y^2 = 8 + t;", {"x": -2, "y": 3}),
    ("the continuous root", "boundary u(0) = 0, y(0) ~ 0.1; system u' = 1; sin(y - 20 * t) = 0;", {"y": 20}),
]

SOLVED = [
    # name, model, options, expected, tolerance
    ("order five", "boundary x(0) = 0, x'(0) = 1, x''(0) = 0, x'''(0) = -1, x''''(0) = 0; system x''''' = x';", ["--tolerance", "1e-11"], {"x": math.sin(1)}, 1e-9),
    ("integration", "system a = integration(cos(t)); b = integration((1, 2 * t));", ["--tolerance", "1e-11"], {"a": math.sin(1), "b": [1, 1]}, 1e-9),
    ("derivatives of what is made of states", "boundary x(0) = 1; system x' = -x; y = x^2 + t; z = y'; w = y'';", ["--tolerance", "1e-11"],
     {"z": 1 - 2 * math.exp(-2), "w": 4 * math.exp(-2)}, 1e-9),
    ("starts that read each other", "boundary x(0) = 2 * y, y(0) = 3; system x' = y; y' = 0;", ["--tolerance", "1e-11"], {"x": 9}, 1e-9),
    ("another starting time", "simulation starting_time = 2 ending_time = 3 boundary x(2) = 1; system x' = t;", ["--until", "3", "--tolerance", "1e-11"], {"x": 3.5}, 1e-9),
    ("--set of a constant written as an equation", "boundary x(0) = 0; system x' = k; k = 4;", ["--set", "k=5"], {"x": 5}, 1e-9),
    ("--set of a constant in a setting", "constant T = 2; simulation ending_time = T system y = t;", ["--set", "T=5"], {"y": 5}, 1e-12),
    ("a friction that changes sign", "boundary v(0) = 1; system v' = -sign(v);", ["--step", "0.001", "--until", "0.5"], {"v": 0.5}, 1e-9),
]

MODULES = [
    # name, model, options, expected
    ("a start that is a parameter spreads", "parameter v = 2; boundary p(0) = v, q(0) = v; system p' = (1, 3); q' = 1;", [], {"p": [3, 5], "q": 3}),
    ("over the parts of a tuple too", "module M = ( ports p; parameter p0 = 2; boundary p(0) = p0; system p' = (1, 3); ) system M((x, y));", [], {"x": 3, "y": 5}),
    ("a parameter of an instance may be a vector", "module M = ( ports p; parameter p0 = 2; boundary p(0) = p0; system p' = 0 * p; ) system M(x, p0 = (1, 2));", [], {"x": [1, 2]}),
    ("a period is a parameter", "parameter T = 0.3, from = 0.05; event e every T from from + 0.05; reactive n = init a = 0 in { e => a + 1 } " + STATE, [], {"n": 4}),
    ("and may be set", "parameter T = 0.3; event e every T from 0.1; reactive n = init a = 0 in { e => a + 1 } " + STATE, ["--set", "T=0.15"], {"n": 7}),
    ("a period of each instance", "module C = ( ports n; parameter T = 0.3, at = 0.7; event e every T; event f at at; reactive n = init a = 0 in { e => a + 1, f => a + 10 } ) "
     "parameter slow = 0.4; system C(n); C(m, T = slow / 2); C(k, T = slow, at = 2); " + STATE, [], {"n": 14, "m": 16, "k": 3}),
    ("an event is a port", "module H = ( ports u, y, e; reactive y = init 0 in { e => u } ) event e every 0.3; system H(t, y, e); " + STATE, [], {"y": 0.9}),
    ("a behaviour is a port of any form", "module N = ( ports y; event e every 0.3; reactive y = init a = (0, 0) in { e => a + (1, 2) } ) system N((p, q)); s = N(); r = s.y; " + STATE, [],
     {"p": 4, "q": 8, "r": [4, 8]}),
]

FAILURES = [
    # name, model, exit code, what is said
    ("two equations that say the same", STATE + "a + b = 1; 2 * a + 2 * b = 2;", 1, "S019"),
    ("an equation that says nothing", STATE + "y = y;", 1, "S017"),
    ("three that become the same", STATE + "a + b + c = 1; a - b = t; 2 * a + 2 * b + 2 * c = 2 + t;", 1, "S019"),
    ("two that a parameter makes the same", "parameter p = 1; " + STATE + "a + b = 1; a + p * b = 1;", 4, "a + b = 1; a + p * b = 1"),
    ("no solution", STATE + "exp(y) = 0.5 - t;", 4, "exp(y) = 0.5 - t"),
    ("functions that grow without bound", "function f0(x) = x + x; " + " ".join(f"function f{i}(x) = f{i - 1}(x) + f{i - 1}(x);" for i in range(1, 40)) + " system y = f39(t);", 1, "C023"),
]


def run(text, options):
    with tempfile.NamedTemporaryFile("w", suffix=".tact") as file:
        file.write(text)
        file.flush()
        return subprocess.run([TACTUS, "run", file.name, "--json", "--quiet", *options], capture_output=True, text=True, timeout=60)


class Models(unittest.TestCase):
    def compare(self, expected, found, tolerance, where):
        if isinstance(expected, list):
            self.assertEqual(len(expected), len(found), where)
            for e, f in zip(expected, found):
                self.compare(e, f, tolerance, where)
        else:
            self.assertLessEqual(abs(expected - found), tolerance * max(1, abs(expected)), f"{where}: {found}, not {expected}")

    def check(self, text, options, expected, tolerance):
        result = run(text, options)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        values = json.loads(result.stdout)["values"]
        for name, value in expected.items():
            self.compare(value, values[name], tolerance, name)

    def test_values(self):
        for name, text, expected in VALUES:
            with self.subTest(name):
                self.check(text, ["--until", "1"], expected, EXACT)

    def test_solved(self):
        for name, text, options, expected, tolerance in SOLVED:
            with self.subTest(name):
                until = [] if "--until" in options or "ending_time" in text else ["--until", "1"]
                self.check(text, until + options, expected, tolerance)

    def test_modules(self):
        for name, text, options, expected in MODULES:
            with self.subTest(name):
                self.check(text, ["--until", "1", *options], expected, EXACT)

    def test_long_vectors(self):
        # Far from its end a chain does not know how long it is: cell 1 of 9,000 is that of 40, here by small steps of Heun's method.
        v, h = [0.0] * 40, 1 / 2000
        rate = lambda v: [(v[k - 1] if k else 1) - 2 * v[k] + (v[k + 1] if k + 1 < len(v) else v[k]) for k in range(len(v))]  # noqa: E731
        for _ in range(2000):
            a = rate(v)
            b = rate([x + h * y for x, y in zip(v, a)])
            v = [x + h / 2 * (y + z) for x, y, z in zip(v, a, b)]
        model = """constant n = 9000;
                   boundary for k in 1..n { v[k](0) = 0; }
                   system
                     v[1]' = 1 - 2*v[1] + v[2];  v[n]' = v[n - 1] - v[n];
                     for k in 2..n - 1 { v[k]' = v[k - 1] - 2*v[k] + v[k + 1]; }
                     first = v[1];  third = v[3];"""
        # The tolerance of 1e-6 is of the mean over 9,000 cells, most of which rest.
        self.check(model, ["--until", "1", "--show", "first,third"], {"first": v[0], "third": v[2]}, 1e-4)

    def test_failures(self):
        for name, text, code, said in FAILURES:
            with self.subTest(name):
                result = run(text, ["--until", "1"])
                self.assertEqual(result.returncode, code, result.stdout + result.stderr)
                self.assertIn(said, result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()
