#!/usr/bin/env python3
"""The page of mistakes is true: docs/mistakes.md is made from the models of tests/mistakes, whose diagnostics golden.py compares
with what `tactus` says.

    mistakes_test.py [--root DIR] [--update]

A model of a mistake opens with `// Group: mistake.`, holds one mistake and states one diagnostic, with at least one hint. Fails
when one does not, or when the page differs from what would be written; --update writes it.
"""
import argparse
import pathlib
import re
import sys

GROUPS = ["From Modelica", "From MATLAB and Simulink", "From Python and C", "From paper", "Writing it down",
          "Counting equations", "Shapes and units", "Events and modules", "Modes and jumps", "Energy and ports"]
HEAD = """# Mistakes and what Tactus says

The commonest mistakes of people who come from other tools, or from paper, each with the line that has it and what `tactus check`
answers. The page is made from the models in `tests/mistakes` by `tests/mistakes_test.py --update`; a test compares the two, and
another compares the models with what the program says.
"""
SAID = re.compile(r"\s*//\s*(?:(error|warning)\[(\w+)\]|(hint|note)): (.*)$")
TITLE = re.compile(r"// ([^:]+): (.*)\.$")


def read(path):
    """(group, title, the line with the mistake, code, text, hints), or what is wrong with the model, as text."""
    lines = path.read_text(encoding="utf8").splitlines()
    title = TITLE.match(lines[0]) if lines else None
    if not title or title.group(1) not in GROUPS:
        return "its first line is not `// Group: mistake.` with one of the groups"
    line, found, hints = "", [], []
    for row in lines[1:]:
        said = SAID.search(row)
        source = row[: said.start()] if said else row
        if source.strip():
            line = source
        if said and said.group(1):
            found.append((line.strip(), said.group(2), said.group(4)))
        elif said and (said.group(3) == "hint" or said.group(4).startswith("and ")):
            hints.append(said.group(4))
    if len(found) != 1:
        return f"one mistake is to have one diagnostic; it has {len(found)}"
    if not hints:
        return "no hint says what to write instead"
    return (title.group(1), title.group(2), *found[0], hints)


def cell(text):
    return text.replace("|", "\\|")


def page(models):
    out = [HEAD]
    for group in GROUPS:
        out += [f"## {group}", "", "| mistake | written | Tactus says |", "| --- | --- | --- |"]
        for model in models:
            if model[0] == group:
                _, title, line, code, text, hints = model
                said = "; ".join([f"{text} ({code})", *hints])
                out.append(f"| {cell(title)} | `{cell(line)}` | {cell(said)} |")
        out.append("")
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--update", action="store_true", help="write the page")
    options = parser.parse_args()
    models, bad = [], 0
    paths = sorted((options.root / "tests" / "mistakes").glob("*.tact"))
    for path in paths:
        model = read(path)
        if isinstance(model, str):
            print(f"{path.name}: {model}")
            bad += 1
        else:
            models.append(model)
    target = options.root / "docs" / "mistakes.md"
    text = page(models)
    if options.update:
        target.write_text(text, encoding="utf8")
    elif not target.exists() or target.read_text(encoding="utf8") != text:
        print(f"{target} is not what tests/mistakes_test.py --update would write")
        bad += 1
    print(f"{len(models)} of {len(paths)} mistakes are told in one diagnostic with a hint")
    return 1 if bad or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
