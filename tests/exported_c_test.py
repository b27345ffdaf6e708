"""Exported C as somebody else uses it: however a run ends, it says so in the words of `tactus run` and keeps all rows; a program drives the
model through its header. Under `./dev test --all` the C is compiled with sanitizers (TACTUS_CFLAGS), and every example is run as well.

Use: python3 tests/exported_c_test.py build/bin/tactus [TEST..]
"""
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from tactus_program import ProgramTest, main

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
IS_SANITIZED = "-fsanitize" in os.environ.get("TACTUS_CFLAGS", "")
STRICT = "-Wall -Wextra -Wpedantic -Werror"

PENDULUM = """boundary {boundary};
system
  x'' = lambda * x;
  y'' = lambda * y - 9.81;
  x^2 + y^2 = 1;
"""
THROW = """simulation ending_time = 4 tolerance = 1e-10
automaton ball in Held, Thrown;
boundary p with p(0) = (0, 0);
system
  in ball.Held   { p' = (0, 0); }
  in ball.Thrown { p'' = (0, -9.81); }
  event go at 1;
  plan Throw in ball.Held when go
    choose v = (1, 1) { goto ball.Thrown;  next(p') = v; }
    for 1.5 reaching p[1]^2 = -1, p[2] = 1 { goto ball.Held; }"""
# Endings of runs: their kind, the model, options.
ENDINGS = {
    "not_finite": ("not_finite", "simulation ending_time = 5\nboundary x(0) = 1;\nsystem x' = log(3.2 - t);", "--step", "0.01"),
    "not_finite_at_the_start": ("not_finite", "parameter c = 1; boundary x with x(0) = sqrt(c); system x' = -x;", "--set", "c=-1"),
    "diverged": ("diverged|singular", """simulation ending_time = 2 step_size = 0.01 record_period = 0.1
boundary x with x(0) = 0; z with z(0) ~ 1;
system
  x' = 1 + z / 10;
  z^2 + sin(z) / 1000 = 1 - x;"""),
    "singular": ("singular", """simulation ending_time = 5
boundary x(0) = 0; y(0) = 0;
system
  x' + y' = 1;
  x' + (t - 2.25) * y' = cos(t);""", "--solver", "rk4", "--step", "0.5", "--every", "0.1"),
    "step_too_small": ("step_too_small", "simulation ending_time = 5\nboundary x(0) = 1;\nsystem x' = x^2;", "--solver", "tsit5"),
    "creeping": ("step_too_small", "simulation ending_time = 5\nboundary x(0) = 1;\nsystem x' = -1 / (2 * x);", "--solver", "tsit5"),
    "endless_events": ("endless_events", """simulation ending_time = 5
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
  transition Down in a.Three when x > 1 { goto a.One; }"""),
    "off_constraints": ("off_constraints", """simulation ending_time = 5
boundary x(0) = 0.5; system x' = f; y' = -2 * f; x + y = if t < 1 then 1 else 2;""", "--solver", "tsit5"),
    "no_start": ("no_start", PENDULUM.format(boundary="x(0) = 0.6, y(0) = 0.9"), "--step", "0.01"),
    "no_start_of_two": ("no_start", """boundary x(0) = 1, y(0) = 0, y'(0) = 0;
system
  x'' = (l + m) * x;
  y'' = (l + m) * y - 9.81;
  x^2 + y^2 = 1;
  2 * x^2 + 2 * y^2 = 3;"""),
    "breached": ("breached", """simulation ending_time = 3
boundary x(0) = 0;
system
  x' = 1;
  aux1 = x^2; aux2 = sin(x);
  expect x <= 1 else "the leg is longer than it should be";
  require x <= 2 else "underground";"""),
    "conflict": ("conflict", """simulation ending_time = 5 step_size = 0.01
automaton m in A, B, C;
boundary x(0) = 0; y(0) = 0;
system
  x' = 1; y' = 2;
  transition ToB in m.A when x >= 1 { goto m.B; }
  transition ToC in m.A when y >= 2 { goto m.C; }"""),
    "off_entry": ("off_entry", """simulation ending_time = 3 step_size = 0.001 event_precision = 1e-12
constant g = 9.81, m = 2, al = 0.4;
automaton bead in Fly, Rail;
boundary p(0) = (0, 2); p'(0) = (1.5, 0);
system
  m*p'' = (0, -m*g) + N*(sin(al), cos(al));
  in bead.Fly { N = 0; }
  in bead.Rail { p[1]*sin(al) + p[2]*cos(al) = 0.5; }
  transition Catch in bead.Fly when p[1]*sin(al) + p[2]*cos(al) <= 0.5 { goto bead.Rail; }
  v = norm(p');
  E = m/2*dot(p', p') + m*g*p[2];"""),
    "no_plan": ("no_plan", THROW),
    "delay_too_short": ("delay_too_short", """simulation ending_time = 5 step_size = 0.1
parameter d = 0.5; boundary x(0) = 1; system x' = -delay(x, d);""", "--set", "d=0.01"),
    "stopped": ("stopped", """simulation ending_time = 5 boundary x(0) = 0;
system x' = 1; stop when x >= 2 "there";
check far: eventually(x > 3);"""),
    "checks": ("done", """simulation ending_time = 10
boundary x with x(0) = 0, x'(0) = 1;
system
  x'' = -x;
  event tick at 1, 3;
check
  low: x < 0.5;
  late: tick -> eventually[0..0.4](x > 0.99);
  never: eventually(x > 1.01);
  once: eventually(x > 0.99);"""),
    "plan_without_values": ("done", THROW + " else { }"),
    "rests": ("done", """simulation ending_time = 3
boundary y(0) = 1, y'(0) = 0;
system y'' = -9.81; transition Bounce when y <= 0 && y' < 0 { next(y') = -0.5 * y'; }"""),
}


def compile_c(folder, *words):
    flags = ["-std=c11", "-O0", "-ffp-contract=off", *STRICT.split(), *os.environ.get("TACTUS_CFLAGS", "").split()]
    made = subprocess.run(["cc", *flags, *map(str, words)], cwd=folder, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise AssertionError(made.stderr)


@unittest.skipUnless(shutil.which("make") and shutil.which("cc"), "no C compiler")
class ExportedC(ProgramTest):
    """The kernel is compiled once, as programs of several models do it."""
    common = None

    @classmethod
    def kernel(cls):
        if not ExportedC.common:
            ExportedC.common = tempfile.TemporaryDirectory()
            folder = pathlib.Path(ExportedC.common.name)
            (folder / "kernel.tact").write_text("boundary x(0) = 1; system x' = -x;")
            subprocess.run([cls.tactus_path, "export", "c", folder / "kernel.tact", "-o", folder, "--quiet"], check=True, timeout=300)
            compile_c(folder, "-DTACTUS_NO_MAIN", "-c", "kernel.c")
        return pathlib.Path(ExportedC.common.name) / "kernel.o"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def export(self, text):
        """Of a model: the program."""
        self.tactus(text, "export c", "-o", self.folder, "--quiet", folder=self.folder)
        compile_c(self.folder, "-DTACTUS_NO_KERNEL", "m.c", self.kernel(), "-o", "m")
        return self.folder / "m"

    def start_exported(self, program, *options, **where):
        return subprocess.run([program, *options], capture_output="stdout" not in where, text=True, timeout=1200, check=False, **where)


class Endings(ExportedC):
    """One test an entry of ENDINGS."""

    def assert_ends_alike(self, kind, text, *options):
        program = self.export(text)
        here = self.start(text, "run", "--out", self.folder / "here.csv", "--quiet", *options, folder=self.folder)
        told = json.loads(self.start(text, "run", "--json", *options, folder=self.folder).stdout)
        there = self.start_exported(program, *options)
        self.assertRegex(told.get("failure", {}).get("kind", told["status"]), f"^({kind})$")
        self.assertNotIn("Sanitizer", there.stderr)
        self.assertEqual(there.returncode, here.returncode, there.stderr)
        self.assertEqual(there.stdout, (self.folder / "here.csv").read_text())
        # All that the run says, but for the values of an equation that only the compiler has.
        said = there.stderr.splitlines()
        prefix = f"{self.folder / 'm.tact'}: "
        for broken in told.get("broken_checks", []):
            self.assertTrue(any(re.match(f"{re.escape(prefix)}check broken by t = {broken['time']:.9g} \\(line \\d+\\): "
                                         f"{re.escape(broken['check'])}$", line) for line in said), there.stderr)
        for line in here.stderr.splitlines():
            if "check broken" in line:
                self.assertIn(line.replace("tactus: ", prefix), said)
        for note in told["notes"]:
            if "no `ending_time`" not in note:
                self.assertIn(f"{prefix}note: {note}", said)
        if "failure" in told:
            failure = told["failure"]
            words = [line for line in failure["text"].splitlines() if " gives " not in line]
            self.assertIn("\n".join([f"{prefix}error: the run failed: {words[0]}", *words[1:]]), there.stderr)
            if words == failure["text"].splitlines():
                self.assertIn(f"\n  hint: {failure['hint']}\n", there.stderr)
            self.assertEqual(here.returncode, 4)


for name, ending in ENDINGS.items():
    setattr(Endings, f"test_{name}", lambda self, ending=ending: self.assert_ends_alike(*ending))


class Rows(ExportedC):
    LONG = "simulation ending_time = 1000 step_size = 0.001 boundary x(0) = 1, x'(0) = 0; system x'' = -x;"

    def test_what_takes_no_rows_is_told(self):
        program = self.export(ENDINGS["breached"][1])
        with open("/dev/full", "w") as full:
            done = self.start_exported(program, stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 4)
        self.assertIn("error: cannot write to standard output: No space left on device", done.stderr)

    def test_a_reader_that_leaves_ends_the_run(self):
        program = self.export(self.LONG)
        run = subprocess.Popen([program, "--every", "0.001"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(run.stdout.readline(), "t,x\n")
        run.stdout.close()
        said = run.stderr.read()
        run.stderr.close()
        self.assertEqual(run.wait(300), 4)
        self.assertIn("error: cannot write to standard output: Broken pipe", said)

    def test_a_file_that_may_not_grow_ends_with_a_whole_row(self):
        program = self.export(self.LONG)
        most = 100001
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))  # noqa: E731
        with open(self.folder / "rows.csv", "w") as rows:
            done = self.start_exported(program, "--every", "0.01", stdout=rows, stderr=subprocess.PIPE, preexec_fn=limit)
        self.assertEqual(done.returncode, 4)
        self.assertIn("error: cannot write to standard output: File too large", done.stderr)
        kept = (self.folder / "rows.csv").read_text()
        whole = self.start_exported(program, "--every", "0.01").stdout
        self.assertTrue(kept.endswith("\n") and whole.startswith(kept))
        self.assertGreater(len(kept), most - 100)

    def test_an_interrupted_run_keeps_its_rows(self):
        program = self.export(self.LONG.replace("1000", "1e9"))
        with open(self.folder / "rows.csv", "w") as rows:
            run = subprocess.Popen([program, "--every", "1"], stdout=rows, stderr=subprocess.PIPE, text=True)
            while (self.folder / "rows.csv").stat().st_size == 0:  # it takes signals, and has written some
                self.assertIsNone(run.poll())
            run.send_signal(signal.SIGINT)
            said = run.stderr.read()
            run.stderr.close()
            self.assertEqual(run.wait(300), 130)
        last = (self.folder / "rows.csv").read_text()
        self.assertTrue(last.endswith("\n"))
        time = float(last.splitlines()[-1].split(",")[0])
        self.assertIn(f"interrupted at t = {time:.9g}", said)

    def test_rows_without_end_are_refused(self):
        program = self.export(self.LONG)
        for options in [("--every", "1e-300"), ("--every", "1e-9"), ("--step", "1e-300"), ("--step", "1e-15"), ("--tolerance", "1e-20", "--solver", "tsit5")]:
            self.assertEqual(self.start_exported(program, *options).returncode, 2, options)

    def test_events_without_end_are_refused(self):
        text = "simulation ending_time = 2 step_size = 0.01\nboundary x(0) = 0;\nsystem x' = 1;\n  event e every {};\n"
        program = self.export(text.format("1e-300"))
        done = self.start_exported(program)
        self.assertEqual(done.returncode, 2)
        self.assertIn("`e` happens every 1e-300 s", done.stderr)
        with_modes = "automaton m in A, B;\n" + text.format("1e-300") + "  transition T in m.A when x > 1 { goto m.B; }\n"
        self.assertEqual(self.start_exported(self.export(with_modes)).returncode, 2)

    def test_names_do_not_steer_a_terminal(self):
        path = self.folder / "c\x1b[31m\n%s.tact"
        path.write_text('simulation ending_time = 1 step_size = 0.1\nboundary x(0) = 0;\nsystem x\' = 1; require x < 0.5 else "\x1b[2J";\n')
        subprocess.run([self.tactus_path, "export", "c", path, "-o", self.folder / "c", "--name", "m", "--quiet"], check=True, timeout=300)
        compile_c(self.folder / "c", "-DTACTUS_NO_KERNEL", "m.c", self.kernel(), "-o", "m")
        for options in [(), ("--until", "bogus"), ("--step", "-1")]:
            done = self.start_exported(self.folder / "c" / "m", *options)
            self.assertNotEqual(done.returncode, 0)
            self.assertNotIn("\x1b", done.stderr + done.stdout)


# Drives the two-ball task by the recorded hand: argv[1] is the hand's file.
DRIVER = r"""
#include "m.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
struct Place { double t, x, y; };
int main(int, char** words) {
  std::vector<Place> hand;
  std::FILE* file = std::fopen(words[1], "r");
  char line[256];
  while (std::fgets(line, sizeof line, file)) {
    Place at;
    if (std::sscanf(line, "%lf,%lf,%lf", &at.t, &at.x, &at.y) == 3) hand.push_back(at);
  }
  std::fclose(file);
  const auto where = [&](double t, double& x, double& y) {
    std::size_t k = 0;
    while (k + 2 < hand.size() && hand[k + 1].t <= t) k++;
    if (t >= hand.back().t) { x = hand.back().x; y = hand.back().y; return; }
    if (t <= hand.front().t) { x = hand.front().x; y = hand.front().y; return; }
    const double s = (t - hand[k].t) / (hand[k + 1].t - hand[k].t);
    x = hand[k].x + s * (hand[k + 1].x - hand[k].x);
    y = hand[k].y + s * (hand[k + 1].y - hand[k].y);
  };
  const bool has_rates = std::strcmp(words[2], "rates") == 0;
  // Two at once: the second rests.
  std::vector<double> a(m_bytes() / 8), b(m_bytes() / 8);
  auto* i = reinterpret_cast<tactus_instance*>(a.data());
  auto* still = reinterpret_cast<tactus_instance*>(b.data());
  const int every = std::atoi(words[3]);  // steps between two samples of the hand
  const double h = 0.001, between = every * h;
  if (m_reset(i) || m_reset(still)) return 1;
  const int32_t first = m_input("white_ball[1]");
  if (first < 0 || m_input("white_ball") >= 0 || m_input("white_ball[3]") >= 0 || m_input("k") >= 0) return 2;
  if (m_set_input(i, -1, 0, 0) || m_set_input(i, 1000, 0, 0) || m_set(i, "nothing", 0, 0) || !m_set(i, "k", 8, 0) || !m_set(i, "b", 1.5, 0)) return 3;
  for (int step = 0; step <= 10000; step++) {
    double x, y, next_x, next_y;
    where(step * h, x, y);
    where(step * h + between, next_x, next_y);
    const double rate_x = has_rates ? (next_x - x) / between : 0, rate_y = has_rates ? (next_y - y) / between : 0;
    if (step % every == 0 && (!m_set_input(i, first, x, rate_x) || !m_set(i, "white_ball[2]", y, rate_y))) return 4;
    if (step == 0 && (m_start(i) || m_start(still))) return 5;
    if (step < 10000 && (m_step(i, h, 1) || m_step(still, h, 1))) return 6;
  }
  if (m_get(still, "cross1") != 0 || m_get(still, "black_ball[1]") != 0) return 7;
  std::printf("%.17g %.17g %g %g\n", m_get(i, "black_ball[1]"), m_get(i, "black_ball[2]"), m_get(i, "cross1"), m_get(i, "cross2"));
  // A snapshot goes on as the original does.
  std::memcpy(b.data(), a.data(), m_bytes());
  if (m_advance(i, 11, 1e-8) || m_advance(still, 11, 1e-8) || m_get(i, "black_ball[1]") != m_get(still, "black_ball[1]")) return 8;
  return 0;
}
"""


class Library(ExportedC):
    def build(self, driver):
        """Of a C++ program around the model: its path."""
        (self.folder / "driver.cpp").write_text(driver)
        compile_c(self.folder, "-DTACTUS_NO_KERNEL", "-DTACTUS_NO_MAIN", "-c", "m.c")
        flags = ["-std=c++17", *STRICT.split(), *os.environ.get("TACTUS_CFLAGS", "").split()]
        made = subprocess.run(["c++", *flags, "driver.cpp", "m.o", self.kernel(), "-o", "driver"], cwd=self.folder, capture_output=True,
                              text=True, check=False)
        self.assertEqual(made.returncode, 0, made.stderr)
        return self.folder / "driver"

    def test_the_two_ball_task_counts_what_a_run_counts(self):
        text = (EXAMPLES / "two_ball.tact").read_text()
        hand = EXAMPLES / "two_ball_hand.csv"
        here = self.run_json(text, "--device", f"hand=file:{hand}", "--set", "k=8", "--set", "b=1.5")["values"]
        self.tactus(text, "export c", "-o", self.folder, "--quiet", folder=self.folder)
        driver = self.build(DRIVER)
        done = self.start_exported(driver, hand, "rates", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        x, y, first, second = map(float, done.stdout.split())
        self.assertEqual([first, second], [here["cross1"], here["cross2"]])
        self.assertEqual(second, 4)
        self.assertAlmostEqual(x, here["black_ball"][0], delta=1e-9)
        self.assertAlmostEqual(y, here["black_ball"][1], delta=1e-9)
        # A hand without rates is another one.
        held = list(map(float, self.start_exported(driver, hand, "held", "1").stdout.split()))
        self.assertEqual(held[3], 3)

    def test_an_input_that_is_set_leaves_the_others_moving(self):
        self.tactus("simulation ending_time = 9 step_size = 0.125 external hand reads u, v boundary x(0) = 0, y(0) = 0; "
                    "system x' = u; y' = v'; sum = u + v;", "export c", "-o", self.folder, "--quiet", folder=self.folder)
        driver = self.build(r"""
#include "m.h"
#include <vector>
int main() {
  std::vector<double> memory(m_bytes() / 8);
  auto* i = reinterpret_cast<tactus_instance*>(memory.data());
  if (m_reset(i) || !m_set(i, "u", 1, 2) || m_start(i) || m_step(i, 0.125, 8)) return 1;
  if (m_get(i, "u") != 3 || m_get(i, "x") != 2) return 2;      // 1 + 2 t; t + t^2
  if (!m_set(i, "v", 5, -1) || m_get(i, "u") != 3 || m_get(i, "sum") != 8) return 3;
  if (m_step(i, 0.125, 8) || m_get(i, "u") != 5 || m_get(i, "v") != 4 || m_get(i, "x") != 6 || m_get(i, "y") != -1) return 4;
  if (!m_set(i, "u", 0, 0) || m_step(i, 0.125, 8) || m_get(i, "x") != 6 || m_get(i, "v") != 3) return 5;
  return 0;
}
""")
        self.assertEqual(self.start_exported(driver).returncode, 0)

    def test_a_failed_call_is_explained(self):
        text = ENDINGS["conflict"][1]
        self.tactus(text, "export c", "-o", self.folder, "--quiet", folder=self.folder)
        driver = self.build(r"""
#include "m.h"
#include <cstdio>
#include <vector>
int main() {
  std::vector<double> memory(m_bytes() / 8);
  auto* i = reinterpret_cast<tactus_instance*>(memory.data());
  char words[2048], few[8];
  if (m_reset(i) || m_start(i)) return 1;
  const int status = m_step(i, 0.01, 500);
  if (m_explain(i, status, words, sizeof words) != 6) return 2;
  m_explain(i, status, few, sizeof few);
  m_explain(i, status, nullptr, 0);
  std::printf("%s\n%s\n", words, few);
  return 0;
}
""")
        done = self.start_exported(driver)
        self.assertEqual(done.returncode, 0, done.stderr)
        failure = json.loads(self.start(text, "run", "--json").stdout)["failure"]
        self.assertEqual(done.stdout, f"{failure['text']}\n  hint: {failure['hint']}\n{failure['text'][:7]}\n")


@unittest.skipUnless(IS_SANITIZED, "under sanitizers only: ./dev test --all")
class EveryExample(ExportedC):
    """Nothing that a sanitizer minds, however long it runs; rows as `tactus run` has them are examined elsewhere."""

    def assert_clean(self, path):
        folder = self.folder / path.stem
        done = subprocess.run([self.tactus_path, "export", "c", path, "-o", folder, "--quiet"], capture_output=True, text=True, timeout=600,
                              check=False)
        if done.returncode != 0:  # it says why
            self.assertIn("error", done.stderr)
            return
        source = next(folder.glob("*.c"))
        program = source.with_suffix("")
        compile_c(folder, "-DTACTUS_NO_KERNEL", source.name, self.kernel(), "-o", program.name)
        for options in [(), ("--solver", "rk4", "--step", "0.01", "--every", "0.013", "--until", "1")]:
            run = self.start_exported(program, *options)
            self.assertIn(run.returncode, (0, 2, 3, 4), f"{options}: {run.stderr[-4000:]}")
            self.assertNotIn("Sanitizer", run.stderr)
            self.assertNotIn("runtime error", run.stderr)


for path in sorted(EXAMPLES.glob("*.tact")):
    setattr(EveryExample, f"test_{path.stem}", lambda self, path=path: self.assert_clean(path))

if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests"))
    main(__doc__)
