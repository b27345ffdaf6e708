#!/usr/bin/env python3
"""Tables, delays and noise, from the text of a program to its numbers, against closed forms and interpolations of their own.

    data_test.py PATH_OF_TACTUS [TEST..]

Values that pass only through a table are held to 1e-12 of their size (a few operations, in another order than here).
"""
import bisect
import csv
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

TACTUS = ""
EXACT = 1e-12
CLOCK = "boundary u(0) = 0; system u' = 1; "  # so that time passes


class Folder:
    """A folder with the files of a program, in which it is run."""

    def __init__(self, **files):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        for name, text in files.items():
            self.write(name.replace("__", ".", 1), text)

    def write(self, name, text):
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())

    def run(self, text, *options, name="model.tact"):
        self.write(name, text)
        command = [TACTUS, "run", name, "--json", "--quiet", *map(str, options)]
        done = subprocess.run(command, cwd=self.path, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != 0:
            raise AssertionError(f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return json.loads(done.stdout)["values"]

    def rows(self, text, *options):
        """{name: [value of each recorded row]}"""
        self.run(text, "--out", "run.csv", *options)
        with open(self.path / "run.csv", encoding="utf8") as file:
            columns = list(zip(*csv.reader(file)))
        return {column[0]: [float(v) for v in column[1:]] for column in columns}


def linear(xs, ys, x):
    if x <= xs[0]:
        return ys[0]
    if x >= xs[-1]:
        return ys[-1]
    k = bisect.bisect_right(xs, x) - 1
    return ys[k] + (ys[k + 1] - ys[k]) * (x - xs[k]) / (xs[k + 1] - xs[k])


def hold(xs, ys, x):
    return ys[max(0, bisect.bisect_right(xs, x) - 1)]


def pchip_slopes(xs, ys):
    """Moler, Numerical Computing with MATLAB, section 3.6."""
    n = len(xs)
    h = [b - a for a, b in zip(xs, xs[1:])]
    d = [(b - a) / w for a, b, w in zip(ys, ys[1:], h)]
    if n == 2:
        return [d[0], d[0]]

    def end(h0, h1, d0, d1):
        s = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1)
        if math.copysign(1, s) != math.copysign(1, d0) or s == 0 or d0 == 0:
            return 0.0
        if math.copysign(1, d0) != math.copysign(1, d1) and abs(s) > 3 * abs(d0):
            return 3 * d0
        return s

    slopes = [end(h[0], h[1], d[0], d[1])]
    for k in range(1, n - 1):
        if d[k - 1] * d[k] <= 0:
            slopes.append(0.0)
            continue
        w1, w2 = 2 * h[k] + h[k - 1], h[k] + 2 * h[k - 1]
        slopes.append((w1 + w2) / (w1 / d[k - 1] + w2 / d[k]))
    return slopes + [end(h[-1], h[-2], d[-1], d[-2])]


def cubic(xs, ys, x):
    if x <= xs[0]:
        return ys[0]
    if x >= xs[-1]:
        return ys[-1]
    s = pchip_slopes(xs, ys)
    k = bisect.bisect_right(xs, x) - 1
    h = xs[k + 1] - xs[k]
    z = (x - xs[k]) / h  # Hermite's basis
    return ((1 + 2 * z) * (1 - z) ** 2 * ys[k] + z * (1 - z) ** 2 * h * s[k]
            + z * z * (3 - 2 * z) * ys[k + 1] + z * z * (z - 1) * h * s[k + 1])


METHODS = {"linear": linear, "hold": hold, "cubic": cubic}


class DataTest(unittest.TestCase):
    def close(self, got, expected, tolerance, what=""):
        self.assertLessEqual(abs(got - expected), tolerance * max(1, abs(expected)), f"{what}: {got}, not {expected}")


class Tables(DataTest):
    def setUp(self):
        dice = random.Random(7)
        self.x = sorted(dice.uniform(-1, 2) for _ in range(30))
        self.y = [dice.gauss(0, 3) for _ in self.x]
        self.z = [dice.gauss(5, 1) for _ in self.x]
        rows = "".join(f"{x!r},{y!r},{z!r}\n" for x, y, z in zip(self.x, self.y, self.z))
        self.folder = Folder(wild__csv="x [m],force [N],heat\n" + rows)

    def test_every_method_inside_and_beyond_the_ends(self):
        for method, own in METHODS.items():
            text = CLOCK + f'a = table("wild.csv", {method}, column = "force")(4 * t - 1.5); b = table("wild.csv", method = {method}, column = 3)(4 * t - 1.5);'
            rows = self.folder.rows(text, "--step", 0.01, "--until", 1)
            self.assertGreater(len(rows["t"]), 90)
            for t, a, b in zip(rows["t"], rows["a"], rows["b"]):
                u = 4 * t - 1.5
                if method == "hold" and min(abs(u - x) for x in self.x) < 1e-9:
                    continue
                self.close(a, own(self.x, self.y, u), EXACT * 100, f"{method} at {u}")
                self.close(b, own(self.x, self.z, u), EXACT * 100, f"{method} at {u}")

    def test_cubic_is_monotone_where_the_data_are(self):
        self.folder.write("steps.csv", "0 0\n1 0.1\n2 0.1\n3 5\n3.1 5.01\n7 9\n8 9\n")
        rows = self.folder.rows(CLOCK + 'y = table("steps.csv", cubic)(8 * t); v = y\';', "--step", 0.001, "--until", 1, "--show", "y,v")
        for a, b in zip(rows["y"], rows["y"][1:]):
            self.assertGreaterEqual(b, a - 1e-15)
        self.assertGreaterEqual(min(rows["v"]), 0)
        self.close(rows["y"][-1], 9, EXACT)

    def test_columns_are_a_vector(self):
        got = self.folder.run(CLOCK + 'p = table("wild.csv")(t); q = p[2]; s = norm(p);', "--until", 0.7)
        self.close(got["p"][0], linear(self.x, self.y, 0.7), EXACT)
        self.close(got["q"], linear(self.x, self.z, 0.7), EXACT)

    def test_a_vector_goes_in_component_by_component(self):
        got = self.folder.run(CLOCK + 'p = table("wild.csv", column = 2)((t, 2 * t, -t));', "--until", 0.7)
        for value, u in zip(got["p"], (0.7, 1.4, -0.7)):
            self.close(value, linear(self.x, self.y, u), EXACT)

    def test_two_dimensions(self):
        dice = random.Random(3)
        us, vs = [0, 0.5, 2, 3], [-1, 0, 0.25, 4, 5]
        z = [[dice.gauss(0, 1) for _ in vs] for _ in us]
        text = "u \\ v;" + ";".join(map(str, vs)) + "\n" + "".join(f"{u};" + ";".join(map(repr, row)) + "\n" for u, row in zip(us, z))
        self.folder.write("map.csv", text)
        for method, own in METHODS.items():
            program = CLOCK + f'a = table("map.csv", {method})(0.3 + 3 * t, 5.5 - 7 * t);'
            rows = self.folder.rows(program, "--step", 0.0371, "--until", 1)
            for t, a in zip(rows["t"], rows["a"]):
                u, v = 0.3 + 3 * t, 5.5 - 7 * t
                self.close(a, own(us, [own(vs, row, v) for row in z], u), EXACT * 10, f"{method} at {u}, {v}")

    def test_corner_may_be_missing(self):
        self.folder.write("bare.csv", "   10 20\n0  1  2\n1  3  5\n")
        self.close(self.folder.run(CLOCK + 'a = table("bare.csv")(u, 10 + 10 * u);', "--until", 0.5)["a"], 2.75, EXACT)

    def test_kinds_of_text(self):
        texts = {
            "comma": "0,1\n1,3\n", "semicolon": "0; 1\n1; 3\n", "tabs": "0\t1\n1\t3\n", "blanks": "  0  1 \n1    3\n",
            "windows": b"\xef\xbb\xbft,y\r\n0,1\r\n1,3\r\n", "comments": "# from a data sheet\n\nt [s], y [V] # units\n0, 1\n1, 3 # end\n\n",
            "quotes": '"t, of the clock","y"\n"0","1"\n"1","3"\n', "signs": "+0,+1e0\n1.0E0,.3e1\n", "no end": "0,1\n1,3",
            "blank names": "time [s] y [V]\n0 1\n1 3\n", "semicolons in quotes": '"a;b",c\n0,1\n1,3\n',
        }
        for name, text in texts.items():
            with self.subTest(name):
                self.folder.write("kind.csv", text)
                self.close(self.folder.run(CLOCK + 'a = table("kind.csv")(u);', "--until", 0.25)["a"], 1.5, EXACT)

    def test_names_of_columns_without_units(self):
        self.folder.write("named.csv", 'time [s],"torque (N m)",speed [rpm]\n0,1,10\n1,3,30\n')
        program = CLOCK + 'a = table("named.csv", column = "torque")(u); b = table("named.csv", column = "speed")(u);'
        got = self.folder.run(program, "--until", 0.5)
        self.close(got["a"], 2, EXACT)
        self.close(got["b"], 20, EXACT)

    def test_inside_functions_modules_and_used_files(self):
        # A path begins at the file where it is written.
        self.folder.write("parts/motor.tact", 'function torque(w) = table("data/motor.csv")(w);\n'
                          'module Motor = ( ports w, T; system T = table("data/motor.csv", cubic)(w); cubic_law = w^3; )')
        self.folder.write("parts/data/motor.csv", "0,4\n2,8\n")
        self.folder.write("data/motor.csv", "0,0\n2,0\n")
        program = 'use "parts/motor.tact"; ' + CLOCK + 'm = Motor(u, T); a = torque(u); b = T; c = table("data/motor.csv")(u);'
        got = self.folder.run(program, "--until", 1)
        self.close(got["a"], 6, EXACT)
        self.close(got["b"], 6, 1e-9)
        self.assertEqual(got["c"], 0)

    def test_columns_by_counter(self):
        self.folder.write("many.csv", "0,1,2,3\n1,2,3,4\n")
        program = 'module Pick = ( ports y; parameter i = 2; system y = table("many.csv", column = i)(t); ) '
        program += CLOCK + 'y[i in 1..3] = table("many.csv", column = i + 1)(t);'
        got = self.folder.run(program, "--until", 0.5)
        self.assertEqual([got[f"y[{i}]"] for i in (1, 2, 3)], [1.5, 2.5, 3.5])

    def test_constants_from_tables(self):
        self.folder.write("law.csv", "0,1\n2,5\n")
        got = self.folder.run('constant c = table("law.csv")(0.5), n = 2; system a = c * t; b = table("law.csv")(n); ' + CLOCK, "--until", 2)
        self.assertEqual((got["a"], got["b"]), (4, 5))

    def test_derivatives(self):
        # Of linear data the slope of the piece; the derivative of what a table gives follows the chain rule.
        self.folder.write("roof.csv", "0,0\n1,2\n3,-2\n")
        got = self.folder.run(CLOCK + 'y = table("roof.csv")(t^2); v = y\'; w = diff(table("roof.csv")(u), u);', "--until", 1.5)
        self.close(got["v"], -2 * 3, EXACT)
        self.close(got["w"], -2, EXACT)

    def test_in_handlers(self):
        self.folder.write("ramp.csv", "0,0\n10,100\n")
        program = 'simulation ending_time = 3.5 step_size = 0.01 event tick every 1; boundary x(0) = 0; system x\' = 1; reactive seen = init 0 in { tick => table("ramp.csv", linear)(x) }'
        self.close(self.folder.run(program)["seen"], 30, 1e-9)

    def test_a_hundred_thousand_rows(self):
        n = 100_000
        self.folder.write("long.csv", "".join(f"{i / n!r},{math.sin(i / n)!r}\n" for i in range(n + 1)))
        got = self.folder.run(CLOCK + 'a = table("long.csv")(u);', "--until", 0.5)
        self.close(got["a"], math.sin(0.5), 1e-10)


def steps_form(t):
    """x' = -x(t - 1), x = 1 before 0: sum of (-1)^k (t - k + 1)^k / k! as long as the base is positive (Bellman and Cooke,
    Differential-Difference Equations, 1963, section 3.2)."""
    return sum((-1) ** k * max(0.0, t - k + 1) ** k / math.factorial(k) for k in range(int(t) + 2))


class Delays(DataTest):
    def setUp(self):
        self.folder = Folder()

    def test_method_of_steps(self):
        # Until t = 5 the solution is a polynomial of degree at most 6 in each unit; rk4 with h = 0.01 is wrong by 1e-10 or so
        # times the sixth-order terms; the adaptive ones by their tolerance times a few.
        program = "boundary x(0) = 1; system x' = -delay(x, 1);"
        for options, tolerance in ((("--solver", "rk4", "--step", 0.01), 1e-8), (("--solver", "tsit5", "--tolerance", 1e-9), 1e-7),
                                   (("--solver", "dop853", "--tolerance", 1e-9), 1e-7)):
            for until in (0.5, 1.5, 2.25, 5):
                with self.subTest(options=options, until=until):
                    self.close(self.folder.run(program, *options, "--until", until)["x"], steps_form(until), tolerance)

    def test_vector(self):
        got = self.folder.run("boundary p(0) = (1, 2); system p' = -delay(p, 1); q = delay((t, t^2, 3), 0.5);", "--tolerance", 1e-10, "--until", 2.5)
        self.close(got["p"][0], steps_form(2.5), 1e-8)
        self.close(got["p"][1], 2 * steps_form(2.5), 1e-8)
        for value, expected in zip(got["q"], (2, 4, 3)):
            self.close(value, expected, 1e-9)

    def test_duration_of_parameters(self):
        program = "parameter d = 1, k = 2; boundary u(0) = 0; system u' = 1; y = delay(sin(t), d / k);"
        for option, d in ((), 0.5), (("--set", "d=1.5"), 0.75):
            self.close(self.folder.run(program, *option, "--step", 0.001, "--until", 2)["y"], math.sin(2 - d), 1e-10)

    def test_duration_written_as_an_equation(self):
        got = self.folder.run("boundary u(0) = 0; system u' = 1; T = 0.5; y = delay(t, T);", "--until", 2)
        self.close(got["y"], 1.5, 1e-9)

    def test_before_the_start_is_the_start(self):
        rows = self.folder.rows("simulation starting_time = 1 boundary x(1) = 3; system x' = 1; y = delay(x, 0.5);", "--until", 2, "--step", 0.01)
        for t, y in zip(rows["t"], rows["y"]):
            self.close(y, 3 if t <= 1.5 else 3 + (t - 1.5), 1e-9, t)

    def test_starts_that_read_a_delay(self):
        got = self.folder.run("boundary x(0) = 2, z(0) = 5 * y; system x' = 1; z' = 0; y = delay(x, 1);", "--until", 0.5)
        self.close(got["z"], 10, EXACT)

    def test_derivative_of_a_delay(self):
        # (sin(t - 1))' = cos(t - 1), and 0 before t = 1; once at once, once through a name.
        program = "boundary u(0) = 0, i(0) = 0; system u' = 1; y = delay(sin(t), 1); v = y'; w = delay(sin(t), 1)'; a = v'; i' = v;"
        rows = self.folder.rows(program, "--step", 0.01, "--until", 3, "--show", "v,w,a,i")
        for t, v, w, a in zip(rows["t"], rows["v"], rows["w"], rows["a"]):
            if abs(t - 1) < 1e-9:
                continue
            self.close(v, math.cos(t - 1) if t > 1 else 0, 1e-7, t)
            self.close(w, v, 1e-12, t)
            self.close(a, -math.sin(t - 1) if t > 1 else 0, 1e-7, t)
        self.close(rows["i"][-1], math.sin(2), 1e-8)  # the jump at 1 is a corner between two steps

    def test_derivative_of_a_delayed_state(self):
        # y'' asks for the derivative of what x' = -x(t - 1) delays: x''(t) = x(t - 2), and 0 until t = 1.
        program = "boundary x(0) = 1; system x' = -delay(x, 1); y = 3 * x; a = y'';"
        self.close(self.folder.run(program, "--step", 0.005, "--until", 2.5)["a"], 3 * steps_form(0.5), 1e-7)
        self.close(self.folder.run(program, "--step", 0.005, "--until", 0.5)["a"], 0, EXACT)

    def test_delays_of_delays_and_of_behaviours(self):
        program = "simulation ending_time = 2.75 step_size = 0.01 event tick every 1; boundary x(0) = 0; system x' = 1; y = delay(n, 0.5); z = delay(delay(t, 0.5), 0.25); reactive n = init a = 0 in { tick => a + 1 }"
        got = self.folder.run(program)
        self.assertEqual(got["y"], 3)  # ticks at 0, 1 and 2
        self.close(got["z"], 2, 1e-9)

    def test_in_modules(self):
        program = "module Echo = ( ports x, y; parameter lag = 1; system y = x + delay(x, lag); ) " + CLOCK + "a = Echo(u, p, lag = 0.25); b = Echo(u, q, lag = 0.5);"
        got = self.folder.run(program, "--until", 2)
        self.close(got["p"], 3.75, 1e-9)
        self.close(got["q"], 3.5, 1e-9)


class Noise(DataTest):
    PROGRAM = CLOCK + "n = noise(SEED); m = noise(SEED, 40 [Hz]); v = (n, noise(SEED + 1));"

    def setUp(self):
        self.folder = Folder()

    def rows(self, seed, *options):
        return self.folder.rows("constant SEED = 1; " + self.PROGRAM, "--set", f"SEED={seed}", "--step", 0.05, "--until", 500, "--every", 0.05, *options)

    def test_mean_deviation_and_independence(self):
        # 10,000 samples 0.05 s apart: at 10 Hz, whose samples lie so far apart, as good as independent. Means are off by 0.01,
        # variances by sqrt(2) percent, correlations by 0.01, times four for luck.
        a, b = self.rows(1), self.rows(2)
        for series in (a["n"], b["n"], a["m"]):
            mean = sum(series) / len(series)
            self.assertGreater(len(series), 9900)
            self.assertLess(abs(mean), 0.05)
            self.assertLess(abs(sum((x - mean) ** 2 for x in series) / len(series) - 1), 0.06)
            # Normal: the fourth moment is 3.
            self.assertLess(abs(sum(x ** 4 for x in series) / len(series) - 3), 0.4)
        correlation = sum(x * y for x, y in zip(a["n"], b["n"])) / len(a["n"])
        self.assertLess(abs(correlation), 0.05)
        self.assertEqual(a["v[2]"], b["n"])

    def test_equal_seeds_are_equal_whatever_the_solver(self):
        a = self.rows(3)
        self.assertEqual(a["n"], self.rows(3)["n"])
        fine = self.folder.rows("constant SEED = 3; " + self.PROGRAM, "--solver", "tsit5", "--until", 10, "--every", 0.05)
        at = {round(t / 0.05): n for t, n in zip(a["t"], a["n"])}
        for t, n in zip(fine["t"], fine["n"]):
            self.close(n, at[round(t / 0.05)], 1e-9, t)

    def power(self, series, step, frequency, width):
        """Of a series: the mean square of Fourier amplitudes around a frequency, white noise of deviation 1 giving 1."""
        n, total, count = len(series), 0.0, 0
        k0 = round(frequency * n * step)
        for k in range(k0 - width, k0 + width + 1):
            c = math.cos(2 * math.pi * k / n)
            s1 = s2 = 0.0
            for x in series:  # Goertzel
                s1, s2 = x + 2 * c * s1 - s2, s1
            total += (s1 * s1 + s2 * s2 - 2 * c * s1 * s2) / n
            count += 1
        return total / count

    def test_spectrum_is_flat_up_to_the_bandwidth_and_ends_there(self):
        rows = self.folder.rows(CLOCK + "n = noise(1, 10);", "--step", 0.01, "--until", 100, "--every", 0.01)
        series = rows["n"][:10000]
        # 81 lines of a chi-square with two degrees: off by 11 percent, times three. All power lies below 10 of 50 Hz; half way
        # down at 8.7.
        for frequency in (1, 3, 5, 7):
            self.assertLess(abs(self.power(series, 0.01, frequency, 40) * 8.7 / 50 - 1), 0.35, frequency)
        self.assertLess(self.power(series, 0.01, 12, 40) * 8.7 / 50, 1e-3)
        self.assertLess(self.power(series, 0.01, 30, 40) * 8.7 / 50, 1e-3)


class Mistakes(DataTest):
    def test_a_file_is_looked_for_beside_the_program(self):
        folder = Folder()
        folder.write("sub/model.tact", 'system y = table("no.csv")(t);')
        done = subprocess.run([TACTUS, "check", "sub/model.tact"], cwd=folder.path, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("`sub/no.csv`", done.stdout + done.stderr)

    def test_bytes_that_are_no_text(self):
        folder = Folder(bad__csv=b"gr\xf6sse,b\n0,1\n1,2\n", model__tact='system y = table("bad.csv")(t);')
        done = subprocess.run([TACTUS, "check", "model.tact"], cwd=folder.path, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("bad.csv:1:3", done.stdout + done.stderr)

    def test_random_bytes_never_crash(self):
        dice = random.Random(11)
        pieces = [b"0", b"1", b",", b";", b"\t", b" ", b"\n", b"\r\n", b'"', b"#", b"[", b"]", b"-", b"e", b"nan", b"inf", b"1e999", b"\xc3\xa4", b"."]
        folder = Folder(model__tact='system y = table("x.csv")(t); z = table("x.csv", cubic)(t, t);')
        for _ in range(60):
            folder.write("x.csv", b"".join(dice.choice(pieces) for _ in range(dice.randrange(60))))
            done = subprocess.run([TACTUS, "check", "model.tact"], cwd=folder.path, capture_output=True, timeout=60, check=False)
            self.assertIn(done.returncode, (0, 1))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    TACTUS = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main(warnings="ignore")
