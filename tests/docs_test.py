"""What the documentation shows is true: its programs compile, its mistakes are found, its links lead somewhere.

    python3 tests/docs_test.py build/bin/tactus [TEST..]

A block that opens with ```tact is a complete program and must pass `tactus check`; ```tact error=S002 must fail with that
code. A block ```csv NAME is a file that stands beside the page's programs. Lines of indented or ```sh blocks that begin with `tactus `, `build/bin/tactus ` or `./dev run ` name files and options
that exist.
"""
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = sorted(p for p in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])
TACTUS = ""

FENCE = re.compile(r"^```tact(?: error=(\w+))?\n(.*?)^```$", re.M | re.S)
DATA = re.compile(r"^```csv (\S+)\n(.*?)^```$", re.M | re.S)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"")


def check(text, files):
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files:
            (pathlib.Path(folder) / name).write_text(data)
        file = pathlib.Path(folder) / "program.tact"
        file.write_text(text)
        command = [TACTUS, "check", "--json", str(file)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def anchors(page):
    """GitHub's names of a page's headings."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


class Docs(unittest.TestCase):
    def test_programs(self):
        count = 0
        for page in PAGES:
            text = page.read_text()
            files = DATA.findall(text)
            for match in FENCE.finditer(text):
                count += 1
                line = text.count("\n", 0, match.start()) + 1
                with self.subTest(f"{page.relative_to(ROOT)}:{line}"):
                    code, program = match.groups()
                    done = check(program, files)
                    if code:
                        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                        found = {d["code"] for d in json.loads(done.stdout)["diagnostics"]}
                        self.assertIn(code, found)
                    else:
                        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertGreater(count, 5)

    def test_every_phase_has_a_page(self):
        phases = {folder.name for folder in (ROOT / "src/compiler").iterdir() if folder.is_dir() and folder.name != "testdata"}
        pages = {page.stem for page in (ROOT / "docs/compiler").glob("*.md")} - {"README"}
        self.assertEqual(phases, pages)

    def test_dumps(self):
        """The page of a phase shows what the phase makes of the program on the first page."""
        folder = ROOT / "docs/compiler"
        program = FENCE.search((folder / "README.md").read_text()).group(2)
        with tempfile.TemporaryDirectory() as place:
            file = pathlib.Path(place) / "program.tact"
            file.write_text(program)
            shown = 0
            for page in sorted(folder.glob("*.md")):
                for match in re.finditer(r"^```text dump=(\w+)\n(.*?)^```$", page.read_text(), re.M | re.S):
                    stage, expected = match.groups()
                    with self.subTest(f"{page.name}: {stage}"):
                        done = subprocess.run([TACTUS, "explain", f"--dump={stage}", str(file)], capture_output=True,
                                              text=True, timeout=60, check=False)
                        # `..` alone on a line stands for what was left out.
                        parts = [part.strip("\n") for part in re.split(r"^\.\.\n", expected, flags=re.M)]
                        at = 0
                        for part in parts:
                            found = done.stdout.find(part, at)
                            self.assertGreaterEqual(found, 0, f"not in the dump:\n{part}\n---\n{done.stdout}")
                            at = found + len(part)
                        shown += 1
        self.assertGreater(shown, 5)

    def test_links(self):
        for page in PAGES:
            prose = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(), flags=re.M | re.S)
            for match in LINK.finditer(prose):
                target = match.group(1) or match.group(2)
                if re.match(r"\w+:", target):
                    continue
                path, _, anchor = target.partition("#")
                with self.subTest(f"{page.relative_to(ROOT)}: {target}"):
                    file = (page.parent / path) if path else page
                    self.assertTrue(file.exists())
                    if anchor:
                        self.assertIn(anchor, anchors(file))

    def test_commands(self):
        helps = {}
        for file in [*PAGES, *sorted(ROOT.glob("examples/*.tact"))]:
            for line in file.read_text().splitlines():
                shown = re.match(r"^(?:    |//   )?(\./dev run|(?:build/bin/)?tactus (?:run|check|explain|format|plot|linearize|equilibrium|export c)) ([^\[]*)$", line)
                if not shown:
                    continue
                command = "run" if shown.group(1) == "./dev run" else shown.group(1).split("tactus ")[1]
                if command not in helps:
                    done = subprocess.run([TACTUS, *command.split(), "--help"], capture_output=True, text=True, check=True)
                    helps[command] = done.stdout
                with self.subTest(f"{file.relative_to(ROOT)}: {line.strip()}"):
                    for word in shlex.split(shown.group(2).split("&&")[0], comments=True):
                        if word.startswith("--"):
                            self.assertIn(word.split("=")[0], helps[command])
                        elif "examples/" in word:
                            self.assertTrue((ROOT / word.removeprefix("hand=file:")).exists())


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    TACTUS = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
