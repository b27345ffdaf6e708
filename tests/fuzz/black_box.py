"""What is fuzzed from outside: the real program, started on random programs and files, with limits of processor time and memory for each.

    black_box.py TACTUS protocol FILE        what was said to a page's socket, once more

A target is a class with a `name`, the `share` of a run's time, the number of cases of a `smoke` run, and `case(folder, random)`, which tries one random
program (or file, or talk) and gives what is wrong with it, or None. The programs come from write_mutants (tests/fuzz/write_mutants.cpp): most
of them have no errors.

Wrong are: an end by a signal, an exit code that docs/command-line.md does not have, words about a failed check of our own, more processor
time than CPU_LIMIT (for what runs a model, which may take as long as it likes: no end after ctrl-C), more memory than MEMORY_LIMIT
without a word about it. A case's time is the processor's, never the clock's; ENDLESS by the clock is only for what waits for ever.
"""
import json
import os
import pathlib
import random
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from live_page import Closed, Play  # noqa: E402 (it lies beside this folder)

CPU_LIMIT = 20                # s
MEMORY_LIMIT = 3 << 30        # bytes of addresses
ENDLESS = 3600                # s by the clock
EXIT_CODES = (0, 1, 2, 3, 4)  # docs/command-line.md
INTERRUPTED = 130
OWN_FAULT = ("check failed", "internal error", "terminate called", "Assertion", "runtime error:", "Sanitizer", "std::")
COMPILER = ["clang-19", "-std=c11", "-w", "-O0", "-g1", "-ffp-contract=off", "-fno-math-errno", "-fsanitize=address,undefined,float-cast-overflow",
            "-fno-sanitize-recover=all"]


class Ended:
    """How a program ended."""

    def __init__(self, code, out, err, cpu, was_interrupted):
        self.code, self.out, self.err, self.cpu, self.was_interrupted = code, out, err, cpu, was_interrupted


def limit_memory(megabytes=MEMORY_LIMIT >> 20):
    resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (256 << 20, 256 << 20))


def limit_all():
    limit_memory()
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT, CPU_LIMIT + 1))


def cpu_of(pid):
    stat = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, stat[11:15])) / os.sysconf("SC_CLK_TCK")


def start(command, folder, *, limits=limit_all, interrupt_after=None, environment=None):
    """Runs it to its end. With `interrupt_after` it is sent ctrl-C behind so many seconds of processor time, or so many seconds by the clock if
    that is negative; without, the limits end it."""
    with open(folder / "out", "w+b") as out, open(folder / "err", "w+b") as err:
        process = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL, cwd=folder, preexec_fn=limits,
                                   env={**os.environ, **(environment or {})})
        # Popen's own ways to send a signal may reap the process; only wait4 here does.
        begin, was_interrupted, wait = time.monotonic(), False, 0.002
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            time.sleep(wait)
            wait = min(0.05, wait * 1.3)
            if time.monotonic() - begin > ENDLESS:
                os.kill(process.pid, signal.SIGKILL)
            if interrupt_after is None:
                continue
            cpu = cpu_of(process.pid)
            if not was_interrupted and (cpu > interrupt_after if interrupt_after >= 0 else time.monotonic() - begin > -interrupt_after):
                os.kill(process.pid, signal.SIGINT)
                was_interrupted, interrupted_at = True, cpu
            elif was_interrupted and cpu > interrupted_at + CPU_LIMIT:
                os.kill(process.pid, signal.SIGKILL)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return Ended(process.returncode, out.read(1 << 20).decode("utf8", "replace"), err.read(1 << 20).decode("utf8", "replace"),
                     usage.ru_utime + usage.ru_stime, was_interrupted)


def judge(ended, codes=EXIT_CODES):
    """What is wrong with an end, in few words that are the same for the same fault as far as that is known; None: nothing."""
    said = [line for line in (ended.err + "\n" + ended.out).splitlines() if any(word in line for word in OWN_FAULT)]
    words = said[0].strip()[:160] if said else ""
    if ended.code in (-signal.SIGXCPU, -signal.SIGKILL):
        return "ctrl-C does not end it" if ended.was_interrupted else f"more than {CPU_LIMIT} s of processor time"
    if ended.code == -signal.SIGINT and ended.was_interrupted:
        return words or None  # ctrl-C before there was anything to keep: while the text was still being compiled
    if ended.code < 0:
        return f"{signal.Signals(-ended.code).name} {words}".strip()
    if ended.code not in codes and not (ended.code == INTERRUPTED and ended.was_interrupted):
        return f"exit code {ended.code} {words}".strip()
    return words or None


class Target:
    share, smoke = 5, 20

    def __init__(self, tactus):
        self.tactus = str(tactus)
        self.commands = []

    def run(self, folder, words, **how):
        self.commands.append(shlex.join(words))
        return start(words, folder, **how)

    def end(self):
        """Of all cases; what is wrong with it, or None."""
        return None

    def close(self):
        pass

    def running(self):
        """Processor time of what it has started and not ended."""
        return 0.0


class Program(Target):
    """One command on one program."""

    def case(self, folder, numbers):
        file = next((name for name in ("model.tact", "a.phydl") if (folder / name).exists()), None)
        return self.try_it(folder, file, numbers) if file else None


class Linearize(Program):
    name, smoke = "linearize", 25

    def try_it(self, folder, file, numbers):
        options = numbers.choice([[], [], ["--json"], ["--at", "equilibrium"], ["--csv", "abcd.csv"], ["--plot", "bode.csv"], ["--step-plot", "step.csv"]])
        return judge(self.run(folder, [self.tactus, "linearize", file, *options], limits=limit_memory, interrupt_after=CPU_LIMIT))


class Equilibrium(Program):
    name, smoke = "equilibrium", 25

    def try_it(self, folder, file, numbers):
        options = numbers.choice([[], [], ["--json"], ["--all"], ["--csv", "rest.csv"]])
        return judge(self.run(folder, [self.tactus, "equilibrium", file, *options], limits=limit_memory, interrupt_after=CPU_LIMIT))


class Run(Program):
    """Run for a short time, sometimes with files around it that are wrong."""
    name, share, smoke = "run", 8, 25

    def __init__(self, tactus):
        super().__init__(tactus)
        self.tables = [path.read_bytes() for path in sorted((ROOT / "examples").glob("*_hand.csv"))]
        self.inits = [path.read_bytes() for path in sorted((ROOT / "examples").rglob("*.rc"))] + \
                     [path.read_bytes() for path in sorted((ROOT / "tests/fuzz/corpus/init").iterdir())]

    def try_it(self, folder, file, numbers):
        options = ["--until", numbers.choice(["0.5", "2", "0", "1e-300"])]
        options += numbers.choice([[], ["--step", "0.01"], ["--step", "0.01", "--solver", numbers.choice(
            ["euler", "rk4", "rosenbrock", "midpoint", "discrete_gradient", "passive", "gonzalez", "cvode"])], ["--solver", "dop853", "--monitor-axioms"]])
        options += numbers.choice([[], [], ["--json"], ["--out", "run.csv"], ["--every", "0.001"], ["--base", "base"]])
        if numbers.random() < 0.2:
            (folder / "hand.csv").write_bytes(spoil(numbers.choice(self.tables), numbers))
            options += ["--device", "hand=file:hand.csv"]
        if numbers.random() < 0.2:
            (folder / "a.rc").write_bytes(spoil(numbers.choice(self.inits), numbers))
            options += ["--init", "a.rc"]
        return judge(self.run(folder, [self.tactus, "run", file, *options], limits=limit_memory, interrupt_after=CPU_LIMIT / 2))


class PlayHeadless(Program):
    """Play without a page at any speed and rate; must end by itself, or by ctrl-C, whatever the text says."""
    name, share, smoke = "play", 8, 8

    def try_it(self, folder, file, numbers):
        options = ["--speed", numbers.choice(["1", "100", "0.01", "100"])]
        options += numbers.choice([[], [], ["--rate", numbers.choice(["10", "100", "1000", "10000"])]])
        options += numbers.choice([[], ["--device", "hand=script:(sin(50*t),0)"], ["--device", "hand=simulated:touch"]])
        ends_itself = numbers.random() < 0.6
        if ends_itself:
            options += ["--for", numbers.choice(["0", "0.05", "0.3"])]
        words = [self.tactus, "play", file, "--headless", "--normal-priority", "--json", *options]
        return judge(self.run(folder, words, limits=limit_memory, interrupt_after=CPU_LIMIT if ends_itself else -0.3))


class ExportC(Program):
    """Exported, compiled with sanitizers, and run. The kernel, the same in all, is compiled once."""
    name, share, smoke = "export_c", 10, 4

    def __init__(self, tactus):
        super().__init__(tactus)
        self.kernel = None

    def make_kernel(self, folder):
        place = folder.parent.parent / "kernel"  # the programs' own folder is made anew for each batch
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        (place / "kernel_of_all.tact").write_text("boundary x(0) = 1;\nsystem x' = -x;\n")
        subprocess.run([self.tactus, "export", "c", "kernel_of_all.tact", "-o", "."], cwd=place, check=True, capture_output=True)
        subprocess.run([*COMPILER, "-DTACTUS_NO_MAIN", "-c", "kernel_of_all.c"], cwd=place, check=True, capture_output=True)
        self.kernel = place / "kernel_of_all.o"

    def try_it(self, folder, file, numbers):
        ended = self.run(folder, [self.tactus, "export", "c", file, "-o", "c"])
        wrong = judge(ended)
        if wrong or ended.code != 0:
            return wrong
        source = next((folder / "c").glob("*.c"))
        if self.kernel is None:
            self.make_kernel(folder)
        program = folder / "exported"
        made = self.run(folder, [*COMPILER, "-DTACTUS_NO_KERNEL", str(source), str(self.kernel), "-o", str(program)], limits=None, interrupt_after=600)
        if made.code != 0:
            return f"exported C is not compiled: {next((line for line in made.err.splitlines() if 'error' in line), '')[-120:]}"
        environment = {"ASAN_OPTIONS": "exitcode=99:hard_rss_limit_mb=2048", "UBSAN_OPTIONS": "exitcode=99:print_stacktrace=1"}
        for options in ([], ["--until", "0.5", "--step", "0.01"]):
            ended = self.run(folder, [str(program), *options], limits=None, interrupt_after=3, environment=environment)
            if ended.was_interrupted:  # it runs as long as the text says
                continue
            wrong = judge(ended, range(6))
            if wrong or "(null)" in ended.err:
                return wrong or "(null) is said"
        return None


def spoil(data, numbers):
    """Bytes as a disk, an editor or an enemy leaves them."""
    data = bytearray(data[:4096])
    extremes = [b"\x00", b"nan", b"-inf", b"1e999", b",", b";", b"\n", b"\"", b"\xff\xfe", b"=", b"#", b"9" * 400, b"\r", b"\x1b[2J"]
    for _ in range(numbers.randrange(1, 6)):
        at = numbers.randrange(len(data) + 1)
        if numbers.random() < 0.5:
            data[at:at] = numbers.choice(extremes)
        elif numbers.random() < 0.5:
            data[at:at + numbers.choice([1, 2, 10, 200])] = b""
        else:
            data[at:at] = data[numbers.randrange(len(data) + 1):][:numbers.choice([1, 20, 300])]
    return bytes(data)


class Protocol(Target):
    """Talk to one world's page: messages that are nearly right, and frames and requests that are not. One program hears many of them."""
    name, share, smoke = "protocol", 6, 60
    MESSAGES_A_WORLD = 20000

    WORLD = ("simulation step_size = 0.001\nexternal hand reads u writes force = -F\nparameter k = 4 in 0..50, free = 1;\n"
             "boundary x with x(0) = (0, 0), x'(0) = (0, 0);\nsystem F = k * (u - x); F = x'' + x';\nscene sphere at x; sphere at u;\n")
    SEEDS = [{"type": "hello", "version": 1}, {"type": "pause"}, {"type": "resume"}, {"type": "step"}, {"type": "reset"},
             {"type": "speed", "value": 0.5}, {"type": "set", "name": "k", "value": 4}, {"type": "hand", "position": [1, 2, 3], "button": True},
             {"type": "leave"}, {"type": "save", "file": "model.tact"}, {"type": "edit", "file": "model.tact", "text": WORLD, "version": 7}]
    VALUES = [None, True, False, 0, -1, 1e308, -1e308, 5e-324, 2**31, 2**53, 2**63, 2**64, 10**400, "", "k", "model.tact", "../model.tact", "\x00", "\ud800", "a" * 3000,
              [], {}, [[]], [0] * 2000, [1, 2], ["1", 2, 3], {"type": "edit"}, "speed", "hand", 0.1, 100, 1e-9]

    def __init__(self, tactus):
        super().__init__(tactus)
        self.play = self.page = None
        self.talk = []
        self.version = 0

    def open(self, folder):
        place = folder.parent / "world"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        (place / "model.tact").write_text(self.WORLD)
        self.play = Play(self.tactus, place / "model.tact", "--normal-priority", limits=limit_memory)
        self.page, self.talk = None, []

    def close(self):
        if self.play:
            self.play.__exit__()
            self.play = None

    def running(self):
        return self.play.cpu() if self.play else 0.0

    def case(self, folder, numbers):
        if self.play is None or len(self.talk) > self.MESSAGES_A_WORLD:
            wrong = self.end()
            if wrong:
                return wrong
            self.open(folder)
        say = [self.make(numbers) for _ in range(numbers.randrange(1, 30))]
        self.talk += say
        wrong = self.hold(say)
        if wrong:
            (folder / "talk").write_text("".join(json.dumps(one) + "\n" for one in self.talk))
            self.commands.append(f"{sys.executable} {ROOT}/tests/fuzz/black_box.py {self.tactus} protocol talk")
            self.close()
        return wrong

    def end(self):
        if self.play is None:
            return None
        code, _ = self.play.end()
        said = self.play.said()
        self.close()
        return judge(Ended(code, "", said, 0, True)) if code is not None else "ctrl-C does not end it"

    def hold(self, say):
        """Says it; then a fresh `hello` must be answered, within CPU_LIMIT of what the program computes meanwhile."""
        begin = self.play.cpu()
        try:
            for kind, what in say:
                self.say(kind, what)
            self.version += 1
            for again in (False, True):
                try:
                    if self.page is None:
                        self.page = self.play.open()
                    self.page.send({"type": "hello", "version": self.version})
                    # The speed's own answer: what a person meant by the last messages must not slow the test down.
                    self.page.wait_for("world", alive=lambda: self.play.is_alive() and self.play.cpu() < begin + CPU_LIMIT)
                    break
                except (Closed, OSError):
                    self.page = None
                    if again or not self.play.is_alive():
                        raise
        except (Closed, OSError, TimeoutError) as failure:
            if self.play.is_alive():
                return f"no answer: {failure}"[:120]
            code, _ = self.play.end()
            return judge(Ended(code, "", self.play.said(), 0, False)) or f"it ended with {code}"
        if self.play.memory() > 1 << 20:
            return "more than 1 GB of memory"
        self.page.messages.clear()
        self.page.frames.clear()
        return None

    def say(self, kind, what):
        try:
            if kind == "request":
                self.play.request(what[:2000].replace("\r", "").replace("\n", "") or "/")
                return
            if self.page is None:
                self.page = self.play.open()
            if kind == "text":
                self.page.send(what)
            elif kind == "raw":
                self.page.send_raw(what[0], bytes.fromhex(what[1]), *what[2:])
            else:
                self.page.send_bytes(bytes.fromhex(what))
        except (Closed, OSError):
            self.page = None  # it is right to close on what is no protocol

    def make(self, numbers):
        kind = numbers.random()
        if kind < 0.9:
            return "text", self.make_text(numbers)
        if kind < 0.95:
            payload = numbers.randbytes(numbers.choice([0, 1, 5, 125, 126, 2000, 70000]))
            return "raw", [numbers.randrange(16), payload.hex(), numbers.random() < 0.7, numbers.random() < 0.7, numbers.choice([0, 0, 1, 4])]
        if kind < 0.98:
            return "bytes", numbers.randbytes(numbers.randrange(1, 300)).hex()
        return "request", numbers.choice(["/", "/files/../../etc/passwd", "/socket", "/files/%2e%2e/x.stl", "/?token=1", "/" + "a" * 1900, "/files/model.stl", "*"])

    def make_text(self, numbers):
        message = dict(numbers.choice(self.SEEDS))
        for _ in range(numbers.choice([0, 1, 1, 2])):
            key = numbers.choice([*message, "value", "type", "version", "position", "file", "text"])
            if numbers.random() < 0.2:
                message.pop(key, None)
            elif isinstance(message.get(key), list) and numbers.random() < 0.5:
                message[key] = [*message[key]]
                message[key][numbers.randrange(3) % len(message[key])] = numbers.choice(self.VALUES)
            else:
                message[key] = numbers.choice(self.VALUES)
        if message.get("type") == "edit" and isinstance(message.get("text"), str):
            message["text"] = spoil(message["text"].encode("utf8", "replace"), numbers).decode("utf8", "replace")
        text = json.dumps(message)
        if numbers.random() < 0.15:
            text = spoil(text.encode(), numbers).decode("utf8", "replace")
        if numbers.random() < 0.02:
            text = numbers.choice(["[", '{"a":', '"']) * numbers.choice([100, 10000, 100000])
        return text


TARGETS = {target.name: target for target in (Linearize, Equilibrium, Run, PlayHeadless, ExportC, Protocol)}


def mutants(build, folder, seed, count, inputs):
    """Folders with a program each, and what broke the front end while they were made: a text, or None."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    done = subprocess.run([str(build / "bin/write_mutants"), str(folder), str(seed), str(count), *map(str, inputs)], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        return [], (folder / "last").read_bytes(), done.stderr.decode("utf8", "replace")
    return [folder / str(number) for number in range(count) if (folder / str(number)).is_dir()], None, ""


class Session:
    """A run of one target for so many seconds of processor time, its children's included, or for so many cases."""

    def __init__(self, target, build, work, findings, inputs):
        self.target, self.build, self.work, self.findings, self.inputs = target, build, work, findings, inputs
        self.found = {}
        self.cases = 0

    def keep(self, folder, wrong):
        """At most three for each kind: the same fault is found again and again."""
        self.found.setdefault(wrong, [])
        if len(self.found[wrong]) >= 3:
            return
        place = self.findings / f"{self.target.name}-{self.cases}-{zlib.crc32(wrong.encode()):08x}"
        shutil.copytree(folder, place, ignore=shutil.ignore_patterns("exported", "c"))
        again = "".join(f"{command}\n" for command in self.target.commands)
        (place / "again").write_text(f"# {wrong}\ncd {place} && ulimit -v {MEMORY_LIMIT >> 10} && ulimit -t {3 * CPU_LIMIT}\n{again}")
        self.found[wrong].append(place)
        print(f"{self.target.name}: {wrong}\n  again: sh {place}/again", flush=True)

    def spent(self):
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return children.ru_utime + children.ru_stime + time.process_time() + self.target.running()

    def folders(self, count, numbers):
        """So many folders, with a program in each if it is programs that the target takes."""
        if not isinstance(self.target, Program):
            return [self.work / "case" / str(number) for number in range(count)]
        folders, broken, words = mutants(self.build, self.work / "mutants", numbers.randrange(1 << 32), count, self.inputs)
        if broken is not None:
            kept = self.findings / f"fuzz_programs-mutant-{zlib.crc32(broken):08x}"
            kept.write_bytes(broken)
            line = next((line for line in words.splitlines() if any(word in line for word in ("broken", "check", "ERROR"))), "it ended")
            self.found.setdefault(f"the front end: {line}", []).append(kept)
            print(f"{self.target.name}: the front end broke: {line}\n  again: {self.build}/bin/fuzz_programs {kept}", flush=True)
        return folders

    def go_on(self, seconds, cases, seed):
        """The processor time that was spent."""
        numbers = random.Random(seed)
        begin, made = self.spent(), 0
        while (made < cases) if cases else (self.spent() - begin < seconds):
            count = min(25, cases - made) if cases else 25
            for folder in self.folders(count, numbers):
                folder.mkdir(parents=True, exist_ok=True)
                self.target.commands = []
                wrong = self.target.case(folder, numbers)
                self.cases += 1
                if wrong:
                    self.keep(folder, wrong)
                if not isinstance(self.target, Program):
                    shutil.rmtree(folder, ignore_errors=True)
            made += count
        wrong = self.target.end()
        if wrong:
            self.found.setdefault(wrong, []).append(None)
            print(f"{self.target.name}: {wrong}", flush=True)
        return self.spent() - begin


def replay(tactus, file):
    target = Protocol(tactus)
    folder = pathlib.Path(file).resolve().parent / "again_of_talk"
    folder.mkdir(exist_ok=True)
    target.open(folder)
    wrong = target.hold([json.loads(line) for line in open(file, encoding="utf8")]) or target.end()
    print(wrong or "nothing wrong")
    target.close()
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[2] != "protocol":
        sys.exit(__doc__)
    sys.exit(replay(sys.argv[1], sys.argv[3]))
