#!/usr/bin/env python3
"""A world at a hundredfold speed, and somebody at its page who does not know what they are doing: random edits (good, wrong, hostile),
commands, hands that come, jump, fall silent and leave, parameters; for SECONDS, or for so many actions.

    soak.py TACTUS [--seconds N] [--actions N] [--seed S] [--speed V]

All the while this must hold, and the program prints a table of it:

  alive       the program answers, and ends by ctrl-C with exit code 0
  force       no frame shows more than 8 N, and none is anything but finite
  let go      frames of a second and more after the hand left, fell silent or the world was paused show no force
  energy      the book of a world with energy stays closed (docs/passivity.md): |invented| within 1e-9 of what went through it
  memory      flat from the first third on, as far as that was a minute or more

Actions are random with a seed, waits are for answers, not for times, so that a slow machine does less in its seconds, and the same in so
many actions. Exit code 0 when all held.
"""
import argparse
import math
import pathlib
import random
import sys
import tempfile
import time

from live_page import LONGEST_WAIT, Closed, Play

ROOT = pathlib.Path(__file__).resolve().parent.parent
LARGEST_FORCE = 8  # N, live::mouse_limits
QUIET = 1.0        # s after which nothing of a force is left: docs/real-time.md says 0.25 s of silence and 20 ms
FLAT_FROM = 60     # s: less is no time to be flat in
MEMORY_SLACK = 16 * 1024  # kB, and a tenth

# A mass on a spring and a damper that a hand pulls at: what comes in by the hand is in the book.
WORLD = """\
simulation step_size = 0.01 solver = discrete_gradient
external hand reads u writes force = -F
external GUI writes x, book.stored, book.supplied, book.dissipated, book.invented
parameter c = 1 [N*s/m] in 0..20, pull = 200 [N/m] in 0..2000;
constant m = 1 [kg], k = 40 [N/m];
boundary x(0) = 0.1 [m]; v(0) = 0 [m/s];
system
  x' = v;
  m * v' = F - c * v - k * x;
  F = pull * (u * 1 [m] - x);
energy H = m / 2 * v^2 + k / 2 * x^2;
power hand_port: F -> v;
scene
  spring from (0, 0) to (x, 0);
  sphere at (x, 0) radius 0.02 color "tomato";
  text "{book.invented}" at (0, 0.2);
"""
# What leaves states and energy as they are.
HARMLESS = ["// a remark\n", "system w = x^2 + v^2 * 1 [s^2];\n", "scene arrow at (x, 0) along (v * 1 [s], 0);\n",
            "event tick every 0.5\nreactive n = init 0 in { tick => n + 1 }\n", "parameter idle = 1 in 0..2;\nsystem z = idle * 2;\n",
            "require x < 1e9 [m];\n"]
WRONG = ["system x' = ;", "system y' = nothing;", "boundary x(0) = 3 [kg];", "energy", "}", "system x = x;", "\x00", "system 1 = 2;",
         "use \"../../../etc/passwd\";", "system T = table(\"/dev/zero\")(x);", "for i in 1..1000000000 { system q[i] = i; }",
         "system m2 = mesh(\"a\");", "transition T when x > 0 { next(x) = 1; next(x) = 2; }", "(" * 2000, "system s = \"" + "a" * 5000 + ";"]
# Whole worlds: each is hard on the compiler, the loop or the hand.
HOSTILE = [
    "simulation step_size = 1e-12\nexternal hand reads u writes force = u\nsystem x' = u;\nboundary x(0) = 0;\n",
    "simulation step_size = 0.001\nexternal hand reads u writes force = 1e300 * x\nboundary x(0) = 1;\nsystem x' = x;\n",
    "simulation step_size = 0.001\nexternal hand reads u writes force = 8 * sign(sin(1000 * t))\nsystem y = u;\n",
    "simulation step_size = 0.001\nboundary x(0) = 1;\nsystem x' = x^2;\n",
    "simulation step_size = 0.001 max_transitions = 1000000\nautomaton a in P, Q from P;\nboundary x(0) = 0;\nsystem x' = 1;\n"
    "transition T in a.P when x > 0.1 { goto a.Q; }\ntransition U in a.Q when x > 0.1 { goto a.P; }\n",
    "event e every 1e-300\nreactive n = init 0 in { e => n + 1 }\n",
    "boundary c(0) = a'';\nsystem a'' = -a; c' = 1;\n",
    "system x' + y' = 1; x = x - y + t;\n",
    "system x = x'^2 + z'^2; z'' = diff(x, z);\n",
    "system M = x * identity(300); N = M * M; x' = 1;\nboundary x(0) = 1;\n",
    "boundary x(0) = 1;\nsystem x' = delay(x, 1e9);\n",
    "system y = " + "x + " * 5000 + "x; x' = 1;\nboundary x(0) = 0;\n",
    "module A = ( system b = A(); )\nsystem a = A();\n",
    "system x = " + "sin(" * 300 + "t" + ")" * 300 + ";\n",
    "",
]


def others():
    """Worlds of the examples that a page can play."""
    return [(ROOT / "examples" / name).read_text(encoding="utf8") for name in
            ("two_ball.tact", "bouncing_ball.tact", "double_pendulum.tact", "stick_slip.tact", "thermostat.tact", "passive_pendulum.tact")]


class Broken(Exception):
    pass


class Soak:
    def __init__(self, play, random_numbers, speed):
        self.play = play
        self.random = random_numbers
        self.speed = speed
        self.page = play.open()
        self.other = play.open()
        self.others = others()
        self.version = 0
        self.base = WORLD
        self.text = WORLD
        self.counts = {}
        self.largest_force = 0.0
        self.frames = 0
        self.zero_checks = 0
        self.largest_invented = 0.0
        self.book_checks = 0
        self.book = {}         # generation -> places of the book's entries
        self.parameters = []
        self.still_from = None  # the number of a message since which no force is asked for
        self.still_frames = 0   # since then
        self.memory = []        # (seconds, kB)
        self.begin = time.monotonic()
        for page in (self.page, self.other):
            page.send({"type": "hello", "version": 1})
            self.wait("world", page=page)

    # --- What is told, and what must hold of it -----------------------------------------------------------------------

    def count(self, name):
        self.counts[name] = self.counts.get(name, 0) + 1

    def wait(self, kind, holds=lambda message: True, page=None):
        page = page or self.page

        def look(message):
            self.hear(message)
            return message["type"] == kind and holds(message)

        end = time.monotonic() + LONGEST_WAIT
        while time.monotonic() < end:
            while page.messages:
                message = page.messages.pop(0)
                if look(message):
                    return message
            self.look_at_frames()
            if not self.play.is_alive():
                raise Broken("the program has ended by itself")
            page.listen(0.02)
            (self.other if page is self.page else self.page).listen(0)  # who answers no ping is dropped
        raise Broken(f"no `{kind}` within {LONGEST_WAIT} s")

    def hear(self, message):
        if message["type"] == "world":
            places = {value["name"]: value["at"] for value in message["values"] if value["name"].startswith("book.")}
            self.book[message["generation"]] = places if "book.invented" in places else None
            self.parameters = message["parameters"]

    def look_at_frames(self):
        for page in (self.page, self.other):
            for frame in page.frames:
                self.look_at(frame, page)
            page.frames.clear()

    def look_at(self, frame, page):
        self.frames += 1
        force = math.hypot(*frame.force)
        if not force <= LARGEST_FORCE * (1 + 1e-9):
            raise Broken(f"a force of {frame.force} N at t = {frame.time}")
        self.largest_force = max(self.largest_force, force)
        if page is self.page and self.still_from is not None and frame.heard >= self.still_from:
            self.still_frames += 1
            # One frame may have waited while messages went past it.
            if self.still_frames > 1:
                self.zero_checks += 1
                if force != 0:
                    raise Broken(f"a force of {frame.force} N, more than {QUIET} s after {self.why_still} (flags {frame.flags})")
        places = self.book.get(frame.generation)
        if places:
            entry = {name: frame.values[at] for name, at in places.items()}
            through = sum(abs(entry.get(f"book.{name}", 0)) for name in ("stored", "supplied", "dissipated"))
            part = abs(entry["book.invented"]) / (1 + through)
            self.book_checks += 1
            self.largest_invented = max(self.largest_invented, part)
            if not part <= 1e-9:
                raise Broken(f"the book is not closed at t = {frame.time}: {entry}")

    def listen(self, seconds):
        self.page.listen(seconds)
        self.other.listen(0)
        for message in self.page.messages:
            self.hear(message)
        self.page.messages.clear()
        self.other.messages.clear()
        self.look_at_frames()

    # --- What is done -------------------------------------------------------------------------------------------------

    def synchronise(self):
        """What was said before has been heard: messages keep their order."""
        self.version += 1
        name = f"no such name {self.version}"
        self.page.send({"type": "set", "name": name, "value": 1})
        return self.wait("note", lambda note: name in note["text"])["number"]

    def hold_still(self, why):
        """Nobody asks for a force any more. Frames behind a message that is answered a second later were made later, too, however slow
        this script is; they come only while the world moves."""
        self.synchronise()
        if self.random.random() < 0.3:
            self.listen(QUIET)
            self.still_from, self.still_frames, self.why_still = self.synchronise(), 0, why
            self.listen(0.2)

    def move(self):
        self.count("hands moved")
        self.still_from = None
        size = self.random.choice([0.01, 0.1, 1, 1e3, 1e6])
        for _ in range(self.random.randrange(1, 12)):
            self.page.send({"type": "hand", "position": [self.random.uniform(-size, size) for _ in range(self.random.choice([1, 2, 3]))],
                            "button": self.random.random() < 0.5})
            self.listen(self.random.choice([0, 0.002, 0.016]))

    def move_wrongly(self):
        self.count("hands refused")
        self.still_from = None  # the last of them takes a hand that fell silent
        for position in ([1e300], [None], "here", [[1]], [], [1e7, 0, 0], {"x": 1}):
            self.other.send({"type": "hand", "position": position})
        self.other.send({"type": "hand", "position": [1, 1, 1]})
        self.other.send({"type": "leave"})

    def let_go(self, *, silent=False):
        """Leaves, or says no more; then looks for a force."""
        self.count("hands silent" if silent else "hands left")
        if not silent:
            self.page.send({"type": "leave"})
        self.other.send({"type": "leave"})
        self.hold_still("the hand fell silent" if silent else "the hand left")

    def pause(self):
        self.count("pauses")
        self.page.send({"type": "pause"})
        self.hold_still("a pause")
        if self.random.random() < 0.5:
            self.page.send({"type": "step"})
        if self.random.random() < 0.3:
            self.set_speed()

    def resume(self):
        self.count("resumes")
        self.still_from = None
        self.page.send({"type": "resume"})

    def reset(self):
        self.count("resets")
        self.page.send({"type": "reset"})
        self.listen(0.02)

    def set_speed(self):
        self.count("speeds")
        value = self.random.choice([self.speed, self.speed, 100, 1, 0.05, 0.01, 1e9, -1, self.random.uniform(0.01, 100)])
        self.page.send({"type": "speed", "value": value})
        self.listen(self.random.choice([0, 0.05]))
        self.page.send({"type": "speed", "value": self.speed})

    def set_parameter(self):
        self.count("parameters set")
        if not self.parameters or self.random.random() < 0.1:
            self.page.send({"type": "set", "name": self.random.choice(["k", "", "x" * 1000, "c'"]), "value": 1})
            return
        parameter = self.random.choice(self.parameters)
        low, high = parameter["low"], parameter["high"]
        value = self.random.uniform(low, high) if low is not None else parameter["value"] * self.random.uniform(0, 2)
        self.page.send({"type": "set", "name": parameter["name"], "value": self.random.choice([value, value, value, 1e308, None, "3"])})

    def edit(self, text, kind):
        self.count(f"edits, {kind}")
        self.version += 1
        version = self.version
        self.page.send({"type": "edit", "file": "world.tact", "text": text, "version": version})
        # Some are changed again before they are compiled; the last one is always waited for.
        if self.random.random() < 0.8:
            self.wait("diagnostics", lambda message: message["version"] == version)
        self.text = text

    def edit_well(self):
        self.base = WORLD if self.random.random() < 0.6 else self.random.choice(self.others)
        harmless = "".join(piece for piece in HARMLESS if self.random.random() < 0.3) if self.base == WORLD else ""
        self.edit(self.base + harmless, "good")

    def edit_wrongly(self):
        text = list(self.text)
        if text and self.random.random() < 0.5:
            at = self.random.randrange(len(text))
            text[at:at + self.random.randrange(1, 20)] = self.random.choice(["", "'", "=", ";", "1e999", "ä", "\n"])
            return self.edit("".join(text) + self.random.choice(WRONG), "wrong")
        self.edit(WORLD + self.random.choice(WRONG), "wrong")

    def edit_hostile(self):
        self.edit(self.random.choice(HOSTILE), "hostile")

    def save(self):
        self.count("saves")
        self.page.send({"type": "save", "file": self.random.choice(["world.tact", "world.tact", "../world.tact", ""])})

    def talk_nonsense(self):
        self.count("nonsense")
        self.page.send(self.random.choice(["", "{", "[]", "null", '{"type":1}', '{"type":"dance"}', "[" * 500, '{"type":"edit"}',
                                           '{"type":"speed","value":"fast"}', '{"type":"hand"}', '{"type":"hello","version":-1e999}']))

    def other_page(self):
        self.count("pages opened")
        self.other.close()
        self.other = self.play.open()
        self.other.send({"type": "hello", "version": 1})
        self.wait("world", page=self.other)

    ACTIONS = [(30, move), (3, move_wrongly), (8, let_go), (3, lambda self: self.let_go(silent=True)), (4, pause), (8, resume), (2, reset),
               (3, set_speed), (15, set_parameter), (6, edit_well), (4, edit_wrongly), (1, edit_hostile), (2, save), (2, talk_nonsense), (1, other_page)]

    def go_on(self, seconds, actions):
        weights = [weight for weight, _ in self.ACTIONS]
        done = 0
        while (actions and done < actions) or (not actions and time.monotonic() - self.begin < seconds):
            self.random.choices(self.ACTIONS, weights)[0][1](self)
            done += 1
            # A hand that says nothing, or is slow: for the model it is the same.
            self.listen(self.random.choice([0, 0, 0.01, 0.03]))
            if not self.play.is_alive():
                raise Broken("the program has ended by itself")
            if not self.memory or time.monotonic() - self.begin > self.memory[-1][0] + 1:
                self.memory.append((time.monotonic() - self.begin, self.play.memory()))
        self.count("the world as it was")
        self.edit(WORLD, "good")
        self.synchronise()
        self.version += 1
        last = self.version
        self.page.send({"type": "edit", "file": "world.tact", "text": WORLD, "version": last})
        self.wait("diagnostics", lambda message: message["version"] == last)
        self.page.send({"type": "resume"})
        self.page.send({"type": "reset"})
        self.page.send({"type": "hello", "version": 1})
        state = self.wait("state", lambda message: not message["paused"])
        if state["failure"]:
            raise Broken(f"the first world fails after all this: {state['failure']}")
        self.page.send({"type": "leave"})
        self.listen(QUIET)
        self.still_from, self.still_frames, self.why_still = self.synchronise(), 0, "the hand left at last"
        end = time.monotonic() + LONGEST_WAIT
        while self.still_frames < 3 and time.monotonic() < end:
            self.listen(0.05)
        if not self.zero_checks:
            raise Broken("no frame came while the hand was away")

    def memory_over_time(self):
        """At ten instants."""
        count = min(10, len(self.memory))
        return ", ".join(f"{self.memory[(len(self.memory) - 1) * i // max(1, count - 1)][1] / 1024:.0f}" for i in range(count))

    def check_memory(self):
        last = self.memory[-1][0]
        later = [kilobytes for seconds, kilobytes in self.memory if seconds >= last / 3]
        first, second = later[:len(later) // 2], later[len(later) // 2:]
        if last < FLAT_FROM or not first:
            return "too short to tell"
        if max(second) > max(first) * 1.1 + MEMORY_SLACK:
            raise Broken(f"memory grows: {max(first)} kB, then {max(second)} kB")
        return f"at most {max(first)} kB in the second third, {max(second)} kB in the last"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tactus")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--actions", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--speed", type=float, default=100)
    parser.add_argument("--normal-priority", action="store_true", help="beside other tests: a loop in real time may starve them, and this script")
    options = parser.parse_args()
    broken = None
    with tempfile.TemporaryDirectory(prefix="tactus_soak_") as folder:
        file = pathlib.Path(folder) / "world.tact"
        file.write_text(WORLD, encoding="utf8")
        manner = ["--normal-priority"] if options.normal_priority else []
        with Play(str(pathlib.Path(options.tactus).resolve()), file, "--speed", options.speed, *manner) as play:
            soak = Soak(play, random.Random(options.seed), options.speed)
            flat = "not looked at"
            try:
                soak.go_on(options.seconds, options.actions)
                flat = soak.check_memory()
            except (Broken, Closed, TimeoutError, OSError) as failure:
                broken = f"{type(failure).__name__}: {failure}"
            seconds = time.monotonic() - soak.begin
            cpu = play.cpu() if play.is_alive() else 0
            code, _ = play.end()
            said = play.said()
    if broken is None and code != 0:
        broken = f"the exit code is {code}"
    rows = [("seconds, by the clock", f"{seconds:.0f}"), ("of processor time", f"{cpu:.0f} s"), *sorted(soak.counts.items()),
            ("frames", soak.frames), ("largest force", f"{soak.largest_force:.6g} N of {LARGEST_FORCE}"),
            ("frames without a hand, all at 0 N", soak.zero_checks), ("frames with a book", soak.book_checks),
            ("most that a book invented, of what went through", f"{soak.largest_invented:.2g}"),
            ("memory, MB, from the first to the last second", soak.memory_over_time()), ("memory", flat),
            ("exit code after ctrl-C", code), ("seed", options.seed), ("result", broken or "all held")]
    for name, value in rows:
        print(f"{name:50} {value}")
    if broken:
        print(f"last text:\n{soak.text[:3000]}\n{said[-3000:]}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
