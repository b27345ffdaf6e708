"""Edits of a world that runs, as a page sends them: none ends or wedges `tactus play`, whatever it does to the compiler; memory stays flat.

A worker can be told to crash, hang or take all memory on a word of the text (src/process/worker.h): the protection is tested whether or not
the compiler still has a text that does so.

    python3 tests/edits_test.py build/bin/tactus [TEST..]
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from live_page import LONGEST_WAIT, Play

TACTUS = ""
GOOD = """\
simulation step_size = 0.001
parameter k = 4 in 0..50;
boundary x with x(0) = 1, x'(0) = 0;
system
  x'' = -k * x;
"""


def children(pid):
    found = pathlib.Path(f"/proc/{pid}/task").glob("*/children")
    return [int(word) for path in found for word in path.read_text().split()]


def is_there(pid):
    try:
        return "State:\tZ" not in pathlib.Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def wait_until(condition):
    end = time.monotonic() + LONGEST_WAIT
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.02)


class Editor:
    """A page whose text is edited."""

    def __init__(self, play):
        self.page = play.open()
        self.version = 0
        self.page.send({"type": "hello", "version": 1})
        self.file = self.page.wait_for("world")["files"][0]["name"]

    def close(self):
        self.page.close()

    def wait_for(self, kind, **holds):
        """The next message of this type, with these values."""
        self.page.frames.clear()
        return self.page.wait_for(kind, lambda message: all(message[name] == value for name, value in holds.items()))

    def send_edit(self, text):
        self.version += 1
        self.page.send({"type": "edit", "file": self.file, "text": text, "version": self.version})
        return self.version

    def edit(self, text):
        """The diagnostics of the edit."""
        return self.wait_for("diagnostics", version=self.send_edit(text))["items"]

    def time(self):
        """World time: a `state` that is asked for."""
        self.page.send({"type": "speed", "value": 1})
        return self.wait_for("state")["time"]


class Edited(unittest.TestCase):
    traps = ""
    seconds = "1"  # of the processor, for a text: less than the product allows, to make tests short

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tactus_edits_"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        path = self.folder / "m.tact"
        path.write_text(GOOD, encoding="utf-8")
        self.play = Play(TACTUS, path, "--normal-priority",
                         environment={"TACTUS_WORKER_TRAP": self.traps, "TACTUS_WORKER_SECONDS": self.seconds})
        self.addCleanup(self.play.__exit__)
        self.process = self.play.process
        self.page = Editor(self.play)
        self.addCleanup(self.page.close)

    def compiles(self, text):
        """A world comes of the edit; its generation."""
        self.assertEqual([one for one in self.page.edit(text) if one["severity"] == "error"], [])
        return self.page.wait_for("world")["generation"]

    def still_runs(self):
        before = self.page.time()
        wait_until(lambda: self.page.time() > before)
        self.assertIsNone(self.process.poll())


class Worker(Edited):
    traps = ("crash:CRASH abort:ABORT stack:STACK memory:MEMORY hang:HANG sleep:SLEEP check:FAILED "
             "optimising-crash:LATER optimising-sleep:SLOWLY")

    def stops(self, word, says):
        [item] = self.page.edit(GOOD + f"// {word}\n")
        self.assertEqual((item["code"], item["severity"], item["line"], item["file"]), ("K001", "error", 1, "m.tact"))
        self.assertIn("the compiler stopped on this text", item["text"])
        self.assertRegex(item["text"], says)
        self.assertIn("report", item["hint"])
        self.still_runs()
        self.compiles(GOOD.replace("= 4", "= 5"))
        self.still_runs()

    def test_a_crash(self):
        self.stops("CRASH", "crashed")
        self.stops("ABORT", "crashed")
        self.stops("STACK", "crashed")

    def test_out_of_memory(self):
        self.stops("MEMORY", "ran out of memory|crashed")

    def test_a_check_of_ours(self):
        self.stops("FAILED", r"internal error: .* \(process/worker\.cpp:\d+\); please report it with the model")

    def test_a_hang(self):
        self.stops("HANG", "took more than 1 s")

    def test_a_newer_text_is_not_kept_waiting(self):
        """One that sleeps for ever is given up when another comes; who sent it is answered with the newer."""
        self.page.send_edit(GOOD + "// SLEEP\n")
        self.still_runs()
        self.compiles(GOOD)
        self.still_runs()

    def test_optimising_that_crashes(self):
        self.page.edit(GOOD + "// LATER\n")
        note = self.page.wait_for("note")["text"]
        self.assertIn("while it made this world faster", note)
        self.compiles(GOOD)
        self.still_runs()

    def test_optimising_that_never_ends_does_not_keep_the_next_edit(self):
        self.compiles(GOOD + "// SLOWLY\n")
        self.compiles(GOOD)
        self.still_runs()

    def test_the_worker_is_killed(self):
        self.compiles(GOOD)
        for child in children(self.process.pid):
            os.kill(child, 9)
        self.compiles(GOOD.replace("= 4", "= 6"))

    def test_it_ends_with_play(self):
        workers = children(self.process.pid)
        self.assertEqual(len(workers), 1)
        self.page.send_edit(GOOD + "// HANG\n")
        self.process.kill()
        self.process.wait()
        wait_until(lambda: not is_there(workers[0]))

    def test_play_ends_while_a_text_hangs(self):
        workers = children(self.process.pid)
        self.page.send_edit(GOOD + "// SLEEP\n")
        self.still_runs()
        self.process.terminate()
        self.assertEqual(self.process.wait(timeout=LONGEST_WAIT), 0)
        wait_until(lambda: not any(map(is_there, workers)))

    def test_scheduling_is_ordinary(self):
        [worker] = children(self.process.pid)
        wait_until(lambda: os.getpriority(os.PRIO_PROCESS, worker) > 0)
        self.assertEqual(os.sched_getscheduler(worker), os.SCHED_OTHER)


class Ending(unittest.TestCase):
    def test_a_check_of_ours_ends_a_command_in_words(self):
        """Any command would do; a worker can be told to fail."""
        for word in ("rehearse-edits", "serve-editor"):
            done = subprocess.run([TACTUS, word], env=dict(os.environ, TACTUS_WORKER_TRAP="check:beginning"), stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=LONGEST_WAIT, check=False)
            self.assertEqual(done.returncode, 70)
            self.assertRegex(done.stderr, r"^tactus: internal error: .* \(process/worker\.cpp:\d+\); please report it with the model\n$")

    def test_workers_end_with_their_input(self):
        for word in ("rehearse-edits", "serve-editor"):
            done = subprocess.run([TACTUS, word], stdin=subprocess.DEVNULL, capture_output=True, timeout=LONGEST_WAIT, check=False)
            self.assertEqual((done.stdout, done.stderr), (b"", b""))


class Mistakes(Edited):
    def test_come_from_the_worker_with_their_places(self):
        [item] = self.page.edit(GOOD.replace("-k * x", "-q * x"))
        self.assertEqual((item["code"], item["line"], item["column"]), ("C002", 5, 10) if item["code"] == "C002" else
                         (item["code"], 5, item["column"]))
        self.assertIn("`q`", item["text"])
        self.still_runs()

    def test_a_start_that_is_not_there(self):
        self.page.edit("simulation step_size = 0.01\nboundary x with x(0) = 2; z with z(0) ~ 1;\nsystem\n"
                       "  x' = 1 + z / 10;\n  z^2 + sin(z) / 1000 = 1 - x;\n")
        self.assertIn("does not start", self.page.wait_for("note")["text"])
        self.still_runs()


class Memory(Edited):
    seconds = "10"

    def resident(self):
        """MB, the least of some looks: what is being freed at this moment is not counted."""
        return min((self.play.memory(), time.sleep(0.1))[0] for _ in range(10)) / 1024

    def test_stays_flat_over_edits(self):
        def edit(count):
            for i in range(count):
                self.compiles(GOOD.replace("= 4", f"= {i % 7 + 1}") + f"// {i}\n")
        # A leak grows in every round; an allocator that takes another arena grows in one.
        edit(100)
        growth = []
        before = self.resident()
        while len(growth) < 4 and (not growth or growth[-1] > 2):
            edit(150)
            growth.append(self.resident() - before)
            before += growth[-1]
        self.assertLess(growth[-1], 2, f"MB in rounds of 150 edits: {growth}")


if __name__ == "__main__":
    TACTUS = os.path.abspath(sys.argv.pop(1))
    unittest.main()
