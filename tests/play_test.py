"""`tactus play` without a page: its numbers, options and mistakes, how it ends, what its loop asks of the system, and its memory.

    python3 tests/play_test.py build/bin/tactus [TEST..]
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
TWO_BALL = ROOT / "examples" / "two_ball.tact"
DOCKING = ROOT / "examples" / "docking_spaceship.tact"
TACTUS = ""

EXPLODES = """\
simulation step_size = 0.001
boundary x with x(0) = 1;
system
  x' = x^2;
"""
NO_START = """\
simulation step_size = 0.01
boundary x with x(0) = 2; z with z(0) ~ 1;
system
  x' = 1 + z / 10;
  z^2 + sin(z) / 1000 = 1 - x;
"""


def resident(process):
    """kB of memory in use."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1))


class Play(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tactus_play_"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, text, name="m.tact"):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def play(self, *words, exit_code=0):
        done = subprocess.run([TACTUS, "play", *map(str, words)], capture_output=True, text=True, cwd=self.folder, timeout=120,
                              check=False)
        self.assertEqual(done.returncode, exit_code, f"tactus play {words}\n{done.stdout}\n{done.stderr}")
        return done

    def numbers(self, *words, exit_code=0):
        return json.loads(self.play(*words, "--headless", "--json", exit_code=exit_code).stdout)

    def begin(self, *words):
        process = subprocess.Popen([TACTUS, "play", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   cwd=self.folder)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def wait_for_loop(self, process):
        """Until the world has begun: by then the program listens to signals."""
        threads = pathlib.Path(f"/proc/{process.pid}/task")
        while process.poll() is None and not any("tactus-loop" in path.read_text() for path in threads.glob("*/comm")):
            time.sleep(0.05)


class Numbers(Play):
    def keeps_time(self, *words, speed=1):
        """What was told, of a second by the clock: the world's time and what it slipped make up that second, whatever else the machine does."""
        begin = time.monotonic()
        told = self.numbers(*words, "--for", 1)
        passed = time.monotonic() - begin
        self.assertLessEqual(told["time"], speed * passed)
        # A loop that is late when the second ends has not counted that yet: half of it, as nobody is kept waiting for longer.
        self.assertGreaterEqual(told["time"] / speed + told["slipped"], 0.5)
        return told

    def test_the_world_goes_with_the_clock(self):
        told = self.keeps_time(TWO_BALL)
        self.assertEqual(told["status"], "done")
        self.assertAlmostEqual(told["time"], told["ticks"] / 1000, delta=0.05)
        self.assertEqual(told["steps"], told["ticks"])
        for name in ("late", "compute"):
            part = told[name]
            self.assertTrue(0 <= part["median"] <= part["p99"] <= part["p999"] <= part["longest"], part)
        self.assertGreaterEqual(told["missed"], 0)
        self.assertGreaterEqual(told["slipped"], 0)
        self.assertIn(told["scheduling"], ("fifo", "normal"))
        self.assertEqual(told["clients"], 0)

    def test_speed(self):
        self.keeps_time(TWO_BALL, "--speed", 10, speed=10)

    def test_rate(self):
        told = self.keeps_time(TWO_BALL, "--rate", 200)
        self.assertEqual(told["steps"], 5 * told["ticks"])  # steps stay at most as long as the text's
        self.assertAlmostEqual(told["time"], told["ticks"] / 200, delta=0.05)

    def test_paused(self):
        told = self.numbers(TWO_BALL, "--for", 0.5, "--paused")
        self.assertEqual((told["time"], told["ticks"]), (0, 0))

    def test_spin_and_normal_priority(self):
        told = self.numbers(TWO_BALL, "--for", 0.5, "--spin", 100, "--normal-priority")
        self.assertEqual(told["scheduling"], "normal")
        self.assertEqual(told["notes"], [])  # nothing was asked for, so nothing was refused
        self.assertGreater(told["ticks"], 100)

    def test_for_people(self):
        done = self.play(TWO_BALL, "--headless", "--for", 0.5)
        self.assertRegex(done.stdout, r"t = \S+ after \d+ ticks")
        self.assertIn("late ", done.stdout)
        self.assertEqual(self.play(TWO_BALL, "--headless", "--for", 0.2, "--quiet").stdout, "")


class Ends(Play):
    """No time but the world's is asked for: the program ends when the world does, however long that takes."""
    ENDS = "simulation step_size = 0.001 ending_time = {end}\nboundary x with x(0) = 1;\nsystem\n  x' = -x;\n{more}"

    def test_without_a_page_the_program_ends_at_the_ending_time(self):
        for end, reached in ((0.5, 0.5), (0.2504, 0.251)):
            told = self.numbers(self.write(self.ENDS.format(end=end, more="")))
            self.assertEqual((told["status"], told["ticks"]), ("done", round(1000 * reached)))
            self.assertAlmostEqual(told["time"], reached, delta=1e-9)
            self.assertEqual(told["ended"], f"ended at t = {reached:g}: `ending_time = {end:g}`")
        done = self.play(self.write(self.ENDS.format(end=0.3, more="")), "--headless", "--speed", 10)
        self.assertIn("ended at t = 0.3: `ending_time = 0.3`\n", done.stdout)

    def test_without_a_page_stop_when_ends_the_program_well(self):
        told = self.numbers(self.write(self.ENDS.format(end=100, more='  stop when x < 0.5 "half is gone";\n')))
        self.assertEqual(told["status"], "done")
        self.assertAlmostEqual(told["time"], 0.693147, delta=1e-5)
        self.assertRegex(told["ended"], r"^stopped at t = 0\.69314\d*: half is gone$")

    def test_the_clock_still_bounds_it(self):
        told = self.numbers(self.write(self.ENDS.format(end=1e6, more="")), "--for", 0.3)
        self.assertEqual((told["status"], told["ended"]), ("done", None))
        self.assertIsNone(self.numbers(TWO_BALL, "--for", 0.2)["ended"])


class Mistakes(Play):
    def test_options(self):
        for words, says in [(("--rate", 5), "--rate"), (("--rate", "nan"), "`nan` is not a number"), (("--speed", "nan"), "--speed"), (("--for", "nan"), "--for"),
                            (("--for", "inf"), "at least 0"), (("--spin", "nan"), "--spin"), (("--rate", "fast"), "`fast` is not a number"), (("--speed", 1000), "--speed"), (("--spin", -1), "--spin"),
                            (("--for", -1), "--for"), (("--set", "k"), "--set"), (("--set", "kk=1"), "kk"), (("--prot", 1), "--prot")]:
            with self.subTest(words):
                done = self.play(TWO_BALL, "--headless", "--for", "0.1", *words, exit_code=2)
                self.assertIn(says, done.stderr)
                self.assertIn("hint", done.stderr)
        self.assertIn("there is no such file", self.play("nothing.tact", "--headless", exit_code=2).stderr)
        self.assertIn("this is a directory", self.play(tempfile.gettempdir(), "--headless", exit_code=2).stderr)
        self.play("--headless", exit_code=2)

    def test_models(self):
        path = self.write("boundary x with x(0) = 1;\nsystem\n  x' = -y;\n")
        self.assertIn("m.tact:3:", self.play(path, "--headless", exit_code=1).stderr)
        told = self.numbers(path, exit_code=1)
        self.assertEqual(told["status"], "error")
        self.assertEqual(told["diagnostics"][0]["line"], 3)

    def test_a_start_that_is_not_there(self):
        path = self.write(NO_START)
        self.assertIn("tactus: ", self.play(path, "--headless", exit_code=4).stderr)
        told = self.numbers(path, exit_code=4)
        self.assertEqual(told["status"], "failed")
        self.assertTrue(told["failure"])

    def test_work_that_no_tick_can_do(self):
        """Refused before the world begins: a tick that does not end would keep its force."""
        hand = "external hand writes force = (100, 0, 0)"
        plain = "boundary x(0) = 0;\nsystem x' = 1;\n"
        for text, says in [("simulation step_size = 1e-12\n" + plain, "steps of 1e-12 s"),
                           ("simulation step_size = 1e-300\n" + plain, "and at most 10000 are allowed"),
                           ("event e every 1e-300;\n" + plain + "reactive n = init a=0 in { e => a+1 }\n", "`e` every 1e-300 s"),
                           (f"{hand} every 1e-9\n" + plain, "more often than a clock can keep"),
                           (f"simulation max_transitions = 1e6\n{hand}\n" + plain, "max_transitions")]:
            with self.subTest(text):
                path = self.write(text)
                told = self.numbers(path, "--for", 60, exit_code=4)
                self.assertIn(says, told["failure"])
                self.assertIn("hint: ", self.play(path, "--headless", "--for", 60, exit_code=4).stderr)
        # What is allowed is played, and ends.
        path = self.write("simulation step_size = 1e-7\n" + plain)
        self.assertEqual(self.numbers(path, "--speed", 100, "--for", 0.5)["status"], "done")

    def test_a_world_that_explodes(self):
        path = self.write(EXPLODES)
        told = self.numbers(path, "--speed", 10, "--for", 60, exit_code=4)
        self.assertEqual(told["status"], "failed")
        self.assertIn("finite", told["failure"])
        self.assertIn("`x' = x^2` (line 4) gives x' = inf", told["failure"])
        self.assertAlmostEqual(told["time"], 1, delta=0.02)  # x = 1 / (1 - t)
        self.assertIn("finite", self.play(path, "--headless", "--speed", 10, "--for", 60, exit_code=4).stderr)


class System(Play):
    def test_interrupts_end_it_well(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.begin(TWO_BALL, "--headless", "--json")
            self.wait_for_loop(process)
            time.sleep(1)
            process.send_signal(number)
            out, _ = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0)
            told = json.loads(out)
            self.assertEqual(told["status"], "done")
            self.assertGreater(told["ticks"], 0)

    def traced(self, *words):
        """What a run without a page told, the loop's calls of the system from its first sleep to its last, and who else ran."""
        if not shutil.which("strace"):
            self.skipTest("strace is not installed")
        trace = self.folder / "trace"
        strace = ["strace", "-f", "-o", str(trace)]
        refused = subprocess.run([*strace, "true"], capture_output=True, text=True, check=False)
        if refused.returncode != 0:
            self.skipTest(f"this machine lets no process be traced: {refused.stderr.strip()}")
        done = subprocess.run([*strace, TACTUS, "play", *map(str, words), "--headless", "--json"], capture_output=True, text=True,
                              timeout=120, check=False, env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})  # it would trace, too
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = trace.read_text(errors="replace").splitlines()
        threads = {found.group(2): found.group(1) for line in lines
                   if (found := re.match(r'(\d+)\s+prctl\(PR_SET_NAME, "([^"]*)"', line))}
        # What it calls: `1234 name(..`; `1234 <... name resumed>..` is the end of a call that is already counted.
        calls = [found.group(1) for line in lines if (found := re.match(threads["tactus-loop"] + r"\s+(\w+)\(", line))]
        first = calls.index("clock_nanosleep")
        last = len(calls) - 1 - calls[::-1].index("clock_nanosleep")
        return json.loads(done.stdout), calls[first:last + 1], set(threads)

    def test_an_interrupt_does_not_wait_for_the_optimiser(self):
        # A dense block of 160 that changes with the state: LLVM takes most of a minute for its second tier, and cannot be stopped inside of a
        # function. What the program computes after the signal is counted, not how long it takes by the clock.
        process = self.begin(self.write("""\
            simulation step_size = 0.001
            constant n = 160;
            boundary x(0) = 1;
            system
              x' = -x;
              for i in 1..n { 200*y[i] + sum(j in 1..n: sin(x*i+j)*y[j]) = x; }
        """), "--headless", "--json")

        def threads():
            return [path.read_text().rsplit(")", 1)[1].split() for path in pathlib.Path(f"/proc/{process.pid}/task").glob("*/stat")]

        def cpu():
            return sum(int(fields[11]) + int(fields[12]) for fields in threads()) / os.sysconf("SC_CLK_TCK")

        self.wait_for_loop(process)
        at_start = cpu()
        while process.poll() is None and cpu() < at_start + 3:
            time.sleep(0.05)
        before = cpu()
        process.send_signal(signal.SIGINT)
        last = before
        while process.poll() is None:
            last = max(last, cpu())
            time.sleep(0.02)
        self.assertEqual(process.returncode, 0, process.stderr.read())
        self.assertEqual(json.loads(process.stdout.read())["status"], "done")
        self.assertLess(last - before, 10)

    def test_the_loop_only_sleeps(self):
        _, running, threads = self.traced(TWO_BALL, "--for", 1)
        self.assertIn("tactus-guard", threads)
        self.assertGreater(len(running), 100)
        self.assertEqual(set(running) - {"restart_syscall"}, {"clock_nanosleep"})

    def test_the_loop_only_sleeps_while_plans_are_made(self):
        """The ship's three plans are asked for at 5 s, half a second after the start; the loop neither waits for the thread that
        searches nor wakes it by a call."""
        told, running, threads = self.traced(DOCKING, "--speed", 10, "--for", 2)
        self.assertGreaterEqual(told["plans"]["begun"], 1)
        self.assertIn("tactus-planner", threads)
        self.assertGreater(len(running), 100)
        self.assertEqual(set(running) - {"restart_syscall"}, {"clock_nanosleep"})

    def test_plans_begin_late_and_hit(self):
        # The ship leaves at 5 s; on a machine that is busy an answer may come too late once and is asked for again.
        told = self.numbers(DOCKING, "--speed", 10, "--for", 4)
        self.assertEqual(told["status"], "done")
        self.assertGreaterEqual(told["plans"]["begun"], 1)
        self.assertEqual(told["plans"]["failed"], 0)
        self.assertIsNone(self.numbers(TWO_BALL, "--for", 0.2)["plans"])

    def test_memory_stays_flat(self):
        process = self.begin(TWO_BALL, "--headless", "--speed", 100, "--json")
        self.wait_for_loop(process)
        time.sleep(2)
        before = after = 0
        for _ in range(8):  # the optimised code may come late on a busy machine
            time.sleep(0.25)
            before = max(before, resident(process))
        time.sleep(2)
        for _ in range(4):
            time.sleep(0.25)
            after = max(after, resident(process))
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=300)
        self.assertLess(after - before, 1024)
        told = json.loads(out)
        self.assertGreater(told["time"] / 100 + told["slipped"], 2)


if __name__ == "__main__":
    TACTUS = os.path.abspath(sys.argv.pop(1))
    unittest.main()
