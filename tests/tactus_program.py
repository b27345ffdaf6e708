"""The real program, run on a model that a test has as text: for tests that are started as `python3 tests/NAME_test.py build/bin/tactus [TEST..]`."""
import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest


class ProgramTest(unittest.TestCase):
    tactus_path = ""

    def start(self, text, *options, folder=None):
        """`tactus OPTIONS[0] m.tact OPTIONS[1:]`, m.tact being `text`; in `folder`, where it is to stay."""
        with tempfile.TemporaryDirectory() as own:
            path = pathlib.Path(folder or own) / "m.tact"
            path.write_text(text, encoding="utf-8")
            command = [self.tactus_path, *options[0].split(), str(path), *map(str, options[1:])]
            return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)

    def tactus(self, text, *options, **where):
        done = self.start(text, *options, **where)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def run_json(self, text, *options):
        return json.loads(self.tactus(text, "run", "--json", *options))

    def values(self, text, *options):
        return self.run_json(text, *options)["values"]

    def rows(self, text, *options):
        table = csv.DictReader(io.StringIO(self.tactus(text, "run", "--quiet", "--out", "-", *options)))
        return [{name: float(cell) for name, cell in row.items()} for row in table]

    def assert_exported_c_agrees(self, text, solvers):
        """To the last bit: every row of every recorded name, compiled without optimisation."""
        with tempfile.TemporaryDirectory() as folder:
            self.tactus(text, "export c", "-o", folder, folder=folder)
            subprocess.run(["make", "-s", "-C", folder, "CFLAGS=-O0 -Wall -Wextra -Wpedantic -Werror"], check=True, capture_output=True)
            for solver in solvers:
                there = subprocess.run([f"{folder}/m", "--solver", solver], capture_output=True, text=True, timeout=60, check=True)
                rows = list(csv.DictReader(io.StringIO(there.stdout)))
                names = [name for name in rows[0] if name != "t"]
                here = self.rows(text, "--solver", solver, "--show", ",".join(names))
                self.assertGreater(len(here), 100)
                for row, other in zip(rows, here, strict=True):
                    for name in names:
                        self.assertEqual(float(row[name]), other[name], f"{solver}: {name} at {row['t']}")


def main(doc):
    if len(sys.argv) < 2:
        sys.exit(doc)
    ProgramTest.tactus_path = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
