#!/usr/bin/env python3
"""What `tactus check` proves of the worlds of seed 002, of slip and of bouncing_ball: the verdict of each pair, as a table.

    proofs_test.py PATH_OF_TACTUS

The pairs that are asked about, and what is expected of them, are worked out here from the names of transitions alone: which of them
go to modes of one automaton or say what one name is next, and which of those can hold at one point.
"""
import itertools
import json
import os
import subprocess
import sys
import unittest

TACTUS = sys.argv.pop(1) if len(sys.argv) > 1 else "tactus"
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples")


def among(*names):
    """Each of them with each other."""
    return list(itertools.combinations(names, 2))


def between(first, second):
    return list(itertools.product(first, second))


def of_plan(name, phases):
    """What a plan's own automaton is told by: each of its jumps excludes each other."""
    return among(name, f"{name}.failed", f"{name}.rearmed", *(f"{name}.phase{k + 1}" for k in range(phases)))


def exclusive(pairs):
    return {frozenset(pair): "exclusive" for pair in pairs}


def overlap(pairs):
    return {frozenset(pair): "overlap" for pair in pairs}


def ball_in_box():
    """In each of three boxes six walls and three laws. Walls 1 and 2, 3 and 4, 5 and 6 face each other. All say what p' is next;
    in an edge of the box two of one law hold at once. The laws are modes."""
    table = {}
    for ball in ("smooth", "rubbing", "super"):
        jumps = [(law, k) for law in ("Bounce", "Rub", "Spring") for k in range(1, 7)]
        for (law, k), (other, l) in among(*jumps):
            meet = law == other and (k - 1) // 2 != (l - 1) // 2
            table[frozenset((f"{ball}.{law}[{k}]", f"{ball}.{other}[{l}]"))] = "overlap" if meet else "exclusive"
    return table


def traffic_control():
    """Two cars. Stop, Enter, Hold's end, Start and Leave drive `mode`."""
    table = {}
    for car in "ab":
        modes = ["Stop", "Stop.phase1", "Enter", "Hold.phase1", "Start", "Start.phase1", "Leave"]
        table |= exclusive(among(*(f"{car}.{name}" for name in modes)))
        table |= exclusive(of_plan(f"{car}.Stop", 1) + of_plan(f"{car}.Start", 1))
        table |= exclusive([(f"{car}.Hold", f"{car}.Hold.phase1")])
    return table


def dueling():
    return exclusive(of_plan("a.Fire", 1) + of_plan("b.Fire", 1))


# Where the car goes is one automaton, and the engine's force is set by both plans. Nothing but time keeps the end of Brake from
# the corners and from Jump: T_brake is at most 2.5 s, and the next jump is farther away than that, which no guard says.
STUNT_MODES = ["Jump", "Jump.phase1", "Jump.phase2", "Down", "ToEast", "ToBack", "ToWest", "ToStart"]
STUNT = (exclusive(among(*STUNT_MODES) + of_plan("Jump", 2) + of_plan("Brake", 1) + between(["Jump", "Jump.phase1"], ["Brake"])) |
         overlap(between(["Jump", "Jump.phase1"], ["Brake.phase1"])))

DOCKING_MODES = ["Undock", "Undock.phase1", "Trip", "Trip.phase1", "Trip.phase2", "Trip.phase3", "Dock", "Dock.phase1"]

ROADS = ["Left", "Right", "ToLeftBack", "ToLeftHome", "ToRightUp", "ToRightDown", "ToRightHome", "ToMain"]

ROBOT = ["DriveOn", "SwingOut", "ReachDown", "CloseHand", "LiftUp", "TurnRound", "LowerDown", "OpenHand", "RaiseUp", "SwingBack"]

EXPECTED = {
    "ball_on_steps": exclusive([("Land", "RollOff"), ("RollOff", "Pass")]),
    "robot_body": {},  # the parts of the robot; the two below move them
    "robot_chain": exclusive(among("Lap", *(f"Lap.phase{k}" for k in range(1, 11)))),
    "robot_single": exclusive(among(*(part for name in ROBOT for part in (name, f"{name}.phase1")))),
    "dueling_spaceships": dueling(),
    "dueling_spaceships_free": dueling(),
    "ball_in_box": ball_in_box(),
    "ball_in_canal": exclusive(among("ToEast", "ToNorth", "ToWest", "ToSouth")),
    "car_on_road_network": exclusive(among(*ROADS) + [("LetGo", "Press")]),
    "traffic_control": traffic_control(),
    "stunt_track": STUNT,
    "docking_spaceship": exclusive(among(*DOCKING_MODES) + of_plan("Undock", 1) + of_plan("Trip", 3) + of_plan("Dock", 1)),
    "slip": exclusive(among("Apex", "Touch", "Bottom", "Lift")),
    "bouncing_ball": {},  # one transition
}


def check(name, *words):
    return subprocess.run([TACTUS, "check", os.path.join(EXAMPLES, name + ".tact"), *words], capture_output=True, text=True,
                          timeout=60)


class Verdicts(unittest.TestCase):
    found = {}

    def verdicts(self, name):
        if name not in self.found:
            done = check(name, "--json")
            told = json.loads(done.stdout)
            pairs = {frozenset((p["first"]["name"], p["second"]["name"])): p for p in told.get("guards", [])}
            self.assertEqual(len(pairs), len(told.get("guards", [])), name)
            self.assertEqual(done.returncode, 3 if any(p["verdict"] == "overlap" for p in pairs.values()) else 0, done.stderr)
            self.found[name] = pairs
        return self.found[name]

    def test_each_pair(self):
        for name, expected in EXPECTED.items():
            with self.subTest(name):
                told = {pair: row["verdict"] for pair, row in self.verdicts(name).items()}
                self.assertEqual(told, expected)

    def test_an_overlap_comes_with_a_point_that_fulfils_both_guards(self):
        seen = 0
        for pair, row in self.verdicts("ball_in_box").items():
            if row["verdict"] != "overlap":
                continue
            seen += 1
            at = row["witness"]
            for side in ("first", "second"):
                name = row[side]["name"]
                ball, k = name.split(".")[0], int(name[-2])
                axis, out = (k + 1) // 2, -1 if k % 2 else 1
                # The way to a wall is along one axis, so only a velocity into it enables.
                self.assertGreater(out * at[f"{ball}.p'[{axis}]"], 0, (name, at))
        self.assertEqual(seen, 108)

    def test_nine_of_ten_are_decided(self):
        every = [row["verdict"] for name in EXPECTED for row in self.verdicts(name).values()]
        self.assertGreater(len(every), 900)
        decided = sum(verdict in ("exclusive", "overlap") for verdict in every)
        self.assertGreaterEqual(10 * decided, 9 * len(every), f"{decided} of {len(every)}")


if __name__ == "__main__":
    unittest.main()
