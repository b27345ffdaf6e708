"""Every command on every example and on every program of the documentation: it is done, or it is refused in words.

    python3 tests/commands_test.py build/bin/tactus [TEST..]
    python3 tests/commands_test.py build/bin/tactus --update      writes tests/commands_refused.txt anew

A command that is done has exit code 0. What a command cannot do for a program stands in commands_refused.txt, a line each: the
program, the command, the exit code, and what is said, without numbers. A line that is missing there, or that is no longer true,
fails. Exit codes are those of docs/command-line.md; a signal, an assertion or an internal check is never right.

Worlds are played without a page, a hundred times as fast as the clock, until they end by themselves; how long that takes is not
asked for. Those whose end lies more than `longest_played` seconds away, and those without an end, are played for a moment.
"""
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import docs_test

ROOT = pathlib.Path(__file__).resolve().parent.parent
REFUSED = ROOT / "tests" / "commands_refused.txt"
PATIENCE = 300  # seconds of the clock that a process may take on a busy machine
TACTUS = ""

longest_played = 3500  # seconds of the world: all examples with an end but Robertson's, which reacts for 1e11 s
a_moment = 0.3        # seconds of the clock
broken = re.compile(r"internal|Assertion|assertion|Sanitizer|runtime error|terminate called|Segmentation|core dumped|\(null\)|report")
Program = collections.namedtuple("Program", "name path")
Result = collections.namedtuple("Result", "code out err")

COMMANDS = {
    "run": lambda program, folder: ["run", program, "--quiet"],
    "check": lambda program, folder: ["check", program],
    "explain": lambda program, folder: ["explain", program],
    # Examples are laid out; pages show programs as they read best there.
    "format": lambda program, folder: ["format", "--check" if program.startswith(str(ROOT)) else "--stdout", program],
    "linearize": lambda program, folder: ["linearize", program],
    "linearize at rest": lambda program, folder: ["linearize", program, "--at", "equilibrium"],
    "linearize later": lambda program, folder: ["linearize", program, "--at", "0.01"],
    "equilibrium": lambda program, folder: ["equilibrium", program],
    "export c": lambda program, folder: ["export", "c", program, "-o", f"{folder}/c", "--name", "model"],
    "play": lambda program, folder: ["play", program, "--headless", "--json", "--normal-priority", "--speed", "100", "--for", played_for(program)],
}


def played_for(program):
    text = pathlib.Path(program).read_text()
    end = re.search(r"ending_time\s*=\s*([\d.e+]+)", text)
    return str(PATIENCE - 30 if end and float(end.group(1)) <= longest_played else a_moment)


def all_programs(folder):
    """The examples where they are, the programs of each page in a folder of their own with the data that the page shows."""
    programs = [Program(f"examples/{path.name}", str(path)) for path in sorted((ROOT / "examples").glob("*.tact"))]
    programs.append(Program("examples/seed_000/fig2.phydl", str(ROOT / "examples/seed_000/fig2.phydl")))
    for page in docs_test.PAGES:
        for number, (text, files) in enumerate(docs_test.whole_programs(page), 1):
            name = f"{page.relative_to(ROOT)}#{number}"
            own = pathlib.Path(folder) / name.replace("/", "_").replace("#", "_")
            own.mkdir()
            for file, data in files:
                (own / file).write_text(data)
            (own / "program.tact").write_text(text)
            programs.append(Program(name, str(own / "program.tact")))
    return programs


def give(command, program, folder):
    own = tempfile.mkdtemp(dir=folder)
    words = COMMANDS[command](program.path, own)
    done = subprocess.run([TACTUS, *words], capture_output=True, text=True, timeout=PATIENCE, cwd=own, check=False)
    return Result(done.returncode, done.stdout, done.stderr), own


def what_is_said(result):
    """The first line of the refusal, without numbers and paths."""
    told = json.loads(result.out)["failure"] if result.out.startswith("{") else result.out
    # Warnings of the program come before.
    begin = max(result.err.find("tactus: error: "), 0)
    for line in (result.err[begin:] + "\n" + told).splitlines():
        line = line.strip()
        if not line or line.startswith(("note:", "hint:")):
            continue
        line = re.sub(r"\S*/", "", line).removeprefix("tactus: ").removeprefix("error: ")
        line = re.sub(r": at the closest point.*", "", line)
        return re.sub(r"-?\d[\d.e+-]*", "#", line)
    return ""


class Commands(unittest.TestCase):
    results = {}

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="tactus_commands_")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.programs = all_programs(cls.folder.name)
        # All at once over the cores there are: each is a process of its own.
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            asked = {(program.name, command): pool.submit(give, command, program, cls.folder.name)
                     for program in cls.programs for command in COMMANDS}
            cls.results = {key: future.result() for key, future in asked.items()}

    def test_done_or_refused_in_words(self):
        told = {}
        for (program, command), (result, _) in self.results.items():
            with self.subTest(program=program, command=command):
                self.assertIn(result.code, (0, 1, 2, 3, 4), f"ended by a signal?\n{result.err}")
                self.assertNotRegex(result.err, broken)
                if result.code != 0:
                    told[program, command] = f"{result.code}  {what_is_said(result)}"
                    self.assertNotEqual(what_is_said(result), "")
        if Commands.is_update:
            lines = [f"{program}  {command}  {text}\n" for (program, command), text in sorted(told.items())]
            REFUSED.write_text("".join(lines))
            return
        expected = {}
        for line in REFUSED.read_text().splitlines():
            program, command, text = line.split("  ", 2)
            expected[program, command] = text
        for key in sorted(told.keys() | expected.keys()):
            with self.subTest(program=key[0], command=key[1]):
                self.assertEqual(told.get(key, "done"), expected.get(key, "done"), f"\n{self.results[key][0].err if key in self.results else ''}")

    def test_worlds_are_played_to_their_ends(self):
        ended = 0
        for (program, command), (result, _) in self.results.items():
            if command != "play" or result.code != 0:
                continue
            with self.subTest(program):
                told = json.loads(result.out)
                self.assertEqual(told["status"], "done")
                self.assertGreater(told["ticks"], 0)
                path = next(each.path for each in self.programs if each.name == program)
                if float(played_for(path)) > a_moment:
                    self.assertTrue(told["ended"], told)
                    ended += 1
        self.assertGreater(ended, 60)

    def test_exported_c_compiles(self):
        """All of it by one start of the compiler for each core, without optimisation and without linking."""
        sources = [f"{own}/c/model.c" for (_, command), (result, own) in self.results.items() if command == "export c" and result.code == 0]
        self.assertGreater(len(sources), 100)
        count = os.cpu_count()

        def compile_all(part):
            words = ["cc", "-O0", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *part]
            return subprocess.run(words, capture_output=True, text=True, timeout=3 * PATIENCE, check=False)
        with concurrent.futures.ThreadPoolExecutor(count) as pool:
            for done in pool.map(compile_all, [sources[k::count] for k in range(count)]):
                self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    TACTUS = str(pathlib.Path(sys.argv.pop(1)).resolve())
    Commands.is_update = "--update" in sys.argv
    sys.argv = [word for word in sys.argv if word != "--update"]
    unittest.main()
