#!/usr/bin/env python3
"""Runs the fuzz targets, one after the other: those of libFuzzer, those that start the real program (black_box.py), and the page's meshes.

    fuzz.py --build DIR [--tactus PROGRAM] [--root DIR] [--seconds N] [--work DIR] [--seed N] [--smoke] [TARGET..]

DIR is a build with TACTUS_FUZZ. N seconds (60) of processor time are shared among the targets given (all), most for those that see most of
the compiler: a busy machine takes longer, and fuzzes as much.
The inputs to begin with are the committed ones (tests/fuzz/corpus), the examples, the library and the models of src/**/testdata;
what a run finds is kept in WORK/TARGET (DIR/corpus) and is where the next one goes on. A smoke run begins anew, with the same inputs in
the same order, the same random numbers and at most so many executions, so that what it finds on one machine it finds on another.

A target's name may be given without `fuzz_`. A finding is written to DIR/findings, and shown with the command that shows it again. Every input
has limits of processor time and memory, never of time by the clock. Exit code 0: nothing found; 1: something was; 77: the targets are not
built.
"""
import argparse
import json
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import zlib

import black_box

# The share of the time, the executions of a smoke run, the committed inputs, and what a target is given besides the limits that all have.
TARGETS = {
    "fuzz_programs": (30, 5000, "programs", ["-max_len=8192", "-dict=language.dict"]),
    "fuzz_text": (10, 4000, "programs", ["-max_len=8192", "-dict=language.dict"]),
    "fuzz_format": (8, 4000, "programs", ["-max_len=8192", "-dict=language.dict"]),
    "fuzz_lsp": (8, 1000, "lsp", ["-max_len=8192"]),
    "fuzz_csv": (4, 100000, "csv", ["-max_len=4096"]),
    "fuzz_init": (3, 30000, "init", ["-max_len=4096"]),
    "fuzz_table": (3, 50000, "csv", ["-max_len=4096"]),
}
MESH = ("mesh", 2, 20000)
MOST_FOUND = 20  # in one run of a target of libFuzzer
# Processor time is limited by the targets themselves (cpu_limit.h); by the clock only what waits for ever is ended.
LIMITS = ["-timeout=600", "-rss_limit_mb=2048", "-malloc_limit_mb=1024", "-print_final_stats=1", "-reload=0"]
MODELS = (".tact", ".phydl", ".ridl")
EXPECTED = re.compile(r"[ \t]*//\s*((error|warning)\[\w+\]|hint|note): .*|^//> .*")


def models(root):
    """[(name, text)]: every model of the repository as an input (parts.h), without what its test expects."""
    folders = [root / "examples", root / "library", *sorted((root / "src").rglob("testdata"))]
    for path in sorted(path for folder in folders for path in folder.rglob("*") if path.suffix in MODELS):
        text = path.read_text(encoding="utf8", errors="surrogateescape")
        text = "\n".join(EXPECTED.sub("", line) for line in text.splitlines()) + "\n"
        name = str(path.relative_to(root)).replace("/", "_")
        if path.suffix == ".ridl" and path.with_suffix(".phydl").exists():
            other = path.with_suffix(".phydl").read_text(encoding="utf8")
            yield name, f"//= a.phydl\n{other}\n//= a.ridl\n{text}"
        elif path.suffix != ".tact":
            yield name, f"//= a{path.suffix}\n{text}"
        else:
            yield name, text


def tables(root):
    for path in sorted((root / "examples").rglob("*.csv")):
        yield path.name, "\x03" + "".join(path.read_text(encoding="utf8").splitlines(keepends=True)[:20])


def sessions(root):
    """An editor that opens a model, asks about places in it, changes it and leaves."""
    for name, text in models(root):
        uri = "file:///a/" + ("a.tact" if not text.startswith("//= ") else "a.phydl")
        document = {"uri": uri}
        place = {"textDocument": document, "position": {"line": 2, "character": 3}}
        requests = [("initialize", {"capabilities": {}}), ("hover", place), ("completion", place), ("definition", place),
                    ("references", {**place, "context": {"includeDeclaration": True}}), ("rename", {**place, "newName": "y"}),
                    ("prepareRename", place), ("documentHighlight", place), ("documentSymbol", {"textDocument": document}),
                    ("foldingRange", {"textDocument": document}), ("semanticTokens/full", {"textDocument": document}),
                    ("formatting", {"textDocument": document, "options": {"tabSize": 2, "insertSpaces": True}})]
        lines = []
        for number, (method, params) in enumerate(requests):
            method = method if method == "initialize" else "textDocument/" + method
            lines.append({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        opened = {"textDocument": {"uri": uri, "languageId": "tactus", "version": 1, "text": text}}
        changed = {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [
            {"range": {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 1}}, "text": "x' = 1;"}]}
        lines[1:1] = [{"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": opened}]
        lines += [{"jsonrpc": "2.0", "method": "textDocument/didChange", "params": changed},
                  {"jsonrpc": "2.0", "id": "a", "method": "shutdown"}, {"jsonrpc": "2.0", "method": "exit"}]
        if len(text) < 600:
            yield name, "".join(json.dumps(line) + "\n" for line in lines)


def init_files(root):
    for path in sorted((root / "examples").rglob("*.rc")):
        yield path.name, path.read_text(encoding="utf8")


SEEDS = {"programs": models, "csv": tables, "lsp": sessions, "init": init_files}


def write_seeds(corpus, root, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, text in SEEDS[corpus](root):
        (folder / name).write_text(text, encoding="utf8", errors="surrogateescape")


def run(target, seconds, options):
    _, runs, corpus, arguments = TARGETS[target]
    work = options.work / target
    if options.smoke:
        shutil.rmtree(work, ignore_errors=True)
        arguments = [*arguments, "-seed=1", f"-runs={runs}"]
    work.mkdir(parents=True, exist_ok=True)
    seeds = options.build / "seeds" / target
    write_seeds(corpus, options.root, seeds)
    findings = options.build / "findings"
    findings.mkdir(exist_ok=True)
    committed = options.root / "tests/fuzz/corpus" / corpus
    inputs = options.build / "seeds" / f"{target}.list"
    inputs.write_text(",".join(str(path) for folder in (seeds, committed) if folder.is_dir() for path in sorted(folder.iterdir())))
    program = options.build / "bin" / target
    log = options.build / f"{target}.log"
    executions, spent, edges, found = 0, 0.0, "", 0
    # libFuzzer counts by the clock, and ends at what it finds: it is started again, where it was, until its share of processor time is spent.
    while spent == 0 or (not options.smoke and spent < seconds and found < MOST_FOUND):
        command = [program, work, f"-seed_inputs=@{inputs}", *LIMITS, *arguments, f"-max_total_time={0 if options.smoke else max(10, round(seconds - spent))}", f"-artifact_prefix={findings}/{target}-"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(log, "wb") as output:
            code = subprocess.run(command, cwd=options.build / "bin", stdout=output, stderr=subprocess.STDOUT).returncode
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent += after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        lines = log.read_text(encoding="utf8", errors="replace").splitlines()
        figures = dict(re.findall(r"stat::(\w+):\s*(\d+)", "\n".join(lines[-20:])))
        executions += int(figures.get("number_of_executed_units", 0))
        coverage = [match for match in (re.search(r"cov: (\d+) ft: (\d+)", line) for line in lines) if match]
        edges = f", {coverage[-1].group(1)} edges, {coverage[-1].group(2)} features" if coverage else edges
        if code != 0:
            found += 1
            kept = re.search(r"Test unit written to (\S+)", "\n".join(lines))
            print("\n".join(lines[-60:]))
            print(f"again: {program} {kept.group(1) if kept else ''}", flush=True)
    print(f"{target}: {executions} executions, {spent:.0f} s of processor time{edges}{f', FOUND {found}' if found else ''}", flush=True)
    return found == 0


def run_black_box(name, seconds, options):
    """Programs for it are made of the models that have no errors."""
    target = black_box.TARGETS[name](options.tactus)
    inputs = options.build / "seeds" / name
    write_seeds("programs", options.root, inputs)
    committed = options.root / "tests/fuzz/corpus/programs"
    paths = [path for folder in (inputs, committed) for path in sorted(folder.iterdir()) if "fail_" not in path.name]
    findings = options.build / "findings"
    findings.mkdir(exist_ok=True)
    session = black_box.Session(target, options.build, options.work / name, findings, paths)
    try:
        spent = session.go_on(seconds, target.smoke if options.smoke else 0, zlib.crc32(f"{name} {options.seed}".encode()))
    finally:
        target.close()
    found = f", FOUND {len(session.found)} kinds of something" if session.found else ""
    print(f"{name}: {session.cases} executions, {spent:.0f} s of processor time{found}", flush=True)
    return not session.found


def run_mesh(seconds, options):
    name, _, runs = MESH
    node = shutil.which("node") or shutil.which("nodejs")
    if not node or not (options.root / "studio/node_modules/esbuild").is_dir():
        print(f"{name}: left out, for there is no Node, or no studio/node_modules (`./dev studio`)", flush=True)
        return True
    bound = ["--runs", str(runs)] if options.smoke else ["--seconds", str(seconds)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([node, "--max-old-space-size=512", options.root / "tests/fuzz/fuzz_mesh.mjs", "--seed", str(options.seed), *bound,
                           "--findings", options.build / "findings"], capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    runs = re.search(r"runs (\d+)", done.stdout)
    print(f"{name}: {runs.group(1) if runs else 0} executions, {spent:.0f} s of processor time{'' if done.returncode == 0 else ', FOUND something'}",
          flush=True)
    if done.returncode != 0:
        print(done.stdout + done.stderr)
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--tactus", type=pathlib.Path)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent.parent)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.work = (options.work or options.build / "corpus").resolve()
    options.tactus = (options.tactus or options.root / "build/bin/tactus").resolve()
    shares = {**{name: row[0] for name, row in TARGETS.items()}, **{name: target.share for name, target in black_box.TARGETS.items()}, MESH[0]: MESH[1]}
    targets = [target if target in shares else f"fuzz_{target}" for target in options.targets] or list(shares)
    unknown = [target for target in targets if target not in shares]
    if unknown:
        parser.error(f"no target {unknown[0]}; there are {', '.join(shares)}")
    needed = [options.build / "bin" / target for target in TARGETS if target in targets] + [options.build / "bin/write_mutants"]
    if any(target in black_box.TARGETS for target in targets):
        needed.append(options.tactus)
    if missing := [path for path in needed if not path.exists()]:
        print(f"there is no {missing[0]}; `./dev fuzz` builds it")
        return 77
    good = []
    for target in targets:
        seconds = options.seconds * shares[target] / sum(shares[each] for each in targets)
        if target in TARGETS:
            good.append(run(target, seconds, options))
        elif target in black_box.TARGETS:
            good.append(run_black_box(target, seconds, options))
        else:
            good.append(run_mesh(seconds, options))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
