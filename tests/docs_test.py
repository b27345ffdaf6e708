"""What the documentation shows is true: its programs compile, its mistakes are found, its links lead somewhere.

    python3 tests/docs_test.py build/bin/tactus [TEST..]

A block that opens with ```tact is a complete program and must pass `tactus check`; ```tact error=S002 must fail with that
code. A block ```csv NAME is a file that stands beside the page's programs.

Commands in indented blocks are typed, in the order of the page, in a folder with the examples, where blocks that open with
file=NAME have been saved; each must end with exit code 0, or with that of its comment (`# refused, exit code 1`). Those in NOT_TYPED are left out, each for a reason. Commands at the head of
an example name files and options that exist.
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = sorted(p for p in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])
TACTUS = ""

FENCE = re.compile(r"^```tact(?: error=(?P<code>\w+))?(?: file=\S+)?\n(?P<text>.*?)^```$", re.M | re.S)
SAVED = re.compile(r"^```\w+ (?:error=\w+ )?file=(\S+)$")
COMMAND = re.compile(r"^    ((?:\./dev|tactus|\S*bin/\w+|make|cmake|python3|sudo|ulimit|npm|node|git) .*)$")
# Beginnings of commands that are not typed, and why.
NOT_TYPED = {
    "tactus lsp": "waits for an editor",
    "./dev test": "this is one of its tests",
    "./dev fuzz": "a minute and a build of its own; the test fuzz runs some of it",
    "./dev soak": "an hour; the test soak runs half a minute of it",
    "./dev bench": "minutes, and its figures mean something on a quiet machine alone",
    "./dev build": "what is tested here has been built",
    "./dev lint": "minutes",
    "./dev format": "changes the sources",
    "./dev editors": "needs npm and the network",
    "build-fuzz/bin/": "for a finding that there is not",
    "python3 docs/figures/": "draws the pictures of the page anew, for minutes",
    "cmake --install": "writes outside of this folder; the test package installs elsewhere",
    "sudo ": "asks for a password",
    "ulimit ": "a limit of the person's own shell",
}
DATA = re.compile(r"^```csv (\S+)\n(.*?)^```$", re.M | re.S)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"")


def whole_programs(page):
    """Texts of the programs of a page that have no mistakes, each with the page's data: (name, text) pairs."""
    text = page.read_text()
    return [(match["text"], DATA.findall(text)) for match in FENCE.finditer(text) if not match["code"]]


def steps_of(page):
    """What a reader of the page does, in order: ("save", NAME, TEXT) and ("type", COMMAND, COMMENT)."""
    steps = []
    opened = None  # lines of the block in which we are
    saved = ""
    for line in page.read_text().splitlines():
        if opened is None and line.startswith("```"):
            opened = []
            name = SAVED.match(line) or re.match(r"^```csv (\S+)$", line)
            saved = name.group(1) if name else ""
        elif opened is not None and line == "```":
            if saved:
                steps.append(("save", saved, "\n".join(opened) + "\n"))
            opened = None
        elif opened is not None:
            opened.append(line)
        elif (shown := COMMAND.match(line)) and not re.search(r"\bFILE\b|\[OPTION", line):
            command, *comment = re.split(r"\s+#\s", shown.group(1), maxsplit=1)
            steps.append(("type", command.strip(), "".join(comment)))
    return steps


def as_typed(command):
    """The command itself; a world that is played ends after a moment, and opens no browser."""
    if not re.match(r"\S+ play\b", command):
        return command
    command = re.sub(r" --for \S+", "", command) + " --for 0.3"
    return command if "--headless" in command else command + " --no-browser"


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
                    code, program = match["code"], match["text"]
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
        program = FENCE.search((folder / "README.md").read_text())["text"]
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

    def test_commands_of_examples(self):
        helps = {}
        for file in sorted(ROOT.glob("examples/*.tact")):
            for line in file.read_text().splitlines():
                shown = re.match(r"^// +(\./dev (?:run|play)|(?:build/bin/)?tactus (?:run|play|check|explain|linearize|equilibrium|export c)) ([^\[]*)$", line)
                if not shown:
                    continue
                command = re.sub(r"^\./dev |^\S*tactus ", "", shown.group(1))
                if command not in helps:
                    done = subprocess.run([TACTUS, *command.split(), "--help"], capture_output=True, text=True, check=True)
                    helps[command] = done.stdout
                with self.subTest(f"{file.relative_to(ROOT)}: {line.strip()}"):
                    for word in shlex.split(shown.group(2), comments=True):
                        if word.startswith("--"):
                            self.assertIn(word.split("=")[0], helps[command])
                        elif "examples/" in word:
                            self.assertTrue((ROOT / word.removeprefix("hand=file:")).exists())

    def test_commands_are_typed(self):
        typed = 0
        commands_of_dev = re.findall(r"^  (\w+)", subprocess.run([ROOT / "dev"], capture_output=True, text=True, check=False).stdout, re.M)
        for page in PAGES:
            steps = steps_of(page)
            if not any(kind == "type" for kind, _, _ in steps):
                continue
            with tempfile.TemporaryDirectory() as place:
                folder = pathlib.Path(place)
                shutil.copytree(ROOT / "examples", folder / "examples")
                (folder / "build/bin").mkdir(parents=True)
                (folder / "build/bin/tactus").symlink_to(TACTUS)
                (folder / "dev").write_text('#!/bin/sh\ncase "$2" in ""|-*) set -- "$@" examples/two_ball.tact ;; esac\nexec build/bin/tactus "$@"\n')
                (folder / "dev").chmod(0o755)
                there = {**os.environ, "PATH": f"{folder}/build/bin:{os.environ['PATH']}"}
                # What a page shows further down may be read before; of several of one name the last one counts so far.
                for kind, what, text in reversed(steps):
                    if kind == "save":
                        (folder / what).write_text(text)
                for kind, what, text in steps:
                    if kind == "save":
                        (folder / what).write_text(text)
                        continue
                    with self.subTest(f"{page.relative_to(ROOT)}: {what}"):
                        if what.startswith("./dev"):
                            self.assertIn(what.split()[1], commands_of_dev)
                        if any(what.startswith(each) for each in NOT_TYPED):
                            continue
                        done = subprocess.run(["bash", "-c", as_typed(what)], cwd=folder, env=there, capture_output=True,
                                              text=True, timeout=300, check=False, stdin=subprocess.DEVNULL)
                        # Whether this machine is fast enough is not what is tested.
                        said = re.search(r"exit code (\d)", text)
                        codes = (0, 3) if "--rate" in what and " check " in what else (int(said.group(1)) if said else 0,)
                        self.assertIn(done.returncode, codes, done.stdout[-2000:] + done.stderr[-2000:])
                        typed += 1
        self.assertGreater(typed, 40)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    TACTUS = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
