#!/usr/bin/env python3
"""Runs `tactus` over the models in src/**/testdata and tests/, and compares with what they say should happen.

    golden.py --tactus PATH [--update] [--root DIR] [FILE..]

A model states its expectations itself, in comments:

    fail_missing_semicolon.tact         the name begins with fail_: `tactus check` must fail, any other model must pass
    system
      x' = 1                            // error[P002]: expected `;`
      y' = 2x;                          // error[P012]: a product needs `*`
                                        // hint: write `2 * x`

  - `// error[CODE]: text` or `// warning[CODE]: text` at the end of a line: reported on that line. A further one for the same
    line, and the `// hint: text` and `// note: text` of the one above, stand on lines of their own below it. All diagnostics
    of a model must be stated, with all their hints; the text must be equal.
  - `// --dump=STAGE` as the first line: `tactus explain MODEL --dump=STAGE` must print the `//> ..` lines that end the model.

--update rewrites the expectations to what happens now; read the diff. Files in folders below testdata are not models but data
of other tests. Exit code 0: all as stated.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

EXTENSIONS = {".tact", ".phydl"}
EXPECTED = re.compile(r"//\s*((?:error|warning)\[\w+\]|hint|note): (.*)$")
REPORTED = re.compile(r"^(?P<file>.*?):(?P<line>\d+):\d+: (?P<head>(?:error|warning)\[\w+\]): (?P<text>.*)$")
NOWHERE = re.compile(r"^(?P<file>.*?): (?P<head>(?:error|warning)\[\w+\]): (?P<text>.*)$")
DETAIL = re.compile(r"^  (?P<head>hint|note): (?P<text>.*)$")
PLACE = re.compile(r"^\S+:\d+:\d+: ")
COLUMN = 40  # where --update puts a comment, if the line is short enough
SECONDS = 60


def strip(lines):
    """The model without its expectations, [(line number in the bare model, head, text)], and for each line of the model its
    number in the bare one."""
    bare, expected, numbers = [], [], []
    for line in lines:
        match = EXPECTED.search(line)
        before = line[: match.start()].rstrip() if match else line
        if not line.startswith("//>") and (before or not match):
            bare.append(before)
        if match:
            expected.append((len(bare), match.group(1), match.group(2).rstrip()))
        numbers.append(len(bare))
    return bare, expected, numbers


def reported(output, numbers):
    """[(line in the bare model, head, text)] of what `tactus` wrote; a diagnostic about the whole file is about line 1."""
    result = []
    line = 1
    for row in output.splitlines():
        match = REPORTED.match(row)
        if match:
            line = int(match.group("line"))
            line = numbers[line - 1] if line <= len(numbers) else line
            result.append((line, match.group("head"), match.group("text").rstrip()))
            continue
        match = NOWHERE.match(row)
        if match and not row.startswith(" "):
            line = 1
            result.append((line, match.group("head"), match.group("text").rstrip()))
            continue
        match = DETAIL.match(row)
        if match:
            result.append((line, match.group("head"), PLACE.sub("", match.group("text")).rstrip()))
    return result


def annotate(bare, found, dumped):
    """The model with the expectations `found` and the `dumped` lines."""
    by_line = {}
    for line, head, text in found:
        by_line.setdefault(min(line, len(bare)), []).append(f"// {head}: {text}")
    result = []
    for number, line in enumerate(bare, 1):
        comments = by_line.get(number, [])
        column = max(COLUMN, len(line) + 2)
        if not comments:
            result.append(line)
        for i, comment in enumerate(comments):
            result.append((line if i == 0 else "").ljust(column) + comment)
    while dumped and result and not result[-1]:
        result.pop()
    return result + [("//> " + row).rstrip() for row in dumped]


def run(tactus, arguments, folder):
    """(exit code, stdout, stderr); a crash or a run that does not end has a negative code."""
    try:
        done = subprocess.run([tactus, *arguments], cwd=folder, capture_output=True, timeout=SECONDS)
        return done.returncode, done.stdout.decode("utf8", "replace"), done.stderr.decode("utf8", "replace")
    except subprocess.TimeoutExpired:
        return -1, "", f"no end after {SECONDS} s"


def try_model(tactus, path, update):
    """What is wrong with the model at `path`, as text; empty when all is as stated."""
    original = path.read_text(encoding="utf8")
    lines = original.splitlines()
    bare, expected, numbers = strip(lines)
    stated_dump = [line[4:] if line.startswith("//> ") else line[3:] for line in lines if line.startswith("//>")]
    stage = re.match(r"//\s*--dump=(\w+)\s*$", lines[0]) if lines else None

    code, out, err = run(tactus, ["check", path.name], path.parent)
    if code < 0:
        return f"`tactus check` ended with {code}\n{err[-2000:]}"
    found = reported(err + "\n" + out, numbers)
    dumped = []
    if stage:
        dump_code, dump_out, dump_err = run(tactus, ["explain", path.name, f"--dump={stage.group(1)}"], path.parent)
        if dump_code < 0:
            return f"`tactus explain` ended with {dump_code}\n{dump_err[-2000:]}"
        dumped = [row.rstrip() for row in dump_out.splitlines()]

    problems = []
    should_fail = path.name.startswith("fail_")
    dump_only = stage and not expected  # a dump of an early stage needs no model that can run
    if should_fail and code == 0:
        problems.append("expected to fail, but `tactus check` passed")
    if not should_fail and code != 0 and not dump_only:
        problems.append("expected to pass, but `tactus check` failed")
    if dump_only:
        found = []
    if update:
        text = "\n".join(annotate(bare, found, dumped)) + "\n"
        if text != original:
            path.write_text(text, encoding="utf8")
            print(f"updated {path}")
        return "\n".join(problems)

    order = lambda entries: sorted(entries, key=lambda entry: entry[0])
    if order(expected) != order(found):
        problems.append("stated:   " + "\n          ".join(f"line {n}: {h}: {t}" for n, h, t in expected))
        problems.append("reported: " + "\n          ".join(f"line {n}: {h}: {t}" for n, h, t in found))
    if [row.rstrip() for row in stated_dump] != dumped:
        problems.append("stated dump:\n  " + "\n  ".join(stated_dump) + "\nprinted:\n  " + "\n  ".join(dumped))
    return "\n".join(problems)


def models(root):
    found = [path for path in (root / "src").rglob("testdata/*") if path.suffix in EXTENSIONS]
    found += [path for path in (root / "tests").rglob("*") if path.suffix in EXTENSIONS]
    return sorted(path for path in found if not path.name.startswith("."))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tactus", required=True, help="the program under test")
    parser.add_argument("--update", action="store_true", help="rewrite the expectations")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    tactus = os.path.abspath(options.tactus)
    files = [path.resolve() for path in options.files] or models(options.root)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda path: try_model(tactus, path, options.update), files))
    bad = 0
    for path, problem in zip(files, results):
        if problem:
            bad += 1
            print(f"FAILED {path}\n{problem}\n")
    print(f"{len(files) - bad} of {len(files)} models are as stated")
    return 1 if bad or not files else 0


if __name__ == "__main__":
    sys.exit(main())
