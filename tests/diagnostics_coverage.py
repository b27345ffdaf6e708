#!/usr/bin/env python3
"""Every kind of diagnostic is tested: each code declared in a src/**/diagnostics.h must stand in a model of src/**/testdata or
tests/, or in a *_test.cpp. Also fails when a code is declared twice.

    diagnostics_coverage.py [--root DIR]
"""
import argparse
import pathlib
import re
import sys

DECLARED = re.compile(r'diag::Kind<[^;]*?\{\s*"([A-Z]\d{3})"', re.S)
MODELS = {".tact", ".phydl", ".ridl"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root
    problems = []
    declared = {}
    for header in sorted((root / "src").rglob("diagnostics.h")):
        for code in DECLARED.findall(header.read_text(encoding="utf8")):
            if code in declared:
                problems.append(f"{code} is declared in {declared[code]} and in {header}")
            declared[code] = header
    tests = [path for path in (root / "src").rglob("*_test.cpp")]
    tests += [path for path in (root / "src").rglob("testdata/**/*") if path.suffix in MODELS]
    tests += [path for path in (root / "tests").rglob("*") if path.suffix in MODELS | {".cpp"}]
    tested = set()
    for path in tests:
        tested.update(re.findall(r"\b[A-Z]\d{3}\b", path.read_text(encoding="utf8", errors="replace")))
    problems += [f"{code} ({declared[code]}) appears in no test" for code in sorted(set(declared) - tested)]
    for problem in problems:
        print(problem)
    print(f"{len(declared)} kinds of diagnostic, {len(set(declared) & tested)} tested")
    return 1 if problems or not declared else 0


if __name__ == "__main__":
    sys.exit(main())
